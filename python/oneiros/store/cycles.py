"""The stored history of dream cycles, and the reads that cycles need besides memories."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from oneiros.errors import StoreCorrupt
from oneiros.model.fields import FLOAT64_MAX
from oneiros.model.validation import LAST_MOMENT
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import CHANGED, RawRow, checksum_after, insert_of
from oneiros.store.rows import LIFECYCLE

if TYPE_CHECKING:
    from oneiros.store.reading import Reading
    from oneiros.store.transaction import Transaction

__all__ = [
    "HAS_SOUND_TYPES",
    "CycleReading",
    "CycleWriting",
    "DayTaken",
    "StoredContent",
    "StoredCycle",
]


_IS_TIME: Final = f"BETWEEN {-FLOAT64_MAX} AND {LAST_MOMENT}"
_ORPHANS: Final = """
SELECT 'dream cycle number ' || number || ': it undid one that is not there'
FROM dream_cycle WHERE undoes NOT IN (SELECT id FROM dream_cycle WHERE id IS NOT NULL)
UNION ALL
SELECT 'a change of a dream cycle that is not there: number ' || quote(cycle)
FROM dream_content WHERE cycle NOT IN (SELECT number FROM dream_cycle)
UNION ALL
SELECT 'a change by a dream cycle of a memory that is not there: number ' || quote(sequence)
FROM dream_content WHERE sequence NOT IN (SELECT sequence FROM memory)
UNION ALL
SELECT 'a replay of a memory that is not there: number ' || sequence
FROM replay WHERE sequence NOT IN (SELECT sequence FROM memory)
UNION ALL
SELECT 'memory ' || sequence || ': replayed at no time: ' || quote(replayed_at)
FROM replay WHERE NOT coalesce(replayed_at {0}, 0) LIMIT 100"""
_LINKED: Final = """
SELECT first FROM link INDEXED BY link_by_revision WHERE revision > ?1
UNION SELECT second FROM link INDEXED BY link_by_revision WHERE revision > ?1"""
_COUNTS: Final = (
    *("taken_away", "taken_shown", "shown_before", "live_before", "live_after"),
    *("brought_back", "brought_back_shown"),
)
_COUNTED: Final = ", ".join(
    f"""CASE WHEN undoes NOT NULL OR dreamed_at > ?1 - 86400.0 AND dreamed_at < ?1 + 86400.0 THEN
  CASE WHEN typeof(report) = 'text' AND json_valid(report) THEN
    CASE WHEN json_type(report, '$.{name}') = 'integer' THEN
      max(0, min({2**53}, json_extract(report, '$.{name}'))) END END END"""
    for name in _COUNTS
)
APART: Final = ("project", "user", "agent", "namespace")
"""Memories that differ in one of these fields are never merged."""
_TAKEN: Final = f"""
SELECT CAST(id AS BLOB), CAST(undoes AS BLOB),
  coalesce(dreamed_at > ?1 - 86400.0 AND dreamed_at < ?1 + 86400.0, 0), {_COUNTED}
