"""The factors of Reverie: recency, and four of the lifecycle. Source: docs/systems/reverie.md."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.ranking.declaration import (
    LARGEST_WEIGHT,
    require_number,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.ranking.program import ProgramBuilder

__all__ = ["Depth", "Spread", "Stability", "Strength", "TimeDecay"]

Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDecay:
    """Boost what was updated lately.

    ``factor = 1 + boost * exp(-age_days / tau_days)``, in [1, 1 + boost]; age from ``updated_at``.

    Source: docs/systems/reverie.md R4; published defaults 0.3 and 30 days.
    """

    name: ClassVar[str] = "time_decay"
    is_lifecycle: ClassVar[bool] = False

    boost: float = 0.3
    """Gain at age 0, 0 to 1e6."""

    tau_days: float = 30.0
    """Days after which the gain has fallen to 1/e, > 0."""

    def __post_init__(self) -> None:
        settle_numbers(self, boost=(0.0, LARGEST_WEIGHT, False), tau_days=(0.0, math.inf, True))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_days = program.age("updated_at", unit="days")
        return program.call("time_decay_boost", age_days, boost=self.boost, tau_days=self.tau_days)

    def parameters(self) -> dict[str, float]:
        """Return the numbers of the core's step, by name."""
        return asdict(self)

    def values(self, age_days: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_days: days since the last update, shape (n,), contiguous; below 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``age_days``; 1 where the age is NaN (no timestamp).

        Raises:
            TypeError: the dtype is neither float32 nor float64 (nothing is cast unasked).
            ValueError: another shape, or not contiguous.
        """
        return _core.time_decay_boost(
            age_days=age_days, boost=self.boost, tau_days=self.tau_days, out=None, threads=1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """Multiply by the strength that consolidation gave, in [0, 1].

    Source: docs/systems/reverie.md R5.
    """

    name: ClassVar[str] = "strength"
    is_lifecycle: ClassVar[bool] = True

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.column("strength")

    def parameters(self) -> dict[str, float]:
        """Return the numbers of the core's step: none."""
        return {}

    def values(self, strength: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory: its strength, as it is.

        Args:
            strength: in [0, 1], shape (n,).

        Returns:
            A copy, NaN where the strength is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64 (nothing is cast unasked).
            ValueError: another shape.
        """
        if strength.dtype not in (np.float32, np.float64):
            msg = f"strength: expected float32 or float64, got {strength.dtype}"
            raise TypeError(msg)
        if strength.ndim != 1:
            msg = f"strength: expected shape (n,), got {strength.shape}"
            raise ValueError(msg)
        return strength.copy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """Weigh by depth of consolidation.

    ``factor = table[depth - 1]``.

    Source: docs/systems/reverie.md R6; published table 0.8, 1.0, 1.2.
    """

    name: ClassVar[str] = "depth"
    is_lifecycle: ClassVar[bool] = True

    table: tuple[float, float, float] = (0.8, 1.0, 1.2)
    """The weights of depth 1, 2 and 3, each 0 to 1e6."""

    def __post_init__(self) -> None:
        table = require_numbers("table", self.table, low=0.0, high=LARGEST_WEIGHT, count=3)
        settle(self, "table", table)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call("depth_weight", program.column("depth"), table=self.table)

    def parameters(self) -> dict[str, float]:
        """Return the numbers of the core's step, by name."""
        return {f"table_{depth}": weight for depth, weight in enumerate(self.table, start=1)}

    def values(self, depth: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            depth: 1, 2 or 3, shape (n,), contiguous.

        Returns:
            Shape (n,), the dtype of ``depth``; NaN where the depth is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64 (nothing is cast unasked).
            ValueError: another depth, another shape, or not contiguous.
        """
        return _core.depth_weight(depth=depth, table=np.array(self.table), out=None, threads=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Weigh by the number of sessions that used the memory.

    ``factor = min(ln(1 + session_spread) / ln(2), cap)``, so exactly 1 at one session.

    Source: docs/systems/reverie.md R7; no cap as published, 3 in ``reverie-capped`` (ours).
    """

    name: ClassVar[str] = "spread"
    is_lifecycle: ClassVar[bool] = True

    cap: float = math.inf
    """The greatest factor, > 0; infinity is no cap."""

    def __post_init__(self) -> None:
        value = require_number("cap", self.cap, low=0.0, above_low=True, finite=False)
        settle(self, "cap", value)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call("spread_weight", program.column("session_spread"), cap=self.cap)

    def parameters(self) -> dict[str, float]:
        """Return the numbers of the core's step, by name."""
        return asdict(self)

    def values(self, session_spread: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            session_spread: sessions that used it, shape (n,), contiguous, >= 0.

        Returns:
            Shape (n,), the dtype of ``session_spread``; NaN where the count is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64 (nothing is cast unasked).
            ValueError: a count below 0 or infinite, another shape, or not contiguous.
        """
        return _core.spread_weight(session_spread=session_spread, cap=self.cap, out=None, threads=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Let what is stable outlast what is not.

    ``factor = exp((age_days / tau_days) * (1 - 1 / stability))``, clamped to [low, high]; age from
    ``last_accessed_at``, ``created_at`` if never. Exactly 1 at stability 1 for every age.

    Source: docs/systems/reverie.md R8; published defaults 30 days and [0.1, 3].
    """

    name: ClassVar[str] = "stability"
    is_lifecycle: ClassVar[bool] = True

    tau_days: float = 30.0
    """Days, > 0."""

    low: float = 0.1
    """The least factor, 0 to ``high``; the factor of a stability of 0 or below."""

    high: float = 3.0
    """The greatest factor, ``low`` to 1e6."""

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
            tau_days=self.tau_days,
            low=self.low,
            high=self.high,
        )

    def parameters(self) -> dict[str, float]:
        """Return the numbers of the core's step, by name."""
        return asdict(self)

    def values(
        self, age_days: npt.NDArray[Real], stability: npt.NDArray[Real]
    ) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_days: days since the last access, shape (n,), contiguous; below 0 counts as 0.
            stability: the same shape and dtype; 0 or below gives ``low``.

        Returns:
            Shape (n,), the dtype of ``age_days``; 1 where the age is NaN (no timestamp), NaN where
            the stability is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or the two differ.
            ValueError: another shape, or not contiguous.
        """
        return _core.stability_boost(
            age_days=age_days,
            stability=stability,
            tau_days=self.tau_days,
            low=self.low,
            high=self.high,
            out=None,
            threads=1,
        )
