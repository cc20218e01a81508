"""The figures that docs/systems and its sources print, through ``oneiros.kernels``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oneiros import kernels


def close(value: float, digits: int = 3) -> object:
    return pytest.approx(value, abs=0.5 * 10**-digits)


def test_ciar_reproduces_the_published_scenarios() -> None:
    assert kernels.ciar(0.95, 0.90, 1, 0) == close(0.835)
    assert kernels.ciar(0.50, 0.60, 20, 0) == close(0.189)  # the source misprints 0.188
    assert kernels.ciar(0.90, 0.95, 10, 5, clamp=False) == close(1.018)  # the source: 1.019
    assert kernels.ciar(0.90, 0.95, 10, 5) == 1.0  # A2


def test_ciar_reproduces_the_published_tables() -> None:
    days = np.array([0, 13, 30, 60])
    assert kernels.ciar(0.9, 0.9, days, 0).tolist() == [close(v) for v in (0.81, 0.6, 0.405, 0.203)]
    uses = np.array([0, 1, 3, 5, 10])
    wanted = [close(v, 2) for v in (0.405, 0.446, 0.527, 0.608, 0.810)]
    assert kernels.ciar(0.9, 0.9, 30, uses).tolist() == wanted


def test_a_veto_is_a_veto() -> None:
    assert kernels.ciar(0.0, 1.0, 0, 10**9, clamp=False) == 0.0  # A3
    assert kernels.ciar(1.0, 0.0, 0, 10**9) == 0.0


def test_the_components_of_ciar_are_printed_on_one_line() -> None:
    parts = kernels.explain_ciar(0.90, 0.95, 10, 5)
    assert parts.base_significance == 0.90 * 0.95
    assert parts.time_decay == close(0.794)
    assert parts.reinforcement == 1.5
    assert parts.total_score == 1.0
    assert parts.unclamped_score == kernels.ciar(0.90, 0.95, 10, 5, clamp=False)
    assert str(parts) == "CIAR=1.000 [C=0.90 × I=0.95 = 0.855] × [Decay=0.794] × [Boost=1.50]"
    assert kernels.explain_ciar(0.9, 0.95, 10, 5, clamp=False).total_score == parts.unclamped_score


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 0.5, 0, 0), r"certainty: must be in \[0, 1\], got 1.5"),
        ((0.5, -0.1, 0, 0), r"impact: must be in \[0, 1\], got -0.1"),
        ((0.5, 0.5, -1, 0), r"age_days: must be >= 0 \(a creation after now\), got -1"),
        ((0.5, 0.5, 0, -1), "access_count: must be >= 0, got -1"),
        ((0.5, 0.5, 0, 0, 1.0), "rate: must be > 0 and < 1, got 1.0"),
        ((0.5, 0.5, 0, 0, 0), "rate: must be > 0 and < 1, got 0"),
        ((0.5, 0.5, 0, 0, 0.1, 1.0), "reinforcement: must be >= 0 and < 1, got 1.0"),
    ],
)
def test_ciar_refuses_single_numbers_out_of_range(
    arguments: tuple[float, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kernels.ciar(*arguments)
    with pytest.raises(ValueError, match=message):
        kernels.explain_ciar(*arguments)  # type: ignore[arg-type]


def test_ciar_computes_arrays_as_they_are() -> None:
    got = kernels.ciar(np.array([0.5, 2.0]), 0.5, np.array([-3.0, 0.0]), 0)  # A6 is for tables
    assert got.tolist() == [0.25, 1.0]


def test_explain_ciar_takes_numbers_only() -> None:
    with pytest.raises(TypeError, match="impact: expected a number, got list"):
        kernels.explain_ciar(0.5, [0.5], 0, 0)  # type: ignore[arg-type]
    assert math.isnan(kernels.explain_ciar(0.5, 0.5, math.nan, 0).total_score)


def test_promotion_is_at_the_threshold_or_above() -> None:
    assert kernels.should_promote(0.6) is True  # A4
    assert kernels.should_promote(0.5999) is False
    assert kernels.should_promote(math.nan) is False
    assert kernels.should_promote(np.array([0.4, 0.7]), threshold=0.5).tolist() == [False, True]
    out = np.zeros(2, np.bool_)
    assert kernels.should_promote([0.7, 0.1], out=out) is out
    assert out.tolist() == [True, False]
    with pytest.raises(TypeError, match="out: expected an array of bool, got float64"):
        kernels.should_promote([0.7], out=np.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threshold: must be > 0 and <= 1, got 0"):
        kernels.should_promote(0.5, threshold=0)


def test_retention_takes_words_codes_and_arrays_of_either() -> None:
    words = ["episodic", "semantic", "procedural", "core"]
    want = kernels.retention(30.0, 1.0, 0.5, np.arange(4))
    assert kernels.retention(30.0, 1.0, 0.5, words).tolist() == want.tolist()
    assert kernels.retention(30.0, 1.0, 0.5, np.array(words)).tolist() == want.tolist()
    assert kernels.retention(30.0, 1.0, 0.5, np.array(words, object)).tolist() == want.tolist()
    assert [kernels.retention(30.0, 1.0, 0.5, word) for word in words] == want.tolist()
    assert want[1] == pytest.approx(math.exp(-30 / 240))  # C1: B = 2
    assert want[2] == 1.0
    with pytest.raises(ValueError, match=r"category: must be one of episodic, .*, got 'vague'"):
        kernels.retention(1.0, 1.0, 0.5, "vague")
    with pytest.raises(ValueError, match="model: must be one of exponential, power, got 'linear'"):
        kernels.retention(1.0, 1.0, 0.5, 0, model="linear")  # type: ignore[arg-type]


def test_kinds_are_words_or_codes() -> None:
    table = {"decision": 2.0, "code_chunk": 0.1}
    assert kernels.kind_weight("decision", table) == 2.0
    assert kernels.kind_weight(["decision", "other", "code_chunk"], table).tolist() == [2, 1, 0.1]
    assert kernels.kind_weight("constraint") == 3.0  # O11's own table
    assert kernels.kind_weight(np.array([1, 0, 9]), [0.5, 2.0]).tolist() == [2.0, 0.5, 1.0]
    assert kernels.kind_weight(np.array([], np.str_), table).tolist() == []
    with pytest.raises(TypeError, match="table: expected a list of weights by code"):
        kernels.kind_weight(1, table)
    with pytest.raises(TypeError, match="table: expected a table of numbers by word"):
        kernels.kind_weight("decision", [1.0])


def test_the_whole_list_kernels() -> None:
    assert kernels.minmax_floor([3.0, 1.0, 2.0]).tolist() == [1.0, 0.1, 0.55]  # O3
    assert kernels.minmax_floor([4.0]).tolist() == [1.0]
    bm25, cosine = np.array([2.0, 0.0, 1.0]), np.array([0.5, 1.0, -0.5])
    assert kernels.blend(bm25, cosine).tolist() == pytest.approx([0.7, 0.6, 0.2])  # H3
    assert kernels.blend(None, cosine).tolist() == [0.5, 1.0, 0.0]
    assert kernels.blend(bm25, None).tolist() == [1.0, 0.0, 0.5]
    with pytest.raises(TypeError, match="bm25, cosine: at least one must be given"):
        kernels.blend(None, None)
    sums = kernels.weighted_sum([[0.8, 0.0], [0.5, 1.0], [0.5, 0.5]], [0.5, 0.3, 0.2])  # M4
    assert sums.tolist() == pytest.approx([0.65, 0.4])
    with pytest.raises(ValueError, match="weights: expected 2 numbers"):
        kernels.weighted_sum([[1.0], [2.0]], [1.0])
    spread = kernels.spread_neighbours([1.0, 0.0, 0.0, 0.0], [-1, 0, 1, 2], [1, 2, 3, -1])
    assert spread.tolist() == [1.0, 0.3, 0.15, 0.0]  # H4


def test_a_single_score_is_a_list_of_one() -> None:
    assert kernels.minmax_floor(3.0) == 1.0
    assert kernels.blend(3.0, 0.5) == 0.4 + 0.6 * 0.5


@pytest.mark.parametrize(
    ("time", "start", "end", "wanted"),
    [
        (5, 0, math.inf, 1.0),
        (-1e9, 0, math.inf, 1.0),  # a finite way off, of an endless range
        (1e9, -math.inf, 0, 1.0),
        (math.inf, 0, math.inf, 1.0),  # within
        (math.inf, 0, 5, 0.0),
        (math.inf, -math.inf, 5, 0.0),
        (3, math.inf, math.inf, 0.0),
        (3, -math.inf, -math.inf, 0.0),
        (math.nan, -math.inf, math.inf, math.nan),
    ],
)
def test_endless_times_are_near_as_omega_o4_says(
    time: float, start: float, end: float, wanted: float
) -> None:
    assert kernels.temporal_proximity(time, start, end) == pytest.approx(wanted, nan_ok=True)
