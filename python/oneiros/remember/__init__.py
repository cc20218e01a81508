"""The remember path: record -> store (durable) -> projections; and what use strengthens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.remember.reinforcing import ReinforcementEvent
from oneiros.remember.remember import Remember
from oneiros.remember.write_rules import Bounds, unknown

if TYPE_CHECKING:  # loaded by the first write
    from oneiros.remember.batch import AddReport as AddReport

__all__ = ["Bounds", "ReinforcementEvent", "Remember", "unknown"]
