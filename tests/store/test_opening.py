"""Opening: whose file it is, which version, who else holds it, who may read it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import apsw
import pytest

from oneiros.errors import (
    OneirosError,
    StoreCorrupt,
    StoreIOError,
    StoreVersionError,
)
from oneiros.store import Store, connections, schema
from tests.store.samples import add_ids, memory, run_sql, small_store


def test_a_folder_is_refused_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="path: must be a file's name, got the folder"):
        Store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_device_and_a_pipe_are_refused_in_our_words(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.db").symlink_to("pipe")
    for path in ("/dev/null", tmp_path / "pipe", tmp_path / "link.db"):
        with pytest.raises(ValueError, match="path: must be a file's name, got the device or pipe"):
            Store(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.db", "pipe"]


@pytest.mark.parametrize("name", ["mind.db", "./mind.db", "folder/../mind.db", "folder//mind.db"])
def test_a_store_knows_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with Store(name) as store:
        monkeypatch.chdir("folder")
        assert store.path == str((tmp_path / name).resolve())
        assert store.count() == 0


# Whose file


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a database at all, but long enough to look at\n" * 100, "damaged, or is no store"),
        (b"xy", "damaged, or is no store"),
    ],
)
def test_another_file_is_refused_and_left_alone(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=message):
        Store(path)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    run_sql(path, "CREATE TABLE a (b); INSERT INTO a VALUES (1)")
    before = path.read_bytes()
    words = "other.db: not a store of Oneiros: its application id is 0x0"
    with pytest.raises(StoreCorrupt, match=words):
        Store(path)
    run_sql(path, "PRAGMA application_id = 7")
    with pytest.raises(StoreCorrupt, match="not a store of Oneiros: its application id is 0x7"):
        Store(path)
    assert path.read_bytes()[100:] == before[100:]


@pytest.mark.parametrize("content", [b"", None], ids=["empty file", "empty database"])
def test_an_empty_file_becomes_a_store(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "mind.db"
    if content is None:
        run_sql(path, "VACUUM")
    else:
        path.write_bytes(content)
    assert small_store(path)


@pytest.mark.parametrize("pragma", ["application_id", "user_version"])
def test_another_process_makes_the_tables_between_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str
) -> None:
    path = tmp_path / "mind.db"
    path.touch()
    number = schema._number

    def others_look_first(connection: apsw.Connection, name: str) -> int:
        found = number(connection, name)
        if name == pragma:
            monkeypatch.setattr(schema, "_number", number)
            other = apsw.Connection(str(path))
            other.execute("BEGIN IMMEDIATE")
            schema.migrate(other)
            try:
                other.execute("COMMIT")
            except apsw.BusyError:
                other.execute("ROLLBACK")
            other.close()
        return found

    monkeypatch.setattr(schema, "_number", others_look_first)
    with Store(path) as store:
        add_ids(store, "a")
        assert schema._number is number
        assert store.count() == 1


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM memory; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE extra (a)",
        "CREATE INDEX extra ON memory (text)",
        "DROP INDEX memory_by_revision",
        "ALTER TABLE memory ADD COLUMN extra TEXT",
    ],
)
def test_tables_that_oneiros_did_not_make_are_refused(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    run_sql(path, sql)
    with pytest.raises(StoreCorrupt, match="is not as Oneiros makes it"):
        Store(path)


def test_values_out_of_range_are_refused_when_read(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    for sql in (
        "UPDATE memory SET category = 99",
        "UPDATE memory SET category = 0, importance = 9e999",
        "UPDATE memory SET importance = 0.5, metadata = '[1]'",
        "UPDATE memory SET metadata = NULL, tags = '[' ",
        "UPDATE memory SET tags = '[1]'",
        f"UPDATE memory SET tags = '{'[' * 5000}'",
        "UPDATE memory SET tags = NULL, text = CAST(X'41FF42' AS TEXT)",
    ):
        run_sql(path, sql)
        with (
            Store(path) as store,
            pytest.raises(StoreCorrupt, match="in the store"),
        ):
            store.load(["m0"])


# Versions


def test_a_newer_version_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    run_sql(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreVersionError, match=r"schema version 99, .* open it with a newer"):
        Store(path)


def test_a_negative_version_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    run_sql(path, "PRAGMA user_version = -1")
    with pytest.raises(StoreCorrupt, match="schema version is -1"):
        Store(path)


def test_version_0_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    run_sql(path, f"PRAGMA application_id = {schema.APPLICATION_ID}")
    assert small_store(path)


def add_mood(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE setting ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")


def fail(connection: apsw.Connection) -> None:
    connection.execute("SELECT no_such_function()")


def test_an_older_file_comes_forward_with_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, add_mood])
    with Store(path) as store:
        assert store.load(["m1"]) == [memory("m1")]
        assert store.settings() == {}
    with Store(tmp_path / "new.db") as store:  # new and brought forward are the same
        add_ids(store, "a")
    monkeypatch.undo()
    with pytest.raises(StoreVersionError, match=f"schema version {len(schema.MIGRATIONS) + 1}"):
        Store(path)


def test_a_migration_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    small_store(path)
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, add_mood, fail])
    with pytest.raises(OneirosError, match="no_such_function"):
        Store(path)
    monkeypatch.undo()
    with Store(path) as store:
        assert store.count() == 3


def test_an_sqlite_that_can_lose_commits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(RuntimeError, match=r"SQLite 3.51.2 can lose commits"):
        Store(":memory:")


# Damage


def test_a_store_cut_at_any_place_is_noticed_or_whole(tmp_path: Path) -> None:
    whole = small_store(tmp_path / "whole.db")
    path = tmp_path / "cut.db"
    step = 1 if os.environ.get("ONEIROS_LONG") else 61
    empty_tail = 5 * 4096  # pages of tables that hold nothing lose nothing by a cut
    for size in [*range(2, len(whole), step), *range(4096, len(whole), 4096)]:
        path.write_bytes(whole[:size])
        assert is_noticed(path) or size > len(whole) - empty_tail, f"cut to {size} bytes"
        for left in tmp_path.glob("cut.db*"):
            left.unlink()


def test_flipped_bits_are_noticed_or_harmless(tmp_path: Path) -> None:
    whole = small_store(tmp_path / "whole.db")
    rng = random.Random(5)
    path = tmp_path / "flipped.db"
    noticed = 0
    for _ in range(300):
        place = rng.choice([rng.randrange(100), rng.randrange(len(whole))])
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        noticed += is_noticed(path)  # another exception than a typed one fails the test
        for left in tmp_path.glob("flipped.db*"):
            left.unlink()
    assert noticed > 30


def is_noticed(path: Path) -> bool:
    """Return False where all is there, True where Oneiros says that it is not."""
    try:
        with Store(path, busy_timeout_seconds=0.0) as store:
            if store.quick_check():
                return True
            texts = {row.id: len(row.text) for part in store.changes(0) for row in part}
    except OneirosError:
        return True
    assert len(texts) == 3, "memories went missing without a word"
    return False


def test_what_cannot_be_opened_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Store(tmp_path / "nowhere" / "mind.db")


def test_a_file_on_a_disk_that_is_only_read_is_reported_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    Store(path).close()

    def unopened(*given: object, **options: object) -> None:  # noqa: ARG001
        msg = "unable to open database file"  # SQLite's words where it can make no log
        raise apsw.CantOpenError(msg)

    monkeypatch.setattr(connections, "_prepare", unopened)
    with pytest.raises(StoreIOError) as caught:
        Store(path)
    assert "read_only" not in str(caught.value)
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)  # noqa: ARG005
    with pytest.raises(StoreIOError, match=r"folder cannot be written.*read_only=True\) reads it"):
        Store(path)


def test_a_journal_mode_that_cannot_be_had_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stubborn(connections.StoreConnection):
        def execute(self, sql: str, *values: object) -> apsw.Cursor:
            return super().execute(sql.replace("journal_mode = WAL", "journal_mode"), *values)

    monkeypatch.setattr(connections, "StoreConnection", Stubborn)
    with pytest.raises(StoreIOError, match="journal mode 'delete'"):
        Store(tmp_path / "mind.db")
