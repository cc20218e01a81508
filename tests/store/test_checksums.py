"""Every row has a checksum of all its columns, which no write takes damage over into."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from oneiros import _core
from oneiros.errors import StoreCorrupt
from oneiros.store import Store, checksums, schema
from oneiros.store.checksums import COVERED
from oneiros.store.cycles import StoredContent, StoredCycle
from oneiros.store.links import StoredLink
from oneiros.store.salvage import salvage
from oneiros.store.transaction import Transaction
from tests.store.samples import FULL, NOW, add, memory, run_sql

NOT_COVERED = {"checksum", "number", "changes", "new_embedding"}
CYCLE = StoredCycle(0, "cycle", 0, NOW, None, "{}", None)
CONTENTS = [StoredContent(1, "text", "C20", "before", "after")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with rows in every table, closed."""
    path = tmp_path / "mind.db"
    with Store(path, clock=lambda: NOW) as store:
        add(store, memory("a", superseded_by="b", topic="t"), FULL, memory("b", sessions=["s"]))
        with store.write() as transaction:
            transaction.set_link(StoredLink("a", "b", 2, 0.5, NOW, None))
            transaction.set_setting("embedder", "mini")
            transaction.feedback("a", "helpful", NOW)
            transaction.cycles.add_dream_cycle(CYCLE, CONTENTS)
            transaction.update_columns([("a", {"pinned": False})])
    return path


def damage_of(path: Path) -> list[str]:
    with Store(path) as store:
        return store.deep_check()


# What is covered


def test_all_columns_of_the_tables_are_covered(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        for table, columns in COVERED.items():
            found = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert set(columns) == found - NOT_COVERED
            assert "checksum" in found


def test_the_texts_of_all_tables_lie_on_the_first_page(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        pages = connection.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
        assert pages.fetchall() == [(1,)], (
            "the SQL of all tables no longer fits on the first page, which salvage needs: write it "
            "more tersely, or free room in a migration (store/schema.py)"
        )


_COLUMNS = [
    (table, column)
    for table in ("memory", "lifecycle")
    for column in COVERED[table]
    if column not in {"sequence", "id"}
]


@pytest.mark.parametrize(("table", "column"), _COLUMNS)
def test_another_value_in_any_column_of_a_memory_is_noticed(
    path: Path, tmp_path: Path, table: str, column: str
) -> None:
    other = f"(SELECT {column} FROM {table} AS full WHERE full.sequence = 2)"  # it makes sense
    changed = {"embedding": "X'00'", "revision": "revision + 1", "learned_at": "learned_at + 1"}
    value = changed.get(column, other)
    run_sql(path, f"UPDATE {table} SET {column} = {value} WHERE sequence = 3")
    with Store(path) as store:
        with pytest.raises(StoreCorrupt, match=r"memory 'b': .* damaged") as caught:
            store.load(["b"])
        assert (caught.value.memory_id, caught.value.sequence) == ("b", 3)
        assert store.load(["a", FULL.id])[1] == FULL
        assert any("memory 'b'" in one for one in store.deep_check())
    found = salvage(path, tmp_path / "new.db")
    assert found.memories + found.unreadable == 3
    assert found.unreadable == (table == "memory")
    assert found.begun_anew == (table == "lifecycle")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE link SET weight = 0.25",
        "UPDATE past SET kind = kind + 1",
        "UPDATE moment SET time = time + 1",
        "UPDATE link SET created_at = created_at + 1",
        "UPDATE setting SET value = 'maxi'",
        "UPDATE feedback_event SET verdict = 'outdated'",
        "UPDATE feedback_event SET kind = CAST(X'FF' AS TEXT)",
        "UPDATE memory SET checksum = checksum + 1 WHERE sequence = 1",
        "UPDATE memory SET checksum = NULL WHERE sequence = 1",
        "UPDATE memory SET text = CAST(X'FF' AS TEXT) WHERE sequence = 1",
        "UPDATE memory SET sequence = 4 WHERE sequence = 3",
        "DELETE FROM lifecycle WHERE sequence = 2",
        "DROP INDEX link_by_second",
    ],
)
def test_a_deep_check_tells_of_it(path: Path, sql: str) -> None:
    assert damage_of(path) == []
    run_sql(path, sql)
    if sql.startswith("DROP"):
        with pytest.raises(StoreCorrupt, match="link_by_second"):
            Store(path)
        return
    assert len(damage_of(path)) >= 1


