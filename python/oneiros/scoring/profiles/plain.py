"""Plain ranking: BM25, cosine, and their reciprocal rank fusion, without any lifecycle.

Source: docs/systems/plain.md P1 to P3.
"""

from __future__ import annotations

from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import ReciprocalRankFusion, WeightedSum
from oneiros.scoring.profile import Profile

__all__ = ["PROFILES"]

RAW_SCORE = WeightedSum(weights=(1.0,), importance=0.0, normalise=("none",))

BM25 = Profile(
    name="bm25",
    channels=(LexicalChannel(reaches_k=True),),  # P1
    fusion=RAW_SCORE,
    reinforcement=None,
)

COSINE = Profile(
    name="cosine",
    channels=(VectorChannel(reaches_k=True),),  # P2
    fusion=RAW_SCORE,
    reinforcement=None,
)

RRF = Profile(
    name="rrf",
    channels=(  # P3
        LexicalChannel(depth=1_000, reaches_k=True),
        VectorChannel(depth=1_000, reaches_k=True),
    ),
    fusion=ReciprocalRankFusion(k=60.0),
    reinforcement=None,
)

PROFILES = (BM25, COSINE, RRF)
