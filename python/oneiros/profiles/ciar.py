"""CIAR: certainty, impact, age, reinforcement.

Source: docs/systems/ciar.md A1 to A3, A8, A10, A13; ``ciar-shipped``: A12.
"""

from __future__ import annotations

from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.factors import (
    CiarDecay,
    CiarReinforcement,
    ShippedDecay,
    ShippedReinforcement,
    Significance,
)
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.profile import Profile
from oneiros.ranking.promotion import Promotion
from oneiros.ranking.reinforcement import CountsOnly

__all__ = ["PRESETS", "PROFILES"]

CIAR = Profile(
    name="ciar",
    channels=(LexicalChannel(), VectorChannel()),
    fusion=ReciprocalRankFusion(k=60.0),  # A10
    factors=(
        Significance(),  # A1, A3
        CiarDecay(rate=0.0231),  # A1
        CiarReinforcement(reinforcement=0.1),  # A1
    ),
    promotion=Promotion(threshold=0.6),  # A4
    reinforcement=CountsOnly(),  # A13
)

CIAR_SHIPPED = CIAR.replace(
    name="ciar-shipped",
    factors=(
        Significance(),
        ShippedDecay(rate=0.1, most_days=30.0, floor=0.1),
        ShippedReinforcement(gain=0.05, most_gain=0.3),
    ),
)

PROFILES = (CIAR, CIAR_SHIPPED)

PRESETS = {  # A8
    "ciar": {
        "customer_service": CIAR.replace(
            factors=(
                Significance(),
                CiarDecay(rate=0.1),
                CiarReinforcement(reinforcement=0.05),
            ),
            promotion=Promotion(threshold=0.7),
        ),
        "research_assistant": CIAR.replace(
            factors=(
                Significance(),
                CiarDecay(rate=0.01),
                CiarReinforcement(reinforcement=0.2),
            ),
            promotion=Promotion(threshold=0.5),
        ),
        "personal_assistant": CIAR.replace(
            factors=(
                Significance(),
                CiarDecay(rate=0.0231),
                CiarReinforcement(reinforcement=0.1),
            ),
            promotion=Promotion(threshold=0.6),
        ),
        "real_time_monitoring": CIAR.replace(
            factors=(
                Significance(),
                CiarDecay(rate=0.5),
                CiarReinforcement(reinforcement=0.01),
            ),
            promotion=Promotion(threshold=0.8),
        ),
        "knowledge_base": CIAR.replace(
            factors=(
                Significance(),
                CiarDecay(rate=0.005),
                CiarReinforcement(reinforcement=0.3),
            ),
            promotion=Promotion(threshold=0.4),
        ),
    }
}
