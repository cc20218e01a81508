"""How links led to a result."""

from __future__ import annotations

from oneiros.dataclasses_on_use import dataclass

__all__ = ["Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """What links have to do with a result."""

    path: tuple[str, ...] = ()
    """Ids from a direct result to this one; empty where it is a direct result itself."""
    weight: float | None = None
    """What the way leaves of a score; None for a direct result."""
    bridge: tuple[str, ...] = ()
    """Ids of a path on which it lies between two of the first results that share no link."""
