"""Files of older versions come forward whole, or stay as they are: damaged ones, and after a kill."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import numpy.typing as npt
import pytest

from oneiros.clock import VirtualClock
from oneiros.errors import HistoryUnavailable, OneirosError, StoreCorrupt
from oneiros.model.fields import FIELDS
from oneiros.model.ids import new_ulid
from oneiros.model.memory import Memory
from oneiros.store import Store, checksums, schema
from oneiros.store.erased import ErasedMemory, digest_of
from oneiros.store.index_checking import index_damage
from oneiros.store.links import StoredLink
from oneiros.store.rows import cell, encoded_embedding, text_digest
from tests.store.samples import FULL, NOW, feedback_events, memory, rows, run_sql


def vector_of(id: str) -> npt.NDArray[np.float32]:
    """Return the embedding that a memory has, each its own."""
    angle = sum(id.encode())
    return np.array([np.cos(angle), np.sin(angle)], np.float32)


def wide_row(connection: apsw.Connection, held: Memory, sequence: int, revision: int) -> None:
    """Write a memory as the one wide table of older versions held it."""
    missing = ("embedding", "learned_at", *LATER)
    values = {name: cell(name, getattr(held, name)) for name in FIELDS if name not in missing}
    values |= {"sequence": sequence, "revision": revision, "text_digest": text_digest(held.text)}
    values["embedding"] = encoded_embedding(vector_of(held.id))
    sql = f"INSERT INTO memory ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    connection.execute(sql, list(values.values()))


IMPORTED_AT = 1_700_000_000.123
IMPORTED = new_ulid(IMPORTED_AT)
# A file of before shows when it learned of a memory by its creation, and by an id that it made.
MEMORIES = (
    replace(FULL, learned_at=FULL.created_at),
    memory("kept", feedback=-2, strength=0.125, sessions=["x", "y"], tier="cold"),
    memory("replaced", superseded_by="kept", access_count=7),
    memory("deleted", deleted_at=NOW + 5.0, status="archived"),
    memory(IMPORTED, created_at=NOW - 1e9, learned_at=IMPORTED_AT),
    memory(IMPORTED.lower(), created_at=NOW - 1e9, learned_at=NOW - 1e9),
    memory("7" + IMPORTED[1:], created_at=NOW - 1e9, learned_at=NOW - 1e9),
    memory(new_ulid(NOW - 1e9), learned_at=NOW),
)


LATER = ("user", "agent", "namespace", "labels", "source", "source_ref", "derived_from", "trust")
MEMORIES = tuple(
    replace(
        held,
        embedding=vector_of(held.id),
        **{name: getattr(Memory(text=""), name) for name in LATER},
    )
    for held in MEMORIES
)


def narrow_file(path: Path, version: int = 8) -> None:
    """Make a file of version 7 or 8, with lifecycles apart and without scopes, labels and trust."""
    connection = apsw.Connection(str(path))
    for step in schema.MIGRATIONS[:version]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    checksums.register(connection)
    kept = FIELDS.keys() - {"embedding", *LATER}
    for sequence, held in enumerate(MEMORIES, 1):
        values: dict[str, object] = {
            **{name: cell(name, getattr(held, name)) for name in kept},
            "sequence": sequence,
            "revision": 1,
            "text_digest": text_digest(held.text),
            "embedding": encoded_embedding(held.embedding),
        }
        for table in ("memory", "lifecycle"):
            cells = {name: values[name] for name in checksums.COVERED[table] if name in values}
            sql = checksums.checksum({name: f"?{place}" for place, name in enumerate(cells, 1)})
            places = ", ".join(f"?{place}" for place in range(1, len(cells) + 1))
            connection.execute(
                f"INSERT INTO {table} ({', '.join(cells)}, checksum) VALUES ({places}, {sql})",
                list(cells.values()),
            )
    connection.close()


def test_a_file_without_scopes_and_trust_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path)
    ids = [held.id for held in MEMORIES]
    with Store(path) as store:
        assert store.deep_check() == []
        assert store.load(ids) == list(MEMORIES)
        assert [row.revision for row in rows(store)] == [1] * len(ids)
        with store.write() as transaction:
            transaction.insert_many([replace(FULL, id="fresh")])
            transaction.update("kept", {"user": "ada", "labels": ["x"], "trust": 0.25})
        assert store.deep_check() == []
        fresh, kept = store.load(["fresh", "kept"])
        assert fresh == replace(FULL, id="fresh")
        assert kept is not None
        assert (kept.user, kept.labels, kept.trust) == ("ada", ["x"], 0.25)


def test_verdicts_of_before_have_no_question(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path)
    cells = {"sequence": "2", "kind": "'note'", "verdict": "'outdated'", "time": "9.5"}
    with closing(apsw.Connection(str(path))) as connection:
        checksums.register(connection)
        connection.execute(
            f"INSERT INTO feedback_event ({', '.join(cells)}, checksum)"
            f" VALUES ({', '.join(cells.values())}, {checksums.checksum(cells)})"
        )
    with Store(path) as store:
        assert store.deep_check() == []
        with store.write() as transaction:
            transaction.feedback("kept", "helpful", NOW, question=b"\x02\x01\x00\x00\x00")
        assert store.deep_check() == []
        with store.read() as reading:
            assert reading.verdicts_of({}) == [
                (2, "note", "outdated", 9.5, None),
                (2, "note", "helpful", NOW, b"\x02\x01\x00\x00\x00"),
            ]
            assert reading.questions_after(0) == [(2, "helpful", b"\x02\x01\x00\x00\x00")]
            assert reading.questions_after(2) == []


def test_a_file_without_history_has_one_from_its_next_write_on(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path)
    clock = VirtualClock(NOW)
    with Store(path, clock=clock) as store:
        with store.read() as reading:
            assert [version.recorded_at for version in reading.history.versions("kept")] == [None]
            with pytest.raises(HistoryUnavailable):
                reading.history.revision_at(NOW + 1e6)
        clock.advance(10)
        with store.write() as transaction:
            transaction.update_columns([("kept", {"pinned": True})])
        with store.read() as reading:
            versions = reading.history.versions("kept")
            assert [(version.recorded_at, version.until) for version in versions] == [
                (None, NOW + 10), (NOW + 10, None)
            ]  # fmt: skip
            assert [version.row.pinned for version in versions] == [0, 1]
            with pytest.raises(HistoryUnavailable) as caught:
                reading.history.revision_at(NOW + 9)
            assert caught.value.since == NOW + 10
            assert reading.history.revision_at(NOW + 10) == 2
        assert store.deep_check() == []


def test_damage_of_an_older_file_is_still_noticed_when_it_came_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path)
    run_sql(path, "UPDATE memory SET importance = 0.125 WHERE id = 'kept'")
    run_sql(path, "UPDATE memory SET checksum = NULL WHERE id = 'replaced'")
    with Store(path) as store:
        for id in ("kept", "replaced"):
            with pytest.raises(StoreCorrupt, match="checksum"):
                store.load([id])
        assert store.load(["deleted"]) == [MEMORIES[3]]


def test_a_step_killed_on_a_narrow_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path)
    before = path.read_bytes()
    command = [sys.executable, "-c", KILLED, str(path), str(10**9)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    with closing(apsw.Connection(str(path))) as connection:
        schema.verify(connection, 8)
        assert connection.execute("PRAGMA user_version").get == 8
    assert path.read_bytes() == before
    with Store(path) as store:
        assert store.load([held.id for held in MEMORIES]) == list(MEMORIES)


def older_file(path: Path, version: int) -> None:
    """Make a file of an older version; the memory of the highest number was erased."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF")  # no power is lost here
    for step in schema.MIGRATIONS[:version]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    for place, held in enumerate(MEMORIES):
        wide_row(connection, held, sequence=3 * place + 2, revision=place + 1)
    wide_row(connection, memory("gone"), sequence=50, revision=5)
    connection.execute("""
DELETE FROM memory WHERE id = 'gone';
INSERT INTO erased VALUES (6, 'gone');
INSERT INTO setting VALUES ('embedder', 'mini', 7);
INSERT INTO feedback_event VALUES (1, 5, 'note', 'outdated', 9.5);
INSERT INTO link VALUES (5, 8, 8, 2, 0.75, 3.0, NULL)""")
    connection.close()


