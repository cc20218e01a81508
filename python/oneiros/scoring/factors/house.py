"""The factors of the default profile: recency and trust. Source: docs/systems/house.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import POSITIVE, SHARE, Range

__all__ = ["HalfLifeRecency", "Trust"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLifeRecency(KernelFactor):
    """Lower the score slightly without use, by a half-life.

    ``recency = max(floor, 2 ** (-age_days / half_life_days))``, age from the latest of creation,
    update and last access; 1 for pinned and core memories. ``factor = 1 - damping + damping *
    recency``; ``retention_score`` uses the recency without damping.

    Source: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = True
    kernel: ClassVar[str] = "half_life_decay"
    ranges: ClassVar[Mapping[str, Range]] = {
        "half_life_days": POSITIVE,
        "floor": SHARE,
        "damping": SHARE,
    }

    half_life_days: float = 90.0
    """Days, > 0."""

    floor: float = 0.5
    """Lower bound of the recency, 0 to 1."""

    damping: float = 0.15
    """Weight of the recency, 0 (no effect) to 1 (full effect)."""

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the recency."""
        # Each falls back to the others, so that all three are NaN or none is.
        created = program.age("created_at", "updated_at", "last_accessed_at")
        updated = program.age("updated_at", "last_accessed_at", "created_at")
        accessed = program.age("last_accessed_at", "updated_at", "created_at")
        least = program.call("minimum", program.call("minimum", created, updated), accessed)
        recency = program.call(self.kernel, least, **self.parameters())
        is_exempt = program.call("maximum", program.column("pinned"), program.column("core"))
        return program.call("select", is_exempt, program.constant(1.0), recency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Multiply by the memory's trust, 0 to 1; 1 for a memory without one.

    ``retention_score`` does not read it: what is doubted is not forgotten sooner.

    Source: docs/systems/house.md H11.
    """

    name: ClassVar[str] = "trust"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = False

    def emit(self, program: ProgramBuilder) -> int:
        """Add the factor to ``program`` and return the register of its value."""
        return program.column("trust")
