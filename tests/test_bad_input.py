"""Odd numbers and batches have one defined answer each; the store stays as it was."""

from __future__ import annotations

import functools
import json
import math
import operator
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import oneiros

NOW = 1_750_000_000.0
FULL = 2**32 - 1
UNIT = ("importance", "certainty", "impact", "strength")
OPEN = ("stability", "consolidation_quality")
TIMES = ("created_at", "updated_at", "last_accessed_at", "event_at", "valid_from", "valid_until")
COUNTERS = ("access_count", "revision_count", "duplicate_count")


def ids(response: oneiros.SearchResponse) -> list[str]:
    return [result.id for result in response.results]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", [*UNIT, *OPEN, *TIMES, "ttl"])
def test_a_field_refuses_what_is_not_finite(mind: oneiros.Engine, name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{name}.*(nan|inf)"):
        mind.add("text", **{name: value})
    mind.add("text", id="good")
    with pytest.raises(ValueError, match=rf"{name}.*(nan|inf)"):
        mind.update("good", **{name: value})
    assert len(mind) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in UNIT for value in (-0.001, 1.001)),
        *((name, -0.001) for name in OPEN),
        *((name, value) for name in COUNTERS for value in (-1, FULL + 1)),
        ("session_spread", 0),
        ("session_spread", FULL + 1),
        ("depth", 0),
        ("depth", 4),
        ("priority", 0),
        ("priority", 6),
        ("feedback", 2**15),
        ("feedback", -(2**15) - 1),
        ("ttl", -1.0),
        ("status", "lost"),
        ("tier", "warm"),
        ("veracity", "sworn"),
        ("category", "other"),
        ("importance_tag", "very"),
        ("canonical_layer", "deep"),
        ("kind", ""),
        ("kind", "k" * 65),
        ("id", ""),
        ("id", "i" * 257),
    ],
)
def test_a_field_refuses_what_is_out_of_range(
    mind: oneiros.Engine, name: str, value: object
) -> None:
    with pytest.raises(ValueError, match=name):
        mind.add("text", **{name: value})
    assert len(mind) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("importance", "high"),
        ("depth", 2.5),
        ("depth", "2"),
        ("pinned", "yes"),
        ("text", 3),
        ("text", None),
        ("id", 3),
        ("tags", "one"),
        ("tags", [1]),
        ("metadata", [1]),
        ("created_at", [NOW]),
        ("embedding", "vector"),
        ("embedding", [1 + 2j, 0]),
    ],
)
def test_a_field_refuses_another_type(mind: oneiros.Engine, name: str, value: object) -> None:
    record = {"text": "text", name: value}
    with pytest.raises((TypeError, ValueError), match=name):
        mind.add_many([record])
    assert len(mind) == 0


def test_an_unknown_field_is_named(mind: oneiros.Engine) -> None:
    with pytest.raises((TypeError, ValueError), match="importence"):
        mind.add("text", importence=0.5)
    assert len(mind) == 0


def test_the_ends_of_each_range_are_accepted(mind: oneiros.Engine) -> None:
    low = {**dict.fromkeys((*UNIT, *OPEN), 0.0), **dict.fromkeys(COUNTERS, 0), "feedback": -(2**15)}
    high = {**dict.fromkeys(UNIT, 1.0), **dict.fromkeys(COUNTERS, FULL), "feedback": 2**15 - 1}
    mind.add("ant", id="low", depth=1, priority=1, kind="k", **low)
    mind.add("ant", id="é" * 128, depth=3, priority=5, kind="k" * 64, **high)
    assert ids(mind.search("ant", reinforce=False)) == ["é" * 128, "low"]
    assert mind.get("low").feedback == -(2**15)


# Counters


def test_counters_saturate(mind: oneiros.Engine) -> None:
    mind.add("ant", id="full", **dict.fromkeys(COUNTERS, FULL))
    mind.search("ant")
    mind.update("full", text="ant bee")
    mind.add("ant bee", id="double")
    full = mind.get("full")
    assert (full.access_count, full.revision_count, full.duplicate_count) == (FULL, FULL, FULL)


# Batches

BATCH = [
    {"text": "ant", "id": "first"},
    {"text": "ant", "id": "bad", "importance": math.nan},
    {"text": "ant", "id": "worse", "embedding": [1.0, math.nan]},
    {"text": "ant", "id": "last"},
]


def test_a_bad_record_stops_the_whole_batch(mind: oneiros.Engine) -> None:
    with pytest.raises(ValueError, match=r"(?s)importance.*\b1\b"):
        mind.add_many(BATCH)
    assert len(mind) == 0
    assert ids(mind.search("ant")) == []


@pytest.mark.parametrize("on_error", ["skip", "collect"])
def test_a_bad_record_does_not_stop_a_batch_asked_to_go_on(
    mind: oneiros.Engine, on_error: str
) -> None:
    report = mind.add_many(BATCH, on_error=on_error)
    assert list(report.ids) == ["first", "last"]
    assert list(report.skipped) == [1, 2]
    assert len(report.failures) == (2 if on_error == "collect" else 0)
    assert ids(mind.search("ant")) == ["first", "last"]


