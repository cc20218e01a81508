"""What the dream cycle writes besides the fields of memories: its own history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from oneiros.store.checksums import checksum_after, insert_of
from oneiros.store.cycle_reading import CycleReading, StoredContent, StoredCycle

if TYPE_CHECKING:
    from oneiros.store.transaction import Transaction

__all__ = ["CycleWriting"]

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
