"""The tables of a store, and the migrations from older versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeAlias

import apsw

from oneiros.errors import StoreCorrupt, StoreVersionError
from oneiros.runtime.hashing import blake2b
from oneiros.store import checksums, erased

__all__ = ["APPLICATION_ID", "MIGRATIONS", "digest_of", "is_current", "migrate", "verify"]


# The tables of this version, as a new file gets them. The SQL of all must fit on the first page, by which
# damage to others can be salvaged, so it is kept without line breaks and indents. In STRICT tables, INT
# and INTEGER are the same except in a primary key, and columns of the primary key are NOT NULL without a
# rowid. What each column is for stands with the migration that adds it.
_TABLES: Final = """
CREATE TABLE memory(
  sequence INTEGER PRIMARY KEY,
  revision INT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  text_digest INT NOT NULL,
  title TEXT NOT NULL,
  embedding BLOB,
  kind TEXT NOT NULL,
  category INT NOT NULL,
  topic TEXT,
  project TEXT,
  session TEXT,
  tags TEXT,
  metadata TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  event_at REAL,
  valid_from REAL,
  valid_until REAL,
  ttl REAL,
  importance REAL NOT NULL,
  certainty REAL NOT NULL,
  impact REAL NOT NULL,
  priority INT NOT NULL,
  veracity INT NOT NULL,
  pinned INT NOT NULL,
  revision_count INT NOT NULL,
  superseded_by TEXT,
  deleted_at REAL,
  learned_at REAL,
  new_embedding BLOB,
  checksum INT,
  user TEXT,
  agent TEXT,
  namespace TEXT,
  labels TEXT,
  source TEXT,
  source_ref TEXT,
  derived_from TEXT,
  trust REAL NOT NULL DEFAULT 1
)STRICT;
CREATE INDEX memory_by_revision ON memory(revision);
CREATE INDEX memory_by_text ON memory(text_digest);
CREATE INDEX successor ON memory(superseded_by)WHERE superseded_by NOT NULL;
CREATE INDEX derived ON memory(sequence)WHERE derived_from NOT NULL;
CREATE TABLE lifecycle(
  sequence INTEGER PRIMARY KEY,
  revision INT NOT NULL,
  last_accessed_at REAL,
  feedback INT NOT NULL,
  access_count INT NOT NULL,
  duplicate_count INT NOT NULL,
  session_spread INT NOT NULL,
  sessions TEXT,
  strength REAL NOT NULL,
  depth INT NOT NULL,
  stability REAL NOT NULL,
  consolidation_quality REAL NOT NULL,
  importance_tag INT NOT NULL,
  status INT NOT NULL,
  core INT NOT NULL,
  canonical_layer INT NOT NULL,
  at_floor_since REAL,
  cold_since REAL,
  tier INT NOT NULL,
  checksum INT
)STRICT;
CREATE INDEX changed_state ON lifecycle(revision)WHERE revision>0;
CREATE TABLE setting(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  revision INT NOT NULL,
  checksum INT
)STRICT,WITHOUT ROWID;
CREATE TABLE feedback_event(
  number INTEGER PRIMARY KEY,
  sequence INT NOT NULL,
  kind TEXT NOT NULL,
  verdict TEXT NOT NULL,
  time REAL NOT NULL,
  checksum INT, question BLOB
)STRICT;
CREATE INDEX verdict_of ON feedback_event(sequence);
CREATE TABLE erased(
  revision INT,
  id TEXT,
  PRIMARY KEY(revision,id)
)STRICT,WITHOUT ROWID;
CREATE TABLE link(
  first INT,
  second INT,
  revision INT NOT NULL,
  kind INT NOT NULL,
  weight REAL NOT NULL,
  created_at REAL NOT NULL,
  co_retrieved_at REAL,
  checksum INT,
  PRIMARY KEY(first,second),
  CHECK(first<second)
)STRICT,WITHOUT ROWID;
CREATE INDEX link_by_second ON link(second);
CREATE INDEX link_by_revision ON link(revision);
CREATE TABLE dream_cycle(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  revision INT NOT NULL,
  dreamed_at REAL NOT NULL,
  undoes TEXT,
  report TEXT NOT NULL,
  changes BLOB,
  checksum INT
)STRICT;
CREATE TABLE dream_content(
  cycle INT NOT NULL,
  sequence INT NOT NULL,
  field TEXT NOT NULL,
  rule TEXT NOT NULL,
  before ANY,
  after ANY,
  checksum INT
)STRICT;
CREATE INDEX content_in ON dream_content(cycle);
CREATE INDEX content_of ON dream_content(sequence);
CREATE TABLE replay(
  sequence INTEGER PRIMARY KEY,
  replayed_at REAL NOT NULL
)STRICT;
CREATE TABLE moment(
  revision INTEGER PRIMARY KEY,
  time REAL,
  checksum INT
)STRICT;
CREATE TABLE past(
  number INTEGER PRIMARY KEY,
  revision INT,
  sequence INT,
  kind INT,
  cells TEXT,
  checksum INT
)STRICT;
CREATE INDEX past_of ON past(sequence,kind);
"""
_VERSION_OF_TABLES: Final = 11

# Makes the table of SQLite's own in which ``Transaction.erase`` keeps the highest number.
_NUMBERS: Final = """
CREATE TABLE numbered(number INTEGER PRIMARY KEY AUTOINCREMENT);
DROP TABLE numbered;
"""

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


# Links: one row per pair of memories, given by sequence numbers. A weight of 0 means that the link was
# removed, for followers.
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

# Dream cycles: a row per cycle, and its changes outside of the columns. The changes of columns and links
# are encoded in one value (oneiros.dream.undo_log). All tables refer to memories by sequence number
# alone, so that an erased memory leaves only a number here.
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

# Reinforcement and dream cycles rewrite whole rows of all memories, so their fields are stored apart
# from texts and embeddings. The counter of AUTOINCREMENT is kept.
_LIFECYCLE_APART: Final = """
DROP INDEX memory_by_revision;
DROP INDEX memory_by_text;
ALTER TABLE memory RENAME TO wide_memory;
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
  tags TEXT,
  metadata TEXT,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
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
  revision_count INTEGER NOT NULL,
  superseded_by TEXT,
  deleted_at REAL
) STRICT;
INSERT INTO memory
SELECT sequence, revision, id, text, text_digest, title, embedding, kind, category, topic, project,
  session, tags, metadata, created_at, updated_at, event_at, valid_from, valid_until, ttl,
  importance, certainty, impact, priority, veracity, pinned, revision_count, superseded_by,
  deleted_at
