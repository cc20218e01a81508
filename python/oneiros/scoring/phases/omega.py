"""The phase of OMEGA, as a profile declares it. Source: docs/systems/omega.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.tables import WEIGHT, require_words

if TYPE_CHECKING:
    from oneiros.scoring.phases import Phase

__all__ = ["PHASES", "Forgetting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Archive old memories of low weight that were never accessed or are disliked.

    The weight is kind x feedback x decay, by the profile's factors :class:`KindWeight`,
    :class:`Feedback` and :class:`FlooredDecay`.

    Source: docs/systems/omega.md O31.
    """

    name: ClassVar[str] = "forget"
    reads_aliases: ClassVar[tuple[str, ...]] = ("exempt",)

    age_days: float = 30.0
    """Minimum age since creation, days, 0 to 1e9."""

    disliked_at: float = -3.0
    """Feedback at or below which accessed memories are archived too, -1e9 to 0."""

    below: float = 0.05
    """Weight below which memories are archived, 0 to 1e6."""

    exempt: tuple[str, ...] = ("user_preference", "error_pattern", "constraint", "reminder")
    """Kinds that are never archived."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            age_days=(0.0, 1e9, False),
            disliked_at=(-1e9, 0.0, False),
            below=WEIGHT,
        )
        settle(self, "exempt", require_words("exempt", self.exempt))


PHASES: tuple[type[Phase], ...] = (Forgetting,)
"""The phases of this file."""
