"""The factors of the scoring systems, one file a system.

Each is the face of kernels of the core. A factor's ``values`` is strict: contiguous arrays of shape
(n,), float32 or float64, nothing cast unasked. ``oneiros.kernels`` has the same formulas with
conversions and broadcasting.
"""

from __future__ import annotations

from oneiros.ranking.callable_factor import CallableFactor
from oneiros.ranking.expression import Expression
from oneiros.ranking.factor import Factor
from oneiros.ranking.factors.ciar import (
    CiarDecay,
    CiarReinforcement,
    ShippedDecay,
    ShippedReinforcement,
    Significance,
)
from oneiros.ranking.factors.cognitive import Retention
from oneiros.ranking.factors.house import HalfLifeRecency
from oneiros.ranking.factors.mnemosyne import RecencyBlend, Tier, Veracity, WeibullRecency
from oneiros.ranking.factors.omega import (
    Consolidation,
    Feedback,
    FlooredDecay,
    KindWeight,
    Priority,
)
from oneiros.ranking.factors.omega_bounded import Freshness, TieBreak
from oneiros.ranking.factors.omega_query import (
    Cluster,
    Context,
    Overlap,
    Preference,
    Rerank,
    TemporalConstraint,
)
from oneiros.ranking.factors.reverie import Depth, Spread, Stability, Strength, TimeDecay
from oneiros.ranking.factors.thompson import Thompson

__all__ = [
    "FACTORS",
    "USER_FACTORS",
    "CallableFactor",
    "CiarDecay",
    "CiarReinforcement",
    "Cluster",
    "Consolidation",
    "Context",
    "Depth",
    "Expression",
    "Factor",
    "Feedback",
    "FlooredDecay",
    "Freshness",
    "HalfLifeRecency",
    "KindWeight",
    "Overlap",
    "Preference",
    "Priority",
    "RecencyBlend",
    "Rerank",
    "Retention",
    "ShippedDecay",
    "ShippedReinforcement",
    "Significance",
    "Spread",
    "Stability",
    "Strength",
    "TemporalConstraint",
    "Thompson",
    "TieBreak",
    "Tier",
    "TimeDecay",
    "Veracity",
    "WeibullRecency",
]

FACTORS: tuple[type[Factor], ...] = (
    *(TimeDecay, Strength, Depth, Spread, Stability),
    Retention,
    *(RecencyBlend, WeibullRecency, Tier, Veracity),
    *(KindWeight, Feedback, Priority, FlooredDecay, Thompson, Consolidation),
    *(Overlap, Preference, Context, Cluster, TemporalConstraint, Rerank),
    *(TieBreak, Freshness),
    *(Significance, CiarDecay, CiarReinforcement, ShippedDecay, ShippedReinforcement),
    HalfLifeRecency,
)
"""What TOML knows by name, and by system where several share one."""

USER_FACTORS: tuple[type[Factor], ...] = (Expression, CallableFactor)
"""What TOML knows by a field of their own: their names are the user's."""
