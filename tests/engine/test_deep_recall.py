"""Deep recall: what is superseded, or past its validity, comes back and counts half."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine
from oneiros.ranking.selection import Selection
from tests.engine.random_world import NOW, Store, random_question, random_store
from tests.engine.test_profiles_against_oracles import engine_of
from tests.oracles.cognitive import penalty
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
        one["kind"] = str(random.choice(["plan", "transient_state"]))
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
)
def test_what_comes_back_counts_half(seed: int, deep: bool, lapsed: bool, expired: bool) -> None:
    store = perishable_store(seed, 25)
    query, vector = random_question(seed)
    asked: dict[str, Any] = {"embedding": vector, "reinforce": False, "explain": True, "k": 100}
    options: dict[str, Any] = {
        "deep_recall": deep,
        "include_expired_in_deep_recall": lapsed,
        "include_expired": expired,
    }
    with engine_of(store) as mind:
        whole = {one.id: one.score for one in mind.search(query, profile=WHOLE, **asked)}
        told = mind.search(query, profile="cognitive", **asked, **options)
        (many,) = mind.search_many(
            [query], 100, embeddings=[vector], profile="cognitive", reinforce=False, **options
        )
    want = {}
    for id, score in whole.items():
        record = store.records[id]
        late = penalty({**record, "superseded_by": None}, NOW, deep_recall=True) < 1
        superseded = record.get("superseded_by") is not None
        if superseded and not deep:
            continue
        if late and not (expired or (deep and lapsed)):
            continue
        if value(record, "tier") == "cold" and not superseded:
            continue
        halved = penalty({**record, "valid_until": None, "ttl": None}, NOW, deep_recall=deep)
        if late and not expired:
            halved *= 0.5
        want[id] = (score * halved, halved < 1)
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
