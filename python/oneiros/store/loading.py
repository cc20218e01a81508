"""Memories read by their numbers in the store, many in one statement.

Only what is as it should be is returned: rows that are sound and have the id that is looked for. The
callers resolve each other one by itself, where it is found by the index of ids, missing or named by an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import apsw

from oneiros import _core
from oneiros.dataclasses_on_use import NamedTuple
from oneiros.errors import StoreCorrupt
from oneiros.memory import hold_embedding
from oneiros.store.checksums import COVERED, are_sound
from oneiros.store.rows import StoredMemory, memories_of, select

if TYPE_CHECKING:
    from oneiros.memory import Memory
    from oneiros.store.reading import DecodeEmbedding

__all__ = [
    "MOST_AT_ONCE",
    "OwnRow",
    "load_memories",
    "load_own_rows",
    "load_rows",
    "own_row",
    "select_own",
]

# A statement is prepared once for each of these; a list of another length is filled up with NULL,
# which is the number of no memory.
_LENGTHS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
MOST_AT_ONCE: Final = _LENGTHS[-1]
"""Numbers that one statement looks up."""


class OwnRow(NamedTuple):
    """A verified row of the table ``memory``: what a search shows of a memory and scopes look at."""

    id: str
    text: str
    title: str
    tags: str | None
    """JSON; None: none."""
    topic: str | None
    project: str | None
    session: str | None


def load_memories(
    connection: apsw.Connection,
    ids: Sequence[str],
    numbers: Sequence[int | None],
    decode: DecodeEmbedding | None,
) -> Sequence[Memory | None]:
    """Return the memories of ids, as :func:`load_rows` returns rows.

    Args:
        connection: to read from.
        ids: at most :data:`MOST_AT_ONCE`.
        numbers: as there.
        decode: makes a vector of its bytes; None: memories come without embeddings.
    """
    rows = load_rows(connection, ids, numbers)
    present = [row for row in rows if row is not None]
    try:
        memories = memories_of(present)
        if decode is not None:
            for memory, row in zip(memories, present, strict=True):
                if row[_EMBEDDING] is not None:
                    hold_embedding(memory, decode(row[_EMBEDDING]))
    except (StoreCorrupt, ValueError, TypeError, RecursionError):
        return [None] * len(ids)
    if len(present) == len(rows):
        return memories
    made = iter(memories)
    return [None if row is None else next(made) for row in rows]


def load_rows(
    connection: apsw.Connection, ids: Sequence[str], numbers: Sequence[int | None]
) -> list[tuple[Any, ...] | None]:
    """Return the sound rows of ``rows.select``, in the order of the ids; None for all others.

    One statement reads them all, and so from one state of the store.

    Args:
        connection: to read from.
        ids: at most :data:`MOST_AT_ONCE`.
        numbers: of each id, its sequence number as the caller knows it, or None.
    """
    found = _looked_up(connection, _whole, numbers)
    if not are_sound(found):
        return [None] * len(ids)
    return _in_order(found, _ID, ids, numbers)


def load_own_rows(
    connection: apsw.Connection, ids: Sequence[str], numbers: Sequence[int | None]
) -> list[OwnRow | None]:
    """Return the rows of the table ``memory`` alone, as :func:`load_rows` does."""
    found = _looked_up(connection, select_own, numbers)
    if _OWN.damaged(rows=found):
        return [None] * len(ids)
    rows = _in_order(found, _OWN_ID, ids, numbers)
    return [None if row is None else OwnRow._make(_shown(row)) for row in rows]


def select_own(condition: str) -> str:
    """Return SQL that reads rows of the table ``memory`` with all that their checksums cover.

    A text is not returned unverified, and its checksum is that of its whole row.
    """
    return f"SELECT {', '.join(COVERED['memory'])}, checksum FROM memory WHERE {condition}"


def own_row(row: tuple[Any, ...]) -> OwnRow | None:
    """Return a row of :func:`select_own`; None if it is damaged."""
    return None if _OWN.damaged(rows=[row]) else OwnRow._make(_shown(row))


def _looked_up(
    connection: apsw.Connection,
    select_by: Callable[[str], str],
    numbers: Sequence[int | None],
) -> list[tuple[Any, ...]]:
    """Return the rows of numbers, in any order; nothing where one cannot be read."""
    known = [number for number in numbers if number is not None]
    if not known:
        return []
    length = next(length for length in _LENGTHS if length >= len(known))
    bound = (*known, *repeat(None, length - len(known)))
    try:
        return list(connection.execute(_statement(select_by, length), bound))
    except (apsw.Error, UnicodeDecodeError):
        return []


def _in_order(
    rows: list[tuple[Any, ...]],
    id_place: int,
    ids: Sequence[str],
    numbers: Sequence[int | None],
) -> list[tuple[Any, ...] | None]:
    """Return rows, which begin with their numbers, in the order of ids; None for a row of another id."""
    by_number: dict[int | None, tuple[Any, ...]] = {row[0]: row for row in rows}
    return [
        row if (row := by_number.get(number)) is not None and row[id_place] == id else None
        for id, number in zip(ids, numbers, strict=True)
    ]


@cache
def _statement(select_by: Callable[[str], str], length: int) -> str:
    return select_by(f"memory.sequence IN ({', '.join('?' * length)})")


def _whole(condition: str) -> str:
    return select(condition, in_order=False)


_ID: Final = StoredMemory._fields.index("id")
_EMBEDDING: Final = StoredMemory._fields.index("embedding")
_OWN_COLUMNS: Final = COVERED["memory"]
_OWN_ID: Final = _OWN_COLUMNS.index("id")
_OWN: Final = _core.RowChecksum(
    columns=list(_OWN_COLUMNS),
    places=list(range(len(_OWN_COLUMNS))),
    checksum_place=len(_OWN_COLUMNS),
)
_shown: Final = itemgetter(*map(_OWN_COLUMNS.index, OwnRow._fields))
