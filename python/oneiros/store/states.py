"""Changes that reinforcement and dream cycles made to memories: rows of ``lifecycle``, by column."""

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
"""The memories with a row, in either table, that a commit after a revision changed."""

CHANGED_STATES: Final = f"""
SELECT sequence, revision, {", ".join(LIFECYCLE)}, checksum
FROM lifecycle INDEXED BY changed_state
WHERE revision > ?1 AND revision > 0 AND sequence NOT IN (
  SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision > ?1)"""
"""The states changed by commits after a revision that changed nothing else of their memories."""

_RANGES: Final = ranges_of({name: place for place, name in enumerate(LIFECYCLE, 2)})


class StoredStates(NamedTuple):
    """States of memories, by field."""

    sequences: Sequence[int]
    values: Mapping[str, Sequence[Any]]
    """Field, except ``sessions``, to one value per memory: enumerations as codes, missing times None."""
    sessions: Sequence[frozenset[str] | None]
    """The sessions that have seen each memory; equal sets are one object."""


def states_of(rows: Sequence[Sequence[Any]]) -> StoredStates:
    """Verify and convert rows of :data:`CHANGED_STATES`.

    Args:
        rows: at least one.

    Raises:
        StoreCorrupt: a checksum is wrong, or a value lies outside its field's range.
    """
    cells = [tuple(row[:-1]) for row in rows]
    checksums = checksums_of("lifecycle", cells)
    sequences, _, *columns, stored = zip(*rows, strict=True)
    for sequence, checksum, wanted in zip(sequences, stored, checksums, strict=True):
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
