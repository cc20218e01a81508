"""Fields of memories set and their counters raised, in whichever table they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import apsw

from oneiros.errors import UnknownMemory
from oneiros.fields import U32_MAX
from oneiros.store.assignments import assigned, increased, update_of
from oneiros.store.cells import cell, text_digest
from oneiros.store.lifecycle_rows import parted
from oneiros.store.row_inserting import RowInserting

__all__ = ["RowWriting"]


class RowWriting(RowInserting):
    """Inserts and updates under one revision number."""

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
        if self._assign(assignments, [(*values, self.revision, id)]) == 0:
            msg = f"no memory has the id {id!r}"
            raise UnknownMemory(msg)
        if lifecycle:
            values = [cell(name, changes[name]) for name in lifecycle]
            assignments = [assigned(name) for name in lifecycle]
            self._assign(assignments, [(*values, self.revision, id)], table="lifecycle")

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
            if "text" in names or "title" in names:
                msg = "field: a text or title is changed by update()"
                raise ValueError(msg)
            changed += self._set(names, assigned, list(group), cell)
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
            changed += self._set(names, increased, list(group), _as_is)
        return changed

    def _set(
        self,
        names: Sequence[str],
        said: Callable[[str], tuple[str, str]],
        rows: Sequence[tuple[str, Mapping[str, Any]]],
        held: Callable[[str, Any], Any],
    ) -> int:
        """Set columns of both tables; returns of how many memories.

        Args:
            names: fields that every row has.
            said: makes the column and the SQL for a field.
            rows: as ``update_columns`` takes them.
            held: makes what the table holds of a field's value.
        """
        sql = {name: said(name) for name in names}  # may refuse; so it comes first
        changed = 0
        for table, part in zip(("memory", "lifecycle"), parted(names), strict=True):
            if part:
                values = [
                    (*(held(name, change[name]) for name in part), self.revision, id)
                    for id, change in rows
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
        """Run one UPDATE of a table for many rows; the values end with the revision and the id."""
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


def _as_is(_: str, value: Any) -> Any:
    return value
