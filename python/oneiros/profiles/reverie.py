"""Reverie: fused ranks, recency, and four factors of the lifecycle.

Source: docs/systems/reverie.md R1 to R9 and R20. With ``lifecycle=False``: R1 to R4, the pipeline
that runs live.
"""

from __future__ import annotations

from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.factors import Depth, Spread, Stability, Strength, TimeDecay
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.profile import Profile
from oneiros.ranking.reinforcement import Reinforcement

__all__ = ["PROFILES"]

REVERIE = Profile(
    name="reverie",
    channels=(
        LexicalChannel(depth=100),  # R1
        VectorChannel(depth=100),  # R2
    ),
    fusion=ReciprocalRankFusion(k=30.0),  # R3
    factors=(
        TimeDecay(boost=0.3, tau_days=30.0),  # R4
        Strength(),  # R5
        Depth(table=(0.8, 1.0, 1.2)),  # R6
        Spread(),  # R7, no cap as published
        Stability(tau_days=30.0, low=0.1, high=3.0),  # R8
    ),
    reinforcement=Reinforcement(gain=0.1, span_days=7.0, most=2.0, limit=10.0),  # R20
)

REVERIE_CAPPED = REVERIE.replace(name="reverie-capped").with_factors(
    Spread(cap=3.0),  # R7, ours
)

PROFILES = (REVERIE, REVERIE_CAPPED)
