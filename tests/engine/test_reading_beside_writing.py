"""What one thread reads while another writes: whole, up to date, or gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.errors import UnknownMemory
from oneiros.write import reinforce


@pytest.fixture
def mind(tmp_path: Path) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie", durability="normal") as engine:
        yield engine


def test_a_count_written_between_reading_and_returning_is_not_missed(
    mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = mind.add("ant")
    monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)  # writes by hand only
    mind.search("ant")
    store = mind._scope.services.store
    load_each = store.load_each

    def flushed_after(ids: list[str], numbers: list[int]) -> object:
        found = load_each(ids, numbers)
        monkeypatch.setattr(store, "load_each", load_each)
        mind.flush()
        return found

    monkeypatch.setattr(store, "load_each", flushed_after)
    assert mind.get(id).access_count == 1
    assert store.load_each is load_each  # it was flushed in between
    assert mind.get(id).access_count == 1


def test_reads_of_used_memories_wait_for_no_search(
    mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind.add_many([{"text": f"ant {number}"} for number in range(200)])
    monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)  # the uses wait to be written
    monkeypatch.setattr(reinforce, "FLUSH_EVENTS", 1_000_000)
    used = mind.search("ant", k=100).ids
    show = reinforce.Reinforcing._show_uses
    is_done = threading.Event()
    results = []

    def search() -> None:
        while not is_done.is_set():
            mind.search("ant", k=1)

    def tried(*args: Any) -> bool:
        results.append(show(*args))
        return results[-1]

    thread = threading.Thread(target=search)
    monkeypatch.setattr(reinforce.Reinforcing, "_show_uses", tried)
    thread.start()
    try:
        for _ in range(20):
            counts = [memory.access_count for memory in mind.get_many(used) if memory]
            assert (len(counts), min(counts)) == (100, 1)
    finally:
        is_done.set()
        thread.join()
    assert results == [True] * 20


def test_a_read_waits_while_columns_change(
    mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No read falls between two columns that the writer thread changes."""
    monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)
    id = mind.add("ant")
    mind.search("ant")
    reinforcing = mind._scope.services.sync.reinforcing
    read = threading.Thread(target=mind.get, args=(id,))

    def read_meanwhile() -> None:
        with reinforcing._changing():
            read.start()
            read.join(timeout=0.1)
            assert read.is_alive()

    mind._scope.services.sync.writer.run(read_meanwhile)
    read.join(timeout=60)
    assert not read.is_alive()


def test_a_write_begins_beside_searches_that_never_pause(
    mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often other threads search, the writer thread applies a few of their uses at most."""
    id = mind.add("ant")
    mind.search("ant")
    use = reinforce.Strengthening.use
    begun, over = threading.Semaphore(0), threading.Semaphore(0)
    is_done = threading.Event()
    applied_count = 0

    def search() -> None:
        while begun.acquire() and not is_done.is_set():
            mind.search("ant")
            over.release()

    def searched_meanwhile(on: Any, event: Any) -> Any:
        nonlocal applied_count
        if threading.current_thread().name == "oneiros-writer":
            applied_count += 1
            if applied_count < 50:
                begun.release()
                over.acquire(timeout=0.02)
        return use(on, event)

    def leave_a_use() -> None:
        updating.start()
        while not writer.is_writing:  # searches wait for no write
            time.sleep(0.001)
        begun.release()
        assert over.acquire(timeout=60)

    writer = mind._scope.services.sync.writer
    thread = threading.Thread(target=search)
    updating = threading.Thread(target=mind.update, args=(id,), kwargs={"importance": 0.9})
    thread.start()
    monkeypatch.setattr(reinforce.Strengthening, "use", searched_meanwhile)
    try:
        writer.run(leave_a_use)
        updating.join()
    finally:
        is_done.set()
        begun.release()
        thread.join()
    assert 1 <= applied_count < 10
    assert mind.get(id).importance == pytest.approx(0.9)


def test_a_search_beside_a_forget_shows_a_memory_whole_or_not_at_all(mind: oneiros.Engine) -> None:
    failures: list[BaseException] = []
    is_over = threading.Event()

    def search() -> None:
        try:
            while not is_over.is_set():
                for result in mind.search("ant", k=50, reinforce=False):
                    try:
                        assert result.memory.text == f"ant {result.id}"
                    except UnknownMemory as error:
                        assert result.id in str(error)  # noqa: PT017 - gone meanwhile is an answer
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(15):
        ids = [f"{turn}-{n}" for n in range(10)]
        mind.add_many([{"id": id, "text": f"ant {id}"} for id in ids])
        for id in ids:
            mind.forget(id)
            assert id not in mind.search("ant", k=50, reinforce=False).ids
    is_over.set()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert len(mind) == 0
