"""The factor of cognitive-memory: retention. Source: docs/systems/cognitive.md."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, get_args

from oneiros.model.fields import ENUMS
from oneiros.model.validation import require_choice, require_numbers, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.program import Parameter, ProgramBuilder

__all__ = ["MODELS", "Model", "Retention"]

Model = Literal["exponential", "power"]
MODELS: tuple[Model, ...] = get_args(Model)

_CORE = 3  # code of a category that only core memories get, and only in the kernel
_STUB = ENUMS["tier"].index("stub")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Multiply by ``R ** alpha``, where R is the retention of the memory.

    ``R = max(floor, exp(-days / (S * B * beta)))`` with ``S = max(stability, 0.01)``, ``B = min(1 +
    2 * importance, 3)``, beta and floor by category; with ``model="power"``, ``(1 + days / (S * B *
    beta)) ** -1.4427`` in place of the exponential. Days since the last access, or since creation
    if never accessed; without a timestamp R is the floor. A core memory has the higher R of core
    and its category, a stub has 0. ``retention_score`` uses R without ``alpha``.

    Source: docs/systems/cognitive.md C1, C2, C6, C12; defaults of its release 0.4.0.
    """

    name: ClassVar[str] = "retention"
    is_lifecycle: ClassVar[bool] = True

    model: Model = "exponential"
    """The decay curve: "exponential" (C1) or "power" (C2)."""

    beta_days: tuple[float, float, float, float] = (45.0, 120.0, math.inf, 120.0)
    """Time constants of episodic, semantic, procedural and core, days, > 0; infinity: no decay."""

    floors: tuple[float, float, float, float] = (0.02, 0.02, 0.02, 0.60)
    """Lower bounds of R, by category like ``beta_days``, 0 to 1."""

    alpha: float = 0.3
    """Exponent of R, 0 (no effect) to 100."""

    def __post_init__(self) -> None:
        require_choice("model", self.model, MODELS)
        beta_days = require_numbers(
            "beta_days", self.beta_days, low=0.0, above_low=True, finite=False, count=4
        )
        settle(self, "beta_days", beta_days)
        floors = require_numbers("floors", self.floors, low=0.0, high=1.0, count=4)
        settle(self, "floors", floors)
        settle_numbers(self, alpha=(0.0, 100.0, False))

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of the kernel ``retention``."""
        return {
            "model": float(MODELS.index(self.model)),
            "beta_days": list(self.beta_days),
            "floors": list(self.floors),
        }

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of ``R ** alpha``."""
        return program.call(
            "retention_score", program.constant(1.0), self.emit_base(program), alpha=self.alpha
        )

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of R."""
        days = program.age("last_accessed_at", "created_at", unit="days")
        by_category, as_core = (
            program.call(
                "retention",
                days,
                program.column("stability"),
                program.column("importance"),
                category,
                **self.parameters(),
            )
            for category in (program.column("category"), program.constant(_CORE))
        )
        higher = program.call("maximum", by_category, as_core)
        retained = program.call("select", program.column("core"), higher, by_category)
        is_stub = program.call("equal", program.column("tier"), program.constant(_STUB))
        return program.call("select", is_stub, program.constant(0.0), retained)
