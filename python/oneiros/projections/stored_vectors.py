"""The vectors of a snapshot's rows: the store holds them, the snapshot the graph over them."""

from __future__ import annotations

from array import array
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.channels.graph_links import Links
from oneiros.channels.kept_graph import KeptGraph, Restoring
from oneiros.errors import StoreCorrupt
from oneiros.projections.indexes import vector_digests
from oneiros.projections.parts import PartReader, PartWriter, require_sense
from oneiros.store.embedding_bytes import decoded, encoded
from oneiros.store.rows import Damaged

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from typing_extensions import Buffer

    from oneiros.channels.vector_sealed import Sealed
    from oneiros.channels.vector_snapshot import Snapshot
    from oneiros.projections.projections import Projections
    from oneiros.store import Reading
    from oneiros.store.checksums import OnDamage

__all__ = ["graph_of", "graph_part", "hold_vectors"]

_WIDEST: Final = 2**16


def graph_part(now: Snapshot) -> bytes:
    """Return the part that :func:`graph_of` reads.

    Args:
        now: vectors, of which some lie under a graph.
    """
    kept, part = KeptGraph.of(now), PartWriter()
    links, has_bits = kept.links, kept.live is not None
    numbers = [kept.dimension, links.entry, links.laid_out_count, has_bits]
    part.put(np.array(numbers, np.uint64))
    part.put(links.levels)
    part.put(links.neighbours)
    part.put(kept.heads)
    part.put(kept.rows)
    part.put(np.empty(0, np.uint8) if kept.live is None else kept.live)
    part.put(kept.hashes)
    part.put(kept.dead_vectors)
    return part.bytes()


def graph_of(part: Buffer, row_end: int) -> KeptGraph:
    """Return a part's graph, over its bytes.

    Args:
        part: the bytes, whatever they are.
        row_end: how many rows the snapshot has.

    Raises:
        SnapshotDamaged, ValueError: it makes no sense.
    """
    reader = PartReader(part)
    dimension, entry, laid_out_count, has_bits = _taken(reader, np.uint64).tolist()
    require_sense(1 <= dimension <= _WIDEST, "no width of a vector")
    levels, neighbours = _taken(reader, np.uint8), _taken(reader, np.int32)
    heads, rows = _taken(reader, np.uint32), _taken(reader, np.uint32)
    live, hashes = _taken(reader, np.uint8), _taken(reader, np.uint64)
    dead = _taken(reader, np.float32)
    reader.end()
    require_sense(len(dead) % dimension == 0, "a part's vector ends early")
    kept = KeptGraph(
        dimension=dimension,
        links=Links(levels, neighbours, entry, laid_out_count),
        heads=heads,
        rows=rows,
        live=live if has_bits else None,
        hashes=hashes,
        dead_vectors=dead.reshape(-1, dimension),
    )
    kept.require_sense(row_end)
    return kept


def _taken(reader: PartReader, dtype: type[np.generic]) -> npt.NDArray[Any]:
    values = {1: "B", 4: "I", 8: "Q"}[np.dtype(dtype).itemsize]
    return np.asarray(reader.take(values)).view(dtype)  # type: ignore[arg-type]


def hold_vectors(
    reading: Reading,
    revision: int,
    projections: Projections,
    kept: KeptGraph | None,
    on_damage: OnDamage,
) -> Sealed | None:
    """Give new indexes the vectors of a snapshot's rows, as they stood at its revision.

    Args:
        reading: the store.
        revision: the snapshot's.
        projections: hold the rows.
        kept: the graph, where there is one; it is passed over if its vectors are not the store's.
        on_damage: is given each memory whose vector cannot be read.

    Returns:
        The graph, if the indexes hold it.
    """
    if kept is not None:
        sealed = _Regained(reading, projections, kept).held(revision)
        if sealed is not None:
            return sealed
    for batch in reading.embeddings(revision):
        blob_of = dict(batch)  # a damaged page may name a memory twice
        sequences = np.array(list(blob_of), np.int64)
        rows = projections.lifecycle.rows_of_sequences(sequences)
        held, blobs = _picked(rows >= 0, rows, list(blob_of.values()))
        _hold(projections, held, blobs, sequences[rows >= 0].tolist(), on_damage)
    return None