@pytest.mark.parametrize("version", [2, 3])
def test_an_older_file_comes_forward_with_all_that_it_holds(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    older_file(path, version)
    ids = [held.id for held in MEMORIES]
    with Store(path) as store:
        assert store.quick_check() == []
        assert store.load(ids) == list(MEMORIES)
        held = rows(store)
        assert [(row.sequence, row.id, row.revision) for row in held] == [
            (3 * place + 2, id, place + 1) for place, id in enumerate(ids)
        ]
        assert [row.embedding for row in held] == [encoded_embedding(vector_of(id)) for id in ids]
        assert [row.id for row in rows(store, after=2)] == ids[2:]
        assert store.settings() == {"embedder": "mini", "traces": "0"}
        assert store.revision() == 8
        with store.read() as reading:
            gone = digest_of("gone", reading.erased_salt())
            assert reading.erased(0) == [ErasedMemory(0, gone)]
            assert b"gone" not in path.read_bytes()
            assert feedback_events(reading) == [("kept", "note", "outdated", 9.5)]
            links = [link for batch in reading.links(0) for link in batch]
        assert links == [StoredLink("kept", "replaced", 2, 0.75, 3.0, None)]
        with store.write() as transaction:  # a number is never given twice
            assert transaction.insert(memory("next")) == 51
            same_text = transaction.insert_many([memory("twin", text="text of kept")])
            assert transaction.count_duplicates(same_text) == 1
        assert store.load(["kept"]) == [replace(MEMORIES[1], duplicate_count=1)]


def test_a_file_brought_forward_and_a_new_one_have_the_same_tables(tmp_path: Path) -> None:
    older_file(tmp_path / "old.db", 3)
    for name in ("old.db", "new.db"):
        Store(tmp_path / name).close()
        connection = apsw.Connection(str(tmp_path / name))
        schema.verify(connection)
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        connection.close()


def test_a_new_file_has_what_all_steps_leave() -> None:
    new, stepped = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    schema.migrate(new)
    for step in schema.MIGRATIONS:
        step(stepped)
    every = "SELECT name, sql FROM sqlite_schema ORDER BY name"  # those of SQLite's own, too
    assert new.execute(every).fetchall() == stepped.execute(every).fetchall()
    tables = [name for name, sql in new.execute(every) if sql and sql.startswith("CREATE TABLE")]
    for table in tables:
        columns = f"SELECT * FROM pragma_table_xinfo('{table}')"
        assert new.execute(columns).fetchall() == stepped.execute(columns).fetchall()
        counted = f"SELECT count(*) FROM {table}"
        assert new.execute(counted).get == stepped.execute(counted).get == (table == "setting")
    assert new.execute("PRAGMA freelist_count").get == 0
    (key,) = {connection.execute("SELECT key FROM setting").get for connection in (new, stepped)}
    assert key == "erased_salt"


def test_tables_are_told_by_the_digest_of_those_that_this_version_makes() -> None:
    made = schema._wanted(len(schema.MIGRATIONS))
    digest = schema.digest_of(made)
    assert digest == schema._DIGEST_OF_TABLES, f"set schema._DIGEST_OF_TABLES to {digest!r}"
    assert schema.digest_of(list(made)[1:]) != schema._DIGEST_OF_TABLES


def test_a_file_in_which_all_states_are_indexed_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    narrow_file(path, 7)
    run_sql(path, "UPDATE sqlite_sequence SET seq = 17 WHERE name = 'memory'")
    ids = [held.id for held in MEMORIES]
    with Store(path) as store:
        assert store.deep_check() == []
        assert [(row.id, row.state_revision) for row in rows(store)] == [(id, 1) for id in ids]
        with store.write() as transaction:
            assert transaction.insert(memory("c")) == 18
            transaction.increment([("kept", {"access_count": 1})])
        assert [row.id for row in rows(store, after=1)] == ["kept", "c"]
        assert store.deep_check() == []
        with store.read() as reading:
            assert index_damage(reading) == []


def test_an_older_file_without_a_memory_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older_file(path, 3)
    run_sql(path, "DELETE FROM memory; DELETE FROM sqlite_sequence; DELETE FROM link")
    with Store(path) as store, store.write() as transaction:
        assert transaction.insert(memory("first")) == 1


@pytest.mark.parametrize(
    "metadata", ['{"a":1.50,"superseded_at":5.0}', '{"superseded_at":5}', None]
)
def test_what_a_forgotten_memory_hid_comes_back(tmp_path: Path, metadata: str | None) -> None:
    path = tmp_path / "old.db"
    older_file(path, 3)
    with closing(apsw.Connection(str(path))) as connection:
        sql = (
            "UPDATE memory SET superseded_by = 'gone', metadata = ? WHERE id IN ('kept', 'deleted')"
        )
        connection.execute(sql, (metadata,))
    with Store(path) as store:
        (kept, replaced) = store.load(["kept", "replaced"])
        assert kept is not None
        assert replaced is not None
        assert kept.superseded_by is None
        assert kept.metadata == ({"a": 1.5} if metadata and '"a"' in metadata else {})
        assert replaced.superseded_by == "kept"
        assert {row.id for row in rows(store, after=8)} == {"kept", "deleted"}  # for who follows
        with store.read() as reading:
            assert [one for one in reading.lost_successors() if one[2]] == []


# Damaged ones


def put_loosely(path: Path, assignment: str) -> None:
    """Put a value into every memory that their table would refuse, as damage does."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'memory'").get
        loose = sql.replace("STRICT", "").replace("NOT NULL", "")
        change = "UPDATE sqlite_schema SET sql = ? WHERE name = 'memory'"
        connection.execute(change, (loose,))
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"UPDATE memory SET {assignment}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, (sql,))


def page_of(path: Path, name: str) -> slice:
    """Return where the first page of a table or index stands in the file."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        size = connection.execute("PRAGMA page_size").get
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get
    return slice((root - 1) * size, root * size)


def clear_page(path: Path, name: str) -> None:
    held = bytearray(path.read_bytes())
    place = page_of(path, name)
    held[place] = bytes(place.stop - place.start)
    path.write_bytes(held)


def leave_index_behind(path: Path, name: str) -> None:
    """Add to a table what an index of it does not get to know."""
    place = page_of(path, name)
    before = path.read_bytes()[place]
    run_sql(path, "INSERT INTO link VALUES (2, 11, 9, 0, 0.5, 3.0, NULL)")
    held = bytearray(path.read_bytes())
    held[place] = before
    path.write_bytes(held)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "no text": lambda path: put_loosely(path, "text = NULL"),
    "a word for a number": lambda path: put_loosely(path, "strength = 'much'"),
    "a table of memories": lambda path: clear_page(path, "memory"),
    "a table that no step reads": lambda path: clear_page(path, "link"),
    "an index that is dropped": lambda path: clear_page(path, "memory_by_text"),
    "an index that lacks a row": lambda path: leave_index_behind(path, "link_by_second"),
}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_older_file_is_refused_and_stays(
    tmp_path: Path, version: int, damage: str
) -> None:
    path = tmp_path / "old.db"
    older_file(path, version)
    DAMAGE[damage](path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreCorrupt, match="damaged"):
            Store(path)
        assert path.read_bytes() == before
        assert [file.name for file in tmp_path.iterdir()] == ["old.db"]