FROM dream_cycle ORDER BY number DESC"""
_OLDER: Final = 100  # cycles per read; a read with none of the day ends the search
_LAST: Final = 30  # the newest cycles, among which a commit's cycle is searched
_AT_ONCE: Final = 10_000
_Rows: TypeAlias = list[tuple[Any, ...]]
_MANY: Final = 20_000  # lookups from which on the whole table is read instead
# By text digests alone: sorting by texts would need memory for all repeated texts.
_SAID_OFTEN: Final = """
SELECT text_digest, min(sequence) AS first FROM memory INDEXED BY memory_by_text
GROUP BY text_digest HAVING count(*) > 1"""
_ALIKE: Final = ("text_digest", "title", "topic", *APART)
_REPEATED: Final = f"""
SELECT {", ".join(_ALIKE)}, sequence FROM memory
WHERE deleted_at IS NULL AND text_digest IN (SELECT text_digest FROM ({_SAID_OFTEN}))
ORDER BY {", ".join(_ALIKE)}, sequence"""
_UNLIKE: Final = f"""
SELECT DISTINCT other.text_digest FROM ({_SAID_OFTEN}) AS often
JOIN memory AS one ON one.sequence = often.first
JOIN memory AS other ON other.text_digest = often.text_digest AND other.text <> one.text"""


class StoredCycle(NamedTuple):
    """An applied dream cycle."""

    number: int
    """Counts cycles in the order in which they were applied."""
    id: str
    revision: int
    """The commit that applied it; 0 if damaged."""
    dreamed_at: float
    """The time by its clock; NaN if damaged."""
    undoes: str | None
    """The id of the cycle that it undid, if any."""
    report: str
    """JSON. When read, bytes that are not UTF-8 become lone surrogates, as in ids."""
    changes: bytes | None
    """Its changes of columns, encoded; None: no longer kept."""
    is_whole: bool = True
    """Whether everything but the changes matches its checksum."""


class DayTaken(NamedTuple):
    """The memories that the cycles of a day removed."""

    memories: int
    """The number of removals, less those brought back by undoing."""
    shown: int | None
    """The memories neither deleted nor archived before the first of these cycles; None: there was no
    cycle."""
    taken_shown: int = 0
    """The part of ``memories`` that was neither deleted nor archived before."""


class StoredContent(NamedTuple):
    """A change of a cycle outside of the columns."""

    sequence: int
    field: str
    rule: str
    before: Any
    after: Any


class CycleReading:
    """Reads the history of cycles. Made by ``Reading``."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def dream_cycles(self, limit: int) -> list[StoredCycle]:
        """Return the last cycles, newest first, without their changes."""
        return list(self._cycles("NULL", "ORDER BY number DESC LIMIT ?", (limit,)))

    def every_dream_cycle(self) -> Iterator[StoredCycle]:
        """Yield all cycles, oldest first, without their changes."""
        return self._cycles("NULL", "ORDER BY number")

    def _cycles(self, changes: str, rest: str, values: Sequence[Any] = ()) -> Iterator[StoredCycle]:
        """Yield cycles, damaged ones included.

        Args:
            changes: SQL for what to read in place of the changes.
            rest: the SQL after the table's name.
            values: bound in ``rest``.
        """
        rows = self._reading.raw(
            "dream_cycle", besides=("number", changes), rest=rest, values=values
        )
        return map(_cycle, rows)

    def dream_changes(self, number: int) -> bytes | None:
        """Return a cycle's changes of columns, encoded; None: no longer kept."""
        rows = self._reading.rows("SELECT changes FROM dream_cycle WHERE number = ?", (number,))
        changes: bytes | None = rows[0][0] if rows else None
        return changes

    def dream_orphans(self) -> list[str]:
        """Return sentences on inconsistent records that cycles left; at most 100."""
        return [str(row[0]) for row in self._reading.rows(_ORPHANS.format(_IS_TIME))]

    def dream_cycle(self, id: str) -> StoredCycle | None:
        """Return the cycle of an id, or None."""
        return next(self._cycles("changes", "WHERE id = ?", (id,)), None)

    def cycle_of_commit(self, revision: int) -> StoredCycle | None:
        """Return the cycle that a commit applied, if it is one of the last; else None."""
        last = f"SELECT number FROM dream_cycle ORDER BY number DESC LIMIT {_LAST}"
        found = self._cycles("changes", f"WHERE number IN ({last}) AND revision = ?", (revision,))
        return next(found, None)

    def undone_by(self, id: str) -> str | None:
        """Return the id of the cycle that undid this one, or None."""
        rows = self._reading.rows("SELECT id FROM dream_cycle WHERE undoes = ?", (id,))
        return rows[0][0] if rows else None

    def undoings(self) -> dict[str, str]:
        """Return the ids of undos by the id of the cycle that each undid."""
        rows = self._reading.rows(
            "SELECT CAST(undoes AS BLOB), CAST(id AS BLOB) FROM dream_cycle "
            "WHERE typeof(undoes) = 'text' AND typeof(id) = 'text'"
        )
        return {_text(undone) or "": _text(undo) or "" for undone, undo in rows}

    def undoable_numbers(self) -> set[int]:
        """Return the numbers of the cycles that are no undos and whose changes are kept."""
        sql = "SELECT number FROM dream_cycle WHERE changes IS NOT NULL AND undoes IS NULL"
        return {row[0] for row in self._reading.rows(sql)}

    def dream_contents(self, number: int) -> list[StoredContent]:
        """Return a cycle's changes outside of the columns, in order.

        Raises:
            StoreCorrupt: a change is damaged.
        """
        found = []
        rest = "WHERE cycle = ? ORDER BY rowid"
        for is_whole, (_, *cells), _ in self._reading.raw(
            "dream_content", rest=rest, values=(number,)
        ):
            if not is_whole:
                msg = (
                    "the store holds damaged changes of a dream cycle "
                    f"(memory {cells[0]}, field {cells[1]!r}: the checksum is another)"
                )
                raise StoreCorrupt(msg)
            found.append(StoredContent._make(cells))
        return found

    def last_dreamed_at(self) -> float | None:
        """Return the clock of the last cycle that neither undid one nor was undone; None: no such.

        Damaged clocks are skipped.
        """
        sql = f"""
SELECT dreamed_at FROM dream_cycle AS cycle
WHERE undoes IS NULL AND dreamed_at {_IS_TIME} AND NOT EXISTS (
  SELECT 1 FROM dream_cycle AS later WHERE later.undoes = cycle.id)
ORDER BY number DESC LIMIT 1"""
        rows = self._reading.rows(sql)
        return rows[0][0] if rows else None

    def taken_in_day(self, now: float) -> DayTaken:
        """Return the memories that cycles removed within 24 hours of a moment, by their clocks.

        Memories brought back by undoing a cycle do not count; those that undoing could not bring
        back (purged before, or changed since) do. Cycles with a damaged report do not count. Those
        ahead of the moment do, since another process may have another clock.

        Args:
            now: in seconds UTC.
        """
        cursor = self._reading.run(_TAKEN, (now,))
        taken, taken_shown, shown = 0, 0, None
        back: dict[bytes, tuple[int, int]] = {}
        while rows := self._reading.fetch(cursor, _OLDER):
            if not any(is_within for _, _, is_within, *_ in rows):
                break
            for id, undoes, is_within, *counts in rows:
                count, count_shown, before_shown, before, after, again, again_shown = counts
                if undoes is not None:
                    back[undoes] = again or 0, again_shown or 0
                elif is_within and before is not None:
                    if count is None:  # a report of an older version, which counts only deletions
                        count = max(0, before - (after or 0))
                    again, again_shown = back.get(id, (0, 0))
                    if id in back and again >= count:
                        continue  # all of it was brought back
                    taken += count - again
                    taken_shown += max(
                        0, (count if count_shown is None else count_shown) - again_shown
                    )
                    shown = before if before_shown is None else before_shown
        return DayTaken(taken, shown, taken_shown)

    def deleted_before(self, time: float) -> list[int]:
        """Return the sequence numbers of memories soft-deleted before a moment, in order."""
        sql = "SELECT sequence FROM memory WHERE deleted_at < ? ORDER BY sequence"
        return [row[0] for row in self._reading.rows(sql, (time,))]

    def replayed_at(self) -> dict[int, float]:
        """Return the times of the last replay, by sequence number."""
        sql = "SELECT sequence, replayed_at FROM replay WHERE replayed_at"
        return dict(self._reading.rows(f"{sql} {_IS_TIME}"))

    def changed_since(self, revision: int) -> set[int]:
        """Return the sequence numbers of memories that a later commit added or changed."""
        return {row[0] for row in self._reading.rows(CHANGED, (revision,))}

    def memories_changed_by(self, revision: int) -> set[int]:
        """Return the sequence numbers of the rows of ``memory`` last changed by a commit."""
        sql = "SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision = ?"
        return {row[0] for row in self._reading.rows(sql, (revision,))}

    def linked_since(self, revision: int) -> set[int]:
        """Return the sequence numbers of memories whose links a later commit set or removed.

        Links removed by erasing a memory are not included, nor are ends that damage gave another
        type.
        """
        return {
            row[0] for row in self._reading.rows(_LINKED, (revision,)) if isinstance(row[0], int)
        }

    def ids(self, sequences: Sequence[int]) -> list[str | None]:
        """Return the ids of sequence numbers, in their order; None for unknown ones."""
        if len(sequences) > _MANY:
            known: dict[int, str] = dict(self._reading.rows("SELECT sequence, id FROM memory"))
        else:
            sql = (
                "SELECT sequence, id FROM memory WHERE sequence IN (SELECT value FROM json_each(?))"
            )
            known = dict(self._reading.rows(sql, (json.dumps(list(sequences)),)))
        return [known.get(sequence) for sequence in sequences]

    def numbers(self, names: Sequence[str], sequences: Sequence[int]) -> Iterator[_Rows]:
        """Yield lists of (sequence number, *stored values).

        Args:
            names: fields, all of ``memory`` or all of ``lifecycle``.
            sequences: of memories, ascending. If there are many, all memories are yielded.
        """
        table = "lifecycle" if names[0] in LIFECYCLE else "memory"
        sql = f"SELECT sequence, {', '.join(names)} FROM {table}"
        if len(sequences) > _MANY:
            cursor = self._reading.run(f"{sql} ORDER BY sequence")
            while rows := self._reading.fetch(cursor, _AT_ONCE):
                yield rows
            return
        sql = f"{sql} WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence"
        for start in range(0, len(sequences), _AT_ONCE):
            part = json.dumps(sequences[start : start + _AT_ONCE])
            yield self._reading.rows(sql, (part,))

    def replays(self, sequences: Sequence[int]) -> list[float | None]:
        """Return the times when memories were last replayed; None: never."""
        sql = f"SELECT replayed_at FROM replay WHERE sequence = ? AND replayed_at {_IS_TIME}"
        found = (self._reading.rows(sql, (sequence,)) for sequence in sequences)
        return [rows[0][0] if rows else None for rows in found]

    def repeated_texts(self) -> list[list[int]]:
        """Return groups of the sequence numbers of live memories with equal titles and texts.

        The members of a group also share topic and the fields of :data:`APART` (which may be
        missing). Each group has at least two, in order of insertion.
        """
        unlike = {row[0] for row in self._reading.rows(_UNLIKE)}  # equal digests of different texts
        found: list[list[int]] = []
        for (digest, *_), rows in groupby(self._reading.rows(_REPEATED), key=lambda row: row[:-1]):
            sequences = [row[-1] for row in rows]
            found += self._of_one_text(digest, sequences) if digest in unlike else [sequences]
        return [sequences for sequences in found if len(sequences) > 1]

    def _of_one_text(self, digest: int, sequences: Sequence[int]) -> list[list[int]]:
        """Group memories with equal digests by their texts; return sequence numbers."""
        sql = "SELECT sequence, text FROM memory WHERE text_digest = ?"
        texts: dict[int, str] = dict(self._reading.rows(sql, (digest,)))
        found: dict[str, list[int]] = {}
        for sequence in sequences:
            found.setdefault(texts[sequence], []).append(sequence)
        return list(found.values())


