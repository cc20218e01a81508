"""Store: what is written is there, in order, under one revision a commit."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from oneiros.errors import EngineClosed, StoreCorrupt
from oneiros.model.fields import ENUMS
from oneiros.store import Store
from oneiros.store import transaction as transactions
from oneiros.store.rows import encoded_embedding
from tests.store.samples import FULL, add, erased_of, memory, rows


def test_a_memory_comes_back_with_every_field(store: Store) -> None:
    add(store, FULL, memory("plain"))
    assert store.load(["plain", "none", FULL.id]) == [memory("plain"), None, FULL]


def test_a_memory_outlives_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, FULL)
    with Store(tmp_path / "mind.db") as store:
        assert store.load([FULL.id]) == [FULL]
        assert store.revision() == 1


def test_embeddings_are_bytes_to_the_store_until_they_are_used(tmp_path: Path) -> None:
    vector = np.array([0.6, 0.8], np.float32)
    blob = encoded_embedding(vector)
    with Store(tmp_path / "mind.db") as store:
        with store.write() as transaction:
            transaction.insert(memory("a", embedding=vector), embedding_blob=blob)
        assert store.load(["a"]) == [memory("a", embedding=vector)]
        assert [row.embedding for row in rows(store)] == [blob]
        with store.write() as transaction:
            transaction.update("a", {"embedding": None})
            with pytest.raises(TypeError, match="embedding: the store takes encoded bytes"):
                transaction.update("a", {"embedding": vector})
        assert store.load(["a"]) == [memory("a", revision_count=1)]


def test_a_damaged_embedding_is_told_by_its_memory(tmp_path: Path) -> None:
    blob = bytearray(encoded_embedding(np.array([0.6, 0.8], np.float32)))
    blob[14] ^= 1
    with Store(tmp_path / "mind.db") as store:
        with store.write() as transaction:
            transaction.insert(memory("a"), embedding_blob=bytes(blob))
            transaction.insert(memory("b"))
        damaged, sound = store.load_each(["a", "b"], [None, None])
        assert sound == memory("b")
        assert isinstance(damaged, StoreCorrupt)
        assert "memory 'a'" in str(damaged)
        assert "damaged embedding" in str(damaged)


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
    with store.write() as transaction:
        transaction.remove_setting("embedder")
        transaction.remove_setting("none")
        transaction.set_setting("dimension", "3")
    assert (store.revision(), store.settings()) == (5, {"dimension": "3"})


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
    assert erased_of(store, ["m5"]) == erased_of(store, ["m5"], after=3) == ["m5"]
    assert [erased.sequence for erased in store.erased(0)] == [6]
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


def test_changes_that_are_not_read_to_the_end_hold_nothing_up(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db", busy_timeout_seconds=0.5) as store:
        add(store, *(memory(f"m{i}") for i in range(20)))
        parts = store.changes(0, batch=5)
        next(parts)
        parts.close()
        add(store, memory("later"))
        store.checkpoint()
        assert (tmp_path / "mind.db-wal").stat().st_size == 0


def test_a_relative_path_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Store("mind.db") as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        add(store, memory("a"))
        assert store.count() == store.revision() == 1
        assert store.path == str(tmp_path / "mind.db")


def test_a_reading_stands_still(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, memory("a"))
        with store.read() as reading:
            add(store, memory("b"))
            assert (reading.last_revision(), reading.count()) == (1, 1)
            assert reading.load(["b"]) == [None]
        assert store.count() == 2


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


def test_new_vectors_lie_apart_until_they_are_taken(store: Store) -> None:
    add(store, *map(memory, "abcd"))
    with store.write() as transaction:
        transaction.update_columns([(id, {"embedding": b"old"}) for id in "abc"])
    revision = store.revision()
    with store.write() as transaction:
        transaction.keep_new_vectors([(1, b"new"), (2, b"new"), (4, None)])
    assert store.revision() == revision  # nothing to follow
    assert [row.embedding for row in rows(store)] == [b"old", b"old", b"old", None]
    with store.write() as transaction:
        transaction.update("b", {"text": "another"})
    with store.read() as reading:
        assert (reading.new_vector_count(), reading.a_new_vector()) == (2, b"new")
        assert [row.id for row in reading.to_reembed(0, 9, 9)] == ["b", "c"]
        assert [row.id for row in reading.to_reembed(2, 9, 9)] == ["c"]
        assert [row.id for row in reading.to_reembed(0, 2, 9)] == ["b"]
    with store.write() as transaction:
        transaction.set_text("d", "another")
        assert transaction.new_vector_count() == 1
        transaction.keep_new_vectors([(4, None)])
        assert transaction.take_new_vectors() == 2
    assert [row.embedding for row in rows(store)] == [b"new", None, None, None]
    with store.read() as reading:
        assert [row.id for row in reading.without_vector(0, 9, 9)] == ["b", "c"]  # d can have none
        assert reading.count_without_vector() == 2
    with store.write() as transaction:
        transaction.drop_new_vectors()
        assert transaction.count_without_vector() == 3


def test_a_new_vector_is_erased_with_its_memory(store: Store) -> None:
    add(store, memory("a"))
    with store.write() as transaction:
        transaction.keep_new_vectors([(1, b"7391-new-vector")])
    store.checkpoint()
    assert not store.verify_erased(b"7391-new-vector")
    with store.write() as transaction:
        transaction.erase("a")
    store.checkpoint()
    assert store.verify_erased(b"7391-new-vector")


def test_only_the_last_erased_memories_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "MOST_KEPT", 5)
    with Store(tmp_path / "mind.db") as store:
        add(store, *(memory(f"m{number}") for number in range(20)))
        for number in range(12):
            with store.write() as transaction:
                transaction.erase(f"m{number}")
        names = [f"m{number}" for number in range(20)]
        assert erased_of(store, names) == ["m7", "m8", "m9", "m10", "m11"]
        with store.read() as reading:
            assert reading.last_erasure() == store.revision() == 13
            assert [reading.lists_erased(after) for after in (7, 8, 13)] == [False, True, True]
            assert reading.has_erased(7)
