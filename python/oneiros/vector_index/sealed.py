"""The vectors in a graph, without repetitions.

Equal vectors starve an HNSW graph: they fill each other's links. With a tenth of all vectors equal,
a twentieth of the others could no longer be reached. Memories do repeat ("ok", "thanks"), so the
graph contains one of several equal vectors, the head. The others are its twins and share its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from oneiros import _core, vector_index
from oneiros.runtime.dataclasses import dataclass
from oneiros.vector_index import BitArray, Rows

if TYPE_CHECKING:
    from oneiros.vector_index.calibration import Calibration
    from oneiros.vector_index.hnsw import Graph, Matrix, Nodes

__all__ = ["NO_ROW", "Hashes", "Sealed", "flags_of", "hashes_of", "rows_of_nodes", "seal"]

BLOCK = 4_096  # vectors copied out of the column at a time

NO_ROW = -1

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A graph of n nodes and its t twins. Positions: the nodes, then the twins."""

    graph: Graph
    rows: Rows
    """Row by position, shape (n + t,). A row can have several positions, at most one in use."""
    heads: npt.NDArray[np.uint32]
    """Node with the vector of each twin, ascending, shape (t,)."""
    hashes: Hashes
    """Hashes of the nodes' vectors, shape (n,)."""
    calibration: Calibration | None = None
    """The measured breadths of walks; None: not measured."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the graph and the arrays."""
        return self.graph.nbytes + self.rows.nbytes + self.heads.nbytes + self.hashes.nbytes

    def rows_of_nodes(self, live: BitArray | None) -> npt.NDArray[np.int64]:
        """Return for each node a row in use with its vector, shape (n,); NO_ROW for none."""
        return rows_of_nodes(self.rows, self.heads, len(self.graph), live)


def rows_of_nodes(
    rows: Rows, heads: npt.NDArray[np.uint32], count: int, live: BitArray | None
) -> npt.NDArray[np.int64]:
    """Return for each node a row in use with its vector, shape (n,); NO_ROW if there is none.

    Args:
        rows: row by position, shape (n + t,).
        heads: node with the vector of each twin, shape (t,).
        count: number of nodes.
        live: packed bits of the positions in use; None: all are.
    """
    is_live = flags_of(live, len(rows))
    found = np.where(is_live[:count], rows[:count].astype(np.int64), NO_ROW)
    twins = np.flatnonzero(is_live[count:])[::-1]  # reversed: the first of several is written last
    twins = twins[found[heads[twins]] == NO_ROW]
    found[heads[twins]] = rows[count + twins]
    return found


def flags_of(bits: BitArray | None, count: int) -> npt.NDArray[np.bool_]:
    """Return ``count`` packed bits as flags; None: all are set."""
    if bits is None:
        return np.ones(count, np.bool_)
    return np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)


