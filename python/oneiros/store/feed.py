"""The changes of memories in order of revision, for followers of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from oneiros._lazy import heapq
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oneiros.store.reading import Reading

__all__ = ["ChangedMemory", "changes_by_revision"]

_AT_ONCE: Final = 256
# A damaged id need not be UTF-8, so ids are read as bytes. Each memory is found once, by the later of
# its two revisions. An order of the indexes needs no sorting.
_CELLS: Final = "CAST(memory.id AS BLOB), memory.deleted_at IS NOT NULL, memory.sequence"
_MEMORIES: Final = f"""
SELECT memory.revision, {_CELLS}
FROM memory INDEXED BY memory_by_revision
LEFT JOIN lifecycle ON lifecycle.sequence = memory.sequence
WHERE memory.revision > ? AND memory.revision >= coalesce(lifecycle.revision, 0){{bounds}}
ORDER BY memory.revision, memory.sequence"""
_STATES: Final = f"""
SELECT lifecycle.revision, {_CELLS}
FROM lifecycle INDEXED BY changed_state
CROSS JOIN memory NOT INDEXED ON memory.sequence = lifecycle.sequence
WHERE lifecycle.revision > ? AND lifecycle.revision > 0
AND lifecycle.revision > memory.revision{{bounds}}
ORDER BY lifecycle.revision, lifecycle.sequence"""
_ERASED: Final = """
SELECT revision, substr(CAST(id AS BLOB), 1 + instr(CAST(id AS BLOB), x'20')), 0, 0 FROM erased WHERE revision > ? ORDER BY revision, id"""


class ChangedMemory(NamedTuple):
    """A memory that a commit changed or erased, in this order when sorted."""

    revision: int
    """The last commit that changed it."""
    sequence: int
    """Its sequence number; 0 if it was erased."""
    id: str
    """Its id; of an erased memory the digest of it."""
    is_deleted: bool
    """Whether it is soft-deleted now."""

    @property
    def kind(self) -> Literal["changed", "deleted", "erased"]:
        """One of "changed", "deleted" and "erased"."""
        if not self.sequence:
            return "erased"
        return "deleted" if self.is_deleted else "changed"


def changes_by_revision(
    reading: Reading, after: int, conditions: Mapping[str, str]
) -> Iterator[ChangedMemory]:
    """Yield the memories that commits after a revision changed or erased, in order of revision.

    Within a revision, erased ones come first, then the others in order of insertion.

    Args:
        reading: one state of the store, or a transaction.
        after: a revision; 0 for all memories.
        conditions: SQL condition on ``memory`` to its one value. With any, erased memories are left
            out, since only digests of their ids are known.
    """
    bounds = "".join(f" AND {condition}" for condition in conditions)
    values = (after, *conditions.values())
    parts = [_rows(reading, sql.format(bounds=bounds), values) for sql in (_MEMORIES, _STATES)]
    if not conditions:
        parts.append(_rows(reading, _ERASED, values))
    return heapq.merge(*parts)


def _rows(reading: Reading, sql: str, values: tuple[object, ...]) -> Iterator[ChangedMemory]:
    cursor = reading.run(sql, values)
    while rows := reading.fetch(cursor, _AT_ONCE):
        for revision, id, is_deleted, sequence in rows:
            yield ChangedMemory(revision, sequence, id.decode(errors="replace"), bool(is_deleted))
