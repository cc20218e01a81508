"""Columns of many memories written at once: in the store, as a dream cycle or its undoing asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np
from oneiros.projections.column_write import ColumnWrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.store import Transaction

__all__ = ["OwnWrites", "write_columns"]


@dataclass(slots=True)
class OwnWrites:
    """What a write changed, so that its writer need not read it back."""

    columns: list[ColumnWrite] = field(default_factory=list)
    """``deleted_at`` is not among them: the memories it is of are named in ``ids``."""
    ids: list[str] = field(default_factory=list)
    """Memories changed in something else than these columns."""

    def note(self, writes: Sequence[ColumnWrite], ids: Sequence[str]) -> None:
        """Note column writes.

        Args:
            writes: as they were written.
            ids: by row.
        """
        for write in writes:
            if write.field == "deleted_at":
                self.ids += [ids[row] for row in write.rows.tolist()]
            else:
                self.columns.append(write)


def write_columns(
    transaction: Transaction, writes: Sequence[ColumnWrite], sequence_of: npt.NDArray[np.int64]
) -> None:
    """Write columns to the store: memories that change in the same fields together.

    Args:
        transaction: open.
        writes: each field once.
        sequence_of: of every row that is written, its memory's sequence number.
    """
    from oneiros.dream.words import coded  # noqa: PLC0415 - few write columns

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
