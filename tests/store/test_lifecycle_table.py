"""What use and dreams change lies beside the texts: read as one, written alone, brought forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from oneiros.errors import StoreCorrupt
from oneiros.fields import FIELDS
from oneiros.memory import Memory
from oneiros.store import Store, StoredMemory, cycle_reading, schema
from oneiros.store.cells import cell, text_digest
from oneiros.store.links import StoredLink
from oneiros.store.salvage import salvage
from tests.store.samples import FULL, NOW, add, memory, rows


def run_sql(path: Path, sql: str, values: Sequence[object] = ()) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql, values)
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of three memories, closed."""
    path = tmp_path / "mind.db"
    with Store(path) as store:
        add(store, memory("a"), FULL, memory("b", strength=0.5))
    return path


# Older files


def wide_row(connection: apsw.Connection, held: Memory, sequence: int, revision: int) -> None:
    """Write a memory as the one wide table of older versions held it."""
    values = {name: cell(name, getattr(held, name)) for name in FIELDS if name != "embedding"}
    values |= {"sequence": sequence, "revision": revision, "text_digest": text_digest(held.text)}
    values["embedding"] = b"vector of " + held.id.encode()
    sql = f"INSERT INTO memory ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    connection.execute(sql, list(values.values()))


MEMORIES = (
    FULL,
    memory("kept", feedback=-2, strength=0.125, sessions=["x", "y"], tier="cold"),
    memory("replaced", superseded_by="kept", access_count=7),
    memory("deleted", deleted_at=NOW + 5.0, status="archived"),
)


def older_file(path: Path, version: int) -> None:
    """Make a file of an older version; the memory of the highest number was erased."""
    connection = apsw.Connection(str(path))
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
        assert [row.embedding for row in held] == [b"vector of " + id.encode() for id in ids]
        assert [row.id for row in rows(store, after=2)] == ["replaced", "deleted"]
        assert store.settings() == {"embedder": "mini"}
        assert store.revision() == 8
        with store.read() as reading:
            assert reading.erased(0) == ["gone"]
            assert reading.feedback_events() == [(1, "kept", "note", "outdated", 9.5)]
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


def test_an_older_file_without_a_memory_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older_file(path, 3)
    run_sql(path, "DELETE FROM memory; DELETE FROM sqlite_sequence; DELETE FROM link")
    with Store(path) as store, store.write() as transaction:
        assert transaction.insert(memory("first")) == 1


# Damaged and hostile files


@pytest.mark.parametrize(
    "assignment",
    [
        "strength = 9e999",
        "strength = -0.001",
        "stability = -1.0",
        "consolidation_quality = 9e999",
        "depth = 0",
        "depth = 4",
        "core = 2",
        "tier = 99",
        "status = -1",
        "canonical_layer = 3",
        "importance_tag = 5",
        "feedback = 32768",
        "access_count = -1",
        "duplicate_count = 4294967296",
        "session_spread = 0",
        "last_accessed_at = 9e999",
        "at_floor_since = -9e999",
        "cold_since = 1e12",
        "sessions = '[1]'",
        "sessions = '{'",
        "sessions = CAST(X'5B22FF225D' AS TEXT)",
    ],
)
def test_a_state_that_makes_no_sense_is_refused_and_salvaged_without(
    path: Path, tmp_path: Path, assignment: str
) -> None:
    run_sql(path, f"UPDATE lifecycle SET {assignment} WHERE sequence = 3")
    with Store(path) as store:
        assert store.load(["a", FULL.id]) == [memory("a"), FULL]
        with pytest.raises(StoreCorrupt, match="in the store"):
            store.load(["b"])
        with pytest.raises(StoreCorrupt, match="in the store"):
            [row.memory() for row in rows(store)]
    found = salvage(path, tmp_path / "new.db")
    assert (found.memories, found.unreadable, found.begun_anew) == (3, 0, 1)
    with Store(tmp_path / "new.db") as store:
        assert store.load(["a", FULL.id, "b"]) == [memory("a"), FULL, memory("b")]


@pytest.mark.parametrize("number", [-3, 0, 2**53 + 1, 2**63 - 1])
def test_a_sequence_number_that_no_store_gives_is_damage(path: Path, number: int) -> None:
    run_sql(path, f"UPDATE memory SET sequence = {number} WHERE sequence = 3")
    run_sql(path, f"UPDATE lifecycle SET sequence = {number} WHERE sequence = 3")
    with Store(path) as store:
        with pytest.raises(StoreCorrupt, match="in the store"):
            store.load(["b"])
        with pytest.raises(StoreCorrupt, match="in the store"):
            rows(store)


