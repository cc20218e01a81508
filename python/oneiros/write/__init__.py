"""The write path: record -> store (durable) -> read model; and reinforcement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.write import cycle_columns as cycle_columns
    from oneiros.write import erase as erase
    from oneiros.write.batch import AddReport, OnFirstLook, records_of
    from oneiros.write.reinforce import ReinforcementEvent
    from oneiros.write.remember import Remember
    from oneiros.write.rules import AddRules, Bounds, unknown
else:
    __getattr__ = door(
        __name__,
        ("cycle_columns", "erase"),
        {
            "AddReport": "batch",
            "AddRules": "rules",
            "Bounds": "rules",
            "OnFirstLook": "batch",
            "ReinforcementEvent": "reinforce",
            "Remember": "remember",
            "records_of": "batch",
            "unknown": "rules",
        },
    )

__all__ = [
    "AddReport",
    "AddRules",
    "Bounds",
    "OnFirstLook",
    "ReinforcementEvent",
    "Remember",
    "records_of",
    "unknown",
]
