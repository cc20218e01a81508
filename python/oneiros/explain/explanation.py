"""Explanations of scores: ranks and raw scores of channels, relevance and factors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Protocol

from oneiros import display
from oneiros.display.tables import Branch, DisplayTable, figure, tree_text
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.fusion import added
from oneiros.scoring.link_expansion import GraphExpansion

if TYPE_CHECKING:
    import pandas as pd

    from oneiros import _core
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Operation
    from oneiros.search.pipeline import SearchRun
    from oneiros.search.plan import SearchPlan

__all__ = [
    "DIVISOR",
    "ChannelScore",
    "Explanation",
    "Explanations",
    "ExplanationsOfSearch",
    "FactorValue",
    "RelevancePart",
    "combined",
    "explanations_table",
]


class _Channel(Protocol):
    """A channel's name and score, shown by ``str()``."""

    @property
    def name(self) -> str: ...
    @property
    def score(self) -> float | None: ...


_SIGNS = {"multiply": "×", "add": "+"}

DIVISOR: Final = "÷ the best"
"""The part of a table that has what scores were divided by."""


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """A memory's rank in one channel, from 1, and its raw score.

    Each is None if the channel gave none. A memory that only another channel found may have a score
    without a rank.
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
    """A summand of the relevance: from a channel, or from a field of the memory."""

    name: str
    value: float

    @property
    def heading(self) -> str:
        """The heading of its column in a table."""
        return f"{self.name} part"


@dataclass(frozen=True, slots=True)
class FactorValue:
    """The value of one factor, and how it was applied to the score."""

    name: str
    value: float
    operation: Operation = "multiply"

    @property
    def heading(self) -> str:
        """The heading of its column in a table, with "+" in front if values are added."""
        return f"+ {self.name}" if self.operation == "add" else self.name

    def applied_to(self, score: float) -> float:
        """Return the score with this factor applied."""
        return score + self.value if self.operation == "add" else score * self.value

    def __str__(self) -> str:
        return f"{_SIGNS[self.operation]} {figure(self.value)} {self.name}"


def combined(relevance: float, factors: Iterable[FactorValue]) -> float:
    """Return relevance with each factor applied in order, bit for bit as in the core."""
    score = relevance
    for factor in factors:
        score = factor.applied_to(score)
    return score


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The computation of a score: ``relevance`` with each factor applied in order is ``score``.

    If ``divided_by`` is set, the score is divided by it at the end. If the fusion is a sum,
    ``relevance`` is the sum of ``parts`` in order.

    ``str()`` shows a tree, a notebook a table.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     result = engine.search("coffee", explain=True).results[0]
    ...     result.explanation.evaluate() == result.score
    True
    """

    channels: tuple[ChannelScore, ...]
    """In the profile's order."""
    relevance: float
    """The fused score of the channels."""
    factors: tuple[FactorValue, ...]
    """In the profile's order, in which they are applied."""
    score: float
    parts: tuple[RelevancePart, ...] = ()
    """Summands of the relevance: channels in the profile's order, then fields of the memory
    (Mnemosyne's importance). Empty if the fusion is no plain sum."""
    divided_by: float | None = None
    """The best score of the results if ``score`` is a share of it; else None."""

    def evaluate(self) -> float:
        """Compute the score again from parts or relevance and factors: ``score`` to the bit."""
        relevance = self.relevance
        if self.parts:
            relevance = added(part.value for part in self.parts)
        score = combined(relevance, self.factors)
        return score if self.divided_by is None else score / self.divided_by

    def with_factor(self, factor: FactorValue) -> Explanation:
        """Return a copy with one more factor, which replaces a neutral factor of the same name."""
        factors = tuple(
            each
            for each in self.factors
            if not (each.name == factor.name and each.operation == "multiply" and each.value == 1.0)
        )
        score = factor.applied_to(self.score)
        return replace(self, factors=(*factors, factor), score=score)

    def as_share_of(self, best: float) -> Explanation:
        """Return a copy with its score divided by the best score of the results."""
        return replace(self, score=self.score / best, divided_by=best)

    def tree(self) -> Branch:
        """Return a tree with the score at the root, and the running score next to each factor."""
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
        """Return a branch for each channel and each other part of the relevance."""
        gives = {part.name: f"gives {figure(part.value)}" for part in self.parts}
        branches = []
        for channel in channels:
            given = gives.pop(channel.name, "")
            is_shown = given and channel.score is not None
            branches.append(Branch(f"{channel}, {given}" if is_shown else str(channel)))
        return branches + [Branch(f"{name} {given}") for name, given in gives.items()]

    def table(self) -> DisplayTable:
        """Return a table of channels, parts, relevance, factors and score, one row each."""
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
            rows.append((DIVISOR, None, self.divided_by, score / self.divided_by))
        return DisplayTable(("part", "rank", "value", "score"), tuple(rows))

    def __str__(self) -> str:
        return tree_text(self.tree())

    def __repr__(self) -> str:
        steps = "".join(f" {_SIGNS[f.operation]} {figure(f.value)}" for f in self.factors)
        share = "" if self.divided_by is None else f" ÷ {figure(self.divided_by)}"
        return f"<Explanation {figure(self.score)} = {figure(self.relevance)}{steps}{share}>"

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`table` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        return display.notebook.explanation_html(self)


