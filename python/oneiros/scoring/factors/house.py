"""The factor of the default profile: recency. Source: docs/systems/house.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import damped, damped_values
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["HalfLifeRecency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLifeRecency:
    """Lower the score slightly without use, by a half-life.

    ``recency = max(floor, 2 ** (-age_days / half_life_days))``, age from the latest of creation,
    update and last access; 1 for pinned and core memories. ``factor = 1 - damping + damping *
    recency``; ``retention_score`` uses the recency without damping.

    Source: docs/systems/house.md H6.
    """

    name: ClassVar[str] = "recency"
    system: ClassVar[str] = "oneiros"
    is_lifecycle: ClassVar[bool] = True

    half_life_days: float = 90.0
    """Days, > 0."""

    floor: float = 0.5
    """Lower bound of the recency, 0 to 1."""

    damping: float = 0.15
    """Weight of the recency, 0 (no effect) to 1 (full effect)."""

    def __post_init__(self) -> None:
        share = (0.0, 1.0, False)
        settle_numbers(self, half_life_days=(0.0, math.inf, True), floor=share, damping=share)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return damped(program, self.emit_base(program), self.damping)

    def emit_base(self, program: ProgramBuilder) -> int:
        """Return the register of the recency."""
        # Each falls back to the others, so that all three are NaN or none is.
        created = program.age("created_at", "updated_at", "last_accessed_at")
        updated = program.age("updated_at", "last_accessed_at", "created_at")
        accessed = program.age("last_accessed_at", "updated_at", "created_at")
        least = program.call("minimum", program.call("minimum", created, updated), accessed)
        recency = program.call("half_life_decay", least, **numbers_of(self))
        is_exempt = program.call("maximum", program.column("pinned"), program.column("core"))
        return program.call("select", is_exempt, program.constant(1.0), recency)

    def values(self, age_days: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory that is neither pinned nor core.

        Args:
            age_days: days since the last use, shape (n,), contiguous; < 0 counts as 0.

        Returns:
            Shape (n,), the dtype of ``age_days``; 1 where the age is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64.
            ValueError: not of shape (n,), or not contiguous.
        """
        recency = strict_values("half_life_decay", numbers_of(self), age_days=age_days)
        return damped_values(recency, self.damping)
