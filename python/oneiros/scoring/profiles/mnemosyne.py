"""Mnemosyne: a weighted sum of scores, with recency.

Source: docs/systems/mnemosyne.md; ``mnemosyne``: M1 to M7, M9; ``mnemosyne-3``: also M8.
"""

from __future__ import annotations

from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.factors import RecencyBlend, Tier, Veracity, WeibullRecency
from oneiros.scoring.fusion import WeightedSum
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import CountsOnly
from oneiros.scoring.selection import RelevanceGate
from oneiros.scoring.understanding import QueryWords

__all__ = ["PROFILES"]

STOP_WORDS = (  # M8
    *("a", "again", "an", "and", "are", "as", "ask", "asking", "at", "be", "by", "can", "could"),
    *("did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "in", "into", "is"),
    *("it", "its", "me", "my", "not", "of", "on", "or", "our", "please", "query", "question"),
    *("questions", "recall", "related", "retrieve", "search", "should", "somewhere", "supposed"),
    *("that", "the", "their", "them", "then", "there", "they", "this", "to", "totally"),
    *("unrelated", "use", "uses", "was", "we", "what", "whatever", "when", "where", "which"),
    *("who", "why", "with", "you", "your"),
)

MNEMOSYNE = Profile(
    name="mnemosyne",
    channels=(VectorChannel(), LexicalChannel()),
    fusion=WeightedSum(
        weights=(0.5, 0.3),  # M4
        importance=0.2,  # M3, M4
        normalise=("clamp", "max"),  # M1, M2
    ),
    factors=(RecencyBlend(tau_hours=168.0, weight=0.3),),  # M5
    reinforcement=CountsOnly(),  # M9
)

MNEMOSYNE_3 = MNEMOSYNE.replace(
    name="mnemosyne-3",
    factors=(
        WeibullRecency(weight=0.3),  # M8 in M5's blend
        Tier(ends_days=(30.0, 180.0), weights=(1.0, 0.5, 0.25)),  # M8
        Veracity(stated=1.0, unknown=0.8, inferred=0.7, imported=0.6, tool=0.5),  # M8
    ),
    query_words=QueryWords(  # M8
        cut="joined",
        least_characters=3,
        counts_each=True,
        counts_numbers=False,
        stop_words=STOP_WORDS,
    ),
    keep=(RelevanceGate(),),  # M8
)

PROFILES = (MNEMOSYNE, MNEMOSYNE_3)