def _cycle(row: RawRow) -> StoredCycle:
    """Return a cycle; values of a wrong type count as missing."""
    (id, revision, dreamed_at, undoes, report), (number, changes) = row.cells, row.besides
    return StoredCycle(
        number=number,
        id=_text(id) or "",
        revision=revision if isinstance(revision, int) else 0,
        dreamed_at=dreamed_at if isinstance(dreamed_at, float) else math.nan,
        undoes=_text(undoes),
        report=_text(report) or "",
        changes=changes,
        is_whole=row.is_whole,
    )


def _text(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.decode(errors="surrogateescape")
    return None if cell is None else str(cell)


_KEEP_REPLAY: Final = """
INSERT INTO replay (sequence, replayed_at) VALUES (?, ?)
ON CONFLICT (sequence) DO UPDATE SET replayed_at = excluded.replayed_at"""
_ADD_CYCLE: Final = insert_of("dream_cycle", besides=["changes"])
_ADD_CONTENT: Final = insert_of("dream_content")

_IS_OLD: Final = """number <= (
  SELECT number FROM dream_cycle WHERE undoes IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?)"""
_FORGET_CYCLES: Final = """
DELETE FROM dream_cycle WHERE number <= (
  SELECT number FROM dream_cycle ORDER BY number DESC LIMIT 1 OFFSET ?)"""
_TYPES: Final = {
    "id": "text", "revision": "integer", "dreamed_at": "real", "undoes": "text", "report": "text",
}  # fmt: skip
HAS_SOUND_TYPES: Final = " AND ".join(
    f"typeof({name}) IN ('{type}', 'null')" for name, type in _TYPES.items()
)
"""Whether SQLite can update a row: in a STRICT table it checks the types of all its cells."""

_LISTS: Final = ("named", "changed_since", "not_restored")
# Text that is not JSON is left unchanged. CASE, as SQLite may evaluate other terms in any order.
_SHORTENED: Final = f"""
CASE WHEN json_valid(report) THEN
  json_set(report, {", ".join(f"'$.{name}', json('[]')" for name in _LISTS)}) ELSE report END"""
_LEFT_SOME: Final = """
undoes IS NOT NULL AND
CASE WHEN json_valid(report) THEN json_array_length(report, '$.not_restored') END > 0"""


class CycleWriting(CycleReading):
    """Writes the history of cycles. Made by ``Transaction``."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        self._transaction = transaction

    def add_dream_cycle(self, cycle: StoredCycle, contents: Iterable[StoredContent]) -> None:
        """Record a cycle as part of this commit.

        Args:
            cycle: its number and revision are set here.
            contents: its changes outside of the columns.
        """
        self._transaction.note_change()
        values = (cycle.dreamed_at, cycle.undoes, cycle.report, cycle.changes)
        self._transaction.run(_ADD_CYCLE, (cycle.id, self._transaction.revision, *values))
        number = self._transaction.last_row()
        for content in contents:
            self._transaction.run(_ADD_CONTENT, (number, *content))

    def forget_dream_changes(self, keep: int) -> None:
        """Drop the changes of all but the last cycles, and the names of memories in their reports.

        Names make up most of a report, and cycles run every few hours for years. A row with a cell
        of a wrong type (damage) cannot be updated and is left unchanged, with its changes.

        Args:
            keep: the number of cycles that can still be undone, not counting undoings.
        """
        old = f"{_IS_OLD} AND {HAS_SOUND_TYPES}"
        after = checksum_after({"report": _SHORTENED})
        sql = f"UPDATE dream_cycle SET report = {_SHORTENED}, changes = NULL, checksum = {after} WHERE"
        self._transaction.run(f"{sql} (changes IS NOT NULL OR {_LEFT_SOME}) AND {old}", (keep,))
        dropped = f"(SELECT number FROM dream_cycle WHERE changes IS NULL AND {_IS_OLD})"
        self._transaction.run(f"DELETE FROM dream_content WHERE cycle IN {dropped}", (keep,))

    def forget_old_cycles(self, keep: int) -> None:
        """Remove all but the last cycles, undoings included, with their reports.

        Args:
            keep: the number of cycles; more than can still be undone.
        """
        self._transaction.run(_FORGET_CYCLES, (keep,))

    def keep_replays(self, sequences: Iterable[int], time: float) -> None:
        """Record when memories were replayed."""
        for sequence in sequences:
            self._transaction.run(_KEEP_REPLAY, (sequence, time))

    def forget_replay(self, sequence: int) -> None:
        """Forget when a memory was replayed."""
        self._transaction.run("DELETE FROM replay WHERE sequence = ?", (sequence,))
