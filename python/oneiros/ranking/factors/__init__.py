"""The factors of the scoring systems, one file a system, each the face of one kernel of the core.

A factor's ``values`` is strict: contiguous arrays of shape (n,), float32 or float64, nothing cast
unasked. ``oneiros.kernels`` has the same formulas with conversions and broadcasting.
"""

from __future__ import annotations

from oneiros.ranking.callable_factor import CallableFactor
from oneiros.ranking.expression import Expression
from oneiros.ranking.factor import Factor
from oneiros.ranking.factors.reverie import Depth, Spread, Stability, Strength, TimeDecay

__all__ = [
    "FACTORS",
    "USER_FACTORS",
    "CallableFactor",
    "Depth",
    "Expression",
    "Factor",
    "Spread",
    "Stability",
    "Strength",
    "TimeDecay",
]

FACTORS: tuple[type[Factor], ...] = (TimeDecay, Strength, Depth, Spread, Stability)
"""What TOML knows by name."""

USER_FACTORS: tuple[type[Factor], ...] = (Expression, CallableFactor)
"""What TOML knows by a field of their own: their names are the user's."""
