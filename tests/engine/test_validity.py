"""Recall of what was valid at a time, and of what is valid no more."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.selection import Selection

NOW = 1_750_000_000.0
DAY = 86_400.0
MOMENTS = st.sampled_from([NOW - 2 * DAY, NOW - DAY, NOW, NOW + DAY])
OPEN = profiles.get("reverie").replace(
    selection=Selection(hide_superseded=False, hide_expired=False)
)
OPEN_COGNITIVE = profiles.get("cognitive").replace(
    selection=Selection(hide_superseded=False, hide_expired=False)
)
EXPIRING = ("plan", "transient_state")


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


COGNITIVE = ["cognitive", "cognitive-0.5"]
KINDS = ["plan", "transient_state", "fact", "note", "plans", "Plan"]


def of_every_kind(mind: oneiros.Engine, **fields: Any) -> None:
    """Add a memory of each kind, named for it, each at another cosine to [1, 0]."""
    for number, kind in enumerate(KINDS):
        mind.add(f"ant of a {kind}", id=kind, kind=kind, embedding=[1.0, 0.1 * number], **fields)


# "cosine" finds no memory without a vector.
@pytest.mark.parametrize("name", [name for name in profiles.names() if name != "cosine"])
def test_which_kinds_expire_is_said_by_the_profile(mind: oneiros.Engine, name: str) -> None:
    of_every_kind(mind, created_at=NOW - DAY, valid_until=NOW - 1)
    expiring = profiles.get(name).selection.expiring_kinds
    assert expiring == (("plan", "transient_state") if name in COGNITIVE else ())
    found = mind.search("ant", profile=name, reinforce=False)
    assert set(found.ids) == (set(KINDS) - set(expiring) if expiring else set())
    everything = mind.search("ant", profile=name, reinforce=False, include_expired=True, k=20)
    if name not in {"omega", "omega-bounded"}:  # these leave out duplicates
        assert set(everything.ids) == set(KINDS)


@pytest.mark.parametrize("fields", [{"valid_until": NOW - 1}, {"ttl": DAY / 2}])
def test_what_does_not_expire_stays_as_it_is(
    mind: oneiros.Engine, fields: dict[str, float]
) -> None:
    of_every_kind(mind, created_at=NOW - DAY, **fields)
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "reinforce": False}
    plain = mind.search("ant", profile=OPEN_COGNITIVE, **asked)
    scores = {one.id: one.score for one in plain}
    assert len(scores) == len(KINDS)
    assert min(scores.values()) > 0
    deep = {"deep_recall": True, "include_expired_in_deep_recall": True}
    moments: list[dict[str, Any]] = [{}, {"valid_at": NOW}]
    for options in (*moments, *({**deep, **one} for one in moments)):
        response = mind.search("ant", profile="cognitive", **asked, **options)
        (many,) = mind.search_many(
            ["ant"], embeddings=[[1.0, 0.0]], profile="cognitive", reinforce=False, **options
        )
        assert [(one.id, one.score) for one in many] == [(one.id, one.score) for one in response]
        wanted = {id: score for id, score in scores.items() if id not in EXPIRING}
        if "deep_recall" in options:
            wanted |= {id: scores[id] / 2 for id in EXPIRING}
        assert {one.id: one.score for one in response} == wanted
        assert {one.id for one in response if one.via_deep_recall} == set(wanted) & set(EXPIRING)


def test_what_begins_later_is_not_recalled_of_whatever_kind(mind: oneiros.Engine) -> None:
    of_every_kind(mind, valid_from=NOW + DAY)
    assert not mind.search("ant", profile="cognitive").ids
    assert not mind.search("ant", profile="cognitive", include_expired=True).ids
    assert set(mind.search("ant", profile="cognitive", now=NOW + DAY).ids) == set(KINDS)


def test_a_profile_may_say_which_kinds_expire(mind: oneiros.Engine) -> None:
    of_every_kind(mind, created_at=NOW - DAY, valid_until=NOW - 1)
    profile = profiles.get("reverie").replace(
        selection=Selection(expiring_kinds=("note", "unheard"))
    )
    assert set(mind.search("ant", profile=profile).ids) == set(KINDS) - {"note"}
    mind.update("fact", kind="unheard")
    assert set(mind.search("ant", profile=profile).ids) == set(KINDS) - {"note", "fact"}
    assert profiles.get("reverie").hash == profile.replace(selection=Selection()).hash
    for wrong, error in (("plan", TypeError), ([""], ValueError), ([1], TypeError)):
        with pytest.raises(error, match="expiring_kinds"):
            Selection(expiring_kinds=wrong)  # type: ignore[arg-type]


def test_why_not_follows_the_kinds_that_expire(mind: oneiros.Engine) -> None:
    of_every_kind(mind, created_at=NOW - DAY, valid_until=NOW - 1)
    for kind in KINDS:
        response = mind.why_not("ant", kind, profile="cognitive")
        assert [one.reason for one in response.hidden] == (["expired"] if kind in EXPIRING else [])
        assert response.is_returned == (kind not in EXPIRING)


def test_a_scope_and_a_filter_follow_them_too(mind: oneiros.Engine) -> None:
    for kind in KINDS:
        mind.add("ant", id=kind, kind=kind, project="p", valid_until=NOW - 1)
    scope = mind.scope(project="p")
    assert set(scope.search("ant", profile="cognitive").ids) == set(KINDS) - set(EXPIRING)
    where = oneiros.where(kind=["plan", "fact"])
    assert scope.search("ant", profile="cognitive", where=where).ids == ["fact"]


def test_a_dream_sums_up_what_does_not_expire() -> None:
    records = [
        {
            "text": f"{kind} {number}",
            "id": f"{kind} {number}",
            "kind": kind,
            "valid_until": NOW - 1,
            "created_at": NOW - 900 * DAY,
            "category": "episodic",
            "embedding": embedding,
        }
        for kind, embedding in (("fact", [1.0, 0.0]), ("plan", [0.0, 1.0]))
        for number in range(5)
    ]
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: NOW) as mind:
        mind.add_many(records, now=NOW - 900 * DAY)
        mind.dream()
        gone = {one.id for one in mind.list() if one.superseded_by is not None}
        assert gone == {f"fact {number}" for number in range(5)}


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