@pytest.mark.parametrize("column", ["before", "after", "field", "rule", "sequence"])
def test_damaged_contents_of_a_cycle_are_not_handed_out(path: Path, column: str) -> None:
    with Store(path) as store, store.read() as reading:
        assert reading.cycles.dream_contents(1) == CONTENTS
    run_sql(path, f"UPDATE dream_content SET {column} = 7")
    told = "damaged changes of a dream cycle"
    with Store(path) as store, store.read() as reading, pytest.raises(StoreCorrupt, match=told):
        reading.cycles.dream_contents(1)


def test_a_damaged_cycle_can_be_read_and_says_so(path: Path) -> None:
    with Store(path) as store, store.read() as reading:
        assert [cycle.is_whole for cycle in reading.cycles.dream_cycles(9)] == [True]
    run_sql(path, "UPDATE dream_cycle SET report = '{ }'")
    with Store(path) as store, store.read() as reading:
        assert [cycle.is_whole for cycle in reading.cycles.dream_cycles(9)] == [False]


def test_a_damaged_setting_is_named_but_that_of_the_snapshot_is_left_out(path: Path) -> None:
    with Store(path) as store, store.write() as transaction:
        transaction.set_setting("snapshot", "token")
    run_sql(path, "UPDATE setting SET value = 'x' WHERE key = 'snapshot'")
    with Store(path) as store:
        assert store.settings() == {"embedder": "mini"}
    run_sql(path, "UPDATE setting SET value = 'x'")
    with Store(path) as store, pytest.raises(StoreCorrupt, match="the setting 'embedder'"):
        store.settings()


# Writes

WRITES: dict[str, Callable[[Transaction], object]] = {
    "update": lambda t: t.update("b", {"importance": 0.25, "updated_at": NOW, "tags": ["x"]}),
    "update a text": lambda t: t.update("b", {"text": "another", "updated_at": 7}),
    "update a state": lambda t: t.update("b", {"strength": 1, "sessions": frozenset("z")}),
    "set columns": lambda t: t.update_columns([("b", {"pinned": True, "core": True})]),
    "set no time": lambda t: t.update_columns([("b", {"event_at": None, "cold_since": -0.0})]),
    "count": lambda t: t.increment([("b", {"access_count": 3, "revision_count": 1})]),
    "count past the end": lambda t: t.increment([(FULL.id, {"access_count": 9})]),
    "sessions": lambda t: t.add_sessions([("b", ["s", "t"]), ("a", ["u"])]),
    "feedback": lambda t: t.feedback("b", "outdated", 5),
    "link": lambda t: t.set_link(StoredLink("b", "a", 1, 0.75, NOW + 1, 3.0)),
    "links": lambda t: t.set_links(
        [StoredLink("b", "a", 1, 1, NOW + 1, 3.0), StoredLink("b", FULL.id, 1, 0.1, 2, None)]
    ),
    "unlink": lambda t: t.remove_link("a", "b"),
    "unlink and link": lambda t: (
        t.remove_link("a", "b"),
        t.set_links([StoredLink("a", "b", 1, 0.5, 3.0, None)]),
    ),
    "erase": lambda t: t.erase("b"),
    "set": lambda t: t.set_setting("embedder", "maxi"),
    "lifecycle": lambda t: t.write_lifecycle([1, 3], {"strength": [1 / 3, 0], "tier": [1, 2]}),
    "both tables": lambda t: t.write_lifecycle(
        [1, 3], {"deleted_at": [NOW, None], "depth": [1, 2]}
    ),
    "text": lambda t: t.set_text("b", "a stub \0"),
    "cycle": lambda t: (
        t.cycles.add_dream_cycle(CYCLE._replace(id="c2"), []),
        t.cycles.forget_dream_changes(0),
    ),
    "insert": lambda t: t.insert_many([memory("c"), memory("d")], embedding_blobs=[b"x", None]),
    "duplicate": lambda t: t.count_duplicates(t.insert_many([memory("c", text="text of b")])),
    "replays": lambda t: t.cycles.keep_replays([1, 2], NOW),
}


@pytest.mark.parametrize("write", WRITES)
def test_every_write_leaves_sound_rows(path: Path, write: str) -> None:
    with Store(path) as store:
        with store.write() as transaction:
            WRITES[write](transaction)
        assert store.deep_check() == []
        with store.read() as reading:
            assert all(cycle.is_whole for cycle in reading.cycles.dream_cycles(9))
            for cycle in reading.cycles.dream_cycles(9):
                reading.cycles.dream_contents(cycle.number)


