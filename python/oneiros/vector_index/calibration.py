"""Breadths of walks of a graph, measured on its own vectors.

How many of the nearest vectors a walk finds depends on the vectors. Texts of many subjects are
easy: the narrowest walk finds .99 of the nearest ten. Vectors without any structure are hard, and
so are thousands of near-duplicates. So a sample of queries is searched exactly and by the graph,
with growing breadths, and searches take the least breadth that finds the wanted share. Where that
would cost more than a scan of all vectors, searches are exact.

The sample depends only on the vectors, so that equal stores get equal breadths.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from oneiros.runtime.dataclasses import NamedTuple, dataclass, replace

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.vector_index import Rows
    from oneiros.vector_index.hnsw import Matrix
    from oneiros.vector_index.snapshot import VectorSnapshot

__all__ = ["Calibration", "MeasuredDepth", "calibrated", "needs_full_precision"]

DEPTHS: Final = (10, 100)
"""Numbers of results for which the breadth is measured."""

LADDER: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Breadths that are tried, as multiples of the narrowest walk for a number of results."""

GROWTH: Final = 1.5
"""A graph is measured again when it has grown by this factor."""

# Queries of a sample: one for each VECTORS_PER_QUERY vectors within these bounds. They are stored
# vectors with noise added, in turn of these lengths, as multiples of how far vectors lie from their
# mean. (That is near 1, and less where all vectors have much in common, as those of many models:
# noise of length 1 would leave nothing of what tells them apart.) In 51,000 texts of thirteen
# collections with MiniLM vectors, the narrowest walks for 100 results find .994 and .976 of the
# nearest for them, .989 for the collections' own questions, and .998 for the stored vectors.
FEWEST_QUERIES: Final = 96
MOST_QUERIES: Final = 256
VECTORS_PER_QUERY: Final = 128
NOISE_LENGTHS: Final = (1.0, 1.5)

AT_ONCE: Final = 16  # queries between two checks of the stop signal
SCREENED: Final = 32  # queries after which a hopeless breadth is left

# A walk wider than the narrowest must cost at most half a scan, by a model of costs that is off by
# half on some machines.
LEAST_GAIN: Final = 2.0

# Walks compare vectors that are rounded to 16 bits, and the best are compared again as they are.
# If rounding hides more than this share of the nearest ten among as many again, the graph keeps all
# 32 bits. Texts: below .001. Ten near-duplicates of each vector: .002. Two hundred: .5 (20,000
# vectors of 384 components, noise of length .01).
MOST_HIDDEN: Final = 0.01
ROUNDED_QUERIES: Final = 48
ROUNDED_POOL: Final = 100  # the exact nearest, which are compared in rounded form


@dataclass(frozen=True, slots=True)
class MeasuredDepth:
    """The measured breadth and recall for one number of results."""

    k: int
    """Number of results."""
    factor: float
    """Breadth of walks, as a multiple of the narrowest; 0: searches are exact."""
    breadth: int
    """Candidates of a walk of all vectors (HNSW's efSearch); 0: searches are exact."""
    recall: float
    """Share of the exact nearest that these walks found; if exact, the most that any walk found."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The breadths of walks of a graph, and the shares that they find."""

    target: float
    """The share of the exact nearest that walks should find, in (0, 1]."""
    count: int
    """Number of vectors in the graph when it was measured."""
    depths: tuple[MeasuredDepth, ...]
    """One for each of ``DEPTHS``."""

    def of(self, k: int) -> MeasuredDepth:
        """Return what applies to a search for ``k`` results: the next depth, or the last one."""
        return next((depth for depth in self.depths if k <= depth.k), self.depths[-1])

    def breadth(self, k: int, narrowest: Callable[[int], int]) -> int | None:
        """Return the breadth of walks for ``k`` results, which never falls with ``k``.

        Args:
            k: number of results.
            narrowest: number of results -> the narrowest walk.

        Returns:
            The breadth, or None: searches must be exact.
        """
        breadth = 0
        for depth in self.depths:
            if not depth.factor:
                return None
            if k <= depth.k:
                return max(breadth, int(depth.factor * narrowest(k)))
            breadth = max(breadth, int(depth.factor * narrowest(depth.k)))
        return max(breadth, int(self.depths[-1].factor * narrowest(k)))

    def is_due(self, count: int, target: float) -> bool:
        """Return whether a graph of ``count`` vectors must be measured again."""
        return count >= self.count * GROWTH or target != self.target

    def require_sense(self) -> None:
        """Raise ValueError unless all numbers are within their ranges."""
        figures = [self.target, *(depth.recall for depth in self.depths)]
        is_sound = (
            tuple(depth.k for depth in self.depths) == DEPTHS
            and all(0 <= figure <= 1 for figure in figures)
            and all(depth.factor in (0.0, *LADDER) for depth in self.depths)
            and all(0 <= depth.breadth < 2**31 for depth in self.depths)
        )
        if not is_sound:
            msg = "graph: expected a measured breadth for each depth"
            raise ValueError(msg)


