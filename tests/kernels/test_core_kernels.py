"""Every kernel of the core: its oracle, and the same bits on every path, tile, dtype and thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from tests.kernels.agreement import EXAMPLES, agrees, slack_float32, slack_float64
from tests.kernels.core_kernels import CORE, ELSEWHERE
from tests.oracles.ieee import as_float32

UNARY = {
    "negate": np.negative,
    "absolute": np.absolute,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "is_nan": np.isnan,
}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "power": np.power,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}
OTHERS = {"clip", "select", "lookup", "scale"}
BY_MATH = {"exp", "log", "log1p", "log2", "power"}
EDGES = np.array([
    0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 2.3e-308, 1e-45, 1.2e-38,
    3.4e38, 1.7e308, -1.7e308, 0.5, 2.0, 3.0, -2.5, 88.7, 89.0, -87.3, -104.0, 709.7, 710.0, -745.0,
    -746.0, 1 + 2**-52, 1 - 2**-53, 2**52 + 1.0, 2**53, 1e15 + 0.5,
])  # fmt: skip
Array = np.ndarray[Any, Any]


@pytest.fixture(params=_core.simd_paths())
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.simd_path()
    _core.use_simd_path(name=request.param)
    yield request.param
    _core.use_simd_path(name=before)


def evaluate(name: str, inputs: list[Array], dtype: str = "float64", **options: Any) -> Array:
    parameters = CORE[name].parameters if name in CORE else {}
    settled = {"parameters": dict(parameters), "out": None, "threads": 1, **options}
    got: Array = _core.evaluate(
        kernel=name.partition("/")[0], inputs=inputs, dtype=dtype, **settled
    )
    return got


def drawn(name: str, size: int, seed: int = 3) -> list[Array]:
    """Random rows of usual values, many ages missing or endless."""
    random = np.random.default_rng(seed)
    columns = []
    for argument in CORE[name].arguments.values():
        if argument.is_age:
            values = random.choice([0.0, -1.0, np.nan, np.inf, *range(1, 400)], size)
            values = values + random.uniform(0, 1, size)
        elif argument.bulk:
            values = random.choice(argument.bulk, size)
        else:
            values = random.uniform(argument.low, min(argument.high, 50.0), size)
        columns.append(np.asarray(values, np.float64))
    return columns


def test_every_kernel_of_the_core_is_held_to_something() -> None:
    tested = {name.partition("/")[0] for name in CORE} | ELSEWHERE
    assert set(_core.kernel_names()) == tested | UNARY.keys() | BINARY.keys() | OTHERS


@pytest.mark.parametrize("name", CORE)
@EXAMPLES
@given(st.data())
def test_the_core_is_the_oracle(name: str, data: st.DataObject) -> None:
    case = CORE[name]
    usual = [argument.usual for argument in case.arguments.values()]
    rows = data.draw(st.lists(st.tuples(*usual), min_size=1, max_size=8))
    for dtype in ("float64", "float32"):
        with np.errstate(over="ignore"):
            inputs = [np.array(column).astype(dtype) for column in zip(*rows, strict=True)]
        got = evaluate(name, inputs, dtype)
        assert got.dtype == dtype
        for row, value in zip(rows, got.tolist(), strict=True):
            given_row = tuple(map(as_float32, row)) if dtype == "float32" else row
            want = case.oracle(*given_row)
            scale = case.scale(*given_row)
            if dtype == "float32":
                want = as_float32(want)
                slack = slack_float32(given_row, want, scale, case.exponent(*given_row))
            else:
                slack = slack_float64(given_row, want, scale)
            assert agrees(value, want, slack), (name, dtype, given_row, want, value)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_unary_primitives_are_numpys(name: str, dtype: str, path: str) -> None:
    del path
    values = np.concatenate([EDGES, np.linspace(-50, 50, 101)])
    with np.errstate(all="ignore"):
        check_primitive(name, [values.astype(dtype)], dtype, UNARY[name])


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_binary_primitives_are_numpys(name: str, dtype: str, path: str) -> None:
    del path
    with np.errstate(all="ignore"):
        left, right = (side.ravel().astype(dtype) for side in np.meshgrid(EDGES, EDGES))
        check_primitive(name, [left, right], dtype, BINARY[name])


def check_primitive(name: str, inputs: list[Array], dtype: str, numpy: Any) -> None:
    """The same bits as NumPy; what a library of mathematics computes, within 4 ULP (DESIGN 3)."""
    got, want = evaluate(name, inputs, dtype), numpy(*inputs).astype(dtype)
    if name not in BY_MATH:
        assert same_bits_but_nan(got, want)
        return
    exact = numpy(*[one.astype(np.longdouble) for one in inputs])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    known = np.isfinite(want)
    np.testing.assert_array_equal(got[~known & ~np.isnan(want)], want[~known & ~np.isnan(want)])
    error = np.abs(got[known].astype(np.longdouble) - exact[known])
    assert np.all(error <= 4 * np.spacing(np.abs(want[known])))


def same_bits_but_nan(got: Array, want: Array) -> bool:
    whole = np.uint32 if got.dtype == np.float32 else np.uint64
    same = got.view(whole) == want.view(whole)
    return bool(np.all(same | (np.isnan(got) & np.isnan(want))))


@pytest.mark.parametrize("name", [*CORE, *UNARY, *BINARY])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_path_tile_and_thread_gives_the_same_bits(name: str, dtype: str) -> None:
    size = 70_001
    if name in CORE:
        inputs = drawn(name, size)
    else:
        random = np.random.default_rng(5)
        inputs = [random.choice(EDGES, size) for _ in range(1 + (name in BINARY))]
    with np.errstate(over="ignore"):
        inputs = [column.astype(dtype) for column in inputs]
    before = _core.simd_path()
    results = []
    try:
        for one in _core.simd_paths():
            _core.use_simd_path(name=one)
            whole = evaluate(name, inputs, dtype)
            results.append(whole)
            assert same_bits_but_nan(evaluate(name, inputs, dtype, threads=3), whole)
            for start, stop in ((0, 0), (0, 1), (3, 20), (1, 4_100), (69_990, size)):
                part = [column[start:stop].copy() for column in inputs]
                assert same_bits_but_nan(evaluate(name, part, dtype), whole[start:stop])
    finally:
        _core.use_simd_path(name=before)
    for one in results[1:]:
        assert same_bits_but_nan(one, results[0])


@pytest.mark.parametrize("name", CORE)
def test_an_input_of_length_1_is_the_same_for_every_row(name: str) -> None:
    inputs = drawn(name, 37)
    for place in range(len(inputs)):
        one = inputs[place][5:6].copy()
        short = [*inputs[:place], one, *inputs[place + 1 :]]
        full = [*inputs[:place], np.repeat(one, 37), *inputs[place + 1 :]]
        want = evaluate(name, full)
        got = evaluate(name, short)
        assert same_bits_but_nan(np.resize(got, 37) if len(got) == 1 else got, want)


@pytest.mark.parametrize("name", ["ciar", "damp", "priority_factor", "spread_weight", "divide"])
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
)
def test_any_type_of_number_is_its_value(name: str, dtype: str) -> None:
    width = len(CORE[name].arguments) if name in CORE else 2
    inputs = [np.array([1, 0, 1, 1, 0] * 9).astype(dtype) for _ in range(width)]
    if dtype != "bool" and name != "ciar":
        inputs[0][:3] = [127, 5, 2]
    want = evaluate(name, [column.astype(np.float64) for column in inputs])
    assert same_bits_but_nan(evaluate(name, inputs), want)


@pytest.mark.parametrize("name", CORE)
def test_out_may_be_any_input(name: str) -> None:
    want = evaluate(name, drawn(name, 333))
    for place in range(len(CORE[name].arguments)):
        inputs = drawn(name, 333)
        got = evaluate(name, inputs, out=inputs[place])
        assert got is inputs[place]
        assert same_bits_but_nan(got, want)
