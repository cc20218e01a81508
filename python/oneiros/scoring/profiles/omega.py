"""OMEGA: reciprocal ranks normalised per channel, and a list of multipliers.

Source: docs/systems/omega.md O1 to O3, O5 to O22, O24 to O31, O33; ``omega-bounded``: O32.
"""

from __future__ import annotations

from oneiros.runtime.dataclasses import replace
from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.factors import (
    Cluster,
    Consolidation,
    ContextMatch,
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
from oneiros.scoring.fusion import ReciprocalRankFusion, WeightedMean
from oneiros.scoring.link_expansion import GraphExpansion
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import CountsOnly
from oneiros.scoring.relevance_adjustments import HotSet
from oneiros.scoring.selection import FeedbackAbove, Selection
from oneiros.scoring.stages import (
    AdaptiveRetry,
    ByBest,
    Duplicates,
    FastPath,
    Reranking,
    ResponseCache,
    StrongSignal,
    Surfacing,
)
from oneiros.scoring.tables import Rows
from oneiros.scoring.understanding import DEFAULT_HINT, QueryWords, Understanding, Weights, weighed

__all__ = ["PRESETS", "PROFILES"]

UNDERSTANDING = Understanding(
    hints=Rows(  # O8: vector, text, word, context, graph
        {
            "_default": (1.0, 1.0, 1.0, 1.0, 1.0),
            "error_pattern": (0.3, 1.5, 2.0, 0.5, 0.3),
            "decision": (0.8, 0.6, 0.5, 1.0, 2.0),
            "lesson_learned": (1.5, 0.8, 0.5, 0.8, 1.0),
            "user_preference": (0.6, 1.0, 1.5, 0.3, 0.3),
            "knowledge-update": (0.8, 1.3, 1.5, 1.0, 1.0),
            "multi-session": (1.3, 1.0, 1.3, 1.0, 1.0),
            "temporal-reasoning": (1.0, 1.3, 1.3, 1.0, 1.0),
        }
    ),
    intents=Rows(  # O9: the same columns
        {
            "navigational": (0.1, 2.0, 2.0, 0.5, 0.3),
            "factual": (0.3, 1.5, 1.8, 1.0, 1.0),
            "conceptual": (1.8, 0.5, 0.3, 1.0, 1.0),
        }
    ),
    keyword_signs=(  # O9, Lists
        *("code", "path", "quoted", "camel_case", "snake_case", "memory_id", "version", "url"),
        "hex",
    ),
    factual=(
        *("what was", "what is", "what are", "which", "when did", "when was"),
        *("who", "who's", "whose", "whom", "where", "where's", "did we", "did i"),
        *("was there", "is there", "decision about", "preference for", "error with", "bug in"),
        *("remind me", "remember", "remembers", "remembered"),
    ),
    conceptual=(
        *("how does", "how doesn't", "how do", "how don't", "how to"),
        *("why does", "why doesn't", "why do", "why don't", "why is", "why isn't"),
        *("explain", "explains", "explained", "explaining"),
        *("understand", "understands", "understanding", "overview", "overviews"),
        *("architecture", "architectures", "design", "designs", "designed", "designing"),
        *("pattern", "patterns", "approach", "approaches", "strategy"),
        *("concept", "concepts", "conceptual"),
    ),
    skips_vectors=True,  # O2
    preference=(  # O19
        *("prefer", "preference", "favourite", "favorite", "like", "likes", "always use"),
        *("default", "rather", "instead of"),
    ),
    conjunctions=("and also", "and", "as well as", "also"),  # O10, Lists
    not_before=(
        *("the", "a", "an", "in", "on", "at", "to", "of", "by", "or", "if"),
        *("is", "was", "were", "are", "it", "its"),
    ),
    clause_marks=(
        *("what", "which", "when", "where", "who", "how", "why", "did", "do", "does"),
        *("was", "were", "is", "are", "has", "have", "will", "can", "should"),
        *("tell", "show", "find", "list"),
    ),
    quotes=('"', "'"),
    least_quotes=2,
    least_question_characters=25,
    trailing_marks=("?", ".", ",", ";", "!"),
    most_parts=4,
    least_characters=12,
    least_words=2,
    part_gain=1.15,
    variant_weight=0.8,  # O6
    most_variants=4,
    expander_seconds=5.0,
    situations=Rows(  # O16: min_vec, min_text, min_composite, context boost
        {
            "general": (0.50, 0.35, 0.10, 1.0),
            "error_debug": (0.40, 0.45, 0.08, 1.0),
            "file_edit": (0.50, 0.35, 0.10, 2.0),
            "session_start": (0.45, 0.40, 0.10, 1.0),
            "planning": (0.45, 0.40, 0.10, 1.5),
            "review": (0.45, 0.40, 0.10, 1.5),
        }
    ),
)

OMEGA = Profile(
    name="omega",
    channels=(
        LexicalChannel(word_share=0.3, floor=0.1),  # O3
        VectorChannel(),  # O2
        TemporalChannel(),  # O4
    ),
    fusion=ReciprocalRankFusion(k=60.0, weights=(1.0, 1.0, 1.2), normalise="channel"),  # O7
    query_words=QueryWords(cut="white_space", least_characters=3, counts_each=True),  # O3
    hot_set=HotSet(size=50, least_overlap=0.4, weight=0.8),  # O1
    fast_path=FastPath(similarity=0.60, characters=200),  # O1
    strong_signal=StrongSignal(  # O5
        threshold=0.85,
        gap=0.15,
        skips=("kind", "feedback", "priority", "decay", "thompson", "consolidation"),
    ),
    factors=(
        KindWeight(),  # O11
        Feedback(gain=0.15, most=10.0, loss=0.2, floor=0.2),  # O12
        Priority(base=0.7, step=0.08),  # O13
        FlooredDecay(floor=0.35, floor_never_accessed=0.15),  # O14
        Thompson(base=0.8, spread=0.4, least=10.0),  # O15
        Consolidation(gain=0.1, most=3.0),  # O17
        Overlap(gain=0.5, disliked=0.5),  # O18, by its list of suffixes
        Preference(boost=1.5),  # O19
        ContextMatch(tag=0.10, project=0.15, content=0.05, most_content=3.0),  # O20
        Cluster(least=0.5, gain=0.33, most=0.15),  # O21
        TemporalConstraint(in_range=1.3, soft=0.85, explicit=0.15, inferred=0.70),  # O22
        Rerank(ends=(3.0, 10.0), weights=(0.15, 0.30, 0.50)),  # O25
    ),
    keep=(FeedbackAbove(leaves_at=-3.0),),  # O12
    selection=Selection(  # O23
        hidden_kinds=(
            *("code_chunk", "coordination_snapshot", "file_summary", "session_respawn"),
            "session_summary",
        )
    ),
    expansion=GraphExpansion(  # O24
        seeds=5, hops=2, per_hop=0.4, least_link=0.2, least_score=0.10
    ),
    rerank=Reranking(top=20, after_links=True),  # O25
    duplicates=Duplicates(characters=150, cosine=0.92),  # O26
    abstention=Surfacing(least_cosine=0.5, least_overlap=0.35, least_score=0.1),  # O27
    retry=AdaptiveRetry(  # O28
        least_confidence=0.3, relaxation=0.6, score_relaxation=0.5, results=3
    ),
    normalisation=ByBest(),  # O29
    reinforcement=CountsOnly(),  # O33
    understanding=UNDERSTANDING,
    cache=ResponseCache(  # O30
        most=128, seconds=60.0, confident_seconds=300.0, above_confidence=0.7
    ),
    phases=(
        Forgetting(  # O31
            age_days=30.0,
            disliked_at=-3.0,
            below=0.05,
            exempt=("user_preference", "error_pattern", "constraint", "reminder"),
        ),
    ),
)

OMEGA_BOUNDED = OMEGA.replace(
    name="omega-bounded",
    strong_signal=None,  # O32 is over all channels
    fusion=WeightedMean(  # O3 is part of the lexical channel
        weights=(1.0, 1.0, 1.2), normalise=("clamp", "clamp", "clamp")
    ),
    factors=(
        TieBreak(window=0.01, priority_gain=0.005, access_gain=0.0025, quality_gain=0.0025),
        Freshness(gain=0.05, tau_days=30.0),
    ),
)

PROFILES = (OMEGA, OMEGA_BOUNDED)

_BARE = OMEGA.replace(understanding=replace(UNDERSTANDING, hints=Rows({})))

PRESETS = {  # O8: the weights of one hint, for every query
    "omega": {
        hint: weighed(_BARE, Weights(*row))
        for hint, row in UNDERSTANDING.hints.items()
        if hint != DEFAULT_HINT
    }
}
