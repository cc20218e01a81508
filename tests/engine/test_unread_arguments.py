"""Arguments that a profile does not read: noted in the trace, or refused where nothing can come of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import oneiros
from oneiros.profiles import get, names
from oneiros.ranking.channels import LexicalChannel
from oneiros.ranking.profile import Profile

NOW = 1_750_000_000.0
DAY = 86_400.0
BARE = Profile(name="bare", channels=(LexicalChannel(),), reinforcement=None)

READ = {
    "omega": {"hint", "date_range", "context"},
    "omega-bounded": {"hint", "date_range", "context"},
    "oneiros": {"date_range"},
}
GIVEN: dict[str, Any] = {
    "hint": "decision",
    "date_range": (NOW - DAY, NOW),
    "context": oneiros.Context(project="x"),
}


@pytest.fixture
def mind() -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    mind.add("the pool was full", id="a", project="x")
    return mind


def unread(response: oneiros.SearchResponse) -> set[str]:
    noted = [note for note in response.trace.notes if "not read by the profile: " in note]
    assert len(noted) <= 1
    return set(noted[0].split("not read by the profile: ")[1].split(", ")) if noted else set()


@pytest.mark.parametrize("profile", names())
@pytest.mark.parametrize("name", GIVEN)
def test_what_is_not_read_is_noted_and_changes_nothing(
    mind: oneiros.Engine, profile: str, name: str
) -> None:
    asked: dict[str, Any] = {"profile": profile, "reinforce": False}
    plain = mind.search("pool", **asked)
    given = mind.search("pool", **asked, **{name: GIVEN[name]})
    (batch,) = mind.search_many(["pool"], **asked, **{name: GIVEN[name]})
    is_read = name in READ.get(profile, set())
    assert unread(given) == unread(batch) == (set() if is_read else {name})
    assert unread(plain) == set()
    if not is_read:
        assert [(one.id, one.score) for one in given] == [(one.id, one.score) for one in plain]


def test_all_that_is_not_read_is_one_note(mind: oneiros.Engine) -> None:
    response = mind.search("pool", profile="reverie", **GIVEN)
    assert response.trace.notes == ("not read by the profile: hint, date_range, context",)


def test_a_hint_that_the_profile_does_not_list_is_noted(mind: oneiros.Engine) -> None:
    assert unread(mind.search("pool", profile="omega", hint="decison")) == {"hint"}
    assert unread(mind.search("pool", profile="omega", where=oneiros.where(kind="x"))) == set()


def test_a_situation_is_read_without_the_factor_that_it_weighs(mind: oneiros.Engine) -> None:
    omega = get("omega")
    factors = tuple(one for one in omega.factors if one.name != "context")
    situations = omega.replace(name="situations", factors=factors)
    context = oneiros.Context(situation="planning")
    assert unread(mind.search("pool", profile=situations, context=context)) == set()


def test_reinforcing_by_no_rule_is_refused(mind: oneiros.Engine) -> None:
    words = r"^reinforce: must not be True, since the profile 'bare' has no reinforcement"
    for search in (
        lambda **options: mind.search("pool", **options),
        lambda **options: mind.search_many(["pool"], **options),
        lambda **options: mind.scope(project="x").search("pool", **options),
    ):
        with pytest.raises(ValueError, match=words):
            search(profile=BARE, reinforce=True)
        search(profile=BARE)
        search(profile=BARE, reinforce=False)
        search(reinforce=True)


def test_awaited_calls_refuse_the_same() -> None:
    async def refused() -> None:
        async with oneiros.AsyncEngine(":memory:") as mind:
            with pytest.raises(ValueError, match=r"^judge: must be left out"):
                await mind.dream(judge=lambda *_: "distinct")
            with pytest.raises(ValueError, match=r"^reinforce: must not be True"):
                await mind.search("pool", profile=BARE, reinforce=True)

    asyncio.run(refused())
