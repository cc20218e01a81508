"""Deep recall: what is superseded, or past its validity, comes back with a penalty."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine, profiles
from oneiros.scoring.factors import Expression
from oneiros.scoring.selection import Selection
from tests.engine.random_world import NOW, Store, random_question, random_store
from tests.engine.test_profiles_against_oracles import engine_of
from tests.oracles.cognitive import is_expired, penalty
from tests.oracles.records import DAY, value

FEW = settings(max_examples=500 if os.environ.get("ONEIROS_LONG") else 5, deadline=None)
WHOLE = oneiros.profiles.get("cognitive").replace(
    selection=Selection(hide_superseded=False, hide_expired=False)
)


def perishable_store(seed: int, size: int) -> Store:
    """Memories of which some are superseded, some past their validity, some cold."""
    random = np.random.default_rng([seed, 3])
    records = {id: dict(one) for id, one in random_store(seed, size).records.items()}
    for one in records.values():
        one["kind"] = str(random.choice(["plan", "transient_state", "fact", "plans"]))
        if random.random() < 0.3:
            one["superseded_by"] = f"m{random.integers(size)}"
        if random.random() < 0.3:
            one["valid_until"] = NOW + float(random.choice([-DAY, 0.0, DAY]))
        elif random.random() < 0.2:
            one["ttl"] = float(random.choice([1.0, 1e9]))
        if random.random() < 0.2:
            one["tier"] = "cold"
    return Store(records)


@FEW
@given(
    seed=st.integers(0, 2**32 - 1),
    deep=st.booleans() | st.just(True),
    lapsed=st.booleans(),
    expired=st.booleans() | st.just(False),
    by=st.sampled_from([0.5, 0.8, 0.0, 1.0]) | st.floats(0.0, 1.0),
)
def test_what_comes_back_has_the_penalty_of_the_profile(
    seed: int, deep: bool, lapsed: bool, expired: bool, by: float
) -> None:
    store = perishable_store(seed, 25)
    query, vector = random_question(seed)
    asked: dict[str, Any] = {"embedding": vector, "reinforce": False, "explain": True, "k": 100}
    options: dict[str, Any] = {
        "deep_recall": deep,
        "include_expired_in_deep_recall": deep and lapsed,
        "include_expired": expired,
    }
    profile = profiles.get("cognitive").replace(deep_recall_penalty=by)
    with engine_of(store) as mind:
        whole = {one.id: one.score for one in mind.search(query, profile=WHOLE, **asked)}
        told = mind.search(query, profile=profile, **asked, **options)
        (many,) = mind.search_many(
            [query], 100, embeddings=[vector], profile=profile, reinforce=False, **options
        )
    want = {}
    for id, score in whole.items():
        record = store.records[id]
        late = is_expired(record, NOW)
        superseded = record.get("superseded_by") is not None
        if superseded and not deep:
            continue
        if late and not (expired or (deep and lapsed)):
            continue
        if value(record, "tier") == "cold" and not superseded:
            continue
        if expired:
            record = {**record, "valid_until": None, "ttl": None}
        is_back = superseded or (late and not expired)
        want[id] = (score * penalty(record, NOW, deep_recall=deep, by=by), is_back)
    assert {one.id: one.score for one in told} == pytest.approx(
        {id: score for id, (score, _) in want.items()}, rel=1e-12
    )
    assert told.ids == sorted(
        told.ids, key=lambda id: (-next(o.score for o in told if o.id == id), int(id[1:]))
    )
    assert {one.id: one.via_deep_recall for one in told} == {
        id: is_back for id, (_, is_back) in want.items()
    }
    assert many.ids == told.ids
    for one in told:
        assert one.explanation is not None
        assert one.explanation.evaluate() == one.score


@pytest.fixture
def mind() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW) as opened:
        opened.add("ant was here", id="old")
        opened.add("ant is there", id="new")
        opened.supersede("old", "new")
        yield opened


def test_results_say_what_held_when_they_were_found(mind: Engine) -> None:
    response = mind.search("ant", deep_recall=True, reinforce=False)
    mind.update("old", superseded_by=None)
    mind.supersede("new", "old")
    assert {one.id: one.via_deep_recall for one in response} == {"old": True, "new": False}


def test_deep_recall_finds_what_was_replaced(mind: Engine) -> None:
    assert mind.search("ant", reinforce=False).ids == ["new"]
    told = mind.search("ant", deep_recall=True, explain=True)
    assert told.ids == ["new", "old"]
    assert [one.via_deep_recall for one in told] == [False, True]
    old = told.results[1].explanation
    assert old is not None
    assert (old.factors[-1].name, old.factors[-1].value) == ("deep_recall", 0.5)
    assert told.profile_hash == mind.search("ant", reinforce=False).profile_hash
    assert mind.why_not("ant", "old", deep_recall=True).is_returned
    assert mind.why_not("ant", "old").hidden[0].reason == "superseded"


@pytest.mark.parametrize("name", profiles.names())
def test_the_penalty_is_a_field_of_every_profile(mind: Engine, name: str) -> None:
    asked: dict[str, Any] = {"deep_recall": True, "reinforce": False, "explain": True}
    published = profiles.get(name)
    assert published.deep_recall_penalty == 0.5
    for by in (0.5, 0.8, 1.0, 0.0):
        response = mind.search("ant", profile=published.replace(deep_recall_penalty=by), **asked)
        for one in response:
            assert one.explanation is not None
            factors = one.explanation.factors
            values = [factor.value for factor in factors if factor.name == "deep_recall"]
            assert values == [by if one.id == "old" else 1.0]
            assert one.via_deep_recall == (one.id == "old")


def test_a_profile_with_all_the_factors_it_may_have_recalls_deeply(mind: Engine) -> None:
    mind.link("old", mind.add("bee", id="bee"))
    many = tuple(Expression("1", name=f"f{number}") for number in range(32))
    profile = profiles.get("oneiros").replace(factors=many)
    response = mind.search("bee", profile=profile, deep_recall=True, explain=True)
    assert response.ids == ["bee", "old"]
    assert mind.why_not("bee", "old", profile=profile, deep_recall=True).is_returned


def test_no_rule_of_a_profile_takes_the_penalty_away(mind: Engine) -> None:
    omega = profiles.get("omega")
    assert omega.strong_signal is not None
    rule = replace(omega.strong_signal, threshold=0.0, gap=0.0, skips=("deep_recall",))
    profile = omega.replace(strong_signal=rule)
    response = mind.search("ant", profile=profile, deep_recall=True, explain=True, reinforce=False)
    old = next(one for one in response if one.id == "old").explanation
    assert old is not None
    assert [one.value for one in old.factors if one.name == "deep_recall"] == [0.5]


def test_why_not_applies_the_penalty(mind: Engine) -> None:
    profile = profiles.get("oneiros").replace(deep_recall_penalty=0.25)
    explanation = mind.why_not("ant", "old", profile=profile, deep_recall=True, k=1).explanation
    assert explanation is not None
    last = explanation.factors[-1]
    assert (last.name, last.value) == ("deep_recall", 0.25)


def test_links_lead_to_what_was_replaced_in_deep_recall_alone(mind: Engine) -> None:
    mind.add("bee", id="bee")
    mind.link("bee", "old")
    asked: dict[str, Any] = {"reinforce": False}
    assert mind.search("bee", **asked).ids == ["bee"]
    told = mind.search("bee", deep_recall=True, **asked)
    assert told.ids == ["bee", "old"]
    assert told.results[1].is_associative
    assert told.results[1].via_deep_recall
    assert mind.search("bee", deep_recall=True, profile="omega", **asked).ids == ["bee"]


@pytest.mark.parametrize("name", ["deep_recall", "include_expired_in_deep_recall"])
def test_deep_recall_is_a_flag(mind: Engine, name: str) -> None:
    options: dict[str, Any] = {name: "yes"}
    for call in (lambda: mind.search("ant", **options), lambda: mind.search_many(["a"], **options)):
        with pytest.raises(TypeError, match=name):
            call()