_COLUMNS: Final = frozenset(("rank", "id", "text", "kind", "created_at", "relevance", "score"))
"""Columns of a response's tables and data frames that no factor may have as well."""


def _by_column(factors: Iterable[FactorValue]) -> dict[str, float]:
    """Return the values of factors by their columns in a table of several explanations."""
    values: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for factor in factors:
        heading = f"{factor.heading} factor" if factor.heading in _COLUMNS else factor.heading
        counts[heading] += 1
        number = "" if counts[heading] == 1 else f" {counts[heading]}"
        values[heading + number] = factor.value
    return values


def explanations_table(ids: Sequence[str], explanations: Sequence[Explanation]) -> DisplayTable:
    """Return a table with one row per result, best first.

    Columns: rank, id, each channel's rank and score, the parts of the relevance, relevance, each
    factor, the divisor of scores if there is one, score. Names of added factors begin with "+";
    those of factors that another column has, as OMEGA's "kind" has that of memories, end with
    "factor". A factor that an explanation has again, as the second hop of links, is "hop 2".
    """
    channels = list(dict.fromkeys(c.name for each in explanations for c in each.channels))
    parts = list(dict.fromkeys(p.heading for each in explanations for p in each.parts))
    factors_of_each = [_by_column(each.factors) for each in explanations]
    factors = list(dict.fromkeys(name for values in factors_of_each for name in values))
    has_divisor = any(each.divided_by is not None for each in explanations)
    rows = []
    of_each = zip(ids, explanations, factors_of_each, strict=True)
    for rank, (id, explanation, factor_of) in enumerate(of_each, start=1):
        found = {channel.name: (channel.rank, channel.score) for channel in explanation.channels}
        part_of = {part.heading: part.value for part in explanation.parts}
        row: list[object] = [rank, id]
        row += [value for name in channels for value in found.get(name, (None, None))]
        row += [*map(part_of.get, parts), explanation.relevance, *map(factor_of.get, factors)]
        row += [explanation.divided_by, explanation.score] if has_divisor else [explanation.score]
        rows.append(tuple(row))
    pairs = (f"{name} {figure}" for name in channels for figure in ("rank", "score"))
    ends = (*factors, DIVISOR, "score") if has_divisor else (*factors, "score")
    return DisplayTable(("rank", "id", *pairs, *parts, "relevance", *ends), tuple(rows))