def test_an_id_twice_in_a_batch_is_refused(mind: oneiros.Engine) -> None:
    batch = [{"text": "ant", "id": "a"}, {"text": "bee", "id": "b"}, {"text": "cat", "id": "a"}]
    with pytest.raises(oneiros.DuplicateId, match="a"):
        mind.add_many(batch)
    assert len(mind) == 0
    report = mind.add_many(batch, on_conflict="update")
    assert list(report.repeated) == ["a"]
    assert len(mind) == 2
    assert mind.get("a").text == "cat"
    assert ids(mind.search("ant")) == []
    assert ids(mind.search("cat")) == ["a"]


def test_an_id_that_exists_is_refused_or_updated(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    with pytest.raises(oneiros.DuplicateId, match="a"):
        mind.add("bee", id="a")
    with pytest.raises(oneiros.DuplicateId, match="a"):
        mind.add_many([{"text": "cat", "id": "c"}, {"text": "bee", "id": "a"}])
    assert (len(mind), mind.get("a").text) == (1, "ant")
    mind.add_many([{"text": "bee", "id": "a"}], on_conflict="update")
    assert (mind.get("a").text, mind.get("a").revision_count) == ("bee", 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda engine, long: engine.get(long),
        lambda engine, long: engine.search("tea", profile=long),
        lambda engine, long: engine.list(order=long),
        lambda engine, long: engine.add("tea", **{long: 1}),
        lambda engine, long: engine.count(oneiros.where(**{long: 1})),
        lambda engine, long: engine.values(long),
    ],
)
def test_a_message_repeats_no_long_name(call: Callable[..., object]) -> None:
    with oneiros.Engine(":memory:") as engine, pytest.raises(Exception) as caught:  # noqa: PT011
        call(engine, "x" * 1_000_000)
    assert isinstance(caught.value, oneiros.OneirosError | ValueError)
    assert "xxx" in str(caught.value)
    assert len(str(caught.value)) < 1_500


def test_what_never_changes_is_named_whatever_is_given(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a", user="ada")
    with pytest.raises(ValueError, match="learned_at: cannot be changed, got an int of"):
        mind.update("a", learned_at=10**5_000)  # type: ignore[call-arg]
    several = np.array(["ada", "bob"])
    for name in ("user", "namespace"):
        scope = mind.scope(**{name: "ada"})
        with pytest.raises(ValueError, match=f"{name}: the scope fixes it"):
            scope.add("bee", **{name: several})


def test_a_time_after_year_9999_in_utc_is_refused() -> None:
    with oneiros.Engine(":memory:") as engine:
        engine.add("tea", id="last", created_at="9999-12-31T23:59:59+00:00")
        with pytest.raises(ValueError, match=r"created_at: must be in year 9999 or earlier"):
            engine.add("tea", created_at="9999-12-31T23:59:59-14:00")
        record = engine.get("last").to_record()
        assert (
            oneiros.Memory.from_record(record, now=NOW).created_at == engine.get("last").created_at
        )


@pytest.mark.parametrize(
    "time",
    [
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T13:59:59.999999-10:00",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        -1e11,
        1e11,
    ],
)
def test_the_first_and_the_last_times_come_back_from_an_export(
    tmp_path: Path, time: str | float
) -> None:
    with oneiros.Engine(":memory:") as engine:
        engine.add("tea", id="a", created_at=time, event_at=time)
        engine.export(tmp_path / "all.jsonl")
        (record,) = map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())
        stored = engine.get("a")
    with oneiros.Engine(":memory:") as other:
        other.add_many([record])
        assert other.get("a").created_at == stored.created_at
        assert other.get("a").event_at == stored.event_at


def test_the_first_moment_of_year_10000_is_refused() -> None:
    with (
        oneiros.Engine(":memory:") as engine,
        pytest.raises(ValueError, match="created_at: must be in year 9999 or earlier"),
    ):
        engine.add("tea", created_at="9999-12-31T14:00:00-10:00")


def test_thousands_of_filters_joined_one_by_one_are_those_joined_at_once() -> None:
    parts = [oneiros.where(project=f"p{n % 3_000}") for n in range(6_000)]
    one_by_one = functools.reduce(operator.or_, parts)
    assert one_by_one.parts == tuple(dict.fromkeys(parts))  # type: ignore[attr-defined]
    assert one_by_one.size == 1 + sum(part.size for part in parts[:3_000])
    both = functools.reduce(operator.and_, [*parts[:5], one_by_one, parts[0]])
    assert both == functools.reduce(operator.and_, [*parts[:5], one_by_one])
    assert hash(both) == hash(functools.reduce(operator.and_, [*parts[:5], one_by_one]))
    assert type(both).from_json(both.to_json()) == both
