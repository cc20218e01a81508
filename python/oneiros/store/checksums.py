"""Checksums of rows: the columns they cover, the SQL that maintains them, and verified reads.

Each row has one checksum of all its columns. An update derives the new checksum from the old one and
the old and new cells (``cpp/encoding/row_checksum.h``), so it does not hide damage to other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import apsw

from oneiros import _core
from oneiros.errors import StoreCorrupt
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.rows import (
    LIFECYCLE,
    MEMORY,
    STORED_NAMES,
    Damaged,
    StoredMemory,
    ranges_of,
    sessions_of,
)

__all__ = [
    "CHANGED",
    "CHANGED_STATES",
    "COVERED",
    "OTHER_CHECKSUM",
    "OWN_CHECKSUM",
    "RANGES",
    "STATE_CHECKSUM",
    "OnDamage",
    "RawRow",
    "StoredStates",
    "check_of",
    "checksum",
    "checksum_after",
    "checksums_of",
    "insert_of",
    "is_sound",
    "parted",
    "raise_damage",
    "raw_rows",
    "register",
    "select_raw",
    "states_of",
    "stored",
]

COVERED: Final[dict[str, tuple[str, ...]]] = {
    "memory": ("sequence", *MEMORY, "text_digest"),
    "lifecycle": ("sequence", "revision", *LIFECYCLE),
    "link": (*("first", "second", "revision", "kind", "weight", "created_at", "co_retrieved_at"),),
    "setting": ("key", "value", "revision"),
    "feedback_event": ("sequence", "kind", "verdict", "time", "question"),
    "dream_cycle": ("id", "revision", "dreamed_at", "undoes", "report"),
    "dream_content": ("cycle", "sequence", "field", "rule", "before", "after"),
    "moment": ("revision", "time"),
    "past": ("revision", "sequence", "kind", "cells"),
}
"""The columns that the checksums cover, by table: all but numbers given by SQLite, and the changes of
a cycle, which contain a checksum (``dream.undo_log``). The tables ``erased`` and ``replay`` have none,
as no result is made from them."""

_ROWS_AT_ONCE: Final = 500  # rows verified in one step, while no other thread can run
_CHECKSUM, _CHECKSUM_AFTER = "oneiros_checksum", "oneiros_checksum_after"


def register(connection: apsw.Connection) -> None:
    """Register the SQL functions used here with a connection."""
    for name, function in (
        (_CHECKSUM, _core.row_checksum),
        (_CHECKSUM_AFTER, _core.row_checksum_after),
    ):
        connection.create_scalar_function(name, function, deterministic=True)


def checksum(cells: Mapping[str, str]) -> str:
    """Return SQL for the checksum of a row.

    Args:
        cells: column to SQL; columns whose value is NULL may be left out.
    """
    pairs = (f"{_core.column_salt(name=name)}, {cell}" for name, cell in cells.items())
    return f"{_CHECKSUM}({', '.join(pairs)})"


def checksum_after(cells: Mapping[str, str], *, before: Mapping[str, str] | None = None) -> str:
    """Return SQL for the checksum of an updated row.

    Args:
        cells: changed column to SQL of its new value.
        before: changed column to SQL of its old value, where that is not the column itself.
    """
    old = {name: name for name in cells} | dict(before or {})
    parts = (f"{_core.column_salt(name=name)}, {old[name]}, {new}" for name, new in cells.items())
    return f"{_CHECKSUM_AFTER}(checksum, {', '.join(parts)})"


def insert_of(table: str, verb: str = "INSERT", *, besides: Sequence[str] = ()) -> str:
    """Return SQL that inserts a row, with the columns of :data:`COVERED` bound in their order.

    Args:
        table: a key of :data:`COVERED`.
        verb: such as "INSERT OR REPLACE".
        besides: columns that are not covered, bound after the others.
    """
    cells = {name: f"?{number}" for number, name in enumerate((*COVERED[table], *besides), 1)}
    covered = {name: cells[name] for name in COVERED[table]}
    names, values = ", ".join(cells), ", ".join(cells.values())
    return f"{verb} INTO {table} ({names}, checksum) VALUES ({values}, {checksum(covered)})"


def is_sound(table: str, *, alias: str = "") -> str:
    """Return SQL that is 1 if a row's checksum is correct.

    Args:
        table: a key of :data:`COVERED`.
        alias: the table's alias in the query; empty: its column names are unambiguous.
    """
    prefix = f"{alias}." if alias else ""
    own = {name: f"{prefix}{name}" for name in COVERED[table]}
    return f"{prefix}checksum = {checksum(own)}"


def check_of(table: str) -> _core.RowChecksum:
    """Return the check for rows with the columns of :data:`COVERED` in their order."""
    return _IN_ORDER[table]


def checksums_of(table: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Return the checksums of rows with the columns of :data:`COVERED` in their order."""
    check = _IN_ORDER[table]
    found: list[int] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        found += check.of(rows=list(rows[start : start + _ROWS_AT_ONCE]))
    return found


class RawRow(NamedTuple):
    """A row as stored, damaged or not."""

    is_whole: bool
    """Whether its checksum is correct."""
    cells: tuple[Any, ...]
    """The covered columns; in a text that is not UTF-8, invalid bytes are lone surrogates."""
    besides: tuple[Any, ...]


