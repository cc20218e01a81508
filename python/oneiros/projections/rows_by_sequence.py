"""The rows of memories by their sequence numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RowsBySequence"]


class RowsBySequence:
    """Finds rows, as they are when this is made.

    Args:
        held: the sequence number of every row, shape (n,); 0 where a memory was erased.
    """

    def __init__(self, held: npt.NDArray[np.float64]) -> None:
        # As good as sorted, and so soon done: rows come in the order of insertion, but for late ones.
        self._order = np.argsort(held, kind="stable")
        self._sorted = held[self._order]

    def __call__(self, sequences: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of memories, shape (n,), -1 where there is none.

        Args:
            sequences: their sequence numbers, shape (n,), in any order; 0 for none.
        """
        if not len(self._sorted):
            return np.full(len(sequences), -1, np.int64)
        places = np.searchsorted(self._sorted, sequences.astype(np.float64))
        places = np.minimum(places, len(self._sorted) - 1)
        is_known = (self._sorted[places] == sequences) & (sequences != 0)
        return np.where(is_known, self._order[places], -1)
