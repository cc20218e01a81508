"""Strategies for every declaration that a profile can hold."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from hypothesis import strategies as st

from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.factors import FACTORS, Expression
from oneiros.scoring.fusion import (
    Blend,
    ReciprocalRankFusion,
    RetentionWeightedUnion,
    WeightedMean,
    WeightedSum,
)
from oneiros.scoring.ingest import IngestAssociation, InitialStability
from oneiros.scoring.link_expansion import AssociativeExpansion, GraphExpansion
from oneiros.scoring.profile import Profile
from oneiros.scoring.promotion import Promotion
from oneiros.scoring.reinforcement import CountsOnly, Reinforcement, SpacedReinforcement
from oneiros.scoring.relevance_adjustments import (
    AskedTime,
    HotSet,
    NamedTime,
    Neighbours,
    Statements,
)
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.scoring.selection import FeedbackAbove, RelevanceGate, Selection
from oneiros.scoring.stages import (
    AdaptiveRetry,
    ByBest,
    Duplicates,
    FastPath,
    NewerFirst,
    Reranking,
    Surfacing,
    WeakBest,
)
from oneiros.scoring.understanding import INTENTS, KEYWORD_SIGNS, QueryWords, Understanding
from tests.profiles.phase_declarations import PHASES
from tests.profiles.values import SHARE, TABLE, WEIGHT, WORD, WORDS

ABOVE_ZERO = st.floats(0, 1e12, exclude_min=True)
OPEN_SHARE = st.floats(0, 1, exclude_min=True, exclude_max=True)
NORMALISATION = st.sampled_from(["none", "max", "clamp", "minmax_floor"])

_BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "table": TABLE,
    "rates": TABLE,
    "shapes": st.dictionaries(WORD, st.floats(0.01, 100), max_size=4),
    "eta_hours": st.dictionaries(WORD, ABOVE_ZERO, max_size=4),
    "decisions": WORDS,
    "kinds": WORDS,
    "beta_days": st.tuples(*[ABOVE_ZERO | st.just(math.inf)] * 4),
    "floors": st.tuples(*[SHARE] * 4),
    "model": st.sampled_from(["exponential", "power"]),
    "alpha": st.floats(0, 100),
    "ends_days": st.just((1.0, 7.5)),
    "ends": st.tuples(st.floats(1, 5), st.floats(5, 50)),
    "cap": st.just(math.inf) | st.floats(1e-9, 1e9),
    "other_shape": st.floats(0.01, 100),
    "reinforcement": st.floats(0, 1, exclude_max=True),
    "low": SHARE,
    "ignores_use": st.none() | st.booleans(),
    "ignores_questions": st.none() | st.booleans(),
    "high": st.floats(1, 1e6),
    **dict.fromkeys(("tau_days", "tau_hours", "half_life_days", "other_eta_hours"), ABOVE_ZERO),
    **dict.fromkeys(("most_days", "most_accesses", "most_quality"), ABOVE_ZERO),
    **dict.fromkeys(("damping", "floor", "floor_never_accessed", "weight"), SHARE),
}


def _fields(kind: type[Any]) -> dict[str, st.SearchStrategy[Any]]:
    own: dict[tuple[str, str], st.SearchStrategy[Any]] = {
        ("Depth", "table"): st.tuples(WEIGHT, WEIGHT, WEIGHT),
        ("Tier", "weights"): st.tuples(WEIGHT, WEIGHT, WEIGHT),
        ("Rerank", "weights"): st.tuples(WEIGHT, WEIGHT, WEIGHT),
        ("Thompson", "least"): st.floats(1, 1e6),
        ("Thompson", "seed"): st.none() | st.integers(0, 2**53),
        ("Cluster", "least"): SHARE,
        ("QuestionFeedback", "least"): SHARE,
        ("Overlap", "suffixes"): st.sampled_from([(), ("s",), ("ing", "\u00e9")]),
        ("FlooredDecay", "base"): SHARE,
        ("CiarDecay", "rate"): OPEN_SHARE,
        ("ShippedDecay", "rate"): OPEN_SHARE,
    }
    return {
        field.name: own.get((kind.__name__, field.name), _BY_NAME.get(field.name, WEIGHT))
        for field in fields(kind)
    }


FACTOR_SETS = st.tuples(
    *(st.builds(kind, **_fields(kind)) for kind in FACTORS),
    st.just(Expression("1 + 0.1 * log1p(access_count)", name="own", operation="add")),
).flatmap(
    lambda factors: st.lists(
        st.sampled_from(factors), unique_by=lambda factor: factor.name, max_size=32
    )
)

TWO = st.tuples(WEIGHT, WEIGHT)
FUSIONS = st.one_of(
    st.builds(
        ReciprocalRankFusion,
        k=st.floats(0, 1e9),
        weights=st.none() | TWO,
        normalise=st.sampled_from(["none", "channel"]),
    ),
    st.builds(
        WeightedSum,
        weights=TWO,
        importance=WEIGHT,
        normalise=st.tuples(NORMALISATION, NORMALISATION),
        low=SHARE,
    ),
    st.builds(
        WeightedMean, weights=TWO, normalise=st.tuples(NORMALISATION, NORMALISATION), low=SHARE
    ),
    st.builds(
        Blend,
        weight=SHARE,
        scale=st.sampled_from([None, "best", "coverage"]),
        baseline=st.sampled_from([None, "zero", "candidates"]),
        spelling=st.none() | SHARE,
        pairs=st.none() | SHARE,
        pair_window=st.none() | st.integers(1, 64),
    ),
    st.just(RetentionWeightedUnion()),
)
CHANNELS = st.tuples(
    st.builds(
        LexicalChannel,
        depth=st.integers(1, 100_000),
        k1=WEIGHT,
        b=SHARE,
        half_length=st.none() | st.floats(0, 1e6, exclude_min=True),
        function_words=st.none() | st.floats(0.001, 1),
        whole_query=st.none() | st.integers(1, 1_000_000),
        typos=st.none() | SHARE,
        title_weight=st.none() | st.integers(1, 32).map(lambda quarters: quarters / 4),
        title_length=st.sampled_from([None, 0.0, 1.0]),
    )
    | st.builds(LexicalChannel, word_share=SHARE, floor=SHARE),
    st.builds(
        VectorChannel,
        depth=st.integers(1, 100_000),
        per_result=st.none() | st.integers(1, 1_000),
        minimum=st.none() | st.floats(-1, 1),
    ),
).flatmap(st.permutations)

ASSOCIATIVE = st.builds(
    AssociativeExpansion,
    least_link=SHARE,
    least_path=SHARE,
    hops=st.integers(1, 3),
    least_score=WEIGHT,
    bridged=st.integers(0, 16),
    cold=st.booleans(),
    depth=st.integers(1, 100_000),
    quota=SHARE,
)
EXPANSIONS = st.none() | st.builds(
    GraphExpansion,
    seeds=st.integers(1, 1_000),
    hops=st.integers(1, 3),
    per_hop=st.floats(0, 1, exclude_min=True),
    least_link=SHARE,
    least_score=WEIGHT,
    weight=WEIGHT,
)
REINFORCEMENTS = st.one_of(
    st.none(),
    st.just(CountsOnly()),
    st.builds(Reinforcement, gain=WEIGHT, span_days=ABOVE_ZERO, most=WEIGHT, limit=ABOVE_ZERO),
    st.builds(
        SpacedReinforcement,
        gain=WEIGHT,
        span_days=ABOVE_ZERO,
        most=WEIGHT,
        limit=ABOVE_ZERO,
        associative_gain=st.none() | WEIGHT,
        link_gain=st.none() | st.floats(0, 1, exclude_min=True),
        most_linked=st.integers(2, 1_000),
        link_rest_days=WEIGHT,
        once_a_session=st.booleans(),
    ),
    st.builds(
        SpacedReinforcement,
        core_accesses=st.none() | st.integers(0, 2**32 - 1),
        core_stability=WEIGHT,
        core_sessions=st.integers(1, 100),
    ),
)
PHRASES = st.lists(
    st.lists(st.text("abcé'", min_size=1, max_size=5), min_size=1, max_size=3).map(" ".join),
    max_size=3,
).map(tuple)
UNDERSTANDINGS = st.builds(
    Understanding,
    hints=st.dictionaries(WORD, st.tuples(*[st.floats(0, 1e3)] * 5), max_size=3),
    intents=st.dictionaries(
        st.sampled_from(INTENTS), st.tuples(*[st.floats(0, 1e3)] * 5), max_size=3
    ),
    keyword_signs=st.lists(st.sampled_from(KEYWORD_SIGNS), max_size=3, unique=True),
    **dict.fromkeys(("factual", "conceptual", "preference"), PHRASES),
    **dict.fromkeys(("conjunctions", "not_before", "clause_marks"), PHRASES),
    **dict.fromkeys(("quotes", "trailing_marks"), st.lists(st.sampled_from("\"'?.\u201c"))),
    **dict.fromkeys(("least_quotes", "least_question_characters"), st.integers(1, 1_000)),
    skips_vectors=st.booleans(),
    most_parts=st.integers(1, 16),
    part_gain=st.floats(1, 1e3),
    most_variants=st.integers(1, 16),
    expander_seconds=ABOVE_ZERO | st.just(math.inf),
    situations=st.dictionaries(WORD, st.tuples(*[SHARE] * 4), max_size=3),
)
PROFILES = st.builds(
    Profile,
    name=st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}\Z"),
    channels=CHANNELS,
    fusion=FUSIONS,
    factors=FACTOR_SETS,
    keep=st.lists(
        st.builds(
            FeedbackAbove,
            leaves_at=st.floats(-32_768, 0),
            ignores_questions=st.none() | st.booleans(),
        )
        | st.builds(RelevanceGate, short=SHARE, middle=SHARE, long=SHARE, cosine=st.floats(-1, 1)),
        unique_by=lambda rule: rule.name,
    ),
    selection=st.builds(
        Selection,
        hide_superseded=st.booleans(),
        hide_expired=st.booleans(),
        hide_cold=st.booleans(),
        hidden_kinds=st.sampled_from([(), ("code_chunk",), ("note", "test")]),
        expiring_kinds=st.sampled_from([(), ("plan", "transient_state"), ("note",)]),
    ),
    deep_recall_penalty=st.just(0.5) | SHARE,
    neighbours=st.none()
    | st.builds(
        Neighbours,
        share=WEIGHT,
        decay=SHARE,
        reach=st.integers(0, 64),
        above_mean=st.booleans(),
        above_session=st.none() | st.booleans(),
        from_better=st.none() | st.booleans(),
        session_share=st.none() | SHARE,
        whole_length=st.none() | st.floats(0, 1e6, exclude_min=True),
    ),
    query_words=st.none()
    | st.builds(
        QueryWords,
        cut=st.sampled_from(["runs", "white_space", "joined"]),
        least_characters=st.integers(1, 64),
        counts_each=st.booleans(),
        counts_numbers=st.booleans(),
        stop_words=st.sampled_from([(), ("the", "of")]),
    ),
    hot_set=st.none()
    | st.builds(
        HotSet, size=st.integers(1, 10_000), least_overlap=SHARE, weight=st.floats(0.01, 100)
    ),
    statements=st.none() | st.builds(Statements, damping=SHARE),
    named_time=st.none() | st.builds(NamedTime, soft=SHARE, explicit=SHARE, inferred=SHARE),
    asked_time=st.none() | st.builds(AskedTime, damping=SHARE),
    expansion=EXPANSIONS,
    fast_path=st.none()
    | st.builds(
        FastPath, similarity=st.floats(0, 1, exclude_min=True), characters=st.integers(3, 1_000)
    ),
    rerank=st.none()
    | st.builds(
        Reranking,
        top=st.integers(1, 1_000),
        after_links=st.booleans(),
        deadline_seconds=ABOVE_ZERO | st.just(math.inf),
    ),
    duplicates=st.none()
    | st.builds(
        Duplicates, characters=st.integers(1, 1_000), cosine=st.floats(0, 1, exclude_min=True)
    ),
    newer_first=st.none()
    | st.builds(
        NewerFirst,
        depth=st.integers(2, 1_000),
        least_confidence=st.floats(0, 1, exclude_min=True),
    ),
    abstention=st.none()
    | st.builds(Surfacing, least_cosine=st.floats(-1, 1), least_overlap=SHARE, least_score=WEIGHT)
    | st.builds(WeakBest, cosine=st.floats(-1, 1), words=SHARE, misses=st.integers(0, 1_000)),
    retry=st.none()
    | st.builds(
        AdaptiveRetry, least_confidence=SHARE, relaxation=SHARE, results=st.integers(1, 1_000)
    ),
    normalisation=st.none() | st.just(ByBest()),
    reinforcement=REINFORCEMENTS,
    promotion=st.none() | st.builds(Promotion, threshold=st.floats(0, 1, exclude_min=True)),
    understanding=st.none() | UNDERSTANDINGS,
    initial_stability=st.none() | st.builds(InitialStability, base=WEIGHT, gain=WEIGHT),
    phases=PHASES,
    rails=st.none()
    | st.builds(
        SafetyRails, youngest_days=st.floats(0, 1e9), most_pruned=SHARE, most_changed=SHARE
    ),
    ingest=st.none()
    | st.builds(
        IngestAssociation,
        least_cosine=st.floats(-1, 1),
        base=st.floats(0, 1, exclude_min=True),
        slope=SHARE,
        most_weight=st.floats(0, 1, exclude_min=True),
        together=st.integers(1, 1_024),
        above_cosine=st.floats(-1, 1),
        raised_by=SHARE,
        most_records=st.integers(0, 2**31 - 1),
    ),
).flatmap(
    lambda profile: (
        st.one_of(st.just(profile), ASSOCIATIVE.map(lambda one: profile.replace(expansion=one)))
        if profile.fusion.needs_scores
        else st.just(profile)
    )
)
