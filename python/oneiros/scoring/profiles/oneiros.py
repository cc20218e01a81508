"""The default profile: BM25 and cosine blended, damped lifecycle factors.

Source: docs/systems/house.md H1 to H18.
"""

from __future__ import annotations

import math

from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.factors import (
    Feedback,
    HalfLifeRecency,
    Priority,
    QuestionFeedback,
    Strength,
    Trust,
)
from oneiros.scoring.fusion import Blend
from oneiros.scoring.link_expansion import AssociativeExpansion
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.phases.reverie import (
    LIMITS_DAYS,
    Consolidate,
    Downscale,
    Place,
    Promote,
    Prune,
    Scan,
)
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import SpacedReinforcement
from oneiros.scoring.relevance_adjustments import AskedTime, NamedTime, Neighbours, Statements
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.scoring.selection import FeedbackAbove
from oneiros.scoring.stages import NewerFirst, WeakBest
from oneiros.scoring.tables import Table

__all__ = ["PROFILES"]

_LIMITS_DAYS = Table(  # H8
    {
        **LIMITS_DAYS,
        "session": 75.0,
        "bug": 120.0,
        "config": 180.0,
        **dict.fromkeys(("fact", "lesson", "skill"), math.inf),
        **dict.fromkeys(("entity", "profile", "relationship"), math.inf),
    }
)

ONEIROS = Profile(
    name="oneiros",
    channels=(
        LexicalChannel(
            depth=100,
            k1=1.2,
            b=1.0,
            half_length=65.0,  # H1, H5
            function_words=0.3,  # H17
            whole_query=30,  # H18
            typos=0.8,  # H20
            title_weight=3.0,  # H5
            title_length=0.0,
        ),
        VectorChannel(depth=100),  # H1
        TemporalChannel(depth=100),  # H1
    ),
    fusion=Blend(  # H2, H3, H14
        weight=0.55,
        scale="coverage",
        baseline="candidates",
        spelling=0.1,
        pairs=0.15,
        pair_window=3,
    ),
    neighbours=Neighbours(  # H4
        share=0.6,
        decay=0.5,
        reach=2,
        seeds=10,
        above_mean=True,
        above_session=True,
        whole_length=30.0,
        from_better=True,
        session_share=0.17,
    ),
    statements=Statements(damping=0.4),  # H9
    named_time=NamedTime(soft=0.85, explicit=0.5, inferred=0.7, alone=0.8),  # H10, H21
    asked_time=AskedTime(damping=0.15),  # H13
    factors=(  # H6
        HalfLifeRecency(half_life_days=90.0, floor=0.5, damping=0.15, ignores_use=True),
        Strength(damping=0.15),
        Feedback(gain=0.0, damping=0.4, ignores_questions=True),  # O12, H19
        Priority(damping=0.15),  # O13
        Trust(),  # H11
        QuestionFeedback(gain=0.15, most=3.0, loss=0.3, floor=0.2, least=0.8),  # H19
    ),
    keep=(FeedbackAbove(leaves_at=-3.0, ignores_questions=True),),  # O12, H19
    newer_first=NewerFirst(depth=30, least_confidence=0.15),  # H12
    expansion=AssociativeExpansion(quota=0.2),  # H7
    abstention=WeakBest(cosine=0.25, words=0.5),  # H7
    reinforcement=SpacedReinforcement(  # H7
        gain=0.1,  # C11
        span_days=7.0,
        most=2.0,
        limit=10.0,
        associative_gain=0.03,
        link_gain=0.05,  # C13
        most_linked=5,
        link_rest_days=1.0,
        once_a_session=True,
        core_accesses=10,  # C12
        core_stability=1.6,
        core_sessions=3,
    ),
    phases=(  # H8
        Scan(),
        Consolidate(),
        Downscale(),
        Prune(limits_days=Table({}), other_limit_days=math.inf, strength_floor=0.0),
        Place(limits_days=Table({}), other_limit_days=math.inf, below_strength=0.0),
        Promote(limits_days=_LIMITS_DAYS),
        Budget(),  # H15
    ),
    rails=SafetyRails(  # H8
        youngest_days=7.0,
        most_pruned=0.1,
        activity_times=("updated_at", "learned_at"),
        kept_importance=0.8,
        kept_priority=4,
    ),
)

PROFILES = (ONEIROS,)
