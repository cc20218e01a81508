"""Fields of memories set and their counters raised, in whichever table they lie.

Every write works by sequence number. An id is resolved once, by the engine's read model or by the
index of ids; of the index, the row's own id is compared, so that a damaged index changes no other
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias

import apsw

from oneiros.errors import UnknownMemory
from oneiros.fields import U32_MAX
from oneiros.store.assignments import assigned, increased, update_of
from oneiros.store.cells import cell, text_digest
from oneiros.store.lifecycle_rows import parted
from oneiros.store.row_inserting import RowInserting
from oneiros.store.rows import StoredMemory, index_damage

__all__ = ["NumbersOf", "RowWriting"]

NumbersOf: TypeAlias = Callable[[Sequence[str]], Sequence[int | None]]
"""Returns the sequence numbers of ids, in their order; None where it is not known."""

# The last column: whether the row itself has the id; None: there is no row.
_FOUND: Final = """
SELECT ?1, found.sequence, (
  SELECT CAST(held.id AS BLOB) = CAST(?1 AS BLOB)
  FROM memory AS held NOT INDEXED WHERE held.sequence = found.sequence)
FROM memory AS found INDEXED BY sqlite_autoindex_memory_1 WHERE found.id = ?1"""


def _nothing_known(ids: Sequence[str]) -> Sequence[int | None]:
    return [None] * len(ids)


class RowWriting(RowInserting):
    """Inserts and updates under one revision number."""

    known: NumbersOf = staticmethod(_nothing_known)
    """Gives numbers without the index. The engine sets it to its read model, which holds what the
    transaction saw when it began."""

    def sequences_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the sequence numbers of ids, of those that are there.

        Raises:
            StoreCorrupt: the index leads to another memory; the id is named.
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

    def require_indexed(self, ids: Sequence[str]) -> None:
        """Refuse to write to memories that the index of ids does not lead to.

        Raises:
            StoreCorrupt: it leads to another memory, or to none although one is known; it is named.
        """
        found = self._indexed(ids)
        for id, number in zip(ids, self.known(ids), strict=True):
            if number is not None and id not in self._erased and found[id] != number:
                raise index_damage(id)

    def _indexed(self, ids: Sequence[str]) -> dict[str, int | None]:
        """Return the numbers that the index of ids gives; None where it has none."""
        self._require_whole()
        found: dict[str, int | None] = dict.fromkeys(ids)
        try:
            rows = list(self._connection.executemany(_FOUND, [(id,) for id in ids]))
        except apsw.Error as error:
            raise self._failed(error) from error
        for id, number, is_of_id in rows:
            if not is_of_id:
                raise index_damage(id)
            found[id] = number
        return found

    def _number(self, id: str) -> int:
        """Return the sequence number of an id.

        Raises:
            UnknownMemory: there is none.
        """
        number = self.sequences_of([id]).get(id)
        if number is None:
            msg = f"no memory has the id {id!r}"
            raise UnknownMemory(msg)
        return number

    def update(self, id: str, changes: Mapping[str, object]) -> None:
        """Change a memory as its user asks; its ``revision_count`` goes up by one.

        Args:
            id: the memory, soft-deleted or not.
            changes: values as ``validate_changes`` returns them (``updated_at`` among them: the
                store reads no clock), but ``embedding`` encoded.

        Raises:
            UnknownMemory: there is none.
        """
        own, lifecycle = parted(changes)
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
        if lifecycle:
            values = [cell(name, changes[name]) for name in lifecycle]
            assignments = [assigned(name) for name in lifecycle]
            self._assign(assignments, [(*values, self.revision, number)], table="lifecycle")

    def update_columns(self, rows: Iterable[tuple[str, Mapping[str, object]]]) -> int:
        """Set fields as they are given; what an update counts is not counted.

        Args:
            rows: (id, {field: value}); values as a memory holds them, ``embedding`` encoded. Ids
                that are gone (another process may have erased them) are passed over.

        Returns:
            How many rows were changed.
        """
        return self._update_numbered(self._by_number(rows, _column))

    def _update_numbered(self, rows: Iterable[tuple[int, Mapping[str, object]]]) -> int:
        """Set fields as :meth:`update_columns` does, of memories by their sequence numbers."""
        changed = 0
        for names, group in groupby(rows, key=lambda row: tuple(row[1])):
            changed += self._set(names, _column, list(group), cell)
        return changed

    def _by_number(
        self,
        rows: Iterable[tuple[str, Mapping[str, Any]]],
        said: Callable[[str], tuple[str, str]],
    ) -> list[tuple[int, Mapping[str, Any]]]:
        """Return rows with numbers in place of their ids, without those that are gone.

        Args:
            rows: (id, {field: value}).
            said: raises for a field that cannot be set, also of an id that is gone.
        """
        given = list(rows)
        for name in dict.fromkeys(name for _, change in given for name in change):
            said(name)
        numbers = self.sequences_of(id for id, _ in given)
        return [(numbers[id], change) for id, change in given if id in numbers]

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
        numbered = self._by_number(rows, increased)
        for names, group in groupby(numbered, key=lambda row: tuple(row[1])):
            changed += self._set(names, increased, list(group), _as_is)
        return changed

    def _set(
        self,
        names: Sequence[str],
        said: Callable[[str], tuple[str, str]],
        rows: Sequence[tuple[int, Mapping[str, Any]]],
        held: Callable[[str, Any], Any],
    ) -> int:
        """Set columns of both tables; returns of how many memories.

        Args:
            names: fields that every row has.
            said: makes the column and the SQL for a field.
            rows: (sequence number, {field: value}).
            held: makes what the table holds of a field's value.
        """
        sql = {name: said(name) for name in names}  # may refuse; so it comes first
        changed = 0
        for table, part in zip(("memory", "lifecycle"), parted(names), strict=True):
            if part:
                values = [
                    (*(held(name, change[name]) for name in part), self.revision, number)
                    for number, change in rows
                ]
                assignments = [sql[name] for name in part]
                changed = max(changed, self._assign(assignments, values, table=table))
        return changed

    def _assign(
        self,
        assignments: Sequence[tuple[str, str]],
        values: Sequence[tuple[Any, ...]],
        *,
        table: str = "memory",
    ) -> int:
        """Run one UPDATE of a table for many rows; the values end with the revision and the number."""
        self._require_whole()
        self._has_changed = True
        before = self._connection.total_changes()
        self._run_many(update_of(table, tuple(assignments)), values)
        return self._connection.total_changes() - before

    def _run_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(sql, values)
        except apsw.Error as error:
            raise self._failed(error) from error
        except UnicodeDecodeError as error:  # met where a checksum takes a former value in
            self.failure = self.failure or apsw.CorruptError(str(error))
            raise self._not_utf8(error) from error


def _column(name: str) -> tuple[str, str]:
    """Return what ``assigned`` does of a field that is no part of a revision."""
    if name in ("text", "title"):
        msg = "field: a text or title is changed by update()"
        raise ValueError(msg)
    return assigned(name)


def _as_is(_: str, value: Any) -> Any:
    return value
