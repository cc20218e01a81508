"""Reverie's phases, run over a world."""

from __future__ import annotations

from collections.abc import Sequence

from oneiros.dream.cycles import run_phases
from oneiros.dream.draft import Draft
from oneiros.scoring.phases import Phase
from oneiros.scoring.phases.reverie import PHASES
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.store.cycles import DayTaken
from tests.dream.worlds import NOW, World

__all__ = ["CYCLE", "dreamt"]

CYCLE: tuple[Phase, ...] = tuple(kind() for kind in PHASES)


def dreamt(
    world: World,
    phases: Sequence[Phase] = CYCLE,
    *,
    rails: SafetyRails | None = None,
    previous: float | None = None,
    day: DayTaken | None = None,
) -> Draft:
    draft = Draft(world, now=NOW, previous=previous, rails=rails, day=day)
    run_phases(draft, phases)
    return draft
