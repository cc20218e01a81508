"""The phases of docs/systems/omega.md, as a profile declares them."""

from __future__ import annotations

from typing import ClassVar

from oneiros.model.validation import settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.phases.phase import Phase
from oneiros.scoring.tables import require_words

__all__ = ["PHASES", "Forgetting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Archive what is old, was never of use or was of bad use, and weighs next to nothing.

    What it weighs is kind x feedback x decay, by the factors :class:`KindWeight`, :class:`Feedback`
    and :class:`FlooredDecay` of the profile.

    Source: docs/systems/omega.md O31.
    """

    name: ClassVar[str] = "forget"
    reads_aliases: ClassVar[tuple[str, ...]] = ("exempt",)

    age_days: float = 30.0
    """The least age, since creation, 0 to 1e9."""

    disliked_at: float = -3.0
    """The feedback from which down also what was accessed may go, -1e9 to 0."""

    below: float = 0.05
    """What it weighs is less than this, 0 to 1e6."""

    exempt: tuple[str, ...] = ("user_preference", "error_pattern", "constraint", "reminder")
    """Kinds that stay."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            age_days=(0.0, 1e9, False),
            disliked_at=(-1e9, 0.0, False),
            below=(0.0, 1e6, False),
        )
        settle(self, "exempt", require_words("exempt", self.exempt))


PHASES: tuple[type[Phase], ...] = (Forgetting,)
"""The phases of docs/systems/omega.md, as a profile declares them."""
