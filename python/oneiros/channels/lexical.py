"""The lexical channel: BM25 over the core's inverted index."""

from __future__ import annotations

import itertools
from typing import Protocol

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits, RankedList

__all__ = ["LexicalSearch", "RowIndex"]

Rows = npt.NDArray[np.uint32]
Scores = npt.NDArray[np.float64]


class RowIndex(Protocol):
    """What the channel asks of ``_core.LexicalIndex``."""

    def search(self, *, query: str, k: int, allowed: Bits | None) -> tuple[Rows, Scores]: ...
    def search_many(
        self, *, queries: list[str], k: int, allowed: Bits | None, threads: int
    ) -> tuple[Rows, Scores, npt.NDArray[np.int64]]: ...


class LexicalSearch:
    """Ranks rows by how well their words match the query's.

    Args:
        index: the core's index over rows, which the engine fills.
    """

    def __init__(self, index: RowIndex) -> None:
        self._index = index

    def search(self, query: str, k: int, allowed: Bits | None = None) -> RankedList:
        """Return the best ``k`` rows by BM25; a row without any word of the query is not among them.

        Args:
            query: any text; a query without a word finds nothing.
            k: most rows to return, >= 0.
            allowed: rows that may be returned, None for all.

        Raises:
            ValueError: ``k`` is negative.
        """
        return RankedList(*self._index.search(query=query, k=k, allowed=allowed))

    def search_many(
        self, queries: list[str], k: int, allowed: Bits | None = None, *, threads: int = 1
    ) -> list[RankedList]:
        """Return one list a query, as :meth:`search` would, in one call into the core."""
        rows, scores, offsets = self._index.search_many(
            queries=queries, k=k, allowed=allowed, threads=threads
        )
        return [
            RankedList(rows[start:end], scores[start:end])
            for start, end in itertools.pairwise(offsets.tolist())
        ]
