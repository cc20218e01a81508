"""Memories that name no time, where one is asked for: docs/systems/house.md H13."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.scoring.relevance_adjustments import AskedTime
from tests.oracles import house

NOW = 1_750_000_000.0
HOUSE = oneiros.profiles.get("oneiros")
UNASKED = HOUSE.replace(asked_time=None)
TEXTS = {
    "plain": "Caroline moved to Oslo",
    "dated": "Caroline moved to Oslo in 2023",
    "recent": "Caroline moved to Bergen last week",
    "event": "Caroline moved to Turku",
    "asks": "Caroline moved where?",
}


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as made:
        fill(made)
        yield made


def fill(engine: oneiros.Engine) -> None:
    engine.add_many(
        {"id": id, "text": text, "event_at": NOW - 9e6 if id == "event" else None}
        for id, text in TEXTS.items()
    )


def scores(engine: oneiros.Engine, query: str, **more: Any) -> dict[str, float]:
    return {one.id: one.score for one in engine.search(query, reinforce=False, **more)}


def test_what_names_no_time_is_damped(engine: oneiros.Engine) -> None:
    query = "When did Caroline move?"
    before, now = scores(engine, query, profile=UNASKED), scores(engine, query)
    assert now.keys() == before.keys() == TEXTS.keys()
    for id, score in before.items():
        times = 1.0 if house.names_time(TEXTS[id]) or id == "event" else house.UNTIMED
        assert now[id] == pytest.approx(score * times, rel=1e-12), id
    (many,) = engine.search_many([query], reinforce=False)
    assert {one.id: one.score for one in many} == now


def test_other_queries_and_rescoring_damp_nothing(engine: oneiros.Engine) -> None:
    for query in ("where did Caroline move", "Caroline moved when she could"):
        assert scores(engine, query) == scores(engine, query, profile=UNASKED)
    assert list(engine.rescore()) == list(engine.rescore(profile=UNASKED))


def test_the_explanation_and_the_trace_say_so(engine: oneiros.Engine) -> None:
    response = engine.search("when did Caroline move", reinforce=False, explain=True)
    assert response.trace.notes == ("asks for a time",)
    for one in response:
        assert one.explanation is not None
        (part,) = (part.value for part in one.explanation.parts if part.name == "asked_time")
        assert (part < 0.0) == (one.id in ("plain", "asks"))
        assert one.explanation.evaluate() == one.score


def test_updates_and_reopening_keep_what_is_known(tmp_path: Path) -> None:
    query = "when did Caroline move?"
    with oneiros.Engine(tmp_path / "store", clock=lambda: NOW) as engine:
        fill(engine)
        want = scores(engine, query)
        engine.update("plain", text="Caroline moved on Monday")
        assert scores(engine, query)["plain"] > want["plain"]
        engine.update("plain", text=TEXTS["plain"])
        engine.update("event", event_at=None)
        assert scores(engine, query)["event"] < want["event"]
        engine.update("event", event_at=NOW - 9e6)
        now = scores(engine, query)
        # An update makes a memory younger (H6), so the plain scores are compared with the oracle's.
        damped = scores(engine, query, profile=UNASKED)
        assert now["plain"] == pytest.approx(damped["plain"] * house.UNTIMED, rel=1e-12)
        assert now["event"] == damped["event"]
    with oneiros.Engine(tmp_path / "store", clock=lambda: NOW) as engine:
        assert scores(engine, query) == now


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_the_damping_is_a_share(value: float) -> None:
    with pytest.raises(ValueError, match="damping"):
        AskedTime(damping=value)
