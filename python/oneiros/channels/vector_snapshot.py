"""What one vector search sees: arrays that nobody changes any more.

A position is where a vector lies: those sealed under a graph first, then the fresh ones. Rows and
positions part ways when a vector is replaced (its row moves to a new position, the old one dies) or
when a memory has none. The sealed share is a multiple of eight, so packed bits split between the
two without shifting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits, RankedList
from oneiros.channels.inner_products import Matrix, Positions, scores_at
from oneiros.channels.vector_choice import Choice, bits_at, positions_in
from oneiros.channels.vector_sealed import Sealed

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of a VectorIndex."""

    sealed: Sealed | None
    """Vectors under a graph."""
    fresh: Matrix
    """The others, shape (count - sealed_count, d); searched exactly."""
    rows: Positions
    """Position -> row, shape (count,)."""
    live: Bits | None
    """Packed bits of the positions in use; None: all are."""
    live_count: int
    row_end: int
    """Every row is below."""
    is_in_row_order: bool
    """Every position equals its row, so that allowed rows are allowed positions."""

    @property
    def sealed_count(self) -> int:
        """Positions under the graph."""
        return 0 if self.sealed is None else len(self.sealed)

    @property
    def count(self) -> int:
        """Positions, dead ones included."""
        return len(self.rows)

    def vectors_at(self, positions: Positions) -> Matrix:
        """Return copies of vectors, shape (n, d)."""
        if self.sealed is not None and not len(self.fresh):
            return self.sealed.graph.vectors[self.sealed.nodes_at(positions)]
        found = np.empty((len(positions), self.fresh.shape[1]), np.float32)
        for part, vectors, at in self._located(positions):
            found[part] = vectors[at]
        return found

    def scores_of(self, query: Matrix, positions: Positions) -> Matrix:
        """Return the cosine of the query, shape (1, d), with each position's vector, shape (n,)."""
        if self.sealed is None:
            return scores_at(query, self.fresh, positions[None]).reshape(-1)
        if not len(self.fresh):
            nodes = self.sealed.nodes_at(positions)
            return scores_at(query, self.sealed.graph.vectors, nodes[None]).reshape(-1)
        found = np.empty(len(positions), np.float32)
        for part, vectors, at in self._located(positions):
            found[part] = scores_at(query, vectors, np.ascontiguousarray(at[None]))[0]
        return found

    def _located(
        self, positions: Positions
    ) -> list[tuple[npt.NDArray[np.bool_], Matrix, Positions]]:
        """Return which of the positions lie in a matrix, that matrix, and where in it."""
        is_fresh = positions >= self.sealed_count
        parts = [(is_fresh, self.fresh, positions[is_fresh] - self.sealed_count)]
        if self.sealed is not None:
            nodes = self.sealed.nodes_at(positions[~is_fresh])
            parts.append((~is_fresh, self.sealed.graph.vectors, nodes))
        return parts

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
        """Return the best ``k`` rows for one query of shape (1, d); k >= 1."""
        chosen = self.chosen(allowed)
        if self.sealed is None:
            scores, positions = self.fresh_choice(chosen).best(query, k)
        else:
            scores, positions = self.sealed.best(query, k, self.sealed_bits(chosen))
            if len(self.fresh):
                more_scores, more = self.fresh_choice(chosen).best(query, k)
                scores = np.concatenate((scores, more_scores))
                positions = np.concatenate((positions, more))
        rows = self.rows[positions]
        if len(rows) > k or not (scores[1:] < scores[:-1]).all():
            order = np.lexsort((rows, -scores))[:k]
            rows, scores = rows[order], scores[order]
        return RankedList(rows.astype(np.uint32), scores.astype(np.float64))

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
            flags = np.unpackbits(_at_least(allowed, -(-self.row_end // 8)), bitorder="little")
            chosen = np.packbits(flags[self.rows], bitorder="little")
        if self.live is not None:
            chosen &= self.live
        return chosen

    def fresh_choice(self, chosen: Bits | None) -> Choice:
        """Return what is to be searched of the fresh vectors."""
        part = None if chosen is None else chosen[self.sealed_count // 8 :]
        return Choice.of(self.fresh, self.sealed_count, part)

    def sealed_bits(self, chosen: Bits | None) -> Bits | None:
        """Return what is to be searched under the graph."""
        return None if chosen is None else chosen[: self.sealed_count // 8]


def _at_least(bits: Bits, size: int) -> Bits:
    """Return the bits, zeros after them if they are fewer bytes."""
    return (
        bits if len(bits) >= size else np.concatenate((bits, np.zeros(size - len(bits), np.uint8)))
    )
