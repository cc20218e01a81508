"""The weights of worth: what the fit finds, and what a moment of a life holds."""

from __future__ import annotations

import numpy as np
import pytest

from bench.worth import FITTED, LEFT_OUT, Moment, fitted, moments
from oneiros.evaluation.tasks import JudgedQuery
from oneiros.evaluation.use import Arrival, Life, Search
from oneiros.scoring.phases.house import Budget

_DAY = 86_400.0


def _made(weights: np.ndarray, base: float, seed: int, memories: int = 4_000) -> Moment:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(memories, len(FITTED))) * [1.0, 0.1, 0.5, 2.0]
    given = generator.normal(size=memories)
    likely = 1.0 / (1.0 + np.exp(-(base + values @ weights + given)))
    return Moment(values, given, generator.random(memories) < likely)


def test_the_fit_finds_weights_beside_other_base_rates() -> None:
    weights = np.array([2.0, 5.0, 0.8, 0.5])
    found = fitted([[_made(weights, -2.0, 0), _made(weights, 1.0, 1)], [_made(weights, -4.0, 2)]])
    assert list(found) == list(FITTED)
    assert list(found.values()) == pytest.approx(weights, rel=0.15)


def test_a_loss_that_is_a_gain_is_left_at_zero() -> None:
    found = fitted([[_made(np.array([1.0, -5.0, 1.0, 1.0]), 0.0, 3)]])
    assert found["person"] == 0.0
    assert found["information"] > 0.5


def test_each_collection_weighs_the_same() -> None:
    many = np.array([3.0, 0.0, 0.0, 0.0])
    few = np.array([1.0, 0.0, 0.0, 0.0])
    found = fitted([[_made(many, 0.0, n) for n in range(8)], [_made(few, 0.0, 9)]])
    assert 1.2 < found["information"] < 2.4


def test_moments_of_a_life() -> None:
    records = tuple(
        {"id": f"m{n}", "text": f"I planted tree number {n} today", "created_at": n * _DAY}
        for n in range(1, 9)
    )

    def asks(id: str, at: float) -> Search:
        question = JudgedQuery(
            id=f"q-{id}",
            type="",
            text="which tree?",
            answers={id: 1.0, "m8": 0.0},
            embedding=None,
            now=at,
            where=None,
        )
        return Search(at=at, question=question, measured_as="new")

    events = (
        *(Arrival(at=float(one["created_at"]), records=(one,)) for one in records[:4]),
        asks("m1", 4.5 * _DAY),
        *(Arrival(at=float(one["created_at"]), records=(one,)) for one in records[4:]),
        asks("m3", 9.0 * _DAY),
    )
    found = list(moments([Life(name="", events=events)], Budget()))
    assert [one.wanted.tolist() for one in found] == [
        [True, False],
        [True, False, True, False],
        [False, False, True, False, False, False],
        [False, False, True, *[False] * 5],
    ]
    first = found[0]
    assert first.values.shape == (2, len(FITTED))
    assert (first.values[:, FITTED.index("person")] > 0.0).all()
    assert first.given[0] == pytest.approx(-1.2 * np.log1p(1.0 / 365.0))  # a day older
    assert first.given[1] == pytest.approx(0.0)


def test_every_collection_is_left_out() -> None:
    assert {name for names in LEFT_OUT for name in names} == {
        *("locomo-dev", "locomo-other", "realmem-dev", "gitlog-dev", "beam-dev")
    }
