"""Recall of what was valid at a time, and of what is valid no more."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.ranking.selection import Selection

NOW = 1_750_000_000.0
DAY = 86_400.0
MOMENTS = st.sampled_from([NOW - 2 * DAY, NOW - DAY, NOW, NOW + DAY])
OPEN = profiles.get("reverie").replace(
    selection=Selection(hide_superseded=False, hide_expired=False)
)


@pytest.fixture(scope="module")
def shared() -> oneiros.Engine:
    return oneiros.Engine(":memory:", clock=lambda: NOW)


def test_a_valid_time_is_not_the_clock(mind: oneiros.Engine) -> None:
    was = mind.add("ant of last year", valid_until=NOW - DAY)
    now = mind.add("ant of this year", valid_from=NOW - DAY + 1)
    assert mind.search("ant").ids == [now]
    assert mind.search("ant", valid_at=NOW - 2 * DAY).ids == [was]
    assert mind.search("ant", valid_at=datetime.fromtimestamp(NOW - 2 * DAY, UTC)).ids == [was]
    assert mind.search_many(["ant"], valid_at=NOW - 2 * DAY)[0].ids == [was]
    told = mind.search("ant", valid_at=NOW - 2 * DAY)
    assert told.now == NOW
    assert mind.search("ant", now=NOW - 2 * DAY, valid_at=NOW).ids == [now]


def test_expired_memories_come_when_asked_for_and_cost_nothing(mind: oneiros.Engine) -> None:
    over = mind.add("ant over", valid_until=NOW - 1)
    short = mind.add("ant short", created_at=NOW - 10, ttl=5)
    early = mind.add("ant early", valid_from=NOW + DAY)
    assert mind.search("ant").ids == []
    found = mind.search("ant", include_expired=True)
    assert set(found.ids) == {over, short}
    assert mind.search_many(["ant"], include_expired=True)[0].ids == found.ids
    plain = mind.search("ant", profile=OPEN)
    scores = {one.id: one.score for one in plain}
    mind.update(over, valid_until=NOW + DAY)  # unpenalised: as one that is valid
    assert [one.score for one in mind.search("ant", profile=OPEN) if one.id == over] == [
        scores[over]
    ]
    assert early in mind.search("ant", include_expired=True, now=NOW + 2 * DAY).ids


def test_a_valid_time_counts_even_where_a_profile_hides_nothing(mind: oneiros.Engine) -> None:
    over = mind.add("ant", valid_until=NOW - 1)
    assert mind.search("ant", profile=OPEN).ids == [over]
    assert mind.search("ant", profile=OPEN, valid_at=NOW).ids == []
    assert mind.search("ant", profile=OPEN, valid_at=NOW - 1).ids == [over]


def test_why_not_tells_of_the_valid_time(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a", valid_until=NOW - 1)
    assert mind.why_not("ant", "a", include_expired=True).is_returned
    assert mind.why_not("ant", "a", valid_at=NOW - 2).is_returned
    (hiding,) = mind.why_not("ant", "a", valid_at=NOW + 5).hidden
    assert hiding.reason == "expired"
    assert "valid_at is 2025-06-15T15:06:45Z" in hiding.detail


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_include_expired_is_a_flag(mind: oneiros.Engine, wrong: object) -> None:
    with pytest.raises(TypeError, match="include_expired"):
        mind.search("ant", include_expired=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, "one day", True])
def test_a_valid_time_is_a_time(mind: oneiros.Engine, wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match="valid_at"):
        mind.search("ant", valid_at=wrong)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(
    since=st.none() | MOMENTS,
    until=st.none() | MOMENTS,
    ttl=st.none() | st.sampled_from([1.0, DAY, 1.5 * DAY]),
    created=st.sampled_from([NOW - 2 * DAY, NOW - DAY]),
    now=st.sampled_from([NOW - DAY, NOW, NOW + DAY]),
    valid_at=st.none() | MOMENTS | st.just(NOW - 0.5),
    includes=st.booleans(),
)
def test_what_is_found_is_what_c7_says(
    shared: oneiros.Engine,
    since: float | None,
    until: float | None,
    ttl: float | None,
    created: float,
    now: float,
    valid_at: float | None,
    includes: bool,
) -> None:
    mind = shared
    id = mind.add("ant", created_at=created, valid_from=since, valid_until=until, ttl=ttl)
    moment = now if valid_at is None else valid_at
    is_over = (until is not None and moment > until) or (ttl is not None and moment > created + ttl)
    is_early = since is not None and since > moment
    found = mind.search(
        "ant", now=now, valid_at=valid_at, include_expired=includes, reinforce=False
    )
    assert found.ids == ([] if is_early or (is_over and not includes) else [id])
    mind.forget(id)
