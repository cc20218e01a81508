"""Columns of many memories written at once: in the store, as a dream cycle or its undoing asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.projections.column_write import ColumnWrite
    from oneiros.store import Transaction

__all__ = ["OwnWrites", "write_columns"]

_AT_ONCE: Final = 8_192
"""Rows whose values are made Python numbers in one step, which no other thread can come between."""


@dataclass(slots=True)
class OwnWrites:
    """What a write changed, so that its writer need not read it back."""

    columns: list[ColumnWrite] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    """Numbers of the memories that were added, or changed in something else than these columns."""


def write_columns(
    transaction: Transaction, writes: Sequence[ColumnWrite], sequence_of: npt.NDArray[np.int64]
) -> None:
    """Write columns to the store: memories that change in the same fields together.

    Args:
        transaction: open.
        writes: each field once, the rows rising.
        sequence_of: of every row that is written, its memory's sequence number.
    """
    from oneiros.dream.words import coded  # noqa: PLC0415 - few write columns

    masks = np.zeros(len(sequence_of), np.uint32)
    for place, write in enumerate(writes):
        masks[write.rows] |= np.uint32(1 << place)
    for mask in np.unique(masks[masks != 0]).tolist():
        every = np.flatnonzero(masks == mask)
        for start in range(0, len(every), _AT_ONCE):
            rows = every[start : start + _AT_ONCE]
            values = {
                write.field: coded(write.values[np.searchsorted(write.rows, rows)])
                for place, write in enumerate(writes)
                if mask >> place & 1
            }
            transaction.write_lifecycle(sequence_of[rows].tolist(), values)
