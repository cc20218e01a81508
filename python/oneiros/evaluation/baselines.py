"""What profiles are measured against: words alone, meaning alone, both by their ranks."""

from __future__ import annotations

from typing import Final

from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.profile import Profile

__all__ = ["BASELINES"]

_WORDS: Final = LexicalChannel(k1=1.2, b=0.75)
_RANKS: Final = ReciprocalRankFusion(k=60.0)

BASELINES: Final = {
    "bm25": Profile(name="bm25", channels=(_WORDS,), fusion=_RANKS),
    "dense": Profile(name="dense", channels=(VectorChannel(),), fusion=_RANKS),
    "rrf": Profile(name="rrf", channels=(_WORDS, VectorChannel()), fusion=_RANKS),
}
"""By name. A channel alone keeps its own order; no lifecycle, no other part."""
