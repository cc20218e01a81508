"""The factors of Mnemosyne: recency, and those of its release 3. Source: docs/systems/mnemosyne.md."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values
from oneiros.scoring.tables import Table, require_table

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RecencyBlend", "Tier", "Veracity", "WeibullRecency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecencyBlend:
    """Take off a share from what is old.

    ``factor = 1 - weight + weight * exp(-age_hours / tau_hours)``; age from ``created_at``. No
    timestamp counts 0.5 for the exponential.

    Source: docs/systems/mnemosyne.md M5; published defaults 168 hours and 0.3.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "mnemosyne"
    is_lifecycle: ClassVar[bool] = True

    tau_hours: float = 168.0
    """Hours after which the exponential has fallen to 1/e, > 0."""

    weight: float = 0.3
    """The share that age can take, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, tau_hours=(0.0, math.inf, True), weight=(0.0, 1.0, False))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_hours = program.age("created_at", unit="hours")
        return program.call("recency_blend", age_hours, **numbers_of(self))

    def values(self, age_hours: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            age_hours: hours since creation, shape (n,), contiguous; below 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``age_hours``; ``1 - weight / 2`` where the age is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: another shape, or not contiguous.
        """
        return strict_values("recency_blend", numbers_of(self), age_hours=age_hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeibullRecency:
    """Take off a share from what is old for its kind.

    ``factor = 1 - weight + weight * exp(-(age_hours / eta_hours) ** shape)``, shape and eta by kind;
    age from ``created_at``. No timestamp counts 0.5 for the exponential.

    Source: docs/systems/mnemosyne.md M8, in the blend of M5: at a shape of 1 and an eta of 168, those
    of ``general`` and of a kind that is not listed, it is M5.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "mnemosyne-3"
    is_lifecycle: ClassVar[bool] = True

    shapes: Table = Table(
        {
            "profile": 0.3,
            "preference": 0.4,
            "relationship": 0.35,
            "learning": 0.7,
            "fact": 0.8,
            "entity": 0.5,
            "setup": 0.6,
            "pattern": 0.6,
            "context": 0.85,
            "observation": 0.9,
            "artifact": 0.75,
            "project": 0.85,
            "goal": 0.9,
            "decision": 1.0,
            "commitment": 1.0,
            "event": 1.2,
            "instruction": 0.9,
            "error": 1.1,
            "issue": 1.1,
            "request": 1.5,
            "general": 1.0,
        }
    )
    """By kind, > 0 to 100."""

    eta_hours: Table = Table(
        {
            "profile": 8760.0,
            "preference": 4380.0,
            "relationship": 8760.0,
            "learning": 1440.0,
            "fact": 720.0,
            "entity": 4380.0,
            "setup": 2160.0,
            "pattern": 1680.0,
            "context": 360.0,
            "observation": 480.0,
            "artifact": 2160.0,
            "project": 1080.0,
            "goal": 720.0,
            "decision": 336.0,
            "commitment": 240.0,
            "event": 168.0,
            "instruction": 480.0,
            "error": 336.0,
            "issue": 336.0,
            "request": 72.0,
            "general": 168.0,
        }
    )
    """By kind, hours, > 0."""

    other_shape: float = 1.0
    """Of a kind that is not listed."""

    other_eta_hours: float = 168.0
    """Of a kind that is not listed."""

    weight: float = 0.3
    """The share that age can take, 0 to 1."""

    def __post_init__(self) -> None:
        shapes = require_table("shapes", self.shapes, low=0.0, high=100.0, above_low=True)
        settle(self, "shapes", shapes)
        eta_hours = require_table(
            "eta_hours", self.eta_hours, low=0.0, high=math.inf, above_low=True
        )
        settle(self, "eta_hours", eta_hours)
        settle_numbers(
            self,
            other_shape=(0.0, 100.0, True),
            other_eta_hours=(0.0, math.inf, True),
            weight=(0.0, 1.0, False),
        )

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_hours = program.age("created_at", unit="hours")
        retained = program.call(
            "weibull_retention",
            age_hours,
            program.by_kind(self.shapes, self.other_shape),
            program.by_kind(self.eta_hours, self.other_eta_hours),
        )
        is_undated = program.call("is_nan", age_hours)
        recency = program.call("select", is_undated, program.constant(0.5), retained)
        return program.call("damp", recency, amount=self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Weigh by which tier of age a memory has reached.

    ``factor = weights[0]`` up to ``ends_days[0]`` days since creation, then ``weights[1]``, and so
    on. No timestamp: the first.

    Source: docs/systems/mnemosyne.md M8; published 1, 0.5 after 30 days, 0.25 after 180.
    """

    name: ClassVar[str] = "tier"
    is_lifecycle: ClassVar[bool] = True

    ends_days: tuple[float, ...] = (30.0, 180.0)
    """Where each tier but the last ends, rising, days, >= 0; at most 16."""

    weights: tuple[float, ...] = (1.0, 0.5, 0.25)
    """One more than ``ends_days``, each 0 to 1e6."""

    def __post_init__(self) -> None:
        ends_days = require_numbers("ends_days", self.ends_days, low=0.0)
        if len(ends_days) > 16 or any(b <= a for a, b in pairwise(ends_days)):
            msg = f"ends_days: expected at most 16 rising numbers, got {self.ends_days!r}"
            raise ValueError(msg)
        settle(self, "ends_days", ends_days)
        weights = require_numbers(
            "weights", self.weights, low=0.0, high=LARGEST_WEIGHT, count=len(ends_days) + 1
        )
        settle(self, "weights", weights)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        age_days = program.age("created_at", unit="days")
        weight = program.constant(self.weights[0])
        for end, later in zip(self.ends_days, self.weights[1:], strict=True):
            is_past = program.call("greater", age_days, program.constant(end))
            weight = program.call("select", is_past, program.constant(later), weight)
        return weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Veracity:
    """Weigh by where a memory comes from.

    Source: docs/systems/mnemosyne.md M8.
    """

    name: ClassVar[str] = "veracity"
    is_lifecycle: ClassVar[bool] = False

    stated: float = 1.0
    """0 to 1e6, as the others."""

    unknown: float = 0.8
    inferred: float = 0.7
    imported: float = 0.6
    tool: float = 0.5

    def __post_init__(self) -> None:
        settle_numbers(self, **dict.fromkeys(numbers_of(self), (0.0, LARGEST_WEIGHT, False)))

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        weights = [self.stated, self.unknown, self.inferred, self.imported, self.tool]
        return program.call(
            "lookup", program.column("veracity"), table=weights, otherwise=self.unknown
        )
