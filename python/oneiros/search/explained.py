"""How the results of one search came to their scores, made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, overload

from oneiros.dataclasses_on_use import replace
from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.ranking.expansion import GraphExpansion

if TYPE_CHECKING:
    from oneiros import _core
    from oneiros.search.pipeline import Search

__all__ = ["Explained"]


class Explained:
    """The explanations of one search.

    Args:
        search: has run, explained.
    """

    def __init__(self, search: Search) -> None:
        self._search = search

    def of(self, rows: Sequence[int]) -> Sequence[Explanation]:
        """Return how each of these rows of the results came to its score."""
        return _OfRows(self, rows)

    def explanation(self, row: int) -> Explanation:
        """Return how a row of the results came to its score."""
        linked = self.linked.get(row)
        if linked is not None:
            return self.finished(row, linked(), is_linked=True)
        told = self._ranked_explanations[self._place_of[row]]
        return self.finished(row, told, is_linked=False)

    def finished(self, row: int, told: Explanation, *, is_linked: bool) -> Explanation:
        """Return an explanation with what stages did to the row since.

        Args:
            row: whose.
            told: how channels and factors, or links, came to a score.
            is_linked: whether that is the score by links; stages went on with the one that it has.
        """
        run = self._search.run
        if is_linked == (row in self.linked):
            for one, value in run.reranked:
                if one == row:
                    told = told.with_factor(FactorValue("rerank", value))
        return told if run.best is None else told.as_share_of(run.best)

    @cached_property
    def linked(self) -> dict[int, Callable[[], Explanation]]:
        """By row that links brought: what explains its score."""
        return {
            row: partial(self._linked, path, place, seed, score)
            for row, path, _, place, seed, score in self._search.run.linked()
        }

    def _linked(self, path: tuple[int, ...], place: int, seed: float, score: float) -> Explanation:
        ranking = self._search.ranking
        rule = ranking.profile.expansion
        if isinstance(rule, GraphExpansion):
            return self._in_graph(rule, path, seed, score)
        assert ranking.linked is not None
        told = Explanations(ranking.linked, self._search.run.ranked(linked=True), [place])[0]
        # No channel ranked it.
        return replace(told, channels=tuple(replace(one, rank=None) for one in told.channels))

    def _in_graph(
        self, rule: GraphExpansion, path: tuple[int, ...], seed: float, score: float
    ) -> Explanation:
        reach, now = self._search.reach, self._search.request.now
        assert reach is not None
        factors = [FactorValue("graph", rule.weight)]
        for weight in reach.associations.weights_along(path, now=now):
            factors += FactorValue("hop", rule.per_hop), FactorValue("link", weight)
        told = Explanation((), seed, tuple(factors), score)
        if told.evaluate() == score:
            return told
        return Explanation((), score, (), score)  # a link on the way has changed since

    @cached_property
    def _ranked(self) -> _core.Ranked:
        return self._search.run.ranked(linked=False)

    @cached_property
    def _ranked_explanations(self) -> Explanations:
        return Explanations(self._search.ranking.compiled, self._ranked, range(len(self._ranked)))

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self._ranked.rows.tolist())}


class _OfRows(Sequence[Explanation]):
    """The explanations of some rows, each made when it is touched."""

    def __init__(self, explained: Explained, rows: Sequence[int]) -> None:
        self._explained = explained
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation]:
        if isinstance(index, slice):
            return [self._explained.explanation(row) for row in self._rows[index]]
        return self._explained.explanation(self._rows[index])
