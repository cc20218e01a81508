"""Every row kernel against its oracle, over the whole range of what may be given."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import kernels
from tests.kernels.agreement import EXAMPLES, agrees, slack_float32, slack_float64
from tests.kernels.cases import CASES, Case
from tests.oracles.ieee import as_float32

OTHERS = {  # tested on their own, in test_whole_arrays.py
    "blend", "explain_ciar", "kind_weight", "minmax_floor", "retention", "rrf", "should_promote",
    "spread_neighbours", "weighted_sum",
}  # fmt: skip
each = pytest.mark.parametrize("name", CASES)
Row = tuple[float, ...]


def kernel(name: str) -> Callable[..., Any]:
    return getattr(kernels, name)  # type: ignore[no-any-return]


def rows(case: Case, *, wild: bool = False) -> st.SearchStrategy[list[Row]]:
    """Draw a few rows of arguments; a wild one may be any number."""
    arguments = case.arguments.values()
    one = [st.one_of(each.usual, each.wild) if wild else each.usual for each in arguments]
    return st.lists(st.tuples(*one), min_size=1, max_size=8)


def columns(drawn: list[Row], dtype: type[Any]) -> list[Any]:
    with np.errstate(over="ignore"):
        return [np.array(column, np.float64).astype(dtype) for column in zip(*drawn, strict=True)]


def check(name: str, drawn: list[Row], dtype: type[Any], parameters: dict[str, float]) -> None:
    """Hold one call to the oracle, row by row."""
    case = CASES[name]
    single = dtype is np.float32
    got = kernel(name)(*columns(drawn, dtype), **parameters)
    assert got.dtype == dtype
    for row, value in zip(drawn, got.tolist(), strict=True):
        given_row = tuple(map(as_float32, row)) if single else row
        want = case.oracle(*given_row, **parameters)
        want = as_float32(want) if single else want
        slack = (
            slack_float32(given_row, want, case.scale(*given_row), case.exponent(*given_row))
            if single
            else slack_float64(given_row, want, case.scale(*given_row))
        )
        assert agrees(value, want, slack), (name, given_row, parameters, want, value)


def test_every_kernel_has_an_oracle() -> None:
    public = {
        name
        for name, member in inspect.getmembers(kernels, callable)
        if not name.startswith("_") and not inspect.isclass(member)
    }
    assert public == CASES.keys() | OTHERS


@each
def test_arguments_and_defaults_are_those_of_the_oracle(name: str) -> None:
    def told(function: Callable[..., Any]) -> list[tuple[str, Any]]:
        parameters = inspect.signature(function).parameters.values()
        return [
            (one.name, one.default)
            for one in parameters
            if one.kind is not inspect.Parameter.KEYWORD_ONLY
        ]

    assert told(kernel(name)) == told(CASES[name].oracle)


@each
@EXAMPLES
@given(st.data())
def test_values_are_the_oracles(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    drawn = data.draw(rows(case))
    check(name, drawn, np.float64, {})
    check(name, drawn, np.float32, {})
    if case.parameters:
        given = st.fixed_dictionaries({}, optional=case.parameters)
        check(name, drawn, np.float64, data.draw(given))
    for row, value in zip(drawn, kernel(name)(*columns(drawn, np.float64)).tolist(), strict=True):
        scalar = kernel(name)(*row)
        assert type(scalar) is float
        assert scalar == value or (math.isnan(scalar) and math.isnan(value))


@each
@EXAMPLES
@given(st.data())
def test_integers_are_numbers(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    whole = [argument.whole() for argument in case.arguments.values()]
    drawn = data.draw(st.lists(st.tuples(*whole), min_size=1, max_size=4))
    arrays = [np.array(column) for column in zip(*drawn, strict=True)]
    got = kernel(name)(*arrays)
    assert got.dtype == np.float64
    want = kernel(name)(*columns(drawn, np.float64))
    assert got.tolist() == want.tolist()


@each
@EXAMPLES
@given(st.data())
def test_any_number_has_one_answer(name: str, data: st.DataObject) -> None:
    """A value, as the oracle has it, or a refusal that names an argument out of its range."""
    case = CASES[name]
    (row, *_) = data.draw(rows(case, wild=True))
    refusable = [
        key
        for (key, argument), value in zip(case.arguments.items(), row, strict=True)
        if not argument.accepts(value)
    ]
    refusal, got = answer(name, row)
    if refusal:
        assert any(refusal.startswith(f"{key}: must be") for key in refusable), (row, refusal)
    else:
        want = case.oracle(*row)
        assert agrees(got, want, slack_float64(row, want, case.scale(*row))), (name, row, want, got)


def answer(name: str, row: Row, **parameters: float) -> tuple[str, float]:
    """Return what a kernel refuses with, or its value."""
    try:
        return "", kernel(name)(*row, **parameters)
    except ValueError as refusal:
        return str(refusal), math.nan


@each
def test_nan_gives_what_the_readme_says(name: str) -> None:
    """NaN in a time or age says "no timestamp"; NaN in any other argument gives NaN."""
    case = CASES[name]
    usual = {"depth": 2.0, "certainty": 1.0, "impact": 1.0}
    plain = {key: usual.get(key, 1.0) for key in case.arguments}
    without_time = {
        "time_decay_boost": 1.0, "stability_boost": 1.0, "spacing_factor": 1.0,
        "association_decay": 1.0, "floored_decay": 1.0, "recency_blend": 0.7 + 0.3 * 0.5,
        "reinforce_stability": 1.0,
    }  # fmt: skip
    for key, argument in case.arguments.items():
        got = kernel(name)(**{**plain, key: math.nan})
        if argument.is_age and name in without_time:
            assert got == pytest.approx(without_time[name], rel=1e-15), key
        else:
            assert math.isnan(got), key
    for key in case.parameters.keys() - {"clamp"}:
        refusal, got = answer(name, tuple(plain.values()), **{key: math.nan})
        assert math.isnan(got)
        assert refusal.startswith(f"{key}: must be") or not refusal
