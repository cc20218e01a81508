"""Strengthening by use: at once in what searches read, a little later in the store."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.scoring.reinforcement import SpacedReinforcement
from oneiros.store.salvage import salvage
from oneiros.store.writer import Writer
from oneiros.write import ReinforcementEvent, reinforce
from oneiros.write.background import WriterThread
from oneiros.write.reinforce import Reinforcing, Strengthening
from oneiros.write.sync import Sync
from tests.oracles import reverie

NOW = 1_750_000_000.0
DAY = 86_400.0


def test_what_a_search_returns_is_strengthened(tmp_path: Path) -> None:
    clock = VirtualClock(NOW)
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, clock=clock, profile="reverie") as mind:
        id = mind.add("ant", session="s1")
        other = mind.add("bee")
        clock.advance(7 * DAY)
        mind.search("ant", session="s2")
        clock.advance(3.5 * DAY)
        mind.search("ant", session="s2")
        memory = mind.get(id)
        assert memory.access_count == 2
        assert memory.last_accessed_at == NOW + 10.5 * DAY
        assert memory.sessions == {"s1", "s2"}
        assert memory.session_spread == 2
        assert memory.stability == pytest.approx(1.1 * 1.05)  # R20
        assert mind.get(other).access_count == 0
    with oneiros.Engine(path, clock=clock) as again:
        assert again.get(id) == memory


def test_reinforcement_reaches_the_store_without_being_asked(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as watcher:
        id = mind.add("ant")
        mind.search("ant")
        for _ in range(400):  # half a second is what the queue waits
            if watcher.get(id).access_count:
                break
            time.sleep(0.05)
        assert watcher.get(id).access_count == 1


def test_a_write_of_earlier_uses_that_waits_for_the_store_holds_no_search_up(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, busy_timeout_seconds=60.0) as mind:
        id = mind.add("ant")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        mind.search("ant")
        time.sleep(1.0)  # by now the first use is due, and its write waits for the other one
        started = time.monotonic()
        for count in range(2, 6):
            mind.search("ant")
            assert mind.get(id).access_count == count
        assert time.monotonic() - started < 30.0  # it would have waited for sixty seconds
        other.execute("ROLLBACK")
        mind.flush()
        assert mind.get(id).access_count == 5
    with oneiros.Engine(path) as again:
        assert again.get(id).access_count == 5


def test_no_search_waits_for_a_checkpoint_after_a_commit_of_uses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A commit by another engine, made meanwhile, is found all the same."""
    monkeypatch.setattr(reinforce, "FLUSH_EVENTS", 1)
    has_committed, may_go_on = threading.Event(), threading.Event()
    path = tmp_path / "mind.db"
    end = Writer.end

    def slow(writer: Writer, *args: Any) -> None:
        end(writer, *args)
        if threading.current_thread().name == "oneiros-writer" and writer is mind_writer:
            has_committed.set()
            assert may_go_on.wait(30.0)

    with (
        ThreadPoolExecutor(1) as pool,
        oneiros.Engine(path) as mind,
        oneiros.Engine(path) as other,
    ):
        id = mind.add("ant")
        assert other.get(id).text == "ant"
        mind_writer = mind._scope.services.store._writer
        monkeypatch.setattr(Writer, "end", slow)
        try:
            assert mind.search("ant").ids == [id]
            assert has_committed.wait(60.0)
            for _ in range(2):
                assert pool.submit(mind.search, "ant").result(timeout=10.0).ids == [id]
            second = other.add("ant")
            late = pool.submit(mind.search, "ant")
            with pytest.raises(TimeoutError):
                late.result(timeout=0.2)
        finally:
            may_go_on.set()
        assert set(late.result(timeout=60.0).ids) == {id, second}
        assert mind.get(id).access_count == 4


