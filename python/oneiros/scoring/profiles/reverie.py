"""Reverie: fused ranks, recency, and four lifecycle factors.

Source: docs/systems/reverie.md R1 to R17 and R20. With ``lifecycle=False``: R1 to R4, the published
live pipeline.
"""

from __future__ import annotations

from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.factors import Depth, Spread, Stability, Strength, TimeDecay
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.phases.reverie import (
    LIMITS_DAYS,
    SIGNAL_WEIGHTS,
    Consolidate,
    Downscale,
    Place,
    Promote,
    Prune,
    Scan,
)
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import Reinforcement

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
    phases=(
        Scan(min_age_hours=1.0, half_life_hours=168.0, access_floor=0.1, limit=50),  # R10
        Consolidate(max_delta=0.1, nearest=3, link_gain=0.1),  # R11
        Downscale(rate=0.95, floor=0.01, cross_session_share=0.5),  # R12
        Prune(  # R13
            limits_days=LIMITS_DAYS, other_limit_days=180.0, unused_days=30.0, strength_floor=0.01
        ),
        Place(  # R14
            least_activity=1, least_age_days=1.0, least_staleness=0.5, below_strength=0.2
        ),
        Promote(  # R15, R16
            second_spread=2,
            second_accesses=3,
            third_spread=5,
            missed_limits=2.0,
            weights=SIGNAL_WEIGHTS,
            other_weight=1.0,
            least_signal=0.05,
        ),
    ),
)

REVERIE_CAPPED = REVERIE.replace(name="reverie-capped").with_factors(
    Spread(cap=3.0),  # R7, ours
)

PROFILES = (REVERIE, REVERIE_CAPPED)
