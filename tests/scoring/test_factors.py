"""Factors and their kernels: published values, laws, refusals. Agreement with the oracles over the
whole range stands in tests/oracles/test_kernels.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import kernels
from oneiros.scoring.factors import FACTORS, Depth, Spread, Stability, TimeDecay
from oneiros.scoring.phases.reverie import Consolidate
from tests.oracles import reverie

Array = np.ndarray[Any, Any]
AGES = hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(-10, 1e9))


def full(shape: int, value: float) -> Array:
    return np.full(shape, value)


def test_time_decay_reproduces_the_published_numbers() -> None:
    got = kernels.time_decay_boost(np.array([0.0, 30.0, math.inf]))
    assert got.tolist() == [1.3, pytest.approx(1 + 0.3 / math.e, rel=1e-15), 1.0]  # R4


def test_depth_reproduces_the_published_table() -> None:
    assert kernels.depth_weight(np.array([1.0, 2.0, 3.0])).tolist() == [0.8, 1.0, 1.2]  # R6


def test_spread_reproduces_the_published_numbers() -> None:
    sessions = np.array([1.0, 100.0])
    assert kernels.spread_weight(sessions).tolist() == [
        1.0,
        pytest.approx(6.658211, rel=1e-6),
    ]  # R7
    assert kernels.spread_weight(sessions, cap=3.0).tolist() == [1.0, 3.0]


def test_stability_reproduces_the_published_clamp() -> None:
    days, stability = np.array([30.0, 300.0, 300.0, 5.0]), np.array([2.0, 2.0, 0.5, 0.0])
    want = [pytest.approx(math.exp(0.5), rel=1e-15), 3.0, 0.1, 0.1]  # R8
    assert kernels.stability_boost(days, stability).tolist() == want


def test_replay_reproduces_the_published_numbers() -> None:
    got = kernels.replay_delta(np.array([1.0, 9.0]), np.array([0.0, 1.0]))
    assert got.tolist() == pytest.approx([0.1 * math.log(2), 0.1], rel=1e-15)  # R17, clamped


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_lifecycle_factor_is_exactly_1_at_the_defaults(dtype: type[Any]) -> None:
    ages = np.array([0, 1e-3, 1, 30, 365, 365.25e6, np.inf, -1, np.nan], dtype)
    ones = np.ones_like(ages)
    for got in (
        kernels.damp(ones, 1.0),
        kernels.depth_weight(2 * ones),
        kernels.spread_weight(ones),
        kernels.stability_boost(ages, ones),
    ):
        assert np.array_equal(got, ones)
        assert got.dtype == dtype


@given(AGES)
def test_time_decay_never_rises_with_age(age_days: Array) -> None:
    got = kernels.time_decay_boost(np.sort(age_days))
    assert np.all(np.diff(got) <= 0)
    assert np.all((got >= 1) & (got <= 1.3))


@given(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=30))
def test_spread_never_falls_with_sessions(sessions: list[int]) -> None:
    got = kernels.spread_weight(np.sort(np.array(sessions, np.float64)))
    assert np.all(np.diff(got) >= 0)


@given(AGES, st.floats(1e-3, 100), st.floats(1e-3, 100))
def test_stability_never_falls_with_stability(age_days: Array, one: float, other: float) -> None:
    low, high = sorted((one, other))
    less = kernels.stability_boost(age_days, full(len(age_days), low))
    more = kernels.stability_boost(age_days, full(len(age_days), high))
    assert np.all(less <= more)


@given(AGES, st.floats(allow_nan=False))
def test_stability_stays_in_its_clamp(age_days: Array, stability: float) -> None:
    got = kernels.stability_boost(age_days, full(len(age_days), stability))
    assert np.all((got >= 0.1) & (got <= 3.0))


@given(st.integers(0, 1000), st.floats(0, 1e6))
def test_replay_stays_in_its_clamp(peers: int, hours: float) -> None:
    got = kernels.replay_delta(np.array([float(peers)]), np.array([hours]))[0]
    assert 0.0 <= got <= 0.1


@given(
    st.lists(st.tuples(st.floats(0, 3e4, width=32), st.floats(0.0625, 10, width=32)), max_size=40)
)
def test_float32_stays_within_its_bound(rows: list[tuple[float, float]]) -> None:
    """DESIGN's bound for a float32 kernel: (4 + 2 |exponent|) ULP."""
    ages = np.array([age for age, _ in rows], np.float32)
    stability = np.array([value for _, value in rows], np.float32)
    exact = [reverie.stability_boost(age, value) for age, value in rows]
    exponent = np.abs(ages.astype(np.float64) / 30 * (1 - 1 / stability.astype(np.float64)))
    error = np.abs(kernels.stability_boost(ages, stability) - np.array(exact))
    clamped = (np.array(exact) <= 0.1) | (np.array(exact) >= 3.0)
    bound = (4 + 2 * exponent) * np.spacing(np.array(exact, np.float32))
    assert np.all((error <= bound) | clamped)
    decay_exact = np.array([reverie.time_decay_boost(age) for age, _ in rows])
    decay_error = np.abs(kernels.time_decay_boost(ages) - decay_exact)
    assert np.all(decay_error <= 4 * np.spacing(np.ones(1, np.float32)))