def test_no_search_waits_for_the_uses_of_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It waits for everything else that another process commits."""
    path = tmp_path / "mind.db"
    catch_up = Sync._catch_up
    may_go_on = threading.Event()

    def slow(sync: Sync) -> None:
        if sync is mind._scope.services.sync:
            assert may_go_on.wait(30.0)
        catch_up(sync)

    with (
        ThreadPoolExecutor(1) as pool,
        oneiros.Engine(path) as mind,
        oneiros.Engine(path) as other,
    ):
        id = mind.add("ant")
        assert mind.search("ant", reinforce=False).ids == [id]
        monkeypatch.setattr(Sync, "_catch_up", slow)
        try:
            for _ in range(2):
                assert other.search("ant").ids == [id]
                other.flush()
                for _ in range(2):
                    found = pool.submit(mind.search, "ant", reinforce=False)
                    assert found.result(timeout=10.0).ids == [id]
            second = other.add("ant")
            late = pool.submit(mind.search, "ant", reinforce=False)
            with pytest.raises(TimeoutError):
                late.result(timeout=0.2)
        finally:
            may_go_on.set()
        assert set(late.result(timeout=30.0).ids) == {id, second}
        lifecycle = mind._scope.read_model.lifecycle
        row = lifecycle.row_of[id]
        assert lifecycle.columns.values_at(name="access_count", rows=[row]) == [2]


def is_used_soon(mind: oneiros.Engine, id: str) -> bool:
    """Whether searches, which do not wait for it, see one use of a memory within seconds."""
    lifecycle = mind._scope.read_model.lifecycle
    row = lifecycle.row_of[id]
    for _ in range(400):
        mind.search("ant", reinforce=False)
        if lifecycle.columns.values_at(name="access_count", rows=[row]) == [1]:
            return True
        time.sleep(0.01)
    return False


def test_uses_of_another_process_are_applied_without_a_write_or_a_refresh(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as other:
        id = mind.add("ant")
        other.search("ant")
        other.flush()
        assert is_used_soon(mind, id)


def test_an_interrupt_before_the_thread_is_woken_keeps_no_uses_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as other:
        id = mind.add("ant")
        other.search("ant")
        other.flush()
        with monkeypatch.context() as patch:
            patch.setattr(WriterThread, "look", interrupted)
            with pytest.raises(KeyboardInterrupt):
                mind.search("ant", reinforce=False)
        assert is_used_soon(mind, id)


def interrupted(_: WriterThread) -> None:
    raise KeyboardInterrupt


def test_which_commits_only_record_uses(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"

    def commits() -> tuple[int, int]:
        with oneiros.Engine(path, read_only=True) as reader:
            return tuple(reader._scope.services.store.watcher.commits())

    with oneiros.Engine(path) as mind:
        id = mind.add("ant")
        settled, _ = commits()
        for count in range(1, 4):
            mind.search("ant")
            mind.flush()
            assert commits() == (settled + count, settled)
        mind.update(id, importance=0.5)
        assert commits() == (settled + 4, settled + 4)
        mind.search("ant")
        mind.flush()
        assert commits() == (settled + 5, settled + 4)
        connection = apsw.Connection(str(path))
        connection.execute("UPDATE setting SET value = 1 WHERE key = 'uses'")  # damage
        connection.close()
        assert commits() == (settled + 5, settled + 5)
        assert "uses" not in mind._scope.services.store.settings()
    assert salvage(path, tmp_path / "salvaged.db").memories == 1
    with oneiros.Engine(tmp_path / "salvaged.db") as mind:
        last, settled = mind._scope.services.store.watcher.commits()
        assert last == settled


def test_a_slow_write_of_many_uses_slows_down_searches(
    monkeypatch: pytest.MonkeyPatch, mind: oneiros.Engine
) -> None:
    reinforcing = mind._scope.services.sync.reinforcing
    mind.add("ant")
    monkeypatch.setattr(reinforce, "MOST_WAITING", 2)
    waits: list[float] = []

    class Held:
        """A lock that is held, and notes who waits for it."""

        def acquire(self, timeout: float) -> bool:
            waits.append(timeout)
            return False

    for seconds, has_waited in ((0.0, False), (1.0, True), (10.0, False)):
        monkeypatch.setattr(reinforcing, "_writing", (Held(), time.monotonic() - seconds))
        waits.clear()
        for _ in range(2):
            mind.search("ant")
            assert not waits or seconds
        mind.search("ant")
        assert bool(waits) is has_waited


def test_a_use_is_applied_where_the_columns_are_free_again_at_once(
    monkeypatch: pytest.MonkeyPatch, mind: oneiros.Engine
) -> None:
    reinforcing = mind._scope.services.sync.reinforcing
    id = mind.add("ant")
    mind.search("ant")
    use = Strengthening.use
    calls: list[object] = []

    def opened(on: Strengthening, event: ReinforcementEvent) -> Any:
        calls.append(event)
        if len(calls) == 2:
            reinforcing.end_job()
        return use(on, event)

    monkeypatch.setattr(Strengthening, "use", opened)
    reinforcing.begin_job()
    try:
        mind.search("ant")
    finally:
        if len(calls) < 2:
            reinforcing.end_job()
    assert len(calls) == 2
    assert not reinforcing.returned
    assert mind.get(id).access_count == 2


def test_a_use_that_is_left_as_the_columns_come_free_is_applied_then(
    monkeypatch: pytest.MonkeyPatch, mind: oneiros.Engine
) -> None:
    reinforcing = mind._scope.services.sync.reinforcing
    id = mind.add("ant")
    event = ReinforcementEvent((id,), NOW, None, SpacedReinforcement(), (id,))
    opened = Reinforcing._open
    left = [event, event]

    def late(of: Reinforcing) -> None:
        if left:
            of.returned.append(left.pop())
        opened(of)

    monkeypatch.setattr(Reinforcing, "_open", late)
    reinforcing.begin_job()
    reinforcing.end_job()
    assert not left
    assert not reinforcing.returned
    assert mind.get(id).access_count == 2


def test_searches_on_the_thread_that_writes_wait_for_nothing(mind: oneiros.Engine) -> None:
    """A callable that a write calls may search."""
    id = mind.add("ant")
    found = mind._scope.services.sync.writer.run(lambda: [mind.search("ant").ids for _ in range(3)])
    assert found == [[id]] * 3
    assert mind.get(id).access_count == 3


def test_what_is_used_after_a_memory_was_forgotten_reaches_the_store(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as watcher:
        gone, id = mind.add("ant"), mind.add("bee")
        mind.search("ant")
        mind.forget(gone)  # of the use that waits, nothing is left
        mind.search("bee")
        for _ in range(400):
            if watcher.get(id).access_count:
                break
            time.sleep(0.05)
        assert watcher.get(id).access_count == 1


def test_a_link_made_by_hand_comes_after_the_uses_before_it(tmp_path: Path) -> None:
    rule = SpacedReinforcement(link_gain=0.3)
    weights = []
    for flushes in (False, True):
        with oneiros.Engine(tmp_path / f"{flushes}.db", clock=VirtualClock(NOW)) as mind:
            one, other, third = mind.add("ant"), mind.add("bee"), mind.add("cow")
            sync = mind._scope.services.sync
            sync.links_to_follow(sync.read_model, is_bounded=False)
            event = ReinforcementEvent((third,), NOW, None, rule, (third, one, other))
            sync.reinforce(event)
            if flushes:
                mind.flush()
            mind.link(one, other, weight=0.5)
            mind.flush()
            weights.append([link.weight for link in mind.neighbours(one) if link.id == other])
    assert weights[0] == weights[1]
    assert len(weights[0]) == 1


def test_reads_during_a_rebuild_see_what_searches_strengthened(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as mind:
        ids = mind.add_many([{"text": f"word{n} common"} for n in range(3_000)]).ids
        mind.search("word7")
        counts: set[int] = set()
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                counts.add(mind.get(ids[7]).access_count)

        reader = threading.Thread(target=read)
        reader.start()
        mind._scope.services.sync.writer.run(mind._scope.services.sync.rebuild)
        stop.set()
        reader.join()
        assert counts == {1}
        assert mind.get(ids[7]).access_count == 1


def test_two_engines_lose_no_count(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as one, oneiros.Engine(path) as two:
        id = one.add("ant")
        for number in range(30):
            one.search("ant", session=f"a{number % 3}")
            two.search("ant", session=f"b{number % 2}")
            if number % 7 == 0:
                one.flush()
            if number % 5 == 0:
                two.update(id, importance=number / 100)
        one.flush()
        two.flush()
        one.refresh()
        assert one.get(id).access_count == two.get(id).access_count == 60
        assert one.get(id).session_spread == 5
    with oneiros.Engine(path) as again:
        assert again.get(id).access_count == 60
        assert again.get(id).sessions == {"a0", "a1", "a2", "b0", "b1"}


def test_reinforcement_survives_a_change_of_the_row_and_a_delete(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as mind:
        id = mind.add("ant")
        mind.search("ant")
        mind.update(id, text="ant bee")
        mind.search("bee")
        mind.delete(id)
        mind.restore(id)
        assert mind.get(id).access_count == 2
        mind.flush()
        assert mind.get(id).access_count == 2


def test_nothing_but_a_returned_result_counts(mind: oneiros.Engine) -> None:
    ids = mind.add_many([{"text": "ant"} for _ in range(4)]).ids
    mind.search("ant", k=2)
    mind.search("ant", reinforce=False)
    mind.get_many(ids)
    mind.list()
    assert [mind.get(id).access_count for id in ids] == [1, 1, 0, 0]
    without = mind._scope.services.profile.replace(reinforcement=None)
    mind.search("ant", profile=without)
    assert sum(mind.get(id).access_count for id in ids) == 2


def test_stability_follows_the_oracle(mind: oneiros.Engine) -> None:
    id = mind.add("ant", stability=2.0, last_accessed_at=NOW - 20 * DAY, created_at=NOW - 90 * DAY)
    life = reverie.Life(created_at=NOW - 90 * DAY, last_accessed_at=NOW - 20 * DAY, stability=2.0)
    mind.search("ant", profile="reverie")
    want = reverie.reinforce(life, now=NOW).stability
    assert mind.get(id).stability == pytest.approx(want, rel=1e-6)
