"""The lexical index and the vector index of the read model."""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING, Final

from oneiros import _core, vector_index
from oneiros._lazy import np
from oneiros.index.columns import is_given, is_missing
from oneiros.lexical.options import FIELD_WEIGHTS, PUBLISHED_DELTA, MadeWith
from oneiros.runtime.dataclasses import dataclass
from oneiros.runtime.locks import fork_safe_lock
from oneiros.store.columns import StoredColumns
from oneiros.store.rows import decoded_embeddings, encoded_embedding
from oneiros.vector_index import DEFAULT_RECALL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from oneiros.filters import Bits
    from oneiros.store import StoredMemory
    from oneiros.store.columns import StoredBatch
    from oneiros.vector_index import Kind
    from oneiros.vector_index.index import VectorIndex

__all__ = ["AnalysisAhead", "Indexes", "LexicalOptions"]

_MOST_CHARACTERS: Final = 2**26


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalOptions:
    """The options of a lexical index, recorded in the store."""

    analyzer: str = "english"
    variant: str = "lucene"
    k1: float = 1.2
    b: float = 0.75
    half_length: float = 0.0
    title_weight: float = FIELD_WEIGHTS["title_weight"]
    tags_weight: float = FIELD_WEIGHTS["tags_weight"]
    title_length: float = FIELD_WEIGHTS["title_length"]


def _text_digest(memory: StoredMemory) -> int:
    """Return a digest of the indexed fields of a memory, valid in this process; never 0."""
    return hash((memory.text, memory.title, memory.tags_json)) or 1


_TEXT_FIELDS: Final = ("text", "title", "tags_json")


def _lexical_fields(
    memories: StoredColumns,
) -> tuple[list[str], list[str] | None, list[str] | None]:
    """Return texts, titles and tags for the lexical index; None: no memory has a title, or tags."""
    titles = None if memories.is_all("title", "") else list(memories["title"])
    tags = None
    if not memories.is_all("tags_json", None):
        tags = ["\n".join(many or ()) for many in memories.parsed("tags")]
    return list(memories["text"]), titles, tags


class AnalysisAhead:
    """Analyzes the texts of new memories on another thread, in batches of ``size``.

    An analyzed text is not searchable before it is added. A write that is rolled back leaves only
    words in the vocabulary.
    """

    def __init__(self, lexical: _core.LexicalIndex, memories: StoredColumns, size: int) -> None:
        self._lexical = lexical
        self._waiting: dict[str, StoredColumns] = {}  # by the first id of a batch
        self._analyzed: dict[str, tuple[StoredColumns, _core.AnalyzedTexts]] = {}
        self._analyzing = threading.Lock()  # held while a batch is analyzed
        characters = 0
        for part in memories.parts(size):
            characters += sum(map(len, part["text"]))
            if characters > _MOST_CHARACTERS:
                break  # to bound memory; the rest is analyzed when it is added
            self._waiting[part["id"][0]] = part
        self._thread = threading.Thread(target=self._run, name="oneiros-analysis", daemon=True)
        self._thread.start()

    def take(self, memories: StoredColumns) -> _core.AnalyzedTexts | None:
        """Return the analyzed texts of a batch; None: analyze them now."""
        first = memories["id"][0]
        with self._analyzing:
            self._waiting.pop(first, None)
            part, analyzed = self._analyzed.pop(first, (None, None))
        return analyzed if part is not None and _are_same(part, memories) else None

    def end(self) -> None:
        """Stop after the batch that is being analyzed."""
        with self._analyzing:
            self._waiting.clear()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._analyzing:
                if not self._waiting:
                    return
                first = next(iter(self._waiting))
                part = self._waiting.pop(first)
                try:
                    texts, titles, tags = _lexical_fields(part)
                    analyzed = self._lexical.analyze_many(texts=texts, titles=titles, tags=tags)
                except Exception:  # noqa: BLE001 - raised again when they are added
                    return
                self._analyzed[first] = part, analyzed


def _are_same(part: StoredColumns, memories: StoredColumns) -> bool:
    """Return whether the stored memories are the analyzed ones; a write may have changed them."""
    return len(part) == len(memories) and all(
        list(part[name]) == list(memories[name]) for name in ("id", "text", "title", "tags_json")
    )


