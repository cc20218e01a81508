"""The core's kernels by name: their oracle, where their inputs come from, their parameters.

The core takes every parameter; the published defaults stand here once more, as the docs print them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.kernels.cases import (
    AGE,
    CASES,
    COSINE,
    COUNT,
    FACTOR,
    PRIORITY,
    QUALITY,
    STABILITY,
    UNIT,
    Argument,
    Case,
    one_of,
    shifted,
    zero,
)
from tests.oracles import ciar, cognitive, house, omega

Parameters = Mapping[str, float | list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreCase:
    """One kernel of the core with the published parameters."""

    oracle: Callable[..., float]
    arguments: Mapping[str, Argument]
    parameters: Parameters = field(default_factory=dict)
    exponent: Callable[..., float] = zero
    scale: Callable[..., float] = zero


def published(name: str, **parameters: float | list[float]) -> CoreCase:
    """Return the core's form of a kernel that stands in ``cases``."""
    case: Case = CASES[name]
    return CoreCase(
        oracle=case.oracle,
        arguments=case.arguments,
        parameters=parameters,
        exponent=case.exponent,
        scale=case.scale,
    )


def retention(model: str) -> Callable[..., float]:
    """C1 or C2 with the published tables."""
    return lambda *row: cognitive.retention(*row, model=model)


def retention_case(model: str, code: float) -> CoreCase:
    """C1 or C2 as the core takes it: the model by number."""
    return CoreCase(
        oracle=retention(model),
        arguments={
            "days": AGE,
            "stability": STABILITY,
            "importance": UNIT,
            "category": one_of(0, 1, 2, 3),
        },
        parameters={
            "model": code,
            "beta_days": [45.0, 120.0, math.inf, 120.0],
            "floors": [0.02, 0.02, 0.02, 0.60],
        },
        exponent=shifted(retention(model)),
    )


def tie_break(relevance: float, best: float, p: float, accesses: float, cq: float) -> float:
    """O32, near the best."""
    values = (relevance, best, p, accesses, cq)
    if any(math.isnan(value) for value in values):
        return math.nan
    near = omega.is_near_best(relevance, best)
    return omega.near_best_bonus(p, accesses, cq) if near else 0.0


def blend_with_best(bm25: float, best: float, cosine: float) -> float:
    """H3 for one row."""
    words = bm25 / best if best > 0 else 0.0
    return 0.4 * words + (1 - 0.4) * max(cosine, 0.0)


def minmax_between(score: float, worst: float, best: float) -> float:
    """O3 for one row."""
    return 1.0 if best == worst else 0.1 + 0.9 * ((score - worst) / (best - worst))


TAU_R8 = {"tau_days": 30.0, "low": 0.1, "high": 3.0}
CIAR_ARGUMENTS = CASES["ciar"].arguments
NEAR = one_of(1.0, 0.5, 0.984, 0.995)

