"""Memories inserted: a row in each of the two tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, Final

import apsw

from oneiros.errors import DuplicateId, OneirosError, StoreIOError
from oneiros.field_checks import wrong
from oneiros.memory import Memory
from oneiros.store.cells import DEFAULT_CELLS, Cells, joined_cells, memory_cells
from oneiros.store.checksums import checksums_of_columns
from oneiros.store.columns import INSERTED_AT_ONCE, StoredColumns
from oneiros.store.connections import StoreConnection
from oneiros.store.cycle_reading import CycleReading
from oneiros.store.reading import DecodeEmbedding
from oneiros.store.rows import INSERT, INSERT_LIFECYCLE, INSERTED, INSERTED_LIFECYCLE

__all__ = ["RowInserting"]

# Where a memory names a successor, which the store may hold, all are read again.
_DEFAULTS: Final = {**DEFAULT_CELLS, "state_revision": 0, "is_superseded": 0}
_own_cells: Final = itemgetter(*INSERTED[:-1])
_state_cells: Final = itemgetter(*INSERTED_LIFECYCLE[:-1])
_NEXT_SEQUENCE: Final = """
SELECT 1 + max(
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'memory'), 0),
  coalesce((SELECT max(sequence) FROM memory), 0),
  coalesce((SELECT max(sequence) FROM lifecycle), 0))"""


class RowInserting(CycleReading):
    """Inserts under one revision number."""

    def __init__(
        self,
        connection: StoreConnection,
        path: str,
        decode: DecodeEmbedding | None,
        last_revision: int | None = None,
    ) -> None:
        super().__init__(connection, path, decode)
        self.failure: apsw.Error | None = None
        """What SQLite refused; from then on the transaction can only be taken back."""
        self.is_over = False
        self.revision = (self.last_revision() if last_revision is None else last_revision) + 1
        """This commit's number. One that changes nothing leaves it to the next."""
        self._fresh: list[StoredColumns] = []  # what was inserted
        self._has_changed = False  # something that is neither a fresh row nor a setting
        self.has_set = False
        """Whether settings were written."""
        self.relinked: list[int] = []
        """Numbers of memories that an erased one superseded."""
        self._erased: set[str] = set()  # ids whose former numbers do not count any more

    def insert(self, memory: Memory, *, embedding_blob: bytes | None = None) -> int:
        """Add a memory.

        Args:
            memory: complete and valid, as ``Memory.from_record`` makes it.
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
            embedding_blobs: one for each memory, or None for no embeddings.

        Returns:
            Their sequence numbers, in order.

        Raises:
            DuplicateId: an id exists or comes twice. None was added.
            ValueError: another number of blobs than of memories.
        """
        count = len(memories)
        if embedding_blobs is None:
            embedding_blobs = [None] * count
        elif len(embedding_blobs) != count:
            rule = f"one for each of the {count} memories"
            raise ValueError(wrong("embedding_blobs", rule, len(embedding_blobs)))
        return self.insert_cells(list(map(memory_cells, memories)), embedding_blobs)

    def insert_cells(
        self, memories: Sequence[Cells], embedding_blobs: Sequence[bytes | None]
    ) -> range:
        """Add memories as ``insert_many`` does, given what the tables hold of them.

        Args:
            memories: see :func:`oneiros.store.cells.cells_of`.
            embedding_blobs: one for each.
        """
        if not memories:
            self._require_whole()
            return range(0)
        columns = joined_cells(memories)
        columns["embedding"] = list(embedding_blobs)
        return self.insert_columns(columns, {})

    def insert_columns(
        self, columns: Mapping[str, Sequence[Any]], shared: Mapping[str, Any]
    ) -> range:
        """Add memories as ``insert_many`` does, given what the tables hold of them by column.

        Args:
            columns: see :func:`oneiros.store.cells.cell_columns`; ``embedding``: the encoded vectors.
            shared: by field, the cell of all memories, where it is not the default.
        """
        self._require_whole()
        count = len(columns["id"])
        first = self._next_sequence()
        sequences = range(first, first + count)
        held = StoredColumns(
            count,
            {"sequence": list(sequences), **columns},
            {**shared, "revision": self.revision, "own_revision": self.revision},
            _DEFAULTS,
        )
        insert = self._insert_one if count == 1 else self._insert_parts
        try:
            self._fresh += insert(held)
        except apsw.ConstraintError as error:
            raise DuplicateId(_duplicate(self._first_duplicate(columns["id"]))) from error
        except apsw.Error as error:
            raise self._failed(error) from error
        return sequences

    @property
    def has_only_inserted(self) -> bool:
        """Whether memories were inserted, and nothing else was written but settings."""
        return bool(self._fresh) and not self._has_changed

    def fresh_columns(self) -> list[StoredColumns] | None:
        """Return what was inserted, as it can be read; None where memories changed, too."""
        return self._fresh if self.has_only_inserted else None

    def _next_sequence(self) -> int:
        """Return a number that no memory has had, erased ones among them."""
        return int(self._rows(_NEXT_SEQUENCE)[0][0])

    def _insert_one(self, memory: StoredColumns) -> list[StoredColumns]:
        """Insert without a savepoint: what cuts it off has the transaction taken back."""
        try:
            return [self._inserted(memory)]
        except (apsw.Error, OneirosError):
            raise
        except BaseException:
            self.failure = apsw.InterruptError("an insert was cut off")
            raise

    def _insert_parts(self, memories: StoredColumns) -> list[StoredColumns]:
        self._run("SAVEPOINT batch")
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
        self._run("RELEASE batch")
        return inserted

    def _inserted(self, part: StoredColumns) -> StoredColumns:
        """Insert rows into both tables; return them with their checksums."""
        count = len(part)
        cells = part.cells()
        own, states = list(_own_cells(cells)), list(_state_cells(cells))
        own.append(checksums_of_columns("memory", own, count))
        states.append(checksums_of_columns("lifecycle", states, count))
        self._connection.executemany(INSERT, _rows_of(own, count))
        try:
            self._connection.executemany(INSERT_LIFECYCLE, _rows_of(states, count))
        except apsw.ConstraintError as error:  # no id that is there already
            raise self._failed(error) from error
        return part.sealed(own[-1], states[-1])

    def _run(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        self._require_whole()
        return super()._run(sql, values)

    def _take_batch_back(self) -> None:
        self._run("ROLLBACK TO batch")
        self._run("RELEASE batch")

    def _first_duplicate(self, ids: Sequence[str]) -> str:
        seen: set[str] = set()
        for id in ids:
            taken = self._rows("SELECT 1 FROM memory WHERE id = ?", (id,))
            if id in seen or taken:
                return id
            seen.add(id)
        return "?"

    def _failed(self, error: apsw.Error) -> Exception:
        self.failure = self.failure or error
        return super()._failed(error)

    def _require_whole(self) -> None:
        """SQLite may have rolled back by itself: what followed would stand alone."""
        if self.is_over or self.failure is not None:
            msg = "the transaction is over, or has failed and will be taken back"
            raise StoreIOError(msg)


def _rows_of(columns: Sequence[Any], count: int) -> Iterable[Sequence[Any]]:
    """Return rows of columns, in which anything but a list is the cell of all rows."""
    if count == 1:
        return ([column[0] if type(column) is list else column for column in columns],)
    lists = (column if type(column) is list else repeat(column) for column in columns)
    return zip(*lists, strict=False)


def _duplicate(id: str) -> str:
    return f"id: {id!r} exists in the store, or comes twice in the batch"
