"""What a write may touch, what it says of what it refuses, and what must stay true of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from oneiros.errors import UnknownMemory
from oneiros.model.fields import ENUMS
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.store import Reading, StoredMemory, Transaction

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = [
    "Bounds",
    "drops_own_vector",
    "exists",
    "held_in",
    "is_rewritten",
    "is_superseded_by",
    "keep_spread",
    "restage",
    "unknown",
]

_CONSOLIDATED: Final = ENUMS["status"].index("consolidated")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a write may touch."""

    fields: Mapping[str, str]
    """Field to value; empty for all memories."""
    inside: Callable[[object], object]
    """Gives a record these fields, or refuses it."""
    seen: Seen
    """Whether a memory lies within."""


def held_in(transaction: Transaction, id: str) -> StoredMemory:
    """Return the memory of an id, which the index of ids leads to as well.

    Raises:
        UnknownMemory: there is none.
        StoreCorrupt: the index leads to another.
    """
    transaction.require_indexed([id])
    held = transaction.load_stored([id])[0]
    if held is None:
        raise UnknownMemory(unknown(id))
    return held


def unknown(memory_id: str) -> str:
    """The words of an UnknownMemory, the same whether it is absent, deleted or out of scope."""
    return f"id: no memory {memory_id!r}"


def exists(held: StoredMemory, *, is_seen: bool) -> str:
    """The words of a DuplicateId."""
    if not is_seen:  # of what lies outside a scope, nothing is told
        return f"id: {held.id!r} is taken"
    state = "exists, soft-deleted" if held.deleted_at is not None else "exists"
    return f"id: {held.id!r} {state}; pass on_conflict='update' to change it"


def is_rewritten(held: StoredMemory, changes: Mapping[str, object]) -> bool:
    """Whether what is embedded changes."""
    return any(
        name in changes and changes[name] != getattr(held, name) for name in ("text", "title")
    )


def drops_own_vector(held: StoredMemory, recorded_name: str | None) -> bool:
    """Whether a memory has a vector of which no embedder is known.

    Where one is recorded, an engine without it warned when it was opened.
    """
    return held.embedding is not None and recorded_name is None


def keep_spread(held: StoredMemory, changes: dict[str, object]) -> None:
    """Keep ``session_spread`` at the number of sessions or above."""
    sessions = changes.get("sessions", held.sessions)
    least = len(sessions) if isinstance(sessions, frozenset) else 0
    spread = changes.get("session_spread", held.session_spread)
    if isinstance(spread, int) and spread < least:
        if "session_spread" in changes:
            msg = f"session_spread: must be at least the number of sessions, {least}, got {spread}"
            raise ValueError(msg)
        changes["session_spread"] = least


def restage(held: StoredMemory, changes: dict[str, object]) -> None:
    """Have a recalled memory consolidated anew once its text is another.

    Source: docs/systems/reverie.md R14.
    """
    is_revised = "text" in changes and changes["text"] != held.text
    if is_revised and held.access_count > 0 and held.status == _CONSOLIDATED:
        changes.setdefault("status", "staged")


def is_superseded_by(reading: Reading, memory: StoredMemory, memory_id: str) -> bool:
    """Whether a memory is superseded by the one of the id, be it through others.

    Deleted ones and those outside a scope are followed too: a circle would hide all that is on it,
    whoever sees which part. One that ``add`` or ``update`` was given ends the search.
    """
    passed: set[str] = set()
    by = memory.superseded_by
    while by is not None and by not in passed:
        if by == memory_id:
            return True
        passed.add(by)
        held = reading.load_stored([by])[0]
        by = None if held is None else held.superseded_by
    return False
