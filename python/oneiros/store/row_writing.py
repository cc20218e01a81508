"""Inserts and updates of memories, and increments of their counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import apsw

from oneiros.errors import DuplicateId, OneirosError, StoreIOError, UnknownMemory
from oneiros.model.fields import FIELDS, U32_MAX
from oneiros.model.memory import Memory
from oneiros.model.validation import wrong
from oneiros.store.checksums import COVERED, checksum_after
from oneiros.store.columns import INSERTED_AT_ONCE, StoredColumns
from oneiros.store.connections import StoreConnection
from oneiros.store.reading import Reading
from oneiros.store.rows import (
    INSERT,
    INSERT_LIFECYCLE,
    INSERTED,
    INSERTED_CELLS,
    INSERTED_LIFECYCLE,
    StoredMemory,
    by_table,
    cell,
    index_damage,
    joined_cells,
    memory_cells,
    text_digest,
)

if TYPE_CHECKING:
    from oneiros.store.history import HistoryWriting

__all__ = ["NumbersOf", "RowWriting", "assigned", "increased", "update_of"]


@cache
def update_of(table: str, assignments: tuple[tuple[str, str], ...]) -> str:
    """Return SQL that sets columns of a memory's row, its revision and its checksum.

    Args:
        table: "memory" or "lifecycle".
        assignments: (column, SQL of its value), where each ``?`` is a bound value. The revision is
            bound after these values, then the memory's sequence number.
    """
    cells = dict(assignments) | {"revision": "?"}
    numbers = count(1)
    numbered = {name: _numbered(cell, numbers) for name, cell in cells.items()}
    condition = _numbered("sequence = ?", numbers)
    covered = COVERED[table]
    numbered["checksum"] = checksum_after(
        {name: cell for name, cell in numbered.items() if name in covered}
    )
    setting = ", ".join(f"{name} = {cell}" for name, cell in numbered.items())
    return f"UPDATE {table} SET {setting} WHERE {condition}"


def _numbered(sql: str, numbers: Iterator[int]) -> str:
    """Number the placeholders of values, so that one can be used twice."""
    first, *parts = sql.split("?")
    return first + "".join(f"?{next(numbers)}{part}" for part in parts)


_COUNTERS: Final = ("access_count", "revision_count", "duplicate_count", "feedback")


def assigned(name: str) -> tuple[str, str]:
    """Return a field's column and the SQL that sets it; only known names get into the SQL.

    Raises:
        ValueError: no field has the name, or it is ``id``.
    """
    if name not in FIELDS or name == "id":
        raise ValueError(wrong("field", "one of a memory's fields but id", name))
    return name, "?"


def increased(name: str) -> tuple[str, str]:
    """Return a counter's column and the SQL that adds to it, clamped to its range.

    Raises:
        ValueError: no counter has the name.
    """
    if name not in _COUNTERS:
        raise ValueError(wrong("counter", "one of " + ", ".join(_COUNTERS), name))
    bounds = FIELDS[name].range
    assert bounds is not None
    return name, f"max({bounds.low}, min({bounds.high}, {name} + ?))"


NumbersOf: TypeAlias = Callable[[Sequence[str]], Sequence[int | None]]
"""Returns the sequence numbers of ids, in their order; None for unknown ones."""

# The last column: whether the row itself has the id; NULL if there is no row.
_FOUND: Final = """
SELECT ?1, found.sequence, (
  SELECT CAST(stored.id AS BLOB) = CAST(?1 AS BLOB)
  FROM memory AS stored NOT INDEXED WHERE stored.sequence = found.sequence)