FROM wide_memory ORDER BY sequence;
CREATE TABLE lifecycle (
  sequence INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  last_accessed_at REAL,
  feedback INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  duplicate_count INTEGER NOT NULL,
  session_spread INTEGER NOT NULL,
  sessions TEXT,
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
  tier INTEGER NOT NULL
) STRICT;
INSERT INTO lifecycle
SELECT sequence, revision, last_accessed_at, feedback, access_count, duplicate_count,
  session_spread, sessions, strength, depth, stability, consolidation_quality, importance_tag,
  status, core, canonical_layer, at_floor_since, cold_since, tier
FROM wide_memory ORDER BY sequence;
DELETE FROM sqlite_sequence WHERE name = 'memory';
UPDATE sqlite_sequence SET name = 'memory' WHERE name = 'wide_memory';
DROP TABLE wide_memory;
CREATE INDEX memory_by_revision ON memory (revision);
CREATE INDEX memory_by_text ON memory (text_digest);
CREATE INDEX lifecycle_by_revision ON lifecycle (revision);
"""

# In an older file, only the creation time and the time in a generated id show when it learned of a
# memory. sqlite_schema must stay on the first page, or salvage loses everything with it.
_LEARNED_AT: Final = """
ALTER TABLE memory ADD COLUMN learned_at REAL;
UPDATE memory SET learned_at = max(created_at, made_at(CAST(id AS BLOB), created_at));
"""
_ULID_ALPHABET: Final = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_STARTS: Final = (b"00", b"01")  # up to the year 2039, so later ones are not from such files


def _made_at(*arguments: Any) -> float:
    """Return the time in a ULID, in seconds UTC; for any other id, the second argument.

    Args:
        *arguments: the id, as bytes, and a time.
    """
    id: bytes
    otherwise: float
    id, otherwise = arguments
    if len(id) != 26 or id[:2] not in _ULID_STARTS or id.strip(_ULID_ALPHABET):
        return otherwise
    milliseconds = 0
    for character in id[:10]:
        milliseconds = 32 * milliseconds + _ULID_ALPHABET.index(character)
    return milliseconds / 1000


# The vector of a new embedder, which replaces ``embedding`` once all memories have one. x'' means that
# the embedder has no vector for the text: the new embedder during a reembed, otherwise the store's own.
# A change of the text resets it to NULL. Writing it does not change the row's revision. It is a column
# because another table would not fit in sqlite_schema on the first page (see salvage).
_NEW_EMBEDDING: Final = "ALTER TABLE memory ADD COLUMN new_embedding BLOB"

# Finds the memories superseded by one that is erased. It is written tersely, as are the checksum
# columns: the SQL of all tables must fit on the first page, by which damage to others can be salvaged.
_SUCCESSORS: Final = """
CREATE INDEX successor ON memory(superseded_by)WHERE superseded_by NOT NULL
"""
# Older versions kept the names of erased successors, which hid the superseded memories for good.
_HIDDEN_BY_ERASED: Final = """
superseded_by IN (SELECT id FROM erased) AND superseded_by NOT IN (SELECT id FROM memory)"""
_BRING_BACK: Final = f"""
UPDATE memory SET superseded_by = NULL,
  metadata = CASE WHEN json_valid(metadata)
    THEN nullif(json_remove(metadata, '$.superseded_at', '$.superseded_reason'), '{{}}')
    ELSE metadata END,
  revision = 1 + max(
    (SELECT max(revision) FROM memory),
    (SELECT max(revision) FROM lifecycle),
    (SELECT max(revision) FROM erased),
    coalesce((SELECT max(revision) FROM setting), 0),
    coalesce((SELECT max(revision) FROM link), 0),
    coalesce((SELECT max(revision) FROM dream_cycle WHERE revision BETWEEN 1 AND 1 << 62), 0))
