"""Checks a batch of records: keeps one record per id, and collects failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros.errors import DuplicateId
from oneiros.model.fields import COLUMN_DEFAULTS, FIELDS
from oneiros.model.memory import Memory, checked_columns, checked_values
from oneiros.model.validation import unit_rows
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.store.embedding_bytes import encoded
from oneiros.store.rows import DEFAULT_CELLS, cell_columns, cells_of, encoded_cells, joined_cells

if TYPE_CHECKING:
    from oneiros.scoring.ingest import InitialStability
    from oneiros.search.near_duplicates import NearDuplicate
    from oneiros.write.vectors import MadeVectors, TextVectors

__all__ = [
    "AddReport",
    "Batch",
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
        progress: show a bar on the terminal's error stream.

    Raises:
        TypeError: the source is neither.
        ImportError: the source is a table and pyarrow is not installed.
    """
    records = _iterable(source)
    if not progress:
        return iter(records)
    from rich.console import Console  # noqa: PLC0415 - on use only
    from rich.progress import track  # noqa: PLC0415

    total = len(records) if isinstance(records, Sized) else None
    return iter(track(records, "reading", total=total, console=Console(stderr=True)))


def _iterable(source: Any) -> Iterable[Mapping[str, object] | Memory]:
    if hasattr(source, "__arrow_c_stream__"):
        return _rows_of_table(source)
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        msg = f"records: expected an iterable of dicts or a table, got {type(source).__name__}"
        raise TypeError(msg)
    return source


def _rows_of_table(source: object) -> list[Mapping[str, object]]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
    except ImportError as error:
        msg = "records: tables need pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    rows: list[Mapping[str, object]] = pa.table(source).to_pylist()
    return rows


class RecordColumns:
    """New memories as table cells, by column.

    Args:
        varying: field to one cell per record: see ``store.rows.cell_columns``; ``embedding`` has the
            encoded vectors.
        shared: field to the cell of all records; fields in neither have their defaults.
        width: components of the vectors; 0: there are none.
    """

    __slots__ = ("shared", "varying", "width")

    def __init__(
        self, varying: Mapping[str, list[Any]], shared: Mapping[str, Any], width: int
    ) -> None:
        self.varying = varying
        self.shared = shared
        self.width = width

    def __len__(self) -> int:
        return len(self.varying["id"])

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        return self.varying["id"]

    @property
    def blobs(self) -> list[bytes | None]:
        """The encoded vectors, in order."""
        return self.column("embedding")

    @property
    def kinds(self) -> set[str]:
        """The set of kinds."""
        return set(self.column("kind"))

    def column(self, name: str) -> list[Any]:
        """Return a field's cells, one per record."""
        cells = self.varying.get(name)
        if cells is None:
            cells = [self.shared.get(name, DEFAULT_CELLS.get(name))] * len(self)
        return cells


