"""The conventions of docs/systems/README.md that every kernel keeps."""

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

UNARY: dict[str, Callable[..., Any]] = {
    "time_decay_boost": kernels.time_decay_boost,
    "depth_weight": kernels.depth_weight,
    "spread_weight": kernels.spread_weight,
}
BINARY: dict[str, Callable[..., Any]] = {
    "stability_boost": kernels.stability_boost,
    "replay_delta": kernels.replay_delta,
}
each_unary = pytest.mark.parametrize("kernel", UNARY.values(), ids=UNARY)
each_binary = pytest.mark.parametrize("kernel", BINARY.values(), ids=BINARY)


@each_unary
def test_python_numbers_in_a_python_float_out(kernel: Callable[..., Any]) -> None:
    assert type(kernel(2)) is float
    assert type(kernel(2.0)) is float
    assert kernel(2) == kernel(2.0)


@each_unary
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float32, np.float64])
def test_the_result_has_the_widest_float_dtype_given(
    kernel: Callable[..., Any], dtype: type[Any]
) -> None:
    wanted = np.float32 if dtype is np.float32 else np.float64
    got = kernel(np.array([1, 2, 3], dtype))
    assert got.dtype == wanted
    assert isinstance(kernel(dtype(2)), wanted)
    np.testing.assert_allclose(got, kernel(np.array([1.0, 2.0, 3.0])), rtol=1e-6)


@each_unary
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_what_a_mask_hides_is_missing(kernel: Callable[..., Any], dtype: type[Any]) -> None:
    values = np.array([1, 2, 3], dtype)
    hidden = kernel(np.ma.array(values, mask=[False, True, False]))
    assert not isinstance(hidden, np.ma.MaskedArray)
    assert hidden.dtype == kernel(values).dtype
    missing = kernel(np.array([1, math.nan, 3], hidden.dtype))
    np.testing.assert_array_equal(hidden, missing)
    np.testing.assert_array_equal(kernel(np.ma.array(values)), kernel(values))


@each_binary
def test_of_two_float_dtypes_the_wider_holds(kernel: Callable[..., Any]) -> None:
    single, double = np.ones(2, np.float32), np.ones(2)
    assert kernel(single, 1.0).dtype == np.float32
    assert kernel(single, np.ones(2, np.int64)).dtype == np.float32
    assert kernel(single, double).dtype == np.float64
    assert kernel(1, np.ones(2, np.int8)).dtype == np.float64


@each_binary
def test_arguments_broadcast(kernel: Callable[..., Any]) -> None:
    rows, columns = np.arange(3.0)[:, None], np.arange(1.0, 5.0)
    got = kernel(rows, columns)
    assert got.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert got[i, j] == kernel(float(i), float(j + 1))
    with pytest.raises(ValueError, match=r"shapes do not broadcast: .* \(3,\).* \(4,\)"):
        kernel(np.ones(3), np.ones(4))


@each_unary
def test_strided_foreign_and_unaligned_input_is_converted(kernel: Callable[..., Any]) -> None:
    depths = np.array([1.0, 2.0, 3.0, 1.0])
    want = kernel(depths)
    spread = np.zeros((4, 3))
    spread[:, 1] = depths
    packed = np.zeros(4, np.dtype([("pad", "u1"), ("value", "f8")]))
    packed["value"] = depths
    for form in (spread[:, 1], depths.astype(">f8"), packed["value"], depths[::-1][::-1]):
        got = kernel(form)
        assert got.tolist() == want.tolist()
        assert got.dtype == np.float64
        assert got.dtype.isnative
    assert kernel([1, 2, 3, 1]).tolist() == want.tolist()
    assert kernel(depths.reshape(2, 2)).tolist() == want.reshape(2, 2).tolist()
    assert kernel(np.zeros((0, 3))).shape == (0, 3)


@each_unary
def test_out_takes_the_result(kernel: Callable[..., Any]) -> None:
    depths = np.array([1.0, 2.0, 3.0])
    want = kernel(depths).tolist()
    out = np.zeros(3)
    assert kernel(depths, out=out) is out
    assert out.tolist() == want
    wide = np.zeros((3, 2))
    kernel(depths, out=wide[:, 1])
    assert wide[:, 1].tolist() == want
    assert wide[:, 0].tolist() == [0.0, 0.0, 0.0]
    kernel(depths, out=depths)
    assert depths.tolist() == want


@each_unary
def test_out_may_overlap_its_input(kernel: Callable[..., Any]) -> None:
    memory = np.array([1.0, 2.0, 3.0, 1.0])
    want = kernel(memory[:3].copy()).tolist()
    kernel(memory[:3], out=memory[1:])
    assert memory[1:].tolist() == want


