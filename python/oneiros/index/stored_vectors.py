"""The vectors of a snapshot's rows and their graph, as parts of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.errors import SnapshotDamaged, StoreCorrupt
from oneiros.index.snapshot_parts import PartReader, PartWriter, require_sense
from oneiros.store.rows import Damaged, decoded_embeddings
from oneiros.vector_index.calibration import Calibration, MeasuredDepth
from oneiros.vector_index.hnsw_snapshot import KeptGraph, Links
from oneiros.vector_index.index import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from typing_extensions import Buffer

    from oneiros import _core
    from oneiros.index.columns import Lifecycle
    from oneiros.index.indexes import Indexes
    from oneiros.store import Reading
    from oneiros.store.checksums import OnDamage

__all__ = ["graph_of", "graph_part", "kept_vectors", "stored_vectors"]

_WIDEST: Final = 2**16


def graph_part(graph: KeptGraph) -> bytes:
    """Return the part that :func:`graph_of` reads."""
    part = PartWriter()
    links, has_bits = graph.links, graph.live is not None
    numbers = [graph.dimension, links.entry, links.laid_out_count, has_bits, graph.is_rounded]
    part.put(np.array(numbers, np.uint64))
    part.put(_measures_of(graph.calibration))
    part.put(links.levels)
    part.put(links.neighbours)
    part.put(graph.heads)
    part.put(graph.rows)
    part.put(np.empty(0, np.uint8) if graph.live is None else graph.live)
    part.put(graph.hashes)
    part.put(graph.dead_vectors)
    return part.bytes()


def graph_of(part: Buffer, row_end: int) -> KeptGraph:
    """Return the graph of a part, which is not trusted, as views of its bytes.

    Raises:
        SnapshotDamaged, ValueError: the part is invalid.
    """
    reader = PartReader(part)
    dimension, entry, laid_out_count, has_bits, is_rounded = _taken(reader, np.uint64).tolist()
    calibration = _calibration_of(_taken(reader, np.float64))
    require_sense(1 <= dimension <= _WIDEST, "no width of a vector")
    levels, neighbours = _taken(reader, np.uint8), _taken(reader, np.int32)
    heads, rows = _taken(reader, np.uint32), _taken(reader, np.uint32)
    live, hashes = _taken(reader, np.uint8), _taken(reader, np.uint64)
    dead = _taken(reader, np.float32)
    reader.end()
    require_sense(len(dead) % dimension == 0, "a part's vector ends early")
    graph = KeptGraph(
        dimension=dimension,
        links=Links(levels, neighbours, entry, laid_out_count),
        heads=heads,
        rows=rows,
        live=live if has_bits else None,
        hashes=hashes,
        dead_vectors=dead.reshape(-1, dimension),
        is_rounded=bool(is_rounded),
        calibration=calibration,
    )
    graph.require_sense(row_end)
    return graph


def _measures_of(calibration: Calibration | None) -> npt.NDArray[np.float64]:
    """Return the numbers that :func:`_calibration_of` reads; none where nothing was measured."""
    if calibration is None:
        return np.empty(0)
    numbers: list[float] = [calibration.target, calibration.count]
    for depth in calibration.depths:
        numbers += [depth.k, depth.factor, depth.breadth, depth.recall]
    return np.array(numbers)


def _calibration_of(numbers: npt.NDArray[np.float64]) -> Calibration | None:
    if len(numbers) == 0:
        return None
    require_sense(len(numbers) % 4 == 2 and bool(np.isfinite(numbers).all()), "no measures")
    target, count = numbers[:2].tolist()
    depths = [
        MeasuredDepth(int(k), factor, int(breadth), recall)
        for k, factor, breadth, recall in numbers[2:].reshape(-1, 4).tolist()
    ]
    return Calibration(target, int(count), tuple(depths))


def _taken(reader: PartReader, dtype: type[np.generic]) -> npt.NDArray[Any]:
    values = {1: "B", 4: "I", 8: "Q"}[np.dtype(dtype).itemsize]
    return np.asarray(reader.take(values)).view(dtype)  # type: ignore[arg-type]


def kept_vectors(
    snapshot: _core.StoreSnapshot, indexes: Indexes, row_end: int, *, has_graph: bool
) -> VectorIndex:
    """Return an index over the mapped vectors of a snapshot. Its graph is read later.

    Raises:
        SnapshotDamaged: the vectors are damaged.
    """
    column, kind = snapshot.vectors(row_end=row_end), indexes.vector_index
    read_graph = None
    if has_graph and kind != "flat":

        def read_graph() -> KeptGraph:
            try:
                graph = graph_of(snapshot.vector_graph(), row_end)
            except SnapshotDamaged as error:
                raise ValueError(str(error)) from error
            if graph.dimension != column.dimension:
                msg = "graph: expected the vectors' width"
                raise ValueError(msg)
            return graph

    return VectorIndex.over(
        column,
        kind,
        read_graph,
        is_trusted=snapshot.is_own,
        recall=indexes.vector_recall,
    )


def stored_vectors(
    reading: Reading, lifecycle: Lifecycle, indexes: Indexes, on_damage: OnDamage
) -> VectorIndex | None:
    """Return an index of the vectors in the store; None: it has none.

    ``on_damage`` receives each memory whose vector cannot be read.
    """
    index: VectorIndex | None = None

    def add(rows: Sequence[int], blobs: Sequence[bytes], sequences: Sequence[int]) -> None:
        nonlocal index
        if not rows:
            return
        try:
            matrix = decoded_embeddings(blobs)
            if index is None:
                index = VectorIndex(
                    matrix.shape[1], indexes.vector_index, recall=indexes.vector_recall
                )
            if matrix.shape[1] != index.dimension:
                msg = f"a vector of width {matrix.shape[1]} among those of {index.dimension}"
                raise StoreCorrupt(msg)
        except StoreCorrupt as error:
            if len(rows) == 1:
                on_damage(Damaged(sequences[0], lifecycle.ids[rows[0]], str(error)))
                return
            for row, blob, sequence in zip(rows, blobs, sequences, strict=True):
                add([row], [blob], [sequence])
            return
        index.add(np.array(rows, np.uint32), matrix)

    for batch in reading.embeddings(reading.last_revision()):
        blob_of = dict(batch)  # a damaged page may name a memory twice
        sequences = np.array(list(blob_of), np.int64)
        rows = lifecycle.rows_of_sequences(sequences)
        places, blobs = np.flatnonzero(rows >= 0), list(blob_of.values())
        add(
            rows[places].tolist(),
            [blobs[place] for place in places.tolist()],
            sequences[places].tolist(),
        )
    return index
