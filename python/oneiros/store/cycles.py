"""The history of dream cycles in the store, and what cycles read besides memories."""

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
from oneiros.store.checksums import RawRow, checksum_after, insert_of
from oneiros.store.lifecycle_rows import LIFECYCLE
from oneiros.store.states import CHANGED

if TYPE_CHECKING:
    from oneiros.store.reading import Reading
    from oneiros.store.transaction import Transaction

__all__ = ["CycleReading", "CycleWriting", "DayTaken", "StoredContent", "StoredCycle"]


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
_TAKEN: Final = f"""
SELECT CAST(id AS BLOB), CAST(undoes AS BLOB),
  coalesce(dreamed_at > ?1 - 86400.0 AND dreamed_at < ?1 + 86400.0, 0), {_COUNTED}
FROM dream_cycle ORDER BY number DESC"""
_OLDER: Final = 100  # cycles in a row outside of a day, before which none is looked for
_LAST: Final = 30  # cycles of which one may be the next commit's: of others no changes are kept
_AT_ONCE: Final = 10_000
_Rows: TypeAlias = list[tuple[Any, ...]]
_MANY: Final = 20_000  # ids to look up: with more of them all are read
# By the texts' numbers alone: to sort by the texts would take the room of all that is said often.
_SAID_OFTEN: Final = """
SELECT text_digest, min(sequence) AS first FROM memory INDEXED BY memory_by_text
GROUP BY text_digest HAVING count(*) > 1"""
_REPEATED: Final = f"""
SELECT text_digest, topic, project, sequence FROM memory
WHERE deleted_at IS NULL AND text_digest IN (SELECT text_digest FROM ({_SAID_OFTEN}))
ORDER BY text_digest, topic, project, sequence"""
_UNLIKE: Final = f"""
SELECT DISTINCT other.text_digest FROM ({_SAID_OFTEN}) AS often
JOIN memory AS one ON one.sequence = often.first
JOIN memory AS other ON other.text_digest = often.text_digest AND other.text <> one.text"""


class StoredCycle(NamedTuple):
    """One dream cycle that was applied."""

    number: int
    """In the order in which they were applied."""
    id: str
    revision: int
    """Of the commit that applied it; 0 where that is damaged."""
    dreamed_at: float
    """Its clock; NaN where that is damaged."""
    undoes: str | None
    """The cycle that it undid."""
    report: str
    """As JSON; as it was read, bytes that are not UTF-8 are lone surrogates, as in ids."""
    changes: bytes | None
    """What it changed in columns, encoded; None: no longer kept."""
    is_whole: bool = True
    """Whether all but the changes is what was written."""


class DayTaken(NamedTuple):
    """What the cycles of a day took away."""

    memories: int
    """How many, each time that one went, less those that undoing brought back."""
    shown: int | None
    """The memories that were neither deleted nor archived at the first of these cycles; None: there
    was none."""
    taken_shown: int = 0
    """Of ``memories``, those that were neither deleted nor archived before, and are now."""


class StoredContent(NamedTuple):
    """One change of a cycle outside of the columns."""

    sequence: int
    field: str
    rule: str
    before: Any
    after: Any


