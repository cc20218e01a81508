"""The figures of a simulated life: a checkpoint a month, what is gone at the end, and tables of both."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from oneiros.evaluation.metrics import mean
from oneiros.filters import where
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oneiros.dream.report import FieldChange

__all__ = [
    "DEFAULT_KIND",
    "SET_ASIDE",
    "TAKING_FIELDS",
    "Course",
    "DayFigures",
    "Forgotten",
    "Lives",
    "Takings",
    "Told",
    "fared",
    "forgot",
    "grouped",
    "is_set_aside",
]


DEFAULT_KIND: Final = Memory.from_record({"text": "any"}, now=0.0).kind
"""Of a memory that names none."""

TAKING_FIELDS: Final = ("deleted_at", "status", "tier")
"""The fields by which a cycle takes a memory away."""

_COLD_TIERS: Final = ("cold", "stub")

SET_ASIDE: Final = where(status="archived") | where(tier=list(_COLD_TIERS))
"""What is kept, and not recalled unless asked for."""


class Forgotten(NamedTuple):
    """What is away of the memories of one kind."""

    kind: str
    told: int
    taken: Mapping[str, int]
    """How many of them, by the rule that took them, and its reason where a rule has several."""


class Takings:
    """Notes which rule took a memory away, cycle by cycle."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], str] = {}

    def note(self, changes: Iterable[FieldChange]) -> None:
        """Note the changes of a cycle to :data:`TAKING_FIELDS`; the last one counts."""
        for change in changes:
            # Of several reasons the first would have done.
            reason = (change.reason or "").partition(",")[0]
            self._rules[change.field, change.id] = f"{change.rule} {reason}".strip()

    def by_kind(
        self, kinds: Mapping[str, str], memories: Iterable[Memory | None]
    ) -> Sequence[Forgotten]:
        """Return what is away of each kind, those with the most memories first.

        Args:
            kinds: of each memory told, by id.
            memories: as they are now, in the same order; None where one is deleted.
        """
        taken: dict[str, Counter[str]] = {kind: Counter() for kind in kinds.values()}
        for (id, kind), memory in zip(kinds.items(), memories, strict=True):
            field = _taken_by(memory)
            if field is not None:
                taken[kind][self._rules[field, id]] += 1
        told = Counter(kinds.values())
        return [Forgotten(kind, count, taken[kind]) for kind, count in told.most_common()]


def is_set_aside(memory: Memory) -> bool:
    """Whether :data:`SET_ASIDE` holds for a memory."""
    return _taken_by(memory) is not None


def _taken_by(memory: Memory | None) -> str | None:
    """Return the field by which a memory is away; None where it is not."""
    if memory is None:
        return "deleted_at"
    if memory.status == "archived":
        return "status"
    return "tier" if memory.tier in _COLD_TIERS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """How a memory stands on one day."""

    day: float
    told: int
    """Memories told so far."""
    active: int
    """Memories that are neither set aside nor deleted, superseded ones and those that dreams made
    among them."""
    set_aside: int
    """Those told that are archived, cold or cut to a stub: kept, and not recalled unless asked for."""
    deleted: int
    """Those told that are soft-deleted."""
    added: int
    """Memories that dreams made."""
    questions: int
    """About facts that are still relevant: ``World.still_relevant``."""
    found: float
    """recall@10: the share of them with a memory among the first ten that states what holds now."""
    misled: float
    """The share in whose first ten an untrue memory of the fact stands above all that hold now."""
    untrue: float
    """The share in whose first ten stands an untrue memory of the fact at all."""
    p50_ms: float
    """Median time of these searches, in milliseconds of the processor: what else the machine does
    meanwhile is not in it."""
    p99_ms: float

    @property
    def taken_away(self) -> float:
        """The share of the memories told that are set aside or deleted."""
        return (self.set_aside + self.deleted) / self.told if self.told else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One profile's life in one world."""

    profile: str
    seed: int
    """Of the world."""
    is_dreaming: bool
    dreams: int
    """Cycles that ran."""
    dream_seconds: float
    """What they took by the machine's stopwatch."""
    checkpoints: Sequence[DayFigures]
    """At least one, the last at the end."""
    forgotten: Sequence[Forgotten]
    """What is away at the end, a kind each, those with the most memories first."""

    @property
    def last(self) -> DayFigures:
        """The checkpoint at the end."""
        return self.checkpoints[-1]

    def over_time(self, figure: str) -> float:
        """Return the mean of a figure over the checkpoints at which anything was asked; else NaN."""
        asked = [getattr(one, figure) for one in self.checkpoints if one.questions]
        return mean(asked) if asked else math.nan

    def to_document(self) -> dict[str, object]:
        """Return all of it as plain JSON values."""
        return {
            "profile": self.profile,
            "seed": self.seed,
            "is_dreaming": self.is_dreaming,
            "dreams": self.dreams,
            "dream_seconds": self.dream_seconds,
            "checkpoints": [
                {**asdict(one), "taken_away": one.taken_away} for one in self.checkpoints
            ],
            "forgotten": [one._asdict() for one in self.forgotten],
        }


