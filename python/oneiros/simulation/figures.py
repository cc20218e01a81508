"""Figures of a simulation: monthly checkpoints, removed memories, and tables of both."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from oneiros.dream.report import rule_name
from oneiros.evaluation.metrics import mean
from oneiros.filters import where
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import NamedTuple, asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oneiros.dream.report import FieldChange

__all__ = [
    "ARCHIVED",
    "DEFAULT_KIND",
    "TAKING_FIELDS",
    "Course",
    "DayFigures",
    "FigureTable",
    "Forgotten",
    "Lives",
    "Takings",
    "fared",
    "forgot",
    "grouped",
    "is_archived",
]


DEFAULT_KIND: Final = Memory.from_record({"text": "any"}, now=0.0).kind
"""Kind of a memory given without one."""

TAKING_FIELDS: Final = ("deleted_at", "status", "tier")
"""Fields through which a cycle removes or archives a memory."""

_COLD_TIERS: Final = ("cold", "stub")

ARCHIVED: Final = where(status="archived") | where(tier=list(_COLD_TIERS))
"""Memories that are kept, but not searched by default."""


class Forgotten(NamedTuple):
    """Memories of one kind that are deleted or archived."""

    kind: str
    memories: int
    taken: Mapping[str, int]
    """Rule that removed them -> count. A rule with several reasons is followed by the reason."""


class Takings:
    """Records which rule removed a memory, cycle by cycle."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], str] = {}

    def note(self, changes: Iterable[FieldChange]) -> None:
        """Record a cycle's changes to :data:`TAKING_FIELDS`; the last change counts."""
        for change in changes:
            # The first of several reasons was sufficient.
            reason = (change.reason or "").partition(",")[0]
            self._rules[change.field, change.id] = f"{change.rule} {reason}".strip()

    def by_kind(
        self, kinds: Mapping[str, str], memories: Iterable[Memory | None]
    ) -> Sequence[Forgotten]:
        """Return the removed memories by kind, the most frequent kind first.

        Args:
            kinds: memory id -> kind, for all memories added.
            memories: their current state, in the same order; None if deleted.
        """
        taken: dict[str, Counter[str]] = {kind: Counter() for kind in kinds.values()}
        for (id, kind), memory in zip(kinds.items(), memories, strict=True):
            field = _taken_by(memory)
            if field is not None:
                taken[kind][self._rules[field, id]] += 1
        counts = Counter(kinds.values())
        return [Forgotten(kind, count, taken[kind]) for kind, count in counts.most_common()]


def is_archived(memory: Memory) -> bool:
    """Return whether a memory matches :data:`ARCHIVED`."""
    return _taken_by(memory) is not None


def _taken_by(memory: Memory | None) -> str | None:
    """Return the field through which a memory is removed; None if it is not."""
    if memory is None:
        return "deleted_at"
    if memory.status == "archived":
        return "status"
    return "tier" if memory.tier in _COLD_TIERS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """The state of a memory on one day."""

    day: float
    memories: int
    """Memories added by sessions so far."""
    active: int
    """Memories neither archived nor deleted, including superseded ones and dreams' own."""
    archived: int
    """Memories of sessions that are archived, cold or stubs: kept, but not searched by default."""
    deleted: int
    """Memories of sessions that are soft-deleted."""
    added: int
    """Memories made by dreams."""
    questions: int
    """Questions about facts that are still relevant: ``World.still_relevant``."""
    found: float
    """recall@10: share of questions with a memory of the current value among the first ten."""
    stale_at_rank_1: float
    """Share of questions with a stale memory of the fact ranked above all current ones."""
    stale_in_top_k: float
    """Share of questions with a stale memory of the fact among the first ten."""
    p50_ms: float
    """Median processor time of these searches, in milliseconds, excluding other processes."""
    p99_ms: float

    @property
    def removed(self) -> float:
        """Share of the memories of sessions that are archived or deleted."""
        return (self.archived + self.deleted) / self.memories if self.memories else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The simulation of one profile in one world."""

    profile: str
    seed: int
    """Seed of the world."""
    is_dreaming: bool
    dreams: int
    """Number of cycles."""
    dream_seconds: float
    """Wall time of the cycles."""
    checkpoints: Sequence[DayFigures]
    """At least one; the last is at the end."""
    forgotten: Sequence[Forgotten]
    """Removed memories at the end by kind, the most frequent kind first."""

    @property
    def last(self) -> DayFigures:
        """The final checkpoint."""
        return self.checkpoints[-1]

    def over_time(self, figure: str) -> float:
        """Return the mean of a figure over checkpoints with questions; NaN if there are none."""
        values = [getattr(day, figure) for day in self.checkpoints if day.questions]
        return mean(values) if values else math.nan

    def to_document(self) -> dict[str, object]:
        """Return the course as plain JSON values."""
        return {
            "profile": self.profile,
            "seed": self.seed,
            "is_dreaming": self.is_dreaming,
            "dreams": self.dreams,
            "dream_seconds": self.dream_seconds,
            "checkpoints": [{**asdict(day), "removed": day.removed} for day in self.checkpoints],
            "forgotten": [kind._asdict() for kind in self.forgotten],
        }


@dataclass(frozen=True, slots=True)
class Lives:
    """Simulations of one profile in several worlds, all with or all without dreams."""

    courses: Sequence[Course]
    """At least one, all with the same number of checkpoints."""

    @property
    def profile(self) -> str:
        """The profile's name."""
        return self.courses[0].profile

    @property
    def is_dreaming(self) -> bool:
        """Whether cycles ran."""
        return self.courses[0].is_dreaming

    def at_the_end(self, figure: str) -> float:
        """Return the mean of a figure over the last checkpoints."""
        return mean(getattr(course.last, figure) for course in self.courses)

    def over_time(self, figure: str) -> float:
        """Return the mean of :meth:`Course.over_time`; NaN if it is NaN for one."""
        return mean(course.over_time(figure) for course in self.courses)

    def by_day(self, figure: str) -> list[tuple[float, float]]:
        """Return pairs of day and mean of a figure, one per checkpoint."""
        moments = zip(*(course.checkpoints for course in self.courses), strict=True)
        return [
            (mean(each.day for each in moment), mean(getattr(each, figure) for each in moment))
            for moment in moments
        ]


