"""Compares the store's indexes with their tables, whose rows have checksums, and rebuilds them."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final

from oneiros.errors import OneirosError
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from oneiros.store.database import Store
    from oneiros.store.reading import Reading

__all__ = ["IndexDamage", "index_damage", "mend_indexes"]

_KEYS: Final = {
    "memory": ("sequence",),
    "lifecycle": ("sequence",),
    "feedback_event": ("number",),
    "link": ("first", "second"),
    "dream_cycle": ("number",),
    "dream_content": ("rowid",),
    "past": ("number",),
}
"""The tables that have indexes, and the key of their rows."""
_OF_IDS: Final = "sqlite_autoindex_memory_1"
_MOST_LISTED: Final = 100
_AT_ONCE: Final = 1_000

# {same}: the indexed columns; {own}: the key; {partial}: the condition of a partial index.
# The conditions on types are always true. They make SQLite read the checksums, which no index has, and
# so the table itself, instead of counting the rows of the smallest index.
_OF_TABLE: Final = "{table} AS base NOT INDEXED WHERE typeof(base.checksum) <> '' AND {partial}"
_UNFOUND: Final = f"""
SELECT {{key}} FROM {_OF_TABLE} AND NOT EXISTS (
  SELECT 1 FROM {{table}} AS found INDEXED BY {{index}} WHERE {{same}} AND {{own}} AND {{partial}})"""
_EXTRA: Final = f"""
SELECT (SELECT count(*) FROM {{table}} AS base INDEXED BY {{index}}
        WHERE typeof(base.{{column}}) <> '' AND {{partial}})
     - (SELECT count(*) FROM {_OF_TABLE})"""
# Ids in the index whose rows are gone, and that no other row has.
_LOST: Final = f"""
SELECT count(*) FROM memory AS found INDEXED BY {_OF_IDS}
WHERE NOT EXISTS (
    SELECT 1 FROM memory AS base NOT INDEXED WHERE base.sequence = found.sequence)
  AND found.id NOT IN (SELECT base.id FROM memory AS base NOT INDEXED)"""
_IDS: Final = """
SELECT sequence, CAST(id AS BLOB) FROM memory NOT INDEXED
WHERE sequence IN (SELECT value FROM json_each(?))"""


class IndexDamage(NamedTuple):
    """An index that differs from its table."""

    table: str
    name: str
    unfound: list[int]
    """The first key columns of rows missing in the index."""
    words: str


def index_damage(reading: Reading) -> list[IndexDamage]:
    """Return the indexes that differ from their tables. REQUIRES: a sound file.

    Reads prefer the table, but the changes since a revision, and the memory of an id unknown to the
    read model, are found through an index alone.
    """
    return [
        damage
        for table in _KEYS
        for index in _indexes(reading, table)
        if (damage := _damage_of(reading, table, index)) is not None
    ]


def mend_indexes(store: Store) -> list[str]:
    """Rebuild the indexes that differ from their tables; return the problems found.

    REQUIRES: the writer thread, and a file whose pages are sound.
    """
    with store.read() as reading:
        found = index_damage(reading)
        is_possible = all(_is_rebuildable(reading, damage) for damage in found)
    if not found:
        return []
    outcome = "not rebuilt, since rows of its table are damaged or lost; salvage the store"
    if is_possible:
        outcome = "rebuilt from its table"
        try:
            with store.write() as transaction:
                for damage in found:
                    transaction.rebuild_index(damage.name)
        except OneirosError as error:
            outcome = f"not rebuilt ({error})"
    return [f"{damage.words}; {outcome}" for damage in found]


def _is_rebuildable(reading: Reading, damage: IndexDamage) -> bool:
    """Return whether an index can be rebuilt from its table without losing anything.

    It cannot if a row missing in it is damaged, or if it has the id of a lost row: then the index may
    be right and the table wrong.
    """
    if damage.name == _OF_IDS and reading.rows(_LOST)[0][0]:
        return False
    if damage.table not in ("memory", "lifecycle"):
        return all(row.is_whole for row in reading.raw(damage.table))
    damaged: list[Damaged] = []
    for _ in reading.of_sequences(damage.unfound, on_damage=damaged.append):
        pass
    return not damaged


def _indexes(reading: Reading, table: str) -> list[str]:
    """Return a table's indexes, except that of the primary key (``link`` is stored in it)."""
    found = reading.rows(f"PRAGMA index_list({table})")
    return [name for _, name, _, origin, *_ in found if origin != "pk"]


def _condition(reading: Reading, index: str) -> str:
    """Return the WHERE clause of a partial index, from its SQL; "1" for a full one."""
    # As SQLite finds it: the name in a damaged schema may differ in case.
    by_name = "SELECT sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE"
    ((sql,),) = reading.rows(by_name, (index,))
    _, _, condition = (sql or "").partition("WHERE")
    return condition or "1"


def _damage_of(reading: Reading, table: str, index: str) -> IndexDamage | None:
    columns = [name for _, _, name in reading.rows(f"PRAGMA index_info({index})")]
    parts = {
        "table": table,
        "index": index,
        "column": columns[0],
        "partial": _condition(reading, index),
        "key": ", ".join(_KEYS[table]),
        "same": " AND ".join(f"found.{name} = base.{name}" for name in columns),
        "own": " AND ".join(f"found.{name} = base.{name}" for name in _KEYS[table]),
    }
    unfound = [row[0] for row in reading.rows(_UNFOUND.format(**parts))]
    extra = reading.rows(_EXTRA.format(**parts))[0][0] + len(unfound)
    if not unfound and not extra:
        return None
    words = []
    if unfound:
        words.append(f"it does not lead to {_named(reading, table, unfound)}")
    if extra:
        words.append(f"it has {extra} entries of no row")
    return IndexDamage(table, index, unfound, f"index {index}: {' and '.join(words)}")


def _named(reading: Reading, table: str, keys: list[int]) -> str:
    if table not in ("memory", "lifecycle"):
        return f"{len(keys)} rows of the table {table}"
    some = json.dumps(keys[:_MOST_LISTED])
    known = {number: id.decode(errors="replace") for number, id in reading.rows(_IDS, (some,))}
    names = [repr(known.get(key, key)) for key in islice(keys, _MOST_LISTED)]
    more = f" and {len(keys) - len(names)} more" if len(keys) > len(names) else ""
    return f"memory {', '.join(names)}{more}"
