"""What a run measured: a checkpoint a month."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from oneiros.evaluation.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Checkpoint", "Course"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How a memory stands on one day."""

    day: float
    told: int
    """Memories told so far."""
    active: int
    """Those of them that are neither set aside nor deleted, superseded ones among them."""
    set_aside: int
    """Archived, cold or cut to a stub: kept, and not recalled unless asked for."""
    deleted: int
    """Soft-deleted."""
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
    """Median time of these searches, in milliseconds by the machine's stopwatch."""
    p99_ms: float

    @property
    def taken_away(self) -> float:
        """The share of the memories told that are set aside or deleted."""
        return (self.set_aside + self.deleted) / self.told if self.told else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One profile's life in one world."""

    profile: str
    is_dreaming: bool
    dreams: int
    """Cycles that ran."""
    dream_seconds: float
    """What they took by the machine's stopwatch."""
    checkpoints: Sequence[Checkpoint]
    """At least one, the last at the end."""

    @property
    def last(self) -> Checkpoint:
        """The checkpoint at the end."""
        return self.checkpoints[-1]

    def over_time(self, figure: str) -> float:
        """Return the mean of a figure over the checkpoints at which anything was asked."""
        return mean(getattr(one, figure) for one in self.checkpoints if one.questions)

    def to_document(self) -> dict[str, object]:
        """Return all of it as plain JSON values."""
        return {
            "profile": self.profile,
            "is_dreaming": self.is_dreaming,
            "dreams": self.dreams,
            "dream_seconds": self.dream_seconds,
            "checkpoints": [
                {**asdict(one), "taken_away": one.taken_away} for one in self.checkpoints
            ],
        }
