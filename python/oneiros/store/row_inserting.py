"""Memories inserted: a row in each of the two tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import apsw

from oneiros.errors import DuplicateId, OneirosError, StoreIOError
from oneiros.field_checks import wrong
from oneiros.memory import Memory
from oneiros.store.cells import MEMORY_CELLS, Cells, memory_cells
from oneiros.store.checksums import checksums_of
from oneiros.store.cycle_reading import CycleReading
from oneiros.store.reading import DecodeEmbedding
from oneiros.store.rows import INSERT, INSERT_LIFECYCLE, StoredMemory, fresh_row

__all__ = ["RowInserting"]

_BATCH: Final = 10_000
_Rows: TypeAlias = list[tuple[Any, ...]]
_NEXT_SEQUENCE: Final = """
SELECT 1 + max(
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'memory'), 0),
  coalesce((SELECT max(sequence) FROM memory), 0))"""


class RowInserting(CycleReading):
    """Inserts under one revision number."""

    def __init__(
        self,
        connection: apsw.Connection,
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
        # What was inserted, as the two tables hold it.
        self._fresh: list[tuple[_Rows, _Rows]] = []
        self._has_changed = False  # something that is no fresh row
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
        """Add memories as ``insert_many`` does, given what the table holds of them.

        Args:
            memories: see :func:`oneiros.store.cells.cells_of`.
            embedding_blobs: one for each.
        """
        self._require_whole()
        if not memories:
            return range(0)
        first = self._next_sequence()
        sequences = range(first, first + len(memories))
        rows = _sealed(
            "memory",
            [
                (sequence, self.revision, blob, *cells[:MEMORY_CELLS])
                for sequence, cells, blob in zip(sequences, memories, embedding_blobs, strict=True)
            ],
        )
        lifecycle = _sealed(
            "lifecycle",
            [
                (sequence, self.revision, *cells[MEMORY_CELLS:])
                for sequence, cells in zip(sequences, memories, strict=True)
            ],
        )
        try:
            insert = self._insert_one if len(rows) == 1 else self._insert_rows
            insert(rows, lifecycle)
        except apsw.ConstraintError as error:
            raise DuplicateId(_duplicate(self._first_duplicate(memories))) from error
        except apsw.Error as error:
            raise self._failed(error) from error
        self._fresh.append((rows, lifecycle))
        return sequences

    @property
    def has_only_inserted(self) -> bool:
        """Whether memories were inserted, and nothing else was written."""
        return bool(self._fresh) and not self._has_changed

    def fresh_rows(self) -> Iterator[list[StoredMemory]] | None:
        """Return what was inserted, as it can be read; None where something else was written, too."""
        if not self.has_only_inserted:
            return None
        return (
            list(map(fresh_row, rows[start : start + _BATCH], lifecycle[start : start + _BATCH]))
            for rows, lifecycle in self._fresh
            for start in range(0, len(rows), _BATCH)
        )

    def _next_sequence(self) -> int:
        """Return a number that no memory has had, as SQLite would give it."""
        return int(self._rows(_NEXT_SEQUENCE)[0][0])

    def _insert_one(self, rows: _Rows, lifecycle: _Rows) -> None:
        """Insert without a savepoint: what cuts it off has the transaction taken back."""
        try:
            self._connection.execute(INSERT, rows[0])
            self._insert_lifecycle(lifecycle)
        except (apsw.Error, OneirosError):
            raise
        except BaseException:
            self.failure = apsw.InterruptError("an insert was cut off")
            raise

    def _insert_rows(self, rows: _Rows, lifecycle: _Rows) -> None:
        self._run("SAVEPOINT batch")
        try:
            self._connection.executemany(INSERT, rows)
            self._insert_lifecycle(lifecycle)
        except apsw.ConstraintError:
            self._take_batch_back()
            raise
        except (apsw.Error, OneirosError):
            raise
        except BaseException:
            self._take_batch_back()
            raise
        self._run("RELEASE batch")

    def _insert_lifecycle(self, lifecycle: _Rows) -> None:
        """Insert the other half of memories."""
        try:
            self._connection.executemany(INSERT_LIFECYCLE, lifecycle)
        except apsw.ConstraintError as error:  # no id that is there already
            raise self._failed(error) from error

    def _run(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        self._require_whole()
        return super()._run(sql, values)

    def _take_batch_back(self) -> None:
        self._run("ROLLBACK TO batch")
        self._run("RELEASE batch")

    def _first_duplicate(self, memories: Sequence[Cells]) -> str:
        seen: set[str] = set()
        for cells in memories:
            id = str(cells[0])
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


def _sealed(table: str, rows: _Rows) -> _Rows:
    """Return rows of a table with their checksums."""
    checksums = checksums_of(table, rows)
    return [(*row, checksum) for row, checksum in zip(rows, checksums, strict=True)]


def _duplicate(id: str) -> str:
    return f"id: {id!r} exists in the store, or comes twice in the batch"
