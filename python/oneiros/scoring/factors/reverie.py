"""The factors of Reverie: recency and four lifecycle factors. Source: docs/systems/reverie.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_number,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import damped, damped_values
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Depth", "Spread", "Stability", "Strength", "TimeDecay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDecay:
    """Boost recently updated memories.

    ``factor = 1 + boost * exp(-age_days / tau_days)``, in [1, 1 + boost]; age from ``updated_at``.

    Source: docs/systems/reverie.md R4; published defaults 0.3 and 30 days.
    """

    name: ClassVar[str] = "time_decay"
    is_lifecycle: ClassVar[bool] = False

    boost: float = 0.3
    """Gain at age 0, 0 to 1e6."""

    tau_days: float = 30.0
    """Time constant of the gain, days, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, boost=(0.0, LARGEST_WEIGHT, False), tau_days=(0.0, math.inf, True))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_days = program.age("updated_at", unit="days")
        return program.call("time_decay_boost", age_days, **numbers_of(self))

    def values(self, age_days: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_days: days since the last update, shape (n,), contiguous; < 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``age_days``; 1 where the age is NaN (no timestamp).

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values("time_decay_boost", numbers_of(self), age_days=age_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """Multiply by the memory's strength, in [0, 1].

    Source: docs/systems/reverie.md R5; damping: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "strength"
    is_lifecycle: ClassVar[bool] = True

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""

    def __post_init__(self) -> None:
        settle_numbers(self, damping=(0.0, 1.0, False))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return damped(program, self.emit_base(program), self.damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the factor before damping."""
        return program.column("strength")

    def values(self, strength: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory: its strength, damped.

        Args:
            strength: values in [0, 1], shape (n,), contiguous.

        Returns:
            Shape (n,), the dtype of ``strength``; NaN where the strength is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values("damp", {"amount": self.damping}, strength=strength)


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """Multiply by a weight for the depth of consolidation: ``factor = table[depth - 1]``.

    Source: docs/systems/reverie.md R6; published table 0.8, 1.0, 1.2.
    """

    name: ClassVar[str] = "depth"
    is_lifecycle: ClassVar[bool] = True

    table: tuple[float, float, float] = (0.8, 1.0, 1.2)
    """Weights of depths 1, 2 and 3, each 0 to 1e6."""

    def __post_init__(self) -> None:
        table = require_numbers("table", self.table, low=0.0, high=LARGEST_WEIGHT, count=3)
        settle(self, "table", table)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call("depth_weight", program.column("depth"), table=self.table)

    def values(self, depth: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            depth: 1, 2 or 3, shape (n,), contiguous.

        Returns:
            Shape (n,), the dtype of ``depth``; NaN where the depth is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: a depth that is not 1, 2 or 3, not of shape (n,), or not contiguous.
        """
        return strict_values("depth_weight", numbers_of(self), depth=depth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Boost memories used in many sessions.

    ``factor = min(ln(1 + session_spread) / ln(2), cap)``, exactly 1 for one session.

    Source: docs/systems/reverie.md R7; no cap as published, 3 in ``reverie-capped`` (ours).
    Damping: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "spread"
    is_lifecycle: ClassVar[bool] = True

    cap: float = math.inf
    """Upper bound of the factor, > 0; infinity for none."""

    damping: float = 1.0
    """Weight of the factor, 0 (no effect) to 1 (full effect)."""

    def __post_init__(self) -> None:
        value = require_number("cap", self.cap, low=0.0, above_low=True, finite=False)
        settle(self, "cap", value)
        settle_numbers(self, damping=(0.0, 1.0, False))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return damped(program, self.emit_base(program), self.damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the factor before damping."""
        return program.call("spread_weight", program.column("session_spread"), cap=self.cap)

    def values(self, session_spread: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            session_spread: number of sessions, shape (n,), contiguous, >= 0.

        Returns:
            Shape (n,), the dtype of ``session_spread``; NaN where the count is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: a count below 0 or infinite, not of shape (n,), or not contiguous.
        """
        factor = strict_values("spread_weight", numbers_of(self), session_spread=session_spread)
        return damped_values(factor, self.damping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Boost stable memories with age and lower unstable ones.

    ``factor = exp((age_days / tau_days) * (1 - 1 / stability))``, clamped to [low, high]; age from
    ``last_accessed_at``, or ``created_at`` if never accessed. Exactly 1 at stability 1.

    Source: docs/systems/reverie.md R8; published defaults 30 days and [0.1, 3].
    """

    name: ClassVar[str] = "stability"
    is_lifecycle: ClassVar[bool] = True

    tau_days: float = 30.0
    """Time constant, days, > 0."""

    low: float = 0.1
    """Lower bound of the factor, 0 to ``high``; the factor of stabilities <= 0."""

    high: float = 3.0
    """Upper bound of the factor, ``low`` to 1e6."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            tau_days=(0.0, math.inf, True),
            low=(0.0, LARGEST_WEIGHT, False),
            high=(0.0, LARGEST_WEIGHT, False),
        )
        if self.low > self.high:
            msg = f"low: must be <= high ({self.high!r}), got {self.low!r}"
            raise ValueError(msg)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call(
            "stability_boost",
            program.age("last_accessed_at", "created_at", unit="days"),
            program.column("stability"),
            **numbers_of(self),
        )

    def values(
        self, age_days: npt.NDArray[Real], stability: npt.NDArray[Real]
    ) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_days: days since the last access, shape (n,), contiguous; < 0 counts as 0.
            stability: the same shape and dtype; <= 0 gives ``low``.

        Returns:
            Shape (n,), the dtype of ``age_days``; 1 where the age is NaN (no timestamp), NaN where
            the stability is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or the dtypes differ.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values(
            "stability_boost", numbers_of(self), age_days=age_days, stability=stability
        )
