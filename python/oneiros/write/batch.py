"""Checks a batch of records: keeps one record per id, and collects failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import needed
from oneiros.errors import DuplicateId
from oneiros.model.fields import COLUMN_DEFAULTS
from oneiros.model.memory import checked_columns, repeatable
from oneiros.model.validation import is_scalar_array, unit_rows
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.store.columns import StoredColumns
from oneiros.store.rows import (
    DEFAULT_CELLS,
    cell_columns,
    cells_of,
    encoded_cells,
    encoded_embedding,
    joined_cells,
)
from oneiros.write.rules import brings_count
from oneiros.write.tables import rows_of_table

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.search.near_duplicates import NearDuplicate
    from oneiros.write.rules import AddRules
    from oneiros.write.vectors import MadeVectors, TextVectors

__all__ = [
    "AddBatch",
    "AddReport",
    "Entry",
    "OnFirstLook",
    "RecordColumns",
    "columns_of",
    "joined",
    "record_columns",
    "records_of",
]


def records_of(source: object, *, progress: bool) -> Iterator[Mapping[str, object] | Memory]:
    """Yield the records of a batch.

    Args:
        source: an iterable of dicts or ``Memory``, or an object with Arrow's stream interface
            (pyarrow tables, polars and pandas frames; needs the extra ``oneiros[arrow]``).
        progress: show a bar on the terminal's error stream (needs ``oneiros[cli]``).

    Raises:
        TypeError: the source is neither.
        ValueError: a table has two columns of one name, or a value that Python lacks.
        ImportError: the source is a table and pyarrow is not installed, or ``progress`` is True and
            rich is not.
    """
    records = _iterable(source)
    if not progress:
        return iter(records)
    console = needed("rich.console", "cli").Console(stderr=True)
    total = len(records) if isinstance(records, Sized) else None
    return iter(
        needed("rich.progress", "cli").track(records, "reading", total=total, console=console)
    )


def _iterable(source: Any) -> Iterable[Mapping[str, object] | Memory]:
    if hasattr(source, "__arrow_c_stream__"):
        return rows_of_table(source)
    is_scalar = isinstance(source, str | bytes | Mapping) or is_scalar_array(source)
    if is_scalar or not isinstance(source, Iterable):
        msg = f"records: expected an iterable of dicts or a table, got {type(source).__name__}"
        raise TypeError(msg)
    return source


class RecordColumns(StoredColumns):
    """New memories as table cells, by column.

    Args:
        varying: field to one cell per record: see ``store.rows.cell_columns``; ``embedding`` has the
            encoded vectors.
        shared: field to the cell of all records; fields in neither have their defaults.
        width: components of the vectors; 0: there are none.
        bringing_counts: for each record, whether it is not counted as a repeat; see
            ``rules.brings_count``.
    """

    __slots__ = ("bringing_counts", "width")

    def __init__(
        self,
        varying: Mapping[str, Sequence[Any]],
        shared: Mapping[str, Any],
        width: int,
        bringing_counts: Sequence[bool],
    ) -> None:
        super().__init__(len(varying["id"]), varying, shared, DEFAULT_CELLS)
        self.width = width
        self.bringing_counts = bringing_counts


def record_columns(
    records: Sequence[object], rules: AddRules, require_width: Callable[[int], None]
) -> RecordColumns | None:
    """Return records by column, or None if they must be checked one by one.

    Args:
        records: at least one.
        rules: of the call.
        require_width: raises ValueError if vectors of a width do not fit the store's.
    """
    if set(map(type, records)) != {dict}:
        return None
    rows: Sequence[dict[str, Any]] = records  # type: ignore[assignment]
    blobs: list[bytes] = []
    width = 0
    if any("embedding" in row for row in rows):
        vectors = [row.get("embedding") for row in rows]
        if any(vector is None for vector in vectors):
            return None
        try:
            matrix = unit_rows(vectors)
            if matrix is None:
                return None
            width = matrix.shape[1]
            require_width(width)
        except (TypeError, ValueError):
            return None
        blobs = _core.encode_embeddings(matrix=matrix)
    values = checked_columns(rows, now=rules.now, without=_EMBEDDING)
    if values is None:
        return None
    varying, shared = values
    varying.pop("learned_at", None)
    shared["learned_at"] = rules.now  # when this store learned it, not the one that exported it
    initial_stability = rules.initial_stability
    if initial_stability is not None:
        given = [row.get("stability") for row in rows]
        if given.count(None) == len(rows):
            importances = varying.get("importance")
            if importances is None:
                shared["stability"] = initial_stability.of(COLUMN_DEFAULTS["importance"])
            else:
                varying["stability"] = list(map(initial_stability.of, importances))
        elif None in given:
            return None
    cells = cell_columns(varying)
    if blobs:
        cells["embedding"] = blobs
    bringing_counts = list(map(brings_count, rows))
    return RecordColumns(cells, encoded_cells(shared), width, bringing_counts)


def joined(parts: Sequence[RecordColumns]) -> RecordColumns | None:
    """Join the parts of a batch; return None if their vectors differ in width."""
    if len(parts) == 1:
        return parts[0]
    if len({part.width for part in parts}) > 1:
        return None
    shared = dict(parts[0].shared)
    names = dict.fromkeys(name for part in parts for name in part.varying)
    for name in [*shared, *(name for part in parts[1:] for name in part.shared)]:
        cells = [part.shared.get(name, _NOTHING) for part in parts]
        if any(cell is _NOTHING or cell != cells[0] for cell in cells):
            names[name] = None
    varying: dict[str, list[Any]] = {}
    for name in names:
        shared.pop(name, None)
        column: list[Any] = []
        for part in parts:
            column += part[name]
        varying[name] = column
    bringing_counts = [brings for part in parts for brings in part.bringing_counts]
    return RecordColumns(varying, shared, parts[0].width, bringing_counts)


_EMBEDDING: Final = frozenset(("embedding",))
_NOTHING: Final = object()


_CHUNK: Final = 2_000
_FEWEST_BY_COLUMN: Final = 8


@dataclass(frozen=True, slots=True, repr=False)
class AddReport:
    """The result of ``add_many``."""

    ids: list[str]
    """The ids now in the store, in the order of the records, without those refused."""
    updated: list[str] = field(default_factory=list)
    """Ids of existing memories that were updated or replaced, as ``on_conflict`` says, without those
    that had been deleted."""
    repeated: list[str] = field(default_factory=list)
    """Ids that occur more than once in the batch; the last record of each was used."""
    skipped: list[int] = field(default_factory=list)
    """Positions in the batch of records refused (``on_error="skip"`` or ``"collect"``)."""
    failures: list[tuple[int, Exception]] = field(default_factory=list)
    """(position, error) of each record refused (``on_error="collect"``)."""
    look: OnFirstLook | None = field(default=None, repr=False, compare=False)
    """Finds :attr:`near_duplicates`."""

    def __repr__(self) -> str:
        counts = {
            "updated": len(self.updated),
            "repeated": len(self.repeated),
            "skipped": len(self.skipped),
        }
        details = "".join(f", {count} {name}" for name, count in counts.items() if count)
        return f"<AddReport: {len(self.ids)} ids{details}>"

    @property
    def near_duplicates(self) -> list[NearDuplicate]:
        """The memories of ``ids`` that are similar to another memory. All of them are stored.

        They are searched for on first access, in the store's state at that time, so that adding
        costs nothing more. See :meth:`oneiros.Engine.near_duplicates` for the rule and the cost.

        Raises:
            EngineClosed: the engine was closed before the first access.
        """
        return [] if self.look is None else self.look.found()


class OnFirstLook:
    """Searches on first access, and caches the result.

    Args:
        look: returns the near duplicates.
    """

    def __init__(self, look: Callable[[], list[NearDuplicate]]) -> None:
        self._look = look
        self._found: list[NearDuplicate] | None = None

    def found(self) -> list[NearDuplicate]:
        """Return the near duplicates. Two threads at once may both search."""
        if self._found is None:
            self._found = self._look()
        return self._found

    def __reduce__(self) -> tuple[type[_Looked], tuple[list[NearDuplicate]]]:
        # A copy in another process has no engine to search.
        return _Looked, (self.found(),)


class _Looked(OnFirstLook):
    """The result that was found before pickling."""

    def __init__(self, found: list[NearDuplicate]) -> None:
        super().__init__(lambda: found)


@dataclass(slots=True)
class Entry:
    """One record of a batch, checked."""

    place: int
    id: str
    values: dict[str, Any]
    """As returned by :func:`oneiros.model.memory.checked_values`."""
    given: Mapping[str, object]
    """The fields named by the caller, which an update changes."""
    blob: bytes | None = None
    """The embedding, encoded."""
    width: int = 0
    """The number of its components; 0: no embedding."""
    is_made_here: bool = False
    """Whether the engine's embedder made the embedding."""
    brings_count: bool = False
    """Whether it is not counted as a repeat if it is new."""


