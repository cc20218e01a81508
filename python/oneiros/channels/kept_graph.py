"""A graph as it is kept while nobody has it open, and how it comes back.

Kept are its links, and not its vectors, which are many times as large, and which the store holds.
The store has only those that can be found, though, and a walk leads over those that were replaced or
taken out, too. These few are kept themselves, rounded as the graph has them, so that the graph that
comes back is the one that was kept, and answers with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits
from oneiros.channels.graph_links import Links
from oneiros.channels.hnsw import Graph, Matrix, Nodes
from oneiros.channels.vector_input import read_vectors
from oneiros.channels.vector_sealed import NO_ROW, Hashes, Sealed, flags_of, hashes_of
from oneiros.channels.vector_snapshot import Snapshot
from oneiros.channels.vector_upkeep import DEAD_SHARE

__all__ = ["KeptGraph", "Restored", "Restoring"]


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """What a :class:`Sealed` is made of, but for the vectors of rows that have one.

    Positions are the sealed ones: the graph's vectors, then their twins.
    """

    dimension: int
    links: Links
    heads: npt.NDArray[np.uint32]
    """The position in the graph of each twin's equal, ascending, shape (t,)."""
    rows: npt.NDArray[np.uint32]
    """Position -> row, shape (n + t,)."""
    live: Bits | None
    """Packed bits of the positions in use; None: all are."""
    hashes: Hashes
    """Of the graph's vectors, shape (n,); of those that no position in use has, any."""
    dead_vectors: Matrix
    """These, in their order, shape (m, dimension)."""

    @classmethod
    def of(cls, now: Snapshot) -> KeptGraph:
        """Return what is sealed in a state."""
        sealed = now.sealed
        assert sealed is not None, "there is a graph"
        return cls(
            dimension=sealed.graph.dimension,
            links=sealed.graph.links(),
            heads=sealed.heads,
            rows=sealed.rows,
            live=now.live,
            hashes=sealed.hashes,
            dead_vectors=sealed.graph.rounded(
                np.flatnonzero(sealed.rows_of_nodes(now.live) == NO_ROW)
            ),
        )

    def require_sense(self, row_end: int) -> None:
        """Raise ValueError unless all of it can be relied upon.

        Args:
            row_end: every row is below.
        """
        self.links.require_sense()
        node_count, count = len(self.links.levels), len(self.rows)
        _require(len(self.hashes) == node_count, "as many hashes as vectors")
        _require(count == node_count + len(self.heads), "a row for each position")
        _require(count % 8 == 0, "a multiple of eight positions")
        _require(int(self.rows.max()) < row_end, "no row beyond the last")
        if len(self.heads):
            _require((self.heads[1:] >= self.heads[:-1]).all(), "heads that ascend")
            _require(int(self.heads[-1]) < node_count, "heads in the graph")
        _require(self.live is None or len(self.live) * 8 == count, "a bit for each position")
        rows = self.rows[self.are_live()]
        _require(np.bincount(rows, minlength=1).max() <= 1, "one position for each row")
        heads = self.heads.astype(np.int64)
        dead_count = node_count - np.count_nonzero(_are_needed(node_count, heads, self.live))
        _require(self.dead_vectors.shape == (dead_count, self.dimension), "the dead vectors")
        read_vectors("graph: its dead vectors", self.dead_vectors, self.dimension)

    def are_live(self) -> npt.NDArray[np.bool_]:
        """Tell which positions are in use, shape (n + t,)."""
        return flags_of(self.live, len(self.rows))


@dataclass(frozen=True, slots=True)
class Restored:
    """What a vector index begins with."""

    column: _core.VectorColumn
    """The vectors of the rows at positions in use."""
    sealed: Sealed
    is_live: npt.NDArray[np.bool_]
    """Which positions are in use, shape (n + t,)."""


