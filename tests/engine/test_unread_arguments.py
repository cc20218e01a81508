"""Arguments that a profile does not read are refused, and the message names the profiles that do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

import oneiros
from oneiros.scoring.channels import LexicalChannel, TemporalChannel
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import get, names

NOW = 1_750_000_000.0
DAY = 86_400.0
BARE = Profile(name="bare", channels=(LexicalChannel(),), reinforcement=None)
TIMED = Profile(name="timed", channels=(LexicalChannel(), TemporalChannel()))

OMEGAS = ("omega", "omega-bounded")
READERS: dict[str, tuple[str, ...]] = {
    "hint": OMEGAS,
    "date_range": (*OMEGAS, "oneiros"),
    "soft_range": ("omega", "oneiros"),  # O32 has no factor for times
    "context": OMEGAS,
}
RANGE = {"date_range": (NOW - DAY, NOW)}
GIVEN: dict[str, dict[str, Any]] = {
    "hint": {"hint": "decision"},
    "date_range": RANGE,
    "soft_range": {**RANGE, "soft_range": True},
    "context": {"context": oneiros.Context(project="x")},
}


@pytest.fixture
def mind() -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    mind.add("the pool was full", id="a", project="x")
    return mind


CALLS: dict[str, Callable[..., object]] = {
    "search": lambda mind, **given: mind.search("pool", **given),
    "search_many": lambda mind, **given: mind.search_many(["pool"], **given),
    "search_many of none": lambda mind, **given: mind.search_many([], **given),
    "why_not": lambda mind, **given: mind.why_not("pool", "a", **given),
    "scope.search": lambda mind, **given: mind.scope(project="x").search("pool", **given),
    "scope.why_not": lambda mind, **given: mind.scope(project="x").why_not("pool", "a", **given),
}


@pytest.mark.parametrize("profile", names())
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("call", CALLS)
def test_an_argument_that_the_profile_does_not_read_is_refused(
    mind: oneiros.Engine, profile: str, name: str, call: str
) -> None:
    if profile in READERS[name]:
        CALLS[call](mind, profile=profile, **GIVEN[name])
        return
    argument = name if profile in READERS["date_range"] or name != "soft_range" else "date_range"
    message = (
        f"{argument}: must be left out, since the profile {profile!r} does not read it; "
        f"{', '.join(READERS[argument])} do"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CALLS[call](mind, profile=profile, **GIVEN[name])


def test_a_profile_that_reads_times_may_not_read_softness(mind: oneiros.Engine) -> None:
    mind.search("pool", profile=TIMED, **RANGE)
    with pytest.raises(ValueError, match=r"^soft_range: must be left out, since .* 'timed'"):
        mind.search("pool", profile=TIMED, **GIVEN["soft_range"])


def test_a_refused_search_strengthens_nothing(mind: oneiros.Engine) -> None:
    with pytest.raises(ValueError, match=r"^hint: must be left out"):
        mind.search("pool", hint="decision")
    assert mind.get("a").access_count == 0


def test_an_engine_of_another_default_profile_refuses_by_that() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        with pytest.raises(ValueError, match=r"the profile 'reverie' does not read it"):
            mind.search("pool", **RANGE)
        mind.search("pool", profile="oneiros", **RANGE)


@pytest.mark.parametrize("call", CALLS)
def test_expired_memories_of_a_deep_recall_need_one(mind: oneiros.Engine, call: str) -> None:
    words = "^include_expired_in_deep_recall: needs deep_recall, got True without it$"
    with pytest.raises(ValueError, match=words):
        CALLS[call](mind, include_expired_in_deep_recall=True)
    CALLS[call](mind, include_expired_in_deep_recall=True, deep_recall=True)
    CALLS[call](mind, include_expired_in_deep_recall=False)


@pytest.mark.parametrize("profile", names())
def test_the_trace_notes_an_expander_that_the_profile_cannot_use(profile: str) -> None:
    with oneiros.Engine(":memory:", query_expander=lambda _: ["swim"]) as mind:
        mind.add("the pool was full")
        asked: dict[str, Any] = {"profile": profile, "reinforce": False}
        one = mind.search("how does the pool work", **asked)
        (batch,) = mind.search_many(["how does the pool work"], **asked)
    unused = "query_expander not used by the profile"
    for response in (one, batch):
        assert (unused in ", ".join(response.trace.notes)) == (profile != "omega")


def test_a_hint_that_the_profile_does_not_list_is_noted(mind: oneiros.Engine) -> None:
    note = "hint not listed by the profile"
    assert mind.search("pool", profile="omega", hint="decison").trace.notes == (note,)
    assert mind.search("pool", profile="omega", hint="decision").trace.notes == ("hint decision",)
    assert mind.search("pool", profile="omega", where=oneiros.where(kind="x")).trace.notes == ()


def test_a_situation_is_read_without_the_factor_that_it_weighs(mind: oneiros.Engine) -> None:
    omega = get("omega")
    factors = tuple(one for one in omega.factors if one.name != "context")
    situations = omega.replace(name="situations", factors=factors)
    context = oneiros.Context(situation="planning")
    mind.search("pool", profile=situations, context=context)
    with pytest.raises(ValueError, match="situation"):
        mind.search("pool", profile="omega", context=oneiros.Context(situation="asleep"))


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
            for name, given in GIVEN.items():
                argument = "date_range" if name == "soft_range" else name
                with pytest.raises(ValueError, match=f"^{argument}: must be left out"):
                    await mind.search("pool", profile="ciar", **given)
                with pytest.raises(ValueError, match=f"^{argument}: must be left out"):
                    await mind.search_many(["pool"], profile="ciar", **given)
                with pytest.raises(ValueError, match=f"^{argument}: must be left out"):
                    await mind.why_not("pool", "a", profile="ciar", **given)

    asyncio.run(refused())
