"""The factors of CIAR, as published and as shipped. Source: docs/systems/ciar.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import LARGEST_WEIGHT, require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "CiarDecay",
    "CiarReinforcement",
    "ShippedDecay",
    "ShippedReinforcement",
    "Significance",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Significance:
    """Multiply by certainty and impact. A 0 in either is a veto.

    Source: docs/systems/ciar.md A1, A3.
    """

    name: ClassVar[str] = "significance"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call("multiply", program.column("certainty"), program.column("impact"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CiarDecay:
    """Exponential decay with age: ``factor = exp(-rate * age_days)``, age from ``created_at``.

    Source: docs/systems/ciar.md A1, A7; published rate 0.0231 per day.
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "ciar"
    is_lifecycle: ClassVar[bool] = True

    not_after_now: ClassVar[tuple[str, ...]] = ("created_at",)
    """Times that must not be in the future in a table (A6). In a search they count as age 0."""

    rate: float = 0.0231
    """Decay per day, between 0 and 1, both excluded."""

    def __post_init__(self) -> None:
        settle(self, "rate", require_rate("rate", self.rate))

    @property
    def half_life_days(self) -> float:
        """The half-life: ``ln 2 / rate``. Source: docs/systems/ciar.md A7."""
        return math.log(2.0) / self.rate

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_days = program.age("created_at", unit="days")
        return program.call("ciar_decay", age_days, rate=self.rate)

    def values(self, age_days: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_days: days since creation, shape (n,), contiguous; < 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``age_days``; NaN where the age is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values("ciar_decay", numbers_of(self), age_days=age_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class CiarReinforcement:
    """Growth with use: ``factor = 1 + reinforcement * access_count``.

    Source: docs/systems/ciar.md A1; published reinforcement 0.1.
    """

    name: ClassVar[str] = "reinforcement"
    system: ClassVar[str] = "ciar"
    is_lifecycle: ClassVar[bool] = True

    reinforcement: float = 0.1
    """Growth per access, 0 to 1, 1 excluded."""

    def __post_init__(self) -> None:
        reinforcement = require_number(
            "reinforcement", self.reinforcement, low=0.0, high=1.0, below_high=True
        )
        settle(self, "reinforcement", reinforcement)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call(
            "ciar_reinforcement", program.column("access_count"), reinforcement=self.reinforcement
        )

    def values(self, access_count: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            access_count: number of accesses, shape (n,), contiguous.

        Returns:
            Shape (n,), the dtype of ``access_count``; NaN where the count is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values("ciar_reinforcement", numbers_of(self), access_count=access_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedDecay:
    """Decay with age up to a limit: ``factor = max(floor, exp(-rate * min(age_days, most_days)))``.

    Age from ``created_at``. Source: docs/systems/ciar.md A12 (as shipped by the project).
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "ciar-shipped"
    is_lifecycle: ClassVar[bool] = True

    rate: float = 0.1
    """Decay per day, between 0 and 1, both excluded."""

    most_days: float = 30.0
    """The age at which the decay stops, > 0."""

    floor: float = 0.1
    """Lower bound of the factor, 0 to 1."""

    def __post_init__(self) -> None:
        settle(self, "rate", require_rate("rate", self.rate))
        settle_numbers(self, most_days=(0.0, math.inf, True), floor=(0.0, 1.0, False))

    @property
    def half_life_days(self) -> float:
        """The half-life: ``ln 2 / rate``. Source: docs/systems/ciar.md A7."""
        return math.log(2.0) / self.rate

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_days = program.age("created_at", unit="days")
        return program.call("ciar_shipped_decay", age_days, **numbers_of(self))

    def values(self, age_days: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory, as :meth:`CiarDecay.values`."""
        return strict_values("ciar_shipped_decay", numbers_of(self), age_days=age_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedReinforcement:
    """Logarithmic growth with use: ``factor = 1 + min(most_gain, gain * ln(1 + access_count))``.

    Source: docs/systems/ciar.md A12 (as shipped by the project).
    """

    name: ClassVar[str] = "reinforcement"
    system: ClassVar[str] = "ciar-shipped"
    is_lifecycle: ClassVar[bool] = True

    gain: float = 0.05
    """Growth per unit of the logarithm, 0 to 1e6."""

    most_gain: float = 0.3
    """Upper bound of the growth, 0 to 1e6."""

    def __post_init__(self) -> None:
        weight = (0.0, LARGEST_WEIGHT, False)
        settle_numbers(self, gain=weight, most_gain=weight)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        access_count = program.column("access_count")
        return program.call("ciar_shipped_reinforcement", access_count, **numbers_of(self))

    def values(self, access_count: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory, as :meth:`CiarReinforcement.values`."""
        return strict_values(
            "ciar_shipped_reinforcement", numbers_of(self), access_count=access_count
        )


def require_rate(field: str, value: object) -> float:
    """Return a number between 0 and 1, both excluded. Source: docs/systems/ciar.md A6.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: ``value`` is outside the range.
    """
    return require_number(field, value, low=0.0, high=1.0, above_low=True, below_high=True)
