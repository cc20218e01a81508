"""The stored form of a graph, and its restoration.

Links are copied out of FAISS as plain arrays, checked and put back. FAISS follows links without
bounds checks, so they are checked before they are put back.

The links are stored, but not the vectors, which are many times as large and are in the column
anyway. The column lacks vectors that were replaced or removed, though, and walks still lead over
them. These few are stored as well, rounded as in the graph, so that the restored graph equals the
stored one and returns the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from oneiros import _core, vector_index
from oneiros.runtime.dataclasses import dataclass
from oneiros.vector_index import BitArray
from oneiros.vector_index.sealed import (
    NO_ROW,
    Hashes,
    Sealed,
    flags_of,
    hashes_of,
    rows_of_nodes,
)
from oneiros.vector_index.snapshot import VectorSnapshot
from oneiros.vector_index.vectors import read_vectors

if TYPE_CHECKING:
    from oneiros.vector_index.calibration import Calibration
    from oneiros.vector_index.hnsw import Matrix, Nodes

__all__ = ["LINKS", "KeptGraph", "Links", "ReplacedVectors", "restored"]


LINKS: Final = _core.HNSW_LINKS  # HNSW's M: links per vector and level (twice that on the lowest)


@dataclass(frozen=True, slots=True)
class Links:
    """The links between vectors."""

    levels: npt.NDArray[np.uint8]
    """Number of levels of each vector, counted from the lowest, shape (n,)."""
    neighbours: npt.NDArray[np.int32]
    """Targets of the links of each vector, level by level; -1 for an unused link."""
    entry: int
    """The vector where every walk begins; it is on the highest level."""
    laid_out_count: int
    """Number of vectors when they were last ordered by their links; 0: never."""

    @classmethod
    def none(cls) -> Links:
        """Return those of a graph without vectors."""
        return cls(np.empty(0, np.uint8), np.empty(0, np.int32), -1, 0)

    @classmethod
    def of(cls, faiss: Any, index: Any, laid_out_count: int) -> Links:
        """Return the links of an index."""
        hnsw = index.hnsw
        neighbours = faiss.vector_to_array(hnsw.neighbors)
        levels = faiss.vector_to_array(hnsw.levels).astype(np.uint8)
        return cls(levels, neighbours, int(hnsw.entry_point), laid_out_count)

    def require_sense(self) -> None:
        """Raise ValueError unless walks along the links and new links stay within the graph."""
        _require(len(self.levels) > 0, "no vector has links")
        _require(0 <= self.entry < len(self.levels), "walks begin outside")
        _core.check_hnsw_links(levels=self.levels, neighbours=self.neighbours, entry=self.entry)

    def put_into(self, faiss: Any, index: Any) -> None:
        """Set the links of an index. REQUIRES: the links were checked."""
        hnsw = index.hnsw
        faiss.copy_array_to_vector(self.levels.astype(np.int32), hnsw.levels)
        faiss.copy_array_to_vector(self._starts().astype(np.uint64), hnsw.offsets)
        faiss.copy_array_to_vector(self.neighbours, hnsw.neighbors)
        hnsw.entry_point, hnsw.max_level = self.entry, int(self.levels.max()) - 1
        index.ntotal = len(self.levels)

    def _starts(self) -> npt.NDArray[np.int64]:
        """Return the start of each vector's links, and the end, shape (n + 1,)."""
        starts = np.zeros(len(self.levels) + 1, np.int64)
        np.cumsum((self.levels.astype(np.int64) + 1) * LINKS, out=starts[1:])
        return starts


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """A :class:`Sealed` without the vectors of rows in use.

    Positions are those of :class:`Sealed`: the nodes of the graph, then their twins.
    """

    dimension: int
    links: Links
    heads: npt.NDArray[np.uint32]
    """Node with the vector of each twin, ascending, shape (t,)."""
    rows: npt.NDArray[np.uint32]
    """Row by position, shape (n + t,)."""
    live: BitArray | None
    """Packed bits of the positions in use; None: all are."""
    hashes: Hashes
    """Hashes of the nodes' vectors, shape (n,). Those of dead vectors are arbitrary."""
    dead_vectors: Matrix
    """Vectors of the nodes without a position in use, in their order, shape (m, dimension)."""
    is_rounded: bool = True
    """Whether the graph's vectors are rounded to 16 bits."""
    calibration: Calibration | None = None
    """The measured breadths of walks; None: not measured."""

    @classmethod
    def of(cls, snapshot: VectorSnapshot) -> KeptGraph:
        """Return the stored form of a snapshot's graph."""
        sealed = snapshot.sealed
        assert sealed is not None, "there is a graph"
        return cls(
            dimension=sealed.graph.dimension,
            links=sealed.graph.links(),
            heads=sealed.heads,
            rows=sealed.rows,
            live=snapshot.live,
            hashes=sealed.hashes,
            dead_vectors=sealed.graph.rounded(
                np.flatnonzero(sealed.rows_of_nodes(snapshot.live) == NO_ROW)
            ),
            is_rounded=sealed.graph.is_rounded,
            calibration=sealed.calibration,
        )

    def require_sense(self, row_end: int) -> None:
        """Raise ValueError unless all parts are consistent and all rows below ``row_end``."""
        self.links.require_sense()
        node_count, count = len(self.links.levels), len(self.rows)
        _require(len(self.hashes) == node_count, "expected as many hashes as vectors")
        _require(count == node_count + len(self.heads), "expected a row for each position")
        _require(count % 8 == 0, "expected a multiple of eight positions")
        _require(int(self.rows.max()) < row_end, "expected no row beyond the last")
        if len(self.heads):
            _require((self.heads[1:] >= self.heads[:-1]).all(), "expected heads that ascend")
            _require(int(self.heads[-1]) < node_count, "expected heads in the graph")
        _require(
            self.live is None or len(self.live) * 8 == count, "expected a bit for each position"
        )
        rows = self.rows[self.are_live()]
        _require(np.bincount(rows, minlength=1).max() <= 1, "expected one position for each row")
        heads = self.heads.astype(np.int64)
        dead_count = node_count - np.count_nonzero(_are_needed(node_count, heads, self.live))
        _require(
            self.dead_vectors.shape == (dead_count, self.dimension), "expected the dead vectors"
        )
        read_vectors("graph: its dead vectors", self.dead_vectors, self.dimension)
        if self.calibration is not None:
            self.calibration.require_sense()

    def rows_of_nodes(self) -> npt.NDArray[np.int64]:
        """Return for each node a row in use with its vector, shape (n,); NO_ROW for none."""
        return rows_of_nodes(self.rows, self.heads, len(self.hashes), self.live)

    def are_live(self) -> npt.NDArray[np.bool_]:
        """Return which positions are in use, shape (n + t,)."""
        return flags_of(self.live, len(self.rows))


