"""Store: what is written is there, in order, under one revision a commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from oneiros.errors import DuplicateId, EngineClosed, OneirosError, UnknownMemory
from oneiros.fields import ENUMS
from oneiros.memory import Memory
from oneiros.store import Store, StoredMemory

NOW = 1_780_000_000.0


def memory(id: str, **fields: object) -> Memory:
    return Memory.from_record({"id": id, "text": f"text of {id}", **fields}, now=NOW)


FULL = memory(
    "full\0id",
    text="all of it \0 Größe 会議 🦊",
    title="T",
    kind="decision",
    category="procedural",
    topic="t",
    project="p",
    session="s2",
    sessions=["s1", "s2"],
    tags=["b", "a", "b"],
    metadata={"a": [1, 2.5, None, True, {"ü\0": "x"}]},
    created_at=5.0,
    updated_at=6.0,
    last_accessed_at=7.25,
    event_at=8.0,
    valid_from=9.0,
    valid_until=10.0,
    ttl=60.0,
    importance=0.9,
    certainty=0.1,
    impact=1.0,
    veracity="tool",
    pinned=True,
    feedback=-3,
    access_count=2**32 - 1,
    revision_count=4,
    duplicate_count=5,
    session_spread=6,
    strength=0.25,
    depth=3,
    stability=2.5,
    consolidation_quality=0.75,
    importance_tag="schema_violation",
    status="archived",
    core=True,
    at_floor_since=11.0,
    cold_since=12.0,
    tier="stub",
    superseded_by="other",
    deleted_at=13.0,
)


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    path = ":memory:" if request.param == "memory" else tmp_path / "mind.db"
    with Store(path) as opened:
        yield opened


def add(store: Store, *memories: Memory) -> None:
    with store.write() as transaction:
        transaction.insert_many(memories)


def rows(store: Store, after: int = 0) -> list[StoredMemory]:
    return [row for part in store.changes(after) for row in part]


def test_a_memory_comes_back_with_every_field(store: Store) -> None:
    add(store, FULL, memory("plain"))
    assert store.load(["plain", "none", FULL.id]) == [memory("plain"), None, FULL]


def test_a_memory_outlives_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, FULL)
    with Store(tmp_path / "mind.db") as store:
        assert store.load([FULL.id]) == [FULL]
        assert store.revision() == 1


def test_embeddings_are_bytes_to_the_store(tmp_path: Path) -> None:
    vector = np.array([0.6, 0.8], np.float32)

    def decode(blob: bytes) -> np.ndarray:
        return np.frombuffer(blob, np.float32)

    with Store(tmp_path / "mind.db", decode_embedding=decode) as store:
        with store.write() as transaction:
            transaction.insert(memory("a", embedding=vector), embedding_blob=vector.tobytes())
            transaction.insert(memory("b"), embedding_blob=b"")
        assert store.load(["a"]) == [memory("a", embedding=vector)]
        assert [row.embedding for row in rows(store)] == [vector.tobytes(), b""]
        with store.write() as transaction:
            transaction.update("a", {"embedding": None})
            with pytest.raises(TypeError, match="embedding: the store takes encoded bytes"):
                transaction.update("a", {"embedding": vector})
        assert store.load(["a"]) == [memory("a", revision_count=1)]


def test_codes_of_words_are_their_places(store: Store) -> None:
    add(store, FULL)
    row = rows(store)[0]
    for name, words in ENUMS.items():
        assert words[getattr(row, name)] == getattr(FULL, name)
    assert (row.sequence, row.revision, row.pinned, row.core) == (1, 1, 1, 1)
    assert (row.tags, row.sessions, row.metadata) == (FULL.tags, FULL.sessions, FULL.metadata)


def test_sequences_go_up_and_are_never_used_again(store: Store) -> None:
    with store.write() as transaction:
        assert transaction.insert(memory("a")) == 1
        assert transaction.insert_many([memory("b"), memory("c")]) == range(2, 4)
        assert transaction.insert_many([]) == range(0)
        assert transaction.erase("c")
    with store.write() as transaction:
        assert transaction.insert(memory("c")) == 4


def test_one_revision_a_commit_and_none_for_an_empty_one(store: Store) -> None:
    assert store.revision() == 0
    add(store, memory("a"), memory("b"))
    assert store.revision() == 1
    with store.write() as transaction:
        assert transaction.revision == 2
        assert transaction.update_columns([("nobody", {"importance": 1.0})]) == 0
    assert store.revision() == 1
    with store.write() as transaction:
        transaction.update("a", {"importance": 1.0})
        transaction.set_setting("embedder", "mini")
    assert store.revision() == 2
    with store.write() as transaction:
        transaction.set_setting("embedder", "other")
    assert store.revision() == 3
    with store.write() as transaction:
        transaction.erase("a")
    assert store.revision() == 4
    assert store.settings() == {"embedder": "other"}


def test_changes_are_those_after_a_revision_in_order_of_insertion(store: Store) -> None:
    add(store, *(memory(f"m{i}") for i in range(25)))
    for id in ("m7", "m3"):
        with store.write() as transaction:
            transaction.update(id, {"importance": 0.9})
    with store.write() as transaction:
        transaction.erase("m5")
    assert [len(part) for part in store.changes(0, batch=10)] == [10, 10, 4]
    assert [row.id for row in rows(store, after=1)] == ["m3", "m7"]
    assert [row.id for row in rows(store, after=2)] == ["m3"]
    assert rows(store, after=4) == []
    assert store.erased(0) == store.erased(3) == ["m5"]
    assert store.erased(4) == []
    with pytest.raises(ValueError, match="batch: must be at least 1, got 0"):
        next(store.changes(0, batch=0))


def test_changes_come_from_one_state_while_others_write(store: Store) -> None:
    add(store, *(memory(f"m{i}") for i in range(20)))
    parts = store.changes(0, batch=5)
    first = next(parts)
    add(store, memory("later"))
    ids = [row.id for part in [first, *parts] for row in part]
    assert ids == [f"m{i}" for i in range(20)]


def test_a_reading_stands_still(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, memory("a"))
        with store.read() as reading:
            add(store, memory("b"))
            assert (reading.last_revision(), reading.count()) == (1, 1)
            assert reading.load(["b"]) == [None]
        assert store.count() == 2


def test_an_exception_takes_everything_back(store: Store) -> None:
    def fail() -> None:
        with store.write() as transaction:
            transaction.insert(memory("a"))
            transaction.set_setting("k", "v")
            raise KeyError("mine")  # noqa: EM101

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert (store.count(), store.revision(), store.settings()) == (0, 0, {})


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
        assert transaction.add_sessions([("a", ["s2", "s3"]), ("b", ["s1"]), ("a", ["s4"])]) == 3
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
        events = reading.feedback_events()
        assert [event[1:] for event in events] == [
            ("a", "decision", "helpful", 5.0),
            ("a", "decision", "outdated", 6.0),
            ("b", "note", "unhelpful", 7.0),
        ]
        assert reading.feedback_events(after=events[1][0]) == events[2:]


def test_erasing_takes_the_memory_and_its_feedback(store: Store) -> None:
    add(store, memory("a"))
    with store.write() as transaction:
        transaction.feedback("a", "helpful", 5.0)
    with store.write() as transaction:
        assert transaction.erase("a")
        assert not transaction.erase("a")
        assert transaction.load(["a"]) == [None]
    with store.read() as reading:
        assert reading.feedback_events() == []
    add(store, memory("a", text="anew"))
    assert store.erased(0) == ["a"]
    assert [row.sequence for row in rows(store)] == [2]


def test_writing_inside_writing_is_refused(store: Store) -> None:
    with store.write() as transaction:
        with pytest.raises(RuntimeError, match=r"write\(\) inside write\(\)"), store.write():
            pytest.fail("a write began inside a write")
        transaction.insert(memory("a"))
    assert store.count() == 1


def test_a_transaction_is_over_at_the_end_of_its_block(store: Store) -> None:
    with store.write() as transaction:
        transaction.insert(memory("a"))
    with pytest.raises(OneirosError, match="the transaction is over"):
        transaction.insert(memory("b"))
    with pytest.raises(OneirosError, match="the transaction is over"):
        transaction.load(["a"])


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    uses = [
        store.write,
        store.revision,
        store.settings,
        store.count,
        store.checkpoint,
        lambda: store.load(["a"]),
        lambda: next(store.changes(0)),
        lambda: store.verify_erased(b"x"),
    ]
    for use in uses:
        with pytest.raises(EngineClosed, match="the store is closed"):
            use()


def test_threads_write_and_read_at_once(store: Store) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for i in range(40):
                add(store, memory(f"{name}{i}"))
                assert store.load([f"{name}{i}"]) != [None]
                assert len(rows(store)) >= i
                assert store.revision() > i
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (store.count(), store.revision()) == (160, 160)
    assert store.quick_check() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"durability": "some"}, "durability: must be one of full, normal, got 'some'"),
        ({"busy_timeout_seconds": -1.0}, "busy_timeout_seconds: must be a finite number"),
        ({"busy_timeout_seconds": float("nan")}, "busy_timeout_seconds: must be a finite number"),
        ({"path": ""}, "path: must be a file's name"),
        ({"path": "a\0b"}, "path: must be a file's name"),
    ],
)
def test_odd_options_are_refused(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Store(**{"path": tmp_path / "mind.db", **options})  # type: ignore[arg-type]


def test_a_text_at_the_limit_is_kept(store: Store) -> None:
    text = "ü" * 2**23
    add(store, memory("a", text=text))
    assert store.load(["a"])[0].text == text
