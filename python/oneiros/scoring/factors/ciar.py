"""The factors of CIAR, as published and as shipped. Source: docs/systems/ciar.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from oneiros.model.validation import require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.tables import POSITIVE, SHARE, WEIGHT, Range

__all__ = [
    "CiarDecay",
    "CiarReinforcement",
    "ShippedDecay",
    "ShippedReinforcement",
    "Significance",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Significance(KernelFactor):
    """Multiply by certainty and impact. A 0 in either is a veto.

    Source: docs/systems/ciar.md A1, A3.
    """

    name: ClassVar[str] = "significance"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "multiply"
    columns: ClassVar[tuple[str, ...]] = ("certainty", "impact")


class _Decay(KernelFactor):
    """A decay at a rate per day of the age."""

    __slots__ = ()

    is_lifecycle: ClassVar[bool] = True
    times: ClassVar[tuple[str, ...]] = ("created_at",)

    rate: float

    def __post_init__(self) -> None:
        settle(self, "rate", require_rate("rate", self.rate))
        settle_numbers(self, **self.ranges)

    @property
    def half_life_days(self) -> float:
        """The half-life: ``ln 2 / rate``. Source: docs/systems/ciar.md A7."""
        return math.log(2.0) / self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class CiarDecay(_Decay):
    """Exponential decay with age: ``factor = exp(-rate * age_days)``, age from ``created_at``.

    Source: docs/systems/ciar.md A1, A7; published rate 0.0231 per day.
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "ciar"
    kernel: ClassVar[str] = "ciar_decay"

    not_after_now: ClassVar[tuple[str, ...]] = ("created_at",)
    """Times that must not be in the future in a table (A6). In a search they count as age 0."""

    rate: float = 0.0231
    """Decay per day, between 0 and 1, both excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CiarReinforcement(KernelFactor):
    """Growth with use: ``factor = 1 + reinforcement * access_count``.

    Source: docs/systems/ciar.md A1; published reinforcement 0.1.
    """

    name: ClassVar[str] = "reinforcement"
    system: ClassVar[str] = "ciar"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "ciar_reinforcement"
    columns: ClassVar[tuple[str, ...]] = ("access_count",)

    reinforcement: float = 0.1
    """Growth per access, 0 to 1, 1 excluded."""

    def __post_init__(self) -> None:
        reinforcement = require_number(
            "reinforcement", self.reinforcement, low=0.0, high=1.0, below_high=True
        )
        settle(self, "reinforcement", reinforcement)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedDecay(_Decay):
    """Decay with age up to a limit: ``factor = max(floor, exp(-rate * min(age_days, most_days)))``.

    Age from ``created_at``. Source: docs/systems/ciar.md A12 (as shipped by the project).
    """

    name: ClassVar[str] = "decay"
    system: ClassVar[str] = "ciar-shipped"
    kernel: ClassVar[str] = "ciar_shipped_decay"
    ranges: ClassVar[Mapping[str, Range]] = {"most_days": POSITIVE, "floor": SHARE}

    rate: float = 0.1
    """Decay per day, between 0 and 1, both excluded."""

    most_days: float = 30.0
    """The age at which the decay stops, > 0."""

    floor: float = 0.1
    """Lower bound of the factor, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedReinforcement(KernelFactor):
    """Logarithmic growth with use: ``factor = 1 + min(most_gain, gain * ln(1 + access_count))``.

    Source: docs/systems/ciar.md A12 (as shipped by the project).
    """

    name: ClassVar[str] = "reinforcement"
    system: ClassVar[str] = "ciar-shipped"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "ciar_shipped_reinforcement"
    columns: ClassVar[tuple[str, ...]] = ("access_count",)
    ranges: ClassVar[Mapping[str, Range]] = {"gain": WEIGHT, "most_gain": WEIGHT}

    gain: float = 0.05
    """Growth per unit of the logarithm, 0 to 1e6."""

    most_gain: float = 0.3
    """Upper bound of the growth, 0 to 1e6."""


def require_rate(field: str, value: object) -> float:
    """Return a number between 0 and 1, both excluded. Source: docs/systems/ciar.md A6.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: ``value`` is outside the range.
    """
    return require_number(field, value, low=0.0, high=1.0, above_low=True, below_high=True)
