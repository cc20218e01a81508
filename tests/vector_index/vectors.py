"""What the vector tests share: data, and the plain answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np


def unit(matrix: np.ndarray) -> np.ndarray:
    wide = matrix.astype(np.float64)
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)


def clustered(count: int, dimension: int, seed: int) -> np.ndarray:
    """Unit vectors around centres, as texts are."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 50), dimension))
    noise = rng.standard_normal((count, dimension))
    return unit(centres[rng.integers(0, len(centres), count)] + 0.6 * noise)


def bits_of(rows: Iterable[int], count: int) -> np.ndarray:
    mask = np.zeros(count, np.bool_)
    mask[list(rows)] = True
    return np.packbits(mask, bitorder="little")


def plain_cosines(held: Mapping[int, np.ndarray], query: np.ndarray) -> dict[int, float]:
    """Row -> cosine in float64, by its definition."""
    wide = unit(query[None]).astype(np.float64)[0] if query.any() else query
    matrix = np.array(list(held.values()), np.float64).reshape(len(held), len(query))
    cosines = matrix @ wide / np.linalg.norm(matrix, axis=1)
    return dict(zip(held, cosines.tolist(), strict=True))


def assert_is_top(
    rows: np.ndarray, scores: np.ndarray, want: Mapping[int, float], k: int, *, exact: bool = True
) -> None:
    """Hold a ranked list against all cosines, up to the rounding of float32."""
    assert len(rows) == len(scores) == min(k, len(want))
    assert len(set(rows.tolist())) == len(rows)
    np.testing.assert_allclose(scores, [want[row] for row in rows.tolist()], atol=2e-6)
    pairs = list(zip((-scores).tolist(), rows.tolist(), strict=True))
    assert pairs == sorted(pairs)
    if exact and len(rows):
        left_out = [score for row, score in want.items() if row not in set(rows.tolist())]
        assert max(left_out, default=-2.0) <= scores[-1] + 2e-6
