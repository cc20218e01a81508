"""What searches read, projected from the store: columns, lexical index, vectors, attributes.

Every change takes one road, whoever made it and when: the store's rows are read and applied here,
at open, after a write of our own and after another process's. Applying a row twice changes nothing.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pyroaring import BitMap

from oneiros import _core, analyzers
from oneiros.channels import RankedList
from oneiros.channels.lexical import LexicalSearch
from oneiros.channels.vector import VectorIndex
from oneiros.embedding import decoded
from oneiros.fields import ENUMS, FIELDS
from oneiros.scopes import AttributeIndex, Where, allowed_bits
from oneiros.store import StoredMemory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.channels.vector_upkeep import Kind
    from oneiros.ranking.selection import Selection

    Rows = npt.NDArray[np.uint32]
    Vector = npt.NDArray[np.float32]

__all__ = ["LexicalOptions", "Projections", "Visible"]

_ARCHIVED = ENUMS["status"].index("archived")
_NO_ROWS: Rows = np.empty(0, np.uint32)
_NO_HITS = RankedList(_NO_ROWS, np.empty(0, np.float64))
# Columns that hold a field under its own name; the others are codes made here.
_PLAIN_COLUMNS = tuple(
    (name, np.dtype(field.column))
    for name, field in FIELDS.items()
    if field.column is not None and name != "kind"
)
_CODED_COLUMNS = (
    ("kind", "kind", np.dtype(np.uint16)),
    ("topic", "topic_code", np.dtype(np.uint32)),
    ("project", "project_code", np.dtype(np.uint32)),
    ("session", "session_code", np.dtype(np.uint32)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalOptions:
    """What a lexical index is made with; the store records it."""

    analyzer: str = "english"
    variant: str = "lucene"
    k1: float = 1.2
    b: float = 0.75


class Visible(NamedTuple):
    """The rows that one search may return."""

    bits: npt.NDArray[np.uint8] | None
    """Packed bits; None: every row the indexes hold."""
    row_count: int


class _Attributes(NamedTuple):
    """What the attribute index was last told of a row."""

    id: str
    kind: str
    project: str | None
    session: str | None
    topic: str | None
    tags: Sequence[str]
    metadata: dict[str, object]


class _Codes:
    """Numbers for words, in order of appearance; 0 is "none"."""

    def __init__(self, limit: int) -> None:
        self._code_of: dict[str | None, int] = {None: 0}
        self._limit = limit

    def __call__(self, word: str | None) -> int:
        code = self._code_of.get(word)
        if code is None:
            code = len(self._code_of)
            if code > self._limit:
                msg = f"kind: at most {self._limit} distinct ones, got {word!r} beyond them"
                raise ValueError(msg)
            self._code_of[word] = code
        return code

    def words(self) -> list[str]:
        """The words by code; the word of 0 is empty."""
        return ["" if word is None else word for word in self._code_of]


class Projections:
    """One process's picture of the store. One writer at a time (the engine's lock); many readers.

    Args:
        options: how the lexical index is made.
        vector_index: "auto", "flat" or "hnsw".
    """

    def __init__(self, options: LexicalOptions, *, vector_index: Kind = "auto") -> None:
        self.columns = _core.Columns()
        self.lexical = _core.LexicalIndex(
            analyzer=analyzers.make(options.analyzer),
            variant=options.variant,
            k1=options.k1,
            b=options.b,
            delta=0.0,
        )
        self._words = LexicalSearch(self.lexical)
        self.vectors: VectorIndex | None = None
        self._vector_index = vector_index
        self.row_of: dict[str, int] = {}
        self.ids: list[str] = []
        self._attributes = AttributeIndex(self.row_of.get)
        self._attributes_of: dict[int, _Attributes] = {}
        self._sessions: dict[int, frozenset[str]] = {}
        self._hashes = array("q"), array("q")  # of the indexed text, of the embedding's bytes
        self._codes = {name: _Codes(np.iinfo(dtype).max) for name, _column, dtype in _CODED_COLUMNS}
        self._live = BitMap()
        self._archived = BitMap()
        self._superseded = BitMap()
        self._perishable = BitMap()  # rows with any bound on their validity

    # -- reading ---------------------------------------------------------------------------------

    @property
    def live_count(self) -> int:
        """Memories that are not deleted."""
        return len(self._live)

    def live_row(self, memory_id: str) -> int | None:
        """The row of a memory that is not deleted; None if there is none."""
        row = self.row_of.get(memory_id)
        return row if row is not None and row in self._live else None

    def matching(self, where: Where | None) -> BitMap:
        """The live rows that a filter matches, in a set of the caller's own."""
        if where is None:
            return BitMap(self._live)
        return self._attributes.compile(where, self._column) & self._live

    def kind_counts(self) -> dict[str, int]:
        """How many live memories there are of each kind, the most frequent first."""
        rows = np.array(self._live.to_array(), np.uint32)
        counts = np.bincount(self._column("kind")[rows])
        names = self._codes["kind"].words()
        found = {names[code]: int(counts[code]) for code in np.flatnonzero(counts)}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def problems(self, live_count: int) -> list[str]:
        """Return where the projections disagree with each other or with the store's count."""
        counts = {
            "columns": (len(self.columns), len(self.ids)),
            "attributes": (len(self._attributes), live_count),
            "lexical index": (self.lexical.document_count, live_count),
            "live memories": (len(self._live), live_count),
        }
        return [
            f"{name}: {found} rows, expected {wanted}"
            for name, (found, wanted) in counts.items()
            if found != wanted
        ]

    def sessions_of(self, row: int) -> frozenset[str]:
        """The sessions a memory was seen in."""
        return self._sessions.get(row, frozenset())

    def remember_session(self, row: int, session: str) -> int:
        """Add a session to a memory's set and return the size of the set."""
        sessions = self.sessions_of(row) | {session}
        self._sessions[row] = sessions
        return len(sessions)

    def visible(
        self, selection: Selection, where: Where | None, status: Sequence[str] | None, now: float
    ) -> Visible:
        """The rows that a recall may return. Source: docs/systems/fields.md, "Hidden from recall".

        Args:
            selection: what the profile hides.
            where: a further condition.
            status: these statuses and no other, archived ones too if named; None hides archived.
            now: seconds; what is expired is so then.
        """
        hidden = self._superseded if selection.hide_superseded else BitMap()
        if status is None:
            hidden = hidden | self._archived
        else:
            wanted = Where.from_json({"status": list(status)})
            where = wanted if where is None else where & wanted
        if selection.hide_expired and self._perishable:
            hidden = hidden | self._expired(now)
        if where is None and not hidden:
            return Visible(None, len(self._live))
        rows = self.matching(where) - hidden
        return Visible(allowed_bits(rows, len(self.ids)), len(rows))

    def by_words(self, query: str, depth: int, visible: Visible) -> RankedList:
        """The lexical channel: one crossing."""
        return self._words.search(query, depth, visible.bits)

    def by_words_many(
        self, queries: Sequence[str], depth: int, visible: Visible, threads: int
    ) -> list[RankedList]:
        """The lexical channel for a batch: one crossing."""
        return self._words.search_many(list(queries), depth, visible.bits, threads=threads)

    def by_vectors(
        self,
        vectors: Sequence[Vector | None],
        depth: int,
        visible: Visible,
        *,
        threads: int = 1,
    ) -> list[RankedList]:
        """The vector channel, one call for all vectors; an absent vector finds nothing."""
        found = [_NO_HITS] * len(vectors)
        present_vectors = [vector for vector in vectors if vector is not None]
        if self.vectors is None or not present_vectors:
            return found
        if len(vectors) == 1:
            return [self.vectors.search(present_vectors[0], depth, visible.bits)]
        lists = self.vectors.search_many(
            np.stack(present_vectors), depth, visible.bits, threads=threads
        )
        present = [place for place, vector in enumerate(vectors) if vector is not None]
        for place, hits in zip(present, lists, strict=True):
            found[place] = hits
        return found

    # -- writing ---------------------------------------------------------------------------------

    def apply_columns(self, batch: Sequence[StoredMemory]) -> None:
        """Bring the columns to what the store says; memories not seen before get a row."""
        rows = self._rows_for(batch)
        self.columns.write(rows=rows, values=self._values(batch))
        for row, memory in zip(rows.tolist(), batch, strict=True):
            self._sessions[row] = memory.sessions

    def apply_indexes(self, batch: Sequence[StoredMemory]) -> None:
        """Bring the indexes to what the store says. REQUIRES: apply_columns saw the batch."""
        rows = [self.row_of[memory.id] for memory in batch]
        gone = [memory.deleted_at is not None for memory in batch]
        self._apply_attributes(rows, batch, gone)
        self._apply_texts(rows, batch, gone)
        self._apply_vectors(rows, batch, gone)
        for row, memory, is_gone in zip(rows, batch, gone, strict=True):
            _keep(self._archived, row, memory.status == _ARCHIVED)
            _keep(self._superseded, row, memory.superseded_by is not None)
            _keep(self._perishable, row, _is_perishable(memory))
            _keep(self._live, row, not is_gone)

    def erase(self, memory_id: str) -> None:
        """Drop every trace of a memory; its row stays unused."""
        row = self.row_of.pop(memory_id, None)
        if row is None:
            return
        self._live.discard(row)
        self._drop(row)
        self.ids[row] = ""
        self._sessions.pop(row, None)
        self._hashes[0][row] = self._hashes[1][row] = 0

    def close(self) -> None:
        """Stop background work."""
        if self.vectors is not None:
            self.vectors.close()

    def _drop(self, row: int) -> None:
        old = self._attributes_of.pop(row, None)
        if old is not None:
            self._attributes.remove(row, old)
        self.lexical.delete(row=row)
        if self.vectors is not None:
            self.vectors.remove(np.array([row], np.uint32))

    def _rows_for(self, batch: Sequence[StoredMemory]) -> Rows:
        new = [memory.id for memory in batch if memory.id not in self.row_of]
        if new:
            first = self.columns.append(count=len(new))
            self.ids.extend(new)
            self.row_of.update(zip(new, range(first, first + len(new)), strict=True))
            for hashes in self._hashes:
                hashes.extend([0] * len(new))
        return np.fromiter((self.row_of[memory.id] for memory in batch), np.uint32, len(batch))

    def _values(self, batch: Sequence[StoredMemory]) -> dict[str, npt.NDArray[Any]]:
        held = dict(zip(StoredMemory._fields, zip(*batch, strict=True), strict=True))
        values = {name: np.array(held[name], dtype) for name, dtype in _PLAIN_COLUMNS}
        for name, column, dtype in _CODED_COLUMNS:
            values[column] = np.array([self._codes[name](word) for word in held[name]], dtype)
        values["superseded"] = np.array([by is not None for by in held["superseded_by"]], np.uint8)
        return values

    def _apply_attributes(
        self, rows: Sequence[int], batch: Sequence[StoredMemory], gone: Sequence[bool]
    ) -> None:
        fresh_rows, fresh = [], []
        for row, memory, is_gone in zip(rows, batch, gone, strict=True):
            old = self._attributes_of.get(row)
            if is_gone:
                if old is not None:
                    self._attributes.remove(row, self._attributes_of.pop(row))
                continue
            new = _Attributes(
                memory.id,
                memory.kind,
                memory.project,
                memory.session,
                memory.topic,
                memory.tags,
                memory.metadata,
            )
            if old is None:
                fresh_rows.append(row)
                fresh.append(new)
            elif old != new:
                self._attributes.replace(row, old, new)
            self._attributes_of[row] = new
        if fresh:
            columns = dict(zip(_Attributes._fields, zip(*fresh, strict=True), strict=True))
            columns["ids"] = columns.pop("id")
            self._attributes.add_many(fresh_rows, **columns)

    def _apply_texts(
        self, rows: Sequence[int], batch: Sequence[StoredMemory], gone: Sequence[bool]
    ) -> None:
        changed_rows, texts = [], []
        for row, memory, is_gone in zip(rows, batch, gone, strict=True):
            if is_gone:
                self.lexical.delete(row=row)
                self._hashes[0][row] = 0
                continue
            text = f"{memory.title}\n{memory.text}" if memory.title else memory.text
            if self._is_changed(0, row, text):
                changed_rows.append(row)
                texts.append(text)
        if texts:
            self.lexical.add_many(rows=np.array(changed_rows, np.uint32), texts=texts)

    def _apply_vectors(
        self, rows: Sequence[int], batch: Sequence[StoredMemory], gone: Sequence[bool]
    ) -> None:
        changed_rows, blobs, bare = [], [], []
        for row, memory, is_gone in zip(rows, batch, gone, strict=True):
            if is_gone or memory.embedding is None:
                bare.append(row)
                self._hashes[1][row] = 0
            elif self._is_changed(1, row, memory.embedding):
                changed_rows.append(row)
                blobs.append(memory.embedding)
        if bare and self.vectors is not None:
            self.vectors.remove(np.array(bare, np.uint32))
        if not blobs:
            return
        matrix = decoded(blobs)
        dimension = matrix.shape[1]
        if self.vectors is None or self.vectors.dimension != dimension:
            if self.vectors is not None:
                self.vectors.close()  # every vector was replaced by another embedder's
            self.vectors = VectorIndex(dimension, kind=self._vector_index)
        self.vectors.add(np.array(changed_rows, np.uint32), matrix)

    def _is_changed(self, which: int, row: int, value: str | bytes) -> bool:
        """Note a row's text or vector; False when it is the one already indexed."""
        digest = hash(value) or 1
        if self._hashes[which][row] == digest:
            return False
        self._hashes[which][row] = digest
        return True

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self.columns.view(name=name)

    def _expired(self, now: float) -> BitMap:
        """Rows outside their validity. Source: docs/systems/cognitive.md C7."""
        rows = np.array(self._perishable.to_array(), np.uint32)
        until, since = self._column("valid_until")[rows], self._column("valid_from")[rows]
        dies = self._column("created_at")[rows] + self._column("ttl")[rows]
        with np.errstate(invalid="ignore"):  # NaN: no bound, compares false
            is_out = (now > until) | (now > dies) | (since > now)
        return BitMap(rows[is_out])


def _keep(rows: BitMap, row: int, is_in: bool) -> None:
    if is_in:
        rows.add(row)
    else:
        rows.discard(row)


def _is_perishable(memory: StoredMemory) -> bool:
    bounds = (memory.valid_until, memory.valid_from, memory.ttl)
    return any(bound is not None and not math.isnan(bound) for bound in bounds)
