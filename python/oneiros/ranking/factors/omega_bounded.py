"""What omega-bounded adds to the relevance. Source: docs/systems/omega.md O32."""

from __future__ import annotations

import math
from typing import ClassVar

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import LARGEST_WEIGHT, settle_numbers
from oneiros.ranking.factor import Operation
from oneiros.ranking.program import ProgramBuilder
from oneiros.ranking.strict import numbers_of

__all__ = ["Freshness", "TieBreak"]

_WEIGHT = (0.0, LARGEST_WEIGHT, False)
_POSITIVE = (0.0, math.inf, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBreak:
    """Add a little, within ``window`` of the best relevance, for what is used and well made.

    ``priority_gain * (priority - 1) / 4 + access_gain * min(access_count, most_accesses) /
    most_accesses + quality_gain * min(consolidation_quality, most_quality) / most_quality``.

    Source: docs/systems/omega.md O32 (its last part is ours).
    """

    name: ClassVar[str] = "tie_break"
    is_lifecycle: ClassVar[bool] = True
    operation: ClassVar[Operation] = "add"

    window: float = 0.01
    """Below the best relevance, 0 to 1e6, as all gains."""

    priority_gain: float = 0.005
    access_gain: float = 0.0025
    most_accesses: float = 3.0
    """> 0."""

    quality_gain: float = 0.0025
    most_quality: float = 3.0
    """> 0."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            window=_WEIGHT,
            priority_gain=_WEIGHT,
            access_gain=_WEIGHT,
            most_accesses=_POSITIVE,
            quality_gain=_WEIGHT,
            most_quality=_POSITIVE,
        )

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what is added."""
        return program.call(
            "tie_break",
            program.relevance,
            program.best_relevance,
            program.column("priority"),
            program.column("access_count"),
            program.column("consolidation_quality"),
            **numbers_of(self),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """Add a little for what is new: ``gain * exp(-age_days / tau_days)``, age from ``created_at``.

    No timestamp: nothing.

    Source: docs/systems/omega.md O32 (ours in form).
    """

    name: ClassVar[str] = "freshness"
    is_lifecycle: ClassVar[bool] = True
    operation: ClassVar[Operation] = "add"

    gain: float = 0.05
    """At age 0, 0 to 1e6."""

    tau_days: float = 30.0
    """Days after which the gain has fallen to 1/e, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, gain=_WEIGHT, tau_days=_POSITIVE)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of what is added."""
        return program.call("freshness", program.age("created_at", unit="days"), **numbers_of(self))
