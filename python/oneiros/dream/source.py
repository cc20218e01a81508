"""What a draft reads that lies in no column, from a store and its read model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from oneiros._lazy import np
from oneiros.filters import allowed_bits, set_of
from oneiros.index.texts import word_overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.graph import Associations
    from oneiros.index import Projections
    from oneiros.index.texts import MemoryTexts
    from oneiros.store import Store, StoredMemory

__all__ = ["DraftSource", "StoredSource"]


if TYPE_CHECKING:
    Column = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]


class DraftSource(Protocol):
    """The store as a draft reads it. Rows are numbers of the process's columns."""

    def is_of(self, lifecycle: object) -> bool:
        """Whether its rows are those of these columns."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words for the codes of the column ``kind``; that of code 0 is empty."""

    @property
    def ids(self) -> Sequence[str]:
        """By row; "" where a memory was erased."""

    def row_of(self, id: str) -> int | None:
        """The row of an id; None where there is none."""

    def column(self, name: str) -> Column:
        """A read-only view of a column, one value a row; an erased one's ``deleted_at`` is NaN."""

    def live_rows(self) -> Rows:
        """The rows of memories that are not deleted, rising."""

    def texts(self, rows: Rows) -> list[str]:
        """The texts of rows as they were given."""

    def records(self, rows: Rows) -> list[Mapping[str, object]]:
        """What else the store holds of rows, as a memory holds it.

        That is title, topic, project, session, tags, metadata, sessions and superseded_by.
        """

    def grouped(self, field: str) -> npt.NDArray[np.int64]:
        """One number a row, the same where the field is; -1 where a row has none.

        Args:
            field: "topic", "project" or "session".
        """

    def overlaps(self, rows: Rows, among: Mask) -> npt.NDArray[np.float64]:
        """For each row the largest Jaccard of its words with another row's of its topic, 0 to 1.

        Words are those of docs/systems/omega.md O3; rows without a topic count as of one topic.

        Args:
            rows: those asked about.
            among: which rows they are compared with, one value a row.
        """

    def vectors(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (n, dimension); zeros where a row has none; (n, 0) where no row has."""

    def nearest(
        self, rows: Rows, count: int, among: Mask
    ) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
        """For each row the rows nearest by cosine, itself left out, the best first, with cosines.

        Args:
            rows: those asked about; one without a vector has none.
            count: most a row.
            among: which rows may be named, one value a row.
        """

    def repeated(self) -> list[Rows]:
        """Groups of live rows with one text in one topic and project, each in order of insertion.

        Rows without a topic count as of one topic, those without a project as of one project.
        """

    def linked(self, row: int) -> Rows:
        """The rows that a row is linked with."""

    def replayed_at(self, rows: Rows) -> npt.NDArray[np.float64]:
        """When rows were last replayed, seconds; NaN where never, or before they last changed."""


_FIELDS = (
    *("title", "kind", "topic", "project", "session"),
    *("tags", "metadata", "sessions", "superseded_by"),
)


class StoredSource:
    """The memories of a store. See :class:`oneiros.dream.draft.Source`.

    Args:
        store: for what lies in no column.
        projections: hold what the store held when the cycle began.
        associations: the links, which have been read; None where they are damaged.
        texts: returns the texts that the core holds; asked when the first phase wants them.
    """

    def __init__(
        self,
        store: Store,
        projections: Projections,
        associations: Associations | None,
        texts: Callable[[], MemoryTexts],
    ) -> None:
        self._store = store
        self._lifecycle = projections.lifecycle
        self._texts = texts
        self._vectors = projections.indexes.vectors
        self._associations = associations
        self._count = len(projections.lifecycle.ids)
        self._live = np.array(projections.row_sets.live.to_array(), np.uint32)
        self._live = self._live[self._live < self._count]

    def is_of(self, lifecycle: object) -> bool:
        """Whether its rows are those of these columns."""
        return self._lifecycle is lifecycle

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words for the codes of the column ``kind``; that of code 0 is empty."""
        return self._lifecycle.kinds

    @property
    def ids(self) -> Sequence[str]:
        """By row; "" where a memory was erased."""
        return cast("Sequence[str]", self._lifecycle.ids)

    def row_of(self, id: str) -> int | None:
        """The row of an id; None where there is none, or it came later."""
        row = self._lifecycle.row_of.get(id)
        return row if row is not None and row < self._count else None

    def column(self, name: str) -> npt.NDArray[Any]:
        """A read-only view of a column, one value a row."""
        return self._lifecycle.column(name)[: self._count]

    def live_rows(self) -> Rows:
        """The rows of memories that are not deleted, rising."""
        return self._live

    def texts(self, rows: Rows) -> list[str]:
        """The texts of rows as they were given; of one erased meanwhile, an empty one."""
        return ["" if held is None else held.text for held in self._stored(rows)]

    def records(self, rows: Rows) -> list[Mapping[str, object]]:
        """What else the store holds of rows; of one erased meanwhile, nothing."""
        return [
            {} if held is None else {name: getattr(held, name) for name in _FIELDS}
            for held in self._stored(rows)
        ]

    def grouped(self, field: str) -> npt.NDArray[np.int64]:
        """One number a row, the same where a topic, project or session is; -1 for none."""
        return self.column(f"{field}_code").astype(np.int64) - 1

    def overlaps(self, rows: Rows, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """For each row the largest Jaccard of its words with another row's of its topic, 0 to 1."""
        return word_overlaps(self._texts().column, rows, among, self.grouped("topic"))

    def vectors(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (n, dimension); zeros where a row has none; (n, 0) where no row has."""
        if not self._vectors:
            return np.zeros((len(rows), 0), np.float32)
        return self._vectors.reconstruct(rows)

    def nearest(
        self, rows: Rows, count: int, among: npt.NDArray[np.bool_]
    ) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
        """For each row the rows nearest by cosine, itself left out, the best first, with cosines."""
        nothing = np.empty(0, np.uint32), np.empty(0)
        index = self._vectors
        named = np.flatnonzero(among).astype(np.uint32)
        if not index or not len(rows) or not count or not len(named):
            return [nothing for _ in rows]
        allowed = None if among.all() else allowed_bits(set_of(named), self._count)
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

    def repeated(self) -> list[Rows]:
        """Groups of live rows with one text in one topic and project, each in order of insertion."""
        with self._store.read() as reading:
            groups = reading.cycles.repeated_texts()
        found = []
        for sequences in groups:
            rows = self._rows_of(sequences)
            if len(rows) > 1:
                found.append(rows)
        return found

    def linked(self, row: int) -> Rows:
        """The rows that a row is linked with."""
        others = () if self._associations is None else self._associations.linked(row)
        return np.array(sorted(others), np.uint32)

    def replayed_at(self, rows: Rows) -> npt.NDArray[np.float64]:
        """When rows were last replayed, seconds; NaN where never, or before they last changed."""
        with self._store.read() as reading:
            held = reading.cycles.replayed_at()
        every = np.full(self._count, np.nan)
        if held:
            own = self._lifecycle.rows_of_sequences(np.array(list(held), np.int64))
            is_here = (own >= 0) & (own < self._count)
            every[own[is_here]] = np.array(list(held.values()), np.float64)[is_here]
        found = every[rows]
        found[found < self.column("updated_at")[rows]] = np.nan
        return found

    def _rows_of(self, sequences: Sequence[int]) -> Rows:
        """The rows of memories, in their order, without those that are not known."""
        rows = self._lifecycle.rows_of_sequences(np.array(sequences, np.int64))
        return rows[(rows >= 0) & (rows < self._count)].astype(np.uint32)

    def _stored(self, rows: Rows) -> list[StoredMemory | None]:
        ids = self._lifecycle.ids
        numbers = self._lifecycle.column("sequence")[rows].astype(np.int64).tolist()
        with self._store.read() as reading:
            return reading.load_stored([ids[row] for row in rows.tolist()], numbers)