def test_a_memory_without_its_state_is_damage(path: Path, tmp_path: Path) -> None:
    run_sql(path, "DELETE FROM lifecycle WHERE sequence = 3")
    with Store(path) as store:
        assert store.quick_check() == ["memory 3: its lifecycle is missing"]
        with pytest.raises(StoreCorrupt, match="memory 'b': its lifecycle is not in the store"):
            store.load(["b"])
        with pytest.raises(StoreCorrupt, match="its lifecycle is not in the store"):
            rows(store)
    assert salvage(path, tmp_path / "new.db").begun_anew == 1
    with Store(tmp_path / "new.db") as store:
        assert store.load(["b"]) == [memory("b")]


def test_a_state_without_its_memory_is_told_by_a_check(path: Path) -> None:
    run_sql(path, "DELETE FROM memory WHERE sequence = 3")
    with Store(path) as store:
        assert store.quick_check() == ["memory 3: it is missing, and its lifecycle is there"]
        assert [row.id for row in rows(store)] == ["a", FULL.id]


# Reading


@pytest.mark.parametrize(
    "change", [{"strength": 0.25}, {"importance": 0.25}, {"strength": 0.25, "importance": 0.25}]
)
def test_a_change_of_either_row_is_a_change_of_the_memory(
    path: Path, change: dict[str, object]
) -> None:
    with Store(path) as store:
        with store.write() as transaction:
            assert transaction.update_columns([("a", change), ("gone", change)]) == 1
        assert store.revision() == 2
        (row,) = rows(store, after=1)
        assert (row.id, row.revision) == ("a", 2)
        assert row.memory() == replace(memory("a"), **change)  # type: ignore[arg-type]
        assert rows(store, after=2) == []
        with store.read() as reading:
            assert reading.changed_since(0) == {1, 2, 3}
            assert reading.changed_since(1) == {1}
            assert reading.changed_since(2) == set()


def test_what_was_inserted_is_told_as_it_is_read(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        with store.write() as transaction:
            transaction.insert(FULL, embedding_blob=b"v")
            transaction.insert_many([memory("a"), memory("b")])
            told: list[StoredMemory] = []
            for batch in transaction.fresh_rows() or ():
                told += batch
        assert told == rows(store)


@pytest.mark.parametrize("many", [20_000, 2])
def test_numbers_are_found_by_ids(path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr(cycle_reading, "_MANY", many)
    with Store(path) as store, store.read() as reading:
        assert reading.sequences(["b", "gone", FULL.id, "b"]) == [3, None, 2, 3]
        assert reading.sequences([]) == []


# Writing


def test_states_of_many_are_written_at_once(path: Path) -> None:
    with Store(path) as store:
        with store.write() as transaction:
            values: dict[str, list[object]] = {
                "strength": [0.1, 0.2, 0.3],
                "tier": [2, 0, 1],
                "cold_since": [None, 5.0, 6.0],
            }
            transaction.write_lifecycle([3, 1, 77], values)
            transaction.write_lifecycle([1, 2], {"importance": [0.7, 0.8], "depth": [1, 1]})
        assert store.load(["a", FULL.id, "b"]) == [
            replace(
                memory("a"),
                strength=0.2,
                tier="hot",
                cold_since=5.0,
                importance=0.7,
                depth=1,
            ),
            replace(FULL, importance=0.8, depth=1),
            replace(memory("b"), strength=0.1, tier="stub"),
        ]
        assert {row.revision for row in rows(store)} == {2}
        assert store.quick_check() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mood": [1]}, "field: must be one of a memory's fields of numbers, got 'mood'"),
        ({"strength": [0.5], "text": ["x"]}, "fields of numbers, got 'text'"),
        ({"sessions": ["[]"]}, "fields of numbers, got 'sessions'"),
        ({"revision": [1]}, "fields of numbers, got 'revision'"),
        ({"strength = 1, tier": [1]}, "fields of numbers, got"),
        ({"tier": [1], "strength": []}, "strength: must be one value for each of the 1 memories"),
    ],
)
def test_states_that_cannot_be_written_are_refused(
    path: Path, values: dict[str, list[object]], message: str
) -> None:
    with Store(path) as store:
        with store.write() as transaction, pytest.raises(ValueError, match=message):
            transaction.write_lifecycle([1], values)
        assert store.load(["a"]) == [memory("a")]
        assert store.revision() == 1


def test_strength_of_all_is_written_without_their_texts(tmp_path: Path) -> None:
    count, size = 200, 8000
    path = tmp_path / "mind.db"
    with Store(path) as store:
        add(store, *(memory(f"m{i}", text="x" * size) for i in range(count)))
        store.checkpoint()
        with store.write() as transaction:
            transaction.write_lifecycle(range(1, count + 1), {"strength": [0.5] * count})
        assert path.with_name("mind.db-wal").stat().st_size < count * size / 20
        assert {row.strength for row in rows(store)} == {0.5}


def test_what_is_forgotten_leaves_no_state(path: Path) -> None:
    with Store(path) as store:
        with store.write() as transaction:
            assert transaction.erase(FULL.id)
        assert store.quick_check() == []
        assert [row.id for row in rows(store)] == ["a", "b"]
