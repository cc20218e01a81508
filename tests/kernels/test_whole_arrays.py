"""The kernels that look at more than one row, at words or at tables, against their oracles."""

from __future__ import annotations

import math
import os
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import kernels
from tests.kernels.agreement import agrees
from tests.kernels.cases import AGE, STABILITY, UNIT
from tests.oracles import ciar, cognitive, fusion, house, omega
from tests.oracles.ieee import as_float32
from tests.oracles.omega_tables import KIND_WEIGHT

MANY = settings(max_examples=5_000 if os.environ.get("ONEIROS_LONG") else 30, deadline=None)
Model = Literal["exponential", "power"]
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def close(got: Any, want: list[float], rtol: float = 1e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(got), np.array(want), rtol=rtol, atol=atol)


# --- retention (C1, C2) ---------------------------------------------------------------------------

memories = st.lists(
    st.tuples(AGE.usual, STABILITY.usual, UNIT.usual, st.integers(0, 3)), min_size=1, max_size=8
)


@MANY
@given(memories, st.sampled_from(["exponential", "power"]))
def test_retention(rows: list[tuple[float, float, float, int]], model: Model) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    want = [cognitive.retention(*row, model=model) for row in rows]
    close(kernels.retention(*columns, model=model), want)
    names = [cognitive.CATEGORIES[row[3]] for row in rows]
    close(kernels.retention(*columns[:3], names, model=model), want)
    first = kernels.retention(*rows[0][:3], names[0], model=model)
    assert agrees(first, want[0], 1e-12 * abs(want[0]))


@MANY
@given(memories, st.sampled_from(["exponential", "power"]))
def test_retention_of_float32(rows: list[tuple[float, float, float, int]], model: Model) -> None:
    single = [(*map(as_float32, row[:3]), row[3]) for row in rows]
    with np.errstate(over="ignore"):
        columns = [np.array(column, np.float32) for column in list(zip(*single, strict=True))[:3]]
    codes = np.array([row[3] for row in rows], np.uint8)
    got = kernels.retention(*columns, codes, model=model)
    assert got.dtype == np.float32
    for row, value in zip(single, got.tolist(), strict=True):
        want = cognitive.retention(*row, model=model)
        exponent = abs(math.log(want)) if want > 0 else 0.0
        assert agrees(value, want, (4 + 2 * exponent) * float(np.spacing(np.float32(want)))), row


@MANY
@given(
    memories,
    st.lists(st.floats(1, 1e4), min_size=4, max_size=4),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_retention_with_other_tables(
    rows: list[tuple[float, float, float, int]], beta: list[float], floors: list[float]
) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    want = [cognitive.retention(*row, beta_days=beta, floors=floors) for row in rows]
    close(kernels.retention(*columns, beta_days=tuple(beta), floors=tuple(floors)), want)


# --- kinds (O11) ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KIND_WEIGHT, "note", "", "Decision"])
def test_kind_weight(kind: str) -> None:
    assert kernels.kind_weight(kind, KIND_WEIGHT) == omega.kind_weight(kind)
    table = {"note": 0.25, "decision": 4.0}
    assert kernels.kind_weight(kind, table) == omega.kind_weight(kind, table)


@MANY
@given(st.lists(st.sampled_from([*KIND_WEIGHT, "note", "x"]), max_size=20))
def test_kind_weight_of_many(kinds: list[str]) -> None:
    assert kernels.kind_weight(kinds, KIND_WEIGHT).tolist() == [
        omega.kind_weight(kind) for kind in kinds
    ]
    array = np.array(kinds, dtype=object)
    assert kernels.kind_weight(array, KIND_WEIGHT).tolist() == [
        omega.kind_weight(kind) for kind in kinds
    ]


# --- channels (M4, O3, O7, H3) --------------------------------------------------------------------


@MANY
@given(
    st.lists(st.one_of(numbers, st.sampled_from([0.0, 1.0, 5e-324, 1e-310])), max_size=12),
    st.floats(0, 1),
)
def test_minmax_floor(scores: list[float], low: float) -> None:
    close(kernels.minmax_floor(np.array(scores), low), fusion.minmax_floor(scores, low), 1e-9)
    close(kernels.minmax_floor(np.array(scores)), fusion.minmax_floor(scores), 1e-9)


@MANY
@given(st.integers(1, 4), st.integers(0, 9), st.data())
def test_weighted_sum(channels: int, rows: int, data: st.DataObject) -> None:
    row = st.lists(st.floats(0, 1e6), min_size=rows, max_size=rows)
    scores = data.draw(st.lists(row, min_size=channels, max_size=channels))
    weights = data.draw(st.lists(st.floats(0, 4), min_size=channels, max_size=channels))
    want = fusion.weighted_scores(scores, weights)
    close(kernels.weighted_sum(np.array(scores), weights), want)


@MANY
@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(-1, 1)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_blend(rows: list[tuple[float, float]], weight: float) -> None:
    bm25, cosine = (list(column) for column in zip(*rows, strict=True))
    want = house.blend(bm25, cosine, weight)
    close(kernels.blend(np.array(bm25), np.array(cosine), weight), want)
    close(kernels.blend(np.array(bm25), np.array(cosine)), house.blend(bm25, cosine))


RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=4)


