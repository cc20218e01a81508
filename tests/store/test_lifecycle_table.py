"""What use and dreams change lies beside the texts: read as one, written alone."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from oneiros.errors import StoreCorrupt
from oneiros.store import Store, StoredMemory
from oneiros.store.index_checking import index_damage
from oneiros.store.rows import LIFECYCLE
from oneiros.store.salvage import salvage
from tests.store.samples import BLOB, FULL, add, memory, rows, run_sql


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of three memories, closed."""
    path = tmp_path / "mind.db"
    with Store(path) as store:
        add(store, memory("a"), FULL, memory("b", strength=0.5))
    return path


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
            assert reading.cycles.changed_since(0) == {1, 2, 3}
            assert reading.cycles.changed_since(1) == {1}
            assert reading.cycles.changed_since(2) == set()


def test_who_follows_reads_states_alone_where_nothing_else_changed(path: Path) -> None:
    with Store(path) as store:
        with store.write() as transaction:
            transaction.insert(memory("new", strength=0.75))
            transaction.update_columns([("a", {"importance": 0.25}), ("b", {"tier": "stub"})])
            transaction.update_columns([(FULL.id, {"strength": 0.25})])
            transaction.add_sessions([(FULL.id, ["later"])])
        every = {row.sequence: row for row in rows(store, after=1)}
        with store.read() as reading:
            whole = [row for batch in reading.changes_of_memories(1) for row in batch]
            (states,) = reading.changes_of_states(1)
            assert list(reading.changes_of_states(0)) == list(reading.changes_of_states(2)) == []
        assert [row.id for row in whole] == ["a", "new"]
        assert whole == [every[row.sequence] for row in whole]
        assert sorted(states.sequences) == [2, 3]
        assert set(states.values) == {*LIFECYCLE} - {"sessions"}
        for place, sequence in enumerate(states.sequences):
            held = every[sequence]
            for name, values in states.values.items():
                assert values[place] == getattr(held, name)
            assert (states.sessions[place] or frozenset()) == held.sessions


@pytest.mark.parametrize("assignment", ["strength = 1.5", "status = 7", "sessions = '[1]'"])
def test_who_follows_takes_no_state_that_makes_no_sense(path: Path, assignment: str) -> None:
    run_sql(path, f"UPDATE lifecycle SET revision = 2, {assignment} WHERE sequence = 3")
    with (
        Store(path) as store,
        store.read() as reading,
        pytest.raises(StoreCorrupt, match="in the store"),
    ):
        list(reading.changes_of_states(1))


def test_what_was_inserted_is_told_as_it_is_read(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        with store.write() as transaction:
            transaction.insert(replace(FULL, superseded_by=None), embedding_blob=BLOB)
            transaction.insert_many([memory("a"), memory("b")])
            told: list[StoredMemory] = []
            for batch in transaction.fresh_columns() or ():
                told += batch.rows()
        assert told == rows(store)


def test_a_state_is_indexed_once_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Store(path) as store:
        with store.write() as transaction:
            transaction.insert_many([memory("a"), memory("b")])
        with store.write() as transaction:
            transaction.insert(memory("c"))
        for after, ids in ((0, "abc"), (1, "c"), (2, "")):
            assert [one.id for one in rows(store, after=after)] == list(ids)
        with store.write() as transaction:
            transaction.increment([("a", {"access_count": 1})])
        assert (store.revision(), [one.revision for one in rows(store)]) == (3, [3, 1, 2])
        assert [one.id for one in rows(store, after=2)] == ["a"]
        with store.read() as reading:
            assert [list(one.sequences) for one in reading.changes_of_states(1)] == [[1]]
            assert [one.id for one in next(reading.changes_of_memories(1))] == ["c"]
            assert index_damage(reading) == []
    with closing(apsw.Connection(str(path))) as connection:
        count = connection.execute(
            "SELECT count(*) FROM lifecycle INDEXED BY changed_state WHERE revision > 0"
        )
        assert count.get == 1


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_number_is_never_given_again(tmp_path: Path, is_closed: bool) -> None:
    path, given = tmp_path / "mind.db", []
    store = Store(path)
    for round_ in range(3):
        with store.write() as transaction:
            given += transaction.insert_many([memory(f"{round_}{name}") for name in "abc"])
        with store.write() as transaction:
            transaction.erase(f"{round_}b")  # not the highest number
            transaction.erase(f"{round_}c")
            given.append(transaction.insert(memory("again")))
            transaction.erase("again")
            transaction.erase(f"{round_}a")
        if is_closed:
            store.close()
            store = Store(path)
    with suppress(ZeroDivisionError), store.write() as transaction:
        transaction.insert(memory("taken back"))
        transaction.erase("taken back")
        raise ZeroDivisionError
    with store.write() as transaction:
        given.append(transaction.insert(memory("last")))
    store.close()
    assert given == list(range(1, 14))
    with Store(path) as other:
        assert other.deep_check() == []


def test_numbers_are_found_by_ids(path: Path) -> None:
    with Store(path) as store, store.write() as transaction:
        assert transaction.sequences_of(["b", "gone", FULL.id, "b"]) == {"b": 3, FULL.id: 2}
        assert transaction.sequences_of([]) == {}
        transaction.erase("b")
        assert transaction.sequences_of(["b"]) == {}
        transaction.insert(memory("b"))
        assert transaction.sequences_of(["b"]) == {"b": 4}


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
