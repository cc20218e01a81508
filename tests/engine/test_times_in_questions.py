"""Questions that name a time, against a plain model: docs/systems/omega.md O4, O22; house.md H1, H10."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.channels import LexicalChannel, TemporalChannel
from oneiros.scoring.factors import TemporalConstraint
from oneiros.scoring.fusion import Blend, ReciprocalRankFusion
from oneiros.scoring.profile import Profile
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


NAMED = {
    "2 weeks ago": ("2025-06-01", "2025-06-08", "inferred"),
    "in May 2025": ("2025-05-01", "2025-06-01", "explicit"),
    "around May 2025": ("2025-05-01", "2025-06-01", "soft"),
    "": ("2025-06-01", "2025-06-08", ""),
}
"""What questions say: the time, and how surely it is named."""
GIVEN = st.sampled_from([None, False, True])
"""Whether no range is given, a hard or a soft one."""


def asked_in(time: str, is_soft: bool | None) -> tuple[str, dict[str, Any]]:
    """Return a question that names a time, and a range that is given in its place, if one is."""
    query = f"ant {time}"
    if is_soft is None:
        return query, {}
    start, end, _ = NAMED[time]
    return query, {"date_range": (at(start), at(end)), "soft_range": is_soft}


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.sampled_from(list(NAMED)), GIVEN)
def test_memories_out_of_the_time_are_weighed_by_their_own_date(
    records: list[dict[str, Any]], time: str, is_soft: bool | None
) -> None:
    """O22: a range in the question's words is soft, whatever they are."""
    once = oneiros.profiles.get("omega").replace(retry=None)
    query, options = asked_in(time, is_soft)
    with engine_of(records, once) as mind:
        response = mind.search(query, 20, explain=True, **options)
        (batch,) = mind.search_many([query], 20, explain=True, **options)
        scoped = mind.scope(project="red").search(query, 20, explain=True, **options)
    assert [(one.id, one.score) for one in batch] == [(one.id, one.score) for one in response]
    for result in (*response, *scoped):
        record = records[int(result.id[1:])]
        want = 1.0
        if time or is_soft is not None:
            start, end, _ = NAMED[time]
            is_within = at(start) <= record.get("event_at", record["created_at"]) <= at(end)
            want = omega.temporal_factor(
                is_within, "event_at" in record, is_soft=is_soft is not False
            )
        told = result.explanation
        assert told is not None
        assert {factor.name: factor.value for factor in told.factors}["temporal"] == want
        assert told.evaluate() == result.score


@settings(max_examples=40, deadline=None)
@given(RECORDS, st.sampled_from(list(NAMED)), GIVEN)
def test_the_house_damps_what_lies_outside_of_the_time(
    records: list[dict[str, Any]], time: str, is_soft: bool | None
) -> None:
    """H10: by how surely the question names it; a range that is given is explicit, or soft."""
    profile = profiles.get("oneiros")
    query, options = asked_in(time, is_soft)
    with engine_of(records, profile) as mind:
        response = mind.search(query, 20, explain=True, **options)
        if is_soft is not None:  # without H10 nothing reads whether the range is soft
            options["soft_range"] = False
        whole = mind.search(query, 20, profile=profile.replace(named_time=None), **options)
    before = {result.id: result.relevance_score for result in whole}
    assert {result.id for result in response} == before.keys()
    for result in response.results:
        one = records[int(result.id[1:])]
        moment = one.get("event_at", one["created_at"])
        share = 1.0
        if time or is_soft is not None:
            start, end, certainty = NAMED[time]
            if is_soft is not None:
                certainty = "soft" if is_soft else "explicit"
            share = 1.0 if at(start) <= moment <= at(end) else house.OUTSIDE[certainty]
        assert result.relevance_score == pytest.approx(share * before[result.id], rel=1e-12)
        told = result.explanation
        assert told is not None
        assert told.evaluate() == result.score


def test_each_profile_reads_the_time_in_its_own_way() -> None:
    """A profile with both rules: O22 by the memory's date, H10 by the wording."""
    both = profiles.get("oneiros").replace(
        abstention=None,
        statements=None,
        neighbours=None,
        factors=(TemporalConstraint(),),
        fusion=Blend(),  # by coverage, the words of a time would count as not found (H3)
    )
    records = [
        {"text": "ant", "created_at": at("2025-05-10")},
        {"text": "ant", "created_at": at("2024-01-01")},
        {"text": "ant", "created_at": at("2025-05-10"), "event_at": at("2024-01-01")},
    ]
    with engine_of(records, both) as mind:

        def shares(query: str, **options: Any) -> list[float]:
            found = {one.id: one.score for one in mind.search(query, reinforce=False, **options)}
            plain = {one.id: one.score for one in mind.search("ant", reinforce=False)}
            return [found[id] / plain[id] for id in ("m0", "m1", "m2")]

        may = {"date_range": (at("2025-05-01"), at("2025-06-01"))}
        assert shares("ant", **may) == pytest.approx([1.3, 0.5 * 0.70, 0.5 * 0.15])
        soft = pytest.approx([1.3, 0.85 * 0.85, 0.85 * 0.85])
        assert shares("ant", soft_range=True, **may) == soft
        assert shares("ant in May 2025") == pytest.approx([1.3, 0.5 * 0.85, 0.5 * 0.85])


