"""The phases of the dream cycle, as a profile declares them: data, and what each may be told.

What a phase does stands in :mod:`oneiros.dream`, one file a phase; a profile lists its phases in the
order in which they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oneiros.scoring.phases.phase import Phase

    PHASES: tuple[type[Phase], ...]
    """What TOML knows by name."""

__all__ = ["PHASES", "kinds_among", "require_order"]


def __getattr__(name: str) -> object:
    if name != "PHASES":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from oneiros.scoring.phases import cognitive, omega, reverie  # noqa: PLC0415

    found = (*reverie.PHASES, *cognitive.PHASES, *omega.PHASES)
    globals()[name] = found
    return found


def kinds_among(phases: object) -> tuple[type[Phase], ...]:
    """Return the classes that phases may be of: those of REVERIE alone where they all are, else all."""
    from oneiros.scoring.phases import reverie  # noqa: PLC0415

    if isinstance(phases, tuple) and all(isinstance(one, reverie.PHASES) for one in phases):
        return reverie.PHASES
    kinds: tuple[type[Phase], ...] = __getattr__("PHASES")  # type: ignore[assignment]
    return kinds


def require_order(phases: tuple[Phase, ...]) -> None:
    """Refuse phases of which one stands before what it needs.

    Raises:
        ValueError: naming the order.
    """
    names = [phase.name for phase in phases]
    if "consolidate" in names and "scan" not in names[: names.index("consolidate")]:
        msg = f"phases: consolidate must stand after scan, got {', '.join(names)}"
        raise ValueError(msg)
