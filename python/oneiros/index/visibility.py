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
    """The limits of a search, from its arguments and its profile.

    Source: docs/systems/fields.md, "Hidden from recall"; docs/systems/cognitive.md C7.
    """

    selection: Selection
    """The profile's rules for hidden memories."""
    where: Where | None
    """A further condition."""
    status: Sequence[str] | None
    """Only memories with these statuses, archived ones if named; None hides archived ones."""
    now: float
    """Seconds."""
    valid_at: float | None = None
    """Only memories valid then, whatever the profile hides; None: now, if the profile asks."""
    includes_expired: bool = False
    """Whether expired memories stay."""
    is_deep: bool = False
    """Whether superseded memories return, of any tier. Source: docs/systems/cognitive.md C4, C6."""
    includes_lapsed: bool = False
    """Whether deep recall also returns expired memories."""

    @property
    def penalises_lapsed(self) -> bool:
        """Whether expired memories return with a penalty."""
        is_hidden = self.judges_validity and not self.includes_expired
        return self.is_deep and self.includes_lapsed and is_hidden

    @property
    def judges_validity(self) -> bool:
        """Whether validity hides any memory."""
        return self.selection.hide_expired or self.valid_at is not None

    @property
    def moment(self) -> float:
        """The time at which memories must be valid, seconds."""
        return self.now if self.valid_at is None else self.valid_at


class Reach(NamedTuple):
    """The rows to which links may lead a search."""

    associations: Associations
    bits: npt.NDArray[np.uint8] | None
    """Packed bits of the rows; None: every row."""


class BackAgain(NamedTuple):
    """The rows that deep recall brings back."""

    superseded: BitMap
    lapsed: BitMap
    """Rows past their validity."""

    @property
    def lapsed_rows(self) -> npt.NDArray[np.uint32]:
        """The rows past their validity, ascending."""
        return np.array(self.lapsed.to_array(), np.uint32)

    def hold(self, row: int) -> bool:
        """Return whether deep recall brought a row back."""
        return row in self.superseded or row in self.lapsed


class Visible(NamedTuple):
    """The rows that one search may return."""

    bits: npt.NDArray[np.uint8] | None
    """Packed bits; None: every row in the indexes."""
    row_count: int
    bounds_count: int
    """Live rows in the scope of the caller."""
    reach: Reach | None = None
    """The rows to which links may lead; None: no links are followed."""

    def letting_in(self, row: int) -> Visible:
        """Return these rows and one more row of the indexes."""
        if self.bits is None or row // 8 >= len(self.bits):
            return self
        bits = self.bits.copy()
        bits[row // 8] |= 1 << row % 8
        return self._replace(bits=bits)
