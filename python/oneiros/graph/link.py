"""A link as seen from one of its memories, and the links that led to a result."""

from __future__ import annotations

from oneiros.runtime.dataclasses import dataclass

__all__ = ["Link", "LinkEvidence"]


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """The links that led to a result."""

    path: tuple[str, ...] = ()
    """Ids from a direct result to this one; empty for a direct result."""
    weight: float | None = None
    """The share of a score that the path leaves; None for a direct result."""
    bridge: tuple[str, ...] = ()
    """Ids of a path through this result between two of the first results that share no link."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a memory to another memory.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
        >>> engine.link("a", "b", 0.8, now="2025-06-01T00:00:00Z")
        >>> engine.neighbours("a")[0].kind
        'explicit'
    """

    id: str
    """The id of the other memory."""

    weight: float
    """The decayed weight, in (0, 1]. Source: docs/systems/cognitive.md C16."""

    kind: str
    """The origin: "co_retrieval", "ingest", "explicit", "summary", "relation" or "distinct"."""

    created_at: float
    """Seconds since the Unix epoch, UTC."""

    co_retrieved_at: float | None
    """When both were last found together, seconds; None: never, and the weight stays."""