class CycleReading:
    """Reads what cycles left. Made by ``Reading``."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def dream_cycles(self, limit: int) -> list[StoredCycle]:
        """Return the last cycles, the newest first, without what they changed."""
        return list(self._cycles("NULL", "ORDER BY number DESC LIMIT ?", (limit,)))

    def every_dream_cycle(self) -> Iterator[StoredCycle]:
        """Yield all cycles, the oldest first, without what they changed."""
        return self._cycles("NULL", "ORDER BY number")

    def _cycles(self, changes: str, rest: str, values: Sequence[Any] = ()) -> Iterator[StoredCycle]:
        """Yield cycles; whatever their cells hold, they can be read.

        Args:
            changes: SQL for what is read of the changes.
            rest: which, and in what order.
            values: bound in it.
        """
        rows = self._reading.raw(
            "dream_cycle", besides=["number", changes], rest=rest, values=values
        )
        return map(_cycle, rows)

    def dream_changes(self, number: int) -> bytes | None:
        """Return what the cycle of a number changed in columns, encoded; None: no longer kept."""
        rows = self._reading.rows("SELECT changes FROM dream_cycle WHERE number = ?", (number,))
        changes: bytes | None = rows[0][0] if rows else None
        return changes

    def dream_orphans(self) -> list[str]:
        """Return what is wrong with what cycles left of memories, as sentences; at most a hundred."""
        return [str(row[0]) for row in self._reading.rows(_ORPHANS.format(_IS_TIME))]

    def dream_cycle(self, id: str) -> StoredCycle | None:
        """Return the cycle of an id; None where there is none."""
        return next(self._cycles("changes", "WHERE id = ?", (id,)), None)

    def cycle_of_commit(self, revision: int) -> StoredCycle | None:
        """Return the cycle that a commit applied, one of the last; None where it applied none."""
        last = f"SELECT number FROM dream_cycle ORDER BY number DESC LIMIT {_LAST}"
        found = self._cycles("changes", f"WHERE number IN ({last}) AND revision = ?", (revision,))
        return next(found, None)

    def undone_by(self, id: str) -> str | None:
        """Return the id of the cycle that undid this one; None where it stands."""
        rows = self._reading.rows("SELECT id FROM dream_cycle WHERE undoes = ?", (id,))
        return rows[0][0] if rows else None

    def dream_contents(self, number: int) -> list[StoredContent]:
        """Return what a cycle changed outside of the columns, in order.

        Raises:
            StoreCorrupt: one of these is not what was written.
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
        """Return the clock of the last cycle that was not one of undoing; None before the first.

        A clock that is damaged is passed over.
        """
        sql = f"""
SELECT dreamed_at FROM dream_cycle AS cycle
WHERE undoes IS NULL AND dreamed_at {_IS_TIME} AND NOT EXISTS (
  SELECT 1 FROM dream_cycle AS later WHERE later.undoes = cycle.id)
ORDER BY number DESC LIMIT 1"""
        rows = self._reading.rows(sql)
        return rows[0][0] if rows else None

    def taken_in_day(self, now: float) -> DayTaken:
        """Return what cycles took away within 24 hours of a moment, by their clocks.

        Of a cycle that was undone, what the undoing brought back does not count: what was purged
        before, or changed since, is still away. Cycles whose report is damaged do not count. Those
        ahead of the moment do, since another process may have another clock.

        Args:
            now: seconds UTC.
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
                    if count is None:  # an older version's report, which counts the deleted alone
                        count = max(0, before - (after or 0))
                    again, again_shown = back.get(id, (0, 0))
                    if id in back and again >= count:
                        continue  # as if it had not been
                    taken += count - again
                    taken_shown += max(
                        0, (count if count_shown is None else count_shown) - again_shown
                    )
                    shown = before if before_shown is None else before_shown
        return DayTaken(taken, shown, taken_shown)

    def deleted_before(self, time: float) -> list[int]:
        """Return the sequence numbers of the memories soft-deleted before a moment, in order."""
        sql = "SELECT sequence FROM memory WHERE deleted_at < ? ORDER BY sequence"
        return [row[0] for row in self._reading.rows(sql, (time,))]

    def replayed_at(self) -> dict[int, float]:
        """Return when memories were last replayed, by sequence number."""
        sql = "SELECT sequence, replayed_at FROM replay WHERE replayed_at"
        return dict(self._reading.rows(f"{sql} {_IS_TIME}"))

    def changed_since(self, revision: int) -> set[int]:
        """Return the sequence numbers of the memories that a later commit added or changed."""
        return {row[0] for row in self._reading.rows(CHANGED, (revision,))}

    def memories_changed_by(self, revision: int) -> set[int]:
        """Return the sequence numbers of the rows of ``memory`` that a commit was the last to change."""
        sql = "SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision = ?"
        return {row[0] for row in self._reading.rows(sql, (revision,))}

    def linked_since(self, revision: int) -> set[int]:
        """Return the sequence numbers of memories of which a later commit made, changed or took a link.

        A link that went with a memory that was erased is none of these, nor is an end that damage
        gave another type.
        """
        return {
            row[0] for row in self._reading.rows(_LINKED, (revision,)) if isinstance(row[0], int)
        }

    def ids(self, sequences: Sequence[int]) -> list[str | None]:
        """Return the ids of sequence numbers, in their order; None where there is none."""
        if len(sequences) > _MANY:
            known: dict[int, str] = dict(self._reading.rows("SELECT sequence, id FROM memory"))
        else:
            sql = "SELECT sequence, id FROM memory WHERE sequence = ?"
            known = dict(found[0] for s in sequences if (found := self._reading.rows(sql, (s,))))
        return [known.get(sequence) for sequence in sequences]

    def numbers(self, names: Sequence[str], sequences: Sequence[int]) -> Iterator[_Rows]:
        """Yield rows of sequence number and values, as a table holds them, of memories.

        Args:
            names: fields, all of ``memory`` or all of ``lifecycle``.
            sequences: of the memories, rising; with many of them, others come as well.
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
        """Return when memories of sequence numbers were last replayed; None where never."""
        sql = f"SELECT replayed_at FROM replay WHERE sequence = ? AND replayed_at {_IS_TIME}"
        found = (self._reading.rows(sql, (sequence,)) for sequence in sequences)
        return [rows[0][0] if rows else None for rows in found]

    def repeated_texts(self) -> list[list[int]]:
        """Return the sequence numbers of live memories that say the same, group by group.

        A group is of one topic and one project, none being one, too. It has at least two, in order
        of insertion.
        """
        unlike = {
            row[0] for row in self._reading.rows(_UNLIKE)
        }  # of one number, and not of one text
        found: list[list[int]] = []
        for (digest, *_), rows in groupby(self._reading.rows(_REPEATED), key=lambda row: row[:3]):
            sequences = [row[3] for row in rows]
            found += self._of_one_text(digest, sequences) if digest in unlike else [sequences]
        return [sequences for sequences in found if len(sequences) > 1]

    def _of_one_text(self, digest: int, sequences: Sequence[int]) -> list[list[int]]:
        """Return the sequence numbers of memories whose texts have one number, parted by their texts."""
        sql = "SELECT sequence, text FROM memory WHERE text_digest = ?"
        texts: dict[int, str] = dict(self._reading.rows(sql, (digest,)))
        found: dict[str, list[int]] = {}
        for sequence in sequences:
            found.setdefault(texts[sequence], []).append(sequence)
        return list(found.values())


