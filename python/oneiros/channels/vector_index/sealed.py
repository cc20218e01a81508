"""The vectors under a graph, equal ones once.

Equal vectors starve an HNSW graph: they fill each other's links, and with a tenth of all equal,
a twentieth of the others could no longer be reached. Memories do repeat ("ok", "thanks"), so of
equal vectors the graph holds one, the head; the others are its twins, which share its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits, Rows
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.channels.vector_index.hnsw import Graph, Matrix, Nodes

__all__ = ["NO_ROW", "Hashes", "Sealed", "flags_of", "hashes_of", "rows_of_nodes", "seal"]

BLOCK = 4_096  # vectors copied out of the column at a time

NO_ROW = -1

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A graph, and the twins of its nodes. Positions: the nodes, then the twins."""

    graph: Graph
    rows: Rows
    """Position -> row, shape (n + t,). A row may lie at several, of which one at most is in use."""
    heads: npt.NDArray[np.uint32]
    """The node of each twin's equal, ascending, shape (t,)."""
    hashes: Hashes
    """Of the vectors of the nodes, shape (n,)."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.graph.nbytes + self.rows.nbytes + self.heads.nbytes + self.hashes.nbytes

    def rows_of_nodes(self, live: Bits | None) -> npt.NDArray[np.int64]:
        """Return a row in use whose vector is the node's, shape (n,); NO_ROW: there is none.

        Args:
            live: packed bits of the positions in use; None: all are.
        """
        return rows_of_nodes(self.rows, self.heads, len(self.graph), live)


def rows_of_nodes(
    rows: Rows, heads: npt.NDArray[np.uint32], count: int, live: Bits | None
) -> npt.NDArray[np.int64]:
    """Return a row in use whose vector is the node's, shape (n,); NO_ROW: there is none.

    Args:
        rows: position -> row, shape (n + t,).
        heads: the node of each twin's equal, shape (t,).
        count: how many nodes there are.
        live: packed bits of the positions in use; None: all are.
    """
    is_live = flags_of(live, len(rows))
    found = np.where(is_live[:count], rows[:count].astype(np.int64), NO_ROW)
    twins = np.flatnonzero(is_live[count:])[::-1]  # of several the first is written last
    twins = twins[found[heads[twins]] == NO_ROW]
    found[heads[twins]] = rows[count + twins]
    return found


def flags_of(bits: Bits | None, count: int) -> npt.NDArray[np.bool_]:
    """Return so many packed bits as flags; None: all are set."""
    if bits is None:
        return np.ones(count, np.bool_)
    return np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)


def seal(
    column: _core.VectorColumn,
    former: Sealed | None,
    live: Bits | None,
    rows: Rows,
    is_stopped: Callable[[], bool],
) -> tuple[Sealed, Nodes] | None:
    """Return a new part of ``former``'s vectors and those of rows, or None if stopped before the end.

    The column may change meanwhile. Rows whose vector did are wrong in the new part, and so are the
    twins of their nodes: the caller takes them out.

    Args:
        column: the vectors.
        former: stays as it is.
        live: packed bits of ``former``'s positions in use; None: all are.
        rows: not in use in ``former``.
        is_stopped: asked many times a second.

    Returns:
        The part, and the order of its positions: numbers below ``len(former)`` are ``former``'s
        positions, those from there on stand for ``rows``.
    """
    from oneiros.channels.vector_index.hnsw import SLICE, Graph  # noqa: PLC0415 - loaded with the first graph

    known, length = (0, 0) if former is None else (len(former.graph), len(former))
    hashes = np.concatenate([hashes_of(part) for part in _parts(column, rows, BLOCK)] or [_NONE])
    heads = _heads_of(column, former, live, rows, hashes)
    is_twin = heads < known + np.arange(len(rows))
    distinct, twins = np.flatnonzero(~is_twin), np.flatnonzero(is_twin)
    graph = Graph.grown(
        None if former is None else former.graph,
        column.dimension,
        _parts(column, rows[distinct], SLICE),
        is_stopped,
    )
    if graph is None:
        return None
    graph, nodes = graph.laid_out()
    lies_at = np.empty_like(nodes)
    lies_at[nodes] = np.arange(len(nodes))
    node_of = np.concatenate((np.arange(known), known + np.cumsum(~is_twin) - 1))
    their_heads, twin_order = node_of[heads[twins]], twins + length
    every_hash, every_row = hashes[distinct], rows
    if former is not None:
        their_heads = np.concatenate((former.heads, their_heads))
        twin_order = np.concatenate((np.arange(known, length), twin_order))
        every_hash = np.concatenate((former.hashes, every_hash))
        every_row = np.concatenate((former.rows, rows))
    their_heads = lies_at[their_heads]
    by_head = np.argsort(their_heads, kind="stable")
    node_order = np.concatenate((np.arange(known), distinct + length))[nodes]
    order = np.concatenate((node_order, twin_order[by_head]))
    part = Sealed(
        graph, every_row[order], their_heads[by_head].astype(np.uint32), every_hash[nodes]
    )
    return part, order


_NONE: Hashes = np.empty(0, np.uint64)


def _parts(column: _core.VectorColumn, rows: Rows, size: int) -> Iterator[Matrix]:
    """Yield the vectors of rows, so many at a time, each part as it is when its turn comes."""
    for start in range(0, len(rows), size):
        yield column.reconstruct(rows=rows[start : start + size])


def _heads_of(
    column: _core.VectorColumn, former: Sealed | None, live: Bits | None, rows: Rows, hashes: Hashes
) -> Nodes:
    """Return the first that is equal to each row's vector: a node, or ``known`` + a place in rows."""
    known, places = 0, np.arange(len(rows))
    # Only a node that some row in use lies at can be compared, and so have twins.
    nodes, equals, every_hash = places[:0], rows.astype(np.int64), hashes
    if former is not None:
        known, row_of = len(former.graph), former.rows_of_nodes(live)
        nodes = np.flatnonzero(row_of != NO_ROW)
        equals = np.concatenate((row_of[nodes], equals))
        every_hash = np.concatenate((former.hashes[nodes], hashes))
    _, firsts, groups = np.unique(every_hash, return_index=True, return_inverse=True)
    first = firsts[groups[len(nodes) :]]
    likely = np.flatnonzero(first < len(nodes) + places)
    heads = known + places
    for start in range(0, len(likely), BLOCK):
        at = likely[start : start + BLOCK]
        ours = column.reconstruct(rows=rows[at]).view(np.uint32)
        theirs = column.reconstruct(rows=equals[first[at]].astype(np.uint32)).view(np.uint32)
        same = at[(ours == theirs).all(axis=1)]
        numbers = np.concatenate((nodes, known + places))
        heads[same] = numbers[first[same]]
    return heads


def hashes_of(vectors: Matrix) -> Hashes:
    """Return 64 bits that are equal for equal vectors, and hardly ever for others."""
    odd = np.random.default_rng(0).integers(0, 2**63, vectors.shape[1], np.uint64) * 2 + 1
    found = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), BLOCK):
        block = np.ascontiguousarray(vectors[start : start + BLOCK]).view(np.uint32)
        # The high half goes in too: a product alone keeps the low bits of like numbers alike.
        mixed = block * odd
        found[start : start + BLOCK] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1)
    return found
