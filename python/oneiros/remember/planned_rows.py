"""The rows of a planned cycle, as they are when it is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np
from oneiros.projections.column_write import ColumnWrite

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from oneiros.dream.plan import DreamPlan
    from oneiros.projections.lifecycle import Lifecycle

    Mask = npt.NDArray[np.bool_]

__all__ = ["PlannedRows"]


class PlannedRows:
    """What became of a plan's rows. REQUIRES: the columns hold what the transaction sees.

    Args:
        plan: of this engine, or of one whose store this one's is a copy of.
        lifecycle: of the engine that applies it.
        is_of_copy: the plan is of another engine, whose rows are not the same.
    """

    def __init__(self, plan: DreamPlan, lifecycle: Lifecycle, *, is_of_copy: bool) -> None:
        draft = plan.draft
        self._lifecycle = lifecycle
        self._here: npt.NDArray[np.int64] | None = None
        self.sequences: npt.NDArray[np.int64] = draft.source.column("sequence")[
            : len(draft)
        ].astype(np.int64)
        """The store's number of each row's memory, shape (n,); 0 where it was erased."""
        if is_of_copy:
            self._here = lifecycle.rows_of_sequences(self.sequences)
            self.sequences[self._here < 0] = 0
        else:
            self.sequences[[row for row in lifecycle.erased_rows if row < len(draft)]] = 0

    def here(self, write: ColumnWrite) -> ColumnWrite:
        """Return the same write by the rows of the engine that applies it."""
        if self._here is None:
            return write
        return write._replace(rows=self._here[write.rows].astype(np.uint32))

    def changed(self, sequences: Collection[int], ids: Collection[str]) -> Mask:
        """Return which rows are no longer what was planned for, shape (n,).

        Args:
            sequences: of memories that were changed since.
            ids: of others that were, in the engine that made the plan.
        """
        mask: Mask = self.sequences == 0
        if sequences:
            mask |= np.isin(self.sequences, np.fromiter(sequences, np.int64))
        row_of = self._lifecycle.row_of
        for id in ids if self._here is None else ():
            row = row_of.get(id)
            if row is not None and row < len(mask):
                mask[row] = True
        return mask
