"""One state of a vector index: which of the column's vectors lie under a graph, and a search in it.

The graph's arrays are never changed; the column is. What a walk finds is scored by the vectors that
its rows have now, and rows that do not lie under the graph are all looked at, so a search that
began before a change answers with rows and cosines of before or after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits, RankedList
from oneiros.channels.vector_index.sealed import Sealed
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.channels.vector_index.hnsw import Matrix

__all__ = ["VectorSnapshot"]

# Candidates kept while walking the graph, per result wanted and at least. The nearer half of them
# is nearly complete: under a filter the results must come out of that half, so some more are kept.
BREADTH_PER_RESULT: Final = 2
BREADTH_PER_CHOSEN_RESULT: Final = 3
LEAST_BREADTH: Final = 96

# The cost of a candidate of a walk, in rows of a scan that reads codes: the vectors of its links, and
# the steps between, which weigh more for narrow vectors. Nanoseconds of a candidate and of a row, on
# one thread of an AMD EPYC (AVX-512): where all lies in the cache, 480 and 9 (6,000 x 384), 680 and 8
# (20,000 x 384), 900 and 20 (10,000 x 1,024), 510 and 4.4 (20,000 x 128), 400 and 3.9 (20,000 x 32);
# from memory, 1,800 and 13 to 18 (100,000 x 384).
SCORED_PER_CANDIDATE: Final = 50
STEPS_PER_CANDIDATE: Final = 4_000  # components

WIDENING: Final = 4  # the next breadth where too few of the candidates may be returned


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """One state of a VectorIndex."""

    column: _core.VectorColumn
    """Every row's vector."""
    sealed: Sealed | None = None
    """Vectors under a graph."""
    live: Bits | None = None
    """Packed bits of the positions in use under the graph; None: all are."""
    dead_count: int = 0
    """Positions that are not."""
    under: Bits | None = None
    """Packed bits of the rows at the positions in use; None: there is no graph."""
    positions: npt.NDArray[np.uint32] | None = None
    """Of each such row, by row."""

    @property
    def sealed_count(self) -> int:
        """Positions under the graph, dead ones included."""
        return 0 if self.sealed is None else len(self.sealed)

    @property
    def fresh_count(self) -> int:
        """Rows that have a vector, and not under the graph."""
        return len(self.column) - (self.sealed_count - self.dead_count)

    def search(self, query: Matrix, k: int, allowed: Bits | None) -> RankedList:
        """Return the best ``k`` rows for one query of shape (d,); k >= 1.

        Exact where that is as fast as the graph, or where the graph finds too few.
        """
        found = self.walk(query, k, allowed)
        if found is not None:
            return found
        return RankedList(*self.column.nearest(query=query, k=k, allowed=allowed))

    def walk(self, query: Matrix, k: int, allowed: Bits | None) -> RankedList | None:
        """Return what the graph finds for one query; None where it is no faster, or finds too few."""
        for breadth in self._breadths(k, allowed):
            assert self.sealed is not None
            ends = self._ends(k, breadth, allowed)
            nodes = self.sealed.graph.nearest(query[None], ends, breadth)
            (found,) = self._found(query[None], k, nodes, allowed, 1)
            if found is not None:
                return found
        return None

    def walk_many(
        self, queries: Matrix, k: int, allowed: Bits | None, threads: int
    ) -> list[RankedList | None]:
        """Return :meth:`walk` of each query of shape (m, d)."""
        breadth = next(self._breadths(k, allowed), None)
        if self.sealed is None or breadth is None:
            return [None] * len(queries)
        nodes = self.sealed.graph.nearest(
            queries, self._ends(k, breadth, allowed), breadth, threads
        )
        found = self._found(queries, k, nodes, allowed, threads)
        return [
            self.walk(query, k, allowed) if one is None else one  # the first walk was too short
            for query, one in zip(queries, found, strict=True)
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
            places = ends.tolist()
            return [
                RankedList(rows[begin:end], scores[begin:end])
                for begin, end in itertools.pairwise(places)
            ]
        return [
            RankedList(*self.column.nearest(query=query, k=k, allowed=allowed))
            if one is None
            else one
            for query, one in zip(
                queries, self.walk_many(queries, k, allowed, threads), strict=True
            )
        ]

    def _is_whole(self, allowed: Bits | None) -> bool:
        """Everything that a walk can end at may be returned."""
        return allowed is None and self.live is None

    def _breadths(self, k: int, allowed: Bits | None) -> Iterator[int]:
        """Yield how broadly to walk, as long as that is cheaper than looking at every vector.

        After walks in vain it must be much cheaper: what filters out the nearest goes on to.
        """
        if self.sealed is None:
            return
        available = len(self.column)
        if allowed is not None:
            available = min(available, _core.count_bits(bits=allowed))
        breadth = max(LEAST_BREADTH, BREADTH_PER_RESULT * k)
        if not self._is_whole(allowed):  # broad enough for k of them, were they spread evenly
            breadth = max(LEAST_BREADTH, BREADTH_PER_CHOSEN_RESULT * k)
            breadth = breadth * self.sealed_count // max(available, 1)
        scored = SCORED_PER_CANDIDATE + STEPS_PER_CANDIDATE / self.column.dimension
        walked = 0
        while (walked + breadth) * scored * (4 if walked else 1) < available:
            yield breadth
            walked += breadth
            breadth *= WIDENING

    def _ends(self, k: int, breadth: int, allowed: Bits | None) -> int:
        """Return how many nodes a walk is to end at.

        FAISS could be handed the choice, but then ends its walk as soon as it holds enough, near
        or far: with the query's own neighbourhood left out, it found one of the nearest ten. Where
        enough of *all* the nearest may be returned, they are the nearest that may.
        """
        assert self.sealed is not None
        return min(k if self._is_whole(allowed) else breadth // 2, len(self.sealed.graph))

    def _found(
        self,
        queries: Matrix,
        k: int,
        nodes: npt.NDArray[np.int64],
        allowed: Bits | None,
        threads: int,
    ) -> list[RankedList | None]:
        """Return the best of what walks ended at and of the fresh rows; None: one was too short."""
        assert self.sealed is not None
        assert self.under is not None
        wanted = min(k, self.sealed_count - self.dead_count)
        if allowed is not None:
            wanted = min(wanted, _core.count_bits(bits=allowed))
        told = self.column.nearest_nodes(
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
            RankedList(rows, scores) if found >= wanted else None for rows, scores, found in told
        ]
