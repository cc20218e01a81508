"""Rows inserted by column in the core: the same as statements of Python insert, or an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core
from oneiros.errors import DuplicateId
from oneiros.store import Store, connections
from oneiros.store.checksums import COVERED, check_of, insert_of
from oneiros.store.connections import StoreConnection
from tests.store.samples import memory
from tests.store.test_single_insert import dump

TABLE = "CREATE TABLE setting (key TEXT PRIMARY KEY, value ANY, revision INTEGER, checksum INTEGER)"
SQL = "INSERT INTO setting VALUES (?, ?, ?, ?)"
CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    st.binary(max_size=9),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.db"


def opened() -> StoreConnection:
    connection = connections._connected(":memory:", vfs=None, busy_milliseconds=0)
    connection.execute(TABLE)
    return connection


def insert(connection: StoreConnection, columns: list[Any], count: int) -> list[int]:
    return connection.insert_rows("setting", SQL, columns, count)


def held(connection: StoreConnection) -> list[Any]:
    return list(connection.execute("SELECT *, typeof(value) FROM setting ORDER BY rowid"))


@given(values=st.lists(CELLS, min_size=1, max_size=30), shared=CELLS, is_shared=st.booleans())
@settings(deadline=None)
def test_rows_are_those_that_sql_inserts(values: list[Any], shared: Any, is_shared: bool) -> None:
    columns = [[f"key {n}" for n in range(len(values))], shared if is_shared else values, 7]
    ours, theirs = opened(), opened()
    checksums = insert(ours, columns, len(values))
    for number, value in enumerate(values):
        row = (columns[0][number], shared if is_shared else value, 7)
        theirs.execute(insert_of("setting"), row)
    assert held(ours) == held(theirs)
    assert checksums == [row[3] for row in held(theirs)]
    ours.close()
    theirs.close()


def test_a_statement_is_used_again_for_other_columns() -> None:
    connection = opened()
    insert(connection, [["a", "b"], "shared", 1], 2)
    insert(connection, [["c"], ["own"], [2]], 1)
    insert(connection, [["d", "e"], [b"x", None], 3], 2)
    assert [row[:3] for row in held(connection)] == [
        ("a", "shared", 1),
        ("b", "shared", 1),
        ("c", "own", 2),
        ("d", b"x", 3),
        ("e", None, 3),
    ]
    connection.close()


def test_a_refused_row_raises_sqlites_error_and_the_next_batch_goes_on() -> None:
    connection = opened()
    with pytest.raises(
        apsw.ConstraintError, match=r"UNIQUE constraint failed: setting\.key"
    ) as refused:
        insert(connection, [["a", "b", "a", "c"], None, 1], 4)
    assert refused.value.extendedresult == apsw.SQLITE_CONSTRAINT_PRIMARYKEY
    assert [row[0] for row in held(connection)] == ["a", "b"]
    insert(connection, [["c"], None, 1], 1)
    assert [row[0] for row in held(connection)] == ["a", "b", "c"]
    connection.close()


def test_a_statement_that_sqlite_rejects_raises_its_error() -> None:
    connection = opened()
    connection.execute("DROP TABLE setting")
    with pytest.raises(apsw.SQLError, match="no such table: setting"):
        insert(connection, [["a"], None, 1], 1)
    connection.execute(TABLE)
    assert len(insert(connection, [["a"], None, 1], 1)) == 1
    connection.close()


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ([["a", "b"], None], ValueError, "columns: expected 3, got 2"),
        ([["a"], None, 1], ValueError, r"columns\[0\]: expected 2 cells, got 1"),
        ([["a", "b"], ["x", object()], 1], TypeError, "cell: expected int, float, str, bytes"),
        ([["a", "\ud800"], None, 1], UnicodeEncodeError, "surrogates not allowed"),
        ([["a", "b"], [1, 2**63], 1], OverflowError, "too big"),
    ],
)
def test_wrong_cells_are_refused_before_a_row_is_inserted(
    columns: list[Any], error: type[Exception], words: str
) -> None:
    connection = opened()
    with pytest.raises(error, match=words):
        insert(connection, columns, 2)
    assert held(connection) == []
    connection.close()


def test_a_handlers_exception_stops_the_rows_and_is_raised() -> None:
    connection = opened()
    calls = []

    def interrupted() -> bool:
        calls.append(len(calls))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return False

    connection.set_progress_handler(interrupted, 1_000)
    keys = [f"key {n}" for n in range(5_000)]
    with pytest.raises(KeyboardInterrupt):
        insert(connection, [keys, None, 1], len(keys))
    connection.set_progress_handler(None)
    assert 0 < len(held(connection)) < len(keys)
    connection.close()


def test_no_rows_insert_nothing() -> None:
    connection = opened()
    assert insert(connection, [[], None, 1], 0) == []
    assert held(connection) == []
    connection.close()


def test_a_closed_connection_has_no_statement_left(path: Path) -> None:
    with Store(path) as store, store.write() as transaction:
        transaction.insert_many([memory("a")])
        inserters = list(store._writer.connection._row_inserters.values())
    assert len(inserters) == 2
    assert not store._writer.connection._row_inserters
    with pytest.raises(RuntimeError, match="closed"):
        inserters[0].insert(columns=[["a"], None, 1], count=1)
    assert not path.with_name(f"{path.name}-wal").exists()  # the last connection was closed


def test_an_import_equals_one_without_the_core(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [memory(f"m{n}", text=f"text {n % 3}", importance=n / 50) for n in range(50)]

    def refused() -> None:
        raise apsw.ExtensionLoadingError

    with Store(path) as ours, ours.write() as transaction:
        transaction.insert_many(batch)
    with Store(path) as ours:
        found = dump(ours)
    with monkeypatch.context() as patched:
        patched.setattr(_core, "has_sqlite", lambda: False)
        patched.setattr(connections, "_hand_over_sqlite", refused)
        with Store(path.with_name("other.db")) as other, other.write() as transaction:
            transaction.insert_many(batch)
    with Store(path.with_name("other.db")) as other:
        assert found["memory"] == dump(other)["memory"]
        assert found["lifecycle"] == dump(other)["lifecycle"]
        assert len(found["memory"]) == 50


def test_a_duplicate_in_the_middle_inserts_none(path: Path) -> None:
    batch = [memory(f"m{n}") for n in range(30)]
    with Store(path) as store:
        with pytest.raises(DuplicateId, match="'m3'"), store.write() as transaction:
            transaction.insert_many([*batch, memory("m3")])
        with store.write() as transaction:
            transaction.insert_many(batch)
        with store.read() as reading:
            assert reading.rows("SELECT count(*) FROM memory") == [(30,)]


def test_the_check_covers_the_columns_in_their_order() -> None:
    assert COVERED["setting"] == ("key", "value", "revision")
    columns = [["a"], "x", 1]
    connection = opened()
    assert insert(connection, columns, 1) == check_of("setting").of(rows=[("a", "x", 1)])
    connection.close()