@dataclass(frozen=True, slots=True)
class Lives:
    """One profile's lives, all dreaming or all awake, a world each."""

    courses: Sequence[Course]
    """At least one, all of as many checkpoints."""

    @property
    def profile(self) -> str:
        """The profile's name."""
        return self.courses[0].profile

    @property
    def is_dreaming(self) -> bool:
        """Whether they dream."""
        return self.courses[0].is_dreaming

    def at_the_end(self, figure: str) -> float:
        """Return the mean of a figure of the last checkpoints."""
        return mean(getattr(one.last, figure) for one in self.courses)

    def over_time(self, figure: str) -> float:
        """Return the mean of what :meth:`Course.over_time` gives; NaN where one has nothing."""
        return mean(one.over_time(figure) for one in self.courses)

    def by_day(self, figure: str) -> list[tuple[float, float]]:
        """Return the mean of a figure by day, a pair a checkpoint."""
        moments = zip(*(one.checkpoints for one in self.courses), strict=True)
        return [
            (mean(one.day for one in moment), mean(getattr(one, figure) for one in moment))
            for moment in moments
        ]


def grouped(courses: Iterable[Course]) -> list[Lives]:
    """Return the lives of each profile, with dreams and without apart, in their order."""
    found: dict[tuple[str, bool], list[Course]] = {}
    for course in courses:
        found.setdefault((course.profile, course.is_dreaming), []).append(course)
    return list(map(Lives, found.values()))


_HEADS: Final = (
    *("profile", "dreams", "recalled", "aside", "deleted", "away"),
    *("recall@10", "misled", "untrue", "p50 ms", "p99 ms"),
)

_MOST_KINDS: Final = 7
"""Kinds with a column of their own; the others share one."""

_OTHERS: Final = "other"


class Told(NamedTuple):
    """A table."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    """Of as many cells as there are heads; the first ``names`` of them are no numbers."""
    names: int


def fared(lives: Sequence[Lives], title: str) -> Told:
    """Return a row for each of the lives: how things stand at the end, and shares over the months.

    Args:
        lives: means over their worlds are told.
        title: of the table.
    """
    rows = []
    for one in lives:
        counts = (one.at_the_end(name) for name in ("active", "set_aside", "deleted"))
        shares = (one.over_time(name) for name in ("found", "misled", "untrue"))
        times = (one.at_the_end(name) for name in ("p50_ms", "p99_ms"))
        rows.append(
            (
                one.profile,
                str(one.courses[0].dreams) if one.is_dreaming else "-",
                *(f"{count:.0f}" for count in counts),
                f"{one.at_the_end('taken_away'):.1%}",
                *("-" if math.isnan(share) else f"{share:.3f}" for share in shares),
                *(f"{milliseconds:.2f}" for milliseconds in times),
            )
        )
    return Told(title, _HEADS, rows, 1)


def forgot(lives: Sequence[Lives]) -> Told | None:
    """Return what dreams took away: a row a rule, a column a kind; None where nobody dreamt.

    A share is of the memories told of that kind.

    Args:
        lives: those awake are left out.
    """
    dreaming = [one for one in lives if one.is_dreaming]
    if not dreaming:
        return None
    told: Counter[str] = Counter()
    for course in dreaming[0].courses:
        told.update({one.kind: one.told for one in course.forgotten})
    kinds = [kind for kind, _ in told.most_common(_MOST_KINDS)]
    heads = ("profile", "rule", "all", *kinds, *([_OTHERS] if len(told) > len(kinds) else []))
    rows = [row for one in dreaming for row in _rows_of(one, told, heads[3:])]
    return Told("Away at the end, of each kind, by rule", heads, rows, 2)


def _rows_of(lives: Lives, told: Counter[str], columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a profile's rows: by all rules, then by each, that which took the most first."""
    totals: Counter[str] = Counter()
    taken: dict[str, Counter[str]] = {}
    for kind, count in told.items():
        totals[kind if kind in columns else _OTHERS] += count
    for course in lives.courses:
        for one in course.forgotten:
            for rule, count in one.taken.items():
                of_rule = taken.setdefault(rule, Counter())
                of_rule[one.kind if one.kind in columns else _OTHERS] += count
    by_rule = sorted(taken.items(), key=lambda held: (-held[1].total(), held[0]))
    of_all: Counter[str] = sum(taken.values(), Counter())
    for place, (rule, counts) in enumerate([("all", of_all), *by_rule]):
        shares = (counts.total() / totals.total(), *(counts[one] / totals[one] for one in columns))
        name = lives.profile if place == 0 else ""
        yield (name, rule, *(f"{share:.0%}" if share else "-" for share in shares))