def _hold(
    projections: Projections,
    rows: Sequence[int],
    blobs: Sequence[bytes],
    sequences: Sequence[int],
    on_damage: OnDamage,
) -> None:
    """Hold vectors of rows; tell of each that is damaged."""
    if not rows:
        return
    try:
        projections.indexes.hold_vectors(rows, blobs)
    except StoreCorrupt as error:
        if len(rows) == 1:
            on_damage(Damaged(sequences[0], projections.lifecycle.ids[rows[0]], str(error)))
            return
        for row, blob, sequence in zip(rows, blobs, sequences, strict=True):
            _hold(projections, [row], [blob], [sequence], on_damage)


class _Regained:
    """A graph that has its vectors again, and the vectors that came after it.

    Those of memories that a later commit changed or deleted are taken, too, where they are still
    the graph's: it walks over them, and finds them where that commit left the vector as it was.
    """

    def __init__(self, reading: Reading, projections: Projections, kept: KeptGraph) -> None:
        self._reading = reading
        self._lifecycle, self._indexes = projections.lifecycle, projections.indexes
        self._kept = kept
        self._size = len(encoded(np.zeros(kept.dimension, np.float32)))
        self._restoring: Restoring | None = None
        self._known: list[tuple[list[int], array[int]]] = []
        self._fresh: list[tuple[list[int], list[bytes]]] = []

    def held(self, revision: int) -> Sealed | None:
        """Return the graph once the indexes hold it; None: they hold nothing."""
        try:
            is_taken = self._takes(revision)
        except StoreCorrupt:  # which is said where that vector is needed without a graph, too
            return None
        try:
            restored = self._restoring.restored() if is_taken and self._restoring else None
        except ImportError:  # FAISS is not installed: every vector is compared, exactly but slower
            return None
        if restored is None:
            return None
        self._indexes.begin_vectors(self._kept.dimension, restored, self._known)
        for rows, blobs in self._fresh:
            if rows:
                self._indexes.hold_vectors(rows, blobs)
        return restored.sealed

    def _takes(self, revision: int) -> bool:
        """Take every vector; False where one that stands since the snapshot is not the graph's kind."""
        for rows in self._reading.embeddings_since(revision):
            batch = list(
                {row[0]: row for row in rows}.values()
            )  # a damaged page may name one twice
            sequences, blobs, are_live, stood = zip(*batch, strict=True)
            is_alike = np.array(list(map(len, blobs))) == self._size
            if np.array(stood, np.bool_)[~is_alike].any():
                return False
            if is_alike.all():
                self._take(sequences, blobs, are_live, stood)
            elif is_alike.any():
                self._take(*zip(*compress(batch, is_alike.tolist()), strict=True))
        return True

    def _take(
        self,
        sequences: Sequence[int],
        blobs: Sequence[bytes],
        are_live: Sequence[int],
        stood: Sequence[int],
    ) -> None:
        if self._restoring is None:  # not before: the store has a vector of this width
            self._restoring = Restoring(self._kept)
        rows = self._lifecycle.rows_of_sequences(np.array(sequences, np.int64))
        is_live = np.array(are_live, np.bool_)
        is_placed = self._restoring.place(rows, decoded(blobs), is_live)
        found, their_blobs = _picked(is_placed & is_live, rows, blobs)
        self._known.append((found, vector_digests(their_blobs)))
        stood_so = np.array(stood, np.bool_) & (rows >= 0)
        self._fresh.append(_picked(stood_so & ~is_placed, rows, blobs))


def _picked(
    are_picked: npt.NDArray[np.bool_], rows: npt.NDArray[np.int64], blobs: Sequence[bytes]
) -> tuple[list[int], list[bytes]]:
    places = np.flatnonzero(are_picked)
    return rows[places].tolist(), [blobs[place] for place in places.tolist()]