class ReplacedVectors:
    """The original vectors of rows whose vector changed since the index was opened.

    One thread adds while another may read. A vector is added here before the column replaces it.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[np.uint32], Matrix]] = []

    def keep(self, column: _core.VectorColumn, rows: npt.NDArray[np.uint32]) -> None:
        """Store the column's vectors of rows that are about to change."""
        if len(rows):
            self._parts.append((rows.copy(), column.reconstruct(rows=rows)))

    def put_into(self, rows: npt.NDArray[np.int64], vectors: Matrix) -> None:
        """Put the original vectors of rows into ``vectors``.

        REQUIRES: ``vectors`` was read from the column before the call.
        """
        for changed, former in reversed(self._parts[:]):  # a row's oldest vector is written last
            order = np.argsort(changed, kind="stable")
            places = np.searchsorted(changed[order], rows)
            places[places == len(changed)] = 0
            found = order[places]
            is_changed = changed[found] == rows
            vectors[is_changed] = former[found[is_changed]]


def restored(
    kept: KeptGraph,
    column: _core.VectorColumn,
    replaced: ReplacedVectors,
    is_stopped: Callable[[], bool],
    *,
    is_trusted: bool,
) -> Sealed | None:
    """Restore a stored graph with its vectors; None if stopped.

    Args:
        kept: the stored graph, checked.
        column: the vectors, which may change during the call.
        replaced: the original vectors of rows that changed since.
        is_stopped: called before each part.
        is_trusted: whether the vectors are known to be those of the graph; else they are compared.

    Raises:
        ValueError: the vectors are not those of the graph.
    """
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
                _require(vectors[has_row].any(axis=1).all(), "expected a vector for each row")
                hashes = kept.hashes[start : start + _BLOCK][has_row]
                _require(
                    (hashes_of(vectors[has_row]) == hashes).all(),
                    "expected the vectors of its rows",
                )
            yield vectors

    if not is_trusted:
        _require_twins(kept, row_of, of_rows)
    graph = vector_index.hnsw.Graph.restored(
        kept.links, kept.dimension, parts(), is_rounded=kept.is_rounded
    )
    if graph is None:
        return None
    return Sealed(graph, kept.rows, kept.heads, kept.hashes, kept.calibration)


def _require_twins(
    kept: KeptGraph,
    row_of: npt.NDArray[np.int64],
    of_rows: Callable[[npt.NDArray[np.int64]], Matrix],
) -> None:
    """Raise ValueError unless each twin in use has the vector of its node."""
    twins = np.flatnonzero(kept.are_live()[len(kept.hashes) :])
    for start in range(0, len(twins), _BLOCK):
        part = twins[start : start + _BLOCK]
        vectors = of_rows(kept.rows[len(kept.hashes) + part].astype(np.int64)).view(np.uint32)
        heads = of_rows(row_of[kept.heads[part]]).view(np.uint32)
        _require((vectors == heads).all(), "expected equal vectors of twins")


_BLOCK: Final = 4_096  # vectors handed to the graph at a time


def _are_needed(
    node_count: int, heads: npt.NDArray[np.int64], live: BitArray | None
) -> npt.NDArray[np.bool_]:
    """Return which nodes have a position in use, by themselves or by a twin, shape (n,)."""
    is_live = flags_of(live, node_count + len(heads))
    is_needed = is_live[:node_count].copy()
    is_needed[heads[is_live[node_count:]]] = True
    return is_needed


def _require(holds: object, rule: str) -> None:
    if not holds:
        msg = f"graph: {rule}"
        raise ValueError(msg)
