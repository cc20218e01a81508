"""Columns written by dream cycles, in this process and in others."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.dream import undo_log
from oneiros.errors import StoreCorrupt
from oneiros.index.columns import ColumnWrite, LongNumbers, coded, shortest
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.store.rows import by_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.index.columns import Lifecycle
    from oneiros.store import Reading, Transaction
    from oneiros.store.cycles import StoredContent, StoredCycle

__all__ = ["OwnWrites", "changed_by", "changed_by_contents", "long_numbers", "write_columns"]


_AT_ONCE: Final = 8_192
"""Rows whose values are converted in one step, while no other thread can run."""


@dataclass(slots=True)
class OwnWrites:
    """The changes of a write, so that its writer need not read them back."""

    columns: list[ColumnWrite] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    """Sequence numbers of memories added, or changed in more than these columns."""


def write_columns(
    transaction: Transaction, writes: Sequence[ColumnWrite], sequence_of: npt.NDArray[np.int64]
) -> None:
    """Write columns to the store, grouping memories that change in the same fields.

    Args:
        transaction: open.
        writes: one per field, with ascending rows.
        sequence_of: the sequence number of each row.
    """
    masks = np.zeros(len(sequence_of), np.uint64)
    for place, write in enumerate(writes):
        masks[write.rows] |= np.uint64(1 << place)
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
    """Return the table cells of some of the values."""
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
    """Return, by field, the stored numbers that have more digits than the columns hold.

    Args:
        reading: a state equal to that of the columns.
        before: field to the column's values of some memories.
        sequences: field to the sequence numbers of these memories, ascending.

    Raises:
        StoreCorrupt: a stored value is not a number.
    """
    names = [name for name, values in before.items() if values.dtype == np.float32]
    stored = {name: shortest(before[name]) for name in names}
    found = {name: stored[name].copy() for name in names}
    for part in by_table(names).values():
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
        )  # damaged values match neither
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


_OF_USE: Final = frozenset(
    {"access_count", "last_accessed_at", "stability", "session_spread", "core"}
)
"""The fields that searches reinforce before the store holds the change; cycles read whole memories for
them."""


def changed_by(cycle: StoredCycle, reading: Reading, lifecycle: Lifecycle) -> OwnWrites | None:
    """Return the changes of a cycle from its undo log; None if the memories must be read instead.

    That is so if the log is damaged or no longer kept.

    Args:
        cycle: the cycle of the next commit after the read model's state.
        reading: of the store, at that commit or a later one.
        lifecycle: rows and columns.
    """
    if cycle.changes is None:
        return None
    try:
        columns, _ = undo_log.decoded(cycle.changes)
    except StoreCorrupt:
        return None
    if undo_log.revision_of(cycle.changes) != cycle.revision:
        return None
    if not _OF_USE.isdisjoint(column.field for column in columns):
        return None
    own = OwnWrites()
    for column in columns:
        rows = lifecycle.rows_of_sequences(column.sequences)
        is_known = rows >= 0  # the others were erased since
        known = rows[is_known].astype(np.uint32)
        own.columns.append(ColumnWrite(column.field, known, column.after[is_known]))
    origin = cycle if cycle.undoes is None else reading.cycles.dream_cycle(cycle.undoes)
    if origin is None:
        return None
    try:
        own.sequences += changed_by_contents(reading.cycles.dream_contents(origin.number))
    except StoreCorrupt:
        return None
    if cycle.undoes is not None:  # memories superseded by erased ones were made current
        noted = {number for column in columns for number in column.sequences.tolist()}
        own.sequences += reading.cycles.memories_changed_by(cycle.revision).difference(noted)
    return own


def changed_by_contents(contents: Iterable[StoredContent]) -> list[int]:
    """Return the sequence numbers of memories added, or changed in more than columns."""
    return [change.sequence for change in contents if change.field != "replayed_at"]