def _cycle(row: RawRow) -> StoredCycle:
    """Return a cycle; what is of another type is as good as none."""
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


def _text(held: object) -> str | None:
    if isinstance(held, bytes):
        return held.decode(errors="surrogateescape")
    return None if held is None else str(held)


_KEEP_REPLAY: Final = """
INSERT INTO replay (sequence, replayed_at) VALUES (?, ?)
ON CONFLICT (sequence) DO UPDATE SET replayed_at = excluded.replayed_at"""
_ADD_CYCLE: Final = insert_of("dream_cycle", besides=["changes"])
_ADD_CONTENT: Final = insert_of("dream_content")

_IS_OLD: Final = """number <= (
  SELECT number FROM dream_cycle WHERE undoes IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?)"""
_TYPES: Final = {
    "id": "text", "revision": "integer", "dreamed_at": "real", "undoes": "text", "report": "text",
}  # fmt: skip
_IS_SOUND: Final = " AND ".join(
    f"typeof({name}) IN ('{type}', 'null')" for name, type in _TYPES.items()
)
"""Whether SQLite changes a row: of a STRICT table it looks at the types of all that stands in it."""

_LISTS: Final = ("named", "changed_since", "not_restored")
# What is no JSON stays as it is. CASE, since SQLite may ask other terms in any order.
_SHORTENED: Final = f"""
CASE WHEN json_valid(report) THEN
  json_set(report, {", ".join(f"'$.{name}', json('[]')" for name in _LISTS)}) ELSE report END"""
_LEFT_SOME: Final = """
undoes IS NOT NULL AND
CASE WHEN json_valid(report) THEN json_array_length(report, '$.not_restored') END > 0"""


class CycleWriting(CycleReading):
    """Writes what cycles leave. Made by ``Transaction``."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        self._transaction = transaction

    def add_dream_cycle(self, cycle: StoredCycle, contents: Iterable[StoredContent]) -> None:
        """Note a cycle as part of this commit.

        Args:
            cycle: its number and revision are given here, whatever it says.
            contents: what it changed outside of the columns.
        """
        self._transaction.note_change()
        values = (cycle.dreamed_at, cycle.undoes, cycle.report, cycle.changes)
        self._transaction.run(_ADD_CYCLE, (cycle.id, self._transaction.revision, *values))
        number = self._transaction.last_row()
        for content in contents:
            self._transaction.run(_ADD_CONTENT, (number, *content))

    def forget_dream_changes(self, keep: int) -> None:
        """Drop what all but the last cycles changed; their reports stay, and name nothing any more.

        Names are nearly all of a report, and cycles run every few hours for years.

        A row that damage gave a cell of another type can only be left as it is, with all it changed.

        Args:
            keep: how many can still be undone; undoings are none of them.
        """
        old = f"{_IS_OLD} AND {_IS_SOUND}"
        after = checksum_after({"report": _SHORTENED})
        sql = f"UPDATE dream_cycle SET report = {_SHORTENED}, changes = NULL, checksum = {after} WHERE"
        self._transaction.run(f"{sql} (changes IS NOT NULL OR {_LEFT_SOME}) AND {old}", (keep,))
        dropped = f"(SELECT number FROM dream_cycle WHERE changes IS NULL AND {_IS_OLD})"
        self._transaction.run(f"DELETE FROM dream_content WHERE cycle IN {dropped}", (keep,))

    def keep_replays(self, sequences: Iterable[int], time: float) -> None:
        """Note when memories were replayed."""
        for sequence in sequences:
            self._transaction.run(_KEEP_REPLAY, (sequence, time))

    def forget_replay(self, sequence: int) -> None:
        """Forget when a memory was replayed."""
        self._transaction.run("DELETE FROM replay WHERE sequence = ?", (sequence,))