@pytest.mark.parametrize("write", [name for name in WRITES if name != "erase"])
def test_no_write_makes_damage_sound(path: Path, write: str) -> None:
    run_sql(path, "UPDATE memory SET title = 'topib' WHERE id = 'b'")
    run_sql(path, "UPDATE lifecycle SET stability = 7.5 WHERE sequence = 3")
    with Store(path) as store:
        with store.write() as transaction:
            WRITES[write](transaction)
        with pytest.raises(StoreCorrupt, match="memory 'b'"):
            store.load(["b"])


def test_an_older_file_is_sealed_when_it_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as connection:
        for step in schema.MIGRATIONS[:6]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 6")
        connection.execute("INSERT INTO setting VALUES ('embedder', 'mini', 1)")
    with Store(path) as store:
        assert store.deep_check() == []
        assert store.settings() == {"embedder": "mini"}


# The core


@pytest.mark.parametrize("one", [5, 0, -(2**53), 2**63 - 1, 0.5, "", "text", b"", b"text", None])
def test_a_cell_has_one_checksum_a_column(one: object) -> None:
    salts = [_core.column_salt(name=name) for name in ("text", "title")]
    found = {_core.row_checksum(salt, one) for salt in salts}
    assert len(found) == (1 if one is None else 2)
    before = _core.row_checksum(salts[0], one, salts[1], "kept")
    after = _core.row_checksum_after(before, salts[0], one, 7)
    assert after == _core.row_checksum(salts[0], 7, salts[1], "kept")


def test_equal_numbers_count_as_one() -> None:
    assert _core.row_checksum(1, 5) == _core.row_checksum(1, 5.0) == _core.row_checksum(1, 5.0)
    assert _core.row_checksum(1, 0.0) == _core.row_checksum(1, -0.0) != 0
    assert _core.row_checksum(1, True) == _core.row_checksum(1, 1)
    assert _core.row_checksum(1, float("nan")) == _core.row_checksum(1, None) == 0
    assert _core.row_checksum(1, "5") != _core.row_checksum(1, b"5") != _core.row_checksum(1, 5)


def test_what_is_no_cell_is_refused() -> None:
    for cells, error in (((1,), TypeError), ((1, []), TypeError), ((1, 2**63), OverflowError)):
        with pytest.raises(error):
            _core.row_checksum(*cells)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="row_checksum_after: expected"):
        _core.row_checksum_after(1, 2, 3)
    with pytest.raises(ValueError, match="places: expected 1"):
        _core.RowChecksum(columns=["text"], places=[], checksum_place=0)
    check = _core.RowChecksum(columns=["text"], places=[3], checksum_place=0)
    with pytest.raises(IndexError, match="no place 3"):
        check.of(rows=[(1, 2)])
    with pytest.raises(TypeError, match="expected tuples"):
        check.of(rows=[7])  # type: ignore[list-item]


