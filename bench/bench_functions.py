"""The core's exp, log and pow over arrays that fit the caches, on each SIMD path, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from oneiros import _core

Array = np.ndarray[Any, Any]
SIZE = 32_768
RANDOM = np.random.default_rng(7)
POSITIVE = RANDOM.uniform(0.01, 20.0, SIZE)
FUNCTIONS: dict[str, tuple[Callable[..., Array], tuple[Array, ...]]] = {
    "exp": (np.exp, (-POSITIVE,)),
    "log": (np.log, (POSITIVE,)),
    "log1p": (np.log1p, (POSITIVE,)),
    "log2": (np.log2, (POSITIVE,)),
    "power": (np.power, (POSITIVE, RANDOM.uniform(-3.0, 3.0, SIZE))),
}


@pytest.fixture(autouse=True)
def same_path_afterwards() -> Iterator[None]:
    before = _core.simd_path()
    yield
    _core.use_simd_path(name=before)


@pytest.mark.parametrize("form", [*_core.simd_paths(), "numpy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(benchmark: BenchmarkFixture, name: str, dtype: str, form: str) -> None:
    benchmark.group = f"{name}, {SIZE:,} {dtype}"
    peer, values = FUNCTIONS[name]
    arrays = [value.astype(dtype) for value in values]
    out = np.empty(SIZE, dtype)
    if form == "numpy":
        got = benchmark(peer, *arrays, out=out)
    else:
        _core.use_simd_path(name=form)
        got = benchmark(
            _core.evaluate,
            kernel=name,
            inputs=arrays,
            parameters={},
            dtype=dtype,
            out=out,
            threads=1,
        )
    want = peer(*(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-15)