class Restoring:
    """Puts a graph that was kept together with the vectors of its rows.

    Args:
        kept: what makes sense.
    """

    def __init__(self, kept: KeptGraph) -> None:
        self._kept = kept
        self._column = _core.VectorColumn(dimension=kept.dimension)
        node_count = len(kept.links.levels)
        self._is_dead = ~_are_needed(node_count, kept.heads.astype(np.int64), kept.live)
        self._row_of = np.full(node_count, NO_ROW, np.int64)  # that has the node's vector
        self._is_shared = np.zeros(node_count, np.bool_)
        self._is_shared[kept.heads] = True
        self._is_found = np.zeros(len(kept.rows), np.bool_)
        held = np.flatnonzero(kept.are_live())
        self._position_of = np.full(int(kept.rows.max()) + 1, _ABSENT, np.int64)
        self._position_of[kept.rows[held]] = held

    def place(
        self, rows: npt.NDArray[np.int64], vectors: Matrix, is_live: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Put vectors of rows where they lay when the graph was kept, those that are the same.

        Args:
            rows: each once; -1 for none.
            vectors: shape (n, dimension); brought to unit length.
            is_live: shape (n,); what is not is walked over and never found.

        Returns:
            Which were placed, shape (n,).
        """
        vectors = read_vectors("vectors", vectors, self._kept.dimension)
        is_inside = (rows >= 0) & (rows < len(self._position_of))
        positions = np.where(is_inside, self._position_of[np.where(is_inside, rows, 0)], _ABSENT)
        is_placed: npt.NDArray[np.bool_] = positions != _ABSENT
        placed = _picked(vectors, is_placed)
        is_placed[is_placed] = self._put(
            rows[is_placed], self._nodes_at(positions[is_placed]), placed
        )
        self._is_found[positions[is_placed & is_live]] = True
        return is_placed

    def _put(
        self, rows: npt.NDArray[np.int64], nodes: Nodes, vectors: Matrix
    ) -> npt.NDArray[np.bool_]:
        """Hold the vectors of nodes, and tell which of them are what they were, shape (n,)."""
        is_same: npt.NDArray[np.bool_] = hashes_of(vectors) == self._kept.hashes[nodes]
        is_same &= vectors.any(axis=1)
        numbers = rows.astype(np.uint32)
        self._column.write(rows=numbers[is_same], vectors=_picked(vectors, is_same))
        is_first = is_same & (self._row_of[nodes] == NO_ROW)
        self._row_of[nodes[is_first]] = rows[is_first]
        # Of two that share a node, neither is found by the other's vector: hashes can be forged.
        shared = np.flatnonzero(is_same & self._is_shared[nodes])
        their_rows = self._row_of[nodes[shared]].astype(np.uint32)
        held = self._column.reconstruct(rows=their_rows).view(np.uint32)
        is_same[shared] = (held == vectors[shared].view(np.uint32)).all(axis=1)
        self._column.remove(rows=numbers[shared[~is_same[shared]]])
        return is_same

    def restored(self) -> Restored | None:
        """Return the graph with its vectors; None if it has lost too many of them.

        A vector that nobody has any more is the middle of those it is linked to: walks lead over it
        about as they did.
        """
        kept, node_count = self._kept, len(self._row_of)
        self._is_lost = ~self._is_dead & (self._row_of == NO_ROW)
        if np.count_nonzero(self._is_lost) * DEAD_SHARE >= node_count:
            return None
        self._dead_before: Nodes = np.cumsum(self._is_dead) - self._is_dead
        blocks = (
            np.arange(node_count)[start : start + _BLOCK] for start in range(0, node_count, _BLOCK)
        )
        graph = Graph.restored(kept.links, kept.dimension, map(self._with_middles, blocks))
        self._column.remove(rows=kept.rows[~self._is_found & kept.are_live()])
        return Restored(
            self._column, Sealed(graph, kept.rows, kept.heads, kept.hashes), self._is_found
        )

    def _with_middles(self, nodes: Nodes) -> Matrix:
        """Return the vectors of nodes, each lost one the middle of its neighbours'."""
        vectors = self._vectors_of(nodes)
        lost = np.flatnonzero(self._is_lost[nodes])
        if len(lost):
            around = self._kept.links.lowest_of(nodes[lost])
            middles = np.zeros((len(lost), self._kept.dimension), np.float32)
            for place in range(around.shape[1]):
                is_known = around[:, place] >= 0
                middles[is_known] += self._vectors_of(around[is_known, place].astype(np.int64))
            vectors[lost] = read_vectors("graph", middles, self._kept.dimension)
        return vectors

    def _vectors_of(self, nodes: Nodes) -> Matrix:
        """Return the vectors of nodes, zeros of those that are lost."""
        row_of, is_dead = self._row_of[nodes], self._is_dead[nodes]
        vectors = np.zeros((len(nodes), self._kept.dimension), np.float32)
        has_row = row_of != NO_ROW
        vectors[has_row] = self._column.reconstruct(rows=row_of[has_row].astype(np.uint32))
        vectors[is_dead] = self._kept.dead_vectors[self._dead_before[nodes[is_dead]]]
        return vectors

    def _nodes_at(self, positions: npt.NDArray[np.int64]) -> Nodes:
        count = len(self._row_of)
        is_twin = positions >= count
        nodes = positions.copy()
        nodes[is_twin] = self._kept.heads[positions[is_twin] - count]
        return nodes


_ABSENT: Final = -1  # the position of a row that lies at none
_BLOCK: Final = 4_096  # vectors handed to the graph at a time


def _picked(vectors: Matrix, are_picked: npt.NDArray[np.bool_]) -> Matrix:
    """Return some of the vectors; all of them, as a rule, without a copy."""
    return vectors if are_picked.all() else vectors[are_picked]


def _are_needed(
    node_count: int, heads: npt.NDArray[np.int64], live: Bits | None
) -> npt.NDArray[np.bool_]:
    """Tell which of the graph's vectors a position in use has, shape (n,)."""
    is_live = flags_of(live, node_count + len(heads))
    is_needed = is_live[:node_count].copy()
    is_needed[heads[is_live[node_count:]]] = True
    return is_needed


def _require(holds: object, rule: str) -> None:
    if not holds:
        msg = f"graph: expected {rule}"
        raise ValueError(msg)
