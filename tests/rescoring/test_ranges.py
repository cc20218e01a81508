"""Ranges judged in the core while a table is scored. Source: docs/systems/ciar.md A6."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import CallableFactor, _core, factors, profiles
from tests.rescoring.forms import DAY, NOW, rescore

ROWS = 100_003
"""More than a chunk of a thread, and no multiple of anything."""
PLACES = (0, 1, 255, 256, 40_000, ROWS - 1)
THREADS = (1, 2, 5)

COLUMNS = ("certainty", "impact", "created_at", "access_count")
BAD = [
    ("certainty", 1.5, r"certainty: must be a number in \[0, 1\], got 1.5"),
    ("certainty", math.nan, r"certainty: must be a number in \[0, 1\], got nan"),
    ("impact", -math.inf, r"impact: must be a number in \[0, 1\], got -inf"),
    ("impact", math.inf, r"impact: must be a number in \[0, 1\], got inf"),
    ("access_count", -1.0, r"access_count: must be an int .*, got -1.0"),
    ("access_count", 2.5, r"access_count: must be an int .*, got 2.5"),
    ("access_count", math.nan, r"access_count: must be an int .*, got nan"),
    ("created_at", NOW + 1, r"created_at: must be at most now, .*, got 1750000001.0"),
    ("created_at", -math.inf, r"created_at: must be .*, got -inf"),
]


def good() -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {
        "certainty": random.uniform(0, 1, ROWS).astype(np.float32),
        "impact": random.uniform(0, 1, ROWS),
        "created_at": NOW - random.uniform(0, 300, ROWS) * DAY,
        "access_count": random.integers(0, 50, ROWS).astype(np.float64),
    }


GOOD = good()


def with_bad(name: str, place: int, value: float) -> dict[str, Any]:
    column = GOOD[name].copy()
    column[place] = value
    return {**GOOD, name: column}


@pytest.mark.parametrize("path", _core.simd_paths())
@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_one_bad_value_is_found_wherever_it_stands(
    path: str, name: str, value: float, message: str
) -> None:
    before = _core.simd_path()
    want = rescore(GOOD, "ciar", NOW)["score"]
    try:
        _core.use_simd_path(name=path)
        for place, threads in zip(PLACES, THREADS * 2, strict=True):
            table = with_bad(name, place, value)
            with pytest.raises(ValueError, match=f"{message} in row {place}$"):
                rescore(table, "ciar", NOW, threads=threads)
            got = rescore(table, "ciar", NOW, threads=threads, invalid="nan")["score"]
            assert np.flatnonzero(np.isnan(got)).tolist() == [place]
            np.testing.assert_array_equal(np.delete(got, place), np.delete(want, place))
    finally:
        _core.use_simd_path(name=before)


@pytest.mark.parametrize("threads", THREADS)
def test_clamping_counts_as_the_nearest_value(threads: int) -> None:
    for name, value, nearest in (
        ("certainty", 7.0, 1.0),
        ("impact", -math.inf, 0.0),
        ("access_count", -3.0, 0.0),
        ("created_at", NOW + DAY, NOW),
    ):
        for place in PLACES:
            got = rescore(
                with_bad(name, place, value), "ciar", NOW, threads=threads, invalid="clamp"
            )
            want = rescore(with_bad(name, place, nearest), "ciar", NOW)
            np.testing.assert_array_equal(got["score"], want["score"])


def test_a_time_may_be_unknown() -> None:
    got = rescore(with_bad("created_at", 77, math.nan), "ciar", NOW)["score"]
    assert np.flatnonzero(np.isnan(got)).tolist() == [77]


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32", "float64"])
def test_every_type_is_judged(dtype: str) -> None:
    priority = np.full(ROWS, 3, dtype)
    want = rescore({"priority": priority}, "omega", NOW)["score"]
    for value, place in ((0, 0), (6, 40_001), (100, ROWS - 1)):
        column = priority.copy()
        column[place] = value
        with pytest.raises(ValueError, match=rf"priority: must be an int in .* in row {place}$"):
            rescore({"priority": column}, "omega", NOW)
        got = rescore({"priority": column}, "omega", NOW, invalid="nan")["score"]
        assert np.flatnonzero(np.isnan(got)).tolist() == [place]
        np.testing.assert_array_equal(np.delete(got, place), np.delete(want, place))


def test_several_profiles_are_judged_once_and_alike() -> None:
    names = ["ciar-shipped", "reverie", "ciar"]
    table = with_bad("impact", 999, 3.0)
    got = rescore(table, names, NOW, invalid="nan")
    for name in names:
        want = rescore(GOOD, name, NOW)["score"]
        assert np.isnan(got[name][999])
        np.testing.assert_array_equal(np.delete(got[name], 999), np.delete(want, 999))
    with pytest.raises(ValueError, match=r"impact: .* in row 999$"):
        rescore(table, names, NOW)


def test_factors_are_judged_too() -> None:
    with pytest.raises(ValueError, match=r"certainty: .* in row 5$"):
        factors(with_bad("certainty", 5, 2.0), "ciar", NOW)
    lone = profiles.get("ciar").replace(factors=())
    assert factors(GOOD, lone, NOW) == {}


def test_functions_of_ones_own_see_nothing_that_breaks_a_rule() -> None:
    seen: list[float] = []

    def watch(access_count: Any) -> Any:
        seen.append(float(np.max(access_count)))
        return np.ones(len(access_count))

    profile = profiles.get("ciar").replace(
        name="watched", factors=(CallableFactor(watch, name="watch", columns=("access_count",)),)
    )
    table = with_bad("access_count", 3, 2.0**40)
    with pytest.raises(ValueError, match=r"access_count: .* in row 3$"):
        rescore(table, profile, NOW)
    assert seen == []


def test_future_rows_are_counted_once_where_a_block_runs_twice() -> None:
    from oneiros.rescoring.scorer import Scorer  # noqa: PLC0415
    from oneiros.rescoring.tables import open_table  # noqa: PLC0415

    table = with_bad("certainty", 8, 2.0)
    table["created_at"] = table["created_at"].copy()
    table["created_at"][:10] = NOW + DAY
    scorer = Scorer([profiles.get("ciar-shipped")], now=NOW, threads=1, invalid="clamp")
    scorer.score(open_table(table))
    assert scorer.future_counts == [10]


def judged(values: Any, low: float, high: float, *, nan: bool = False, whole: bool = False) -> bool:
    program = _core.Program(inputs=[("value", "a", 0.0)], instructions=[("negate", [0], {})])
    _, _, is_within = program.run_and_judge(
        operands={"a": 1.0},
        now_seconds=0.0,
        size=len(values),
        outputs=[1],
        dtype="float32",
        out=None,
        threads=1,
        ranges=[(values, low, high, nan, whole)],
        whole_size=0,
    )
    return is_within


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_bounds_of_every_size_are_those_of_doubles(dtype: str) -> None:
    held = np.arange(100).astype(dtype)
    for low, high in ((0, 99), (-0.5, 99.5), (0.5, 99), (0, 98.5), (-1e300, 1e300), (200, 300)):
        want = bool(np.all((held.astype(float) >= low) & (held.astype(float) <= high)))
        assert judged(held, low, high) == want
    assert not judged(held, -math.inf, -1.0)
    assert judged(held, -math.inf, math.inf)
    # One third as a float lies above the double.
    third = np.array([1 / 3], np.float32)
    assert not judged(third, 0.0, 1 / 3)
    assert judged(third, 1 / 3, 1.0)


ODD = (0.0, -0.0, 0.5, 1.0, 2.0, 3.5, -1.0, 1e-45, -1e-45, 1e38, math.inf, -math.inf, math.nan)


@given(
    st.lists(st.sampled_from(ODD), min_size=1, max_size=40),
    st.sampled_from((0.0, -1.0, 0.5, -math.inf)),
    st.sampled_from((1.0, 0.5, 3.0, 1e300, math.inf)),
    st.booleans(),
    st.booleans(),
    st.sampled_from(("float32", "float64")),
)
def test_a_range_is_kept_or_not(
    values: list[float], low: float, high: float, nan: bool, whole: bool, dtype: str
) -> None:
    held = np.array(values, dtype)

    def keeps(value: float) -> bool:
        if math.isnan(value):
            return nan
        is_whole = math.isinf(value) or value == math.floor(value)
        return low <= value <= high and (is_whole or not whole)

    assert judged(held, low, high, nan=nan, whole=whole) == all(map(keeps, held.tolist()))


def test_a_judged_column_stands_apart_from_the_results() -> None:
    program = _core.Program(inputs=[("value", "a", 0.0)], instructions=[("negate", [0], {})])
    values = np.zeros(4)
    for out in (values, values[:3]):
        with pytest.raises(ValueError, match=r"ranges\[0\]: must share no memory with out"):
            program.run_and_judge(
                operands={},
                now_seconds=0.0,
                size=len(out),
                outputs=[1],
                dtype="float64",
                out=[out],
                threads=1,
                ranges=[(values, 0.0, 1.0, False, False)],
                whole_size=0,
            )


def test_a_judged_column_has_as_many_rows_as_are_scored() -> None:
    program = _core.Program(inputs=[("value", "a", 0.0)], instructions=[("negate", [0], {})])
    for ranges, error, message in (
        ([(np.zeros(2), 0.0, 1.0, False, False)], ValueError, "ranges: expected columns of 3"),
        ([(np.zeros(3), math.nan, 1.0, False, False)], ValueError, "a bound must not be NaN"),
        ([(np.zeros(3), 0.0)], TypeError, r"ranges\[0\]: expected \(array, low"),
    ):
        with pytest.raises(error, match=message):
            program.run_and_judge(
                operands={},
                now_seconds=0.0,
                size=3,
                outputs=[1],
                dtype="float32",
                out=None,
                threads=1,
                ranges=ranges,  # type: ignore[arg-type]
                whole_size=0,
            )
