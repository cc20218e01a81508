"""The rows that a search may return, and the rows its links may lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oneiros._lazy import np
from oneiros.runtime.dataclasses import NamedTuple, dataclass

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.filters import Where
    from oneiros.graph import Associations
    from oneiros.scoring.selection import Selection

__all__ = ["BackAgain", "Limits", "Reach", "Visible"]


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


class Reach(NamedTuple):
    """Where links may lead a search."""

    associations: Associations
    bits: npt.NDArray[np.uint8] | None
    """Packed bits of the rows; None: every row."""


class BackAgain(NamedTuple):
    """The rows that come back in deep recall."""

    superseded: BitMap
    lapsed: BitMap
    """Past their validity."""

    @property
    def lapsed_rows(self) -> npt.NDArray[np.uint32]:
        """The rows past their validity, ascending."""
        return np.array(self.lapsed.to_array(), np.uint32)

    def hold(self, row: int) -> bool:
        """Return whether it came back."""
        return row in self.superseded or row in self.lapsed


class Visible(NamedTuple):
    """The rows that one search may return."""

    bits: npt.NDArray[np.uint8] | None
    """Packed bits; None: every row the indexes hold."""
    row_count: int
    bounds_count: int
    """Live rows within the bounds of who asks: all, or those of a scope."""
    reach: Reach | None = None
    """Where links of what is found may lead; None: none are followed."""

    def letting_in(self, row: int) -> Visible:
        """Return these rows and one more, which the indexes hold."""
        if self.bits is None or row // 8 >= len(self.bits):
            return self
        bits = self.bits.copy()
        bits[row // 8] |= 1 << row % 8
        return self._replace(bits=bits)
