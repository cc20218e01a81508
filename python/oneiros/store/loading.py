"""Reads many memories at once by sequence number, from one state of the store.

Only rows that are sound and have the expected id are returned. Callers look up each other one by the
index of ids, which finds it, finds nothing, or raises an error that names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import apsw

from oneiros import _core
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import COVERED, OWN_CHECKSUM, RANGES, STATE_CHECKSUM
from oneiros.store.rows import OBJECTS, StoredMemory, select

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.store.connections import StoreConnection

__all__ = [
    "MOST_AT_ONCE",
    "OwnRow",
    "load_memories",
    "load_own_rows",
    "load_rows",
    "own_row",
    "select_own",
]

Row = TypeVar("Row", bound=tuple[Any, ...])

MOST_AT_ONCE: Final = 1_000
"""Memories read in one step, during which they are in memory twice."""


class OwnRow(NamedTuple):
    """A verified row of the table ``memory``: the fields that results show and scopes check."""

    id: str
    text: str
    title: str
    tags: str | None
    """JSON; None: no tags."""
    topic: str | None
    project: str | None
    session: str | None
    user: str | None
    agent: str | None
    namespace: str | None


def load_memories(
    connection: StoreConnection,
    ids: Sequence[str],
    numbers: Sequence[int | None],
) -> list[Memory | None]:
    """Return the memories of ids, as :func:`load_rows` returns rows.

    Args:
        connection: to read from.
        ids: at most :data:`MOST_AT_ONCE`.
        numbers: see there.
    """
    try:
        reader = connection.memory_reader(_WHOLE)
        return reader.objects(numbers=list(numbers), ids=list(ids), objects=OBJECTS)
    except apsw.Error:
        return [None] * len(ids)


def load_rows(
    connection: StoreConnection, ids: Sequence[str], numbers: Sequence[int | None]
) -> list[StoredMemory | None]:
    """Return the sound rows of ``rows.select``, in the order of the ids; None for others.

    All are read from one state of the store.

    Args:
        connection: to read from.
        ids: at most :data:`MOST_AT_ONCE`.
        numbers: the presumed sequence number of each id, or None.
    """
    return _rows(connection, _WHOLE, ids, numbers, StoredMemory)


def load_own_rows(
    connection: StoreConnection, ids: Sequence[str], numbers: Sequence[int | None]
) -> list[OwnRow | None]:
    """Return the rows of the table ``memory`` alone, as :func:`load_rows` does."""
    return _rows(connection, _OWN, ids, numbers, OwnRow)


def _rows(
    connection: StoreConnection,
    query: _core.MemoryQuery,
    ids: Sequence[str],
    numbers: Sequence[int | None],
    row_class: type[Row],
) -> list[Row | None]:
    try:
        reader = connection.memory_reader(query)
        return reader.rows(numbers=list(numbers), ids=list(ids), type=row_class)
    except apsw.Error:
        return [None] * len(ids)


def select_own(condition: str) -> str:
    """Return SQL that reads rows of the table ``memory``, with all columns of their checksums.

    A text is never returned unverified, and the checksum is that of the whole row.
    """
    return f"SELECT {', '.join(_OWN_COLUMNS)}, checksum FROM memory WHERE {condition}"


def own_row(row: tuple[Any, ...]) -> OwnRow | None:
    """Return a row of :func:`select_own`; None if it is damaged."""
    if _OWN_ROW_CHECKSUM.damaged(rows=[row]):
        return None
    return OwnRow._make(row[place] for place in _SHOWN)


_BY_NUMBER: Final = "memory.sequence = ?"
_WHOLE: Final = _core.MemoryQuery(
    sql=select(_BY_NUMBER, in_order=False),
    width=len(StoredMemory._fields),
    kept=None,
    id=StoredMemory._fields.index("id"),
    checksums=[OWN_CHECKSUM, STATE_CHECKSUM],
    ranges=RANGES,
)
_OWN_COLUMNS: Final = COVERED["memory"]
_OWN_ROW_CHECKSUM: Final = _core.RowChecksum(
    columns=list(_OWN_COLUMNS),
    places=list(range(len(_OWN_COLUMNS))),
    checksum_place=len(_OWN_COLUMNS),
)
_SHOWN: Final = [_OWN_COLUMNS.index(name) for name in OwnRow._fields]
_OWN: Final = _core.MemoryQuery(
    sql=select_own(_BY_NUMBER),
    width=len(_OWN_COLUMNS) + 1,
    kept=_SHOWN,
    id=OwnRow._fields.index("id"),
    checksums=[_OWN_ROW_CHECKSUM],
    ranges=None,
)
