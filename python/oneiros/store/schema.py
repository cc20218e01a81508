"""The store's tables, and how a file written by an older version comes forward."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import apsw

from oneiros.errors import StoreCorrupt, StoreVersionError

__all__ = ["APPLICATION_ID", "MIGRATIONS", "is_current", "migrate", "verify"]

APPLICATION_ID: Final = 0x4F4E4552  # "ONER"; says whose the file is

_FIRST_TABLES: Final = """
CREATE TABLE memory (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  text_digest INTEGER NOT NULL,
  title TEXT NOT NULL,
  embedding BLOB,
  kind TEXT NOT NULL,
  category INTEGER NOT NULL,
  topic TEXT,
  project TEXT,
  session TEXT,
  sessions TEXT,
  tags TEXT,
  metadata TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  last_accessed_at REAL,
  event_at REAL,
  valid_from REAL,
  valid_until REAL,
  ttl REAL,
  importance REAL NOT NULL,
  certainty REAL NOT NULL,
  impact REAL NOT NULL,
  priority INTEGER NOT NULL,
  veracity INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  feedback INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  revision_count INTEGER NOT NULL,
  duplicate_count INTEGER NOT NULL,
  session_spread INTEGER NOT NULL,
  strength REAL NOT NULL,
  depth INTEGER NOT NULL,
  stability REAL NOT NULL,
  consolidation_quality REAL NOT NULL,
  importance_tag INTEGER NOT NULL,
  status INTEGER NOT NULL,
  core INTEGER NOT NULL,
  canonical_layer INTEGER NOT NULL,
  at_floor_since REAL,
  cold_since REAL,
  tier INTEGER NOT NULL,
  superseded_by TEXT,
  deleted_at REAL
) STRICT;
CREATE INDEX memory_by_revision ON memory (revision);
CREATE INDEX memory_by_text ON memory (text_digest);
CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE feedback_event (
  number INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  verdict TEXT NOT NULL,
  time REAL NOT NULL
) STRICT;
CREATE INDEX feedback_event_by_sequence ON feedback_event (sequence);
CREATE TABLE erased (
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (revision, id)
) STRICT, WITHOUT ROWID;
"""


# What two memories have to do with each other: one row a pair, by their sequence numbers. A weight
# of 0 says that the link was taken away, for those who follow.
_LINK_TABLE: Final = """
CREATE TABLE link (
  first INTEGER NOT NULL,
  second INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  weight REAL NOT NULL,
  created_at REAL NOT NULL,
  co_retrieved_at REAL,
  PRIMARY KEY (first, second),
  CHECK (first < second)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_second ON link (second);
CREATE INDEX link_by_revision ON link (revision);
"""

# What dream cycles did: a row a cycle, and what it changed outside of the columns. The changes of
# columns and links are encoded in one value (oneiros.dream.ledger); of memories, all tables hold
# sequence numbers alone, so that whoever is forgotten leaves nothing here but a number.
_CYCLE_TABLES: Final = """
CREATE TABLE dream_cycle (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  dreamed_at REAL NOT NULL,
  undoes TEXT,
  report TEXT NOT NULL,
  changes BLOB
) STRICT;
CREATE TABLE dream_content (
  cycle INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  field TEXT NOT NULL,
  rule TEXT NOT NULL,
  before ANY,
  after ANY
) STRICT;
CREATE INDEX dream_content_by_cycle ON dream_content (cycle);
CREATE INDEX dream_content_by_sequence ON dream_content (sequence);
CREATE TABLE replay (
  sequence INTEGER PRIMARY KEY,
  replayed_at REAL NOT NULL
) STRICT;
"""


def _make_first_tables(connection: apsw.Connection) -> None:
    connection.execute(_FIRST_TABLES)


def _make_link_table(connection: apsw.Connection) -> None:
    connection.execute(_LINK_TABLE)


def _make_cycle_tables(connection: apsw.Connection) -> None:
    connection.execute(_CYCLE_TABLES)


MIGRATIONS: Final[list[Callable[[apsw.Connection], None]]] = [
    _make_first_tables,
    _make_link_table,
    _make_cycle_tables,
]
"""The step at place n brings a file from version n to n + 1; a new file takes them all.

A step that has been released is never edited, so that a file brought forward and a new one have
the same tables, word for word; :func:`verify` holds them to that.
"""


def is_current(connection: apsw.Connection) -> bool:
    """Return whether the file has this version's tables; False also for an empty one.

    Raises:
        StoreCorrupt: another program's database.
        StoreVersionError: written by a newer version.
    """
    application_id = _number(connection, "application_id")
    version = _number(connection, "user_version")
    if application_id != APPLICATION_ID and not _is_blank(connection, application_id, version):
        msg = f"not a store of Oneiros: its application id is {application_id:#x}"
        raise StoreCorrupt(msg)
    if version < 0:
        msg = f"not a store of Oneiros: its schema version is {version}"
        raise StoreCorrupt(msg)
    if version > len(MIGRATIONS):
        msg = (
            f"the store has schema version {version}, this Oneiros knows up to "
            f"{len(MIGRATIONS)}; open it with a newer Oneiros"
        )
        raise StoreVersionError(msg)
    return version == len(MIGRATIONS)


def migrate(connection: apsw.Connection) -> None:
    """Bring the file to this version. REQUIRES: a write transaction is open.

    The caller's commit makes all steps durable at once; a crash before it leaves the old file.
    """
    version = _number(connection, "user_version")
    for step in MIGRATIONS[version:]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def verify(connection: apsw.Connection) -> None:
    """Hold the file's tables to this version's, word for word.

    A file from outside may carry triggers, views or expressions that run when it is read: what
    this version would not have made is refused before any of it is used.

    Raises:
        StoreCorrupt: naming the first difference.
    """
    found, wanted = _entries(connection), _wanted(len(MIGRATIONS))
    if found != wanted:
        name = min(entry[1] for entry in found ^ wanted)
        msg = f"the store's table or index {name!r} is not as Oneiros makes it"
        raise StoreCorrupt(msg)


@cache
def _wanted(version: int) -> frozenset[tuple[str, ...]]:
    connection = apsw.Connection(":memory:")
    try:
        for step in MIGRATIONS[:version]:
            step(connection)
        return _entries(connection)
    finally:
        connection.close()


def _entries(connection: apsw.Connection) -> frozenset[tuple[str, ...]]:
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
    )
    return frozenset(tuple(str(value) for value in row) for row in rows)


def _is_blank(connection: apsw.Connection, application_id: int, version: int) -> bool:
    """A file that nobody has written to yet, or whose first writer died before its first commit."""
    return application_id == 0 and version == 0 and not _entries(connection)


def _number(connection: apsw.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").get)
