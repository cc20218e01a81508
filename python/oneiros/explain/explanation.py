"""How each result came to its score: ranks and raw scores, relevance, factors, evaluated again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from oneiros.display.tables import Branch, DisplayTable, figure, tree_text
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.link_expansion import GraphExpansion

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Operation
    from oneiros.search.pipeline import Search
    from oneiros.search.plan import SearchPlan

__all__ = [
    "ChannelScore",
    "Explanation",
    "Explanations",
    "ExplanationsOfSearch",
    "FactorValue",
    "RelevancePart",
    "combined",
]


class _Channel(Protocol):
    """A channel's figures, told by ``str()``."""

    @property
    def name(self) -> str: ...
    @property
    def score(self) -> float | None: ...


_SIGNS = {"multiply": "×", "add": "+"}


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """Where one channel ranked a memory, from 1, and its raw score there.

    Either is None where the channel gave none: a memory that another channel found may have the
    score alone.
    """

    name: str
    rank: int | None
    score: float | None

    def __str__(self) -> str:
        if self.rank is None and self.score is None:
            return f"{self.name}: not found"
        place = "not ranked" if self.rank is None else f"rank {self.rank}"
        return f"{self.name}: {place}" + (
            "" if self.score is None else f", score {figure(self.score)}"
        )


@dataclass(frozen=True, slots=True)
class RelevancePart:
    """What a channel, or a field of the memory, adds to the relevance."""

    name: str
    value: float

    @property
    def heading(self) -> str:
        """The name over a column of its values."""
        return f"{self.name} part"


@dataclass(frozen=True, slots=True)
class FactorValue:
    """What one factor did to the score."""

    name: str
    value: float
    operation: Operation = "multiply"

    @property
    def heading(self) -> str:
        """The name over a column of its values: with a "+" in front where they are added."""
        return f"+ {self.name}" if self.operation == "add" else self.name

    def applied_to(self, score: float) -> float:
        """Return the score with this factor applied."""
        return score + self.value if self.operation == "add" else score * self.value

    def __str__(self) -> str:
        return f"{_SIGNS[self.operation]} {figure(self.value)} {self.name}"


def combined(relevance: float, factors: Iterable[FactorValue]) -> float:
    """Return relevance with each factor applied in order, the way the core did it, to the bit."""
    score = relevance
    for factor in factors:
        score = factor.applied_to(score)
    return score


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """How a score came about: ``relevance`` with each factor applied in order is ``score``.

    Where scores are divided by the best of the results at the end, so is what the factors make.

    Where the fusion is a sum, so is ``relevance`` that of ``parts``, in order.

    ``str()`` shows it as a tree, a notebook as a table.
    """

    channels: tuple[ChannelScore, ...]
    """In the profile's order."""
    relevance: float
    """What fusion made of the channels."""
    factors: tuple[FactorValue, ...]
    """In the profile's order, which is that of their application."""
    score: float
    parts: tuple[RelevancePart, ...] = ()
    """What the relevance is the sum of: the channels in the profile's order, then the memory's own
    fields (Mnemosyne's importance). Empty where the fusion is no plain sum."""
    divided_by: float | None = None
    """The best of the results, of which ``score`` is the share; None: it is no share."""

    def evaluate(self) -> float:
        """Combine parts, or relevance, and factors again; the result is ``score`` to the bit."""
        relevance = self.relevance
        if self.parts:
            relevance = 0.0
            for part in self.parts:  # in order, and not sum(), which may round less
                relevance += part.value
        score = combined(relevance, self.factors)
        return score if self.divided_by is None else score / self.divided_by

    def with_factor(self, factor: FactorValue) -> Explanation:
        """Return it with one more factor applied; one of that name that left all as it was goes."""
        factors = tuple(
            one
            for one in self.factors
            if not (one.name == factor.name and one.operation == "multiply" and one.value == 1.0)
        )
        score = factor.applied_to(self.score)
        return replace(self, factors=(*factors, factor), score=score)

    def as_share_of(self, best: float) -> Explanation:
        """Return it with its score divided by the best of the results."""
        return replace(self, score=self.score / best, divided_by=best)

    def tree(self) -> Branch:
        """Return the score over what it was made of, with the score so far beside each factor."""
        branches = [Branch(f"relevance {figure(self.relevance)}", self.sources(self.channels))]
        score = self.relevance
        for factor in self.factors:
            score = factor.applied_to(score)
            branches.append(Branch(f"{factor} = {figure(score)}"))
        if self.divided_by is not None:
            share = figure(score / self.divided_by)
            branches.append(Branch(f"÷ {figure(self.divided_by)} of the best = {share}"))
        return Branch(f"score {figure(self.score)}", branches)

    def sources(self, channels: Iterable[_Channel]) -> list[Branch]:
        """Return what the relevance was made of, a branch each.

        Args:
            channels: each as it is to be told, with its name.
        """
        gives = {part.name: f"gives {figure(part.value)}" for part in self.parts}
        branches = []
        for channel in channels:
            given = gives.pop(channel.name, "")
            is_shown = given and channel.score is not None
            branches.append(Branch(f"{channel}, {given}" if is_shown else str(channel)))
        return branches + [Branch(f"{name} {given}") for name, given in gives.items()]

    def table(self) -> DisplayTable:
        """Return one row a part: channels, what each adds, relevance, factors, score."""
        rows: list[tuple[object, ...]] = [
            (channel.name, channel.rank, channel.score, None) for channel in self.channels
        ]
        so_far = 0.0
        for part in self.parts:
            so_far += part.value
            rows.append((f"+ {part.heading}", None, part.value, so_far))
        rows.append(("relevance", None, self.relevance, self.relevance))
        score = self.relevance
        for factor in self.factors:
            score = factor.applied_to(score)
            sign = _SIGNS[factor.operation]
            rows.append((f"{sign} {factor.name}", None, factor.value, score))
        if self.divided_by is not None:
            rows.append(("÷ the best", None, self.divided_by, score / self.divided_by))
        return DisplayTable(("part", "rank", "value", "score"), tuple(rows))

    def __str__(self) -> str:
        return tree_text(self.tree())

    def __repr__(self) -> str:
        steps = "".join(f" {_SIGNS[f.operation]} {figure(f.value)}" for f in self.factors)
        share = "" if self.divided_by is None else f" ÷ {figure(self.divided_by)}"
        return f"<Explanation {figure(self.score)} = {figure(self.relevance)}{steps}{share}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class _Arrays(NamedTuple):
    """What the core says of a response's results; the last four have a row a thing, a column a result."""

    relevance: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    factors: npt.NDArray[np.float64]
    parts: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.uint32]
    channel_scores: npt.NDArray[np.float64]


