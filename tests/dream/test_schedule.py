"""Cycles that run by themselves: when they are due, and that they stop. docs/systems/reverie.md R18."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oneiros.clock import VirtualClock
from oneiros.dream.lock import Begun
from oneiros.dream.schedule import Dreamer, DreamSchedule, duration_seconds
from oneiros.engine import Engine, maintenance
from oneiros.errors import DreamBusy

NOW = 1_750_000_000.0
HOUR = 3_600.0


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def mind(clock: VirtualClock) -> Iterator[Engine]:
    with Engine(":memory:", clock=clock, profile="reverie") as engine:
        yield engine


def comes_true(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("4h", 14_400.0), ("30min", 1_800.0), ("90s", 90.0), ("2d", 172_800.0), (" 1.5 h ", 5_400.0),
     (7, 7.0), (0.5, 0.5)],
)  # fmt: skip
def test_durations(given: str | float, seconds: float) -> None:
    assert duration_seconds("every", given) == seconds


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("every", "4 weeks", ValueError), ("every", "", ValueError), ("every", 0, ValueError),
        ("every", "0s", ValueError), ("every", float("nan"), ValueError), ("every", True, TypeError),
        ("every", 10**400, ValueError), ("min_gap", -1.0, ValueError), ("min_gap", float("inf"), ValueError),
        ("min_gap", None, TypeError), ("after_new", 0, ValueError), ("after_new", 1.5, TypeError),
        ("on_session_end", 1, TypeError),
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_by_name(
    field: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=field):
        DreamSchedule(**{field: value})


@pytest.mark.parametrize(
    ("since", "waited", "new", "ended", "is_due"),
    [
        (None, 0.0, 9, False, False),
        (None, 0.0, 10, False, True),
        (None, 0.0, 0, True, True),
        (None, 4 * HOUR, 0, False, True),
        (HOUR, HOUR, 0, False, False),
        (1_799.0, 1_799.0, 99, True, False),
        (1_800.0, 1_800.0, 10, False, True),
        (4 * HOUR - 1, 4 * HOUR - 1, 0, False, False),
        (4 * HOUR, 4 * HOUR, 0, False, True),
    ],
)
def test_when_a_cycle_is_due(
    since: float | None, waited: float, new: int, ended: bool, is_due: bool
) -> None:
    asked = {"since_cycle": since, "waited": waited, "new": new}
    assert DreamSchedule().is_due(**asked, has_session_ended=ended) is is_due  # type: ignore[arg-type]
    never = DreamSchedule(every=None, after_new=None, on_session_end=False)
    assert not never.is_due(**asked, has_session_ended=ended)  # type: ignore[arg-type]


def test_time_by_the_engines_clock_and_sessions_are_reasons(
    mind: Engine, clock: VirtualClock
) -> None:
    mind.add("a")
    with mind.keep_dreaming(DreamSchedule()) as dreamer:
        clock.advance(4 * HOUR)
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 1)
        mind.end_session()  # waits for the gap
        clock.advance(HOUR)
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 2)
    assert not dreamer.is_running
    assert [report.now for report in mind.dreams()] == [NOW + 5 * HOUR, NOW + 4 * HOUR]


def test_a_clock_that_is_set_back_holds_no_cycle_up(tmp_path: Path) -> None:
    year, now = 365 * 86_400.0, [NOW]
    with Engine(tmp_path / "mind.db", clock=lambda: now[0], profile="reverie") as mind:
        mind.add("a")
        now[0] += year  # wrong, and then corrected
        with mind.keep_dreaming(DreamSchedule()) as dreamer:
            dreamer.end_session()
            assert comes_true(lambda: len(mind.dreams()) == 1)
            now[0] -= year
            dreamer.look()
            assert comes_true(lambda: dreamer._cycle_at == NOW)
            now[0] += 4 * HOUR
            dreamer.look()
            assert comes_true(lambda: len(mind.dreams()) == 2)


def test_a_schedule_that_began_by_a_clock_ahead_dreams_by_the_corrected_one(
    tmp_path: Path,
) -> None:
    now = [NOW + 365 * 86_400.0]
    with (
        Engine(tmp_path / "mind.db", clock=lambda: now[0], profile="reverie") as mind,
        mind.keep_dreaming(DreamSchedule()) as dreamer,
    ):
        now[0] = NOW
        dreamer.look()
        assert comes_true(lambda: dreamer._began == NOW)
        now[0] += 4 * HOUR
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 1)


def test_new_memories_are_a_reason(mind: Engine) -> None:
    mind.add("there before")
    with mind.keep_dreaming(DreamSchedule(after_new=3)) as dreamer:
        mind.add_many([{"text": f"memory {number}"} for number in range(3)])
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 1)


def test_new_memories_are_a_reason_though_others_were_erased(mind: Engine) -> None:
    with mind.keep_dreaming(DreamSchedule(after_new=3, min_gap=0)) as dreamer:
        mind.add_many([{"id": f"m{number}", "text": "soon gone"} for number in range(3)])
        dreamer.look()
        assert comes_true(lambda: dreamer._counted == 3)  # the cycle is over, and noted
        for number in range(3):
            mind.forget(f"m{number}")
        mind.add_many([{"text": f"memory {number}"} for number in range(3)])
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 2)


def test_new_memories_are_a_reason_though_the_rows_of_erased_ones_are_gone(
    mind: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_FEWEST_EMPTY", 10)
    mind.add_many([{"id": f"m{number}", "text": "soon gone"} for number in range(20)])
    with mind.keep_dreaming(DreamSchedule(after_new=3)) as dreamer:
        mind.forget_many([f"m{number}" for number in range(19)])
        mind.purge()  # rebuilds the read model
        mind.add_many([{"text": f"memory {number}"} for number in range(3)])
        dreamer.look()
        assert comes_true(lambda: len(mind.dreams()) == 1)


def test_a_failure_is_logged_and_the_next_reason_tries_again(
    mind: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(now: float, **_: Any) -> None:
        msg = f"no sleep at {now}"
        raise RuntimeError(msg)

    with mind.keep_dreaming(DreamSchedule(min_gap=0)) as dreamer:
        monkeypatch.setattr(mind, "dream", fails)
        mind.end_session()
        assert comes_true(lambda: "no sleep at" in caplog.text)
        monkeypatch.undo()
        assert dreamer.is_running
        mind.end_session()
        assert comes_true(lambda: len(mind.dreams()) == 1)


def test_memories_and_cycles_of_others_count(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "mind.db"
    told: list[Any] = []
    schedule = DreamSchedule(every="4h", after_new=3, min_gap="1h")
    with (
        Engine(path, clock=clock, profile="reverie") as mind,
        Engine(path, clock=clock, profile="reverie") as other,
        mind.keep_dreaming(schedule, on_cycle=told.append) as dreamer,
    ):
        other.add_many([{"text": f"memory {number}"} for number in range(3)])
        dreamer.look()
        assert comes_true(lambda: len(told) == 1)
        clock.advance(3 * HOUR)
        theirs = other.dream()
        dreamer.look()
        assert comes_true(lambda: dreamer._cycle_at == theirs.now)
        other.add_many([{"text": f"another {number}"} for number in range(3)])
        clock.advance(HOUR / 2)  # the gap since theirs is not over
        dreamer.look()
        time.sleep(0.05)
        assert [report.id for report in mind.dreams()] == [theirs.id, told[0].id]
        clock.advance(HOUR)
        dreamer.look()
        assert comes_true(lambda: len(told) == 2)
        assert [report.id for report in mind.dreams()] == [told[1].id, theirs.id, told[0].id]


def test_a_cycle_that_another_runs_is_told_once_and_waited_for(
    tmp_path: Path, clock: VirtualClock
) -> None:
    told: list[Any] = []
    with Engine(tmp_path / "mind.db", clock=clock, profile="reverie") as mind:
        lock = mind._scope.services.cycles
        with mind.keep_dreaming(DreamSchedule(min_gap=0), on_cycle=told.append) as dreamer:
            with lock.held(Begun("theirs", NOW)):
                mind.end_session()
                assert comes_true(lambda: len(told) == 1)
                dreamer.look()
                time.sleep(0.05)
            assert [type(one) for one in told] == [DreamBusy]
            dreamer.look()
            assert comes_true(lambda: len(told) == 2)
            assert told[1] == mind.dreams()[0]
            with lock.held(Begun("theirs again", NOW)):
                mind.end_session()
                assert comes_true(lambda: len(told) == 3)
            assert isinstance(told[2], DreamBusy)


def test_who_asked_is_told_of_failures_and_whose_phases_run(
    mind: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Any] = []
    mind.add("a")
    with mind.keep_dreaming(DreamSchedule(min_gap=0), profile="omega", on_cycle=told.append):
        mind.end_session()
        assert comes_true(lambda: len(told) == 1)
        assert told[0].profile == "omega"
        fault = RuntimeError("no sleep")

        def fails(*_: Any, **__: Any) -> None:
            raise fault

        monkeypatch.setattr(mind, "dream", fails)
        mind.end_session()
        assert comes_true(lambda: told[1:] == [fault])
    assert caplog.text == ""


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_who_is_told_may_fail_and_the_cycle_counts_all_the_same(
    mind: Engine, caplog: pytest.LogCaptureFixture, error: type[BaseException]
) -> None:
    def fails(report: Any) -> None:
        msg = f"cannot hear {report.id}"
        raise error(msg)

    with mind.keep_dreaming(DreamSchedule(min_gap=0), on_cycle=fails) as dreamer:
        mind.end_session()
        assert comes_true(lambda: "cannot hear" in caplog.text)
        assert dreamer.is_running
        mind.end_session()
        assert comes_true(lambda: len(mind.dreams()) == 2)
    with pytest.raises(TypeError, match="on_cycle: expected a callable on reports"):
        mind.keep_dreaming(on_cycle="me")  # type: ignore[arg-type]


def test_a_store_that_cannot_be_read_is_told_once_and_looked_at_again(
    mind: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    looks = 0

    def fails() -> float:
        nonlocal looks
        looks += 1
        msg = "no such disk"
        raise OSError(msg)

    monkeypatch.setattr(Dreamer, "_dreamed_at", lambda _: fails() if looks or told else None)
    with mind.keep_dreaming(DreamSchedule(min_gap=0), on_cycle=told.append) as dreamer:
        told.append("from now on")
        dreamer.look()
        assert comes_true(lambda: looks == 1)
        dreamer.look()
        assert comes_true(lambda: looks >= 2)
        assert [str(one) for one in told] == ["from now on", "no such disk"]
        monkeypatch.undo()
        assert dreamer.is_running


def test_closing_the_engine_and_another_schedule_stop_it() -> None:
    with Engine(":memory:") as mind:
        first = mind.keep_dreaming()
        second = mind.keep_dreaming(DreamSchedule(every="2d"))
        assert [first.is_running, second.is_running] == [False, True]
    assert [first.is_running, second.is_running] == [False, False]
    assert second.stop()


def test_what_is_no_schedule_starts_nothing(mind: Engine) -> None:
    with pytest.raises(TypeError, match="schedule"):
        mind.keep_dreaming("4h")  # type: ignore[arg-type]
    mind.end_session()
    assert mind.dreams() == []
