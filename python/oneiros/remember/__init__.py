"""The remember path: record -> store (durable) -> projections; and what use strengthens."""

from __future__ import annotations

from oneiros.remember.batch import AddReport, OnFirstLook
from oneiros.remember.remember import Remember
from oneiros.remember.strengthening import ReinforcementEvent
from oneiros.remember.write_rules import Bounds, unknown

__all__ = ["AddReport", "Bounds", "OnFirstLook", "ReinforcementEvent", "Remember", "unknown"]
