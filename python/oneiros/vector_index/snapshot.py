"""One state of a vector index: which of the column's vectors are in a graph, and searches in it.

The graph's arrays never change, the column does. Rows found by a walk are scored by their current
vectors, and rows outside the graph are all scanned. So a search that began before a change returns
rows and cosines from before or after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.runtime.dataclasses import dataclass
from oneiros.vector_index import BitArray, Bits, RankedList, Walked
from oneiros.vector_index.sealed import Sealed

if TYPE_CHECKING:
    from oneiros.vector_index.hnsw import Matrix

__all__ = ["VectorSnapshot"]

# Candidates kept in the narrowest walk of the graph, per result and at least. The nearer half of
# them is nearly complete. With a filter, results must come from that half, so more candidates are
# kept. How many times as wide walks are, the graph's calibration says.
BREADTH_PER_RESULT: Final = 2
BREADTH_PER_CHOSEN_RESULT: Final = 3
LEAST_BREADTH: Final = 96

# The cost of a candidate of a walk, in rows of a scan that reads codes. Nanoseconds per candidate and
# per row, for 10 results, on one thread of an AMD EPYC (AVX-512): if all is in the cache, 450 and 2.9
# (20,000 x 32), 410 and 2.9 (20,000 x 128), 510 and 3.8 (20,000 x 256), 610 to 920 and 4.4 (20,000 x
# 384), 1,170 and 9.8 (10,000 x 1,024); from memory, 1,330 and 4.2 (56,000 x 384).
SCANNED_PER_CANDIDATE: Final = 140

# Nodes that a walk returns beyond k, to be scored by their whole vectors: those that rounding to 16
# bits moved down.
MORE_ENDS: Final = 10

WIDENING: Final = 4  # factor of the next breadth if too few candidates may be returned


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """One state of a VectorIndex."""

    column: _core.VectorColumn
    """Every row's vector."""
    sealed: Sealed | None = None
    """The vectors in a graph."""
    live: BitArray | None = None
    """Packed bits of the graph's positions in use; None: all are."""
    dead_count: int = 0
    """Number of the graph's positions not in use."""
    under: BitArray | None = None
    """Packed bits of the rows in the graph, at positions in use; None: there is no graph."""
    positions: npt.NDArray[np.uint32] | None = None
    """Position of each row in the graph, by row."""

    @property
    def sealed_count(self) -> int:
        """Number of positions in the graph, dead ones included."""
        return 0 if self.sealed is None else len(self.sealed)

    @property
    def fresh_count(self) -> int:
        """Number of rows whose vector is not in the graph."""
        return len(self.column) - (self.sealed_count - self.dead_count)

    def search(self, query: Matrix, k: int, allowed: Bits | None) -> RankedList:
        """Return the best ``k`` rows for one query of shape (d,); k >= 1.

        The search is exact if that is as fast as the graph, or if the graph finds too few.
        """
        walked = self.walk(query, k, allowed)
        if walked is not None:
            return walked.ranked
        return RankedList(*self.column.nearest(query=query, k=k, allowed=allowed))

    def walk(self, query: Matrix, k: int, allowed: Bits | None) -> Walked | None:
        """Search the graph for one query; None if it is no faster or finds too few."""
        for breadth in self._breadths(k, allowed):
            assert self.sealed is not None
            ends = self._ends(k, breadth, allowed)
            nodes = self.sealed.graph.nearest(query[None], ends, breadth)
            (ranked,) = self._ranked(query[None], k, nodes, allowed, 1)
            if ranked is not None:
                return self._walked(ranked, k, breadth)
        return None

    def walk_many(
        self, queries: Matrix, k: int, allowed: Bits | None, threads: int
    ) -> list[Walked | None]:
        """Return :meth:`walk` of each query of shape (m, d)."""
        breadth = next(self._breadths(k, allowed), None)
        if self.sealed is None or breadth is None:
            return [None] * len(queries)
        nodes = self.sealed.graph.nearest(
            queries, self._ends(k, breadth, allowed), breadth, threads
        )
        lists = self._ranked(queries, k, nodes, allowed, threads)
        return [
            # None: found too few
            self.walk(query, k, allowed) if ranked is None else self._walked(ranked, k, breadth)
            for query, ranked in zip(queries, lists, strict=True)
        ]

    def search_many(
        self, queries: Matrix, k: int, allowed: Bits | None, threads: int
    ) -> list[RankedList]:
        """Return :meth:`search` of each query of shape (m, d)."""
        breadth = next(self._breadths(k, allowed), None)
        if self.sealed is None or breadth is None:
            rows, scores, ends = self.column.nearest_many(
                queries=queries, k=k, allowed=allowed, threads=threads
            )
            return [
                RankedList(rows[begin:end], scores[begin:end])
                for begin, end in itertools.pairwise(ends.tolist())
            ]
        walks = self.walk_many(queries, k, allowed, threads)
        return [
            RankedList(*self.column.nearest(query=query, k=k, allowed=allowed))
            if walked is None
            else walked.ranked
            for query, walked in zip(queries, walks, strict=True)
        ]

    def breadth(self, k: int) -> int:
        """Return the breadth of a search for ``k`` results without a filter; 0: it is exact."""
        return next(self._breadths(k, None), 0)

    def narrowest(self, k: int) -> int:
        """Return the breadth of the narrowest walk for ``k`` results among the graph's rows."""
        available = self.sealed_count - self.dead_count
        return self._narrowest(k, available, is_whole=self.live is None)

    def is_cheaper(self, breadth: float) -> bool:
        """Return whether a walk costs less than a scan of all vectors."""
        return breadth * SCANNED_PER_CANDIDATE < len(self.column)

    def walk_all(self, queries: Matrix, k: int, breadth: int) -> list[RankedList | None]:
        """Return the best rows of the graph for each query of shape (m, d), on one thread.

        Rows outside the graph are left out. None: a walk that found too few.
        """
        assert self.sealed is not None
        ends = self._ends(k, breadth, None)
        nodes = self.sealed.graph.nearest(queries, ends, breadth)
        return self._ranked(queries, k, nodes, self.under, 1)

    def _walked(self, ranked: RankedList, k: int, breadth: int) -> Walked:
        calibration = None if self.sealed is None else self.sealed.calibration
        return Walked(ranked, breadth, None if calibration is None else calibration.of(k).recall)

    def _for_share(self, k: int, available: int) -> int:
        """Return the narrowest walk if ``available`` rows, spread evenly, may be returned."""
        breadth = max(LEAST_BREADTH, BREADTH_PER_CHOSEN_RESULT * k)
        return breadth * self.sealed_count // max(available, 1)

    def _is_whole(self, allowed: Bits | None) -> bool:
        """Return whether all nodes of the graph may be returned."""
        return allowed is None and self.live is None

    def _breadths(self, k: int, allowed: Bits | None) -> Iterator[int]:
        """Yield breadths of walks, as long as a walk is cheaper than a scan of all vectors.

        After a walk that found too few, the next must be much cheaper than a scan: a filter that
        excludes the nearest vectors is likely to exclude the next ones too.
        """
        if self.sealed is None:
            return
        available = len(self.column)
        if allowed is not None:
            available = min(available, _core.count_bits(bits=allowed))
        is_whole = self._is_whole(allowed)
        least = self._narrowest(k, available, is_whole=is_whole)
        if least * SCANNED_PER_CANDIDATE >= available:
            return  # no walk is narrower
        breadth = self._breadth(k, available, is_whole=is_whole)
        if breadth is None:
            return
        walked = 0
        while (walked + breadth) * SCANNED_PER_CANDIDATE * (4 if walked else 1) < available:
            yield breadth
            walked += breadth
            breadth *= WIDENING

    def _breadth(self, k: int, available: int, *, is_whole: bool) -> int | None:
        """Return the breadth of the first walk; None: no walk finds as many as it should."""
        assert self.sealed is not None
        narrowest = partial(self._narrowest, available=available, is_whole=is_whole)
        calibration = self.sealed.calibration
        if calibration is None:
            return narrowest(k)
        return calibration.breadth(k, narrowest)

    def _narrowest(self, k: int, available: int, *, is_whole: bool) -> int:
        """Return the breadth of the narrowest walk."""
        if is_whole:
            return max(LEAST_BREADTH, BREADTH_PER_RESULT * k)
        return self._for_share(k, available)

    def _ends(self, k: int, breadth: int, allowed: Bits | None) -> int:
        """Return the number of nodes that a walk returns, of which the best k are taken.

        A graph with whole vectors is one of near-duplicates: which of them are the nearest, even
        the order of additions decides.

        FAISS can filter during the walk, but then stops as soon as it has enough nodes, near or
        far: with the query's neighbourhood filtered out, it found one of the nearest ten. So the
        walk is not filtered: if enough of the nearest nodes pass the filter, they are the right
        ones.
        """
        assert self.sealed is not None
        graph = self.sealed.graph
        if not self._is_whole(allowed):
            return min(breadth // 2, len(graph))
        ends = k + MORE_ENDS if graph.is_rounded else breadth
        return min(ends, max(k, breadth), len(graph))

    def _ranked(
        self,
        queries: Matrix,
        k: int,
        nodes: npt.NDArray[np.int64],
        allowed: Bits | None,
        threads: int,
    ) -> list[RankedList | None]:
        """Return the best of the walked nodes and the fresh rows; None for walks with too few."""
        assert self.sealed is not None
        assert self.under is not None
        wanted = min(k, self.sealed_count - self.dead_count)
        if allowed is not None:
            wanted = min(wanted, _core.count_bits(bits=allowed))
        found = self.column.nearest_nodes(
            queries=queries,
            k=k,
            nodes=nodes,
            wanted=wanted,
            graph_rows=self.sealed.rows,
            heads=self.sealed.heads,
            live=self.live,
            under=self.under,
            allowed=allowed,
            threads=threads,
        )
        return [
            RankedList(rows, scores) if count >= wanted else None for rows, scores, count in found
        ]