WHERE {_HIDDEN_BY_ERASED};
"""

# A new memory's state comes with its row in ``memory``, which has the revision. The state's own revision
# is 0 until it changes, so that inserting a memory updates one index less.
_CHANGED_STATES_ONLY: Final = """
DROP INDEX lifecycle_by_revision;
CREATE INDEX changed_state ON lifecycle(revision)WHERE revision>0
"""
# AUTOINCREMENT writes the last number to a table of its own with each new memory. It is needed only if
# the memory with the highest number is erased, and ``Transaction.erase`` writes it then. Rows stay
# unchanged, since the keyword does not affect how they are stored.
_WITHOUT_COUNTER: Final = """
UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '') WHERE name = 'memory'
"""

# The columns of later fields. A missing one has no checksum, so only ``trust`` changes those of the
# rows. Line breaks and indents go, since the SQL of all tables must stay on the first page.
_PROVENANCE: Final = (
    *("user TEXT", "agent TEXT", "namespace TEXT", "labels TEXT"),
    *("source TEXT", "source_ref TEXT", "derived_from TEXT", "trust REAL NOT NULL DEFAULT 1"),
)
_TERSE: Final = """
UPDATE sqlite_schema SET sql = replace(replace(sql, char(10) || '  ', ''), char(10), '')
WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
"""

# Room on the first page. In STRICT tables, INT and INTEGER are the same except in a primary key, and
# columns of the primary key are NOT NULL without a rowid. No statement names these indexes.
_SHORTER: Final = (
    *(("INTEGER NOT NULL", "INT NOT NULL"), (", ", ","), (" (", "("), (") STRICT", ")STRICT")),
    *(("(first INT NOT NULL,second INT NOT NULL,", "(first INT,second INT,"), (" < ", "<")),
    ("(revision INT NOT NULL,id TEXT NOT NULL,PRIMARY", "(revision INT,id TEXT,PRIMARY"),
    *((char, "") for char in (chr(10),)),
)
_SHORTER_NAMES: Final = (
    ("feedback_event_by_sequence", "verdict_of"),
    ("dream_content_by_cycle", "content_in"),
    ("dream_content_by_sequence", "content_of"),
)
# When commits were made, and what they replaced (oneiros.store.history).
_HISTORY: Final = (
    "CREATE TABLE moment(revision INTEGER PRIMARY KEY,time REAL,checksum INT)STRICT",
    "CREATE TABLE past(number INTEGER PRIMARY KEY,revision INT,sequence INT,kind INT,cells TEXT,checksum INT)STRICT",
    "CREATE INDEX past_of ON past(sequence,kind)",
)

# The question that a verdict was given for, without its text; NULL has no checksum.
_QUESTIONS: Final = "ALTER TABLE feedback_event ADD question BLOB"

_CHECKED_TABLES: Final = (
    *("memory", "lifecycle", "link", "setting", "feedback_event", "dream_cycle", "dream_content"),
)
# Numbers come from SQLite; the changes of a cycle contain a checksum.
_NOT_CHECKED: Final = {"checksum", "number", "changes", "new_embedding"}


Step: TypeAlias = Callable[[apsw.Connection], None]


def _script(sql: str) -> Step:
    def run(connection: apsw.Connection) -> None:
        connection.execute(sql)

    return run


def _add_learned_at(connection: apsw.Connection) -> None:
    connection.create_scalar_function("made_at", _made_at, 2, deterministic=True)
    try:
        connection.execute(_LEARNED_AT)
    finally:
        connection.create_scalar_function("made_at", None, 2)


def _add_successors_and_checksums(connection: apsw.Connection) -> None:
    """Restore memories hidden by erased ones, then add a checksum to every row.

    The checksums cover all columns made by the earlier steps.
    """
    connection.execute(_SUCCESSORS)
    connection.execute(_BRING_BACK)
    checksums.register(connection)
    for table in _CHECKED_TABLES:
        names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute(f"ALTER TABLE {table} ADD checksum INT")
        cells = {name: name for name in names if name not in _NOT_CHECKED}
        connection.execute(f"UPDATE {table} SET checksum = {checksums.checksum(cells)}")


def _write_less_of_new_memories(connection: apsw.Connection) -> None:
    connection.execute(_CHANGED_STATES_ONLY)
    _rewrite_schema(connection, _WITHOUT_COUNTER)


def _rewrite_schema(connection: apsw.Connection, sql: str) -> None:
    """Run SQL that changes the texts of tables, but not how their rows are stored."""
    defensive = connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    try:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(sql)
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, int(defensive))


def _add_provenance(connection: apsw.Connection) -> None:
    """Add the columns of scopes, labels and provenance; every memory has the trust 1."""
    _rewrite_schema(connection, _TERSE)
    for column in _PROVENANCE:
        connection.execute(f"ALTER TABLE memory ADD {column}")
    connection.execute("CREATE INDEX derived ON memory(sequence)WHERE derived_from NOT NULL")
    checksums.register(connection)
    after = checksums.checksum_after({"trust": "1.0"}, before={"trust": "NULL"})
    connection.execute(f"UPDATE memory SET checksum = {after} WHERE checksum NOT NULL")
    _rewrite_schema(connection, _shorter())
    for table in _HISTORY:
        connection.execute(table)


def _keep_digests_of_erased_ids(connection: apsw.Connection) -> None:
    """Replace the ids of erased memories by digests, with a salt of this store."""
    checksums.register(connection)
    if erased.keep_digests_alone(connection.execute):
        sql = checksums.insert_of("setting", "INSERT OR REPLACE")
        connection.execute(sql, ("traces", "0", 0))  # the next opening empties the log


def _shorter() -> str:
    name, sql = "name", "sql"
    for long, short in _SHORTER_NAMES:
        name, sql = f"replace({name}, '{long}', '{short}')", f"replace({sql}, '{long}', '{short}')"
    for long, short in _SHORTER:
        sql = f"replace({sql}, '{long}', '{short}')"
    return f"""
