"""The phases of a dream cycle, one file each, and the table of their functions by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.phases.consolidate import consolidate
from oneiros.dream.phases.cool import cool
from oneiros.dream.phases.downscale import downscale
from oneiros.dream.phases.forget import forget
from oneiros.dream.phases.judge import judge_conflicts
from oneiros.dream.phases.place import place
from oneiros.dream.phases.promote import promote
from oneiros.dream.phases.prune import prune
from oneiros.dream.phases.scan import scan
from oneiros.dream.phases.stub import cut_to_stubs
from oneiros.dream.phases.summarise import summarise

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
}
