"""Reverie's tables by kind. Source: docs/systems/reverie.md."""

from __future__ import annotations

import math
from typing import Final

from oneiros.ranking.tables import Table

__all__ = ["LIMITS_DAYS", "SIGNAL_WEIGHTS"]

LIMITS_DAYS: Final = Table(  # R13
    {
        "session": 30.0,
        "bug": 60.0,
        "config": 90.0,
        "decision": 180.0,
        "reference": math.inf,
        "heuristic": math.inf,
        "directive": math.inf,
        "preference": math.inf,
    }
)

SIGNAL_WEIGHTS: Final = Table(  # R16
    {
        "directive": 1.5,
        "preference": 1.3,
        "decision": 1.2,
        "heuristic": 1.1,
        "bug": 1.0,
        "config": 1.0,
        "reference": 1.0,
        "session": 0.7,
    }
)