UPDATE sqlite_schema SET name = {name}, sql = {sql}
WHERE sql NOT NULL AND name NOT GLOB 'sqlite_*'"""


MIGRATIONS: Final[list[Step]] = [
    _script(_FIRST_TABLES),
    _script(_LINK_TABLE),
    _script(_CYCLE_TABLES),
    _script(_LIFECYCLE_APART),
    _add_learned_at,
    _script(_NEW_EMBEDDING),
    _add_successors_and_checksums,
    _write_less_of_new_memories,
    _add_provenance,
    _keep_digests_of_erased_ids,
    _script(_QUESTIONS),
]
"""The step at index n migrates a file from version n to n + 1.

A released step is never edited, so that migrated and new files have identical SQL for their tables;
``schema.verify`` checks that. A new file takes only the steps that :data:`_TABLES` is without.
"""


APPLICATION_ID: Final = 0x4F4E4552  # "ONER", marks the file as a store

# Creating this version's tables for a comparison takes longer than a search. A file with another digest
# is compared with them.
_DIGEST_OF_TABLES: Final = "c3e2e7ba7964181761be375d238176fc"


def is_current(connection: apsw.Connection) -> bool:
    """Return whether the file has this version's tables; False for an empty one.

    Raises:
        StoreCorrupt: the database of another program.
        StoreVersionError: written by a newer version.
    """
    application_id = _number(connection, "application_id")
    version = _number(connection, "user_version")
    if application_id != APPLICATION_ID and not _is_blank(connection, application_id, version):
        msg = f"{connection.filename}: not a store of Oneiros: its application id is {application_id:#x}"
        raise StoreCorrupt(msg)
    if version < 0:
        msg = f"{connection.filename}: not a store of Oneiros: its schema version is {version}"
        raise StoreCorrupt(msg)
    if version > len(MIGRATIONS):
        msg = (
            f"{connection.filename}: the store has schema version {version}, this Oneiros knows up to "
            f"{len(MIGRATIONS)}; open it with a newer Oneiros"
        )
        raise StoreVersionError(msg)
    return version == len(MIGRATIONS)


def migrate(connection: apsw.Connection) -> None:
    """Migrate the file to this version. REQUIRES: a write transaction is open.

    The caller's commit makes all steps durable at once; after a crash before it, the file is unchanged.

    Raises:
        StoreCorrupt: the file is damaged, or its tables are not those of its version; the steps
            would drop what they cannot read.
    """
    version = _number(connection, "user_version")
    verify(connection, version)
    _require_whole(connection)
    if version == 0:
        _create(connection)
        version = _VERSION_OF_TABLES
    for step in MIGRATIONS[version:]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _create(connection: apsw.Connection) -> None:
    """Make the tables of a new file, as all steps would, in a seventh of the time."""
    connection.execute(_NUMBERS)
    connection.execute("".join(line.strip() for line in _TABLES.splitlines()))
    checksums.register(connection)
    erased.keep_digests_alone(connection.execute)


def verify(connection: apsw.Connection, version: int | None = None) -> None:
    """Check that the file's tables have exactly the SQL of a version; None: of this version.

    A foreign file may contain triggers, views or expressions that run when it is read. Everything
    that this version would not have made is refused before it is used.

    Raises:
        StoreCorrupt: the tables differ; names the first difference.
    """
    found = _entries(connection)
    if version is None and digest_of(found) == _DIGEST_OF_TABLES:
        return
    wanted = _wanted(len(MIGRATIONS) if version is None else version)
    if found != wanted:
        name = min(entry[1] for entry in found ^ wanted)
        msg = f"the store's table or index {name!r} is not as Oneiros makes it"
        raise StoreCorrupt(msg)


def digest_of(entries: Iterable[tuple[str, ...]]) -> str:
    """Return a digest of tables and indexes, for :func:`verify`."""
    text = "\0".join("\0".join(entry) for entry in sorted(entries))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _require_whole(connection: apsw.Connection) -> None:
    """Read the whole file, and compare its indexes with their tables."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        msg = f"the store is of an older version and damaged, so it stays as it is: {found[0]}"
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
    try:
        return frozenset(tuple(str(value) for value in row) for row in rows)
    except UnicodeDecodeError as error:
        msg = f"the store's tables are damaged: the text of one is not UTF-8 ({error})"
        raise StoreCorrupt(msg) from error


def _is_blank(connection: apsw.Connection, application_id: int, version: int) -> bool:
    """Return whether no commit was ever made to the file."""
    return application_id == 0 and version == 0 and not _entries(connection)


def _number(connection: apsw.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").get)
