"""Fusion of ranked lists, beside a Python dict and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import oneiros

STORE = 100_000
TOP = 10
Lists = list[np.ndarray[Any, Any]]


def rankings(size: int, dtype: type[Any] = np.int64) -> Lists:
    """Two lists of ``size`` ids, a third of them in both, as lexical and vector channels overlap."""
    random = np.random.default_rng(7)
    first, second = random.permutation(STORE)[: 2 * size].reshape(2, size)
    shared = random.permutation(size)[: size // 3]
    second[shared] = first[random.permutation(size)[: len(shared)]]
    return [first.astype(dtype), second.astype(dtype)]


def by_dict(lists: Lists) -> list[tuple[int, float]]:
    sums: dict[int, float] = {}
    for ranking in lists:
        for rank, id in enumerate(ranking.tolist(), start=1):
            sums[id] = sums.get(id, 0.0) + 1.0 / (60.0 + rank)
    return sorted(sums.items(), key=lambda pair: -pair[1])[:TOP]


def by_numpy(lists: Lists) -> list[tuple[int, float]]:
    ids, inverse = np.unique(np.concatenate(lists), return_inverse=True)
    ranks = np.concatenate([np.arange(1.0, len(ranking) + 1) for ranking in lists])
    scores = np.bincount(inverse, weights=1.0 / (60.0 + ranks))
    best = np.argpartition(-scores, TOP)[:TOP]
    best = best[np.argsort(-scores[best], kind="stable")]
    return list(zip(ids[best].tolist(), scores[best].tolist(), strict=True))


def by_oneiros(lists: Lists) -> list[tuple[int, float]]:
    ids, scores = oneiros.rrf(lists, k=60.0, top=TOP)
    return list(zip(ids.tolist(), scores.tolist(), strict=True))


FORMS: dict[str, Callable[[Lists], list[tuple[int, float]]]] = {
    "oneiros": by_oneiros,
    "dict": by_dict,
    "numpy": by_numpy,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [100, 1000])
def test_fusion(benchmark: BenchmarkFixture, size: int, form: str) -> None:
    benchmark.group = f"fusion, top 10 of 2 x {size}"
    lists = rankings(size)
    got = benchmark(FORMS[form], lists)
    want = [score for _, score in by_dict(lists)]
    assert [score for _, score in got] == pytest.approx(want, rel=1e-12)  # ties may swap ids
