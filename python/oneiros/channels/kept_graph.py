"""A graph as it is kept while nobody has it open, and how it comes back.

Kept are its links, and not its vectors, which are many times as large, and which the store holds.
The store has only those that can be found, though, and a walk leads over those that were replaced or
taken out, too. These few are kept themselves, so that the graph that comes back is the one that was
kept, and answers with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits
from oneiros.channels.graph_links import Links
from oneiros.channels.growing_array import GrowingArray
from oneiros.channels.inner_products import Graph, Matrix, Positions
from oneiros.channels.position_table import ABSENT
from oneiros.channels.vector_input import read_vectors
from oneiros.channels.vector_sealed import Hashes, Sealed, hashes_of
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
    """Of the graph's vectors, shape (n,)."""
    dead_vectors: Matrix
    """Of the graph's vectors that no position in use has, in their order, shape (m, dimension)."""

    @classmethod
    def of(cls, now: Snapshot) -> KeptGraph:
        """Return what is sealed in a state."""
        sealed = now.sealed
        assert sealed is not None, "there is a graph"
        count = len(sealed)
        live = None if now.live is None else now.live[: count // 8]
        dead = np.flatnonzero(~_are_needed(len(sealed.graph), sealed.heads, live))
        return cls(
            dimension=sealed.graph.vectors.shape[1],
            links=sealed.graph.links(),
            heads=sealed.heads.astype(np.uint32),
            rows=now.rows[:count].astype(np.uint32),
            live=live,
            hashes=sealed.hashes,
            dead_vectors=sealed.graph.vectors[dead],
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
        return _are_live(self.live, len(self.rows))


@dataclass(frozen=True, slots=True)
class Restored:
    """What a vector index begins with."""

    sealed: Sealed
    rows: Positions
    """Position -> row, shape (n,)."""
    live: Bits | None
    """Packed bits of the positions in use; None: all are."""


class Restoring:
    """Puts a graph that was kept together with the vectors of its rows.

    Args:
        kept: what makes sense.
    """

    def __init__(self, kept: KeptGraph) -> None:
        self._kept = kept
        self._heads = kept.heads.astype(np.int64)
        node_count = len(kept.links.levels)
        nothing = np.empty((0, kept.dimension), np.float32)
        self._held = GrowingArray(nothing, room=node_count + node_count // 2)
        self._vectors = self._held.extend(node_count)
        self._is_set = ~_are_needed(node_count, self._heads, kept.live)
        self._vectors[self._is_set] = kept.dead_vectors
        self._is_shared = np.zeros(node_count, np.bool_)
        self._is_shared[self._heads] = True
        self._is_found = np.zeros(len(kept.rows), np.bool_)
        held = np.flatnonzero(kept.are_live())
        self._position_of = np.full(int(kept.rows.max()) + 1, ABSENT, np.int64)
        self._position_of[kept.rows[held]] = held

    def place(
        self, rows: Positions, vectors: Matrix, is_live: npt.NDArray[np.bool_]
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
        positions = np.where(is_inside, self._position_of[np.where(is_inside, rows, 0)], ABSENT)
        is_placed: npt.NDArray[np.bool_] = positions != ABSENT
        nodes = self._nodes_at(positions[is_placed])
        is_placed[is_placed] = self._put(nodes, _picked(vectors, is_placed))
        self._is_found[positions[is_placed & is_live]] = True
        return is_placed

    def _put(self, nodes: Positions, vectors: Matrix) -> npt.NDArray[np.bool_]:
        """Set the vectors of nodes, and tell which of them are what they were, shape (n,)."""
        is_same: npt.NDArray[np.bool_] = hashes_of(vectors) == self._kept.hashes[nodes]
        is_first = is_same & ~self._is_set[nodes]
        self._vectors[nodes[is_first]] = _picked(vectors, is_first)
        self._is_set[nodes[is_first]] = True
        # Of two that share a node, neither is scored by the other's vector: hashes can be forged.
        shared = np.flatnonzero(is_same & self._is_shared[nodes])
        held = self._vectors[nodes[shared]].view(np.uint32)
        is_same[shared] = (held == vectors[shared].view(np.uint32)).all(axis=1)
        return is_same

    def restored(self) -> Restored | None:
        """Return the graph with its vectors; None if it has lost too many of them.

        A vector that nobody has any more is the middle of those it is linked to: walks lead over it
        about as they did.
        """
        lost = np.flatnonzero(~self._is_set)
        if len(lost) * DEAD_SHARE >= len(self._is_set):
            return None
        hashes: Hashes = self._kept.hashes.copy()
        if len(lost):
            self._vectors[lost] = 0
            around = self._kept.links.lowest_of(lost)
            is_known = (around >= 0) & self._is_set[around]
            middles = np.zeros((len(lost), self._kept.dimension), np.float32)
            for place in range(around.shape[1]):
                middles += self._vectors[around[:, place]] * is_known[:, place, None]
            self._vectors[lost] = read_vectors("graph", middles, self._kept.dimension)
            hashes[lost] = hashes_of(self._vectors[lost])
        # Where bits were kept they come back, even if all are set: the same searches, the same steps.
        is_whole = self._kept.live is None and self._is_found.all()
        live = None if is_whole else np.packbits(self._is_found, bitorder="little")
        rows = self._kept.rows.astype(np.int64)
        graph = Graph.restored(self._kept.links, self._held)
        return Restored(Sealed(graph, self._heads, hashes), rows, live)

    def _nodes_at(self, positions: Positions) -> Positions:
        count = len(self._is_set)
        is_twin = positions >= count
        nodes = positions.copy()
        nodes[is_twin] = self._heads[positions[is_twin] - count]
        return nodes


def _picked(vectors: Matrix, are_picked: npt.NDArray[np.bool_]) -> Matrix:
    """Return some of the vectors; all of them, as a rule, without a copy."""
    return vectors if are_picked.all() else vectors[are_picked]


def _are_live(live: Bits | None, count: int) -> npt.NDArray[np.bool_]:
    if live is None:
        return np.ones(count, np.bool_)
    return np.unpackbits(live, bitorder="little").view(np.bool_)


def _are_needed(node_count: int, heads: Positions, live: Bits | None) -> npt.NDArray[np.bool_]:
    """Tell which of the graph's vectors a position in use has, shape (n,)."""
    is_live = _are_live(live, node_count + len(heads))
    is_needed = is_live[:node_count].copy()
    is_needed[heads[is_live[node_count:]]] = True
    return is_needed


def _require(holds: object, rule: str) -> None:
    if not holds:
        msg = f"graph: expected {rule}"
        raise ValueError(msg)
