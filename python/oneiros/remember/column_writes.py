"""Columns of many memories written at once: in the store, as a dream cycle or its undoing asks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from oneiros.dataclasses_on_use import dataclass, field
from oneiros.errors import StoreCorrupt
from oneiros.numpy_on_use import np
from oneiros.projections.column_write import LongNumbers
from oneiros.store.lifecycle_rows import parted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from oneiros.projections.column_write import ColumnWrite
    from oneiros.store import Reading, Transaction

__all__ = ["OwnWrites", "long_numbers", "write_columns"]

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
    masks = np.zeros(len(sequence_of), np.uint32)
    for place, write in enumerate(writes):
        masks[write.rows] |= np.uint32(1 << place)
    for mask in np.unique(masks[masks != 0]).tolist():
        every = np.flatnonzero(masks == mask)
        for start in range(0, len(every), _AT_ONCE):
            rows = every[start : start + _AT_ONCE]
            values = {
                write.field: _cells(write, np.searchsorted(write.rows, rows))
                for place, write in enumerate(writes)
                if mask >> place & 1
            }
            transaction.write_lifecycle(sequence_of[rows].tolist(), values)


def _cells(write: ColumnWrite, places: npt.NDArray[np.intp]) -> list[Any]:
    """Return what the table gets for some of the values."""
    from oneiros.dream.words import coded  # noqa: PLC0415 - few write columns

    cells = coded(write.values[places])
    if write.long is not None and len(write.long.places):
        found = np.minimum(np.searchsorted(write.long.places, places), len(write.long.places) - 1)
        for place in np.flatnonzero(write.long.places[found] == places).tolist():
            cells[place] = float(write.long.values[found[place]])
    return cells


def long_numbers(
    reading: Reading,
    before: Mapping[str, npt.NDArray[Any]],
    sequences: Mapping[str, npt.NDArray[np.int64]],
) -> dict[str, LongNumbers]:
    """Return by field the numbers in the store that are longer than what the columns hold of them.

    Args:
        reading: of what the columns hold.
        before: by field, what they hold of some memories.
        sequences: by field, the numbers of these memories, rising.

    Raises:
        StoreCorrupt: the store holds no number where it should.
    """
    from oneiros.dream.words import shortest  # noqa: PLC0415 - few write columns

    names = [name for name, values in before.items() if values.dtype == np.float32]
    stored = {name: shortest(before[name]) for name in names}
    found = {name: stored[name].copy() for name in names}
    for part in filter(None, parted(names)):
        every = functools.reduce(np.union1d, (sequences[name] for name in part))
        for rows in reading.cycles.numbers(part, every.tolist()):
            numbers, *columns = _arrays(rows)
            for name, values in zip(part, columns, strict=True):
                own = sequences[name]
                places = np.searchsorted(own, numbers)
                is_own = own[np.minimum(places, len(own) - 1)] == numbers
                found[name][places[is_own]] = values[is_own]
    is_long = {
        name: np.flatnonzero(
            (found[name] != stored[name]) & (found[name].astype(np.float32) == before[name])
        )  # what is damaged is neither
        for name in names
    }
    return {
        name: LongNumbers(places, found[name][places])
        for name, places in is_long.items()
        if len(places)
    }


def _arrays(rows: Sequence[Sequence[Any]]) -> list[npt.NDArray[np.float64]]:
    try:
        return list(np.array(rows, np.float64).T)
    except (TypeError, ValueError) as error:  # a damaged page may give anything
        msg = f"a number of a memory in the store is none ({error})"
        raise StoreCorrupt(msg) from error
