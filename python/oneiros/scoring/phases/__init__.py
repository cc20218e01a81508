"""The parameters of the phases of the dream cycle, as a profile declares them.

The code of the phases is in :mod:`oneiros.dream`, one file per system. A profile lists its phases in
the order in which they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from oneiros.scoring.phases import house, reverie

if TYPE_CHECKING:
    PHASES: tuple[type[Phase], ...]
    """Phases that TOML identifies by name."""

__all__ = ["PHASES", "Phase", "kinds_among", "require_order"]


class Phase(Protocol):
    """A phase of the dream cycle: a frozen dataclass of parameters with a unique name."""

    name: ClassVar[str]


def __getattr__(name: str) -> object:
    if name != "PHASES":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    # Not at the top: the default profile needs neither.
    from oneiros.scoring.phases import cognitive, omega  # noqa: PLC0415

    found = (*reverie.PHASES, *house.PHASES, *cognitive.PHASES, *omega.PHASES)
    globals()[name] = found
    return found


def kinds_among(phases: object) -> tuple[type[Phase], ...]:
    """Return the classes to check phases against: the default profile's if they suffice, else all."""
    own = (*reverie.PHASES, *house.PHASES)
    if isinstance(phases, tuple) and all(isinstance(phase, own) for phase in phases):
        return own
    kinds: tuple[type[Phase], ...] = __getattr__("PHASES")  # type: ignore[assignment]
    return kinds


def require_order(phases: tuple[Phase, ...]) -> None:
    """Check that each phase comes after those that it depends on.

    Raises:
        ValueError: "consolidate" does not come after "scan".
    """
    names = [phase.name for phase in phases]
    if "consolidate" in names and "scan" not in names[: names.index("consolidate")]:
        msg = f"phases: consolidate must stand after scan, got {', '.join(names)}"
        raise ValueError(msg)