class Explanations(Sequence[Explanation]):
    """The explanations of one response, each made when it is first touched.

    Args:
        compiled: the profile that ranked.
        ranked: the core's answer, explained.
        places: of ``ranked``, those that became results, in their order.
    """

    __slots__ = ("_arrays", "_compiled", "_made", "_places", "_ranked")

    def __init__(
        self,
        compiled: CompiledProfile,
        ranked: _core.Ranked,
        places: Sequence[int],
    ) -> None:
        self._compiled = compiled
        self._ranked = ranked
        self._places = places
        self._arrays: _Arrays | None = None
        self._made: dict[int, Explanation] = {}

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation]:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        place = self._places[index]
        made = self._made.get(place)
        if made is None:
            made = self._made.setdefault(place, self._explanation(place))
        return made

    def _explanation(self, place: int) -> Explanation:
        told, compiled = self._told(), self._compiled
        values = told.factors[:, place].tolist()
        factors = zip(compiled.names, values, compiled.operations, strict=True)
        parts = zip(compiled.parts, told.parts[:, place].tolist(), strict=True)
        return Explanation(
            tuple(self._channels(place)),
            float(told.relevance[place]),
            tuple(FactorValue(*factor) for factor in factors),
            float(told.scores[place]),
            tuple(RelevancePart(*part) for part in parts),
        )

    def _told(self) -> _Arrays:
        """The core's figures of all results, made when the first is explained."""
        if self._arrays is None:
            ranked = self._ranked
            assert ranked.factors is not None  # explain=True was asked
            assert ranked.parts is not None
            assert ranked.ranks is not None
            assert ranked.channel_scores is not None
            self._arrays = _Arrays(
                ranked.relevance,
                ranked.scores,
                ranked.factors,
                ranked.parts,
                ranked.ranks,
                ranked.channel_scores,
            )
        return self._arrays

    def _channels(self, place: int) -> Iterable[ChannelScore]:
        told = self._told()
        ranks = told.ranks[:, place].tolist()
        scores = told.channel_scores[:, place].tolist()
        channels = self._compiled.profile.channels
        for channel, rank, score in zip(channels, ranks, scores, strict=True):
            yield ChannelScore(channel.name, rank or None, None if math.isnan(score) else score)


class ExplanationsOfSearch:
    """The explanations of one search.

    Args:
        search: has run, explained.
        outcome: of its run.
        ranking: the plan that ranked.
    """

    def __init__(self, search: Search, outcome: _core.SearchOutcome, ranking: SearchPlan) -> None:
        self._search = search
        self._outcome = outcome
        self._ranking = ranking

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
        if is_linked == (row in self.linked):
            for one, value in self._search.run.reranked:
                if one == row:
                    told = told.with_factor(FactorValue("rerank", value))
        best = self._outcome.best
        return told if best is None else told.as_share_of(best)

    @cached_property
    def linked(self) -> dict[int, Callable[[], Explanation]]:
        """By row that links brought: what explains its score."""
        return {
            row: partial(self._linked, path, place, seed, score)
            for row, path, _, place, seed, score in self._outcome.linked()
        }

    def _linked(self, path: tuple[int, ...], place: int, seed: float, score: float) -> Explanation:
        ranking = self._ranking
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
        return Explanations(self._ranking.compiled, self._ranked, range(len(self._ranked)))

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self._ranked.rows.tolist())}


class _OfRows(Sequence[Explanation]):
    """The explanations of some rows, each made when it is touched."""

    def __init__(self, explained: ExplanationsOfSearch, rows: Sequence[int]) -> None:
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
