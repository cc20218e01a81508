"""A link, as seen from one of its two memories."""

from __future__ import annotations

from oneiros.dataclasses_on_use import dataclass

__all__ = ["Link"]


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
