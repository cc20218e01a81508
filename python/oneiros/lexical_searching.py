"""Searches of a lexical index: queries in, ids and scores out."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from oneiros.dataclasses_on_use import dataclass
from oneiros.lexical_arguments import (
    Id,
    checked_count,
    checked_ids,
    checked_reading,
    checked_texts,
)
from oneiros.ranking.threads import require_threads

if TYPE_CHECKING:
    from oneiros import _core
    from oneiros.lexical_rows import IdRows

__all__ = ["Hits", "SearchedTexts"]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What a search found, best first; ties in order of insertion."""

    ids: npt.NDArray[Any]
    """Shape (n,); int64 while every id of the index is an int, else objects."""

    scores: npt.NDArray[np.float64]
    """Shape (n,), falling. Robertson's and ATIRE's may be 0, Robertson's below 0."""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[Id, float]]:
        """Yield (id, score) pairs."""
        return zip(self.ids.tolist(), self.scores.tolist(), strict=True)


class SearchedTexts:
    """Texts that can be searched."""

    _core: _core.LexicalIndex
    _rows: IdRows

    def search(
        self,
        query: str,
        k: int = 10,
        where: Collection[Id] | None = None,
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> Hits:
        """Return the best ``k`` texts that hold a word of the query.

        Args:
            query: any str of at most 64 KiB of UTF-8 and 1,024 distinct words. A word asked for
                twice counts twice.
            k: how many at most, from 0.
            where: the ids that may be found (unknown ones do no harm); None for all. Scores are
                the same with and without.
            syntax: ``"plain"``: the query is words, nothing in it is syntax. ``"query"``: it may
                have signs, phrases, prefixes and fields (``+must -not "a phrase" pre* title:x``),
                as docs/query_syntax.md tells; what does not parse is words.
            minimum_should_match: how many words, phrases and prefixes without a sign a text must
                match; one anyway, if none has the sign ``+``.

        Raises:
            TypeError: the query is no str, ``k`` or ``minimum_should_match`` no int, or ``where``
                no collection of ids.
            ValueError: ``k`` or ``minimum_should_match`` is below 0, or the syntax unknown.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query holds lone surrogates.
        """
        count = checked_count(k, "k", least=0)
        rows, scores, _ = self._core.search(
            query=query,
            k=count,
            allowed=self._allowed(where),
            **checked_reading(syntax, minimum_should_match),
        )
        return Hits(ids=self._rows.ids_of(rows), scores=scores)

    def search_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        threads: int = 1,
        where: Collection[Id] | None = None,
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> list[Hits]:
        """Return :meth:`search` of each query, the same for any number of threads.

        Args:
            queries: as for :meth:`search`.
            k: how many at most for each, from 0.
            threads: 1 to 256; more than 64 are not used.
            where: as for :meth:`search`.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.

        Raises:
            TypeError: as :meth:`search`.
            ValueError: as :meth:`search`, or ``threads`` is out of range.
            QueryTooLarge: a query is over a limit.
            TextEncodingError: a query holds lone surrogates.
        """
        rows, scores, offsets, _ = self._core.search_many(
            queries=checked_texts(queries, "queries"),
            k=checked_count(k, "k", least=0),
            allowed=self._allowed(where),
            threads=require_threads(threads),
            **checked_reading(syntax, minimum_should_match),
        )
        ids = self._rows.ids_of(rows)
        bounds = offsets.tolist()
        return [
            Hits(ids=ids[start:end], scores=scores[start:end])
            for start, end in itertools.pairwise(bounds)
        ]

    def score(
        self,
        query: str,
        ids: Sequence[Id] | npt.NDArray[Any],
        *,
        syntax: str = "plain",
        minimum_should_match: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return the exact score of given texts: the bits that :meth:`search` gives each.

        Args:
            query: as for :meth:`search`.
            ids: whose texts to score; an id may come twice.
            syntax: as for :meth:`search`.
            minimum_should_match: as for :meth:`search`.

        Returns:
            Shape (n,); 0 where the text does not match, or the id has no text.

        Raises:
            TypeError: the query is no str, or ``ids`` no collection of ids.
            ValueError: an id is out of range, or as :meth:`search`.
            QueryTooLarge: the query is over a limit.
            TextEncodingError: the query (or an id) holds lone surrogates.
        """
        checked = checked_ids(ids, "ids")
        scores = np.zeros(len(checked), dtype=np.float64)
        weighed = self._core.weigh(
            query=query,
            **checked_reading(syntax, minimum_should_match),
        )
        rows = self._rows.rows_of(checked)
        is_known = rows >= 0
        known = rows[is_known].astype(np.uint32)
        scores[is_known] = self._core.score_rows(query=weighed, rows=known)
        return scores

    def _allowed(self, where: Collection[Id] | None) -> npt.NDArray[np.uint8] | None:
        """Return the rows of the ids as packed bits."""
        if where is None:
            return None
        known = self._rows.known(checked_ids(where, "where"))
        bits = np.zeros(int(known.max(initial=0)) + 1, dtype=np.bool_)
        bits[known] = True
        return np.packbits(bits, bitorder="little")
