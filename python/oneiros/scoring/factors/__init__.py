"""The factors of the scoring systems, one file per system.

A factor is a frozen dataclass of parameters around a kernel of the core. ``oneiros.kernels`` has the
same formulas as functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oneiros.scoring.callable_factor import CallableFactor
    from oneiros.scoring.expression import Expression
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.factors.ciar import (
        CiarDecay,
        CiarReinforcement,
        ShippedDecay,
        ShippedReinforcement,
        Significance,
    )
    from oneiros.scoring.factors.cognitive import Retention
    from oneiros.scoring.factors.house import HalfLifeRecency
    from oneiros.scoring.factors.mnemosyne import RecencyBlend, Tier, Veracity, WeibullRecency
    from oneiros.scoring.factors.omega import (
        Consolidation,
        Feedback,
        FlooredDecay,
        Freshness,
        KindWeight,
        Priority,
        TieBreak,
    )
    from oneiros.scoring.factors.omega_query import (
        Cluster,
        ContextMatch,
        Overlap,
        Preference,
        Rerank,
        TemporalConstraint,
    )
    from oneiros.scoring.factors.reverie import Depth, Spread, Stability, Strength, TimeDecay
    from oneiros.scoring.factors.thompson import Thompson

    FACTORS: tuple[type[Factor], ...]
    """Factors that TOML identifies by name, and by system if several share a name."""
    USER_FACTORS: tuple[type[Factor], ...]
    """Factors that TOML identifies by their fields, since users choose their names."""

__all__ = [
    "FACTORS",
    "USER_FACTORS",
    "CallableFactor",
    "CiarDecay",
    "CiarReinforcement",
    "Cluster",
    "Consolidation",
    "ContextMatch",
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

# A profile loads only the files of its factors: creating all classes takes longer than a search.
_FILES: Final = {
    "callable_factor": ("CallableFactor",),
    "expression": ("Expression",),
    "factor": ("Factor",),
    "factors.ciar": (
        "CiarDecay",
        "CiarReinforcement",
        "ShippedDecay",
        "ShippedReinforcement",
        "Significance",
    ),
    "factors.cognitive": ("Retention",),
    "factors.house": ("HalfLifeRecency",),
    "factors.mnemosyne": (
        "RecencyBlend",
        "Tier",
        "Veracity",
        "WeibullRecency",
    ),
    "factors.omega": (
        "Freshness",
        "TieBreak",
        "Consolidation",
        "Feedback",
        "FlooredDecay",
        "KindWeight",
        "Priority",
    ),
    "factors.omega_query": (
        "Cluster",
        "ContextMatch",
        "Overlap",
        "Preference",
        "Rerank",
        "TemporalConstraint",
    ),
    "factors.reverie": (
        "Depth",
        "Spread",
        "Stability",
        "Strength",
        "TimeDecay",
    ),
    "factors.thompson": ("Thompson",),
}
_HOME: Final = {name: file for file, names in _FILES.items() for name in names}
_FACTORS: Final = (
    *("TimeDecay", "Strength", "Depth", "Spread", "Stability"),
    "Retention",
    *("RecencyBlend", "WeibullRecency", "Tier", "Veracity"),
    *("KindWeight", "Feedback", "Priority", "FlooredDecay", "Thompson", "Consolidation"),
    *("Overlap", "Preference", "ContextMatch", "Cluster", "TemporalConstraint", "Rerank"),
    *("TieBreak", "Freshness"),
    *("Significance", "CiarDecay", "CiarReinforcement", "ShippedDecay", "ShippedReinforcement"),
    "HalfLifeRecency",
)
_USER_FACTORS: Final = ("Expression", "CallableFactor")


def __getattr__(name: str) -> object:
    value: object
    if name in ("FACTORS", "USER_FACTORS"):
        names = _FACTORS if name == "FACTORS" else _USER_FACTORS
        value = tuple(_load(factor) for factor in names)
    elif name in _HOME:
        value = _load(name)
    else:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def _load(name: str) -> object:
    value: object = getattr(import_module(f"oneiros.scoring.{_HOME[name]}"), name)
    return value
