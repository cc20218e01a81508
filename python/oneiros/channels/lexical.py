"""The lexical channel: BM25 over the core's inverted index."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from oneiros.channels import Bits, ChannelAnswer, RankedList, Rows, Scores

if TYPE_CHECKING:
    from oneiros import _core

__all__ = ["LexicalSearch"]


class LexicalSearch:
    """Ranks rows by how well their words match the query's.

    Args:
        index: the core's index over rows, which the engine fills.
    """

    def __init__(self, index: _core.LexicalIndex) -> None:
        self._index = index

    def search(
        self, query: str, k: int, allowed: Bits | None = None, syntax: str = "plain"
    ) -> ChannelAnswer:
        """Return the best ``k`` rows by BM25; a row that does not match is not among them.

        Args:
            query: any text; a query without a word finds nothing.
            k: most rows to return, >= 0.
            allowed: rows that may be returned, None for all.
            syntax: "plain", or "query" if signs, phrases, prefixes and fields are understood.

        Raises:
            ValueError: ``k`` is negative, or the syntax unknown.
        """
        hits, weighed = self._index.hits(query=query, k=k, allowed=allowed, syntax=syntax)
        return self._answer(hits, weighed)

    def search_many(
        self, queries: list[str], k: int, allowed: Bits | None = None, *, threads: int = 1
    ) -> list[ChannelAnswer]:
        """Return one answer a query, as :meth:`search` would, in one call into the core."""
        rows, scores, offsets, weighed = self._index.search_many(
            queries=queries, k=k, allowed=allowed, threads=threads
        )
        return [
            self._answer(RankedList(rows[start:end], scores[start:end]), query)
            for (start, end), query in zip(
                itertools.pairwise(offsets.tolist()), weighed, strict=True
            )
        ]

    def permitted(self, query: str, allowed: Bits | None, syntax: str) -> Bits | None:
        """Return the allowed rows that hold what they must by the query, and not what they must not."""
        if syntax == "plain":
            return allowed
        bits = self._index.permitted(query=query, allowed=allowed, syntax=syntax)
        return allowed if bits is None else bits

    def _answer(self, hits: RankedList | _core.Hits, weighed: _core.WeighedQuery) -> ChannelAnswer:
        """Score other rows by the very measure of this search, whatever is written meanwhile."""

        def score_rows(rows: Rows) -> Scores:
            return self._index.score_rows(query=weighed, rows=rows)

        def fill(candidates: _core.Candidates, channel: int) -> int:
            return self._index.fill_scores(query=weighed, candidates=candidates, channel=channel)

        return ChannelAnswer(hits, score_rows, fill)
