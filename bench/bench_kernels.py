"""The batch kernels over a million rows, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from oneiros import kernels

Array = np.ndarray[Any, Any]
SIZE = 1_000_000
RANDOM = np.random.default_rng(7)
AGES = RANDOM.uniform(0, 365, SIZE)
STABILITY = RANDOM.uniform(0.5, 10, SIZE)
DEPTHS = RANDOM.integers(1, 4, SIZE).astype(np.float64)
SPREADS = RANDOM.integers(1, 200, SIZE).astype(np.float64)
TABLE = np.array([0.8, 1.0, 1.2])

KERNELS: dict[str, tuple[Callable[..., Array], Callable[..., Array], tuple[Array, ...]]] = {
    "time_decay_boost": (
        kernels.time_decay_boost,
        lambda ages: 1 + ages.dtype.type(0.3) * np.exp(-ages / ages.dtype.type(30)),
        (AGES,),
    ),
    "stability_boost": (
        kernels.stability_boost,
        lambda ages, stability: np.clip(
            np.exp(ages / ages.dtype.type(30) * (1 - 1 / stability)), 0.1, 3.0
        ),
        (AGES, STABILITY),
    ),
    "spread_weight": (kernels.spread_weight, lambda spreads: np.log2(1 + spreads), (SPREADS,)),
    "depth_weight": (
        kernels.depth_weight,
        lambda depths: TABLE.astype(depths.dtype)[depths.astype(np.intp) - 1],
        (DEPTHS,),
    ),
    "replay_delta": (
        kernels.replay_delta,
        lambda peers, hours: np.minimum(
            peers.dtype.type(0.1) / (1 + hours) * np.log1p(peers), peers.dtype.type(0.1)
        ),
        (SPREADS, AGES),
    ),
}


@pytest.mark.parametrize("form", ["oneiros", "oneiros, 2 threads", "numpy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel(benchmark: BenchmarkFixture, name: str, dtype: type[Any], form: str) -> None:
    benchmark.group = f"{name}, 1M {np.dtype(dtype).name}"
    ours, peer, values = KERNELS[name]
    arrays = [value.astype(dtype) for value in values]
    out = np.empty(SIZE, dtype)
    if form == "numpy":
        got = benchmark(peer, *arrays)
    else:
        got = benchmark(ours, *arrays, out=out, threads=2 if "2" in form else 1)
    want = peer(*values)
    np.testing.assert_allclose(got, want, rtol=1e-12 if dtype is np.float64 else 1e-5)
