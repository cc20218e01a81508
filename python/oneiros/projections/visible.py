"""The rows that one search may return, what comes back to it, and where its links may lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import NamedTuple
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.association import Associations

__all__ = ["BackAgain", "Reach", "Visible"]


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