def needs_full_precision(column: _core.VectorColumn, is_stopped: Callable[[], bool]) -> bool:
    """Return whether rounding a column to 16 bits hides too many of the nearest vectors.

    Args:
        column: the vectors.
        is_stopped: called many times a second; if true, the result is arbitrary.
    """
    k = DEPTHS[0]
    shares = []
    queries = column.reconstruct(rows=_spread(column.rows(), ROUNDED_QUERIES))
    for start in range(0, len(queries), AT_ONCE):
        if is_stopped():
            break
        part = queries[start : start + AT_ONCE]
        found, scores, ends = column.nearest_many(queries=part, k=ROUNDED_POOL, threads=1)
        for query, (begin, end) in zip(part, itertools.pairwise(ends.tolist()), strict=True):
            exact = scores[begin:end]
            if len(exact) <= 2 * k:
                continue
            vectors = column.reconstruct(rows=found[begin:end])
            rounded = vectors.astype(np.float16).astype(np.float32) @ query
            best = np.argsort(-rounded, kind="stable")[: 2 * k]
            shares.append(min(1.0, np.count_nonzero(exact[best] >= exact[k - 1]) / k))
    return bool(shares) and 1.0 - float(np.mean(shares)) > MOST_HIDDEN


def calibrated(
    snapshot: VectorSnapshot, target: float, is_stopped: Callable[[], bool]
) -> Calibration | None:
    """Measure a snapshot's graph, and return how widely to walk it; None if stopped.

    Args:
        snapshot: a state with a graph. Rows outside the graph are left out.
        target: the share of the exact nearest to find, in (0, 1].
        is_stopped: called many times a second.
    """
    column = snapshot.column
    rows = column.rows(allowed=snapshot.under)
    queries = _queries(column, rows)
    exact = _exact(snapshot, queries, is_stopped)
    if exact is None:
        return None
    sample = _Sample(queries, exact)
    depths: list[MeasuredDepth] = []
    for k in DEPTHS:
        if depths and not depths[-1].factor:  # exact for few results, so for more, too
            depths.append(replace(depths[-1], k=k))
            continue
        least = depths[-1].breadth if depths else 0  # breadths never fall with k
        depth = _measured(snapshot, k, least, sample, target, is_stopped)
        if depth is None:
            return None
        depths.append(depth)
    return Calibration(target, snapshot.sealed_count, tuple(depths))


class _Sample(NamedTuple):
    """Queries with their exact answers."""

    queries: Matrix
    """Shape (m, dimension), of unit length."""
    exact: npt.NDArray[np.float64]
    """The best scores of each query, shape (m, most), descending; -inf where there are fewer."""


def _spread(rows: Rows, count: int) -> Rows:
    """Return ``count`` different rows, the same ones for the same rows."""
    random = np.random.default_rng(len(rows))
    return rows[random.permutation(len(rows))[:count]]


