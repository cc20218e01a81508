"""When waiting events are due: patient with a busy store, done with a dead one."""

from __future__ import annotations

import pytest

from oneiros.clock import VirtualClock
from oneiros.errors import StoreBusy, StorePoisoned
from oneiros.write import reinforce
from oneiros.write.reinforce import WriteBehind

BUSY = StoreBusy("the lock is held")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    clock = VirtualClock(100.0)
    monkeypatch.setattr(reinforce, "monotonic", clock)
    return clock


def test_events_are_due_half_a_second_after_the_first(clock: VirtualClock) -> None:
    behind = WriteBehind()
    assert behind.due_in(0) is None
    assert behind.due_in(2) == pytest.approx(0.5)
    clock.advance(0.3)
    assert behind.due_in(4) == pytest.approx(0.2)
    clock.advance(0.3)
    assert behind.due_in(4) == 0.0
    behind.note_written()
    assert behind.due_in(0) is None
    clock.advance(10.0)
    assert behind.due_in(2) == pytest.approx(0.5)


def test_events_that_came_during_a_write_have_their_own_half_second(clock: VirtualClock) -> None:
    behind = WriteBehind()
    behind.due_in(2)
    clock.advance(0.5)
    assert behind.due_in(2) == 0.0
    behind.note_written()
    assert behind.due_in(1) == pytest.approx(0.5)


def test_many_events_are_due_at_once() -> None:
    behind = WriteBehind()
    assert behind.due_in(reinforce.FLUSH_EVENTS - 1) != 0.0
    assert behind.due_in(reinforce.FLUSH_EVENTS) == 0.0


def test_a_refusing_store_is_tried_ever_more_seldom(clock: VirtualClock) -> None:
    behind = WriteBehind()
    many = reinforce.FLUSH_EVENTS  # however many wait
    pauses = []
    for _ in range(9):
        assert behind.note_failure(BUSY) is False
        pause = behind.due_in(many)
        assert pause is not None
        pauses.append(pause)
        clock.advance(pause)
    assert pauses == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0])
    behind.note_written()
    behind.note_success()
    behind.raise_failure()  # a write that came through leaves none
    assert behind.due_in(many) == 0.0


def test_a_failure_is_raised_once() -> None:
    behind = WriteBehind()
    behind.note_failure(BUSY)
    with pytest.raises(StoreBusy, match="the lock is held"):
        behind.raise_failure()
    behind.raise_failure()


def test_a_store_that_takes_no_more_writes_is_said_to() -> None:
    behind = WriteBehind()
    assert behind.note_failure(StorePoisoned("a commit failed half-way")) is True
    with pytest.raises(StorePoisoned):
        behind.raise_failure()