def record_columns(
    records: Sequence[object],
    *,
    now: float,
    initial_stability: InitialStability | None,
    require_width: Callable[[int], None],
) -> RecordColumns | None:
    """Return records by column, or None if they must be checked one by one.

    Args:
        records: at least one.
        now: the time for fields that records leave out.
        initial_stability: for records without a stability; None: the field's default.
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
        rows = [{name: row[name] for name in row if name != "embedding"} for row in rows]
    values = checked_columns(rows, now=now)
    if values is None:
        return None
    varying, shared = values
    varying.pop("learned_at", None)
    shared["learned_at"] = now  # when this store learned it, not the one that exported it
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
    return RecordColumns(cells, encoded_cells(shared), width)


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
            column += part.column(name)
        varying[name] = column
    return RecordColumns(varying, shared, parts[0].width)


_NOTHING: Final = object()


_CHUNK: Final = 2_000
_FEWEST_BY_COLUMN: Final = 8


@dataclass(frozen=True, slots=True, repr=False)
class AddReport:
    """The result of ``add_many``."""

    ids: list[str]
    """The ids now in the store, in the order of the records, without those refused."""
    updated: list[str] = field(default_factory=list)
    """Ids of existing memories that were updated (``on_conflict="update"``), without those that had
    been deleted and were replaced."""
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


class Batch:
    """The records of one ``add_many``.

    Args:
        on_conflict: "raise" or "update".
        on_error: "raise", "skip" or "collect".
        initial_stability: for records without a stability; None: the field's default.
    """

    def __init__(
        self,
        *,
        on_conflict: str,
        on_error: str,
        initial_stability: InitialStability | None = None,
    ) -> None:
        self._on_conflict = on_conflict
        self._on_error = on_error
        self._initial_stability = initial_stability
        self.columns: RecordColumns | None = None
        """All records by column, if they could be checked so; then ``entries`` is empty."""
        self.entries: list[Entry] = []
        self._by_row: Callable[[], None] | None = None
        self._repeated: list[str] = []
        self._failures: list[tuple[int, Exception]] = []

    def read(
        self,
        records: Iterable[object],
        vectors: TextVectors,
        now: float,
        inside: Callable[[object], object],
    ) -> None:
        """Check the records and keep one per id.

        Args:
            records: mappings or memories; all else is refused.
            vectors: has the width of the store's vectors.
            now: the time for fields that a record leaves out.
            inside: adds the fields of the caller's scope to a record, or refuses it.
        """
        left = iter(records)
        chunk = seen = list(islice(left, _CHUNK))
        parts: list[RecordColumns] = []
        if len(chunk) >= _FEWEST_BY_COLUMN:
            while chunk and (part := self._columns_of(chunk, vectors, now, inside)) is not None:
                parts.append(part)
                chunk = list(islice(left, _CHUNK))
                seen += chunk
            columns = None if chunk else joined(parts)
            if columns is not None and len(set(columns.ids)) == len(columns):
                self.columns = columns
                self._by_row = partial(self._read_by_row, seen, vectors, now, inside)
                return
        self._read_by_row(chain(seen, left), vectors, now, inside)

    def read_by_row(self) -> None:
        """Make entries of records that were checked by column."""
        if self._by_row is not None:
            self._by_row()
            self._by_row = self.columns = None

    def __len__(self) -> int:
        """Return the number of records that are not refused."""
        return len(self.entries) if self.columns is None else len(self.columns)

    @property
    def ids(self) -> list[str]:
        """The ids of the records that are not refused, in order."""
        return [entry.id for entry in self.entries] if self.columns is None else self.columns.ids

    def _columns_of(
        self,
        chunk: Sequence[object],
        vectors: TextVectors,
        now: float,
        inside: Callable[[object], object],
    ) -> RecordColumns | None:
        try:
            records = list(map(inside, chunk))
        except (ValueError, TypeError):
            return None
        return record_columns(
            records,
            now=now,
            initial_stability=self._initial_stability,
            require_width=vectors.require_width,
        )

    def _read_by_row(
        self,
        records: Iterable[object],
        vectors: TextVectors,
        now: float,
        inside: Callable[[object], object],
    ) -> None:
        self._check(records, vectors, now, inside)
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
        error.add_note(f"record {place} of the batch")
        if self._on_error == "raise":
            raise error
        self._failures.append((place, error))

    def report(self, added: list[str], updated: list[str]) -> AddReport:
        """Return the result of the batch.

        Args:
            added: ids of the new memories, in the order of the records.
            updated: ids of memories that existed before.
        """
        ids = added
        if updated:
            stored = {*added, *updated}
            ids = [entry.id for entry in self.entries if entry.id in stored]
        return AddReport(
            ids=list(ids),
            updated=updated,
            repeated=self._repeated,
            skipped=sorted(place for place, _ in self._failures),
            failures=sorted(self._failures, key=_place) if self._on_error == "collect" else [],
        )

    def _check(
        self,
        records: Iterable[object],
        vectors: TextVectors,
        now: float,
        inside: Callable[[object], object],
    ) -> None:
        for place, given_record in enumerate(records):
            try:
                record: Any = inside(given_record)
                values = checked_values(record, now=now)
                embedding = values.get("embedding")
                if embedding is not None:
                    vectors.accept(embedding)
            except (ValueError, TypeError) as error:
                self.refuse(place, error)
                continue
            values["learned_at"] = now  # when this store learned it, not the one that exported it
            given = _given_fields(record) if isinstance(record, Memory) else record
            initial = self._initial_stability
            if initial is not None and given.get("stability") is None:
                values["stability"] = initial.of(
                    values.get("importance", COLUMN_DEFAULTS["importance"])
                )
            entry = Entry(place, values["id"], values, given)
            if embedding is not None:
                entry.blob, entry.width = encoded(embedding), len(embedding)
            self.entries.append(entry)

    def _keep_one_of_each(self) -> None:
        """Keep one entry per id: the last when updating, else the first, refusing the others."""
        kept: dict[str, Entry] = {}
        for entry in self.entries:
            memory_id = entry.id
            first = kept.get(memory_id)
            if first is not None and self._on_conflict != "update":
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
    return RecordColumns(cells, {}, max(entry.width for entry in entries))


def _given_fields(memory: Memory) -> dict[str, object]:
    """Return the fields of a memory that differ from their defaults."""
    blank = Memory(text="")
    values = {name: getattr(memory, name) for name in FIELDS}
    return {
        name: value
        for name, value in values.items()
        if name == "text" or repr(value) != repr(getattr(blank, name))
    }


def _place(failure: tuple[int, Exception]) -> int:
    return failure[0]
