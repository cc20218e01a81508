"""What a run measured: a checkpoint a month, and what is gone at the end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import asdict, dataclass
from oneiros.evaluation.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.simulation.forgotten import Forgotten

__all__ = ["Checkpoint", "Course", "Lives", "grouped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
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
    checkpoints: Sequence[Checkpoint]
    """At least one, the last at the end."""
    forgotten: Sequence[Forgotten]
    """What is away at the end, a kind each, those with the most memories first."""

    @property
    def last(self) -> Checkpoint:
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
