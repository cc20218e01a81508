"""Columns of many memories written at once: in the store, as a dream cycle or its undoing asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from oneiros.dream.words import coded
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.store import Transaction

    Array = npt.NDArray[Any]

__all__ = ["ColumnWrite", "write_columns"]


class ColumnWrite(NamedTuple):
    """One field of many memories."""

    field: str
    rows: npt.NDArray[np.uint32]
    """Each once, rising."""
    values: Array
    """In the column's dtype."""


def write_columns(
    transaction: Transaction, writes: Sequence[ColumnWrite], sequence_of: npt.NDArray[np.int64]
) -> None:
    """Write columns to the store: memories that change in the same fields together.

    Args:
        transaction: open.
        writes: each field once.
        sequence_of: of every row that is written, its memory's sequence number.
    """
    masks = np.zeros(len(sequence_of), np.uint32)
    for place, write in enumerate(writes):
        masks[write.rows] |= np.uint32(1 << place)
    for mask in np.unique(masks[masks != 0]).tolist():
        rows = np.flatnonzero(masks == mask)
        values = {
            write.field: coded(write.values[np.searchsorted(write.rows, rows)])
            for place, write in enumerate(writes)
            if mask >> place & 1
        }
        transaction.write_lifecycle(sequence_of[rows].tolist(), values)
