"""Exact search by vectors, beside FAISS on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from oneiros.vector_index.index import VectorIndex

faiss = pytest.importorskip("faiss")

WIDTH = 384
TOP = 10
COUNT = 100_000
Array = np.ndarray[Any, Any]


def unit(count: int, seed: int) -> Array:
    vectors = np.random.default_rng(seed).standard_normal((count, WIDTH), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


VECTORS, QUERIES = unit(COUNT, 0), unit(64, 1)


@pytest.fixture(scope="module")
def index() -> VectorIndex:
    flat = VectorIndex(WIDTH, "flat")
    flat.add(np.arange(COUNT), VECTORS)
    return flat


@pytest.fixture(scope="module")
def peer() -> Iterator[Any]:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(WIDTH)
    flat.add(VECTORS)
    yield flat
    faiss.omp_set_num_threads(before)


def bits_of(rows: Array) -> Array:
    flags = np.zeros(COUNT, np.bool_)
    flags[rows] = True
    return np.packbits(flags, bitorder="little")


@pytest.mark.parametrize("form", ["oneiros", "faiss"])
@pytest.mark.parametrize("allowed", [200, 5_000, COUNT])
def test_nearest(
    benchmark: BenchmarkFixture, index: VectorIndex, peer: Any, allowed: int, form: str
) -> None:
    benchmark.group = f"nearest {TOP} of {allowed:,} allowed of {COUNT:,}, {WIDTH} wide"
    rows = np.sort(np.random.default_rng(2).permutation(COUNT)[:allowed])
    bits, query = bits_of(rows), QUERIES[0]
    selector = faiss.IDSelectorBitmap(bits)
    parameters = None if allowed == COUNT else faiss.SearchParameters(sel=selector)
    forms: dict[str, Callable[[], Array]] = {
        "oneiros": lambda: index.search(query, TOP, None if allowed == COUNT else bits).rows,
        "faiss": lambda: peer.search(query[None], TOP, params=parameters)[1][0],
    }
    found = benchmark(forms[form])
    want = rows[np.argsort(-(VECTORS[rows] @ query), kind="stable")[:TOP]]
    assert len(np.intersect1d(found, want)) == TOP


@pytest.mark.parametrize("form", ["oneiros", "faiss"])
def test_batch(benchmark: BenchmarkFixture, index: VectorIndex, peer: Any, form: str) -> None:
    benchmark.group = f"nearest {TOP} of {COUNT:,} for {len(QUERIES)} queries"
    forms: dict[str, Callable[[], Array]] = {
        "oneiros": lambda: np.stack([found.rows for found in index.search_many(QUERIES, TOP)]),
        "faiss": lambda: peer.search(QUERIES, TOP)[1],
    }
    found = benchmark(forms[form])
    assert (found == index.search(QUERIES[0], TOP).rows).all(axis=1).any()


@pytest.mark.parametrize("form", ["oneiros", "numpy"])
def test_cosines(benchmark: BenchmarkFixture, index: VectorIndex, form: str) -> None:
    benchmark.group = f"cosines of 150 rows of {COUNT:,}"
    rows, query = np.random.default_rng(3).permutation(COUNT)[:150].astype(np.uint32), QUERIES[0]
    forms: dict[str, Callable[[], Array]] = {
        "oneiros": lambda: index.cosines(query, rows),
        "numpy": lambda: VECTORS[rows] @ query,
    }
    np.testing.assert_allclose(benchmark(forms[form]), VECTORS[rows] @ query, atol=1e-6)
