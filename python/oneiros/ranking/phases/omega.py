"""The phases of docs/systems/omega.md, as a profile declares them."""

from __future__ import annotations

from oneiros.ranking.phases.phase import Phase

__all__ = ["PHASES"]

PHASES: tuple[type[Phase], ...] = ()