@MANY
@given(RANKINGS, st.floats(0, 100), st.sampled_from(["none", "channel"]), st.data())
def test_rrf(
    rankings: list[list[str]], k: float, normalise: Literal["none", "channel"], data: st.DataObject
) -> None:
    one = st.floats(0.01, 4)
    some = st.lists(one, min_size=len(rankings), max_size=len(rankings))
    weights = data.draw(st.one_of(st.none(), some))
    want = fusion.rrf(rankings, k, weights, normalise)
    got = oneiros.rrf(rankings, k=k, weights=weights, normalise=normalise)
    assert [id for id, _ in got] == [id for id, _ in want]
    assert [score for _, score in got] == pytest.approx([score for _, score in want], rel=1e-12)
    assert kernels.rrf(rankings, k, weights, normalise) == got


@MANY
@given(RANKINGS, st.integers(0, 10))
def test_rrf_of_integers_is_rrf_of_anything(rankings: list[list[str]], top: int) -> None:
    coded = [np.array([ord(id) for id in ranking], np.int64) for ranking in rankings]
    want = oneiros.rrf(rankings, top=top)
    got_ids, got_scores = oneiros.rrf(coded, top=top)
    assert [chr(id) for id in got_ids] == [id for id, _ in want]
    assert list(got_scores) == [score for _, score in want]


def test_rrf_of_what_an_index_finds() -> None:
    index = oneiros.LexicalIndex()
    index.add_many(["a", "b"], ["green tea", "green grass"])
    found = [index.search(query).ids for query in ("green tea", "grass", "milk")]
    assert oneiros.rrf(found) == oneiros.rrf([["a", "b"], ["b"], []])
    assert oneiros.rrf([np.array(["a", "b"]), np.array(["b"])]) == oneiros.rrf([["a", "b"], ["b"]])
    mixed = oneiros.rrf([np.array([7, 8]), np.array([8, "c"], object)])
    assert mixed == oneiros.rrf([[7, 8], [8, "c"]])
    assert {type(id) for id, _ in mixed} == {int, str}


def test_rrf_ignores_empty_arrays_of_any_type() -> None:
    ids, scores = oneiros.rrf([np.array([3, 4]), np.array([])])
    assert (ids.tolist(), scores.tolist()) == ([3, 4], [1 / 61, 1 / 62])
    with pytest.raises(TypeError, match="rankings: expected arrays of integers, got float64"):
        oneiros.rrf([np.array([3.0, 4.0])])


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_rrf_refuses_a_weight_that_is_not_finite(weight: float) -> None:
    with pytest.raises(ValueError, match=r"weights.*\b1\b"):
        oneiros.rrf([["a"], ["b"]], weights=[1.0, weight])


# --- neighbours (H4) ------------------------------------------------------------------------------