def test_flipped_bits_of_an_older_file_are_noticed_or_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older_file(path, 3)
    whole = path.read_bytes()
    rng = random.Random(11)
    noticed = 0
    for _ in range(30):
        place = rng.choice([rng.randrange(100), rng.randrange(len(whole))])
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            with Store(path, busy_timeout_seconds=0.0) as store:
                assert (store.count(), store.link_count()) == (len(MEMORIES), 1)
                assert store.quick_check() == []
        except OneirosError:
            noticed += 1
            assert path.read_bytes() == bytes(damaged)
        for left in tmp_path.glob("old.db-*"):
            left.unlink()
    assert noticed > 5


# Killed on the way

MANY = 600
KILLED = """
import os, signal, sys
from oneiros.store import Store, checksums, schema

path, moment = sys.argv[1], int(sys.argv[2])
last = schema.MIGRATIONS[-1]
calls = 0

def kill():
    global calls
    calls += 1
    if calls == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    return False

def killed(connection):
    connection.set_progress_handler(kill, 500)
    last(connection)
    os.kill(os.getpid(), signal.SIGKILL)  # all is done but the commit

schema.MIGRATIONS[-1] = killed
Store(path)
"""


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("moment", [1, 60, 10**9])
def test_what_is_killed_on_the_way_stays_of_the_older_version(
    tmp_path: Path, journal: str, moment: int
) -> None:
    path = tmp_path / "old.db"
    older_file(path, 3)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("BEGIN")
        for number in range(MANY):  # more than SQLite keeps from the disk until the commit
            held = memory(f"m{number}", text=f"{number} " * 1500)
            wide_row(connection, held, sequence=100 + number, revision=9)
        connection.execute("COMMIT")
    command = [sys.executable, "-c", KILLED, str(path), str(moment)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    with closing(apsw.Connection(str(path))) as connection:
        schema.verify(connection, 3)
        assert connection.execute("PRAGMA user_version").get == 3
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert connection.execute("SELECT count(*) FROM memory").get == MANY + len(MEMORIES)
    with Store(path) as store:
        assert store.quick_check() == []
        assert store.count() == MANY + len(MEMORIES)
        assert store.load([held.id for held in MEMORIES]) == list(MEMORIES)
        seventh = replace(memory("m7", text="7 " * 1500), embedding=vector_of("m7"))
        assert store.load(["m7"]) == [seventh]
