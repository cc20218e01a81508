"""Times without a zone are read in the engine's; durations may be timedeltas."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros

NOW = 1_750_000_000.0
BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2025, 6, 1, 12)
NOON_IN_BERLIN = NOON.replace(tzinfo=BERLIN).timestamp()


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW, timezone="Europe/Berlin") as engine:
        yield engine


@given(
    when=st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    zone=st.sampled_from([BERLIN, ZoneInfo("America/New_York"), timezone(timedelta(hours=5.5))]),
    as_text=st.booleans(),
)
def test_naive_times_are_those_of_the_zone(when: datetime, zone: Any, *, as_text: bool) -> None:
    given: Any = when.isoformat() if as_text else when
    with oneiros.Engine(":memory:", timezone=zone) as engine:
        id = engine.add("ant", created_at=given, event_at=given)
        wanted = when.replace(tzinfo=zone, fold=0 if as_text else when.fold).timestamp()
        assert engine.get(id).created_at == engine.get(id).event_at == wanted
        engine.update(id, valid_from=given)
        assert engine.get(id).valid_from == wanted


def test_aware_times_and_numbers_stay(engine: oneiros.Engine) -> None:
    times: list[Any] = [datetime(2025, 6, 1, tzinfo=UTC), "2025-06-01T00:00:00Z", 1_748_736_000]
    for when in times:
        assert engine.get(engine.add("ant", created_at=when)).created_at == 1_748_736_000.0


def test_every_call_reads_them(engine: oneiros.Engine) -> None:
    records = [{"id": "a", "text": "ant", "created_at": NOON}] + [
        {"id": f"b{n}", "text": "ant", "created_at": NOON.isoformat(), "ttl": timedelta(hours=1)}
        for n in range(9)
    ]
    engine.add_many(records)
    assert {memory.created_at for memory in engine.list()} == {NOON_IN_BERLIN}
    engine.scope(project="p").add("ant", id="p", created_at="2025-06-01")
    start = datetime(2025, 6, 1, tzinfo=BERLIN).timestamp()
    assert engine.get("p").created_at == start
    later: Any = NOON + timedelta(minutes=59)
    for when in (later, later.isoformat()):
        response = engine.search("ant", now=when, k=20)
        assert response.now == NOON_IN_BERLIN + 59 * 60
        assert len(response) == 11
        assert engine.search_many(["ant"], now=when)[0].now == response.now
        assert engine.why_not("ant", "a", now=when).now == response.now
    assert len(engine.search("ant", valid_at=NOON + timedelta(1), k=20)) == 2
    day = ("2025-06-01", NOON)
    ranged = engine.search("bee", date_range=day, profile="omega", reinforce=False)
    assert ranged.trace
    engine.touch("a", ttl=60, now=NOON)
    assert engine.get("a").valid_until == NOON_IN_BERLIN + 60
    engine.delete("p", now=NOON)
    assert engine.get_deleted(["p"])[0].deleted_at == NOON_IN_BERLIN
    assert engine.rescore(now=NOON).now == NOON_IN_BERLIN


def test_a_memory_made_by_hand_has_them_too(engine: oneiros.Engine) -> None:
    given: dict[str, Any] = {"created_at": NOON, "event_at": NOON.isoformat(), "valid_until": NOW}
    for place in (engine, engine.scope(user="ada")):
        (id,) = place.add_many([oneiros.Memory(text="ant", **given)]).ids
        memory = engine.get(id)
        assert (memory.created_at, memory.event_at) == (NOON_IN_BERLIN, NOON_IN_BERLIN)
        assert memory.valid_until == NOW


def test_without_a_zone_they_are_refused_as_before() -> None:
    with oneiros.Engine(":memory:") as engine:
        for when in (NOON, NOON.isoformat()):
            for call in (
                lambda when=when: engine.add("ant", created_at=when),
                lambda when=when: engine.add("ant", now=when),
                lambda when=when: engine.search("ant", valid_at=when),
            ):
                with pytest.raises(ValueError, match=r"must be aware \(it has no time zone\)"):
                    call()
        assert len(engine) == 0


def test_wrong_times_are_refused_in_a_zone_too(engine: oneiros.Engine) -> None:
    wrong: list[tuple[Any, str]] = [("today", "ISO 8601"), (1e12, "milliseconds"), (True, "number")]
    for value, message in wrong:
        with pytest.raises((ValueError, TypeError), match=message):
            engine.add("ant", created_at=value)


@pytest.mark.parametrize(
    ("timezone", "error", "message"),
    [
        (
            "Europe/Berlim",
            ValueError,
            "'Europe/Berlim' on this system; did you mean 'Europe/Berlin'",
        ),
        ("", ValueError, "timezone: no time zone is called ''"),
        ("../etc/passwd", ValueError, "timezone: no time zone is called"),
        (2, TypeError, "timezone: expected a name such as 'Europe/Berlin' or a tzinfo, got int 2"),
    ],
)
def test_wrong_zones_are_named(
    tmp_path: Any, timezone: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        oneiros.Engine(tmp_path / "store.db", timezone=timezone)
    assert not list(tmp_path.iterdir())


def test_an_awaited_engine_has_a_zone_too() -> None:
    async def created() -> float:
        async with oneiros.AsyncEngine(":memory:", timezone="Europe/Berlin") as engine:
            return (await engine.get(await engine.add("ant", created_at=NOON))).created_at

    assert asyncio.run(created()) == NOON_IN_BERLIN


# -- durations -------------------------------------------------------------------------------------


def test_timedeltas_are_seconds(engine: oneiros.Engine) -> None:
    id = engine.add("ant", ttl=timedelta(minutes=5))
    assert engine.get(id).ttl == 300.0
    engine.update(id, ttl=timedelta(milliseconds=1500))
    assert engine.get(id).ttl == 1.5
    report = engine.add_many([{"text": "ant", "ttl": timedelta(n)} for n in range(12)])
    assert [memory.ttl for memory in engine.get_many(report.ids) if memory is not None] == [
        n * 86_400.0 for n in range(12)
    ]
    with pytest.raises(ValueError, match="ttl: must be a finite number of seconds >= 0"):
        engine.add("ant", ttl=timedelta(-1))
    assert engine.search("ant", deadline=timedelta(seconds=5)).ids
    with pytest.raises(ValueError, match="deadline: must be > 0"):
        engine.search("ant", deadline=timedelta(0))
    engine.delete(id, now=NOW - 3_600)
    assert engine.purgeable(timedelta(hours=2)) == []
    assert engine.purge(timedelta(minutes=59)) == 1


def test_engines_and_schedules_take_timedeltas() -> None:
    makes: list[Callable[[], object]] = [
        lambda: oneiros.Engine(":memory:", busy_timeout_seconds=timedelta(seconds=-1)),
        lambda: oneiros.DreamSchedule(every=timedelta(0)),
        lambda: oneiros.DreamSchedule(min_gap=timedelta(-1)),
    ]
    for make in makes:
        with pytest.raises(ValueError, match="must be"):
            make()
    with oneiros.Engine(":memory:", busy_timeout_seconds=timedelta(seconds=1)) as engine:
        assert engine.add("ant")
        every, gap = timedelta(hours=4), timedelta(minutes=30)
        with engine.keep_dreaming(oneiros.DreamSchedule(every=every, min_gap=gap)):
            pass


# -- embedders -------------------------------------------------------------------------------------


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def others(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def test_a_plain_function_is_an_embedder_with_the_name_of_its_place(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, embedder=lengths) as engine:
        engine.add("ant")
        assert engine.stats()["embedder"] == f"{__name__}.lengths"
    with oneiros.Engine(path, embedder=lengths) as engine:
        assert engine.search("ant", profile="cosine").ids
    with pytest.raises(oneiros.EmbedderMismatch, match=rf"{__name__}\.lengths"):
        oneiros.Engine(path, embedder=others)
