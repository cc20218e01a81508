"""The phases of the dream cycle, as a profile declares them: data, and what each may be told.

What a phase does stands in :mod:`oneiros.dream`, one file a phase; a profile lists its phases in the
order in which they run.
"""

from __future__ import annotations

from oneiros.ranking.phases.cognitive import PHASES as COGNITIVE_PHASES
from oneiros.ranking.phases.omega import PHASES as OMEGA_PHASES
from oneiros.ranking.phases.phase import Phase
from oneiros.ranking.phases.reverie import PHASES as REVERIE_PHASES

__all__ = ["PHASES", "require_order"]

PHASES: tuple[type[Phase], ...] = (*REVERIE_PHASES, *COGNITIVE_PHASES, *OMEGA_PHASES)
"""What TOML knows by name."""


def require_order(phases: tuple[Phase, ...]) -> None:
    """Refuse phases of which one stands before what it needs.

    Raises:
        ValueError: naming the order.
    """
    names = [phase.name for phase in phases]
    if "consolidate" in names and "scan" not in names[: names.index("consolidate")]:
        msg = f"phases: consolidate must stand after scan, got {', '.join(names)}"
        raise ValueError(msg)