@pytest.mark.parametrize(
    ("kind", "field", "value", "message"),
    [
        (TimeDecay, "boost", -0.1, "boost: must be >= 0 and <= 1e+06, got -0.1"),
        (TimeDecay, "boost", math.inf, "boost: must be"),
        (TimeDecay, "tau_days", 0, "tau_days: must be > 0 and finite, got 0"),
        (TimeDecay, "tau_days", math.nan, "tau_days: must be > 0 and finite, got nan"),
        (TimeDecay, "tau_days", 10**400, "tau_days: must be > 0 and finite"),
        (Depth, "table", (1.0, 2.0), "table: expected 3 numbers, got"),
        (Depth, "table", (1.0, -2.0, 3.0), r"table\[1\]: must be >= 0"),
        (Spread, "cap", 0.0, "cap: must be > 0, got 0.0"),
        (Spread, "cap", math.nan, "cap: must be > 0, got nan"),
        (Stability, "low", 4.0, r"low: must be <= high \(3.0\), got 4.0"),
        (Stability, "tau_days", -1.0, "tau_days: must be > 0 and finite, got -1"),
        (Consolidate, "max_delta", -1.0, "max_delta: must be >= 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(
    kind: Callable[..., object], field: str, value: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        kind(**{field: value})


@pytest.mark.parametrize("value", ["1", True, None, 1j, [1.0]])
def test_a_parameter_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="tau_days: expected a number, got"):
        TimeDecay(tau_days=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["abc", 1.0, None])
def test_a_table_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="table: expected a list of numbers, got"):
        Depth(table=value)  # type: ignore[arg-type]


def test_a_value_out_of_its_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="depth: must be 1, 2 or 3, got 4"):
        kernels.depth_weight(np.array([1.0, 4.0]))
    with pytest.raises(ValueError, match="session_spread: must be finite and >= 0, got -1"):
        kernels.spread_weight(np.array([-1.0]))
    with pytest.raises(ValueError, match="peer_count: must be finite and >= 0, got inf"):
        kernels.replay_delta(np.array([math.inf]), np.array([1.0]))


def test_the_names_are_those_of_the_explanations() -> None:
    told = """
    time_decay strength depth spread stability retention recency recency tier veracity
    kind feedback priority decay thompson consolidation overlap preference context cluster temporal
    rerank tie_break freshness significance decay reinforcement decay reinforcement recency
    question_feedback trust
    """
    assert [factor.name for factor in FACTORS] == told.split()


def test_where_factors_share_a_name_their_systems_differ() -> None:
    labels = [(kind.name, getattr(kind, "system", None)) for kind in FACTORS]
    assert len(set(labels)) == len(labels)
