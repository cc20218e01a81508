"""The formulas that re-scoring benchmarks compute, as one text each, with columns to compute them over.

Source of each: docs/systems, by rule. Ages are given, so that all rivals move the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.formula import COUNT, DAYS, HOURS, SHARE, STABILITY, Formula, uniform, whole
from oneiros.model.fields import ENUMS, PRIORITY_BY_KIND, with_aliases
from oneiros.scoring.factors import WeibullRecency
from oneiros.scoring.factors.omega import KIND_RATES, KIND_WEIGHTS

Array = np.ndarray[Any, Any]

KINDS = ("", "note", *PRIORITY_BY_KIND)
"""The store's kinds by code; code 0 stands for none."""

_WEIBULL = WeibullRecency()
WEIBULL_KINDS = ("", "note", *_WEIBULL.shapes)
"""Those of a store whose memories are scored by Mnemosyne 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Formula):
    """The formula of a profile for one row."""

    profile: str
    """The profile that has it."""
    factors: Sequence[str] | None = None
    """Those of the profile that belong to it; None: all."""
    is_clamped: bool = False
    """Whether the product is brought into [0, 1]."""
    kinds: Sequence[str] = KINDS
    """The kinds by the codes of the column ``kind``."""


def by_kind(table: Mapping[str, float], otherwise: float, kinds: Sequence[str] = KINDS) -> Array:
    return np.array([table.get(kind, otherwise) for kind in kinds], np.float32)


FEEDBACK = "where(feedback < 0, max(1 + 0.2 * feedback, 0.2), 1 + 0.15 * min(feedback, 10))"
UNHELPFUL = "where(feedback < 0, max(1 + 0.2 * feedback, 0.2), 1)"
PRIORITY = "(0.7 + 0.08 * priority)"
LIFE = "max(stability, 0.01) * min(1 + 2 * importance, 3)"
OWN = f"max(exp(-idle_days / ({LIFE} * beta(category))), 0.02)"
CORE = f"max(exp(-idle_days / ({LIFE} * 120)), 0.6)"
CHANGED = "min(age_days, updated_days)"
SLOWER = "max(rate(kind) * exp(-0.16251893 * min(access_count, 10)), 0.002)"
RATE = f"where(kind == {KINDS.index('decision')}, {SLOWER}, rate(kind))"


SESSIONS = "log2(1 + session_spread)"
REVERIE = Chain(  # docs/systems/reverie.md R4 to R8
    profile="reverie",
    text="(1 + 0.3 * exp(-updated_days / 30)) * strength"
    f" * where(depth < 1.5, 0.8, where(depth < 2.5, 1.0, 1.2)) * {SESSIONS}"
    " * min(max(exp(idle_days / 30 * (1 - 1 / stability)), 0.1), 3)",
    columns={
        "updated_days": DAYS,
        "strength": SHARE,
        "depth": whole(1, 3),
        "session_spread": whole(1, 20),
        "idle_days": DAYS,
        "stability": STABILITY,
    },
)
COGNITIVE = Chain(  # docs/systems/cognitive.md C1, C6; R ** 0.3 by its logarithm
    profile="cognitive",
    text=f"exp(0.3 * log(where(core > 0, max({OWN}, {CORE}), {OWN})))",
    columns={
        "idle_days": DAYS,
        "stability": STABILITY,
        "importance": SHARE,
        "category": whole(0, 2, np.uint8),
        "core": whole(0, 1, np.uint8),
    },
    tables={"beta": np.array([45, 120, 1e30], np.float32)},
)


def _damped(value: str, amount: float = 0.15) -> str:
    return f"({1 - amount:.2f} + {amount} * ({value}))"


CIAR = Chain(  # docs/systems/ciar.md A1, A2
    profile="ciar",
    text="min(max(certainty * impact * exp(-0.0231 * age_days) * (1 + 0.1 * access_count), 0), 1)",
    columns={"certainty": SHARE, "impact": SHARE, "age_days": DAYS, "access_count": COUNT},
    is_clamped=True,
)

FORMULAS = {
    "ciar": CIAR,
    "ciar, packed": replace(
        CIAR,
        columns=CIAR.columns
        | {"age_days": whole(0, 365, np.uint16), "access_count": whole(0, 50, np.uint8)},
    ),
    "ciar-shipped": Chain(  # A12
        profile="ciar-shipped",
        text="certainty * impact * max(exp(-0.1 * min(age_days, 30)), 0.1)"
        " * (1 + min(0.05 * log1p(access_count), 0.3))",
        columns=CIAR.columns,
    ),
    "reverie": REVERIE,
    "reverie-capped": replace(  # R7, capped by us
        REVERIE,
        profile="reverie-capped",
        text=REVERIE.text.replace(SESSIONS, f"min({SESSIONS}, 3)"),
    ),
    "omega metadata": Chain(  # docs/systems/omega.md O11 to O14, O17
        profile="omega",
        text=f"weight(kind) * {FEEDBACK} * {PRIORITY}"
        f" * max(exp(-{RATE} * idle_days), where(access_count > 0, 0.35, 0.15))"
        " * (1 + 0.1 * min(consolidation_quality, 3))",
        columns={
            "kind": whole(1, len(KINDS) - 1, np.uint16),
            "feedback": whole(-5, 12),
            "priority": whole(1, 5),
            "idle_days": DAYS,
            "access_count": COUNT,
            "consolidation_quality": uniform(0.0, 4.0),
        },
        tables={
            "weight": by_kind(KIND_WEIGHTS, 1.0),
            "rate": by_kind(with_aliases(KIND_RATES), 0.02),
        },
        factors=("kind", "feedback", "priority", "decay", "consolidation"),
    ),
    "omega-bounded": Chain(  # O32, all as relevant as the best
        profile="omega-bounded",
        text="1 + (0.005 * (priority - 1) / 4 + 0.0025 * min(access_count, 3) / 3"
        " + 0.0025 * min(consolidation_quality, 3) / 3) + 0.05 * exp(-age_days / 30)",
        columns={
            "priority": whole(1, 5),
            "access_count": COUNT,
            "consolidation_quality": uniform(0.0, 4.0),
            "age_days": DAYS,
        },
    ),
    "cognitive": COGNITIVE,
    "cognitive-0.5": replace(  # the numbers in brackets of C1
        COGNITIVE,
        profile="cognitive-0.5",
        tables={"beta": np.array([45, 240, 1e30], np.float32)},
    ),
    "mnemosyne": Chain(  # docs/systems/mnemosyne.md M4, M5; vector and text 1
        profile="mnemosyne",
        text="(0.8 + 0.2 * importance) * (0.7 + 0.3 * exp(-age_hours / 168))",
        columns={"importance": SHARE, "age_hours": HOURS},
    ),
    "mnemosyne-3": Chain(  # M8
        profile="mnemosyne-3",
        text="(0.8 + 0.2 * importance)"
        " * (0.7 + 0.3 * exp(-((age_hours / eta(kind)) ** shape(kind))))"
        " * where(age_days > 180, 0.25, where(age_days > 30, 0.5, 1.0)) * source(veracity)",
        columns={
            "importance": SHARE,
            "age_hours": HOURS,
            "age_days": DAYS,
            "kind": whole(1, len(WEIBULL_KINDS) - 1, np.uint16),
            "veracity": whole(0, len(ENUMS["veracity"]) - 1, np.uint8),
        },
        tables={
            "eta": by_kind(_WEIBULL.eta_hours, _WEIBULL.other_eta_hours, WEIBULL_KINDS),
            "shape": by_kind(_WEIBULL.shapes, _WEIBULL.other_shape, WEIBULL_KINDS),
            "source": np.array([1.0, 0.8, 0.7, 0.6, 0.5], np.float32),
        },
        kinds=WEIBULL_KINDS,
    ),
    "house": Chain(  # docs/systems/house.md H6
        profile="oneiros",
        text=" * ".join(
            (
                _damped(f"where(pinned > 0, 1.0, max(exp(-0.0077016354 * {CHANGED}), 0.5))"),
                _damped("strength"),
                _damped(UNHELPFUL, 0.4),
                _damped(PRIORITY),
            )
        ),
        columns={
            "age_days": DAYS,
            "updated_days": DAYS,
            "pinned": whole(0, 1, np.uint8),
            "strength": SHARE,
            "feedback": whole(-5, 12),
            "priority": whole(1, 5),
        },
    ),
}
