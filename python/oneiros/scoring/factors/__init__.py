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
    from oneiros.scoring.factors.house import HalfLifeRecency, QuestionFeedback, Trust
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
    from oneiros.scoring.factors.thompson import verdict_tables as verdict_tables

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
    "QuestionFeedback",
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
    "Trust",
    "Veracity",
    "WeibullRecency",
]

# A profile loads only the files of its factors: creating all classes takes longer than a search.
_FACTORS: Final = {
    **dict.fromkeys(("TimeDecay", "Strength", "Depth", "Spread", "Stability"), "factors.reverie"),
    "Retention": "factors.cognitive",
    **dict.fromkeys(("RecencyBlend", "WeibullRecency", "Tier", "Veracity"), "factors.mnemosyne"),
    **dict.fromkeys(("KindWeight", "Feedback", "Priority", "FlooredDecay"), "factors.omega"),
    "Thompson": "factors.thompson",
    "Consolidation": "factors.omega",
    **dict.fromkeys(("Overlap", "Preference", "ContextMatch", "Cluster"), "factors.omega_query"),
    **dict.fromkeys(("TemporalConstraint", "Rerank"), "factors.omega_query"),
    **dict.fromkeys(("TieBreak", "Freshness"), "factors.omega"),
    **dict.fromkeys(("Significance", "CiarDecay", "CiarReinforcement"), "factors.ciar"),
    **dict.fromkeys(("ShippedDecay", "ShippedReinforcement"), "factors.ciar"),
    **dict.fromkeys(("HalfLifeRecency", "QuestionFeedback", "Trust"), "factors.house"),
}
_USER_FACTORS: Final = {"Expression": "expression", "CallableFactor": "callable_factor"}
_HOME: Final = {
    "Factor": "factor",
    "verdict_tables": "factors.thompson",
    **_FACTORS,
    **_USER_FACTORS,
}


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
