"""Rows written: memories inserted, their fields set and their counters raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import apsw

from oneiros.errors import DuplicateId, StoreIOError, UnknownMemory
from oneiros.field_checks import wrong
from oneiros.fields import U32_MAX
from oneiros.memory import Memory
from oneiros.store.assignments import assigned, increased
from oneiros.store.cells import Cells, cell, memory_cells, text_digest
from oneiros.store.cycle_reading import CycleReading
from oneiros.store.reading import DecodeEmbedding
from oneiros.store.rows import INSERT, StoredMemory, fresh_row

__all__ = ["RowWriting"]

_BATCH: Final = 10_000


class RowWriting(CycleReading):
    """Inserts and updates under one revision number."""

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
        self._fresh: list[tuple[range, list[tuple[Any, ...]]]] = []
        self._has_changed = False  # something that is no fresh row

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
            memories: see :func:`oneiros.store.rows.cells_of`.
            embedding_blobs: one for each.
        """
        self._require_whole()
        revision = self.revision
        rows = [
            (revision, blob, *cells) for cells, blob in zip(memories, embedding_blobs, strict=True)
        ]
        try:
            if len(rows) == 1:  # which is inserted or not, and needs no savepoint
                self._connection.execute(INSERT, rows[0])
            else:
                self._insert_rows(rows)
        except apsw.ConstraintError as error:
            raise DuplicateId(_duplicate(self._first_duplicate(memories))) from error
        except apsw.Error as error:
            raise self._failed(error) from error
        last = self._connection.last_insert_rowid() if rows else -1
        sequences = range(last - len(rows) + 1, last + 1)
        if rows:
            self._fresh.append((sequences, rows))
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
            list(map(fresh_row, sequences[start : start + _BATCH], rows[start : start + _BATCH]))
            for sequences, rows in self._fresh
            for start in range(0, len(rows), _BATCH)
        )

    def _insert_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._run("SAVEPOINT batch")
        try:
            self._connection.executemany(INSERT, rows)
        except apsw.ConstraintError:
            self._take_batch_back()
            raise
        except apsw.Error:
            raise
        except BaseException:
            self._take_batch_back()
            raise
        self._run("RELEASE batch")

    def update(self, id: str, changes: Mapping[str, object]) -> None:
        """Change a memory as its user asks; its ``revision_count`` goes up by one.

        Args:
            id: the memory, soft-deleted or not.
            changes: values as ``validate_changes`` returns them (``updated_at`` among them: the
                store reads no clock), but ``embedding`` encoded.

        Raises:
            UnknownMemory: there is none.
        """
        assignments = [assigned(name) for name in changes]
        values = [cell(name, value) for name, value in changes.items()]
        if isinstance(text := changes.get("text"), str):
            assignments.append("text_digest = ?")
            values.append(text_digest(text))
        if "revision_count" not in changes:
            assignments.append(f"revision_count = min(revision_count + 1, {U32_MAX})")
        if self._assign(assignments, [(*values, self.revision, id)]) == 0:
            msg = f"no memory has the id {id!r}"
            raise UnknownMemory(msg)

    def update_columns(self, rows: Iterable[tuple[str, Mapping[str, object]]]) -> int:
        """Set fields as they are given; what an update counts is not counted.

        Args:
            rows: (id, {field: value}); values as a memory holds them, ``embedding`` encoded. Ids
                that are gone (another process may have erased them) are passed over.

        Returns:
            How many rows were changed.
        """
        changed = 0
        for names, group in groupby(rows, key=lambda row: tuple(row[1])):
            if names:
                if "text" in names:
                    msg = "field: a text is changed by update()"
                    raise ValueError(msg)
                assignments = [assigned(name) for name in names]
                values = [
                    (*(cell(n, change[n]) for n in names), self.revision, id)
                    for id, change in group
                ]
                changed += self._assign(assignments, values)
        return changed

    def increment(self, rows: Iterable[tuple[str, Mapping[str, int]]]) -> int:
        """Add to counters, so that processes counting at once lose nothing.

        Args:
            rows: (id, {counter: difference}); counters (the three counts and feedback) stop at the
                ends of their ranges. Ids that are gone are passed over.

        Returns:
            How many rows were changed.

        Raises:
            ValueError: a name that is no counter.
        """
        changed = 0
        for names, group in groupby(rows, key=lambda row: tuple(row[1])):
            if names:
                sums = [increased(name) for name in names]
                values = [(*(d[n] for n in names), self.revision, id) for id, d in group]
                changed += self._assign(sums, values)
        return changed

    def _run(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        self._require_whole()
        return super()._run(sql, values)

    def _assign(self, assignments: Sequence[str], values: Sequence[tuple[Any, ...]]) -> int:
        """Run one UPDATE for many rows; the values end with the revision and the id."""
        self._require_whole()
        self._has_changed = True
        sql = f"UPDATE memory SET {', '.join(assignments)}, revision = ? WHERE id = ?"
        before = self._connection.total_changes()
        try:
            self._connection.executemany(sql, values)
        except apsw.Error as error:
            raise self._failed(error) from error
        return self._connection.total_changes() - before

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


def _duplicate(id: str) -> str:
    return f"id: {id!r} exists in the store, or comes twice in the batch"
