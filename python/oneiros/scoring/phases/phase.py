"""The protocol of a phase."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

__all__ = ["Phase"]


@runtime_checkable
class Phase(Protocol):
    """A phase of the dream cycle: a frozen dataclass of parameters with a unique name."""

    name: ClassVar[str]
