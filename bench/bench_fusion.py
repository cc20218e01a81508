"""Fusion of ranked lists and the whole plan, beside a Python dict and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import oneiros
from oneiros import _core, profiles

NOW = 1_750_000_000.0
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


def lives() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(7)
    return {
        "created_at": NOW - random.uniform(0, 365 * 86_400.0, STORE),
        "updated_at": NOW - random.uniform(0, 90 * 86_400.0, STORE),
        "strength": random.uniform(0.1, 1, STORE).astype(np.float32),
        "depth": random.integers(1, 4, STORE).astype(np.uint8),
        "session_spread": random.integers(1, 9, STORE).astype(np.uint32),
        "stability": random.uniform(0.5, 3, STORE).astype(np.float32),
    }


def reverie_by_numpy(columns: dict[str, np.ndarray[Any, Any]], lists: Lists) -> list[float]:
    rows, inverse = np.unique(np.concatenate(lists), return_inverse=True)
    ranks = np.concatenate([np.arange(1.0, len(ranking) + 1) for ranking in lists])
    scores = np.bincount(inverse, weights=1.0 / (30.0 + ranks))
    taken = {name: column[rows].astype(np.float64) for name, column in columns.items()}
    scores *= 1 + 0.3 * np.exp(-(NOW - taken["updated_at"]) / 86_400.0 / 30.0)
    scores *= taken["strength"]
    scores *= np.array([0.8, 1.0, 1.2])[taken["depth"].astype(np.int64) - 1]
    scores *= np.log2(1 + taken["session_spread"])
    age = (NOW - taken["created_at"]) / 86_400.0
    scores *= np.clip(np.exp(age / 30.0 * (1 - 1 / taken["stability"])), 0.1, 3.0)
    return np.sort(scores)[::-1][:TOP].tolist()


def columns_of(values: dict[str, np.ndarray[Any, Any]]) -> _core.Columns:
    columns = _core.Columns()
    columns.append(count=STORE)
    columns.write(rows=np.arange(STORE, dtype=np.uint32), values=values)
    return columns


def falling(lists: Lists) -> Lists:
    """Raw scores of ranked lists."""
    return [np.linspace(1.0, 0.1, len(rows)) for rows in lists]


@pytest.mark.parametrize("form", ["oneiros", "numpy"])
@pytest.mark.parametrize("size", [100, 1000])
def test_plan(benchmark: BenchmarkFixture, size: int, form: str) -> None:
    benchmark.group = f"reverie whole, top 10 of 2 x {size}"
    values, lists = lives(), rankings(size, np.uint32)
    columns, scores = columns_of(values), falling(lists)
    plan = profiles.get("reverie").compile().plan

    def by_plan() -> list[float]:
        candidates = plan.candidates(rankings=lists, scores=scores)
        ranked = plan.rank(
            columns=columns,
            candidates=candidates,
            now_seconds=NOW,
            k=TOP,
            signals=None,
            explain=False,
        )
        return ranked.scores.tolist()

    want = reverie_by_numpy(values, lists)
    got = benchmark(by_plan if form == "oneiros" else lambda: reverie_by_numpy(values, lists))
    assert got == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("name", profiles.names())
@pytest.mark.parametrize("size", [100, 1000])
def test_candidates(benchmark: BenchmarkFixture, size: int, name: str) -> None:
    """Candidates that are already there, scored by each profile."""
    benchmark.group = f"top 10 of 2 x {size} candidates, scored"
    lists = rankings(size, np.uint32)
    columns, plan = columns_of(lives()), profiles.get(name).compile().plan
    candidates = plan.candidates(rankings=lists, scores=falling(lists))
    for channel in range(2):
        candidates.fill(channel, np.full(len(candidates.missing(channel)), 0.05))
    ranked = benchmark(
        plan.rank,
        columns=columns,
        candidates=candidates,
        now_seconds=NOW,
        k=TOP,
        signals=None,
        explain=False,
    )
    assert len(ranked.rows) == TOP
    assert np.all(np.diff(ranked.scores) <= 0)
