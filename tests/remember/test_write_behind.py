"""The queue of reinforcement events: patient with a busy store, done with a dead one."""

from __future__ import annotations

import pytest

from oneiros.errors import StoreBusy, StorePoisoned
from oneiros.ranking.reinforcement import Reinforcement
from oneiros.remember import write_behind
from oneiros.remember.write_behind import ReinforcementEvent, WriteBehind

EVENT = ReinforcementEvent(("a", "b"), 0.0, None, Reinforcement())
BUSY = StoreBusy("the lock is held")


class Clock:
    """``monotonic`` as the tests move it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(write_behind, "monotonic", clock)
    return clock


def test_events_are_due_half_a_second_after_the_first(clock: Clock) -> None:
    behind = WriteBehind()
    assert behind.due_in() is None
    behind.put(EVENT)
    assert behind.due_in() == pytest.approx(0.5)
    clock.now += 0.3
    behind.put(EVENT)
    assert behind.due_in() == pytest.approx(0.2)
    clock.now += 0.3
    assert behind.due_in() == 0.0
    behind.forget_written(2)
    assert behind.due_in() is None
    behind.put(EVENT)
    assert behind.due_in() == pytest.approx(0.5)


def test_many_events_are_due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "FLUSH_EVENTS", 4)
    behind = WriteBehind()
    behind.put(EVENT)
    assert behind.due_in() != 0.0
    behind.put(EVENT)
    assert behind.due_in() == 0.0


def test_a_refusing_store_is_tried_ever_more_seldom_and_nothing_is_lost(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_behind, "FLUSH_EVENTS", 1)  # however many wait
    behind = WriteBehind()
    behind.put(EVENT)
    pauses = []
    for _ in range(9):
        behind.note_failure(BUSY)
        pause = behind.due_in()
        assert pause is not None
        pauses.append(pause)
        clock.now += pause
    assert pauses == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0])
    assert behind.waiting() == (EVENT,)
    behind.forget_written(1)
    behind.note_success()
    behind.raise_failure()  # a write that came through leaves none
    behind.put(EVENT)
    assert behind.due_in() == 0.0


def test_a_failure_is_raised_once() -> None:
    behind = WriteBehind()
    behind.put(EVENT)
    behind.note_failure(BUSY)
    with pytest.raises(StoreBusy, match="the lock is held"):
        behind.raise_failure()
    behind.raise_failure()


def test_a_store_that_takes_no_more_writes_is_owed_nothing_more() -> None:
    behind = WriteBehind()
    behind.put(EVENT)
    behind.note_failure(StorePoisoned("a commit failed half-way"))
    assert behind.waiting() == ()
    behind.put(EVENT)
    assert behind.waiting() == ()
    assert behind.due_in() is None
    with pytest.raises(StorePoisoned):
        behind.raise_failure()


def test_an_erased_memory_leaves_every_event() -> None:
    behind = WriteBehind()
    behind.put(ReinforcementEvent(("a", "b"), 0.0, None, Reinforcement(), direct=("b", "a")))
    behind.drop("a")
    (event,) = behind.waiting()
    assert (event.ids, event.direct) == (("b",), ("b",))
