"""The remember path: record -> store (durable) -> projections; and what use strengthens."""

from __future__ import annotations

from oneiros.remember.batch import AddReport
from oneiros.remember.remember import Bounds, Remember, unknown
from oneiros.remember.write_behind import ReinforcementEvent

__all__ = ["AddReport", "Bounds", "ReinforcementEvent", "Remember", "unknown"]
