"""Odd times: each is refused by name or has one defined age."""

from __future__ import annotations

import datetime as dt
import math
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import oneiros

NOW = 1_750_000_000.0
DAY = 86_400.0
YEAR = 365.25 * DAY
TIMES = ("created_at", "updated_at", "last_accessed_at", "event_at", "valid_from", "valid_until")


def ids(response: oneiros.SearchResponse) -> list[str]:
    return [result.id for result in response.results]


@pytest.mark.parametrize("name", TIMES)
def test_a_time_refuses_naive_datetimes_and_milliseconds(mind: oneiros.Engine, name: str) -> None:
    naive = dt.datetime(2025, 6, 1, 12)
    for value in (naive, "2025-06-01T12:00:00", NOW * 1000):
        with pytest.raises(ValueError, match=name):
            mind.add("text", **{name: value})
    assert len(mind) == 0


def test_messages_show_the_whole_of_a_time(mind: oneiros.Engine) -> None:
    for value in (dt.datetime(2025, 6, 1, 12, 30, 15, 123456), pd.Timestamp("2025-06-01 12:30:15")):
        with pytest.raises(ValueError, match="created_at: must be aware") as refused:
            mind.add("text", created_at=value)
        assert str(refused.value).endswith(f", got {value!r}")
    with pytest.raises(TypeError, match=r"got datetime\.timedelta\(days=3, seconds=5\)$"):
        mind.search("text", now=dt.timedelta(days=3, seconds=5))


def test_now_refuses_naive_datetimes_and_milliseconds(mind: oneiros.Engine) -> None:
    mind.add("ant")
    for value in (dt.datetime(2025, 6, 1), NOW * 1000, math.nan, math.inf):
        with pytest.raises(ValueError, match="now"):
            mind.search("ant", now=value)


@pytest.mark.parametrize("before", [-1e30, -62_135_596_800.5, "0001-01-01T00:00:00+14:00"])
def test_no_clock_shows_a_time_before_year_1(mind: oneiros.Engine, before: float | str) -> None:
    mind.add("ant", id="a")
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: mind.add("bee", now=before),
        "search": lambda: mind.search("ant", now=before),
        "search_many": lambda: mind.search_many(["ant"], now=before),
        "delete": lambda: mind.delete("a", now=before),
        "dream": lambda: mind.dream(before),
        "purge": lambda: mind.purge(30.0, now=before),
        "rescore": lambda: mind.rescore(now=before),
        "a table": lambda: oneiros.rescore([{"text": "ant"}], profile="ciar", now=before),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match=r"now: must be in year 1 or later, .*, got"):
            call()
    with pytest.raises(ValueError, match="valid_at: must be in year 1 or later"):
        mind.search("ant", valid_at=before)
    assert (mind.count(), mind.dreams()) == (1, [])


def test_a_clock_that_shows_no_year_is_told() -> None:
    with (
        oneiros.Engine(":memory:", clock=lambda: -1e30) as mind,
        pytest.raises(ValueError, match=r"clock: must be in year 1 or later, .*, got -1e\+30"),
    ):
        mind.add("ant")


@pytest.mark.parametrize("call", ["add", "search", "keep_dreaming"])
def test_a_clock_that_shows_no_number_is_told(call: str) -> None:
    arguments = () if call == "keep_dreaming" else ("ant",)
    with oneiros.Engine(":memory:", clock=lambda: math.nan) as mind:
        with pytest.raises(ValueError, match="clock: must be finite, got nan"):
            getattr(mind, call)(*arguments)
        assert mind.list() == []


def test_a_clock_that_uses_its_engine_in_a_write_is_told(tmp_path: Path) -> None:
    calls: list[Callable[[oneiros.Engine], object]] = []

    def clock() -> float:
        if calls and threading.current_thread() is not threading.main_thread():
            calls.pop()(mind)
        return NOW

    with oneiros.Engine(tmp_path / "store.db", clock=clock) as mind:
        mind.add("ant", id="ant")
        uses = (lambda it: it.add("bee"), lambda it: it.delete("ant"), oneiros.Engine.close)
        for use in uses:
            calls.append(use)
            with pytest.raises(RuntimeError, match="as of a clock that uses its engine"):
                mind.update("ant", text="bee")
            assert not calls
        assert [memory.text for memory in mind.list()] == ["ant"]
        mind.update("ant", text="wasp")
        assert mind.check(deep=True) == []


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("as_text", [False, True])
def test_the_first_and_the_last_year_are_fine(
    mind: oneiros.Engine, year: int, as_text: bool
) -> None:
    time = dt.datetime(year, 6, 1, tzinfo=dt.UTC)
    mind.add("ant", id="odd", created_at=time.isoformat() if as_text else time)
    assert mind.get("odd").created_at == time.timestamp()
    (result,) = mind.search("ant").results
    factor = 1.3 if year == 9999 else 1.0
    assert result.score == pytest.approx(factor / 31, rel=1e-9)
    assert ids(mind.search("ant", where=oneiros.where(created_at=(time, None)))) == ["odd"]
    now = time.isoformat() if as_text else time
    assert ids(mind.search("ant", now=now, valid_at=now, reinforce=False)) == ["odd"]
    assert mind.search("ant", now=dt.datetime.min.replace(tzinfo=dt.UTC), reinforce=False).ids