@pytest.mark.parametrize(
    ("profile", "query", "options", "note"),
    [
        ("omega", "ant in May 2025", {}, "('May 2025', soft)"),
        ("oneiros", "ant in May 2025", {}, "('May 2025', explicit)"),
        ("omega", "ant 2 weeks ago", {}, "('2 weeks ago', soft)"),
        ("oneiros", "ant 2 weeks ago", {}, "('2 weeks ago', inferred)"),
        ("omega", "ant", {"date_range": (NOW, None)}, "(given)"),
        ("oneiros", "ant", {"date_range": (NOW, None), "soft_range": True}, "(given, soft)"),
    ],
)
def test_the_trace_says_how_a_time_was_read(
    profile: str, query: str, options: dict[str, Any], note: str
) -> None:
    once = profiles.get(profile).replace(retry=None)  # a second search leaves the time out
    with engine_of([{"text": "ant", "created_at": NOW}], once) as mind:
        notes = mind.search(query, reinforce=False, **options).trace.notes
    assert any(note in one for one in notes)


def test_an_engine_that_is_awaited_takes_a_soft_range() -> None:
    async def scores() -> list[float]:
        async with oneiros.AsyncEngine(":memory:", profile="omega", clock=lambda: NOW) as mind:
            await mind.add("ant", id="a", event_at=at("2024-01-01"))
            asked: dict[str, Any] = {"date_range": (at("2025-05-01"), NOW), "reinforce": False}
            hard = await mind.search("ant", 1, **asked)
            (soft,) = await mind.search_many(["ant"], 1, soft_range=True, **asked)
            missed = await mind.why_not("ant", "a", k=1, soft_range=True, **asked)
        assert missed.score is not None
        return [hard.results[0].raw_score, soft.results[0].raw_score, missed.score]

    hard, soft, missed = asyncio.run(scores())
    assert soft / hard == pytest.approx(0.85 / 0.15)
    assert missed == pytest.approx(1.0)  # after the final normalisation


def test_every_call_takes_a_soft_range() -> None:
    may = (at("2025-05-01"), at("2025-06-01"))
    records = [
        {"text": "which ant is it that sleeps", "created_at": at("2025-05-10")},
        {"text": "which bee is it that sleeps", "created_at": at("2025-01-10"), "project": "red"},
    ]
    compound = "which bee sleeps today and which ant sleeps today"
    hard: dict[str, Any] = {"date_range": may, "reinforce": False}
    soft = {**hard, "soft_range": True}
    with engine_of(records, profiles.get("omega").replace(retry=None, abstention=None)) as mind:
        for query in ("which bee", compound):
            told = {one.id: one.raw_score for one in mind.search(query, **soft)}
            strict = {one.id: one.raw_score for one in mind.search(query, **hard)}
            assert told["m0"] == strict["m0"]
            assert told["m1"] > strict["m1"]
            again = mind.search_many([query, query], **soft)
            assert [[one.raw_score for one in each] for each in again] == [[*told.values()]] * 2
        scope = mind.scope(project="red")
        ratio = scope.search("bee", **soft).results[0].raw_score
        assert ratio / scope.search("bee", **hard).results[0].raw_score == pytest.approx(0.85 / 0.7)
        missed = mind.why_not("which ant", "m1", k=1, **soft)
        factors = {one.name: one.value for one in missed.factors}
        assert factors["temporal"] == 0.85
        for call in (mind.search, scope.search):
            with pytest.raises(ValueError, match="soft_range: needs a date_range"):
                call("ant in May 2025", soft_range=True)
        with pytest.raises(ValueError, match="soft_range: needs a date_range"):
            mind.search_many([], soft_range=True)
        with pytest.raises(ValueError, match="soft_range: needs a date_range"):
            mind.why_not("ant", "m0", soft_range=True)


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
        certainty = "explicit" if profile == "oneiros" else "soft"
        note = f"time 2025-05-01T00:00:00Z/2025-06-01T00:00:00Z ('May 2025', {certainty})"
        assert any(note in told for told in response.trace.notes)
        assert all(one.explanation.evaluate() == one.score for one in response if one.explanation)
        missed = mind.why_not("pool in May 2025", "m2")
        assert (
            missed.channels[-1].detail == "further from the named time than that is long, in days"
        )
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
