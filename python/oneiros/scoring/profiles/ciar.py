"""CIAR: certainty, impact, age, reinforcement.

Source: docs/systems/ciar.md A1 to A3, A8, A10, A13; ``ciar-shipped``: A12.
"""

from __future__ import annotations

from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.factors import (
    CiarDecay,
    CiarReinforcement,
    ShippedDecay,
    ShippedReinforcement,
    Significance,
)
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.profile import Profile
from oneiros.scoring.promotion import Promotion
from oneiros.scoring.reinforcement import CountsOnly

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
        "customer_service": CIAR.replace(promotion=Promotion(threshold=0.7)).with_factors(
            CiarDecay(rate=0.1), CiarReinforcement(reinforcement=0.05)
        ),
        "research_assistant": CIAR.replace(promotion=Promotion(threshold=0.5)).with_factors(
            CiarDecay(rate=0.01), CiarReinforcement(reinforcement=0.2)
        ),
        "personal_assistant": CIAR.replace(promotion=Promotion(threshold=0.6)).with_factors(
            CiarDecay(rate=0.0231), CiarReinforcement(reinforcement=0.1)
        ),
        "real_time_monitoring": CIAR.replace(promotion=Promotion(threshold=0.8)).with_factors(
            CiarDecay(rate=0.5), CiarReinforcement(reinforcement=0.01)
        ),
        "knowledge_base": CIAR.replace(promotion=Promotion(threshold=0.4)).with_factors(
            CiarDecay(rate=0.005), CiarReinforcement(reinforcement=0.3)
        ),
    }
}
