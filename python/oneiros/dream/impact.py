"""What a planned cycle would change for those who ask: saved questions ranked before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.dream.plan import DreamPlan

__all__ = ["Impact", "QueryImpact", "Shift", "compared"]

_TELLING: Final = (
    *("deleted_at", "status", "superseded_by", "tier", "text", "embedding"),
    *("strength", "depth", "stability"),
)
"""Which change of a memory is told where several moved it: the first of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One memory at another rank."""

    id: str
    before: int | None
    """Its rank, from 1; None: it was not found."""
    after: int | None
    rule: str | None
    """What the cycle does to it, as docs/systems has it; None: nothing, others moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryImpact:
    """One question before and after the cycle."""

    query: str
    before: tuple[str, ...]
    """The ids of the best ``k``, the best first."""
    after: tuple[str, ...]
    overlap: float
    """The share of those before that are among those after; 1 where there were none."""
    shifts: tuple[Shift, ...]
    """Of both lists, those at another rank, in the order of before, then of after."""

    @property
    def lost(self) -> tuple[Shift, ...]:
        """Those that are no longer among the best ``k``."""
        kept = set(self.after)
        return tuple(one for one in self.shifts if one.before is not None and one.id not in kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a cycle would change for a set of questions."""

    k: int
    queries: tuple[QueryImpact, ...]

    @property
    def mean_overlap(self) -> float:
        """The mean share of the best ``k`` that stay; 1 where nobody asks."""
        if not self.queries:
            return 1.0
        return sum(one.overlap for one in self.queries) / len(self.queries)

    def lost_by_rule(self) -> dict[str, int]:
        """Return how many answers each rule loses, the most first; "displaced": others moved up."""
        counts = Counter(shift.rule or "displaced" for one in self.queries for shift in one.lost)
        return dict(counts.most_common())

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        totals = {"mean_overlap": self.mean_overlap, "lost_by_rule": self.lost_by_rule()}
        return {**asdict(self), **totals}

    def __str__(self) -> str:
        lost = self.lost_by_rule()
        told = ", ".join(f"{rule} {count}" for rule, count in lost.items()) or "none"
        head = f"{len(self.queries)} questions, top {self.k}: {self.mean_overlap:.1%} stay; lost: {told}"
        lines = [head]
        for one in self.queries:
            if one.lost:
                gone = ", ".join(f"{shift.id} ({shift.rule or 'displaced'})" for shift in one.lost)
                lines.append(f"  {one.query!r}: {gone}")
        return "\n".join(lines)


def compared(
    plan: DreamPlan,
    queries: Sequence[str],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    k: int,
) -> Impact:
    """Return what lies between two answers to each of some questions.

    Args:
        plan: the cycle that lies between them.
        queries: the questions.
        before: of each the ids found, the best first; more than ``k``, so that ranks are known.
        after: the same once the plan is applied.
        k: how many count as answers.
    """
    found = []
    for query, was, becomes in zip(queries, before, after, strict=True):
        ranks = _ranks(was), _ranks(becomes)
        top = dict.fromkeys([*was[:k], *becomes[:k]])
        moved = [id for id in top if ranks[0].get(id) != ranks[1].get(id)]
        kept = len(set(was[:k]) & set(becomes[:k]))
        shifts = tuple(
            Shift(id=id, before=ranks[0].get(id), after=ranks[1].get(id), rule=None) for id in moved
        )
        found.append(
            QueryImpact(
                query=query,
                before=tuple(was[:k]),
                after=tuple(becomes[:k]),
                overlap=kept / len(was[:k]) if was else 1.0,
                shifts=shifts,
            )
        )
    rules = _rules(plan, {shift.id for one in found for shift in one.shifts})
    return Impact(k=k, queries=tuple(_with_rules(one, rules) for one in found))


def _with_rules(one: QueryImpact, rules: dict[str, str]) -> QueryImpact:
    shifts = tuple(replace(shift, rule=rules.get(shift.id)) for shift in one.shifts)
    return replace(one, shifts=shifts)


def _ranks(ids: Iterable[str]) -> dict[str, int]:
    return {id: rank for rank, id in enumerate(ids, start=1)}


def _rules(plan: DreamPlan, ids: set[str]) -> dict[str, str]:
    """The rule that did most to each memory."""
    draft = plan.draft
    told: dict[str, tuple[int, str]] = {}

    def tell(id: str, field: str, rule: str) -> None:
        weight = _TELLING.index(field) if field in _TELLING else len(_TELLING)
        told[id] = min(told.get(id, (weight, rule)), (weight, rule))

    named = draft.source.ids
    wanted = np.zeros(len(draft), np.bool_)
    wanted[[row for row in range(len(draft)) if named[row] in ids]] = True
    for change in draft.columns:
        for row in change.rows[wanted[change.rows]].tolist():
            tell(named[row], change.field, change.rule)
    for content in draft.contents:
        if plan.name(content.row) in ids:
            tell(plan.name(content.row), content.field, content.rule)
    for place, added in enumerate(draft.added):
        if plan.name(-1 - place) in ids:
            tell(plan.name(-1 - place), "memory", added.rule)
    return {id: rule for id, (_, rule) in told.items()}