def seal(
    column: _core.VectorColumn,
    former: Sealed | None,
    live: BitArray | None,
    rows: Rows,
    is_stopped: Callable[[], bool],
    *,
    is_rounded: bool = True,
) -> tuple[Sealed, Nodes] | None:
    """Build a graph of ``former``'s vectors and those of rows; None if stopped before the end.

    The column may change during the build. Rows whose vector changed are wrong in the result, and
    so are the twins of their nodes. The caller removes them.

    Args:
        column: the vectors.
        former: the former graph, not changed; None: there is none.
        live: packed bits of ``former``'s positions in use; None: all are.
        rows: rows not in use in ``former``.
        is_stopped: called many times a second.
        is_rounded: whether a new graph rounds its vectors to 16 bits.

    Returns:
        The result, and for each of its positions where it came from: numbers below ``len(former)``
        are positions in ``former``, higher ones count through ``rows``.
    """
    hnsw = vector_index.hnsw
    known, length = (0, 0) if former is None else (len(former.graph), len(former))
    hashes = np.concatenate([hashes_of(part) for part in _parts(column, rows, BLOCK)] or [_NONE])
    heads = _heads_of(column, former, live, rows, hashes)
    is_twin = heads < known + np.arange(len(rows))
    distinct, twins = np.flatnonzero(~is_twin), np.flatnonzero(is_twin)
    graph = hnsw.Graph.grown(
        None if former is None else former.graph,
        column.dimension,
        _parts(column, rows[distinct], hnsw.SLICE),
        is_stopped,
        is_rounded=is_rounded,
    )
    if graph is None:
        return None
    graph, nodes = graph.laid_out()
    new_node_of = np.empty_like(nodes)
    new_node_of[nodes] = np.arange(len(nodes))
    node_of = np.concatenate((np.arange(known), known + np.cumsum(~is_twin) - 1))
    twin_heads, twin_order = node_of[heads[twins]], twins + length
    all_hashes, all_rows = hashes[distinct], rows
    if former is not None:
        twin_heads = np.concatenate((former.heads, twin_heads))
        twin_order = np.concatenate((np.arange(known, length), twin_order))
        all_hashes = np.concatenate((former.hashes, all_hashes))
        all_rows = np.concatenate((former.rows, rows))
    twin_heads = new_node_of[twin_heads]
    by_head = np.argsort(twin_heads, kind="stable")
    node_order = np.concatenate((np.arange(known), distinct + length))[nodes]
    order = np.concatenate((node_order, twin_order[by_head]))
    sealed = Sealed(
        graph, all_rows[order], twin_heads[by_head].astype(np.uint32), all_hashes[nodes]
    )
    return sealed, order


_NONE: Hashes = np.empty(0, np.uint64)


def _parts(column: _core.VectorColumn, rows: Rows, size: int) -> Iterator[Matrix]:
    """Yield the vectors of rows, ``size`` at a time, each part read when it is needed."""
    for start in range(0, len(rows), size):
        yield column.reconstruct(rows=rows[start : start + size])


def _heads_of(
    column: _core.VectorColumn,
    former: Sealed | None,
    live: BitArray | None,
    rows: Rows,
    hashes: Hashes,
) -> Nodes:
    """Return the first vector equal to each row's: a node, or ``known`` + a place in ``rows``."""
    known, places = 0, np.arange(len(rows))
    # Only nodes with a row in use can be compared, and so have twins.
    nodes, candidates, all_hashes = places[:0], rows.astype(np.int64), hashes
    if former is not None:
        known, row_of = len(former.graph), former.rows_of_nodes(live)
        nodes = np.flatnonzero(row_of != NO_ROW)
        candidates = np.concatenate((row_of[nodes], candidates))
        all_hashes = np.concatenate((former.hashes[nodes], hashes))
    _, firsts, groups = np.unique(all_hashes, return_index=True, return_inverse=True)
    first = firsts[groups[len(nodes) :]]
    likely = np.flatnonzero(first < len(nodes) + places)
    heads = known + places
    for start in range(0, len(likely), BLOCK):
        at = likely[start : start + BLOCK]
        vectors = column.reconstruct(rows=rows[at]).view(np.uint32)
        others = column.reconstruct(rows=candidates[first[at]].astype(np.uint32)).view(np.uint32)
        same = at[(vectors == others).all(axis=1)]
        numbers = np.concatenate((nodes, known + places))
        heads[same] = numbers[first[same]]
    return heads


def hashes_of(vectors: Matrix) -> Hashes:
    """Return a 64-bit hash of each vector, shape (n,)."""
    odd = np.random.default_rng(0).integers(0, 2**63, vectors.shape[1], np.uint64) * 2 + 1
    found = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), BLOCK):
        block = np.ascontiguousarray(vectors[start : start + BLOCK]).view(np.uint32)
        # The high half is mixed in: a plain product keeps the low bits of similar numbers similar.
        mixed = block * odd
        found[start : start + BLOCK] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1)
    return found