def _queries(column: _core.VectorColumn, rows: Rows) -> Matrix:
    """Return queries of unit length: stored vectors with noise."""
    count = min(MOST_QUERIES, max(FEWEST_QUERIES, len(rows) // VECTORS_PER_QUERY))
    queries = column.reconstruct(rows=_spread(rows, count))
    random = np.random.default_rng(len(rows))
    wide = queries.astype(np.float64)
    noise = random.standard_normal(wide.shape) / math.sqrt(column.dimension)
    noise *= math.sqrt(np.mean(np.sum((wide - wide.mean(axis=0)) ** 2, axis=1)))
    for place, length in enumerate(NOISE_LENGTHS):
        part = slice(place, None, len(NOISE_LENGTHS))
        wide[part] += length * noise[part]
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Matrix = np.ascontiguousarray(wide / np.where(norms == 0, 1.0, norms), np.float32)
    return unit


def _exact(
    snapshot: VectorSnapshot, queries: Matrix, is_stopped: Callable[[], bool]
) -> npt.NDArray[np.float64] | None:
    """Return :attr:`_Sample.exact`; None if stopped."""
    most = DEPTHS[-1]
    best = np.full((len(queries), most), -np.inf)
    for start in range(0, len(queries), AT_ONCE):
        if is_stopped():
            return None
        _, scores, ends = snapshot.column.nearest_many(
            queries=queries[start : start + AT_ONCE], k=most, allowed=snapshot.under, threads=1
        )
        for place, (begin, end) in enumerate(itertools.pairwise(ends.tolist())):
            best[start + place, : end - begin] = scores[begin:end]
    return best


def _measured(
    snapshot: VectorSnapshot,
    k: int,
    least: int,
    sample: _Sample,
    target: float,
    is_stopped: Callable[[], bool],
) -> MeasuredDepth | None:
    """Return the smallest breadth from ``least`` on whose walks find enough; None if stopped."""
    most, breadth = 0.0, 0
    for factor in LADDER:
        tried, breadth = breadth, max(least, int(factor * snapshot.narrowest(k)))
        if breadth == tried:
            continue
        if factor > 1 and not snapshot.is_cheaper(LEAST_GAIN * breadth):
            break
        shares = _shares(snapshot, k, breadth, sample, target, is_stopped)
        if shares is None:
            return None
        recall = float(np.mean(shares))
        most = max(most, recall)
        # One standard error below what was found: a sample may be lucky.
        if recall - _standard_error(shares) >= target:
            return MeasuredDepth(k, factor, breadth, recall)
    return MeasuredDepth(k, 0.0, 0, most)


def _shares(
    snapshot: VectorSnapshot,
    k: int,
    breadth: int,
    sample: _Sample,
    target: float,
    is_stopped: Callable[[], bool],
) -> list[float] | None:
    """Return the share of the exact nearest that walks find, of each query; None if stopped.

    Ends early where the mean will surely be below the target.
    """
    shares: list[float] = []
    for start in range(0, len(sample.queries), AT_ONCE):
        if is_stopped():
            return None
        part = slice(start, start + AT_ONCE)
        walks = snapshot.walk_all(sample.queries[part], k, breadth)
        for ranked, exact in zip(walks, sample.exact[part], strict=True):
            count = np.count_nonzero(np.isfinite(exact[:k]))
            if ranked is None or count == 0:
                shares.append(0.0 if count else 1.0)
            else:  # rows with equal scores may stand for each other
                found = np.count_nonzero(ranked.scores >= exact[count - 1])
                shares.append(min(1.0, float(found / count)))
        if len(shares) >= SCREENED and np.mean(shares) + 2 * _standard_error(shares) < target:
            break
    return shares


def _standard_error(shares: list[float]) -> float:
    return float(np.std(shares)) / math.sqrt(len(shares))
