"""OMEGA: reciprocal ranks, each channel by its best, and a row of multipliers.

Source: docs/systems/omega.md O2, O3, O7, O8, O11 to O22, O33; ``omega-bounded``: O32.
"""

from __future__ import annotations

from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.factors import (
    Cluster,
    Consolidation,
    Context,
    Feedback,
    FlooredDecay,
    Freshness,
    KindWeight,
    Overlap,
    Preference,
    Priority,
    Rerank,
    TemporalConstraint,
    Thompson,
    TieBreak,
)
from oneiros.ranking.fusion import ReciprocalRankFusion, WeightedMean
from oneiros.ranking.keep_rules import FeedbackAbove
from oneiros.ranking.profile import Profile
from oneiros.ranking.reinforcement import CountsOnly

__all__ = ["PRESETS", "PROFILES"]

OMEGA = Profile(
    name="omega",
    channels=(LexicalChannel(), VectorChannel()),
    fusion=ReciprocalRankFusion(k=60.0, weights=(1.0, 1.0), normalise="channel"),  # O7
    factors=(
        KindWeight(),  # O11
        Feedback(gain=0.15, most=10.0, loss=0.2, floor=0.2),  # O12
        Priority(base=0.7, step=0.08),  # O13
        FlooredDecay(floor=0.35, floor_never_accessed=0.15),  # O14
        Thompson(base=0.8, spread=0.4, least=10.0),  # O15
        Consolidation(gain=0.1, most=3.0),  # O17
        Overlap(gain=0.5, disliked=0.5),  # O18
        Preference(boost=1.5),  # O19
        Context(tag=0.10, project=0.15, content=0.05, most_content=3.0),  # O20
        Cluster(least=0.5, gain=0.33, most=0.15),  # O21
        TemporalConstraint(in_range=1.3, soft=0.85, explicit=0.15, inferred=0.70),  # O22
        Rerank(ends=(3.0, 10.0), weights=(0.15, 0.30, 0.50)),  # O25
    ),
    keep=(FeedbackAbove(leaves_at=-3.0),),  # O12
    reinforcement=CountsOnly(),  # O33
)

OMEGA_BOUNDED = OMEGA.replace(
    name="omega-bounded",
    fusion=WeightedMean(weights=(1.0, 1.0), normalise=("minmax_floor", "clamp"), low=0.1),  # O3
    factors=(
        TieBreak(window=0.01, priority_gain=0.005, access_gain=0.0025, quality_gain=0.0025),
        Freshness(gain=0.05, tau_days=30.0),
    ),
)

PROFILES = (OMEGA, OMEGA_BOUNDED)

PRESETS = {  # O8: text, vector; words; context
    "omega": {
        "error_pattern": OMEGA.replace(weights=(1.5, 0.3)).with_factors(
            Overlap(weight=2.0), Context(weight=0.5)
        ),
        "decision": OMEGA.replace(weights=(0.6, 0.8)).with_factors(
            Overlap(weight=0.5), Context(weight=1.0)
        ),
        "lesson_learned": OMEGA.replace(weights=(0.8, 1.5)).with_factors(
            Overlap(weight=0.5), Context(weight=0.8)
        ),
        "user_preference": OMEGA.replace(weights=(1.0, 0.6)).with_factors(
            Overlap(weight=1.5), Context(weight=0.3)
        ),
        "knowledge-update": OMEGA.replace(weights=(1.3, 0.8)).with_factors(
            Overlap(weight=1.5), Context(weight=1.0)
        ),
        "multi-session": OMEGA.replace(weights=(1.0, 1.3)).with_factors(
            Overlap(weight=1.3), Context(weight=1.0)
        ),
        "temporal-reasoning": OMEGA.replace(weights=(1.3, 1.0)).with_factors(
            Overlap(weight=1.3), Context(weight=1.0)
        ),
    }
}
