"""The kernels of Reverie against their oracles, for every input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import kernels
from tests.oracles import fusion, reverie

ages = st.one_of(st.floats(-1e9, 1e9), st.sampled_from([math.nan, math.inf, 0.0, -0.0]))
counts = st.integers(0, 2**32 - 1)
close = {"rel": 1e-12, "abs": 0.0, "nan_ok": True}


@given(ages, st.floats(0, 10), st.floats(1e-3, 1e6))
def test_time_decay_boost(age: float, boost: float, tau: float) -> None:
    want = reverie.time_decay_boost(age, boost, tau)
    assert kernels.time_decay_boost(age, boost, tau) == pytest.approx(want, **close)
    got = kernels.time_decay_boost(np.array([age]), boost=boost, tau_days=tau)
    assert got[0] == pytest.approx(want, **close)


@given(st.lists(st.integers(1, 3), max_size=40))
def test_depth_weight(depths: list[int]) -> None:
    want = [reverie.depth_weight(depth) for depth in depths]
    assert list(kernels.depth_weight(np.array(depths, np.uint8))) == want


@given(counts, st.one_of(st.just(math.inf), st.floats(0.1, 10)))
def test_spread_weight(spread: int, cap: float) -> None:
    want = reverie.spread_weight(spread, cap)
    assert kernels.spread_weight(spread, cap) == pytest.approx(want, **close)


@given(ages, st.one_of(st.floats(0, 100), st.sampled_from([1.0, 0.0, -1.0, math.nan, math.inf])))
def test_stability_boost(age: float, stability: float) -> None:
    want = reverie.stability_boost(age, stability)
    assert kernels.stability_boost(age, stability) == pytest.approx(want, rel=1e-11, nan_ok=True)


@given(counts, ages, st.floats(0, 1))
def test_replay_delta(peers: int, age: float, most: float) -> None:
    want = reverie.replay_delta(peers, age, most)
    assert kernels.replay_delta(peers, age, most) == pytest.approx(want, **close)


RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=4)


@given(RANKINGS, st.floats(0, 100), st.sampled_from(["none", "channel"]), st.data())
def test_rrf(rankings: list[list[str]], k: float, normalise: str, data: st.DataObject) -> None:
    one = st.floats(0.01, 4)
    weights = data.draw(
        st.one_of(st.none(), st.lists(one, min_size=len(rankings), max_size=len(rankings)))
    )
    want = fusion.rrf(rankings, k, weights, normalise)
    got = oneiros.rrf(rankings, k=k, weights=weights, normalise=normalise)
    assert [id for id, _ in got] == [id for id, _ in want]
    assert [score for _, score in got] == pytest.approx([score for _, score in want], rel=1e-12)


@given(RANKINGS, st.integers(0, 10))
def test_rrf_of_integers_is_rrf_of_anything(rankings: list[list[str]], top: int) -> None:
    numbers = [np.array([ord(id) for id in ranking], np.int64) for ranking in rankings]
    want = oneiros.rrf(rankings, top=top)
    got_ids, got_scores = oneiros.rrf(numbers, top=top)
    assert [chr(id) for id in got_ids] == [id for id, _ in want]
    assert list(got_scores) == [score for _, score in want]


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_rrf_refuses_a_weight_that_is_not_finite(weight: float) -> None:
    with pytest.raises(ValueError, match=r"weights.*\b1\b"):
        oneiros.rrf([["a"], ["b"]], weights=[1.0, weight])
