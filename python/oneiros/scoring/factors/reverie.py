"""The factors of Reverie: recency and four lifecycle factors. Source: docs/systems/reverie.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import POSITIVE, SHARE, WEIGHT, Range, settle_limits

__all__ = ["Depth", "Spread", "Stability", "Strength", "TimeDecay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDecay(KernelFactor):
    """Boost recently updated memories.

    ``factor = 1 + boost * exp(-age_days / tau_days)``, in [1, 1 + boost]; age from ``updated_at``.

    Source: docs/systems/reverie.md R4; published defaults 0.3 and 30 days.
    """

    name: ClassVar[str] = "time_decay"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "time_decay_boost"
    times: ClassVar[tuple[str, ...]] = ("updated_at",)
    ranges: ClassVar[Mapping[str, Range]] = {"boost": WEIGHT, "tau_days": POSITIVE}

    boost: float = 0.3
    """Gain at age 0, 0 to 1e6."""

    tau_days: float = 30.0
    """Time constant of the gain, days, > 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength(KernelFactor):
    """Multiply by the memory's strength, in [0, 1].

    Source: docs/systems/reverie.md R5; damping: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "strength"
    is_lifecycle: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, Range]] = {"damping": SHARE}

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""

    def emit_base(self, program: ProgramBuilder) -> int:
        return program.column("strength")


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth(KernelFactor):
    """Multiply by a weight for the depth of consolidation: ``factor = table[depth - 1]``.

    Source: docs/systems/reverie.md R6; published table 0.8, 1.0, 1.2.
    """

    name: ClassVar[str] = "depth"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "depth_weight"
    columns: ClassVar[tuple[str, ...]] = ("depth",)

    table: tuple[float, float, float] = (0.8, 1.0, 1.2)
    """Weights of depths 1, 2 and 3, each 0 to 1e6."""

    def __post_init__(self) -> None:
        table = require_numbers("table", self.table, low=0.0, high=LARGEST_WEIGHT, count=3)
        settle(self, "table", table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(KernelFactor):
    """Boost memories used in many sessions.

    ``factor = min(ln(1 + session_spread) / ln(2), cap)``, exactly 1 for one session.

    Source: docs/systems/reverie.md R7; no cap as published, 3 in ``reverie-capped`` (ours).
    Damping: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "spread"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "spread_weight"
    columns: ClassVar[tuple[str, ...]] = ("session_spread",)

    cap: float = math.inf
    """Upper bound of the factor, > 0; infinity for none."""

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""

    def __post_init__(self) -> None:
        settle_limits(self, "cap")
        settle_numbers(self, damping=SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability(KernelFactor):
    """Boost stable memories with age and lower unstable ones.

    ``factor = exp((age_days / tau_days) * (1 - 1 / stability))``, clamped to [low, high]; age from
    ``last_accessed_at``, or ``created_at`` if never accessed. Exactly 1 at stability 1.

    Source: docs/systems/reverie.md R8; published defaults 30 days and [0.1, 3].
    """

    name: ClassVar[str] = "stability"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "stability_boost"
    times: ClassVar[tuple[str, ...]] = ("last_accessed_at", "created_at")
    columns: ClassVar[tuple[str, ...]] = ("stability",)
    ranges: ClassVar[Mapping[str, Range]] = {"tau_days": POSITIVE, "low": WEIGHT, "high": WEIGHT}

    tau_days: float = 30.0
    """Time constant, days, > 0."""

    low: float = 0.1
    """Lower bound of the factor, 0 to ``high``; the factor of stabilities <= 0."""

    high: float = 3.0
    """Upper bound of the factor, ``low`` to 1e6."""

    def __post_init__(self) -> None:
        KernelFactor.__post_init__(self)
        if self.low > self.high:
            msg = f"low: must be <= high ({self.high!r}), got {self.low!r}"
            raise ValueError(msg)