CORE: dict[str, CoreCase] = {
    "time_decay_boost": published("time_decay_boost", boost=0.3, tau_days=30.0),
    "depth_weight": published("depth_weight", table=[0.8, 1.0, 1.2]),
    "spread_weight": published("spread_weight", cap=math.inf),
    "stability_boost": published("stability_boost", **TAU_R8),
    "replay_delta": published("replay_delta", max_delta=0.1),
    "scan_priority": published("scan_priority", half_life_hours=168.0, access_floor=0.1),
    "downscale": published("downscale", floor=0.01),
    "staleness": published("staleness"),
    "signal": published("signal"),
    "retention": retention_case("exponential", 0),
    "retention/power": retention_case("power", 1),
    "retention_score": published("retention_score", alpha=0.3),
    "spacing_factor": published("spacing_factor", span_days=7.0, most=2.0),
    "reinforce_stability": published(
        "reinforce_stability", gain=0.1, span_days=7.0, most=2.0, limit=1.0
    ),
    "association_decay": published("association_decay", tau_days=90.0),
    "recency_blend": published("recency_blend", tau_hours=168.0, weight=0.3),
    "weibull_retention": published("weibull_retention"),
    "temporal_proximity": published("temporal_proximity"),
    "feedback_factor": published("feedback_factor", gain=0.15, most=10.0, loss=0.2, floor=0.2),
    "priority_factor": published("priority_factor", base=0.7, step=0.08),
    "floored_decay": published("floored_decay"),
    "decision_rate": published("decision_rate", base=0.85, most=10.0, least=0.002),
    "thompson_boost": published("thompson_boost", base=0.8, spread=0.4, least=10.0),
    "consolidation_boost": published("consolidation_boost", gain=0.1, most=3.0),
    "overlap_boost": published("overlap_boost", gain=0.5, disliked=0.5),
    "context_boost": published(
        "context_boost", tag=0.10, project=0.15, content=0.05, most_content=3.0
    ),
    "cluster_boost": published("cluster_boost", least=0.5, gain=0.33, most=0.15),
    "tie_break": CoreCase(
        oracle=tie_break,
        arguments={
            "relevance": NEAR,
            "best_relevance": one_of(1.0),
            "priority": PRIORITY,
            "access_count": COUNT,
            "quality": QUALITY,
        },
        parameters={
            "window": 0.01,
            "priority_gain": 0.005,
            "access_gain": 0.0025,
            "most_accesses": 3.0,
            "quality_gain": 0.0025,
            "most_quality": 3.0,
        },
    ),
    "freshness": CoreCase(
        oracle=omega.age_bonus,
        arguments={"age_days": AGE},
        parameters={"gain": 0.05, "tau_days": 30.0},
        exponent=lambda age: abs(age / 30),
    ),
    "ciar": published("ciar", rate=0.0231, reinforcement=0.1, clamp=1.0),
    "ciar_decay": CoreCase(
        oracle=ciar.decay,
        arguments={"age_days": AGE},
        parameters={"rate": 0.0231},
        exponent=lambda age: abs(0.0231 * age),
    ),
    "ciar_reinforcement": CoreCase(
        oracle=ciar.reinforced,
        arguments={"access_count": COUNT},
        parameters={"reinforcement": 0.1},
    ),
    "ciar_shipped": CoreCase(
        oracle=ciar.ciar_shipped,
        arguments=CIAR_ARGUMENTS,
        parameters={
            "rate": 0.1,
            "most_days": 30.0,
            "floor": 0.1,
            "gain": 0.05,
            "most_gain": 0.3,
        },
        exponent=lambda *_: 2.4,
    ),
    "ciar_shipped_decay": CoreCase(
        oracle=ciar.shipped_decay,
        arguments={"age_days": AGE},
        parameters={"rate": 0.1, "most_days": 30.0, "floor": 0.1},
        exponent=lambda *_: 2.4,
    ),
    "ciar_shipped_reinforcement": CoreCase(
        oracle=ciar.shipped_reinforcement,
        arguments={"access_count": COUNT},
        parameters={"gain": 0.05, "most_gain": 0.3},
    ),
    "blend_with_best": CoreCase(
        oracle=blend_with_best,
        arguments={"bm25": FACTOR, "best_bm25": one_of(0.0, 10.0, 20.0), "cosine": COSINE},
        parameters={"weight": 0.4},
    ),
    "minmax_floor_between": CoreCase(
        oracle=minmax_between,
        arguments={"score": FACTOR, "worst": one_of(0.0), "best": one_of(0.0, 10.0, 20.0)},
        parameters={"low": 0.1},
    ),
    "damp": published("damp", amount=0.15),
    "half_life_decay": CoreCase(
        oracle=lambda age: house.half_life_decay(age, 90.0, 0.5),
        arguments={"age_days": AGE},
        parameters={"half_life_days": 90.0, "floor": 0.5},
        exponent=lambda *_: 1.0,
    ),
}
WHOLE_LISTS = {"minmax_floor", "weighted_sum", "blend", "spread_neighbours"}
ELSEWHERE = WHOLE_LISTS | {"kind_weight"}
