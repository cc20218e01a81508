"""What every declaration of a phase has."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

__all__ = ["Phase"]


@runtime_checkable
class Phase(Protocol):
    """One phase of the dream cycle: a frozen dataclass with a name of its own."""

    name: ClassVar[str]