@pytest.mark.parametrize("profile", ["oneiros", "reverie", "cognitive", "omega"])
@pytest.mark.parametrize("year", [1, 9999])
def test_a_store_lives_through_the_first_and_the_last_year(
    tmp_path: Path, profile: str, year: int
) -> None:
    path, now = tmp_path / "mind.db", dt.datetime(year, 6, 1, tzinfo=dt.UTC)
    with oneiros.Engine(path, profile=profile) as mind:
        for id in ("one", "other"):
            mind.add(f"ant {id}", id=id, now=now, last_accessed_at=now)
        mind.add("ant of an earlier year", id="early", now=dt.datetime(1, 1, 2, tzinfo=dt.UTC))
        mind.link("one", "other", now=now)
        assert mind.search("what ant last week", now=now, session="s").ids
        mind.delete("one", now=now)
        mind.restore("one", now=now)
        report = mind.dream(now)
        mind.undo_dream(report.id, now=now)
        mind.dream(now)
    with oneiros.Engine(path, profile=profile) as mind:
        assert mind.check() == []
        assert [one.now for one in mind.dreams()] == [now.timestamp()] * 3
        assert mind.get("one").last_accessed_at == now.timestamp()
        assert mind.search("ant", now=now).ids


def test_memories_of_the_last_year_are_summarised() -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as mind:
        told = {"category": "episodic", "embedding": (1.0, 0.0), "stability": 0.125}
        for day in range(1, 6):
            mind.add(f"ant {day}", now=dt.datetime(9999, 1, day, tzinfo=dt.UTC), **told)
        report = mind.dream(dt.datetime(9999, 12, 31, tzinfo=dt.UTC))
        (summary,) = [one.id for one in report.named if one.field == "memory"]
        newest = dt.datetime(9999, 1, 5, tzinfo=dt.UTC).timestamp()
        assert mind.get(summary).created_at == newest
        assert mind.check() == []


def test_a_memory_of_the_last_year_can_be_added_again(mind: oneiros.Engine) -> None:
    time = dt.datetime(9999, 6, 1, tzinfo=dt.UTC)
    mind.add("ant", id="odd", valid_until=time)
    copy = mind.get("odd")
    mind.forget("odd")
    mind.add_many([copy])
    assert mind.get("odd").valid_until == time.timestamp()


def test_a_time_after_now_counts_as_now_and_is_counted(mind: oneiros.Engine) -> None:
    mind.add("ant", id="future", created_at=NOW + 900 * DAY, stability=9.0)
    response = mind.search("ant", explain=True, reinforce=False)
    (result,) = response.results
    factors = {factor.name: factor.value for factor in result.explanation.factors}
    assert factors["time_decay"] == 1.3
    assert factors["stability"] == 1.0
    said = " ".join([*response.trace.notes, *(stage.note or "" for stage in response.trace.stages)])
    assert "1" in said
    assert "future" in said or "after now" in said


@pytest.mark.parametrize(("stability", "boost"), [(0.0, 0.1), (0.5, 0.1), (1.0, 1.0), (1e30, 3.0)])
def test_an_age_of_a_million_years_gives_the_floor(
    mind: oneiros.Engine, stability: float, boost: float
) -> None:
    mind.add("ant", created_at=NOW - 1e6 * YEAR, stability=stability)
    (result,) = mind.search("ant", explain=True, reinforce=False).results
    factors = {factor.name: factor.value for factor in result.explanation.factors}
    assert factors["time_decay"] == 1.0
    assert factors["stability"] == boost


def test_a_memory_may_expire_as_late_as_a_time_may_be(mind: oneiros.Engine) -> None:
    late = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)
    mind.add("ant", id="a")
    mind.touch("a", ttl=DAY - 1, now=late)
    assert mind.get("a").valid_until == late.timestamp() + DAY - 1
    for ttl in (DAY, 1e300, dt.timedelta.max):
        with pytest.raises(ValueError, match="ttl: must end in year 9999 or earlier"):
            mind.touch("a", ttl=ttl, now=late)
    assert mind.get("a").valid_until == late.timestamp() + DAY - 1


@pytest.mark.parametrize("unit", ["ns", "s", "D"])
def test_numpy_times_and_durations_are_refused_by_name(mind: oneiros.Engine, unit: str) -> None:
    # Those in nanoseconds were taken for as many seconds.
    duration, time = np.timedelta64(60, unit), np.datetime64(60, unit)
    mind.add("ant", id="a")
    calls: dict[str, Callable[[], object]] = {
        "ttl": lambda: mind.add("bee", ttl=duration),  # type: ignore[arg-type]
        "event_at": lambda: mind.add("bee", event_at=time),  # type: ignore[arg-type]
        "priority": lambda: mind.update("a", priority=duration),  # type: ignore[arg-type]
        r"metadata\.since": lambda: mind.add("bee", metadata={"since": time}),
        "now": lambda: mind.search("ant", now=time),  # type: ignore[arg-type]
        "older_than_days": lambda: mind.purge(duration),  # type: ignore[arg-type]
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=rf"^{name}: must be|^{name}: expected"):
            call()
    with pytest.raises(TypeError, match="ttl: expected a number"):
        mind.touch("a", ttl=duration)  # type: ignore[arg-type]
    assert mind.count() == 1


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_missing_time_of_pandas_is_refused_by_name(zone: str | None) -> None:
    with oneiros.Engine(":memory:", timezone=zone) as mind:
        with pytest.raises(ValueError, match="event_at: must be a time, got NaT"):
            mind.add("ant", event_at=pd.NaT)
        with pytest.raises(ValueError, match="now: must be a time, got NaT"):
            mind.search("ant", now=pd.NaT)
