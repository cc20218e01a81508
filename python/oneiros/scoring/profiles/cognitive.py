"""cognitive-memory v6: similarity weighted by retention.

Source: docs/systems/cognitive.md C1 to C13, C17 to C22; ``cognitive-0.5``: the numbers in brackets.
"""

from __future__ import annotations

import math

from oneiros.runtime.dataclasses import replace
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.factors import Retention
from oneiros.scoring.fusion import RetentionWeightedUnion
from oneiros.scoring.ingest import IngestAssociation, InitialStability
from oneiros.scoring.link_expansion import AssociativeExpansion
from oneiros.scoring.phases.cognitive import Conflicts, Cooling, Stubbing, Summarising
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import SpacedReinforcement
from oneiros.scoring.selection import Selection
from oneiros.scoring.stages import Reranking

__all__ = ["PROFILES"]

REINFORCEMENT = SpacedReinforcement(
    gain=0.1,  # C11
    span_days=7.0,
    most=2.0,
    limit=1.0,
    associative_gain=0.03,
    link_gain=0.1,  # C13
    core_accesses=10,  # C12
    core_stability=0.85,
    core_sessions=3,
)

COGNITIVE = Profile(
    name="cognitive",
    channels=(
        VectorChannel(per_result=3),  # C4
        LexicalChannel(depth=30, k1=1.2, b=0.75),  # C5
    ),
    fusion=RetentionWeightedUnion(),  # C5, C6
    factors=(
        Retention(  # C1
            model="exponential",
            beta_days=(45.0, 120.0, math.inf, 120.0),
            floors=(0.02, 0.02, 0.02, 0.60),
            alpha=0.3,  # C6
        ),
    ),
    selection=Selection(
        hide_cold=True,  # C4
        expiring_kinds=("plan", "transient_state"),  # C7
    ),
    deep_recall_penalty=0.5,  # C6, C7
    rerank=Reranking(top=10, after_links=False),  # C8
    expansion=AssociativeExpansion(  # C9, C10
        least_link=0.3, least_path=0.3, hops=2, least_score=0.05, bridged=3
    ),
    reinforcement=REINFORCEMENT,
    ingest=IngestAssociation(  # C17, C18
        least_cosine=0.4, base=0.2, slope=0.5, most_weight=0.5, above_cosine=0.75, raised_by=0.05
    ),
    initial_stability=InitialStability(base=0.1, gain=0.3),  # C3
    phases=(
        Cooling(within=0.001, days=7.0),  # C19
        Stubbing(days=180.0, characters=200),  # C20
        Summarising(  # C21
            below=0.20,
            least_cosine=0.70,
            group_size=5,
            base_quality=1.0,
            quality_step=0.3,
            most_quality=3.0,
            link=0.8,
        ),
        Conflicts(above_cosine=0.85),  # C22
    ),
)

COGNITIVE_0_5 = COGNITIVE.replace(
    name="cognitive-0.5",
    factors=(Retention(beta_days=(45.0, 240.0, math.inf, 120.0)),),
    reinforcement=replace(REINFORCEMENT, associative_gain=0.05, core_sessions=2),
)

PROFILES = (COGNITIVE, COGNITIVE_0_5)