def test_rows_and_sql_agree(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        checksums.register(connection)
        for table, columns in COVERED.items():
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            held = connection.execute(f"SELECT checksum FROM {table}").fetchall()
            assert [(number,) for number in checksums.checksums_of(table, rows)] == held
            sound = connection.execute(f"SELECT {checksums.is_sound(table)} FROM {table}")
            assert set(sound) == {(1,)}


# Numbers in their ranges, and memories made of rows


def resealed(path: Path, table: str, assignment: str, sequence: int) -> None:
    """Change a row as a hostile file would: with a checksum that is right."""
    with closing(apsw.Connection(str(path))) as connection:
        checksums.register(connection)
        cells = ", ".join(f"{_core.column_salt(name=name)}, {name}" for name in COVERED[table])
        connection.execute("PRAGMA ignore_check_constraints = ON")
        where = f"WHERE sequence = {sequence}"
        connection.execute(f"UPDATE {table} SET {assignment} {where}")
        connection.execute(f"UPDATE {table} SET checksum = oneiros_checksum({cells}) {where}")


@pytest.mark.parametrize(
    ("table", "assignment"),
    [
        ("memory", "importance = 1.5"),
        ("memory", "importance = -0.25"),
        ("memory", "importance = 9e999"),
        ("memory", "category = 3"),
        ("memory", "category = -1"),
        ("memory", "priority = 9223372036854775807"),
        ("memory", "ttl = -1.0"),
        ("lifecycle", "strength = 1.5"),
        ("lifecycle", "depth = 0"),
        ("lifecycle", "core = 2"),
        ("lifecycle", "tier = 3"),
        ("lifecycle", "session_spread = 0"),
        ("lifecycle", "last_accessed_at = 9e999"),
        ("lifecycle", "feedback = 40000"),
    ],
)
def test_a_number_out_of_its_range_is_refused_whatever_its_checksum(
    path: Path, table: str, assignment: str
) -> None:
    is_any_time = assignment.startswith(
        "ttl"
    )  # of float64 columns of the wide row, any number does
    resealed(path, table, assignment, 3)
    with Store(path) as store:
        first = store.load_each(["a", "b"], [2, 3])
        again = store.load_each(["b"], [None])
        assert first[0] is not None
        if is_any_time:
            assert not isinstance(first[1], StoreCorrupt)
            return
        for one in (first[1], again[0]):
            assert isinstance(one, StoreCorrupt)
            assert str(one) == "memory 'b': a value in the store lies outside its field's range"
        with pytest.raises(StoreCorrupt, match="memory 'b': a value in the store lies outside"):
            list(store.changes(0))


@pytest.mark.parametrize("assignment", ["tags = '{}'", "tags = '[1]'", "metadata = '[]'"])
def test_json_of_another_kind_is_refused_whatever_its_checksum(path: Path, assignment: str) -> None:
    resealed(path, "memory", assignment, 3)
    with Store(path) as store:
        first, second = store.load_each(["a", "b"], [2, 3])
        assert not isinstance(first, StoreCorrupt)
        assert isinstance(second, StoreCorrupt)
        assert "memory 'b': JSON in the store is not what its field holds" in str(second)


def test_a_memory_without_a_lifecycle_says_so(path: Path) -> None:
    run_sql(path, "DELETE FROM lifecycle WHERE sequence = 3")
    with Store(path) as store:
        (found,) = store.load_each(["b"], [3])
        assert str(found) == "memory 'b': its lifecycle is not in the store"
        (own,) = store.own_rows(["b"], [3])
        assert not isinstance(own, StoreCorrupt)
        assert own is not None
        assert own.text == "text of b"


def test_ranges_hold_numbers_alone() -> None:
    check = _core.RowRanges(places=[0, 1], lows=[1, 0], highs=[3, 1], nullable=[False, True])
    sound = [(1, 0.0), (3, 1), (2.5, None), (True, 1.0)]
    assert check.outside(rows=sound) == []
    wrong: list[tuple[object, ...]] = [(0, 0), (1, 1.5), (None, 0), ("2", 0), (2, b""), (2, "")]
    assert check.outside(rows=[sound[0], *wrong]) == [1, 2, 3, 4, 5, 6]
    assert check.outside(rows=[(1, float("nan")), (float("inf"), 0)]) == [0, 1]
    with pytest.raises(IndexError, match="no place 1"):
        check.outside(rows=[(1,)])
    with pytest.raises(TypeError, match="expected tuples"):
        check.outside(rows=[7])  # type: ignore[list-item]
    with pytest.raises(OverflowError):
        check.outside(rows=[(2**63, 0)])
    with pytest.raises(ValueError, match="highs: expected 1, as many as places, got 0"):
        _core.RowRanges(places=[0], lows=[1], highs=[], nullable=[True])


def test_objects_are_made_of_rows_by_their_slots() -> None:
    class Pair:
        __slots__ = ("one", "other")

        def __init__(self) -> None:
            pytest.fail("__init__ was called")

        def __setattr__(self, name: str, value: object) -> None:
            pytest.fail("it is frozen")

    made = _core.RowObjects(
        type=Pair, slots=["one", "other"], places=[2, 0], converters=[None, len]
    )
    first, second = made.made(rows=[("abc", 5, None), ("", 5, "x")])
    assert (first.one, first.other) == (None, 3)
    assert (second.one, second.other) == ("x", 0)
    assert made.made(rows=[]) == []
    with pytest.raises(TypeError, match="has no len"):
        made.made(rows=[(7, 7, 7)])
    with pytest.raises(IndexError, match="no place 2"):
        made.made(rows=[("a", "b")])
    with pytest.raises(TypeError, match="expected tuples"):
        made.made(rows=["abc"])  # type: ignore[list-item]
    for slots, error in ((["third"], TypeError), (["__init__"], TypeError), ([], ValueError)):
        with pytest.raises(error):
            _core.RowObjects(type=Pair, slots=slots, places=[0], converters=[None])
    made.fill(objects=[first, second], rows=[("four", 0, None), None])
    assert (first.one, first.other) == (None, 4)
    assert (second.one, second.other) == ("x", 0)
    made.fill(objects=[second], rows=[(None, 0, 5)])
    assert (second.one, second.other) == (5, 0)
    with pytest.raises(ValueError, match="rows: expected 2"):
        made.fill(objects=[first, second], rows=[None])
    with pytest.raises(TypeError, match="doesn't apply"):
        made.fill(objects=["abc"], rows=[("a", 0, 0)])  # type: ignore[list-item]
