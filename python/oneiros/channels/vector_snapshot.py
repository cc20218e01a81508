"""What one vector search sees: arrays that nobody changes any more.

A position is where a vector lies: the graph's vectors first, then the fresh ones. Rows and
positions part ways when a vector is replaced (its row moves to a new position, the old one dies) or
when a memory has none. The graph's share is a multiple of eight, so packed bits split between the
two without shifting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits, RankedList
from oneiros.channels.inner_products import Graph, Matrix, Positions, scores_at
from oneiros.channels.vector_choice import Choice, are_chosen, bit_count, bits_at, positions_in

__all__ = ["Snapshot"]

# Candidates kept while walking the graph, per result wanted and at least. See vector.py.
BREADTH_PER_RESULT: Final = 2.0
LEAST_BREADTH: Final = 96

# Under a filter the graph needs a breadth of 1 / share as many candidates, each of which costs
# about as much as scoring this many vectors one by one.
SCORED_PER_CANDIDATE: Final = 16.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of a VectorIndex."""

    graph: Graph | None
    fresh: Matrix
    """Vectors outside the graph, shape (count - sealed, d); searched exactly."""
    rows: Positions
    """Position -> row, shape (count,)."""
    live: Bits | None
    """Packed bits of the positions in use; None: all are."""
    live_count: int
    is_in_row_order: bool
    """Every position equals its row, so that allowed rows are allowed positions."""

    @property
    def sealed(self) -> int:
        """Vectors in the graph."""
        return 0 if self.graph is None else len(self.graph)

    @property
    def count(self) -> int:
        """Positions, dead ones included."""
        return len(self.rows)

    def vectors_at(self, positions: Positions) -> Matrix:
        """Return copies of vectors, shape (n, d)."""
        if self.graph is None:
            fresh: Matrix = self.fresh[positions]
            return fresh
        in_graph = positions < self.sealed
        found = np.empty((len(positions), self.fresh.shape[1]), np.float32)
        found[in_graph] = self.graph.vectors[positions[in_graph]]
        found[~in_graph] = self.fresh[positions[~in_graph] - self.sealed]
        return found

    def scores_of(self, query: Matrix, positions: Positions) -> Matrix:
        """Return the cosine of the query, shape (1, d), with each position's vector, shape (n,)."""
        found = np.empty(len(positions), np.float32)
        in_graph = positions < self.sealed
        parts = [(~in_graph, self.fresh, self.sealed)]
        if self.graph is not None:
            parts.append((in_graph, self.graph.vectors, 0))
        for part, vectors, start in parts:
            at = np.ascontiguousarray(positions[part] - start)[None]
            found[part] = scores_at(query, vectors, at)[0]
        return found

    def live_positions(self) -> Positions:
        """Return the positions in use, ascending."""
        return np.arange(self.count) if self.live is None else positions_in(self.live)

    def is_live(self, positions: Positions) -> npt.NDArray[np.bool_]:
        """Tell which positions are in use, shape (n,)."""
        if self.live is None:
            return np.ones(len(positions), np.bool_)
        return bits_at(self.live, positions)

    def live_after(self, gone: Positions, added: int) -> Bits | None:
        """Return the live bits with some positions switched off and new ones put at the end."""
        if self.live is None and len(gone) == 0:
            return None
        is_live = np.ones(self.count + added, np.bool_)
        if self.live is not None:
            is_live[: self.count] = np.unpackbits(self.live, count=self.count, bitorder="little")
        is_live[gone] = False
        return np.packbits(is_live, bitorder="little")

    def search(self, query: Matrix, k: int, allowed: Bits | None) -> RankedList:
        """Return the best ``k`` rows for one query of shape (1, d)."""
        chosen = self.chosen(allowed)
        scores, positions = self.fresh_choice(chosen).best(query, k)
        if self.graph is not None:
            more_scores, more = self._sealed_best(query, k, chosen)
            scores = np.concatenate((scores, more_scores))
            positions = np.concatenate((positions, more))
        rows = self.rows[positions]
        order = np.lexsort((rows, -scores))[:k]
        return RankedList(rows[order].astype(np.uint32), scores[order].astype(np.float64))

    def chosen(self, allowed: Bits | None) -> Bits | None:
        """Return packed bits over positions, those beyond the last one zero; None for all."""
        if allowed is None:
            return self.live
        if self.is_in_row_order:
            chosen = np.zeros(-(-self.count // 8), np.uint8)
            chosen[: len(allowed)] = allowed[: len(chosen)]
            if self.count % 8:
                chosen[-1] &= (1 << self.count % 8) - 1
        else:
            known = self.rows < 8 * len(allowed)
            flags = np.zeros(self.count, np.bool_)
            flags[known] = bits_at(allowed, self.rows[known])
            chosen = np.packbits(flags, bitorder="little")
        if self.live is not None:
            chosen &= self.live
        return chosen

    def fresh_choice(self, chosen: Bits | None) -> Choice:
        """Return what is to be searched of the fresh vectors."""
        part = None if chosen is None else chosen[self.sealed // 8 :]
        return Choice.of(self.fresh, self.sealed, part)

    def graph_choice(self, chosen: Bits | None) -> Choice:
        """Return what is to be searched of the graph's vectors."""
        assert self.graph is not None
        part = None if chosen is None else chosen[: self.sealed // 8]
        return Choice.of(self.graph.vectors, 0, part)

    def breadth(self, k: int, available: int) -> int | None:
        """Return how broadly to walk the graph for ``k`` of ``available`` vectors.

        None: looking at all of those is as fast, or there are hardly more than asked for.
        """
        if available == 0:
            return None
        share = available / self.sealed
        breadth = max(LEAST_BREADTH, BREADTH_PER_RESULT * k) / share
        return int(breadth) if available > SCORED_PER_CANDIDATE * breadth else None

    def _sealed_best(
        self, query: Matrix, k: int, chosen: Bits | None
    ) -> tuple[npt.NDArray[np.float32], Positions]:
        assert self.graph is not None
        in_graph = None if chosen is None else chosen[: self.sealed // 8]
        available = self.sealed if in_graph is None else bit_count(in_graph)
        breadth = self.breadth(k, available) if k else None
        if breadth is not None:
            wanted = min(k, available)
            scores, positions = self.graph.nearest(query, wanted, breadth, in_graph)
            if are_chosen(positions[0], self.sealed, in_graph).all():
                return scores[0], positions[0]
        return self.graph_choice(chosen).best(query, k)
