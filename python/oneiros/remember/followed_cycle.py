"""A dream cycle of another process, taken up by what it noted of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.errors import StoreCorrupt
from oneiros.numpy_on_use import np
from oneiros.projections.column_write import ColumnWrite
from oneiros.remember.column_writes import OwnWrites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.store import Reading
    from oneiros.store.cycle_reading import StoredContent, StoredCycle

__all__ = ["changed_by", "changed_by_contents"]

_OF_USE: Final = frozenset(
    {"access_count", "last_accessed_at", "stability", "session_spread", "core"}
)
"""What searches strengthen before the store knows of it: whole memories are read for these."""


def changed_by(cycle: StoredCycle, reading: Reading, lifecycle: Lifecycle) -> OwnWrites | None:
    """Return what a cycle changed, as its writer knew it; None where its notes do not tell.

    So it is with a cycle so old that what it changed is no longer kept, and where that is damaged:
    then the memories themselves are to be read.

    Args:
        cycle: of the next commit after what the projections hold.
        reading: of the store, at that commit or a later one.
        lifecycle: rows and columns.
    """
    if cycle.changes is None:
        return None
    from oneiros.dream import ledger  # noqa: PLC0415 - few follow a cycle

    try:
        columns, _ = ledger.decoded(cycle.changes)
    except StoreCorrupt:
        return None
    if ledger.revision_of(cycle.changes) != cycle.revision:
        return None
    if not _OF_USE.isdisjoint(column.field for column in columns):
        return None
    own = OwnWrites()
    for column in columns:
        rows = lifecycle.rows_of_sequences(column.sequences)
        is_known = rows >= 0  # those that are not were forgotten since
        known = rows[is_known].astype(np.uint32)
        own.columns.append(ColumnWrite(column.field, known, column.after[is_known]))
    origin = cycle if cycle.undoes is None else reading.cycles.dream_cycle(cycle.undoes)
    if origin is None:
        return None
    try:
        own.sequences += changed_by_contents(reading.cycles.dream_contents(origin.number))
    except StoreCorrupt:
        return None
    if cycle.undoes is not None:  # what it erased may have superseded others, which came back
        noted = {number for column in columns for number in column.sequences.tolist()}
        own.sequences += reading.cycles.memories_changed_by(cycle.revision).difference(noted)
    return own


def changed_by_contents(contents: Iterable[StoredContent]) -> list[int]:
    """Return the numbers of the memories that were added, or changed in more than columns."""
    return [one.sequence for one in contents if one.field != "replayed_at"]
