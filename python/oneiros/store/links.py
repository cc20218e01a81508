"""Links as the store holds them: what two memories have to do with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from oneiros.errors import StoreCorrupt

__all__ = [
    "ALL_LINKS",
    "CHANGED_LINKS",
    "KINDS",
    "REMOVE",
    "SET",
    "SET_BY_SEQUENCE",
    "StoredLink",
    "stored_link",
]

KINDS: Final = ("co_retrieval", "ingest", "explicit", "summary", "relation")
"""What made a link, by the number that stands for it."""

_SELECT: Final = """
SELECT one.id, other.id, link.kind, link.weight, link.created_at, link.co_retrieved_at
FROM link JOIN memory AS one ON one.sequence = link.first
JOIN memory AS other ON other.sequence = link.second"""
ALL_LINKS: Final = f"{_SELECT} WHERE link.revision > ? AND link.weight > 0"
CHANGED_LINKS: Final = f"{_SELECT} WHERE link.revision > ?"

# {0}: how both ends are found by id.
_ENDS: Final = """
SELECT min(one.sequence, other.sequence), max(one.sequence, other.sequence){0}
FROM memory AS one, memory AS other WHERE one.id = ? AND other.id = ?"""
_INSERT: Final = (
    "INSERT INTO link (first, second, revision, kind, weight, created_at, co_retrieved_at)"
)
_REPLACING: Final = """
ON CONFLICT (first, second) DO UPDATE SET
  revision = excluded.revision, kind = excluded.kind, weight = excluded.weight,
  created_at = iif(weight > 0, created_at, excluded.created_at),
  co_retrieved_at = excluded.co_retrieved_at"""
SET: Final = f"{_INSERT}{_ENDS.format(', ?, ?, ?, ?, ?')}{_REPLACING}"
SET_BY_SEQUENCE: Final = f"{_INSERT} VALUES (?, ?, ?, ?, ?, ?, ?){_REPLACING}"
"""The ends by their sequence numbers, the smaller first."""
REMOVE: Final = f"""
UPDATE link SET weight = 0, revision = ?
WHERE weight > 0 AND (first, second) = ({_ENDS.format("")})"""


class StoredLink(NamedTuple):
    """A link between the memories of two ids."""

    one: str
    other: str
    kind: int
    """A place in :data:`KINDS`."""
    weight: float
    """In (0, 1], when the two were last found together; 0: there is no link any more."""
    created_at: float
    co_retrieved_at: float | None


def stored_link(path: str, row: Sequence[Any]) -> StoredLink:
    """Return a link as it was read.

    Raises:
        StoreCorrupt: it makes no sense.
    """
    link = StoredLink(*row)
    if not _makes_sense(link):
        msg = f"{path}: a link of {link.one!r} makes no sense: {row[2:]!r}"
        raise StoreCorrupt(msg)
    return link


def _makes_sense(link: StoredLink) -> bool:
    times = (link.created_at, 0.0 if link.co_retrieved_at is None else link.co_retrieved_at)
    try:
        return (
            link.one != link.other
            and 0 <= link.kind < len(KINDS)
            and 0.0 <= link.weight <= 1.0
            and all(map(math.isfinite, times))
        )
    except TypeError:  # a damaged page may give anything, whatever the table allows
        return False
