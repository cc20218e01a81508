"""Questions that name a time, against a plain model: docs/systems/omega.md O4, O22; house.md H1."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.ranking.channels import LexicalChannel, TemporalChannel
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.profile import Profile
from tests.oracles import fusion, house, omega

DAY = 86_400.0
NOW = datetime(2025, 6, 18, 12, tzinfo=UTC).timestamp()
DEPTH = 4
TIMED = Profile(
    name="timed",
    channels=(LexicalChannel(), TemporalChannel(depth=DEPTH)),
    fusion=ReciprocalRankFusion(k=60.0, weights=(1.0, 1.2), normalise="channel"),
)
days = st.integers(-40, 5) | st.floats(-40, 5)
moments = days.map(lambda day: NOW + day * DAY)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(["ant", "bee", "ant bee"]), "created_at": moments},
        optional={"event_at": moments, "project": st.just("red")},
    ),
    max_size=12,
)
RANGES = st.tuples(moments, moments | st.floats(0, 3 * 3_600)).map(
    lambda two: (two[0], two[0] + two[1]) if two[1] < DAY else (min(two), max(two))
)


def engine_of(records: list[dict[str, Any]], profile: Profile | str = TIMED) -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", profile=profile, analyzer="simple", clock=lambda: NOW)
    mind.add_many({"id": f"m{n}", **one} for n, one in enumerate(records))
    return mind


def found_in_time(
    records: list[dict[str, Any]], start: float, end: float, keep: set[str], depth: int = DEPTH
) -> list[tuple[str, float]]:
    """Return O4: the nearest in time with their scores, event before creation, ties by insertion."""
    scored = []
    for number, one in enumerate(records):
        moment = one.get("event_at", one["created_at"])
        score = omega.temporal_proximity(moment, start, end)
        beyond = math.isinf(end - start) and not start <= moment <= end
        if f"m{number}" in keep and score > 0.0 and not beyond:
            scored.append((-score, number))
    return [(f"m{number}", -score) for score, number in sorted(scored)[:depth]]


@settings(max_examples=40, deadline=None)
@given(RECORDS, RANGES, st.booleans(), st.sampled_from([None, "start", "end"]))
def test_the_temporal_channel_is_the_model(
    records: list[dict[str, Any]],
    asked: tuple[float, float],
    is_filtered: bool,
    is_open: str | None,
) -> None:
    start, end = asked
    pair = (None if is_open == "start" else start, None if is_open == "end" else end)
    low, high = (-math.inf if pair[0] is None else start), (math.inf if pair[1] is None else end)
    where = oneiros.where(project="red") if is_filtered else None
    keep = {f"m{n}" for n, one in enumerate(records) if not is_filtered or "project" in one}
    with engine_of(records) as mind:
        response = mind.search("unheard", 20, date_range=pair, where=where, explain=True)
        batch = mind.search_many(["unheard"], 20, date_range=pair, where=where, reinforce=False)
    want = found_in_time(records, low, high, keep)
    assert [one.id for one in response] == [one.id for one in batch[0]] == [id for id, _ in want]
    for result, (_, score) in zip(response.results, want, strict=True):
        told = result.explanation
        assert told is not None
        assert told.channels[1].score == pytest.approx(score, rel=1e-12)
        assert told.evaluate() == result.score
    relevance = fusion.reciprocal_rank({"t": want}, {"t": 1.2}, 60.0, "channel")
    assert [one.score for one in response] == pytest.approx([relevance[one.id] for one in response])


@settings(max_examples=30, deadline=None)
@given(RECORDS, st.sampled_from(["2 weeks ago", "in May 2025", "around May 2025", ""]))
def test_memories_out_of_the_time_are_weighed_by_how_surely_it_was_named(
    records: list[dict[str, Any]], time: str
) -> None:
    once = oneiros.profiles.get("omega").replace(retry=None)
    with engine_of(records, once) as mind:
        response = mind.search(f"ant {time}", 20, explain=True)
    edges = {
        "2 weeks ago": ("2025-06-01", "2025-06-08", 0.70),
        "in May 2025": ("2025-05-01", "2025-06-01", 0.15),
        "around May 2025": ("2025-05-01", "2025-06-01", 0.85),
    }
    for result in response.results:
        one = records[int(result.id[1:])]
        moment = one.get("event_at", one["created_at"])
        want = 1.0
        if time:
            start, end, out = edges[time]
            is_in = at(start) <= moment <= at(end)
            want = 1.3 if is_in else out
        told = result.explanation
        assert told is not None
        assert {factor.name: factor.value for factor in told.factors}["temporal"] == want
        assert told.evaluate() == result.score


@settings(max_examples=20, deadline=None)
@given(RECORDS, st.sampled_from(["2 weeks ago", "in May 2025", "around May 2025", ""]))
def test_the_house_damps_what_lies_outside_of_the_time(
    records: list[dict[str, Any]], time: str
) -> None:
    """H10."""
    profile = profiles.get("oneiros")
    with engine_of(records, profile) as mind:
        response = mind.search(f"ant {time}", 20, explain=True)
        whole = mind.search(f"ant {time}", 20, profile=profile.replace(named_time=None))
    edges = {
        "2 weeks ago": ("2025-06-01", "2025-06-08", "inferred"),
        "in May 2025": ("2025-05-01", "2025-06-01", "explicit"),
        "around May 2025": ("2025-05-01", "2025-06-01", "soft"),
    }
    before = {result.id: result.relevance_score for result in whole}
    assert {result.id for result in response} == before.keys()
    for result in response.results:
        one = records[int(result.id[1:])]
        moment = one.get("event_at", one["created_at"])
        share = 1.0
        if time:
            start, end, certainty = edges[time]
            share = 1.0 if at(start) <= moment <= at(end) else house.OUTSIDE[certainty]
        assert result.relevance_score == pytest.approx(share * before[result.id], rel=1e-12)
        told = result.explanation
        assert told is not None
        assert told.evaluate() == result.score


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("profile", ["omega", "omega-bounded", "oneiros"])
def test_a_time_brings_memories_that_no_word_does(profile: str) -> None:
    records = [
        {"text": "the pool ran dry", "created_at": at("2025-05-10")},
        {"text": "bees", "created_at": at("2024-01-01"), "event_at": at("2025-05-12")},
        {"text": "elks", "created_at": at("2024-01-01")},
    ]
    unheld = oneiros.profiles.get(profile).replace(abstention=None, retry=None)  # however far off
    with engine_of(records, unheld) as mind:
        assert mind.search("what happened in May 2025?", reinforce=False).ids == ["m0", "m1"]
        response = mind.search("pool in May 2025", explain=True)
        stages = {stage.name: stage for stage in response.trace.stages}
        assert stages["temporal_search"].survivor_count == 2
        note = "time 2025-05-01T00:00:00Z/2025-06-01T00:00:00Z ('May 2025', explicit)"
        assert any(note in told for told in response.trace.notes)
        assert all(one.explanation.evaluate() == one.score for one in response if one.explanation)
        missed = mind.why_not("pool in May 2025", "m2")
        assert missed.channels[-1].detail == "further from the named time than that is long, in days"
        scores = {one.id: one.score for one in response}
        assert mind.why_not("pool in May 2025", "m1", k=1).score == scores["m1"]
        plain = mind.search("pool", reinforce=False)
        stages = {stage.name: stage for stage in plain.trace.stages}
        assert stages["temporal_search"].note == "absent: the query names no time"
        given = mind.search("pool in 2020", date_range=("2025-05-01T00:00:00Z", NOW))
        assert set(given.ids) == {"m0", "m1"}


@settings(max_examples=15, deadline=None)
@given(RECORDS, st.sampled_from(["omega", "omega-bounded", "oneiros"]))
def test_without_a_time_the_channel_has_no_influence(
    records: list[dict[str, Any]], name: str
) -> None:
    whole = profiles.get(name)
    fused: Any = whole.fusion
    channels = tuple(one for one in whole.channels if one.name != "temporal")
    if name == "oneiros":
        two = whole.replace(channels=channels)
    else:
        changes = {"weights": fused.weights[:2]}
        if name == "omega-bounded":
            changes["normalise"] = fused.normalise[:2]
        two = whole.replace(channels=channels, fusion=replace(fused, **changes))
    with engine_of(records) as mind:
        asked: dict[str, Any] = {"reinforce": False}
        got = [(one.id, one.score) for one in mind.search("ant bee", profile=whole, **asked)]
        want = [(one.id, one.score) for one in mind.search("ant bee", profile=two, **asked)]
    assert got == want
