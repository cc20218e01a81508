"""Where the vector of each row lies."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["ABSENT", "PositionTable"]

ABSENT: Final = -1
"""The position of a row without a vector."""


class PositionTable:
    """Row -> position, one number a row: rows are dense, so an array is the smallest map.

    Its last number is no row's, and ABSENT: what is asked of rows beyond the room, it answers.
    """

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table = np.full(64, ABSENT, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._table.nbytes

    def of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return each row's position or ABSENT, shape (n,)."""
        return self._table.take(rows, mode="clip")

    def reserve(self, size: int) -> None:
        """Make room for rows below ``size``."""
        if size >= len(self._table):
            grown = np.full(max(size + 1, 2 * len(self._table)), ABSENT, np.int64)
            grown[: len(self._table)] = self._table
            self._table = grown

    def put(self, rows: npt.NDArray[np.int64], positions: npt.NDArray[np.int64] | int) -> None:
        """Set the positions of rows, or one for all; rows beyond the room are passed over."""
        if isinstance(positions, int):
            rows = rows[rows < len(self._table) - 1]
        self._table[rows] = positions

    def clear(self) -> None:
        """Make every row absent."""
        self._table.fill(ABSENT)
