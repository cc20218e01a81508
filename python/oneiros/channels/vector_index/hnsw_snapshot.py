"""A graph as it is kept while nobody has it open, and how it comes back.

Kept are its links, and not its vectors, which are many times as large, and which lie in the column.
The column has only those that can be found, though, and a walk leads over those that were replaced or
taken out, too. These few are kept themselves, rounded as the graph has them, so that the graph that
comes back is the one that was kept, and answers with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits
from oneiros.channels.vector_index.graph_links import Links
from oneiros.channels.vector_index.sealed import (
    NO_ROW,
    Hashes,
    Sealed,
    flags_of,
    hashes_of,
    rows_of_nodes,
)
from oneiros.channels.vector_index.snapshot import VectorSnapshot
from oneiros.channels.vector_index.vectors import read_vectors
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.channels.vector_index.hnsw import Matrix, Nodes

__all__ = ["KeptGraph", "ReplacedVectors", "restored"]


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
    def of(cls, now: VectorSnapshot) -> KeptGraph:
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

    def rows_of_nodes(self) -> npt.NDArray[np.int64]:
        """Return a row in use whose vector is the node's, shape (n,); NO_ROW: there is none."""
        return rows_of_nodes(self.rows, self.heads, len(self.hashes), self.live)

    def are_live(self) -> npt.NDArray[np.bool_]:
        """Tell which positions are in use, shape (n + t,)."""
        return flags_of(self.live, len(self.rows))


class ReplacedVectors:
    """The vectors that rows had when an index began, of rows whose vector changed since.

    One thread adds, and another may read: a vector is here before the column has the next.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[np.uint32], Matrix]] = []

    def keep(self, column: _core.VectorColumn, rows: npt.NDArray[np.uint32]) -> None:
        """Keep what the column has of rows that are about to change."""
        if len(rows):
            self._parts.append((rows.copy(), column.reconstruct(rows=rows)))

    def put_into(self, rows: npt.NDArray[np.int64], vectors: Matrix) -> None:
        """Put the vectors that rows had in their places. REQUIRES: they were read before the call."""
        for changed, former in reversed(self._parts[:]):  # what a row had first is written last
            order = np.argsort(changed, kind="stable")
            places = np.searchsorted(changed[order], rows)
            places[places == len(changed)] = 0
            found = order[places]
            is_there = changed[found] == rows
            vectors[is_there] = former[found[is_there]]


def restored(
    kept: KeptGraph,
    column: _core.VectorColumn,
    replaced: ReplacedVectors,
    is_stopped: Callable[[], bool],
    *,
    is_trusted: bool,
) -> Sealed | None:
    """Return a graph that was kept, with its vectors; None if stopped on the way.

    Args:
        kept: what makes sense.
        column: has the vectors, which may change meanwhile.
        replaced: what rows had that changed since.
        is_stopped: asked before each part.
        is_trusted: the vectors are known to be those that the graph was made of.

    Raises:
        ValueError: they are not.
    """
    from oneiros.channels.vector_index.hnsw import Graph  # noqa: PLC0415 - loaded with the first graph

    node_count = len(kept.hashes)
    row_of = kept.rows_of_nodes()
    dead_before: Nodes = np.cumsum(row_of == NO_ROW) - (row_of == NO_ROW)

    def of_rows(rows: npt.NDArray[np.int64]) -> Matrix:
        vectors = column.reconstruct(rows=rows.astype(np.uint32))
        replaced.put_into(rows, vectors)
        return vectors

    def parts() -> Iterator[Matrix]:
        for start in range(0, node_count, _BLOCK):
            if is_stopped():
                return
            rows = row_of[start : start + _BLOCK]
            has_row = rows != NO_ROW
            if has_row.all():
                vectors = of_rows(rows)
            else:
                vectors = np.empty((len(rows), kept.dimension), np.float32)
                vectors[has_row] = of_rows(rows[has_row])
                dead = dead_before[start : start + _BLOCK][~has_row]
                vectors[~has_row] = kept.dead_vectors[dead]
            if not is_trusted:
                _require(vectors[has_row].any(axis=1).all(), "a vector for each row")
                hashes = kept.hashes[start : start + _BLOCK][has_row]
                _require((hashes_of(vectors[has_row]) == hashes).all(), "the vectors of its rows")
            yield vectors

    if not is_trusted:
        _require_twins(kept, row_of, of_rows)
    graph = Graph.restored(kept.links, kept.dimension, parts())
    if graph is None:
        return None
    return Sealed(graph, kept.rows, kept.heads, kept.hashes)


def _require_twins(
    kept: KeptGraph,
    row_of: npt.NDArray[np.int64],
    of_rows: Callable[[npt.NDArray[np.int64]], Matrix],
) -> None:
    """Raise ValueError unless each row in use has the vector of the node that it lies at."""
    twins = np.flatnonzero(kept.are_live()[len(kept.hashes) :])
    for start in range(0, len(twins), _BLOCK):
        part = twins[start : start + _BLOCK]
        own = of_rows(kept.rows[len(kept.hashes) + part].astype(np.int64))
        others = of_rows(row_of[kept.heads[part]])
        _require((own.view(np.uint32) == others.view(np.uint32)).all(), "equal vectors of twins")


_BLOCK: Final = 4_096  # vectors handed to the graph at a time


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
