"""What use and dream cycles changed of memories: the narrow rows alone, many in one list a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.errors import StoreCorrupt
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import checksums_of
from oneiros.store.lifecycle_rows import LIFECYCLE, ranges_of
from oneiros.store.rows import sessions_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CHANGED", "CHANGED_STATES", "StoredStates", "states_of"]

CHANGED: Final = """
SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision > ?1
UNION SELECT sequence FROM lifecycle INDEXED BY changed_state
WHERE revision > ?1 AND revision > 0"""
"""The memories of which a commit after a revision changed one of the two rows."""

CHANGED_STATES: Final = f"""
SELECT sequence, revision, {", ".join(LIFECYCLE)}, checksum
FROM lifecycle INDEXED BY changed_state
WHERE revision > ?1 AND revision > 0 AND sequence NOT IN (
  SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision > ?1)"""
"""The states that a commit after a revision changed, of memories of which it changed nothing else."""

_RANGES: Final = ranges_of({name: place for place, name in enumerate(LIFECYCLE, 2)})


class StoredStates(NamedTuple):
    """States of memories, by field."""

    sequences: Sequence[int]
    values: Mapping[str, Sequence[Any]]
    """Of each field that lies in the table but ``sessions``, one a memory: codes of enumerations,
    None for no time."""
    sessions: Sequence[frozenset[str] | None]
    """That have seen a memory; equal sets are one object, as many memories share theirs."""


def states_of(rows: Sequence[Sequence[Any]]) -> StoredStates:
    """Return rows of :data:`CHANGED_STATES`.

    Args:
        rows: at least one.

    Raises:
        StoreCorrupt: a row is not what was written, or a value lies outside its field's range.
    """
    cells = [tuple(row[:-1]) for row in rows]
    checksums = checksums_of("lifecycle", cells)
    sequences, _, *columns, held = zip(*rows, strict=True)
    for sequence, checksum, wanted in zip(sequences, held, checksums, strict=True):
        if checksum != wanted:
            msg = (
                f"memory {sequence}: its lifecycle in the store is damaged: the checksum is another"
            )
            raise StoreCorrupt(msg)
    values = dict(zip(LIFECYCLE, columns, strict=True))
    sessions = values.pop("sessions")
    for place in _RANGES.outside(rows=cells):
        msg = f"memory {sequences[place]}: a value in the store lies outside its field's range"
        raise StoreCorrupt(msg)
    try:
        parsed = {text: sessions_of(text) for text in set(sessions) if text is not None}
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"sessions in the store are not what their field holds ({error})"
        raise StoreCorrupt(msg) from error
    return StoredStates(sequences, values, list(map(parsed.get, sessions)))
