"""One memory stored by one call of the core: the same bytes as a transaction writes, or nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneiros import _core
from oneiros.errors import EngineClosed, StorePoisoned
from oneiros.model.memory import checked_values
from oneiros.store import Store
from oneiros.store.erased import SALT_SETTING
from oneiros.store.rows import Cells, cells_of, encoded_embedding
from tests.store.faulty_vfs import FAILURES, Plan, registered
from tests.store.samples import NOW, add, memory, rows
from tests.write.test_record_columns import GIVEN

TEXTS = st.text(max_size=40)
MORE = {
    "text": TEXTS,
    "title": TEXTS,
    "topic": st.text(min_size=1, max_size=9),
    "tags": st.lists(TEXTS, max_size=3),
    "metadata": st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS, max_size=3),
    "created_at": st.floats(-1e9, 4e9),
    "last_accessed_at": st.floats(0, 4e9),
    "importance": st.floats(0, 1),
    "stability": st.floats(1e-6, 1e6),
    "access_count": st.integers(0, 2**32 - 1),
    "feedback": st.integers(-(2**15), 2**15 - 1),
    "core": st.booleans(),
    "embedding": st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=9),
}
FIELDS = {name: made for name, made in (GIVEN | MORE).items() if name != "superseded_by"}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.sets(st.sampled_from(sorted(FIELDS))))
    record = {name: draw(FIELDS[name]) for name in names}
    record.pop("session_spread", None)
    return {"text": "", **record, "id": f"id {draw(st.text(max_size=5))}"}


def cells(record: dict[str, Any]) -> Cells:
    values = checked_values(record, now=NOW)
    made = cells_of(values)
    if values.get("embedding") is not None:
        made["embedding"] = encoded_embedding(values["embedding"])
    return made


def dump(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every table as SQLite holds it, its numbers by their kind and texts by their bytes."""
    found = {}
    with store.read() as reading:
        tables = [
            row[0] for row in reading.rows("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        for table in tables:
            names = [row[1] for row in reading.rows(f"PRAGMA table_info({table})")]
            held = ", ".join(f"typeof({name}), hex({name}), quote({name})" for name in names)
            found[table] = reading.rows(f"SELECT {held} FROM {table}")
        salt = SALT_SETTING.encode().hex().upper()
        found["setting"] = [row for row in found["setting"] if salt not in row]  # random
    return found


def insert(store: Store, record: Cells, last: int, into: list[Cells] | None = None) -> bool:
    return store.insert_one(record, last, [] if into is None else into, is_timed=True)


@given(
    given=st.lists(records(), min_size=1, max_size=4, unique_by=lambda one: one["id"]),
    times=st.lists(st.floats(-1e9, 4e9), min_size=4, max_size=4),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_the_tables_hold_what_a_transaction_writes(
    given: list[dict[str, Any]], times: list[float]
) -> None:
    time = 0.0
    clock: Any = lambda: time
    with Store(":memory:", clock=clock) as one, Store(":memory:", clock=clock) as other:
        told: list[Cells] = []
        for record, time in zip(map(cells, given), times, strict=False):  # noqa: B007
            revision = one.revision()
            if any(record["text"] == held["text"] for held in told):
                assert not insert(other, record, revision, told)
                break
            columns = {name: [cell] for name, cell in record.items()}
            with one.write() as transaction:
                sequences = transaction.insert_columns(columns, {})
                assert not transaction.count_duplicates(sequences)
            assert insert(other, record, revision, told)
            assert told[-1] is record
            assert record["revision"] == record["own_revision"] == one.revision()
        assert dump(other) == dump(one)
        assert other.deep_check() == []
        held = rows(other)
        assert [row.sequence for row in held] == [record["sequence"] for record in told]
        assert [row.own_checksum for row in held] == [record["own_checksum"] for record in told]
        assert [row.state_checksum for row in held] == [record["state_checksum"] for record in told]


def test_nothing_is_stored_where_others_have_to_do_with_it(store: Store) -> None:
    add(store, memory("a"), memory("old", superseded_by="new"))
    before = dump(store)
    for record, last in (
        ({"id": "a", "text": "x"}, 1),  # the id exists
        ({"id": "b", "text": "text of a"}, 1),  # it counts as a duplicate
        ({"id": "new", "text": "x"}, 1),  # "old" is superseded from then on
        ({"id": "b", "text": "x"}, 0),  # what others committed is not known
        ({"id": "b", "text": "x"}, 2),
    ):
        made = cells(record)
        told: list[Cells] = []
        assert not insert(store, made, last, told)
        assert not told
        assert "sequence" not in made
        assert dump(store) == before
    with store.write() as transaction:
        assert not insert(store, cells({"id": "b", "text": "x"}), 1)
        transaction.insert(memory("c"))
    assert insert(store, cells({"id": "b", "text": "x"}), 2)
    assert [row.id for row in rows(store)] == ["a", "old", "c", "b"]


def test_it_follows_the_last_that_is_in_the_list(store: Store) -> None:
    told: list[Cells] = []
    for name in "abc":
        assert insert(store, cells({"id": name, "text": name}), 0, told)
    assert [one["revision"] for one in told] == [1, 2, 3]
    assert store.revision() == 3


def test_commits_by_both_ways_go_on_from_each_other(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as one, Store(tmp_path / "mind.db") as other:
        for number in range(1, 25):
            store = other if number % 5 == 0 else one
            if number % 3:
                made = cells({"id": f"m{number}", "text": str(number)})
                assert insert(store, made, number - 1)
                assert made["sequence"] == number
            else:
                add(store, memory(f"m{number}"))
            assert one.revision() == other.revision() == number
        with one.write() as transaction:
            transaction.erase("m24")
        made = cells({"id": "next", "text": "next"})
        assert insert(one, made, 25)
        assert made["sequence"] == 25  # the number of an erased memory is not given again
        assert one.deep_check() == []


def test_it_does_not_wait_for_whoever_writes(store: Store) -> None:
    lock = store._writer._lock
    record = {"id": "a", "text": "a"}
    with lock:  # by this thread: a signal handler, of a read of a store in memory
        assert not insert(store, cells(record), 0)
    has_lock, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            has_lock.set()
            is_over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    has_lock.wait()
    assert not insert(store, cells(record), 0)
    is_over.set()
    thread.join()
    assert insert(store, cells(record), 0)
    assert not lock._is_owned()  # type: ignore[attr-defined]


def test_another_process_that_writes_is_waited_for_elsewhere(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as one, Store(tmp_path / "mind.db") as other:
        with other.write() as transaction:
            transaction.insert(memory("a"))
            assert not insert(one, cells({"id": "b", "text": "b"}), 0)
        assert insert(one, cells({"id": "b", "text": "b"}), 1)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "mind.db")
    assert insert(store, cells({"id": "a", "text": "a"}), 0)
    store.close()
    with pytest.raises(EngineClosed):
        insert(store, cells({"id": "b", "text": "b"}), 1)


def test_no_handler_of_progress_is_ever_called(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db", durability="normal") as store:
        called: list[int] = []
        told: list[Cells] = []
        assert insert(store, cells({"id": "first", "text": "first"}), 0, told)
        store._writer.connection.set_progress_handler(lambda: bool(called.append(1)), 400)
        for number in range(300):
            assert insert(store, cells({"id": str(number), "text": str(number)}), 0, told)
        assert not called


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("number", range(1, 40))
def test_what_fails_on_the_disk_ends_writing_and_loses_nothing(
    tmp_path: Path, number: int, failure: str
) -> None:
    plan = Plan(failure=failure, is_lasting=False)
    with registered(plan) as vfs, Store(tmp_path / "mind.db", vfs=vfs) as store:
        assert insert(store, cells({"id": "a", "text": "a"}), 0)
        plan.at = plan.count + number
        is_stored = insert(store, cells({"id": "b", "text": "b" * 9_000}), 1)
        if not is_stored:
            assert plan.failed
            with pytest.raises(StorePoisoned, match="a write failed"), store.write():
                pytest.fail("a poisoned store let a write begin")
            assert not insert(store, cells({"id": "d", "text": "d"}), 1)
        plan.at = 0
        assert [row.id for row in rows(store)] == (["a", "b"] if is_stored else ["a"])
    with Store(tmp_path / "mind.db") as again:
        assert again.deep_check() == []
        ids = [row.id for row in rows(again)]
        assert ids == ["a", "b"] if is_stored else ids in (["a"], ["a", "b"])
        add(again, memory("after"))


def test_after_a_failed_transaction_not_even_the_first_one_is_stored(tmp_path: Path) -> None:
    plan = Plan(kinds=("sync",))
    with registered(plan) as vfs, Store(tmp_path / "mind.db", vfs=vfs) as store:
        plan.at = plan.count + 1
        with pytest.raises(StorePoisoned), store.write() as transaction:
            transaction.insert(memory("a"))
        plan.at = 0
        assert not insert(store, cells({"id": "b", "text": "b"}), 0)
        with pytest.raises(StorePoisoned):
            add(store, memory("c"))


def test_a_full_store_takes_it_back_and_the_next_one_works(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        assert insert(store, cells({"id": "a", "text": "a"}), 0)
        store._writer.connection.execute("PRAGMA max_page_count = 40")
        assert not insert(store, cells({"id": "b", "text": "b" * 500_000}), 1)
        store._writer.connection.execute("PRAGMA max_page_count = 10000")
        assert insert(store, cells({"id": "b", "text": "b" * 500_000}), 1)
        assert store.quick_check() == []


def test_the_core_says_what_is_wrong_with_a_plan() -> None:
    check = _core.RowChecksum(columns=["a"], places=[0], checksum_place=0)
    statements = ("memory", "lifecycle", "last_revision", "next_sequence", "last_moment", "moment")
    plan: dict[str, Any] = dict.fromkeys(statements, "")
    plan |= dict.fromkeys(("memory_checksum", "lifecycle_checksum", "moment_checksum"), check)
    with pytest.raises(ValueError, match="obstacles: expected places below 1, got 1"):
        _core.MemoryInsert(obstacles=[("", 1)], **plan)
    with Store(":memory:") as store:
        made = _core.MemoryInsert(obstacles=[], **plan)
        writer = _core.MemoryWriter(
            connection=store._writer.connection._address(), insert=made, stops_when_full=False
        )
        given: dict[str, Any] = {"record": {}, "into": [], "lock": threading.RLock(), "time": None}
        with pytest.raises(ValueError, match="memory: expected 1 cells, got 2"):
            writer.insert(memory=[1, 2], lifecycle=[1], last_revision=0, **given)
        with pytest.raises(TypeError, match="cell: expected int"):
            writer.insert(memory=[1j], lifecycle=[1], last_revision=0, **given)
        assert not writer.insert(memory=[1], lifecycle=[1], last_revision=0, **given)
        writer.close()
        assert not writer.insert(memory=[1], lifecycle=[1], last_revision=0, **given)
        assert writer.failure is None