@MANY
@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=12),
    st.integers(0, 2**12 - 1),
    st.integers(0, 4),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_spread_neighbours(
    scores: list[float], cuts: int, reach: int, share: float, decay: float
) -> None:
    rows = len(scores)
    joined = [row > 0 and not cuts >> row & 1 for row in range(rows)]  # to the row before
    left = [row - 1 if joined[row] else -1 for row in range(rows)]
    right = [row + 1 if row + 1 < rows and joined[row + 1] else -1 for row in range(rows)]
    columns = (np.array(scores), np.array(left), np.array(right))
    close(kernels.spread_neighbours(*columns), house.spread_neighbours(scores, left, right))
    want = house.spread_neighbours(scores, left, right, share, decay, reach)
    close(kernels.spread_neighbours(*columns, share, decay, reach), want)


# --- CIAR (A4, A5) --------------------------------------------------------------------------------


@MANY
@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.6, math.nan]))), st.floats(0.01, 1))
def test_should_promote(scores: list[float], threshold: float) -> None:
    want = [ciar.should_promote(score, threshold) for score in scores]
    assert kernels.should_promote(np.array(scores), threshold).tolist() == want
    assert [bool(kernels.should_promote(score, threshold)) for score in scores] == want


facts = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e4), st.integers(0, 1000))


@MANY
@given(facts, st.floats(1e-4, 0.99), st.floats(0, 0.99))
def test_explain_ciar(fact: tuple[float, float, float, int], rate: float, gain: float) -> None:
    got = kernels.explain_ciar(*fact, rate=rate, reinforcement=gain)
    want = ciar.components(*fact, rate=rate, reinforcement=gain)
    for name in want.__slots__:
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-12, abs=1e-300)


def test_explain_ciar_prints_on_one_line() -> None:
    text = str(kernels.explain_ciar(0.95, 0.90, 1.0, 0))
    assert "\n" not in text
    for figure in ("0.835", "0.95", "0.90", "0.855", "0.977", "1.00"):  # as the source prints it
        assert figure in text


def test_the_worked_figures_of_ciar() -> None:
    assert round(kernels.ciar(0.95, 0.90, 1, 0), 3) == 0.835
    assert round(kernels.ciar(0.50, 0.60, 20, 0), 3) == 0.189  # corrected
    assert kernels.ciar(0.90, 0.95, 10, 5) == 1.0
    assert round(kernels.ciar(0.90, 0.95, 10, 5, clamp=False), 3) == 1.018  # corrected
    picture = kernels.ciar(0.9, 0.9, np.array([0.0, 30.0, 60.0]), 0)
    assert np.round(picture, 3).tolist() == [0.81, 0.405, 0.203]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_should_promote_many(dtype: type[Any]) -> None:
    scores = (np.random.default_rng(2).random(300_001) * 1.5).astype(dtype)
    want = scores >= dtype(0.6) if dtype is not np.int8 else scores >= 1
    if dtype is not np.int8:
        scores[[0, 200_000]] = math.nan
        want[[0, 200_000]] = False
    out = np.ones(scores.size, np.bool_)
    assert kernels.should_promote(scores, out=out, threads=2) is out
    assert np.array_equal(out, want)
    assert np.array_equal(kernels.should_promote(scores), want)
    assert np.array_equal(kernels.should_promote(scores[::-1]), want[::-1])
    assert not kernels.should_promote(scores, math.nan).any()
    with pytest.raises(ValueError, match=r"out: expected shape \(300001,\)"):
        kernels.should_promote(scores, out=out[1:])
    with pytest.raises(TypeError, match="out: expected an array of bool, got int8"):
        kernels.should_promote(scores, out=np.empty(scores.size, np.int8))  # type: ignore[arg-type]


def test_should_promote_by_what_no_float32_can_hold() -> None:
    scores = np.array([0.0, 1e-45, 1.0], np.float32)
    assert kernels.should_promote(scores, 1e-60).tolist() == [False, True, True]
    assert kernels.should_promote(0.0, 1e-60) is False
    assert kernels.should_promote(np.array(math.inf), math.nan) is False
