"""The phases of the dream cycle, as a profile declares them: data, and what each may be told.

What a phase does stands in :mod:`oneiros.dream`, one file a phase; a profile lists its phases in the
order in which they run.
"""

from __future__ import annotations

from oneiros.ranking.phases.cognitive import PHASES as COGNITIVE_PHASES
from oneiros.ranking.phases.omega import PHASES as OMEGA_PHASES
from oneiros.ranking.phases.phase import Phase
from oneiros.ranking.phases.reverie import PHASES as REVERIE_PHASES

__all__ = ["PHASES"]

PHASES: tuple[type[Phase], ...] = (*REVERIE_PHASES, *COGNITIVE_PHASES, *OMEGA_PHASES)
"""What TOML knows by name."""
