"""VectorIndex against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.channels.vector import VectorIndex


def unit(matrix: np.ndarray) -> np.ndarray:
    wide = matrix.astype(np.float64)
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, dimension: int, seed: int) -> np.ndarray:
    """Vectors around centres, as texts are."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 50), dimension))
    noise = rng.standard_normal((count, dimension))
    return unit(centres[rng.integers(0, len(centres), count)] + 0.6 * noise)


def bits_of(rows: object, count: int) -> np.ndarray:
    mask = np.zeros(count, np.bool_)
    mask[list(rows)] = True  # type: ignore[call-overload]
    return np.packbits(mask, bitorder="little")


def test_exact_search_orders_by_cosine_then_row() -> None:
    index = VectorIndex(2)
    index.add([7, 3, 5, 4], [[1, 0], [0, 1], [1, 0], [1, 1]])
    rows, scores = index.search([2, 0], 3)
    assert rows.tolist() == [5, 7, 4]
    assert rows.dtype == np.uint32
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, [1, 1, np.sqrt(0.5)], rtol=1e-6)


def test_ties_at_the_end_go_to_the_smaller_row() -> None:
    index = VectorIndex(8)
    vectors = np.repeat(clustered(3, 8, 0), 200, axis=0)
    index.add(np.arange(600)[::-1], vectors)
    for k in (1, 7, 150, 250, 600, 700):
        rows, scores = index.search(vectors[300], k)
        want = sorted(range(600), key=lambda r: (-float(index.cosines(vectors[300], [r])[0]), r))
        assert rows.tolist() == want[:k]
        assert (np.diff(scores) <= 0).all()
