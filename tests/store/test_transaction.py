"""Transaction: all of a block or none of it, and what each write does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from oneiros.errors import DuplicateId, OneirosError, UnknownMemory
from oneiros.model.memory import Memory
from oneiros.store import Store, StoredLink
from oneiros.store.forking import GATE
from tests.store.samples import BLOB, FULL, add, erased_of, feedback_events, memory, rows


def test_an_exception_takes_everything_back(store: Store) -> None:
    def fail() -> None:
        with store.write() as transaction:
            transaction.insert(memory("a"))
            transaction.set_setting("k", "v")
            raise KeyError("mine")  # noqa: EM101

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert (store.count(), store.revision(), store.settings()) == (0, 0, {})


# Whether a memory is superseded depends on other rows.
ALONE = replace(FULL, superseded_by=None)
PLAIN = [memory("plain"), memory("empty", text=""), memory("old", created_at=-0.0, ttl=1)]


@pytest.mark.parametrize(
    "memories", [[ALONE], PLAIN, [*PLAIN, ALONE]], ids=["full", "plain", "both"]
)
def test_what_is_said_of_fresh_rows_is_what_is_read(store: Store, memories: list[Memory]) -> None:
    add(store, memory("before"))
    with store.write() as transaction:
        transaction.insert_many(memories, embedding_blobs=[BLOB] * len(memories))
        fresh = transaction.fresh_columns()
    assert fresh is not None
    (columns,) = fresh
    told = columns.rows()
    assert told == rows(store, after=1)
    for mine, read in zip(told, rows(store, after=1), strict=True):
        assert [*map(type, mine)] == [*map(type, read)]
        assert mine.memory() == read.memory()


def test_nothing_is_said_of_fresh_rows_where_more_was_written(store: Store) -> None:
    with store.write() as transaction:
        transaction.insert(FULL)  # names a successor
        assert transaction.fresh_columns() is None
        transaction.erase(FULL.id)
    add(store, memory("a"))
    with store.write() as transaction:
        assert transaction.fresh_columns() is None
        transaction.insert_many([])
        assert transaction.fresh_columns() is None
        transaction.insert(memory("b"))
        assert transaction.fresh_columns() is not None
        transaction.increment([("a", {"access_count": 1})])
        assert transaction.fresh_columns() is None
    for write in ("setting", "erase", "update"):
        with store.write() as transaction:
            transaction.insert(memory(write))
            if write == "setting":
                transaction.set_setting("k", "v")
            elif write == "erase":
                transaction.erase("a")
            else:
                transaction.update_columns([("b", {"deleted_at": 1.0})])
            assert (transaction.fresh_columns() is None) == (write != "setting")


def test_revisions_go_on_from_what_others_committed(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as one, Store(tmp_path / "mind.db") as other:
        revisions = []
        for number in range(12):
            store = other if number in (3, 4, 8) else one
            with store.write() as transaction:
                revisions.append(transaction.revision)
                if number == 6:
                    continue  # writes nothing, and leaves its number to the next
                if number % 5 == 2:
                    transaction.set_setting("k", str(number))
                else:
                    transaction.insert(memory(f"m{number}"))
        assert revisions == [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11]
        assert one.revision() == other.revision() == 11


def test_a_transaction_sees_its_own_writes_and_readers_do_not(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store, store.write() as transaction:
        transaction.insert(memory("a"))
        assert [row.id for part in transaction.changes(0) for row in part] == ["a"]
        assert transaction.load(["a"]) == [memory("a")]
        assert store.load(["a"]) == [None]


def test_a_duplicate_is_named_and_leaves_the_rest(store: Store) -> None:
    with store.write() as transaction:
        transaction.insert(memory("a"))
        with pytest.raises(DuplicateId, match="'a' exists"):
            transaction.insert(memory("a", text="other"))
        with pytest.raises(DuplicateId, match="'c' exists in the store, or comes twice"):
            transaction.insert_many([memory("b"), memory("c"), memory("c")])
        with pytest.raises(DuplicateId, match="'a'"):
            transaction.insert_many([memory("b"), memory("a")])
        transaction.insert(memory("d"))
    assert [row.id for row in rows(store)] == ["a", "d"]


def test_a_batch_that_fails_half_way_adds_nothing(store: Store) -> None:
    bad = Memory(id="b", text="x", created_at=0.0, updated_at=0.0, canonical_layer="nowhere")
    with store.write() as transaction:
        with pytest.raises(KeyError, match="nowhere"):
            transaction.insert_many([memory("a"), bad])
        with pytest.raises(ValueError, match="embedding_blobs: must be one for each of the 1"):
            transaction.insert_many([memory("a")], embedding_blobs=[])
    assert store.count() == 0


def test_update_counts_a_revision_and_update_columns_does_not(store: Store) -> None:
    add(store, FULL, memory("b"))
    with store.write() as transaction:
        transaction.update(
            "b", {"tags": ["x"], "metadata": {"k": 1}, "category": "episodic", "pinned": True}
        )
        assert transaction.update_columns([("b", {"stability": 3.0}), (FULL.id, {})]) == 1
    found = store.load(["b"])[0]
    wanted = memory("b", tags=["x"], metadata={"k": 1}, category="episodic", pinned=True)
    assert found is not None
    assert (found.tags, found.metadata, found.category) == (["x"], {"k": 1}, "episodic")
    assert (found.pinned, found.revision_count, found.stability) == (True, 1, 3.0)
    assert found != wanted
    assert store.load([FULL.id]) == [FULL]


def test_every_field_but_the_id_can_be_changed_and_emptied(store: Store) -> None:
    add(store, memory("full\0id", text="before"))
    changes = {name: getattr(FULL, name) for name in FULL.to_record() if name != "id"}
    with store.write() as transaction:
        transaction.update(FULL.id, changes)
    assert store.load([FULL.id]) == [FULL]
    plain = memory("full\0id", text="before")
    with store.write() as transaction:
        transaction.update(FULL.id, {name: getattr(plain, name) for name in changes})
    assert store.load([FULL.id]) == [plain]


def test_an_update_names_what_is_wrong(store: Store) -> None:
    with store.write() as transaction:
        with pytest.raises(UnknownMemory, match="no memory has the id 'x'"):
            transaction.update("x", {"importance": 1.0})
        with pytest.raises(ValueError, match="field: must be one of a memory's fields but id"):
            transaction.update("x", {"id": "y"})
        with pytest.raises(ValueError, match=r"field: .*got 'x = 1; --'"):
            transaction.update_columns([("x", {"x = 1; --": 1})])


def test_counters_are_differences_and_stop_at_their_ends(store: Store) -> None:
    add(store, FULL, memory("b", feedback=-32_767))
    with store.write() as transaction:
        changes = [
            (FULL.id, {"access_count": 2}),
            ("b", {"access_count": 2}),
            ("gone", {"access_count": 2}),
            ("b", {"access_count": -1, "feedback": -5}),
        ]
        assert transaction.increment(changes) == 3
        with pytest.raises(ValueError, match="counter: must be one of access_count"):
            transaction.increment([("b", {"importance": 1})])
    full, other = store.load([FULL.id, "b"])
    assert full is not None
    assert other is not None
    assert full.access_count == 2**32 - 1
    assert (other.access_count, other.feedback) == (1, -32_768)


def test_sessions_are_a_set_and_the_spread_its_size(store: Store) -> None:
    add(store, memory("a", session="s1"), memory("b", session_spread=5))
    with store.write() as transaction:
        assert transaction.add_sessions([("a", ["s1"]), ("gone", ["s1"])]) == 0
        assert transaction.add_sessions([("a", ["s2", "s3"]), ("b", ["s1"]), ("a", ["s4"])]) == 2
    first, second = store.load(["a", "b"])
    assert first is not None
    assert second is not None
    assert (first.sessions, first.session_spread) == ({"s1", "s2", "s3", "s4"}, 4)
    assert (second.sessions, second.session_spread) == ({"s1"}, 5)


def test_feedback_is_kept_as_events_and_as_their_sum(store: Store) -> None:
    add(store, memory("a", kind="decision"), memory("b"))
    with store.write() as transaction:
        transaction.feedback("a", "helpful", 5.0)
        transaction.feedback("a", "outdated", 6.0)
        transaction.feedback("b", "unhelpful", 7.0)
        with pytest.raises(ValueError, match="verdict: must be one of helpful, unhelpful, outda"):
            transaction.feedback("a", "great", 8.0)
        with pytest.raises(UnknownMemory):
            transaction.feedback("x", "helpful", 8.0)
    assert [row.feedback for row in rows(store)] == [-1, -1]
    with store.read() as reading:
        assert feedback_events(reading) == [
            ("a", "decision", "helpful", 5.0),
            ("a", "decision", "outdated", 6.0),
            ("b", "note", "unhelpful", 7.0),
        ]


def test_erasing_takes_the_memory_and_its_feedback(store: Store) -> None:
    add(store, memory("a"))
    with store.write() as transaction:
        transaction.feedback("a", "helpful", 5.0)
    with store.write() as transaction:
        assert transaction.erase("a")
        assert not transaction.erase("a")
        assert transaction.load(["a"]) == [None]
    with store.read() as reading:
        assert feedback_events(reading) == []
    add(store, memory("a", text="anew"))
    assert erased_of(store, ["a"]) == ["a"]
    assert [row.sequence for row in rows(store)] == [2]


def test_writing_inside_writing_is_refused(store: Store) -> None:
    before = GATE._inside.copy()
    with store.write() as transaction:
        with pytest.raises(RuntimeError, match=r"write\(\) inside write\(\)"), store.write():
            pytest.fail("a write began inside a write")
        transaction.insert(memory("a"))
    assert store.count() == 1
    assert GATE._inside == before  # or each later fork would wait a second


def test_a_transaction_is_over_at_the_end_of_its_block(store: Store) -> None:
    with store.write() as transaction:
        transaction.insert(memory("a"))
    with pytest.raises(OneirosError, match="the transaction is over"):
        transaction.insert(memory("b"))
    with pytest.raises(OneirosError, match="the transaction is over"):
        transaction.load(["a"])


def test_many_links_are_set_as_one_by_one_and_those_of_nobody_passed_over(store: Store) -> None:
    add(store, memory("a"), memory("b"), memory("c"))
    first = StoredLink("a", "b", 2, 0.5, 1.0, None)
    with store.write() as transaction:
        transaction.set_link(first)
    with store.write() as transaction:
        transaction.set_links(
            [
                StoredLink("b", "a", 0, 0.25, 9.0, 7.0),
                StoredLink("c", "a", 1, 0.125, 3.0, None),
                StoredLink("a", "nobody", 0, 0.5, 1.0, None),
            ]
        )
    with store.read() as reading:
        (links,) = reading.links(0)
    assert sorted(links) == [
        StoredLink("a", "b", 0, 0.25, 1.0, 7.0),  # made when it was made
        StoredLink("a", "c", 1, 0.125, 3.0, None),
    ]
