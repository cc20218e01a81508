"""The lexical index and the vectors, and the channels that search them."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.dataclasses_on_use import dataclass
from oneiros.fork_safe_lock import fork_safe_lock
from oneiros.lexical_file import FIELD_WEIGHTS, PUBLISHED_DELTA, MadeWith
from oneiros.numpy_on_use import np
from oneiros.store.embedding_bytes import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from oneiros.channels import Bits, Kind
    from oneiros.channels.vector import VectorIndex
    from oneiros.store import StoredMemory

__all__ = ["Indexes", "LexicalOptions", "vector_digests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalOptions:
    """What a lexical index is made with; the store records it."""

    analyzer: str = "english"
    variant: str = "lucene"
    k1: float = 1.2
    b: float = 0.75
    title_weight: float = FIELD_WEIGHTS["title_weight"]
    tags_weight: float = FIELD_WEIGHTS["tags_weight"]


def _text_digest(memory: StoredMemory) -> int:
    """Return what tells what is indexed of a memory from others, in this process; never 0."""
    return hash((memory.text, memory.title, memory.tags_json)) or 1


def vector_digests(blobs: Iterable[bytes]) -> array[int]:
    """Return what tells encoded vectors from others, in this process; never 0."""
    return array("q", [hash(blob) or 1 for blob in blobs])


class Indexes:
    """Texts by their words and by their vectors.

    Args:
        options: how the lexical index is made.
        vector_index: "auto", "flat" or "hnsw".
    """

    def __init__(self, options: LexicalOptions, vector_index: Kind) -> None:
        self.made_with = MadeWith(
            analyzer=options.analyzer,
            variant=options.variant,
            k1=options.k1,
            b=options.b,
            delta=PUBLISHED_DELTA.get(options.variant, 0.0),
            title_weight=options.title_weight,
            tags_weight=options.tags_weight,
        )
        self.lexical = self.made_with.new_index()
        self.has_erased = False
        """Something was forgotten, of which the lexical index may still hold words."""
        self._lock = fork_safe_lock()
        self._vectors: VectorIndex | None = None
        # Makes them; None: they are there, or none are.
        self._load_vectors: Callable[[], VectorIndex | None] | None = None
        # The new vectors while all are being replaced; searches still use the old ones.
        self._new_vectors: VectorIndex | None = None
        self._is_replacing = False
        self.vector_index = vector_index
        # By row: a text or vector is indexed anew only when it is another one.
        self._text_digests = array("q")
        self._vector_digests = array("q")

    @property
    def vectors(self) -> VectorIndex | None:
        """The vectors; None: there are none. Those of a snapshot are loaded when they are first needed."""
        load = self._load_vectors
        if load is None:
            return self._vectors
        vectors = load()  # under no lock: it takes some of its own
        with self._lock:
            is_first = self._load_vectors is load
            if is_first:
                self._vectors, self._load_vectors = vectors, None
        if is_first:
            return vectors
        if vectors is not None:  # another thread's are used
            vectors.close()
        return self.vectors

    @property
    def has_new_graph(self) -> bool:
        """There is a graph that is worth keeping, and that the snapshot does not have."""
        is_loaded = self._load_vectors is None and self._vectors is not None
        return is_loaded and self._vectors is not None and self._vectors.has_new_graph

    def load_vectors_by(self, load: Callable[[], VectorIndex | None]) -> None:
        """Hold the vectors that ``load`` returns, once they are needed. REQUIRES: none are held."""
        self._load_vectors = load

    def take_over(self, lexical: _core.LexicalIndex) -> None:
        """Search the lexical index of a snapshot. REQUIRES: nothing was applied."""
        self.lexical = lexical

    def permitted(self, query: str, allowed: Bits | None, syntax: str) -> Bits | None:
        """The allowed rows, without those that the query's signs forbid."""
        if syntax == "plain":
            return allowed
        bits = self.lexical.permitted(query=query, allowed=allowed, syntax=syntax)
        return allowed if bits is None else bits

    def begin_replacement(self) -> None:
        """Collect the vectors of a new embedder apart from the old ones.

        Searches use the old ones until :meth:`end_replacement`. A second call changes nothing.
        """
        if not self._is_replacing:
            self._vector_digests = array("q", [0]) * len(self._vector_digests)
            self._is_replacing = True

    def end_replacement(self) -> None:
        """Replace all vectors by those applied since :meth:`begin_replacement`."""
        with self._lock:
            old, self._vectors = self._vectors, self._new_vectors
            self._load_vectors = None
        self._new_vectors, self._is_replacing = None, False
        if old is not None:
            old.close()

    def apply(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        """Bring the indexes to what the store says."""
        for digests in (self._text_digests, self._vector_digests):
            digests.extend([0] * (max(rows) + 1 - len(digests)))
        self.apply_texts(rows, batch)
        self._apply_vectors(rows, batch)

    def delete(self, rows: npt.NDArray[np.uint32]) -> None:
        """Take rows out of the indexes."""
        numbers = rows.tolist()
        for digests in (self._text_digests, self._vector_digests):
            digests.extend([0] * (max(numbers) + 1 - len(digests)))
            for row in numbers:
                digests[row] = 0
        for row in numbers:
            self.lexical.delete(row=row)
        self._remove_vectors(rows)

    def erase(self, row: int) -> None:
        """Drop a row from the indexes."""
        for digests in (self._text_digests, self._vector_digests):
            if row < len(digests):
                digests[row] = 0
        self.lexical.delete(row=row)
        self.has_erased = True
        self._remove_vectors(np.array([row], np.uint32))

    def _remove_vectors(self, rows: npt.NDArray[np.uint32]) -> None:
        for index in (self.vectors, self._new_vectors):
            if index is not None:
                index.remove(rows)

    def close(self) -> None:
        """Stop background work."""
        for index in (self._vectors, self._new_vectors):
            if index is not None:
                index.close()

    def hold_texts(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> list[bool]:
        """Return of each memory whether the lexical index has it, and not with another text.

        Of a snapshot's rows it is not known with which text.
        """
        held = []
        for row, memory in zip(rows, batch, strict=True):
            known = self._text_digests[row] if row < len(self._text_digests) else 0
            is_same = known in (0, _text_digest(memory))
            held.append(self.lexical.contains(row=row) and is_same)
        return held

    def hold_vectors_of(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> list[bool]:
        """Return of each memory whether the vector index has a vector, and not another one."""
        if self.vectors is None:
            return [False] * len(rows)
        vectors = self.vectors.reconstruct(np.array(rows, np.uint32))
        present = np.asarray(vectors.any(axis=1)).tolist()
        held = []
        for row, memory, is_there in zip(rows, batch, present, strict=True):
            known = self._vector_digests[row] if row < len(self._vector_digests) else 0
            blob = memory.embedding
            held.append(is_there and (blob is None or known in (0, *vector_digests([blob]))))
        return held

    # A digest stands only while the index is known to hold what it stands for: what an interrupt or
    # an error cuts off is done again by the next follow.

    def apply_texts(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        """Bring the lexical index alone to what the store says."""
        changed: dict[int, int] = {}
        texts: list[str] = []
        titles: list[str] = []
        tags: list[str] = []  # a memory's, one a line
        for row, memory in zip(rows, batch, strict=True):
            if memory.deleted_at is not None:
                self._text_digests[row] = 0
                self.lexical.delete(row=row)
                continue
            digest = _text_digest(memory)
            if self._text_digests[row] != digest:
                changed[row] = digest
                texts.append(memory.text)
                titles.append(memory.title)
                tags.append("\n".join(memory.tags) if memory.tags_json else "")
        for row in changed:
            self._text_digests[row] = 0
        if texts:
            self.lexical.add_many(
                rows=list(changed),
                texts=texts,
                titles=titles if any(titles) else None,
                tags=tags if any(tags) else None,
            )
        for row, digest in changed.items():
            self._text_digests[row] = digest

    def _apply_vectors(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        if self.vectors is None and not any(memory.embedding for memory in batch):
            return  # there is no vector, and no digest of one
        changed, blobs, bare = {}, [], []
        for row, memory in zip(rows, batch, strict=True):
            if memory.deleted_at is not None or memory.embedding is None:
                self._vector_digests[row] = 0
                bare.append(row)
                continue
            (digest,) = vector_digests([memory.embedding])
            if self._vector_digests[row] == 0 and self._holds(row, memory.embedding):
                self._vector_digests[row] = digest
            elif self._vector_digests[row] != digest:
                changed[row] = digest
                blobs.append(memory.embedding)
        for row in changed:
            self._vector_digests[row] = 0
        if bare:
            self._remove_vectors(np.array(bare, np.uint32))
        if blobs:
            matrix = decoded(blobs)
            self._vectors_of(matrix.shape[1]).add(np.array(list(changed), np.uint32), matrix)
        for row, digest in changed.items():
            self._vector_digests[row] = digest

    def _holds(self, row: int, blob: bytes) -> bool:
        """Whether a row has this vector: of a snapshot's rows no digest is known."""
        vectors = None if self._is_replacing else self.vectors
        if vectors is None or not vectors.column.has(rows=[row])[0]:
            return False
        (held,) = vectors.reconstruct(np.array([row], np.uint32))
        return encoded(held) == blob

    def _vectors_of(self, dimension: int) -> VectorIndex:
        index = self._new_vectors if self._is_replacing else self.vectors
        if index is None or index.dimension != dimension:
            if index is not None:  # every vector was replaced by another embedder's
                index.close()
                self._vector_digests = array("q", [0]) * len(self._vector_digests)
            from oneiros.channels.vector import VectorIndex  # noqa: PLC0415 - not for words alone

            index = VectorIndex(dimension, kind=self.vector_index)
            if self._is_replacing:
                self._new_vectors = index
            else:
                self._vectors = index
        return index
