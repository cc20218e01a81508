"""The phases of a dream cycle, a file per system, and the table of their functions by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.phases.cognitive import cool, cut_to_stubs, judge_conflicts, summarise
from oneiros.dream.phases.house import keep_to_budget, settle_changed_facts
from oneiros.dream.phases.omega import forget
from oneiros.dream.phases.reverie import consolidate, downscale, place, promote, prune, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oneiros.dream.draft import Draft


__all__ = ["PHASES"]

PHASES: Final[Mapping[str, Callable[[Draft, Any], None]]] = {
    "scan": scan,
    "consolidate": consolidate,
    "downscale": downscale,
    "prune": prune,
    "place": place,
    "promote": promote,
    "cool": cool,
    "stub": cut_to_stubs,
    "summarise": summarise,
    "judge": judge_conflicts,
    "forget": forget,
    "budget": keep_to_budget,
    "settle": settle_changed_facts,
}