FROM memory AS found INDEXED BY sqlite_autoindex_memory_1 WHERE found.id = ?1"""


def _nothing_known(ids: Sequence[str]) -> Sequence[int | None]:
    return [None] * len(ids)


class RowWriting(Reading):
    """Inserts and updates under one revision number."""

    known: NumbersOf = staticmethod(_nothing_known)
    """Returns sequence numbers without the index. The engine sets it to its read model, which holds
    the state at the transaction's start."""

    def __init__(
        self,
        connection: StoreConnection,
        path: str,
        last_revision: int | None = None,
    ) -> None:
        super().__init__(connection, path)
        self.failure: apsw.Error | None = None
        """The first error of SQLite; after it the transaction can only be rolled back."""
        self.is_over = False
        self.revision = (self.last_revision() if last_revision is None else last_revision) + 1
        """This commit's number; reused by the next one if this one changes nothing."""
        self._fresh: list[StoredColumns] = []  # the inserted memories
        self._has_changed = False  # whether more than fresh rows and settings was written
        self.has_set = False
        """Whether settings were written."""
        self.relinked: list[int] = []
        """Sequence numbers of memories whose successor was erased."""
        self._erased: set[str] = set()  # ids whose former numbers are no longer valid
        self.keeper: HistoryWriting | None = None
        """Keeps what is replaced; None: nothing is kept."""

    def insert(self, memory: Memory, *, embedding_blob: bytes | None = None) -> int:
        """Add a memory.

        Args:
            memory: complete and valid, as made by ``Memory.from_record``.
            embedding_blob: its embedding, encoded.

        Returns:
            Its sequence number.

        Raises:
            DuplicateId: the id exists, perhaps as a soft-deleted memory. Nothing was added.
        """
        return self.insert_many([memory], embedding_blobs=[embedding_blob])[0]

    def insert_many(
        self, memories: Sequence[Memory], *, embedding_blobs: Sequence[bytes | None] | None = None
    ) -> range:
        """Add memories, all or none.

        Args:
            memories: complete and valid.
            embedding_blobs: one per memory, or None for no embeddings.

        Returns:
            Their sequence numbers, in order.

        Raises:
            DuplicateId: an id exists or comes twice. None was added.
            ValueError: the number of blobs is not that of memories.
        """
        count = len(memories)
        if embedding_blobs is None:
            embedding_blobs = [None] * count
        elif len(embedding_blobs) != count:
            rule = f"one for each of the {count} memories"
            raise ValueError(wrong("embedding_blobs", rule, len(embedding_blobs)))
        if not memories:
            self._require_whole()
            return range(0)
        columns = joined_cells(list(map(memory_cells, memories)))
        columns["embedding"] = list(embedding_blobs)
        return self.insert_columns(columns, {})

    def insert_columns(
        self, columns: Mapping[str, Sequence[Any]], shared: Mapping[str, Any]
    ) -> range:
        """Add memories as ``insert_many`` does, from columns of cells.

        Args:
            columns: see :func:`oneiros.store.rows.cell_columns`; ``embedding`` has encoded vectors.
            shared: field to a cell common to all memories, where it is not the default.
        """
        self._require_whole()
        count = len(columns["id"])
        first = self.next_sequence()
        sequences = range(first, first + count)
        memories = StoredColumns(
            count,
            {"sequence": list(sequences), **columns},
            {**shared, "revision": self.revision, "own_revision": self.revision},
            INSERTED_CELLS,
        )
        insert = self._insert_one if count == 1 else self._insert_parts
        try:
            self._fresh += insert(memories)
        except apsw.ConstraintError as error:
            raise DuplicateId(_duplicate(self._first_duplicate(columns["id"]))) from error
        except apsw.Error as error:
            raise self._failed(error) from error
        return sequences

    @property
    def has_only_inserted(self) -> bool:
        """Whether memories were inserted and nothing else but settings was written."""
        return bool(self._fresh) and not self._has_changed

    def fresh_columns(self) -> list[StoredColumns] | None:
        """Return the inserted memories in readable form, or None if others changed too."""
        return self._fresh if self.has_only_inserted else None

    @property
    def has_written(self) -> bool:
        """Whether anything was written."""
        return self.has_content or self.has_set

    @property
    def has_content(self) -> bool:
        """Whether more than settings was written."""
        return bool(self._fresh) or self._has_changed

    def note_change(self) -> None:
        """Record that something other than a fresh row or a setting was written."""
        self._has_changed = True

    def last_row(self) -> int:
        """Return the rowid of the last inserted row."""
        return self._connection.last_insert_rowid()

    def change_count(self) -> int:
        """Return the number of rows that the last statement changed."""
        return self._connection.changes()

    def insert_rows(self, table: str, sql: str, columns: list[Any], count: int) -> None:
        """Insert rows; see ``StoreConnection.insert_rows``."""
        self._require_whole()
        try:
            self._connection.insert_rows(table, sql, columns, count)
        except apsw.Error as error:
            raise self._failed(error) from error

    def _insert_one(self, memory: StoredColumns) -> list[StoredColumns]:
        """Insert without a savepoint; an interruption rolls the whole transaction back."""
        try:
            return [self._inserted(memory)]
        except (apsw.Error, OneirosError):
            raise
        except BaseException:
            self.failure = apsw.InterruptError("an insert was cut off")
            raise

    def _insert_parts(self, memories: StoredColumns) -> list[StoredColumns]:
        self.run("SAVEPOINT batch")
        try:
            inserted = list(map(self._inserted, memories.parts(INSERTED_AT_ONCE)))
        except apsw.ConstraintError:
            self._take_batch_back()
            raise
        except (apsw.Error, OneirosError):
            raise
        except BaseException:
            self._take_batch_back()
            raise
        self.run("RELEASE batch")
        return inserted

    def _inserted(self, part: StoredColumns) -> StoredColumns:
        """Insert rows into both tables; return them with their checksums."""
        count = len(part)
        cells = part.cells()
        own = [cells[name] for name in INSERTED]
        states = [cells[name] for name in INSERTED_LIFECYCLE]
        own_checksums = self._connection.insert_rows("memory", INSERT, own, count)
        try:
            state_checksums = self._connection.insert_rows(
                "lifecycle", INSERT_LIFECYCLE, states, count
            )
        except apsw.ConstraintError as error:  # not a duplicate id
            raise self._failed(error) from error
        return part.sealed(own_checksums, state_checksums)

    def run(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        self._require_whole()
        return super().run(sql, values)

    def _take_batch_back(self) -> None:
        self.run("ROLLBACK TO batch")
        self.run("RELEASE batch")

    def _first_duplicate(self, ids: Sequence[str]) -> str:
        seen: set[str] = set()
        for id in ids:
            taken = self.rows("SELECT 1 FROM memory WHERE id = ?", (id,))
            if id in seen or taken:
                return id
            seen.add(id)
        return "?"

    def _failed(self, error: apsw.Error) -> Exception:
        self.failure = self.failure or error
        return super()._failed(error)

    def _require_whole(self) -> None:
        """Refuse to go on after a failure: SQLite may have rolled back part of the work."""
        if self.is_over or self.failure is not None:
            msg = "the transaction is over, or has failed and will be taken back"
            raise StoreIOError(msg)

    def sequences_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the sequence numbers of the ids that exist.

        Raises:
            StoreCorrupt: the index leads to another memory; names the id.
        """
        wanted = list(dict.fromkeys(ids))
        found = dict(zip(wanted, self.known(wanted), strict=True))
        left = [id for id in wanted if found[id] is None or id in self._erased]
        return {
            id: number for id, number in (found | self._indexed(left)).items() if number is not None
        }

    def load_stored(
        self, ids: Sequence[str], numbers: Sequence[int | None] | None = None
    ) -> list[StoredMemory | None]:
        """Return the rows of the ids, as :meth:`Reading.load_stored` does."""
        if numbers is None:
            known = zip(ids, self.known(ids), strict=True)
            numbers = [None if id in self._erased else number for id, number in known]
        return super().load_stored(ids, numbers)

    def require_indexed(self, ids: Sequence[str]) -> dict[str, int | None]:
        """Refuse to write to memories that the index of ids does not find.

        Returns:
            The sequence number of each id; None for unknown ones.

        Raises:
            StoreCorrupt: the index leads to another memory, or misses a known one; names it.
        """
        found = self._indexed(ids)
        for id, number in zip(ids, self.known(ids), strict=True):
            if number is not None and id not in self._erased and found[id] != number:
                raise index_damage(id)
        return found

    def _indexed(self, ids: Sequence[str]) -> dict[str, int | None]:
        """Return the numbers that the index of ids has; None where it has none."""
        found: dict[str, int | None] = dict.fromkeys(ids)
        for id, number, is_of_id in self._run_many(_FOUND, [(id,) for id in ids]):
            if not is_of_id:
                raise index_damage(id)
            found[id] = number
        return found

    def _number(self, id: str) -> int:
        """Return the sequence number of an id.

        Raises:
            UnknownMemory: no memory has it.
        """
        number = self.sequences_of([id]).get(id)
        if number is None:
            msg = f"no memory has the id {id!r}"
            raise UnknownMemory(msg)
        return number

    def update(self, id: str, changes: Mapping[str, object]) -> None:
        """Change a memory on behalf of the user; ``revision_count`` goes up by one.

        Args:
            id: the memory, soft-deleted or not.
            changes: values as returned by ``validate_changes``, including ``updated_at`` (the store
                reads no clock), but with ``embedding`` encoded.

        Raises:
            UnknownMemory: no memory has the id.
        """
        tables = by_table(changes)
        own = tables.get("memory", ())
        assignments = [assigned(name) for name in own]
        values = [cell(name, changes[name]) for name in own]
        if isinstance(text := changes.get("text"), str):
            assignments.append(("text_digest", "?"))
            values.append(text_digest(text))
        if "text" in changes or "title" in changes:
            assignments.append(("new_embedding", "NULL"))
        if "revision_count" not in changes:
            assignments.append(("revision_count", f"min(revision_count + 1, {U32_MAX})"))
        number = self._number(id)
        self._assign(assignments, [(*values, self.revision, number)])
        if states := tables.get("lifecycle"):
            given = {name: changes[name] for name in states}
            self._set([(number, given)], assigned, is_use=False)

    def update_columns(self, rows: Iterable[tuple[str, Mapping[str, object]]]) -> int:
        """Set fields to given values, without counting a revision.

        Args:
            rows: (id, {field: value}); values as in a memory, but ``embedding`` encoded. Unknown
                ids (another process may have erased them) are skipped.

        Returns:
            The number of rows changed.
        """
        return self._set(self._by_number(rows, _column), _column, is_use=False)

    def _by_number(
        self,
        rows: Iterable[tuple[str, Mapping[str, Any]]],
        assignment_of: Callable[[str], tuple[str, str]],
    ) -> list[tuple[int, Mapping[str, Any]]]:
        """Replace the ids of rows by sequence numbers, and drop rows of unknown ids.

        Args:
            rows: (id, {field: value}).
            assignment_of: called for every field, so that it refuses those that cannot be set.
        """
        given = list(rows)
        for name in dict.fromkeys(name for _, change in given for name in change):
            assignment_of(name)
        numbers = self.sequences_of(id for id, _ in given)
        return [(numbers[id], change) for id, change in given if id in numbers]

    def increment(self, rows: Iterable[tuple[str, Mapping[str, int]]]) -> int:
        """Add to counters atomically, so that concurrent processes lose no counts.

        Args:
            rows: (id, {counter: difference}); counters (the three counts and feedback) are clamped
                to their ranges. Unknown ids are skipped.

        Returns:
            The number of rows changed.

        Raises:
            ValueError: a name is not a counter.
        """
        return self._set(self._by_number(rows, increased), increased)

    def _set(
        self,
        rows: Iterable[tuple[int, Mapping[str, Any]]],
        assignment_of: Callable[[str], tuple[str, str]],
        *,
        is_use: bool = True,
    ) -> int:
        """Set columns of both tables; return the number of memories changed.

        Args:
            rows: (sequence number, {field: value}).
            assignment_of: returns a field's column and SQL.
            is_use: whether a state is changed by use or a dream cycle, not by a caller.
        """
        changed = 0
        for names, group in groupby(rows, key=lambda row: tuple(row[1])):
            sql = {name: assignment_of(name) for name in names}  # first, as it may raise
            members = list(group)
            most = 0
            for table, part in by_table(names).items():
                values = [
                    (*(cell(name, change[name]) for name in part), self.revision, number)
                    for number, change in members
                ]
                assignments = [sql[name] for name in part]
                most = max(most, self._assign(assignments, values, table=table, is_use=is_use))
            changed += most
        return changed

    def _assign(
        self,
        assignments: Sequence[tuple[str, str]],
        values: Iterable[tuple[Any, ...]],
        *,
        table: str = "memory",
        is_use: bool = True,
    ) -> int:
        """Update many rows of a table; each tuple of values ends with the revision and the number."""
        self._has_changed = True
        if self.keeper is not None:
            values = list(values)
            names = [name for name, _ in assignments]
            self.keeper.keep(table, names, [row[-1] for row in values], is_use=is_use)
        before = self._connection.total_changes()
        self._run_many(update_of(table, tuple(assignments)), values)
        return self._connection.total_changes() - before

    def _run_many(self, sql: str, values: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Run a statement for each tuple of values; return all rows."""
        self._require_whole()
        try:
            return list(self._connection.executemany(sql, values))
        except apsw.Error as error:
            raise self._failed(error) from error
        except UnicodeDecodeError as error:  # raised while a checksum reads a former value
            self.failure = self.failure or apsw.CorruptError(str(error))
            raise self._not_utf8(error) from error

    def run_each(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each sequence of values."""
        self._has_changed = True
        self._run_many(sql, values)

    def write_lifecycle(
        self, sequences: Sequence[int], values: Mapping[str, Sequence[object]]
    ) -> None:
        """Set columns of many memories; fast for columns of the table ``lifecycle``.

        Args:
            sequences: their sequence numbers, ideally ascending. Unknown ones are skipped.
            values: field to one cell per memory, as the tables hold them: enumerations as codes,
                missing times as None.

        Raises:
            ValueError: a field is not numeric, or its number of values is not that of memories.
                Nothing was set.
        """
        for name, given in values.items():
            if name not in FIELDS or FIELDS[name].range is None:
                raise ValueError(wrong("field", "one of a memory's fields of numbers", name))
            if len(given) != len(sequences):
                rule = f"one value for each of the {len(sequences)} memories"
                raise ValueError(wrong(name, rule, len(given)))
        for table, names in by_table(values).items():
            revisions = [self.revision] * len(sequences)
            columns = (*(values[name] for name in names), revisions, sequences)
            self._assign(list(map(assigned, names)), zip(*columns, strict=True), table=table)

    def set_text(self, id: str, text: str) -> None:
        """Set a memory's text without counting a revision.

        Raises:
            UnknownMemory: no memory has the id.
        """
        values = (text, text_digest(text), self.revision, self._number(id))
        changes = [("text", "?"), ("text_digest", "?"), ("new_embedding", "NULL")]
        self._assign(changes, [values])


def _duplicate(id: str) -> str:
    return f"id: {id!r} exists in the store, or comes twice in the batch"


def _column(name: str) -> tuple[str, str]:
    """Return as ``assigned`` does, but refuse fields that only a revision may change."""
    if name in ("text", "title"):
        msg = "field: a text or title is changed by update()"
        raise ValueError(msg)
    return assigned(name)
