"""What one search may return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    from oneiros.ranking.selection import Selection
    from oneiros.scopes import Where

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may return, as it was asked and as the profile says.

    Source: docs/systems/fields.md, "Hidden from recall"; docs/systems/cognitive.md C7.
    """

    selection: Selection
    """What the profile hides."""
    where: Where | None
    """A further condition."""
    status: Sequence[str] | None
    """These statuses and no other, archived ones too if named; None hides archived."""
    now: float
    """Seconds."""
    valid_at: float | None = None
    """What was valid then, whatever the profile hides; None: now, where the profile asks."""
    includes_expired: bool = False
    """What is past its validity stays."""
    is_deep: bool = False
    """What is superseded comes back, of whatever tier. Source: docs/systems/cognitive.md C4, C6."""
    includes_lapsed: bool = False
    """In deep recall what is past its validity comes back, too."""

    @property
    def penalises_lapsed(self) -> bool:
        """Whether what is past its validity comes back, and counts less for it."""
        is_hidden = self.judges_validity and not self.includes_expired
        return self.is_deep and self.includes_lapsed and is_hidden

    @property
    def judges_validity(self) -> bool:
        """Whether anything is hidden for its validity."""
        return self.selection.hide_expired or self.valid_at is not None

    @property
    def moment(self) -> float:
        """When memories are to be valid, seconds."""
        return self.now if self.valid_at is None else self.valid_at