class Explanations:
    """The explanations of one ranking of the core, made one by one.

    Args:
        compiled: the profile that ranked.
        ranked: the core's ranking, made with explanations.
    """

    def __init__(self, compiled: CompiledProfile, ranked: _core.Ranked) -> None:
        assert ranked.factors is not None  # ranked with explanations
        assert ranked.parts is not None
        assert ranked.ranks is not None
        assert ranked.channel_scores is not None
        self._compiled = compiled
        # Each is a copy of the core's figures; those with two dimensions have a column per memory.
        self._relevance, self._scores = ranked.relevance, ranked.scores
        self._factors, self._parts = ranked.factors, ranked.parts
        self._ranks, self._channel_scores = ranked.ranks, ranked.channel_scores

    def at(self, place: int) -> Explanation:
        """Return the explanation of the memory at a place of the ranking."""
        compiled = self._compiled
        factors = zip(
            compiled.names, self._factors[:, place].tolist(), compiled.operations, strict=True
        )
        parts = zip(compiled.parts, self._parts[:, place].tolist(), strict=True)
        channels = zip(
            compiled.profile.channels,
            self._ranks[:, place].tolist(),
            self._channel_scores[:, place].tolist(),
            strict=True,
        )
        return Explanation(
            tuple(
                ChannelScore(channel.name, rank or None, None if math.isnan(score) else score)
                for channel, rank, score in channels
            ),
            float(self._relevance[place]),
            tuple(FactorValue(*factor) for factor in factors),
            float(self._scores[place]),
            tuple(RelevancePart(*part) for part in parts),
        )


class ExplanationsOfSearch:
    """The explanations of one search that has run with explanations."""

    def __init__(
        self, search: SearchRun, outcome: _core.SearchOutcome, ranking: SearchPlan
    ) -> None:
        self._search = search
        self._outcome = outcome
        self._ranking = ranking

    def explanation(self, row: int) -> Explanation:
        """Return the explanation of a row of the results."""
        linked = self.linked.get(row)
        if linked is not None:
            return self.finished(row, linked(), is_linked=True)
        explanation = self._ranked_explanations.at(self._place_of[row])
        return self.finished(row, explanation, is_linked=False)

    def finished(self, row: int, explanation: Explanation, *, is_linked: bool) -> Explanation:
        """Return an explanation with the changes of later stages.

        Args:
            row: the row.
            explanation: the score from channels and factors, or from links.
            is_linked: whether it is the score from links. Later stages changed that score if links
                found the row, else the other one.
        """
        if not is_linked:
            for _, newer, _, factor in self._outcome.conflicts():
                if newer == row:
                    explanation = explanation.with_factor(FactorValue("newer_first", factor))
        if is_linked == (row in self.linked):
            for reranked_row, value in self._search.run.reranked:
                if reranked_row == row:
                    explanation = explanation.with_factor(FactorValue("rerank", value))
        best = self._outcome.best
        return explanation if best is None else explanation.as_share_of(best)

    @cached_property
    def linked(self) -> dict[int, Callable[[], Explanation]]:
        """By row found by links: a function that explains its score."""
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
        ranked = self._search.run.ranked(linked=True)
        explanation = Explanations(ranking.linked, ranked).at(place)
        # No channel ranked it.
        channels = tuple(replace(channel, rank=None) for channel in explanation.channels)
        return replace(explanation, channels=channels)

    def _in_graph(
        self, rule: GraphExpansion, path: tuple[int, ...], seed: float, score: float
    ) -> Explanation:
        reach, now = self._search.reach, self._search.request.now
        assert reach is not None
        factors = [FactorValue("graph", rule.weight)]
        for weight in reach.associations.weights_along(path, now=now):
            factors += FactorValue("hop", rule.per_hop), FactorValue("link", weight)
        explanation = Explanation((), seed, tuple(factors), score)
        if explanation.evaluate() == score:
            return explanation
        return Explanation((), score, (), score)  # a link on the path has changed since

    @cached_property
    def _ranked(self) -> _core.Ranked:
        return self._search.run.ranked(linked=False)

    @cached_property
    def _ranked_explanations(self) -> Explanations:
        return Explanations(self._ranking.compiled, self._ranked)

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self._ranked.rows.tolist())}
