"""The queue of reinforcement events and its thread: patient with a busy store, done with a dead one."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

import pytest

from oneiros.errors import StoreBusy, StorePoisoned
from oneiros.ranking.reinforcement import Reinforcement
from oneiros.remember import write_behind
from oneiros.remember.write_behind import ReinforcementEvent, WriteBehind

EVENT = ReinforcementEvent(("a", "b"), 0.0, None, Reinforcement())


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(write_behind, "LONGEST_PAUSE_SECONDS", 0.08)


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_refusing_store_is_tried_ever_more_seldom_and_nothing_is_lost() -> None:
    tries: list[float] = []
    is_mended = threading.Event()

    def write() -> None:
        tries.append(time.monotonic())
        if not is_mended.is_set():
            msg = "the lock is held"
            raise StoreBusy(msg)
        behind.forget_written(len(behind.waiting()))

    behind = WriteBehind(write)
    behind.put(EVENT)
    wait_for(lambda: len(tries) >= 6)
    pauses = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert pauses[0] >= 0.02  # twice the first
    assert pauses[1] >= 0.04
    assert min(pauses[2:]) >= 0.08  # the longest, from then on
    assert behind.waiting() == (EVENT,)
    is_mended.set()
    wait_for(lambda: not behind.waiting())
    behind.raise_failure()  # a write that came through leaves none
    behind.close()


def test_a_failure_is_raised_once() -> None:
    def write() -> None:
        msg = "the lock is held"
        raise StoreBusy(msg)

    behind = WriteBehind(write)
    behind.put(EVENT)
    wait_for(lambda: behind._failure is not None)
    behind.close()
    with pytest.raises(StoreBusy, match="the lock is held"):
        behind.raise_failure()
    behind.raise_failure()


def test_a_store_that_takes_no_more_writes_is_owed_nothing_more() -> None:
    tries = 0

    def write() -> None:
        nonlocal tries
        tries += 1
        msg = "a commit failed half-way"
        raise StorePoisoned(msg)

    behind = WriteBehind(write)
    behind.put(EVENT)
    wait_for(lambda: tries == 1 and not behind.waiting())
    behind.put(EVENT)
    time.sleep(0.1)
    assert behind.waiting() == ()
    assert tries == 1
    with pytest.raises(StorePoisoned):
        behind.raise_failure()
    behind.close()


def test_many_events_are_written_without_waiting_for_the_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_behind, "FLUSH_SECONDS", 60.0)
    monkeypatch.setattr(write_behind, "FLUSH_EVENTS", 4)
    behind = WriteBehind(lambda: behind.forget_written(len(behind.waiting())))
    behind.put(EVENT)
    behind.put(EVENT)
    wait_for(lambda: not behind.waiting())
    behind.close()
