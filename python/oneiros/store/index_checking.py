"""The store's indexes compared with their tables, whose rows carry the checksums."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from oneiros.store.reading import Reading

__all__ = ["IndexDamage", "index_damage", "is_rebuildable"]

_KEYS: Final = {
    "memory": ("sequence",),
    "lifecycle": ("sequence",),
    "feedback_event": ("number",),
    "link": ("first", "second"),
    "dream_cycle": ("number",),
    "dream_content": ("rowid",),
}
"""The tables that have indexes, and what tells their rows apart."""
_OF_IDS: Final = "sqlite_autoindex_memory_1"
_MOST_LISTED: Final = 100
_AT_ONCE: Final = 1_000

# {same}: the indexed columns; {own}: the key; {partial}: of the rows in the index.
# The conditions on types are always true. SQLite must read the checksums, which are in no index, and
# thus the table; and must not count the rows of whichever index is the smallest.
_OF_TABLE: Final = "{table} AS held NOT INDEXED WHERE typeof(held.checksum) <> '' AND {partial}"
_UNFOUND: Final = f"""
SELECT {{key}} FROM {_OF_TABLE} AND NOT EXISTS (
  SELECT 1 FROM {{table}} AS found INDEXED BY {{index}} WHERE {{same}} AND {{own}} AND {{partial}})"""
_EXTRA: Final = f"""
SELECT (SELECT count(*) FROM {{table}} AS held INDEXED BY {{index}}
        WHERE typeof(held.{{column}}) <> '' AND {{partial}})
     - (SELECT count(*) FROM {_OF_TABLE})"""
# Ids that the index has of rows which are gone, and no other row has.
_LOST: Final = f"""
SELECT count(*) FROM memory AS found INDEXED BY {_OF_IDS}
WHERE NOT EXISTS (
    SELECT 1 FROM memory AS held NOT INDEXED WHERE held.sequence = found.sequence)
  AND found.id NOT IN (SELECT held.id FROM memory AS held NOT INDEXED)"""
_IDS: Final = """
SELECT sequence, CAST(id AS BLOB) FROM memory NOT INDEXED
WHERE sequence IN (SELECT value FROM json_each(?))"""


class IndexDamage(NamedTuple):
    """An index that does not hold what its table holds."""

    table: str
    name: str
    unfound: list[int]
    """The first parts of the keys of rows that it does not lead to."""
    words: str


def index_damage(reading: Reading) -> list[IndexDamage]:
    """Return the indexes that do not hold what their tables hold. REQUIRES: a sound file.

    An index is a copy. Reads prefer the table, but what changed since a revision, and which
    memory has an id that no read model knows, are found by an index alone.
    """
    return [
        damage
        for table in _KEYS
        for index in _indexes(reading, table)
        if (damage := _damage_of(reading, table, index)) is not None
    ]


def is_rebuildable(reading: Reading, damage: IndexDamage) -> bool:
    """Return whether an index can be made again from its table without losing anything.

    Not where a row that it does not lead to is damaged, or where it still has the id of a row
    that is lost: then it may be the index that is right.
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
    """Return the names of a table's indexes; the rows of ``link`` lie in that of its key."""
    found = reading.rows(f"PRAGMA index_list({table})")
    return [name for _, name, _, origin, *_ in found if origin != "pk"]


def _condition(reading: Reading, index: str) -> str:
    """Return SQL for the rows that an index holds, as its own text has it."""
    ((sql,),) = reading.rows("SELECT sql FROM sqlite_schema WHERE name = ?", (index,))
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
        "same": " AND ".join(f"found.{name} = held.{name}" for name in columns),
        "own": " AND ".join(f"found.{name} = held.{name}" for name in _KEYS[table]),
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
