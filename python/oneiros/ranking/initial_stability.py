"""How stable a memory is when it is new."""

from __future__ import annotations

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import settle_numbers

__all__ = ["InitialStability"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialStability:
    """A memory that comes without a stability starts at ``base + gain * importance``.

    Source: docs/systems/cognitive.md C3.
    """

    base: float = 0.1
    """Of what has no importance, 0 to 1e6."""

    gain: float = 0.3
    """What the greatest importance adds, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle_numbers(self, base=(0.0, 1e6, False), gain=(0.0, 1e6, False))

    def of(self, importance: float) -> float:
        """Return the stability of a new memory of this importance, in [0, 1]."""
        return self.base + self.gain * importance
