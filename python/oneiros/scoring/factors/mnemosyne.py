"""The factors of Mnemosyne, release 3 included. Source: docs/systems/mnemosyne.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from oneiros.model.fields import ENUMS
from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import Parameter, ProgramBuilder, Unit
from oneiros.scoring.tables import POSITIVE, SHARE, WEIGHT, Range, Table, require_table

__all__ = ["RecencyBlend", "Tier", "Veracity", "WeibullRecency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecencyBlend(KernelFactor):
    """Lower the score with age by at most a share.

    ``factor = 1 - weight + weight * exp(-age_hours / tau_hours)``; age from ``created_at``. Without
    a timestamp the exponential is replaced by 0.5.

    Source: docs/systems/mnemosyne.md M5; published defaults 168 hours and 0.3.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "mnemosyne"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "recency_blend"
    times: ClassVar[tuple[str, ...]] = ("created_at",)
    unit: ClassVar[Unit] = "hours"
    ranges: ClassVar[Mapping[str, Range]] = {"tau_hours": POSITIVE, "weight": SHARE}

    tau_hours: float = 168.0
    """Time constant, hours, > 0."""

    weight: float = 0.3
    """The share that age can remove, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeibullRecency:
    """Lower the score with age by at most a share, by a Weibull curve per kind.

    ``factor = 1 - weight + weight * exp(-(age_hours / eta_hours) ** shape)``, age from
    ``created_at``. Without a timestamp the exponential is replaced by 0.5.

    Source: docs/systems/mnemosyne.md M8, blended as in M5. With shape 1 and eta 168, as for
    ``general`` and unlisted kinds, it equals M5.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "mnemosyne-3"
    is_lifecycle: ClassVar[bool] = True

    shapes: Mapping[str, float] = Table(
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
    """Shape by kind, > 0 to 100."""

    eta_hours: Mapping[str, float] = Table(
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
    """Scale by kind, hours, > 0."""

    other_shape: float = 1.0
    """Shape of unlisted kinds."""

    other_eta_hours: float = 168.0
    """Scale of unlisted kinds, hours."""

    weight: float = 0.3
    """The share that age can remove, 0 to 1."""

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
            other_eta_hours=POSITIVE,
            weight=SHARE,
        )

    def emit(self, program: ProgramBuilder) -> int:
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
    """Multiply by the weight of the memory's age tier.

    ``factor = weights[0]`` up to ``ends_days[0]`` days since creation, then ``weights[1]``, and so
    on; ``weights[0]`` without a timestamp.

    Source: docs/systems/mnemosyne.md M8; published 1, 0.5 after 30 days, 0.25 after 180.
    """

    name: ClassVar[str] = "tier"
    is_lifecycle: ClassVar[bool] = True

    ends_days: tuple[float, ...] = (30.0, 180.0)
    """Ends of all tiers but the last, ascending, days, >= 0; at most 16."""

    weights: tuple[float, ...] = (1.0, 0.5, 0.25)
    """Weight of each tier, 0 to 1e6; one more than ``ends_days``."""

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
        age_days = program.age("created_at", unit="days")
        weight = program.constant(self.weights[0])
        for end, later in zip(self.ends_days, self.weights[1:], strict=True):
            is_past = program.call("greater", age_days, program.constant(end))
            weight = program.call("select", is_past, program.constant(later), weight)
        return weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Veracity(KernelFactor):
    """Multiply by a weight for the memory's origin (``veracity``).

    Source: docs/systems/mnemosyne.md M8.
    """

    name: ClassVar[str] = "veracity"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "lookup"
    columns: ClassVar[tuple[str, ...]] = ("veracity",)
    ranges: ClassVar[Mapping[str, Range]] = dict.fromkeys(ENUMS["veracity"], WEIGHT)

    stated: float = 1.0
    """Weight, 0 to 1e6, like the others."""

    unknown: float = 0.8
    inferred: float = 0.7
    imported: float = 0.6
    tool: float = 0.5

    def parameters(self) -> dict[str, Parameter]:
        weights = [self.stated, self.unknown, self.inferred, self.imported, self.tool]
        return {"table": weights, "otherwise": self.unknown}
