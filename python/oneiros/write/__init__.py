"""The write path: record -> store (durable) -> projections; and reinforcement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.write.reinforce import ReinforcementEvent
from oneiros.write.remember import Remember
from oneiros.write.rules import AddRules, Bounds, unknown

if TYPE_CHECKING:  # loaded by the first write
    from oneiros.write.batch import AddReport as AddReport

__all__ = ["AddRules", "Bounds", "ReinforcementEvent", "Remember", "unknown"]