class AddBatch:
    """The records of one ``add_many``, or the one of an ``add``.

    Args:
        rules: of the call.
        vectors: has the width of the store's vectors.
        names_records: whether errors get a note with the position of their record.
    """

    def __init__(self, rules: AddRules, vectors: TextVectors, *, names_records: bool) -> None:
        self._rules = rules
        self._vectors = vectors
        self._names_records = names_records
        self.columns: RecordColumns | None = None
        """All records by column, if they could be checked so; then ``entries`` is empty."""
        self.entries: list[Entry] = []
        self._by_row: Callable[[], None] | None = None
        self._repeated: list[str] = []
        self._failures: list[tuple[int, Exception]] = []

    def read(self, records: Iterable[object]) -> None:
        """Check the records and keep one per id.

        Args:
            records: mappings or memories; all else is refused.
        """
        left = map(repeatable, records)
        chunk = seen = list(islice(left, _CHUNK))
        parts: list[RecordColumns] = []
        if len(chunk) >= _FEWEST_BY_COLUMN:
            while chunk and (part := self._columns_of(chunk)) is not None:
                parts.append(part)
                chunk = list(islice(left, _CHUNK))
                seen += chunk
            columns = None if chunk else joined(parts)
            if columns is not None and len(set(columns["id"])) == len(columns):
                self.columns = columns
                self._by_row = partial(self._read_by_row, seen)
                return
        self._read_by_row(chain(seen, left))

    def read_by_row(self) -> None:
        """Make entries of records that were checked by column."""
        if self._by_row is not None:
            self._by_row()
            self._by_row = self.columns = None

    def __len__(self) -> int:
        """Return the number of records that are not refused."""
        return len(self.entries) if self.columns is None else len(self.columns)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the records that are not refused, in order."""
        columns = self.columns
        return [entry.id for entry in self.entries] if columns is None else columns["id"]

    def _columns_of(self, chunk: Sequence[object]) -> RecordColumns | None:
        try:
            records = list(map(self._rules.bounds.inside, chunk))
        except (ValueError, TypeError):
            return None
        return record_columns(records, self._rules, self._vectors.require_width)

    def _read_by_row(self, records: Iterable[object]) -> None:
        self._check(records)
        self._keep_one_of_each()

    def place_vectors(
        self, wanted: Sequence[str | None], made: MadeVectors, width: int | None
    ) -> None:
        """Assign the made vectors to the entries, and refuse vectors of another width.

        Args:
            wanted: for each entry, the text to embed; None: keep its own vector, if it has one.
            made: vectors of these texts.
            width: of the store's vectors; None: it has none yet.
        """
        rule = "as the store's vectors have" if width else "as in the same batch"
        kept = []
        for entry, text in zip(self.entries, wanted, strict=True):
            if text is not None:
                entry.blob, entry.width = made.of(text)
                entry.is_made_here = entry.blob is not None
            if entry.width:
                width = width or entry.width
                if entry.width != width:
                    words = f"embedding: expected {width} values, {rule}, got {entry.width}"
                    self.refuse(entry.place, ValueError(words))
                    continue
            kept.append(entry)
        self.entries = kept

    def refuse(self, place: int, error: Exception) -> None:
        """Record a failure, or raise it, depending on ``on_error``."""
        if self._names_records:
            error.add_note(f"record {place} of the batch")
        if self._rules.on_error == "raise":
            raise error
        self._failures.append((place, error))

    def report(self, added: Sequence[str], updated: list[str]) -> AddReport:
        """Return the result of the batch.

        Args:
            added: ids of the new memories, in the order of the records.
            updated: ids of memories that existed before.
        """
        ids = list(added)
        if updated:
            stored = {*added, *updated}
            ids = [entry.id for entry in self.entries if entry.id in stored]
        return AddReport(
            ids=ids,
            updated=updated,
            repeated=self._repeated,
            skipped=sorted(place for place, _ in self._failures),
            failures=sorted(self._failures, key=itemgetter(0))
            if self._rules.on_error == "collect"
            else [],
        )

    def _check(self, records: Iterable[object]) -> None:
        for place, record in enumerate(records):
            try:
                values, given = self._rules.checked(record)
                embedding = values.get("embedding")
                self._vectors.accept(embedding)
            except (ValueError, TypeError) as error:
                self.refuse(place, error)
                continue
            entry = Entry(place, values["id"], values, given, brings_count=brings_count(record))
            if embedding is not None:
                entry.blob, entry.width = encoded_embedding(embedding), len(embedding)
            self.entries.append(entry)

    def _keep_one_of_each(self) -> None:
        """Keep one entry per id: the last when updating or replacing, else the first, refusing the others."""
        kept: dict[str, Entry] = {}
        for entry in self.entries:
            memory_id = entry.id
            first = kept.get(memory_id)
            if first is not None and not self._rules.takes_existing:
                places = f"records {first.place} and {entry.place}"
                error = DuplicateId(f"id: {memory_id!r} comes twice in the batch ({places})")
                self.refuse(entry.place, error)
                continue
            if first is not None:
                self._repeated.append(memory_id)
            kept[memory_id] = entry
        self.entries = list(kept.values())
        self._repeated = list(dict.fromkeys(self._repeated))


def columns_of(entries: Sequence[Entry]) -> RecordColumns | None:
    """Return new memories by column, or None for none."""
    if not entries:
        return None
    cells = joined_cells([cells_of(entry.values) for entry in entries])
    cells["embedding"] = [entry.blob for entry in entries]
    bringing_counts = [entry.brings_count for entry in entries]
    return RecordColumns(cells, {}, max(entry.width for entry in entries), bringing_counts)