def grouped(courses: Iterable[Course]) -> list[Lives]:
    """Group courses by profile and by whether they dream, in order of appearance."""
    found: dict[tuple[str, bool], list[Course]] = {}
    for course in courses:
        found.setdefault((course.profile, course.is_dreaming), []).append(course)
    return list(map(Lives, found.values()))


_HEADS: Final = (
    *("profile", "dreams", "recalled", "archived", "deleted", "removed"),
    *("recall@10", "stale@1", "stale@10", "p50 ms", "p99 ms"),
)

_MOST_KINDS: Final = 7
"""Number of kinds with their own column; the others share one."""

_OTHERS: Final = "other"


class FigureTable(NamedTuple):
    """A table."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    """Each as long as ``heads``; the first ``names`` cells are text, the others numbers."""
    names: int


def fared(lives: Sequence[Lives], title: str) -> FigureTable:
    """Return a table with a row per entry: state at the end, and shares averaged over the months.

    Args:
        lives: each row is the mean over its worlds.
        title: title of the table.
    """
    rows = []
    for life in lives:
        counts = (life.at_the_end(name) for name in ("active", "archived", "deleted"))
        shares = (life.over_time(name) for name in ("found", "stale_at_rank_1", "stale_in_top_k"))
        times = (life.at_the_end(name) for name in ("p50_ms", "p99_ms"))
        rows.append(
            (
                life.profile,
                str(life.courses[0].dreams) if life.is_dreaming else "-",
                *(f"{count:.0f}" for count in counts),
                f"{life.at_the_end('removed'):.1%}",
                *("-" if math.isnan(share) else f"{share:.3f}" for share in shares),
                *(f"{milliseconds:.2f}" for milliseconds in times),
            )
        )
    return FigureTable(title, _HEADS, rows, 1)


def forgot(lives: Sequence[Lives]) -> FigureTable | None:
    """Return a table of removals by dreams: a row per rule, a column per kind; None without dreams.

    Each share refers to the memories of that kind.

    Args:
        lives: those without dreams are ignored.
    """
    dreaming = [life for life in lives if life.is_dreaming]
    if not dreaming:
        return None
    totals: Counter[str] = Counter()
    for course in dreaming[0].courses:
        totals.update({each.kind: each.memories for each in course.forgotten})
    kinds = [kind for kind, _ in totals.most_common(_MOST_KINDS)]
    heads = ("profile", "rule", "all", *kinds, *([_OTHERS] if len(totals) > len(kinds) else []))
    rows = [row for life in dreaming for row in _rows_of(life, totals, heads[3:])]
    return FigureTable("Removed at the end, of each kind, by rule", heads, rows, 2)


def _rows_of(
    lives: Lives, kinds: Counter[str], columns: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield a profile's rows: the sum of all rules, then each rule, the largest first."""
    totals: Counter[str] = Counter()
    taken: dict[str, Counter[str]] = {}
    for kind, count in kinds.items():
        totals[kind if kind in columns else _OTHERS] += count
    for course in lives.courses:
        for each in course.forgotten:
            for rule, count in each.taken.items():
                of_rule = taken.setdefault(rule, Counter())
                of_rule[each.kind if each.kind in columns else _OTHERS] += count
    by_rule = sorted(taken.items(), key=lambda item: (-item[1].total(), item[0]))
    of_all: Counter[str] = sum(taken.values(), Counter())
    for place, (rule, counts) in enumerate([("all", of_all), *by_rule]):
        shares = (
            counts.total() / totals.total(),
            *(counts[kind] / totals[kind] for kind in columns),
        )
        name = lives.profile if place == 0 else ""
        yield (
            name,
            _words_of(rule) if place else rule,
            *(f"{share:.0%}" if share else "-" for share in shares),
        )


def _words_of(rule: str) -> str:
    """Return a rule with its reason, if it has one, in words and then its code."""
    code, _, reason = rule.partition(" ")
    return f"{reason or rule_name(code)} ({code})"