class Indexes:
    """Texts by their words and by their vectors."""

    def __init__(
        self, options: LexicalOptions, vector_index: Kind, vector_recall: float = DEFAULT_RECALL
    ) -> None:
        self.made_with = MadeWith(
            analyzer=options.analyzer,
            variant=options.variant,
            k1=options.k1,
            b=options.b,
            delta=PUBLISHED_DELTA.get(options.variant, 0.0),
            half_length=options.half_length,
            title_weight=options.title_weight,
            tags_weight=options.tags_weight,
            title_length=options.title_length,
        )
        self.lexical = self.made_with.new_index()
        self.has_erased = False
        """Whether a memory was forgotten whose words the lexical index may still hold."""
        self._lock = fork_safe_lock()
        self._vectors: VectorIndex | None = None
        # Loads the vectors; None: they are loaded, or there are none.
        self._load_vectors: Callable[[], VectorIndex | None] | None = None
        # The new vectors while all are being replaced; searches still use the old ones.
        self._new_vectors: VectorIndex | None = None
        self._is_replacing = False
        self.analysis_ahead: AnalysisAhead | None = None
        """Texts analyzed before they are stored; set by the writing thread."""
        self.vector_index = vector_index
        self.vector_recall = vector_recall
        # By row: a text or vector is indexed again only if its digest differs.
        self._text_digests = array("q")
        self._vector_digests = array("q")

    @property
    def vectors(self) -> VectorIndex | None:
        """The vectors, or None. Those of a snapshot are loaded on first use."""
        load = self._load_vectors
        if load is None:
            return self._vectors
        vectors = load()  # without the lock, since load takes other locks
        with self._lock:
            is_first = self._load_vectors is load
            if is_first:
                self._vectors, self._load_vectors = vectors, None
        if is_first:
            return vectors
        if vectors is not None:  # another thread was first, and its vectors are used
            vectors.close()
        return self.vectors

    @property
    def _loaded_vectors(self) -> VectorIndex | None:
        """The vectors; None if there are none, or those of a snapshot are not loaded yet."""
        return self._vectors if self._load_vectors is None else None

    @property
    def has_new_graph(self) -> bool:
        """Whether there is a graph worth saving that the snapshot lacks."""
        vectors = self._loaded_vectors
        return vectors is not None and vectors.has_new_graph

    @property
    def has_first_graph(self) -> bool:
        """Whether there is a graph, and the snapshot has none."""
        vectors = self._loaded_vectors
        return vectors is not None and vectors.has_first_graph

    @property
    def is_building_graph(self) -> bool:
        """Whether a graph of the vectors is being read or built."""
        vectors = self._loaded_vectors
        return vectors is not None and vectors.is_building

    def load_vectors_by(self, load: Callable[[], VectorIndex | None]) -> None:
        """Use the vectors that ``load`` returns, on first use. REQUIRES: there are none yet."""
        self._load_vectors = load

    def take_over(self, lexical: _core.LexicalIndex) -> None:
        """Use the lexical index of a snapshot. REQUIRES: nothing was applied."""
        self.lexical = lexical

    def permitted(
        self,
        query: str,
        allowed: Bits | None,
        syntax: str,
        statistics: _core.QueryStatistics | None,
    ) -> Bits | None:
        """Return the allowed rows without those that the signs of the query forbid.

        Prefixes also find the terms that ``statistics`` lists, if they are given.
        """
        if syntax == "plain":
            return allowed
        bits = self.lexical.permitted(
            query=query, allowed=allowed, syntax=syntax, statistics=statistics
        )
        return allowed if bits is None else bits

    def begin_replacement(self) -> None:
        """Collect the vectors of a new embedder separately from the old ones.

        Searches use the old ones until :meth:`end_replacement`. A second call changes nothing.
        """
        if not self._is_replacing:
            self._vector_digests = array("q", [0]) * len(self._vector_digests)
            self._is_replacing = True

    def end_replacement(self) -> VectorIndex | None:
        """Replace all vectors with those applied since :meth:`begin_replacement`.

        Returns:
            The former vectors, to be closed by the caller; None if none were loaded.
        """
        with self._lock:
            former, self._vectors = self._vectors, self._new_vectors
            self._load_vectors = None
        self._new_vectors, self._is_replacing = None, False
        return former

    def apply(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Bring the indexes into line with the store."""
        count = max(rows) + 1
        for digests in (self._text_digests, self._vector_digests):
            digests.extend([0] * (count - len(digests)))
        self.apply_texts(rows, memories)
        self._apply_vectors(rows, memories)

    def delete(self, rows: npt.NDArray[np.uint32]) -> None:
        """Remove rows from the indexes."""
        numbers = rows.tolist()
        for digests in (self._text_digests, self._vector_digests):
            digests.extend([0] * (max(numbers) + 1 - len(digests)))
            for row in numbers:
                digests[row] = 0
        for row in numbers:
            self.lexical.delete(row=row)
        self._remove_vectors(rows)

    def erase(self, rows: npt.NDArray[np.uint32]) -> None:
        """Drop rows from the indexes."""
        self.has_erased = True
        self.delete(rows)

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
        """Return for each memory whether the lexical index has it, and not with another text.

        The digests of a snapshot's rows are unknown, so their texts are not compared.
        """
        are_held = []
        for row, memory in zip(rows, batch, strict=True):
            known = self._text_digests[row] if row < len(self._text_digests) else 0
            is_same = known in (0, _text_digest(memory))
            are_held.append(self.lexical.contains(row=row) and is_same)
        return are_held

    def hold_vectors_of(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> list[bool]:
        """Return for each memory whether the vector index has its vector, and not another one."""
        if self.vectors is None:
            return [False] * len(rows)
        vectors = self.vectors.reconstruct(np.array(rows, np.uint32))
        present = np.asarray(vectors.any(axis=1)).tolist()
        are_held = []
        for row, memory, is_present in zip(rows, batch, present, strict=True):
            known = self._vector_digests[row] if row < len(self._vector_digests) else 0
            blob = memory.embedding
            are_held.append(is_present and (blob is None or known in (0, hash(blob) or 1)))
        return are_held

    # A digest is set only while the index surely holds its text or vector, so that the next follow
    # repeats what an interrupt or an error cut off.

    def apply_texts(self, rows: Sequence[int], batch: StoredBatch) -> None:
        """Bring the lexical index alone into line with the store."""
        memories = StoredColumns.of(batch)
        known = self._text_digests
        live: Sequence[int] = range(len(rows))
        if not memories.is_all("deleted_at", None):
            for place in memories.places("deleted_at", is_given):
                known[rows[place]] = 0
                self.lexical.delete(row=rows[place])
            live = memories.places("deleted_at", is_missing)
        fields = zip(*map(memories.__getitem__, _TEXT_FIELDS), strict=True)
        digests = [digest or 1 for digest in map(hash, fields)]
        changed = [place for place in live if known[rows[place]] != digests[place]]
        if not changed:
            return
        new_rows = [rows[place] for place in changed]
        for row in new_rows:
            known[row] = 0
        picked = memories.at(changed)
        analyzed = self.analysis_ahead.take(picked) if self.analysis_ahead is not None else None
        if analyzed is not None:
            self.lexical.add_analyzed(rows=new_rows, texts=analyzed)
        else:
            texts, titles, tags = _lexical_fields(picked)
            self.lexical.add_many(rows=new_rows, texts=texts, titles=titles, tags=tags)
        for row, place in zip(new_rows, changed, strict=True):
            known[row] = digests[place]

    def _apply_vectors(self, rows: Sequence[int], memories: StoredColumns) -> None:
        if self.vectors is None and memories.is_all("embedding", None):
            return  # there are no vectors, and no digests
        known = self._vector_digests
        changed: dict[int, int] = {}
        blobs: list[bytes] = []
        bare: list[int] = []
        unknown = self._of_snapshot([row for row in rows if known[row] == 0])
        pairs = zip(rows, memories["embedding"], memories["deleted_at"], strict=True)
        for row, blob, deleted_at in pairs:
            if deleted_at is not None or blob is None:
                known[row] = 0
                bare.append(row)
                continue
            digest = hash(blob) or 1
            if row in unknown and self._holds(row, blob):
                known[row] = digest
            elif known[row] != digest:
                changed[row] = digest
                blobs.append(blob)
        for row in changed:
            known[row] = 0
        if bare:
            self._remove_vectors(np.array(bare, np.uint32))
        if blobs:
            matrix = decoded_embeddings(blobs)
            self._vectors_of(matrix.shape[1]).add(np.array(list(changed), np.uint32), matrix)
        for row, digest in changed.items():  # _vectors_of may have replaced the array
            self._vector_digests[row] = digest

    def _of_snapshot(self, rows: Sequence[int]) -> set[int]:
        """Return the rows that have a vector; for a snapshot, the digests are unknown."""
        vectors = None if self._is_replacing else self.vectors
        if vectors is None or not rows:
            return set()
        places = np.flatnonzero(vectors.column.has(rows=rows)).tolist()
        return {rows[place] for place in places}

    def _holds(self, row: int, blob: bytes) -> bool:
        """Return whether a row that has a vector has this one."""
        vectors = self.vectors
        assert vectors is not None
        (vector,) = vectors.reconstruct(np.array([row], np.uint32))
        return encoded_embedding(vector) == blob

    def _vectors_of(self, dimension: int) -> VectorIndex:
        index = self._new_vectors if self._is_replacing else self.vectors
        if index is None or index.dimension != dimension:
            if index is not None:  # another embedder's vectors replaced all
                index.close()
                self._vector_digests = array("q", [0]) * len(self._vector_digests)
            index = vector_index.index.VectorIndex(
                dimension, kind=self.vector_index, recall=self.vector_recall
            )
            if self._is_replacing:
                self._new_vectors = index
            else:
                self._vectors = index
        return index
