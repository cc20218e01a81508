"""What a planned cycle would change for those who ask: saved questions ranked before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from oneiros.numpy_on_use import np
from oneiros.visible_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.dream.plan import DreamPlan

__all__ = ["Aside", "Impact", "QueryImpact", "Shift", "compared", "impact_of"]

_DEEPER: Final = 10  # so far below the best k a rank is still told
_MOST_RESULTS: Final = 1_000

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
        count = len(self.queries)
        asked = f"{count} question{'' if count == 1 else 's'}"
        head = f"{asked}, top {self.k}: {self.mean_overlap:.1%} stay; lost: {told}"
        lines = [head]
        for one in self.queries:
            if one.lost:
                gone = ", ".join(
                    f"{one_line(shift.id)} ({shift.rule or 'displaced'})" for shift in one.lost
                )
                lines.append(f"  {one.query!r}: {gone}")
        return "\n".join(lines)


class Aside(Protocol):
    """A copy of the store that a plan was made for, to be asked and changed in its place."""

    def answers(self, query: str, count: int) -> list[str]:
        """The ids of the ``count`` best answers, the best first; nothing is strengthened."""

    def apply(self, plan: DreamPlan) -> None:
        """Apply the plan to the copy."""


def impact_of(plan: DreamPlan, queries: Sequence[str], k: int, aside: Aside) -> Impact:
    """Ask questions before and after a plan.

    Args:
        plan: is applied to the copy.
        queries: the questions.
        k: how many count as answers, at least 1.
        aside: the copy.
    """
    depth = max(k, min(k * _DEEPER, _MOST_RESULTS))
    before = [aside.answers(query, depth) for query in queries]
    aside.apply(plan)
    after = [aside.answers(query, depth) for query in queries]
    return compared(plan, queries, before, after, k)


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
    told: dict[int, tuple[int, str]] = {}

    def tell(row: int, field: str, rule: str) -> None:
        weight = _TELLING.index(field) if field in _TELLING else len(_TELLING)
        told[row] = min(told.get(row, (weight, rule)), (weight, rule))

    numbers = range(-len(draft.added), 0)  # of what is added
    id_of = {number: id for number in numbers if (id := plan.name(number)) in ids}
    id_of |= {row: id for id in ids if (row := draft.source.row_of(id)) is not None}
    is_asked = np.zeros(len(draft), np.bool_)
    is_asked[[row for row in id_of if row >= 0]] = True
    for change in draft.columns:
        for row in change.rows[is_asked[change.rows]].tolist():
            tell(row, change.field, change.rule)
    for content in draft.contents:
        if content.row in id_of:
            tell(content.row, content.field, content.rule)
    for number, added in zip(reversed(numbers), draft.added, strict=True):
        if number in id_of:
            tell(number, "memory", added.rule)
    return {id_of[row]: rule for row, (_, rule) in told.items()}