@each_binary
def test_out_may_be_either_input(kernel: Callable[..., Any]) -> None:
    first, second = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    want = kernel(first, second).tolist()
    for place in (0, 1):
        arrays = [first.copy(), second.copy()]
        kernel(*arrays, out=arrays[place])
        assert arrays[place].tolist() == want


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros(3, np.float32), TypeError, "out: expected an array of float64, got float32"),
        ([0.0] * 3, TypeError, "out: expected an array of float64, got list"),
        (np.zeros(4), ValueError, r"out: expected shape \(3,\), got \(4,\)"),
        (np.broadcast_to(0.0, 3), ValueError, "out: must be writable, got a read-only array"),
    ],
)
def test_an_unfit_out_is_refused(out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kernels.time_decay_boost(np.ones(3), out=out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_value_depends_on_the_threads(dtype: type[Any]) -> None:
    random = np.random.default_rng(7)
    ages = random.uniform(-1, 400, 200_001).astype(dtype)
    stability = random.uniform(0, 5, 200_001).astype(dtype)
    for kernel, arguments in (
        (kernels.time_decay_boost, (ages,)),
        (kernels.stability_boost, (ages, stability)),
        (kernels.spread_weight, (stability,)),
        (kernels.replay_delta, (stability, ages)),
        (kernels.depth_weight, (random.integers(1, 4, 200_001).astype(dtype),)),
    ):
        want = kernel(*arguments)
        for threads in (2, 3, 8):
            assert np.array_equal(kernel(*arguments, threads=threads), want)
        # nor on where in the array it stands
        tail = [argument[-7:].copy() for argument in arguments]
        assert np.array_equal(kernel(*tail), want[-7:])


def test_a_refusal_in_a_thread_reaches_the_caller() -> None:
    depths = np.ones(200_000)
    depths[-1] = 5.0
    with pytest.raises(ValueError, match="depth: must be 1, 2 or 3, got 5"):
        kernels.depth_weight(depths, threads=4)


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_threads_out_of_range_are_refused(threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads: must be in 1 to 256, got {threads}"):
        kernels.spread_weight(1, threads=threads)


@pytest.mark.parametrize("threads", [1.0, True, "2", None])
def test_threads_of_another_type_are_refused(threads: Any) -> None:
    with pytest.raises(TypeError, match="threads: expected an integer, got"):
        kernels.spread_weight(1, threads=threads)


@pytest.mark.parametrize(
    "value", [True, "x", None, 1j, np.array([True]), np.ones(2, np.float16), np.array(["1"])]
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="age_days: expected numbers, float32, float64 or integers"):
        kernels.time_decay_boost(value)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (kernels.time_decay_boost, "age_days"),
        (lambda lists: kernels.blend(0.5, lists), "cosine"),
        (kernels.kind_weight, "kind"),
        (lambda lists: kernels.retention(1.0, 1.0, 0.5, lists), "category"),
    ],
)
def test_lists_of_several_lengths_are_refused_by_name(
    call: Callable[[Any], Any], name: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected lists of one length, got \[\["):
        call([[1.0], [1.0, 2.0]])


def test_durations_of_numpy_are_no_single_numbers() -> None:
    day = np.timedelta64(1, "D")
    with pytest.raises(TypeError, match=r"^age_days: expected numbers, .*, got timedelta64\[D\]"):
        kernels.ciar(0.9, 0.8, day, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^certainty: expected a number, got timedelta64"):
        kernels.explain_ciar(day, 0.8, 10, 3)  # type: ignore[arg-type]


def test_nan_says_no_timestamp_where_it_is_a_time_and_spreads_elsewhere() -> None:
    nan = math.nan
    assert kernels.time_decay_boost(nan) == 1.0
    assert kernels.stability_boost(nan, 2.0) == 1.0
    for got in (
        kernels.replay_delta(1, nan),
        kernels.replay_delta(nan, 1),
        kernels.stability_boost(1.0, nan),
        kernels.stability_boost(nan, nan),
        kernels.spread_weight(nan),
        kernels.depth_weight(nan),
        kernels.time_decay_boost(1.0, boost=nan),
        kernels.time_decay_boost(1.0, tau_days=nan),
        kernels.stability_boost(1.0, 1.0, low=nan),
        kernels.spread_weight(3, cap=nan),
        kernels.replay_delta(1, 1, max_delta=nan),
    ):
        assert math.isnan(got)
    out = np.zeros(2, np.float32)
    assert kernels.spread_weight(np.ones(2, np.float32), cap=nan, out=out) is out
    assert np.isnan(out).all()


def test_parameters_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="tau_days: must be > 0 and finite, got -1"):
        kernels.time_decay_boost(1.0, tau_days=-1)
    with pytest.raises(ValueError, match="table: expected 3 numbers"):
        kernels.depth_weight(1, table=(1.0, 2.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="depth: must be 1, 2 or 3, got 0"):
        kernels.depth_weight(0)


@given(st.integers(min_value=10**9, max_value=10**400))
def test_numbers_beyond_every_float_are_endless(age: int) -> None:
    assert kernels.time_decay_boost(age) == 1.0
    assert kernels.stability_boost(age, 2) == 3.0
    single = kernels.time_decay_boost(age, 0.3, 30.0)
    assert kernels.time_decay_boost(np.float32(2.0), 0.3) > single
    assert kernels.replay_delta(np.ones(1, np.float32), age)[0] < 1e-9


@given(
    hnp.arrays(np.float64, 5, elements=st.floats(-1e9, 1e9)),
    hnp.arrays(np.float64, 5, elements=st.floats(0, 1e9)),
)
def test_an_array_is_its_scalars(
    ages: np.ndarray[Any, Any], stability: np.ndarray[Any, Any]
) -> None:
    got = kernels.stability_boost(ages, stability)
    want = [
        kernels.stability_boost(float(age), float(value))
        for age, value in zip(ages, stability, strict=True)
    ]
    assert got.tolist() == want
