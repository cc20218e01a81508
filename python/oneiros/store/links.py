"""The stored form of links between memories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from oneiros import _core
from oneiros.errors import StoreCorrupt
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import COVERED, checksum_after, insert_of, is_sound

__all__ = [
    "ALL_LINKS",
    "ALL_NUMBERED_LINKS",
    "CHANGED_LINKS",
    "CHANGED_NUMBERED_LINKS",
    "KINDS",
    "LINKS_CHECKSUM",
    "REMOVE",
    "SET",
    "LinkValues",
    "StoredLink",
    "stored_link",
]

KINDS: Final = ("co_retrieval", "ingest", "explicit", "summary", "relation", "distinct")
"""The origins of links, by code."""

_SELECT: Final = f"""
SELECT one.id, other.id, link.kind, link.weight, link.created_at, link.co_retrieved_at,
  {is_sound("link", alias="link")}, link.first, link.second
FROM link JOIN memory AS one ON one.sequence = link.first
JOIN memory AS other ON other.sequence = link.second"""
# The plus sign makes SQLite read the table: a damaged index would miss some.
ALL_LINKS: Final = f"{_SELECT} WHERE +link.revision > ? AND link.weight > 0"
CHANGED_LINKS: Final = f"{_SELECT} WHERE link.revision > ?"
LINKS_CHECKSUM: Final = _core.RowChecksum(
    columns=list(COVERED["link"]),
    places=list(range(len(COVERED["link"]))),
    checksum_place=len(COVERED["link"]),
)
_NUMBERED: Final = f"SELECT {', '.join(COVERED['link'])}, checksum FROM link"
ALL_NUMBERED_LINKS: Final = f"{_NUMBERED} WHERE +revision > ?1 AND weight > 0"
CHANGED_NUMBERED_LINKS: Final = f"{_NUMBERED} WHERE revision > ?1"

_STATE: Final = ("revision", "kind", "weight", "created_at", "co_retrieved_at")
_REPLACED: Final = {name: f"excluded.{name}" for name in _STATE} | {
    "created_at": "iif(weight > 0, created_at, excluded.created_at)"
}
_REPLACING: Final = f"""
ON CONFLICT (first, second) DO UPDATE SET
  {", ".join(f"{name} = {cell}" for name, cell in _REPLACED.items())},
  checksum = {checksum_after(_REPLACED)}"""
SET: Final = f"{insert_of('link')}{_REPLACING}"
"""Binds the ends as sequence numbers, the smaller first."""
REMOVE: Final = f"""
UPDATE link SET weight = 0, revision = ?1,
  checksum = {checksum_after({"weight": "0", "revision": "?1"})}
WHERE weight > 0 AND first = ?2 AND second = ?3"""


LinkValues: TypeAlias = tuple[int, int, int, float, float, float | None]
"""The ends as sequence numbers, the smaller first, then the other values of :class:`StoredLink`."""


class StoredLink(NamedTuple):
    """A link between two memories, given by their ids."""

    one: str
    other: str
    kind: int
    """An index of :data:`KINDS`."""
    weight: float
    """In (0, 1], as of the last co-retrieval; 0: the link was removed."""
    created_at: float
    co_retrieved_at: float | None


def stored_link(path: str, row: Sequence[Any], *, is_whole: bool = True) -> StoredLink:
    """Return a link as read.

    Args:
        path: of the store, for the message.
        row: the link's values.
        is_whole: whether its checksum is correct.

    Raises:
        StoreCorrupt: it is damaged, or has impossible values.
    """
    link = StoredLink(*row)
    if not _makes_sense(link):
        msg = f"{path}: a link of {link.one!r} makes no sense: {row[2:]!r}"
        raise StoreCorrupt(msg)
    if not is_whole:
        msg = (
            f"{path}: a link of {link.one!r} and {link.other!r} is damaged: the checksum is another"
        )
        raise StoreCorrupt(msg)
    return link


def _makes_sense(link: StoredLink) -> bool:
    times = (link.created_at, 0.0 if link.co_retrieved_at is None else link.co_retrieved_at)
    try:
        return (
            link.one != link.other
            and all(type(end) is str for end in link[:2])
            and 0 <= link.kind < len(KINDS)
            and 0.0 <= link.weight <= 1.0
            and all(map(math.isfinite, times))
        )
    except TypeError:  # a damaged page may contain any type
        return False
