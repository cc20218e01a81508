"""Kernels and programs of the core: the same bits on every path, tile and thread count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oneiros import _core

Array = np.ndarray[Any, Any]

NUMBERS = """
boost=0.3 tau_days=30.0 cap=2.0 low=0.1 high=3.0 max_delta=0.1 model=0.0 alpha=0.3
span_days=7.0 most=2.0 gain=0.1 limit=1.0 tau_hours=168.0 weight=0.3 otherwise=1.0 loss=0.2
floor=0.2 base=0.7 step=0.08 least=0.5 spread=0.4 disliked=0.5 tag=0.1 project=0.15
content=0.05 most_content=3.0 window=0.01 priority_gain=0.005 access_gain=0.0025
most_accesses=3.0 quality_gain=0.0025 most_quality=3.0 recency_gain=0.05 rate=0.0231
reinforcement=0.1 clamp=1.0 most_days=30.0 most_gain=0.3 threshold=0.6 amount=0.15
half_life_days=90.0 half_life_hours=168.0 access_floor=0.1 factor=2.0 offset=1.0 share=0.3 decay=0.5 reach=2.0
"""
PARAMETERS: dict[str, float | list[float]] = {
    "table": [0.8, 1.0, 1.2],
    "floors": [0.02, 0.02, 0.02, 0.6],
    "beta_days": [45.0, 120.0, math.inf, 120.0],
    "weights": [1.0, 2.0],
}
for pair in NUMBERS.split():
    PARAMETERS[pair.split("=")[0]] = float(pair.split("=")[1])
DOMAINS: dict[str, list[float]] = {
    "depth": [1.0, 2.0, 3.0, math.nan],
    "category": [0.0, 1.0, 2.0, 3.0, math.nan],
    "limit_days": [5e-30, 0.5, 30.0, 1e30, math.inf, math.nan],
    "eta_hours": [1e-30, 0.5, 168.0, 1e30, math.inf, math.nan],
}
for counted in ("session_spread", "peer_count", "uses", "good", "bad"):
    DOMAINS[counted] = [0.0, 1.0, 7.0, math.nan]
ODD = [0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-45, 1e-310, -1.0, 1e300, 3e38]
WHOLE_LIST = {"minmax_floor", "blend", "spread_neighbours"}
SIZE = 1003


@pytest.fixture(autouse=True)
def same_path_afterwards() -> Iterator[None]:
    before = _core.simd_path()
    yield
    _core.use_simd_path(name=before)


def parameters_of(kernel: str) -> dict[str, float | list[float]]:
    return {name: PARAMETERS[name] for name, _ in _core.kernel_signature(kernel=kernel)[1]}


def inputs_of(kernel: str, dtype: str) -> list[Array]:
    random = np.random.default_rng(7)
    names = _core.kernel_signature(kernel=kernel)[0] or ["a", "b"]
    some = np.concatenate([ODD, random.uniform(-5, 400, 40), random.integers(0, 4, 20)])
    with np.errstate(over="ignore"):
        arrays = [random.choice(DOMAINS.get(name, some), SIZE).astype(dtype) for name in names]
    if kernel == "spread_neighbours":
        arrays[1:] = [random.integers(-1, SIZE, SIZE) for _ in "lr"]
    return arrays


def evaluate(kernel: str, inputs: list[Array], dtype: str, threads: int = 1) -> Array:
    return _core.evaluate(
        kernel=kernel,
        inputs=inputs,
        parameters=parameters_of(kernel),
        dtype=dtype,
        out=None,
        threads=threads,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", _core.kernel_names())
def test_a_kernel_gives_the_same_bits_on_every_path(kernel: str, dtype: str) -> None:
    inputs = inputs_of(kernel, dtype)
    _core.use_simd_path(name="baseline")
    want = evaluate(kernel, inputs, dtype)
    bits = np.dtype(dtype).str.replace("f", "u")
    for path in _core.simd_paths():
        _core.use_simd_path(name=path)
        for first in (0,) if kernel in WHOLE_LIST else (0, 1, 7, SIZE - 3):
            got = evaluate(kernel, [values[first:] for values in inputs], dtype)
            is_nan = np.isnan(want[first:])
            np.testing.assert_array_equal(np.isnan(got), is_nan)
            np.testing.assert_array_equal(got[~is_nan].view(bits), want[first:][~is_nan].view(bits))


@pytest.mark.parametrize("kernel", _core.kernel_names())
def test_a_kernel_takes_inputs_of_one_value_and_none(kernel: str) -> None:
    inputs = inputs_of(kernel, "float64")
    if kernel in WHOLE_LIST:
        return
    ones = [values[5:6].copy() for values in inputs]
    want = evaluate(kernel, [np.repeat(values, 9) for values in ones], "float64")
    got = evaluate(kernel, [np.repeat(ones[0], 9), *ones[1:]], "float64")
    np.testing.assert_array_equal(got, want)
    assert evaluate(kernel, [np.zeros(0) for _ in inputs], "float64").shape == (0,)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_no_value_depends_on_the_threads(threads: int) -> None:
    random = np.random.default_rng(3)
    inputs = [random.random(300_001, np.float32) for _ in range(4)]
    want = evaluate("ciar", inputs, "float32")
    np.testing.assert_array_equal(evaluate("ciar", inputs, "float32", threads), want)
    tail = evaluate("ciar", [values[-7:].copy() for values in inputs], "float32")
    np.testing.assert_array_equal(tail, want[-7:])


@pytest.mark.parametrize("given", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("kernel", ["minmax_floor", "blend"])
def test_the_extremes_of_a_list_stand_anywhere_and_depend_on_no_thread(
    kernel: str, given: type[Any]
) -> None:
    scores = np.random.default_rng(4).integers(1, 9_000, 100_003).astype(given)
    if given != np.int16:
        scores[::7] = math.nan
    inputs = [scores, np.zeros_like(scores)][: 1 + (kernel == "blend")]
    weight, low = (parameters_of(kernel).get(name, 0.0) for name in ("weight", "low"))
    for row in (0, 1, 511, 40_000, 100_001):
        scores[row], scores[row + 1] = -9_000, 9_999
        with np.errstate(invalid="ignore"):
            want = (
                weight * scores.astype(float) / 9_999
                if kernel == "blend"
                else low + (1 - low) * (scores.astype(float) + 9_000) / 18_999
            )
        for threads in (1, 2, 3):
            got = evaluate(kernel, inputs, "float64", threads)
            np.testing.assert_allclose(got, want, rtol=1e-12)
        scores[row : row + 2] = 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_first_value_outside_a_domain_is_told(threads: int) -> None:
    depth = np.ones(200_000, np.float32)
    depth[[70_000, 150_000, 199_999]] = 7, 8, 9
    with pytest.raises(ValueError, match="depth: must be 1, 2 or 3, got 7"):
        evaluate("depth_weight", [depth], "float32", threads)
    depth[70_000] = 2
    with pytest.raises(ValueError, match="got 8"):
        evaluate("depth_weight", [depth], "float32", threads)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("given", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_any_number_type_is_read_as_numpy_casts_it(given: str, dtype: str) -> None:
    random = np.random.default_rng(5)
    raw = random.integers(0, 256, 8 * 5001, np.uint8).view("f8" if given == "?" else given)
    values = (raw > 0) if given == "?" else raw
    with np.errstate(all="ignore"):
        want = -values.astype(dtype)
    for path in _core.simd_paths():
        _core.use_simd_path(name=path)
        np.testing.assert_array_equal(evaluate("negate", [values], dtype), want)


def test_out_may_be_an_input_and_nothing_that_overlaps_one() -> None:
    values = np.arange(5000.0)
    want = np.exp2(-values / 90).clip(0.2)
    memory = np.zeros(5001)
    arguments: dict[str, Any] = {
        "kernel": "half_life_decay",
        "parameters": {"half_life_days": 90.0, "floor": 0.2},
        "dtype": "float64",
        "threads": 1,
    }
    got = _core.evaluate(inputs=[values], out=values, **arguments)
    assert got is values
    np.testing.assert_allclose(values, want, rtol=1e-14)
    with pytest.raises(ValueError, match=r"inputs\[0\]: shares memory with out, but is not out"):
        _core.evaluate(inputs=[memory[1:]], out=memory[:-1], **arguments)


def test_large_results_are_the_same_as_small_ones() -> None:
    values = np.linspace(0, 1000, 3_000_001).astype(np.float32)
    want = np.concatenate(
        [evaluate("exp", [-part.copy()], "float32") for part in np.array_split(values, 50)]
    )
    np.testing.assert_array_equal(evaluate("exp", [-values], "float32", 2), want)
    memory = np.zeros(values.size + 1, np.float32)
    out = memory[1:]  # stands at no round address
    np.negative(values, out=out)
    _core.evaluate(kernel="exp", inputs=[out], parameters={}, dtype="float32", out=out, threads=1)
    np.testing.assert_array_equal(out, want)
    assert memory[0] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kernel": "nothing"}, ValueError, 'kernel: none is called "nothing"'),
        ({"inputs": []}, ValueError, "damp: takes 1 input, got 0"),
        ({"inputs": [3.0]}, TypeError, r"inputs\[0\]: expected an array, got"),
        ({"inputs": [np.ones(2, np.float16)]}, TypeError, r"expected float32, float64, an integer"),
        ({"inputs": [np.ones((2, 2))]}, ValueError, r"expected shape \(n,\), got \(2, 2\)"),
        ({"inputs": [np.ones(4)[::2]]}, ValueError, "must be contiguous"),
        ({"inputs": [np.ones(4, ">f8")]}, TypeError, "expected float32, float64, an integer"),
        ({"parameters": {}}, ValueError, "damp: parameter amount is missing"),
        ({"parameters": {"amount": 2.0}}, ValueError, r"amount: must be in \[0, 1\], got 2"),
        ({"parameters": {"amount": math.nan}}, ValueError, r"amount: must be in \[0, 1\], got nan"),
        ({"parameters": {"amount": "x"}}, TypeError, "amount: expected a number or a list of"),
        ({"parameters": {"amount": 0.1, "b": 1.0}}, ValueError, "damp: has no parameter b"),
        ({"dtype": "int8"}, ValueError, 'dtype: must be "float32" or "float64", got "int8"'),
        ({"out": np.ones(2)}, ValueError, r"out: expected shape \(3,\), got \(2,\)"),
        ({"out": np.ones(3, np.float32)}, TypeError, "out: expected float64, got float32"),
        ({"threads": 0}, ValueError, "threads: must be in 1 to 256, got 0"),
    ],
)
def test_evaluate_says_what_is_wrong(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    good: dict[str, Any] = {
        "kernel": "damp",
        "inputs": [np.ones(3)],
        "parameters": {"amount": 0.5},
        "dtype": "float64",
        "out": None,
        "threads": 1,
    }
    with pytest.raises(error, match=message):
        _core.evaluate(**{**good, **arguments})


def test_inputs_of_two_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"inputs\[1\]: expected shape \(3,\) or \(1,\), got \(2"):
        evaluate("add", [np.ones(3), np.ones(2)], "float64")


@pytest.mark.parametrize(
    ("kernel", "inputs", "message"),
    [
        ("depth_weight", [[1.0, 4.0]], "depth: must be 1, 2 or 3, got 4"),
        ("depth_weight", [[1.5]], "depth: must be 1, 2 or 3, got 1.5"),
        ("spread_weight", [[1.0, -1.0]], "session_spread: must be finite and >= 0, got -1"),
        ("replay_delta", [[math.inf], [0.0]], "peer_count: must be finite and >= 0, got inf"),
        ("retention", [[0.0], [1.0], [0.5], [4.0]], "category: must be 0, 1, 2 or 3, got 4"),
        ("weibull_retention", [[1.0], [0.5], [0.0]], "eta_hours: must be > 0, got 0"),
        ("weibull_retention", [[1.0], [0.5], [-3.0]], "eta_hours: must be > 0, got -3"),
        ("spread_neighbours", [[1.0], [1.0], [-1.0]], "left: must be -1 or an index of the"),
        ("weighted_sum", [[1.0]], r"weights: expected one a channel \(1\), got 2"),
    ],
)
def test_an_input_outside_its_domain_is_refused_before_anything_is_written(
    kernel: str, inputs: list[list[float]], message: str
) -> None:
    out = np.full(len(inputs[0]), 7.0)
    with pytest.raises(ValueError, match=message):
        _core.evaluate(
            kernel=kernel,
            inputs=[np.array(values) for values in inputs],
            parameters=parameters_of(kernel),
            dtype="float64",
            out=out,
            threads=1,
        )
    assert (out == 7.0).all()


CHAIN: dict[str, Any] = {
    "inputs": [
        ("value", "strength", 1.0),
        ("age", ["last_accessed_at", "created_at"], 86_400.0),
        ("value", "count", 2.0),
    ],
    "instructions": [
        ("time_decay_boost", [1], {"boost": 0.3, "tau_days": 30.0}),
        ("multiply", [0, 3], {}),
        ("ciar_reinforcement", [2], {"reinforcement": 0.1}),
        ("multiply", [4, 5], {}),
    ],
}


def columns(size: int) -> dict[str, Any]:
    random = np.random.default_rng(11)
    accessed = random.uniform(0, 1e7, size)
    accessed[::3] = math.nan
    created = random.uniform(0, 1e7, size)
    created[::9] = math.nan
    return {
        "strength": random.random(size, np.float32),
        "last_accessed_at": accessed,
        "created_at": created,
        "count": random.integers(0, 9, size, np.uint32),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 127, 5000, 100_001])
def test_a_program_is_its_instructions_one_by_one(size: int, dtype: str) -> None:
    program = _core.Program(**CHAIN)
    assert program.input_names == ["strength", "last_accessed_at", "created_at", "count"]
    given = columns(size)
    time = np.where(
        np.isnan(given["last_accessed_at"]), given["created_at"], given["last_accessed_at"]
    )
    age = np.maximum((9e6 - time) / 86_400, 0).astype(dtype)
    with np.errstate(all="ignore"):
        decay = evaluate("time_decay_boost", [age], dtype)
        gain = evaluate("ciar_reinforcement", [given["count"]], dtype)
        want = given["strength"].astype(dtype) * decay * gain
    for path in _core.simd_paths():
        _core.use_simd_path(name=path)
        for threads in (1, 2):
            (score, ages), future = program.run(
                operands=given,
                now_seconds=9e6,
                size=size,
                outputs=[6, 1],
                dtype=dtype,
                out=None,
                threads=threads,
            )
            np.testing.assert_array_equal(score, want)
            np.testing.assert_array_equal(ages, age)
            assert future == np.count_nonzero(time > 9e6)


def run_chain(operands: dict[str, Any], **changes: Any) -> tuple[list[Array], int]:
    arguments: dict[str, Any] = {
        "now_seconds": 9e6,
        "size": 3,
        "outputs": [6],
        "dtype": "float64",
        "out": None,
        "threads": 1,
    }
    return _core.Program(**CHAIN).run(operands=operands, **{**arguments, **changes})


def test_an_absent_operand_has_its_default_and_a_number_holds_for_every_row() -> None:
    (score,), future = run_chain({})
    assert score.tolist() == [1.2, 1.2, 1.2]
    assert future == 0
    (score,), future = run_chain({"strength": 0.5, "created_at": 1e8, "count": 0})
    assert score.tolist() == [0.65, 0.65, 0.65]
    assert future == 3


@pytest.mark.parametrize(
    ("operands", "changes", "error", "message"),
    [
        ({"strngth": 1.0}, {}, ValueError, 'operands: the program has no input "strngth"'),
        ({"strength": np.ones(2)}, {}, ValueError, "strength: expected 3 values or 1, got 2"),
        ({"strength": "x"}, {}, TypeError, "strength: expected an array or a number, got"),
        ({}, {"outputs": [7]}, ValueError, "outputs: register 7 is not one of the 7"),
        ({}, {"out": []}, ValueError, r"out: expected one array an output \(1\), got 0"),
        ({}, {"now_seconds": math.nan}, ValueError, "now_seconds: must be finite, got nan"),
        ({}, {"dtype": "f8"}, ValueError, "dtype: must be"),
    ],
)
def test_a_run_says_what_is_wrong(
    operands: dict[str, Any], changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_chain(operands, **changes)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"inputs": [("value", "a")]}, TypeError, r"inputs\[0\]: expected \(\"value\", name"),
        ({"inputs": [("age", [], 1.0)]}, ValueError, r"inputs\[0\]: an age needs at least one"),
        ({"inputs": [("age", ["t"], 0.0)]}, ValueError, "unit_seconds: must be > 0 and finite"),
        ({"instructions": [("add", 3, {})]}, TypeError, r"instructions\[0\]: expected \(kernel"),
        ({"instructions": [("add", [0, 9], {})]}, ValueError, "add: register 9 is not written"),
    ],
)
def test_a_program_says_what_is_wrong(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _core.Program(**{**CHAIN, **change})


def test_an_unknown_path_is_refused() -> None:
    with pytest.raises(ValueError, match=r'SIMD path: this machine runs baseline.*, got "mmx"'):
        _core.use_simd_path(name="mmx")
