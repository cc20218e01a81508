"""A link as seen from one of its two memories, and the links that led to a result."""

from __future__ import annotations

from oneiros.runtime.dataclasses import dataclass

__all__ = ["Link", "LinkEvidence"]


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """What links have to do with a result."""

    path: tuple[str, ...] = ()
    """Ids from a direct result to this one; empty where it is a direct result itself."""
    weight: float | None = None
    """What the way leaves of a score; None for a direct result."""
    bridge: tuple[str, ...] = ()
    """Ids of a path on which it lies between two of the first results that share no link."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a memory has to do with another."""

    id: str
    """Of the other memory."""

    weight: float
    """In (0, 1]: what is left of it now. Source: docs/systems/cognitive.md C16."""

    kind: str
    """What made it: "co_retrieval", "ingest", "explicit", "summary" or "relation"."""

    created_at: float
    """Seconds since the Unix epoch, UTC."""

    co_retrieved_at: float | None
    """When the two were last found together, seconds; None: never, and then it does not fade."""