@lru_cache(maxsize=64)
def select_raw(table: str, *, besides: tuple[str, ...] = (), rest: str = "") -> str:
    """Return SQL whose rows :func:`raw_rows` reads.

    Args:
        table: a key of :data:`COVERED`.
        besides: SQL for further cells, none of which is a text.
        rest: the SQL after the table's name.
    """
    names = COVERED[table]
    cells = [f"iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in names]
    kinds = [f"typeof({name}) = 'text'" for name in names]
    return f"SELECT {', '.join((*cells, *kinds, 'checksum', *besides))} FROM {table} {rest}"


def raw_rows(table: str, rows: Iterable[tuple[Any, ...]]) -> list[RawRow]:
    """Return the rows of :func:`select_raw`, with whether their checksums are correct."""
    width = len(COVERED[table])
    found = []
    for row in rows:
        cells = tuple(
            cell.decode(errors="surrogateescape") if is_text else cell
            for cell, is_text in zip(row[:width], row[width : 2 * width], strict=True)
        )
        try:
            (made,) = checksums_of(table, [cells])
        except (TypeError, ValueError):  # a text that is not UTF-8
            made = None
        found.append(RawRow(made == row[2 * width], cells, row[2 * width + 1 :]))
    return found


OnDamage: TypeAlias = Callable[[Damaged], None]
"""Called with a memory that cannot be read; may raise its error."""


def raise_damage(damaged: Damaged) -> None:
    """Raise the error that names a memory."""
    raise damaged.error()


def parted(rows: Iterable[tuple[Any, ...]]) -> tuple[list[StoredMemory], list[Damaged]]:
    """Split rows of ``rows.select`` or ``rows.select_fresh`` into sound and damaged ones."""
    found = list(map(StoredMemory._make, rows))
    damaged: dict[int, str] = {}
    for start in range(0, len(found), _ROWS_AT_ONCE):
        part = found[start : start + _ROWS_AT_ONCE]
        outside = dict.fromkeys(RANGES.outside(rows=part), _OUTSIDE)
        for place in STATE_CHECKSUM.damaged(rows=part):
            if part[place].state_revision is not None or place in outside:
                outside[place] = _OTHER_STATES
        for place in OWN_CHECKSUM.damaged(rows=part):
            outside[place] = OTHER_CHECKSUM
        damaged |= {start + place: reason for place, reason in outside.items()}
    if not damaged:
        return found, []
    for place in damaged:
        if found[place].strength is None:  # not NULL in any row of that table
            damaged[place] = "its lifecycle is not in the store"
    sound = [row for place, row in enumerate(found) if place not in damaged]
    named = ((found[place], reason) for place, reason in sorted(damaged.items()))
    return sound, [Damaged(row.sequence, row.id, reason) for row, reason in named]


def stored(
    rows: Iterable[tuple[Any, ...]], on_damage: OnDamage = raise_damage
) -> list[StoredMemory]:
    """Return the sound rows among rows of ``rows.select``.

    Args:
        rows: as read.
        on_damage: called with each damaged row.

    Raises:
        StoreCorrupt: raised by ``on_damage``: a checksum is wrong, a value lies outside its range,
            or there is no lifecycle.
    """
    sound, damaged = parted(rows)
    for memory in damaged:
        on_damage(memory)
    return sound


def _check(columns: Sequence[str], places: Mapping[str, str], checksum: str) -> _core.RowChecksum:
    """Return the check of some columns of rows of ``rows.select``.

    Args:
        columns: as named in the table.
        places: their names in ``rows.select``, where different.
        checksum: the name of the checksum there.
    """
    fields = StoredMemory._fields
    return _core.RowChecksum(
        columns=list(columns),
        places=[fields.index(places.get(name, name)) for name in columns],
        checksum_place=fields.index(checksum),
    )


OWN_CHECKSUM: Final = _check(
    COVERED["memory"], {**STORED_NAMES, "revision": "own_revision"}, "own_checksum"
)
"""Checks the row of ``memory`` in rows of ``rows.select``; the next one checks that of ``lifecycle``."""
OTHER_CHECKSUM: Final = "its row in the store is damaged: the checksum is another"
STATE_CHECKSUM: Final = _check(
    COVERED["lifecycle"], {**STORED_NAMES, "revision": "state_revision"}, "state_checksum"
)
RANGES: Final = ranges_of(
    {
        name: place
        for place, name in enumerate(StoredMemory._fields)
        if name in LIFECYCLE or (name in FIELDS and FIELDS[name].column != "float64")
    }
)
"""Covers, of the fields in ``memory``, all but times, which have no range."""
_OUTSIDE: Final = "a value in the store lies outside its field's range"
_OTHER_STATES: Final = "its lifecycle in the store is damaged: the checksum is another"
_IN_ORDER: Final = {
    table: _core.RowChecksum(
        columns=list(columns), places=list(range(len(columns))), checksum_place=0
    )
    for table, columns in COVERED.items()
}


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

_STATE_RANGES: Final = ranges_of({name: place for place, name in enumerate(LIFECYCLE, 2)})


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
    for place in _STATE_RANGES.outside(rows=cells):
        msg = f"memory {sequences[place]}: a value in the store lies outside its field's range"
        raise StoreCorrupt(msg)
    try:
        parsed = {text: sessions_of(text) for text in set(sessions) if text is not None}
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"sessions in the store are not what their field holds ({error})"
        raise StoreCorrupt(msg) from error
    return StoredStates(sequences, values, list(map(parsed.get, sessions)))
