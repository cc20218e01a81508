"""The input of a draft: columns, texts, vectors and links of a store and its read model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from oneiros._lazy import np
from oneiros.conflicts.finding import conflicting
from oneiros.dream.changes import rows_of
from oneiros.filters import allowed_bits, set_of
from oneiros.index.texts import word_overlaps
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.cycles import APART

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.graph import Associations
    from oneiros.index import ReadModel
    from oneiros.index.texts import MemoryTexts
    from oneiros.store import Store, StoredMemory

    Column = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]

__all__ = ["DraftSource", "PersonWords"]


class PersonWords(NamedTuple):
    """Counts of each row's text, shape (n,) each."""

    words: npt.NDArray[np.uint32]
    first: npt.NDArray[np.uint32]
    """Words that speak of the speaker: "I", "my", "we" and the like (English)."""
    second: npt.NDArray[np.uint32]
    """Words to the listener: "you", "your" and the like (English)."""
    bytes: npt.NDArray[np.uint32]
    """UTF-8 bytes of the normalised text."""


_FIELDS = (
    *("title", "kind", "topic", "project", "session", "user", "agent", "namespace", "source"),
    *("tags", "labels", "metadata", "sessions", "superseded_by", "trust"),
)


class DraftSource:
    """The input of a draft over a store. Rows are row numbers of the process's columns.

    Args:
        store: read for fields that are not in columns.
        read_model: hold the store's state at the start of the cycle.
        associations: the links, already read; None if they are damaged.
        texts: returns the texts that the core holds; called when a phase first needs them.
    """

    def __init__(
        self,
        store: Store,
        read_model: ReadModel,
        associations: Associations | None,
        texts: Callable[[], MemoryTexts],
    ) -> None:
        self._store = store
        self._read_model = read_model
        self._lifecycle = read_model.lifecycle
        self._texts = texts
        self._lexical = read_model.indexes.lexical
        self._vectors = read_model.indexes.vectors
        self._associations = associations
        self._count = len(read_model.lifecycle.ids)
        self._live = np.array(read_model.row_sets.consulted(None).to_array(), np.uint32)
        self._live = self._live[self._live < self._count]

    def is_of(self, lifecycle: object) -> bool:
        """Whether the row numbers are those of these columns."""
        return self._lifecycle is lifecycle

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words of the codes of the column ``kind``; code 0 is ""."""
        return self._lifecycle.kinds

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row; "" for an erased memory."""
        return cast("Sequence[str]", self._lifecycle.ids)

    def row_of(self, id: str) -> int | None:
        """Return the row of an id; None if it is unknown or was added after the cycle began."""
        row = self._lifecycle.row_of.get(id)
        return row if row is not None and row < self._count else None

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a read-only view of a column; ``deleted_at`` of an erased memory is NaN."""
        return self._lifecycle.column(name)[: self._count]

    def live_rows(self) -> Rows:
        """Return the rows that are neither deleted nor quarantined, ascending."""
        return self._live

    def texts(self, rows: Rows) -> list[str]:
        """Return the original texts of rows; "" for a memory erased since the cycle began."""
        return ["" if memory is None else memory.text for memory in self._stored(rows)]

    def records(self, rows: Rows) -> list[Mapping[str, object]]:
        """Return the fields ``_FIELDS``, as in a memory; {} for a memory erased since."""
        return [
            {} if memory is None else {name: getattr(memory, name) for name in _FIELDS}
            for memory in self._stored(rows)
        ]

    def grouped(self, field: str) -> npt.NDArray[np.int64]:
        """Return a number for each row, equal where the field is equal; -1 for no value.

        Args:
            field: "topic" or another field of one word, but "kind".
        """
        return self.column(f"{field}_code").astype(np.int64) - 1

    def parted(self) -> npt.NDArray[np.int64]:
        """Return a number for each row, equal where no field of ``APART`` differs; from 0."""
        parts: npt.NDArray[np.int64] = np.zeros(self._count, np.int64)
        for field in APART:
            codes = self.grouped(field) + 1
            if codes.any():
                _, parts = np.unique(parts * (codes.max() + 1) + codes, return_inverse=True)
        return parts

    def overlaps(self, rows: Rows, among: Mask) -> npt.NDArray[np.float64]:
        """Return each row's largest word Jaccard with another row of its topic, 0 to 1.

        Words are those of docs/systems/omega.md O3; rows without a topic share one topic.

        Args:
            rows: the rows to compare.
            among: mask of the rows to compare with.
        """
        if not len(rows):  # else all texts would be read
            return np.zeros(0)
        return word_overlaps(self._texts().column, rows, among, self.grouped("topic"))

    def information(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return how much each row's words say: the sum of the idf of its distinct words (H15)."""
        return self._lexical.information_of(rows=rows)

    def person_words(self, rows: Rows) -> PersonWords:
        """Return how many words each row's text has, and how many of the first and second person."""
        if not len(rows):  # else all texts would be read
            return PersonWords(*(np.zeros(0, np.uint32) for _ in range(4)))
        return PersonWords(*self._texts().column.count_person_words(rows=rows))

    def vector_bytes(self) -> npt.NDArray[np.int64]:
        """Return the bytes of each row's vector; 0 without one."""
        found = np.zeros(self._count, np.int64)
        if self._vectors:
            rows = self._vectors.column.rows()
            found[rows[rows < self._count]] = 4 * self._vectors.column.dimension
        return found

    def vectors(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Return unit vectors, shape (n, dimension), with zeros for a row without one.

        The shape is (n, 0) if no row of the store has a vector.
        """
        if not self._vectors:
            return np.zeros((len(rows), 0), np.float32)
        return self._vectors.reconstruct(rows)

    def nearest(
        self, rows: Rows, count: int, among: Mask
    ) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
        """Return for each row the nearest other rows by cosine, the best first, with cosines.

        Args:
            rows: the rows to compare; one without a vector has no neighbours.
            count: maximum number of neighbours per row.
            among: mask of the rows that may be neighbours.
        """
        nothing = np.empty(0, np.uint32), np.empty(0)
        index = self._vectors
        candidates = rows_of(among)
        if not index or not len(rows) or not count or not len(candidates):
            return [nothing for _ in rows]
        allowed = None if among.all() else allowed_bits(set_of(candidates), self._count)
        vectors = index.reconstruct(rows)
        if index.has_graph:
            lists = [index.search(vector, count + 1, allowed) for vector in vectors]
        else:
            lists = index.search_many(vectors, count + 1, allowed)
        found = []
        for row, hits in zip(rows.tolist(), lists, strict=True):
            others = (hits.rows != row) & (hits.rows < self._count)
            found.append(
                (hits.rows[others][:count], hits.scores[others][:count].astype(np.float64))
            )
        return found

    def conflicting(
        self, rows: Rows, among: Mask, *, nearest: int, least_confidence: float
    ) -> dict[tuple[int, int], float]:
        """Return pairs of an older row and one of ``rows`` with the confidence that they conflict.

        Args:
            rows: the newer ones.
            among: mask of the rows to compare with, those of the same part as each.
            nearest: as for :func:`oneiros.conflicts.finding.conflicting`.
            least_confidence: likewise.
        """
        parts = self.parted()
        found: dict[tuple[int, int], float] = {}
        for part in np.unique(parts[rows]).tolist():
            found |= conflicting(
                self._read_model,
                rows[parts[rows] == part],
                rows_of(among & (parts == part)),
                self.texts,
                self._associations,
                nearest=nearest,
                least_confidence=least_confidence,
            )
        return found

    def link_weight(self, one: int, other: int) -> float | None:
        """Return the weight of two rows' link; None without one."""
        if self._associations is None:
            return None
        (link,) = self._associations.of_pairs([(one, other)])
        return None if link is None else link.weight

    def repeated(self) -> list[Rows]:
        """Return groups of rows with equal title, text and topic that may be merged.

        In order of insertion. Rows without a topic share one topic.
        """
        with self._store.read() as reading:
            groups = reading.cycles.repeated_texts()
        found = []
        for sequences in groups:
            known = self._lifecycle.rows_of_sequences(np.array(sequences, np.int64))
            rows = known[(known >= 0) & (known < self._count)].astype(np.uint32)
            if len(rows) > 1:
                found.append(rows)
        return found

    def linked(self, row: int) -> Rows:
        """Return the rows that a row is linked with."""
        others = () if self._associations is None else self._associations.linked(row)
        return np.array(sorted(others), np.uint32)

    def replayed_at(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the time of the last replay, seconds; NaN for none since the last change."""
        with self._store.read() as reading:
            replays = reading.cycles.replayed_at()
        times = np.full(self._count, np.nan)
        if replays:
            replayed = self._lifecycle.rows_of_sequences(np.array(list(replays), np.int64))
            is_known = (replayed >= 0) & (replayed < self._count)
            times[replayed[is_known]] = np.array(list(replays.values()), np.float64)[is_known]
        found = times[rows]
        found[found < self.column("updated_at")[rows]] = np.nan
        return found

    def _stored(self, rows: Rows) -> list[StoredMemory | None]:
        if not len(rows):
            return []
        ids = self._lifecycle.ids
        numbers = self._lifecycle.column("sequence")[rows].astype(np.int64).tolist()
        with self._store.read() as reading:
            return reading.load_stored([ids[row] for row in rows.tolist()], numbers)
