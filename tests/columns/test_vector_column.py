"""Vectors by row in the core: what is found, beside NumPy's float64, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core


def column_of(vectors: np.ndarray, rows: np.ndarray | None = None) -> _core.VectorColumn:
    column = _core.VectorColumn(dimension=vectors.shape[1])
    numbers = np.arange(len(vectors)) if rows is None else rows
    column.write(rows=numbers.astype(np.uint32), vectors=vectors)
    return column


def bits_of(flags: np.ndarray) -> np.ndarray:
    return np.packbits(flags, bitorder="little")


@given(
    count=st.integers(0, 80),
    dimension=st.integers(1, 70),
    k=st.integers(0, 90),
    seed=st.integers(0, 10_000),
    distinct=st.integers(1, 80),
    allowed_share=st.sampled_from([None, 0.0, 0.1, 0.5, 1.0]),
    minus_share=st.sampled_from([None, 0.0, 0.3, 1.0]),
    scale=st.sampled_from([1.0, 1e-30, 1e15]),
)
def test_nearest_rows_are_those_of_numpy(
    count: int,
    dimension: int,
    k: int,
    seed: int,
    distinct: int,
    allowed_share: float | None,
    minus_share: float | None,
    scale: float,
) -> None:
    rng = np.random.default_rng(seed)
    pool = (rng.standard_normal((distinct, dimension)) * scale).astype(np.float32)
    vectors = pool[rng.integers(0, distinct, count)]
    rows = rng.permutation(1_200)[:count]
    column, query = column_of(vectors, rows), rng.standard_normal(dimension).astype(np.float32)
    seen, allowed, minus = np.isin(np.arange(1_200), rows), None, None
    if allowed_share is not None:
        flags = rng.random(1_000) < allowed_share  # none of the rows after it
        allowed, seen[:1_000], seen[1_000:] = bits_of(flags), seen[:1_000] & flags, False
    if minus_share is not None:
        flags = rng.random(900) < minus_share
        minus, seen[:900] = bits_of(flags), seen[:900] & ~flags
    np.testing.assert_array_equal(column.rows(allowed=allowed, minus=minus), np.flatnonzero(seen))
    assert column.count(allowed=allowed, minus=minus) == seen.sum()
    truth = np.full(1_200, np.nan)
    truth[rows] = vectors.astype(np.float64) @ query
    room = np.abs(vectors.astype(np.float64)) @ np.abs(query) * 2.0**-20  # of float32's rounding
    cosines = column.cosines(query=query, rows=np.arange(1_200, dtype=np.uint32))
    np.testing.assert_array_equal(np.isnan(cosines), np.isnan(truth))
    assert (np.abs(cosines[rows] - truth[rows]) <= room).all()
    found, scores = column.nearest(query=query, k=k, allowed=allowed, minus=minus)
    order = np.lexsort((np.arange(1_200), -np.where(seen, cosines, -np.inf)))
    np.testing.assert_array_equal(found, order[: min(k, seen.sum())])
    np.testing.assert_array_equal(scores, cosines[found])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_has_the_bits_of_single_searches(threads: int) -> None:
    rng = np.random.default_rng(0)
    column = column_of(rng.standard_normal((3_000, 48)).astype(np.float32))
    queries = rng.standard_normal((70, 48)).astype(np.float32)
    rows, scores, offsets = column.nearest_many(queries=queries, k=9, threads=threads)
    for query, begin, end in zip(queries, offsets[:-1], offsets[1:], strict=True):
        found, cosines = column.nearest(query=query, k=9)
        np.testing.assert_array_equal(rows[begin:end], found)
        np.testing.assert_array_equal(scores[begin:end], cosines)
    assert len(rows) == offsets[-1] == 70 * 9


BITS = """
import hashlib, numpy as np
from oneiros import _core
digest = hashlib.sha256()
for dimension in (3, 100, 384):
    rng = np.random.default_rng(dimension)
    column = _core.VectorColumn(dimension=dimension)
    rows = np.arange(1_001, dtype=np.uint32)
    column.write(rows=rows, vectors=(rng.random((1_001, dimension)) - 0.5).astype(np.float32))
    query = (rng.random(dimension) - 0.5).astype(np.float32)
    digest.update(column.cosines(query=query, rows=rows).tobytes())
    digest.update(column.nearest(query=query, k=50)[1].tobytes())
print(digest.hexdigest())
"""
FROZEN = "021c641fd0dbf207b0907ff29bd5778d664dd57c1c5338220438a7a881fb2a83"


@pytest.mark.parametrize("path", _core.simd_paths())
def test_products_have_the_same_bits_on_every_path_and_machine(path: str) -> None:
    environment = {**os.environ, "ONEIROS_SIMD": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == FROZEN


def test_vectors_are_replaced_and_removed() -> None:
    column = column_of(np.eye(3, dtype=np.float32))
    assert column.write(rows=[1, 2], vectors=np.array([[1, 1, 0], [0, 0, 0]], np.float32)) == 1
    assert len(column) == 2
    np.testing.assert_array_equal(
        column.reconstruct(rows=[1, 2, 0]), [[1, 1, 0], [0] * 3, [1, 0, 0]]
    )
    assert column.has(rows=[0, 2, 4]).tolist() == [True, False, False]
    assert column.remove(rows=[0, 0, 2]) == 1
    assert len(column) == 1
    assert column.remove(rows=[1]) == 1
    assert column.resident_bytes == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda _: _core.VectorColumn(dimension=0), ValueError, "dimension: must be >= 1, got 0"),
        (
            lambda c: c.write(rows=[1], vectors=np.ones((1, 3), np.float32)),
            ValueError,
            r"vectors: expected shape \(n, 2\), got \(1, 3\)",
        ),
        (
            lambda c: c.write(rows=[1], vectors=np.ones((1, 2))),
            TypeError,
            "vectors: expected float32, got float64",
        ),
        (
            lambda c: c.write(rows=[1, 2], vectors=np.ones((1, 2), np.float32)),
            ValueError,
            "vectors: expected 4 components, got 2",
        ),
        (lambda c: c.remove(rows=[-1]), ValueError, "rows: -1 lies beyond its column"),
        (
            lambda c: c.nearest(query=np.ones(3, np.float32), k=1),
            ValueError,
            "query: expected 2 components, got 3",
        ),
        (
            lambda c: c.nearest(query=np.ones(2, np.float32), k=1, allowed=np.ones(2)),
            TypeError,
            "allowed: expected uint8, got float64",
        ),
        (
            lambda c: c.nearest_many(queries=np.ones((2, 2), np.float32), k=1, threads=0),
            ValueError,
            "threads: must be >= 1, got 0",
        ),
    ],
)
def test_what_is_wrong_is_refused(call: object, error: type[Exception], message: str) -> None:
    column = column_of(np.ones((2, 2), np.float32))
    with pytest.raises(error, match=message):
        call(column)  # type: ignore[operator]
    assert len(column) == 2
