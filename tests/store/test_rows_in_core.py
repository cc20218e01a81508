"""Rows that the core reads itself: which it hands out, from which state, and what it leaves to others."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pytest

from oneiros import _core
from oneiros.errors import StoreCorrupt
from oneiros.model.memory import Memory
from oneiros.store import Store, connections, loading
from oneiros.store.connections import StoreConnection
from oneiros.store.loading import load_memories, load_own_rows, load_rows
from oneiros.store.rows import StoredMemory
from tests.store.samples import FULL, add, memory

NUMBERS: list[int | None] = [1, 2, 3]
IDS = ["a", FULL.id, "b"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mind.db"
    with Store(path) as store:
        add(store, memory("a"), FULL, memory("b", text="naïve \0 café", tags=["x"]))
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[StoreConnection]:
    with Store(path) as store, store._readers.lend() as lent:
        yield lent


def changed(path: Path, sql: str, *values: object) -> None:
    with closing(apsw.Connection(str(path))) as other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute(sql, values)


def is_there(connection: StoreConnection) -> list[list[bool]]:
    """Which of the three are handed out, by each of the three ways."""
    found = (
        load_memories(connection, IDS, NUMBERS),
        load_rows(connection, IDS, NUMBERS),
        load_own_rows(connection, IDS, NUMBERS),
    )
    return [[one is not None for one in each] for each in found]


def test_sound_rows_are_what_was_written(connection: StoreConnection) -> None:
    found = load_memories(connection, IDS, NUMBERS)
    assert found == [memory("a"), FULL, memory("b", text="naïve \0 café", tags=["x"])]
    rows = load_rows(connection, IDS, NUMBERS)
    sql = loading.select("memory.sequence IN (1, 2, 3)")
    assert rows == list(connection.execute(sql))
    assert [StoredMemory._make(row or ()).memory() for row in rows] == found
    own = load_own_rows(connection, IDS, NUMBERS)
    assert [(row.id, row.text, row.tags) for row in own if row] == [
        ("a", "text of a", None),
        (FULL.id, FULL.text, rows[1].tags_json if rows[1] else ""),
        ("b", "naïve \0 café", '["x"]'),
    ]


def test_only_a_row_of_the_number_and_the_id_is_handed_out(connection: StoreConnection) -> None:
    ids = ["a", "b", "a", "a", "a", "\ud800"]
    numbers: list[int | None] = [1, 2, None, 99, -1, 1]
    for found in (
        load_memories(connection, ids, numbers),
        load_rows(connection, ids, numbers),
        load_own_rows(connection, ids, numbers),
    ):
        assert [one is not None for one in found] == [True, False, False, False, False, False]
    assert load_rows(connection, [], []) == []


@pytest.mark.parametrize(
    ("sql", "in_own"),
    [
        ("UPDATE memory SET text = 'other' WHERE sequence = 2", False),
        ("UPDATE memory SET text = CAST(x'ff' AS TEXT) WHERE sequence = 2", False),
        ("UPDATE memory SET checksum = 1.0 WHERE sequence = 2", False),
        ("UPDATE lifecycle SET strength = 0.125 WHERE sequence = 2", True),
        ("UPDATE lifecycle SET checksum = checksum + 1 WHERE sequence = 2", True),
        ("DELETE FROM lifecycle WHERE sequence = 2", True),
        ("DELETE FROM memory WHERE sequence = 2", False),
    ],
)
def test_a_row_that_is_not_as_it_was_written_keeps_back_itself_alone(
    path: Path, sql: str, *, in_own: bool
) -> None:
    changed(path, sql)
    with Store(path) as store, store._readers.lend() as connection:
        whole = [True, False, True]
        assert is_there(connection) == [whole, whole, [True, in_own, True]]


def test_what_no_object_can_be_made_of_is_left_out(path: Path) -> None:
    cells = ", ".join(
        f"{_core.column_salt(name=name)}, {name}" for name in loading.COVERED["memory"]
    )
    with closing(apsw.Connection(str(path))) as other:
        other.create_scalar_function("oneiros_checksum", _core.row_checksum)
        other.execute("UPDATE memory SET metadata = '[' WHERE sequence = 1")
        other.execute("UPDATE memory SET title = CAST(x'c3' AS TEXT) WHERE sequence = 3")
        # A function of Python's is not given such a text.
        other.execute(f"UPDATE memory SET checksum = oneiros_checksum({cells}) WHERE sequence = 1")
    with Store(path) as store:
        with store._readers.lend() as connection:
            assert is_there(connection) == [
                [False, True, False],
                [True, True, False],
                [True, True, False],
            ]
        first, second, third = store.load_each(IDS, NUMBERS)
        assert isinstance(first, StoreCorrupt)
        assert isinstance(second, Memory)
        assert isinstance(third, StoreCorrupt)


def test_rows_come_from_one_state(path: Path) -> None:
    """One writer changes two memories together; nobody sees one of them changed alone."""
    is_over = threading.Event()

    def set_both(store: Store, importance: float) -> None:
        with store.write() as transaction:
            for id in ("a", "b"):
                transaction.update(id, {"importance": importance})

    def write() -> None:
        with Store(path, durability="normal") as own:
            for number in itertools.count():
                if is_over.is_set():
                    return
                set_both(own, number % 1_000 / 1_000)

    with Store(path) as store:
        set_both(store, 0.0)
        writing = threading.Thread(target=write)
        writing.start()
        seen = set()
        try:
            while len(seen) < 50:
                with store._readers.lend() as connection:
                    first, second = load_memories(connection, ["a", "b"], [1, 3])
                assert first is not None
                assert second is not None
                assert first.importance == second.importance
                seen.add(first.importance)
        finally:
            is_over.set()
            writing.join()


def test_a_transaction_reads_what_it_wrote_itself(path: Path) -> None:
    with Store(path) as store, store.write() as transaction:
        transaction.update("a", {"text": "other"})
        (found,) = load_memories(transaction._connection, ["a"], [1])
        assert found is not None
        assert found.text == "other"
        assert transaction._connection.in_transaction
        assert store.load(["a"])[0] == memory("a")  # others do not


def test_no_transaction_is_left_open(connection: StoreConnection, path: Path) -> None:
    changed(path, "UPDATE memory SET text = 'other' WHERE sequence = 2")
    is_there(connection)
    assert not connection.in_transaction


def test_a_closed_connection_says_so(path: Path) -> None:
    with Store(path) as store:
        opened = store._readers.opened()
        reader, version = opened.memory_reader(loading._WHOLE), opened
        assert version.commit_version() > 0
        core_version = opened._data_version
        opened.close()
        with pytest.raises(RuntimeError, match="the reader is closed"):
            reader.rows(numbers=[1], ids=["a"])
        assert core_version is not None
        with pytest.raises(RuntimeError, match="it is closed"):
            core_version.read()
        with pytest.raises(apsw.ConnectionClosedError):
            opened.memory_reader(loading._OWN)
        with pytest.raises(apsw.ConnectionClosedError):
            opened.commit_version()


def test_a_collected_connection_closes(path: Path) -> None:
    with Store(path) as store:
        opened = store._readers.opened()
        assert is_there(opened)[0] == [True] * 3
        del opened  # with an unfinished statement it could not
        with closing(apsw.Connection(str(path))) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
    assert Path(path).exists()


def test_a_connection_closes_when_it_is_collected_before_its_readers(path: Path) -> None:
    with Store(path) as store:
        opened = store._readers.opened()
        reader, read_version = opened.memory_reader(loading._WHOLE), opened.read_version
        assert reader.rows(numbers=[1], ids=["a"]) != [None]
        assert read_version() is not None
        del opened
        with pytest.raises(RuntimeError, match="the reader is closed"):
            reader.rows(numbers=[1], ids=["a"])
        with pytest.raises(RuntimeError, match="it is closed"):
            read_version()


def test_a_number_moves_with_the_commits_of_others(path: Path) -> None:
    with Store(path) as store, Store(path) as other:
        opened = store._readers.opened()
        first = opened.commit_version()
        assert opened.commit_version() == first == opened.execute("PRAGMA data_version").get
        with other.write() as transaction:
            transaction.update("a", {"text": "other"})
        second = opened.commit_version()
        assert second != first
        assert opened.execute("PRAGMA data_version").get == second
        opened.close()


def test_a_sqlite_that_loads_no_extensions_is_read_row_by_row(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        msg = "no extensions"
        raise apsw.ExtensionLoadingError(msg)

    monkeypatch.setattr(_core, "has_sqlite", lambda: False)
    monkeypatch.setattr(connections, "_hand_over_sqlite", refused)
    with Store(path) as store:
        assert store.load_each(IDS, NUMBERS)[1] == FULL
        assert [row and row.id for row in store.own_rows(IDS, NUMBERS)] == IDS  # type: ignore[union-attr]
        with store.write() as transaction:
            transaction.update("a", {"text": "other"})
        assert store.revision() == 2


LOADED = '''
import ctypes, sys
from oneiros import _core
from oneiros.store import Store

def visible():
    """Return which symbols of the core and of the C++ runtime all libraries see."""
    process = ctypes.CDLL(None)
    return [name for name in ("PyInit__core", "_ZSt9terminatev") if hasattr(process, name)]

_core.__file__ = sys.argv[1]
before = visible()
with Store(sys.argv[2]) as store:
    store.load(["a"])
print(_core.has_sqlite(), visible() == before)
'''


@pytest.mark.parametrize("name", ["core.so", "core\udcff.so"], ids=["no file", "not UTF-8"])
def test_the_core_as_python_loaded_it_is_the_extension(path: Path, name: str) -> None:
    """The file may be gone or replaced, or its path may not be UTF-8."""
    command = [sys.executable, "-c", LOADED, str(path.with_name(name)), str(path)]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == (b"True True\n", b"")


def test_wrong_queries_are_refused(connection: StoreConnection) -> None:
    def query(*, width: int, kept: list[int] | None, id: int) -> _core.MemoryQuery:
        sql = "SELECT sequence, id FROM memory WHERE sequence = ?"
        return _core.MemoryQuery(sql=sql, width=width, kept=kept, id=id, checksums=[], ranges=None)

    with pytest.raises(ValueError, match="kept: expected places below 2, got 2"):
        query(width=2, kept=[1, 2], id=0)
    with pytest.raises(ValueError, match="id: expected a place below 2, got 2"):
        query(width=2, kept=None, id=2)
    reader = connection.memory_reader(query(width=2, kept=None, id=1))
    assert reader.rows(numbers=[3, 4], ids=["b", "c"]) == [(3, "b"), None]
    with pytest.raises(ValueError, match="ids: expected 2, as many as numbers, got 1"):
        reader.rows(numbers=[3, 4], ids=["b"])

    class Row(tuple[int, str]):
        __slots__ = ()

    class WithAttributes(tuple[int, str]):
        pass

    (made,) = reader.rows(numbers=[3], ids=["b"], type=Row)
    assert type(made) is Row
    assert made == (3, "b")
    for wrong in (WithAttributes, list):
        with pytest.raises(TypeError, match="type: must be a class of tuples without attributes"):
            reader.rows(numbers=[3], ids=["b"], type=wrong)
    # Of a statement that gives other columns, nothing is read.
    reader = connection.memory_reader(query(width=3, kept=None, id=1))
    assert reader.rows(numbers=[3], ids=["b"]) == [None]


@pytest.mark.parametrize("kind", ["rows", "version"])
def test_closing_beside_a_read_does_not_wait_for_it(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "plain.db")
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = StoreConnection(path, flags=flags, vfs=None)
    connection.execute("CREATE TABLE memory (sequence INTEGER PRIMARY KEY, id TEXT)")
    connection.set_busy_timeout(1_000)
    read: Callable[[], object] = connection.read_version
    close: Callable[[], None] | None = connection._data_version and connection._data_version.close
    if kind == "rows":
        sql = "SELECT sequence, id FROM memory WHERE sequence = ?"
        query = _core.MemoryQuery(sql=sql, width=2, kept=None, id=1, checksums=[], ranges=None)
        reader = connection.memory_reader(query)
        read, close = partial(reader.rows, numbers=[1], ids=["a"]), reader.close
    read()
    assert close is not None
    found: list[object] = []
    has_begun = threading.Event()

    def read_once() -> None:
        has_begun.set()
        found.append(read())

    with closing(apsw.Connection(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        reading = threading.Thread(target=read_once)
        reading.start()
        has_begun.wait()
        time.sleep(0.1)  # the read now waits for the lock of the file
        start = time.perf_counter()
        close()
        assert time.perf_counter() - start < 0.5
        reading.join()
    assert found == [[None] if kind == "rows" else None]
    connection.close()


ENDLESS = """
import threading, time
from oneiros import _core

class Row:
    __slots__ = ("value",)

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

def slow(value):
    time.sleep(0.01)
    return value

def work():
    while True:
        objects.made(rows=[([],)] * 20)

objects = _core.RowObjects(type=Row, slots=["value"], places=[0], converters=[slow])
late = Late()
late.late = late  # for the garbage collection at the end
for _ in range(16):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_ends_while_daemon_threads_make_objects_of_rows() -> None:
    command = [sys.executable, "-c", ENDLESS]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
