"""What a planned cycle would change for saved questions: each ranked before and after."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import TYPE_CHECKING, Any, Final, Protocol

from oneiros.display.escaping import one_line, shortened
from oneiros.dream.report import rule_name
from oneiros.runtime.dataclasses import asdict, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oneiros.dream.plan import DreamPlan

    Answers = Sequence[Sequence[str]]

__all__ = [
    "NONE_ALONE",
    "Impact",
    "QueryImpact",
    "Shift",
    "StoreCopies",
    "compared",
    "impact_of",
    "named_rules",
]

NONE_ALONE: Final = "none alone"
"""In place of a rule where leaving out any one of them undoes nothing."""

_DEEPER: Final = 10  # ranks so many times k are known
_MOST_RESULTS: Final = 1_000
_QUERY: Final = 80  # characters of a question that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One memory at another rank."""

    id: str
    before: int | None
    """Its rank, from 1; None: it was not found."""
    after: int | None
    rules: tuple[str, ...]
    """The rules that the shift depends on, as docs/systems has them: leaving out any one of these
    undoes it, see :func:`impact_of`. Empty: no rule alone does."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryImpact:
    """One question before and after the cycle."""

    query: str
    before: tuple[str, ...]
    """The ids of the best ``k``, the best first."""
    after: tuple[str, ...]
    overlap: float
    """The share of those before that are among those after; 1 where there were none."""
    rules: tuple[str, ...]
    """The rules that the change depends on: leaving out any one of these gives the best ``k`` of
    before in their order. Empty: nothing changed, or no rule alone does."""
    shifts: tuple[Shift, ...]
    """Of both lists, those at another rank, in the order of before, then of after."""

    @property
    def lost(self) -> tuple[Shift, ...]:
        """Those that are no longer among the best ``k``."""
        kept = set(self.after)
        return tuple(one for one in self.shifts if one.before is not None and one.id not in kept)

    def __repr__(self) -> str:
        changes = f"{len(self.shifts)} at another rank, {len(self.lost)} lost"
        return f"<QueryImpact {shortened(repr(self.query), _QUERY)}: {self.overlap:.1%} stay, {changes}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Impact:
    """What a cycle would change for a set of questions."""

    k: int
    queries: tuple[QueryImpact, ...]

    @property
    def mean_overlap(self) -> float:
        """The mean share of the best ``k`` that stay; 1 without questions."""
        if not self.queries:
            return 1.0
        return sum(one.overlap for one in self.queries) / len(self.queries)

    def lost_by_rule(self) -> dict[str, int]:
        """Return how many lost answers depend on each rule, the most first.

        A loss that depends on several rules counts for each; one that depends on no single rule
        counts as "none alone".
        """
        lost = (shift for one in self.queries for shift in one.lost)
        counts = Counter(rule for shift in lost for rule in shift.rules or (NONE_ALONE,))
        return dict(counts.most_common())

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        totals = {"mean_overlap": self.mean_overlap, "lost_by_rule": self.lost_by_rule()}
        return {**asdict(self), **totals}

    def _headline(self) -> str:
        counts = self.lost_by_rule()
        lost = ", ".join(f"{rule_name(rule)} {count}" for rule, count in counts.items()) or "none"
        count = len(self.queries)
        questions = f"{count} question{'' if count == 1 else 's'}"
        return f"{questions}, top {self.k}: {self.mean_overlap:.1%} stay; lost: {lost}"

    def __repr__(self) -> str:
        return f"<Impact of {self._headline()}>"

    def __str__(self) -> str:
        lines = [self._headline()]
        for one in self.queries:
            if not one.shifts:
                continue
            lost = [f"{one_line(shift.id)} ({named_rules(shift.rules)})" for shift in one.lost]
            other = "more answers" if len(one.after) > len(one.before) else "another order"
            changes = ", ".join(lost) or f"{other} ({named_rules(one.rules)})"
            lines.append(f"  {shortened(repr(one.query), _QUERY)}: {changes}")
        return "\n".join(lines)


class StoreCopies(Protocol):
    """Copies of the store that a plan was made for, to search and to change."""

    def answers(
        self, queries: Sequence[str], count: int, plan: DreamPlan | None = None
    ) -> list[list[str]]:
        """Return the ids of the ``count`` best answers to each question, the best first.

        Nothing is reinforced, and every call finds the store as it was.

        Args:
            queries: the questions.
            count: how many ids of each.
            plan: applied first; None: the store as it was.
        """


def impact_of(plan: DreamPlan, queries: Sequence[str], k: int, trials: StoreCopies) -> Impact:
    """Rank questions before and after a plan, and find the rules that the differences depend on.

    A rule is responsible if the difference goes away without it: the plan is applied once more for
    each of its rules, without the changes of that rule and with all others as planned
    (:meth:`oneiros.dream.draft.Draft.without`). The rule is responsible for

    - the change of an answer, if the best ``k`` are those of before, in their order;
    - a lost memory, if it is among the best ``k`` again;
    - a memory that came in, if it is not among the best ``k`` any more;
    - another rank within the best ``k``, if it has its rank of before.

    Several rules are responsible where each is needed. Where two rules each suffice (one deletes a
    memory, the other would have hidden it), neither is: none alone undoes the difference.

    The cost is one copy of the store, and one application of the plan, for each rule that changed
    something, and one more of each. Only questions whose answers changed are searched again; where
    none did, or the plan has a single rule, no rule is left out.

    Args:
        plan: of the cycle.
        queries: the questions.
        k: how many count as answers, at least 1.
        trials: of the store.
    """
    depth = max(k, min(k * _DEEPER, _MOST_RESULTS))
    before = trials.answers(queries, depth)
    after = trials.answers(queries, depth, plan)
    changed = [n for n in range(len(queries)) if before[n][:k] != after[n][:k]]
    without: dict[str, dict[int, Sequence[str]]] = {}
    rules = plan.draft.rules()
    if len(rules) == 1:
        without[rules[0]] = {n: before[n] for n in changed}
    elif changed:
        again = [queries[n] for n in changed]
        for rule in rules:
            partial = copy(plan)
            partial.draft = plan.draft.without(rule)
            answers = trials.answers(again, depth, partial)
            without[rule] = dict(zip(changed, answers, strict=True))
    found = [
        compared(
            query,
            before[n],
            after[n],
            {rule: answers[n] for rule, answers in without.items() if n in answers},
            k,
        )
        for n, query in enumerate(queries)
    ]
    return Impact(k=k, queries=tuple(found))


def compared(
    query: str,
    before: Sequence[str],
    after: Sequence[str],
    without: Mapping[str, Sequence[str]],
    k: int,
) -> QueryImpact:
    """Compare the answers to one question.

    Args:
        query: the question.
        before: the ids found, the best first; more than ``k``, so that ranks are known.
        after: the same with the plan applied.
        without: the same by rule, with the plan applied but for that rule.
        k: how many count as answers.
    """
    was, becomes = _ranks(before), _ranks(after)
    others = {rule: _ranks(ids) for rule, ids in without.items()}
    shifts = []
    for id in dict.fromkeys([*before[:k], *after[:k]]):
        shift = Shift(id=id, before=was.get(id), after=becomes.get(id), rules=())
        if shift.before != shift.after:
            undone = [rule for rule, ranks in others.items() if _is_undone(shift, ranks.get(id), k)]
            shifts.append(replace(shift, rules=tuple(undone)))
    kept = len(set(before[:k]) & set(after[:k]))
    top = list(before[:k])
    restoring = [rule for rule, ids in without.items() if shifts and list(ids[:k]) == top]
    return QueryImpact(
        query=query,
        before=tuple(top),
        after=tuple(after[:k]),
        overlap=kept / len(top) if top else 1.0,
        rules=tuple(restoring),
        shifts=tuple(shifts),
    )


def named_rules(rules: Sequence[str]) -> str:
    """Return rules in words, joined by "and"; "none alone" for none."""
    return " and ".join(map(rule_name, rules)) or NONE_ALONE


def _is_undone(shift: Shift, rank: int | None, k: int) -> bool:
    """Whether a memory that has this rank without a rule owes its shift to the rule."""
    was_in, is_in, stays_in = (
        one is not None and one <= k for one in (shift.before, shift.after, rank)
    )
    return stays_in == was_in if was_in != is_in else rank == shift.before


def _ranks(ids: Iterable[str]) -> dict[str, int]:
    return {id: rank for rank, id in enumerate(ids, start=1)}
