"""The write path: record -> store (durable) -> read model; and reinforcement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door
from oneiros.write.reinforce import ReinforcementEvent
from oneiros.write.remember import Remember
from oneiros.write.rules import AddRules, Bounds, unknown

if TYPE_CHECKING:
    from oneiros.write import cycle_columns as cycle_columns
    from oneiros.write import erase as erase
    from oneiros.write.batch import AddReport as AddReport
else:  # few processes dream or erase
    __getattr__ = door(__name__, ("cycle_columns", "erase"))

__all__ = ["AddRules", "Bounds", "ReinforcementEvent", "Remember", "unknown"]
