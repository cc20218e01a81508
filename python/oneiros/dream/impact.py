"""The impact of a planned cycle on saved queries: each is ranked before and after."""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import cache
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from oneiros._lazy import np
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line, shortened
from oneiros.dream.report import rule_name
from oneiros.models.embedders import name_of, vectors_of
from oneiros.runtime.dataclasses import asdict, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oneiros.dream.plan import DreamPlan
    from oneiros.engine import Engine
    from oneiros.engine.scope import EngineServices
    from oneiros.models.embedders import Embedder

    Answers = Sequence[Sequence[str]]

__all__ = [
    "NONE_ALONE",
    "Impact",
    "QueryImpact",
    "Shift",
    "StoreTrials",
    "compared",
    "impact_of",
    "named_rules",
]


NONE_ALONE: Final = "none alone"
"""Shown instead of a rule if leaving out any single rule does not undo the change."""

_DEEPER: Final = 10  # results are fetched down to rank k times this
_MOST_RESULTS: Final = 1_000
_QUERY: Final = 80  # characters of a query that are shown
_COPY: Final = "copy.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A memory whose rank changed."""

    id: str
    before: int | None
    """Its rank, from 1; None: it was not found."""
    after: int | None
    rules: tuple[str, ...]
    """Codes of the rules responsible: leaving out any one of them undoes the shift, see
    :func:`impact_of`. Empty: no single rule does."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryImpact:
    """The results of one query before and after the cycle."""

    query: str
    before: tuple[str, ...]
    """Ids of the top ``k``, the best first."""
    after: tuple[str, ...]
    overlap: float
    """The share of ``before`` that is also in ``after``; 1 if ``before`` is empty."""
    rules: tuple[str, ...]
    """Codes of the rules responsible: leaving out any one of them restores ``before`` in its order.
    Empty: nothing changed, or no single rule does."""
    shifts: tuple[Shift, ...]
    """Memories of both lists whose rank changed, in the order of ``before``, then ``after``."""

    @property
    def lost(self) -> tuple[Shift, ...]:
        """The memories that left the top ``k``."""
        kept = set(self.after)
        return tuple(
            shift for shift in self.shifts if shift.before is not None and shift.id not in kept
        )

    def __repr__(self) -> str:
        changes = f"{len(self.shifts)} at another rank, {len(self.lost)} lost"
        return f"<QueryImpact {shortened(repr(self.query), _QUERY)}: {self.overlap:.1%} stay, {changes}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Impact:
    """The impact of a cycle on a set of queries."""

    k: int
    queries: tuple[QueryImpact, ...]

    @property
    def mean_overlap(self) -> float:
        """The mean overlap of the queries; 1 without queries."""
        if not self.queries:
            return 1.0
        return sum(query.overlap for query in self.queries) / len(self.queries)

    def lost_by_rule(self) -> dict[str, int]:
        """Return the number of lost results by responsible rule, the most first.

        A loss with several responsible rules counts for each; one without counts as "none alone".
        """
        lost = (shift for query in self.queries for shift in query.lost)
        counts = Counter(rule for shift in lost for rule in shift.rules or (NONE_ALONE,))
        return dict(counts.most_common())

    def record(self) -> dict[str, Any]:
        """Return the impact as a dict for JSON."""
        totals = {"mean_overlap": self.mean_overlap, "lost_by_rule": self.lost_by_rule()}
        return {**asdict(self), **totals}

    def _headline(self) -> str:
        counts = self.lost_by_rule()
        lost = ", ".join(f"{rule_name(rule)} {count}" for rule, count in counts.items()) or "none"
        questions = count_of(len(self.queries), "question")
        return f"{questions}, top {self.k}: {self.mean_overlap:.1%} stay; lost: {lost}"

    def __repr__(self) -> str:
        return f"<Impact of {self._headline()}>"

    def __str__(self) -> str:
        lines = [self._headline()]
        for query in self.queries:
            if not query.shifts:
                continue
            lost = [f"{one_line(shift.id)} ({named_rules(shift.rules)})" for shift in query.lost]
            other = "more answers" if len(query.after) > len(query.before) else "another order"
            changes = ", ".join(lost) or f"{other} ({named_rules(query.rules)})"
            lines.append(f"  {shortened(repr(query.query), _QUERY)}: {changes}")
        return "\n".join(lines)


class StoreTrials:
    """Copies of the store that a plan was made for; a context manager.

    Every plan is tried on a copy of one copy, so that all start from the same bytes. Vector search
    is exact, since an approximate index may give other results each time it is built. Each text is
    embedded once, and each query expanded once.

    Args:
        open_engine: the class of the engine, to open the copies.
        services: of the engine.
        now: the time that the clock of the copies shows.
    """

    def __init__(self, open_engine: type[Engine], services: EngineServices, now: float) -> None:
        self._open = open_engine
        self._services = services
        self._now = now
        embedder = services.sync.vectors.embedder
        self._embedder = None if embedder is None else _CachingEmbedder(embedder)
        self._expander = None if services.expander is None else cache(services.expander)
        self._folder = TemporaryDirectory(prefix="oneiros-impact-")
        self._copy = Path(self._folder.name) / _COPY

    def __enter__(self) -> Self:
        try:
            self._services.store.backup(self._copy)
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def answers(
        self, queries: Sequence[str], count: int, plan: DreamPlan | None = None
    ) -> list[list[str]]:
        """Return the ids of the top ``count`` results of each query, the best first.

        Nothing is reinforced, and every call starts from the original store.

        Args:
            queries: texts.
            count: number of ids per query.
            plan: applied first; None: search the original store.
        """
        if plan is None:
            return self._searched(self._copy, queries, count, None)
        with TemporaryDirectory(dir=self._folder.name) as folder:
            path = Path(folder) / _COPY
            copyfile(self._copy, path)
            snapshot = Path(f"{self._copy}-snapshot")
            if snapshot.exists():  # small stores have none
                copyfile(snapshot, f"{path}-snapshot")
            return self._searched(path, queries, count, plan)

    def _searched(
        self, path: Path, queries: Sequence[str], count: int, plan: DreamPlan | None
    ) -> list[list[str]]:
        with self._open(
            path,
            profile=self._services.profile,
            embedder=self._embedder,
            reranker=self._services.reranker,
            query_expander=self._expander,
            vector_index="flat",
            clock=lambda: self._now,
            durability="normal",
        ) as engine:
            if plan is not None:
                engine._scope.services.remember.cycles.apply_cycle(plan, is_of_copy=True)
            return [engine.search(query, count, reinforce=False).ids for query in queries]


class _CachingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = name_of(embedder)
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}

    def __call__(self, texts: list[str]) -> Any:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            vectors = vectors_of(self._embedder, missing)
            self._vectors.update(zip(missing, vectors, strict=True))
        return np.stack([self._vectors[text] for text in texts])


def impact_of(plan: DreamPlan, queries: Sequence[str], k: int, trials: StoreTrials) -> Impact:
    """Rank queries before and after a plan, and find the rules responsible for the differences.

    A rule is responsible for a difference that disappears without it. For each rule, the plan is
    applied once more without the changes of that rule, all others as planned
    (:meth:`oneiros.dream.draft.Draft.without`). The rule is responsible for

    - a changed result list, if the top ``k`` are the original ones in the original order;
    - a lost memory, if it is in the top ``k`` again;
    - a new memory, if it is no longer in the top ``k``;
    - another rank within the top ``k``, if the memory has its original rank.

    If each of several rules is needed for a difference, all are responsible. If each of two rules
    suffices (one deletes a memory, the other would have hidden it), none is.

    The cost is one copy of the store and one application of the plan, plus one of each per rule.
    Only queries whose results changed are searched again. If no result changed, or the plan has a
    single rule, no rule is left out.

    Args:
        plan: of the cycle.
        queries: texts.
        k: number of results to compare, at least 1.
        trials: copies of the store.
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
    """Compare the results of one query.

    Args:
        query: the text.
        before: ids of the results, the best first; more than ``k``, to know lower ranks.
        after: the same with the plan applied.
        without: by rule, the same with the plan applied except for that rule.
        k: number of results to compare.
    """
    old_ranks, new_ranks = _ranks(before), _ranks(after)
    others = {rule: _ranks(ids) for rule, ids in without.items()}
    shifts = []
    for id in dict.fromkeys([*before[:k], *after[:k]]):
        shift = Shift(id=id, before=old_ranks.get(id), after=new_ranks.get(id), rules=())
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
    """Return the names of rules, joined by "and"; "none alone" for none."""
    return " and ".join(map(rule_name, rules)) or NONE_ALONE


def _is_undone(shift: Shift, rank: int | None, k: int) -> bool:
    """Whether leaving out a rule, which gives the memory this rank, undoes its shift."""
    was_in, is_in, stays_in = (
        place is not None and place <= k for place in (shift.before, shift.after, rank)
    )
    return stays_in == was_in if was_in != is_in else rank == shift.before


def _ranks(ids: Iterable[str]) -> dict[str, int]:
    return {id: rank for rank, id in enumerate(ids, start=1)}
