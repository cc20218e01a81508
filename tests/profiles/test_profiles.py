"""The scoring systems by name, against docs/systems."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import oneiros
from oneiros import profiles
from oneiros.errors import UnknownProfile
from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.factors import (
    CiarDecay,
    CiarReinforcement,
    ContextMatch,
    Depth,
    Feedback,
    FlooredDecay,
    Freshness,
    HalfLifeRecency,
    KindWeight,
    Overlap,
    Priority,
    QuestionFeedback,
    RecencyBlend,
    Retention,
    ShippedDecay,
    ShippedReinforcement,
    Significance,
    Spread,
    Stability,
    Strength,
    TieBreak,
    Tier,
    TimeDecay,
    Trust,
    Veracity,
    WeibullRecency,
)
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
from oneiros.scoring.selection import FeedbackAbove, RelevanceGate, Selection
from oneiros.scoring.stages import (
    AdaptiveRetry,
    ByBest,
    Duplicates,
    FastPath,
    NewerFirst,
    Reranking,
    StrongSignal,
    Surfacing,
    WeakBest,
)
from oneiros.scoring.understanding import QueryWords
from tests.oracles.mnemosyne import STOP_WORDS, WEIBULL
from tests.oracles.omega_tables import KIND_WEIGHT
from tests.oracles.texts import SUFFIXES

NAMES = [
    "bm25",
    "ciar",
    "ciar-shipped",
    "cognitive",
    "cognitive-0.5",
    "cosine",
    "mnemosyne",
    "mnemosyne-3",
    "omega",
    "omega-bounded",
    "oneiros",
    "reverie",
    "reverie-capped",
    "rrf",
]


def test_reverie_reads_like_its_page() -> None:
    profile = profiles.get("reverie")
    assert profile.channels == (LexicalChannel(depth=100), VectorChannel(depth=100))  # R1, R2
    assert profile.fusion == ReciprocalRankFusion(k=30.0, weights=None)  # R3
    assert profile.factors == (
        TimeDecay(boost=0.3, tau_days=30.0),  # R4
        Strength(),  # R5
        Depth(table=(0.8, 1.0, 1.2)),  # R6
        Spread(cap=math.inf),  # R7
        Stability(tau_days=30.0, low=0.1, high=3.0),  # R8
    )
    assert profile.reinforcement == Reinforcement(gain=0.1, span_days=7.0, limit=10.0)  # R20


def test_reverie_capped_differs_in_the_cap_alone() -> None:
    plain, capped = profiles.get("reverie"), profiles.get("reverie-capped")
    assert capped.factors == tuple(
        Spread(cap=3.0) if isinstance(factor, Spread) else factor for factor in plain.factors
    )
    assert capped.replace(name="reverie", factors=plain.factors) == plain


def test_the_live_pipeline_is_the_profile_without_lifecycle() -> None:
    live = profiles.get("reverie", lifecycle=False)
    assert live.factors == (TimeDecay(),)
    assert live.hash != profiles.get("reverie").hash
    assert profiles.get("reverie", lifecycle=True) is profiles.get("reverie")


@pytest.mark.parametrize("switch", ["strength", "depth", "spread", "stability"])
def test_each_factor_has_its_own_switch(switch: str) -> None:
    names = [factor.name for factor in profiles.get("reverie", **{switch: False}).factors]
    every = [factor.name for factor in profiles.get("reverie").factors]
    assert names == [name for name in every if name != switch]


def test_cognitive_reads_like_its_page() -> None:
    profile = profiles.get("cognitive")
    assert {channel.name: channel.depth_for(10) for channel in profile.channels} == {
        "vector": 30,  # C4
        "lexical": 30,  # C5
    }
    assert profile.channels[1] == LexicalChannel(depth=30, k1=1.2, b=0.75)  # C5
    assert profile.fusion == RetentionWeightedUnion()  # C5, C6
    assert profile.factors == (
        Retention(
            model="exponential",
            beta_days=(45, 120, math.inf, 120),
            floors=(0.02, 0.02, 0.02, 0.6),
            alpha=0.3,
        ),  # C1, C6
    )
    assert profile.reinforcement == SpacedReinforcement(
        gain=0.1,
        span_days=7,
        most=2,
        limit=1,
        associative_gain=0.03,  # C11
        link_gain=0.1,  # C13
        most_linked=32,
        link_rest_days=0,
        once_a_session=False,
        core_accesses=10,  # C12
        core_stability=0.85,
        core_sessions=3,
    )
    assert profile.selection == Selection(
        hide_cold=True,  # C4
        expiring_kinds=("plan", "transient_state"),  # C7
    )
    assert profile.deep_recall_penalty == 0.5  # C6, C7
    assert profile.ingest == IngestAssociation(  # C17, C18
        least_cosine=0.4,
        base=0.2,
        slope=0.5,
        most_weight=0.5,
        together=64,
        above_cosine=0.75,
        raised_by=0.05,
        most_records=1_000,
    )
    assert profile.expansion == AssociativeExpansion(  # C9, C10
        least_link=0.3, least_path=0.3, hops=2, least_score=0.05, bridged=3, cold=True, quota=0
    )
    assert profile.initial_stability == InitialStability(base=0.1, gain=0.3)  # C3
    assert profile.initial_stability.of(0.5) == pytest.approx(0.25)
    assert profile.rerank == Reranking(top=10, after_links=False)  # C8
    newer = profiles.get("cognitive-0.5")
    same = {"name": "cognitive", "factors": profile.factors}
    assert newer.replace(**same, reinforcement=profile.reinforcement) == profile
    assert newer.reinforcement == replace(
        profile.reinforcement, associative_gain=0.05, core_sessions=2
    )
    assert newer.factors == (Retention(beta_days=(45, 240, math.inf, 120)),)


def test_mnemosyne_reads_like_its_page() -> None:
    profile = profiles.get("mnemosyne")
    assert [channel.name for channel in profile.channels] == ["vector", "lexical"]
    assert profile.fusion == WeightedSum(
        weights=(0.5, 0.3),
        importance=0.2,
        normalise=("clamp", "max"),  # M1 to M4
    )
    assert profile.factors == (RecencyBlend(tau_hours=168, weight=0.3),)  # M5
    assert profile.reinforcement == CountsOnly()  # M9
    third = profiles.get("mnemosyne-3")
    assert third.factors == (WeibullRecency(), Tier(), Veracity())  # M8
    recency = WeibullRecency()
    assert recency.weight == 0.3
    assert {
        kind: (shape, recency.eta_hours[kind]) for kind, shape in recency.shapes.items()
    } == WEIBULL
    assert WEIBULL["general"] == (recency.other_shape, recency.other_eta_hours)
    words = third.query_words
    assert words is not None
    assert set(words.stop_words) == STOP_WORDS
    assert words == QueryWords(
        cut="joined",
        least_characters=3,
        counts_each=True,
        counts_numbers=False,
        stop_words=words.stop_words,
    )
    assert third.keep == (RelevanceGate(short=0.15, middle=0.5, long=0.3, cosine=0.65),)  # M8


def test_omega_reads_like_its_page() -> None:
    profile = profiles.get("omega")
    words = LexicalChannel(word_share=0.3, floor=0.1)
    assert profile.channels == (words, VectorChannel(), TemporalChannel())  # O3, O2, O4
    weights = (1, 1, 1.2)
    assert profile.fusion == ReciprocalRankFusion(k=60, weights=weights, normalise="channel")  # O7
    told = """
    kind feedback priority decay thompson consolidation overlap preference context cluster temporal
    rerank
    """
    assert [factor.name for factor in profile.factors] == told.split()
    kind, feedback, priority, decay, *_ = profile.factors
    assert isinstance(kind, KindWeight)
    assert dict(kind.table) == KIND_WEIGHT
    assert oneiros.kernels.kind_weight("file_claimed") == 0.7
    assert oneiros.kernels.kind_weight("file_claim") == 1.0  # no kind of O11
    (overlap,) = (one for one in profile.factors if isinstance(one, Overlap))
    assert overlap == Overlap(gain=0.5, disliked=0.5, suffixes=SUFFIXES)  # O18
    assert feedback == Feedback(gain=0.15, most=10, loss=0.2, floor=0.2)
    assert priority == Priority(base=0.7, step=0.08)
    assert isinstance(decay, FlooredDecay)
    assert (decay.floor, decay.floor_never_accessed, decay.otherwise) == (0.35, 0.15, 0.02)
    assert profile.keep == (FeedbackAbove(leaves_at=-3),)  # O12
    assert profile.expansion == GraphExpansion(  # O24
        seeds=5, hops=2, per_hop=0.4, least_link=0.2, least_score=0.1, weight=1
    )
    assert profile.rerank == Reranking(top=20, after_links=True)  # O25
    assert profile.duplicates == Duplicates(characters=150, cosine=0.92)  # O26
    assert profile.abstention == Surfacing(  # O27, O16's general
        least_cosine=0.5, least_overlap=0.35, least_score=0.1
    )
    assert profile.query_words == QueryWords(  # O3
        cut="white_space", least_characters=3, counts_each=True, counts_numbers=True, stop_words=()
    )
    assert profile.hot_set == HotSet(size=50, least_overlap=0.4, weight=0.8)  # O1
    assert profile.fast_path == FastPath(similarity=0.60, characters=200)  # O1
    metadata = ("kind", "feedback", "priority", "decay", "thompson", "consolidation")
    assert profile.strong_signal == StrongSignal(threshold=0.85, gap=0.15, skips=metadata)  # O5
    assert profiles.get("omega-bounded").strong_signal is None
    assert profile.retry == AdaptiveRetry(  # O28
        least_confidence=0.3, relaxation=0.6, score_relaxation=0.5, results=3
    )
    assert profile.normalisation == ByBest()  # O29
    words = profile.channels[0]
    assert isinstance(words, LexicalChannel)
    assert (words.word_share, words.floor) == (0.3, 0.1)  # O3
    bounded = profiles.get("omega-bounded")
    assert bounded.channels == profile.channels
    assert bounded.fusion == WeightedMean(weights=weights, normalise=("clamp", "clamp", "clamp"))
    assert bounded.factors == (TieBreak(), Freshness())
    assert bounded.keep == profile.keep


def test_ciar_reads_like_its_page() -> None:
    profile = profiles.get("ciar")
    assert profile.fusion == ReciprocalRankFusion(k=60)  # A10
    assert profile.factors == (
        Significance(),
        CiarDecay(rate=0.0231),
        CiarReinforcement(reinforcement=0.1),
    )
    assert profile.promotion == Promotion(threshold=0.6)
    assert CiarDecay().half_life_days == pytest.approx(30.0, abs=0.01)  # A7
    assert profiles.get("ciar-shipped").factors == (
        Significance(),
        ShippedDecay(rate=0.1, most_days=30, floor=0.1),
        ShippedReinforcement(gain=0.05, most_gain=0.3),
    )


@pytest.mark.parametrize(
    ("preset", "vector", "text", "word", "context", "graph"),
    [
        ("error_pattern", 0.3, 1.5, 2.0, 0.5, 0.3),
        ("decision", 0.8, 0.6, 0.5, 1.0, 2.0),
        ("lesson_learned", 1.5, 0.8, 0.5, 0.8, 1.0),
        ("user_preference", 0.6, 1.0, 1.5, 0.3, 0.3),
        ("knowledge-update", 0.8, 1.3, 1.5, 1.0, 1.0),
        ("multi-session", 1.3, 1.0, 1.3, 1.0, 1.0),
        ("temporal-reasoning", 1.0, 1.3, 1.3, 1.0, 1.0),
    ],
)
def test_the_presets_of_omega(
    preset: str, vector: float, text: float, word: float, context: float, graph: float
) -> None:
    profile = profiles.get("omega", preset=preset)  # O8
    weights = (text, vector, 1.2)
    assert profile.fusion == ReciprocalRankFusion(k=60, weights=weights, normalise="channel")
    by_name = {factor.name: factor for factor in profile.factors}
    assert by_name["overlap"] == Overlap(weight=word)
    assert by_name["context"] == ContextMatch(weight=context)
    assert profile.expansion == GraphExpansion(weight=graph)
    assert list(by_name) == [factor.name for factor in profiles.get("omega").factors]


@pytest.mark.parametrize(
    ("preset", "rate", "reinforcement", "threshold"),
    [
        ("customer_service", 0.1, 0.05, 0.7),
        ("research_assistant", 0.01, 0.2, 0.5),
        ("personal_assistant", 0.0231, 0.1, 0.6),
        ("real_time_monitoring", 0.5, 0.01, 0.8),
        ("knowledge_base", 0.005, 0.3, 0.4),
    ],
)
def test_the_presets_of_ciar(
    preset: str, rate: float, reinforcement: float, threshold: float
) -> None:
    profile = profiles.get("ciar", preset=preset)  # A8
    assert profile.factors[1:] == (
        CiarDecay(rate=rate),
        CiarReinforcement(reinforcement=reinforcement),
    )
    assert profile.promotion == Promotion(threshold=threshold)
    assert profile.fusion == profiles.get("ciar").fusion


def test_the_house_profile_reads_like_its_page() -> None:
    profile = profiles.get("oneiros")
    lexical, vector, temporal = profile.channels
    assert lexical == LexicalChannel(  # H1, H5, H17, H18, H20
        depth=100,
        k1=1.2,
        b=1,
        half_length=65,
        function_words=0.3,
        whole_query=30,
        typos=0.8,
        title_weight=3,
        title_length=0,
    )
    assert vector == VectorChannel(depth=100)  # H1
    assert temporal == TemporalChannel(depth=100)  # H1
    assert profile.fusion == Blend(  # H3, H14
        weight=0.55,
        scale="coverage",
        baseline="candidates",
        spelling=0.1,
        pairs=0.15,
        pair_window=3,
    )
    assert profile.neighbours == Neighbours(  # H4
        share=0.6,
        decay=0.5,
        reach=2,
        seeds=10,
        above_mean=True,
        above_session=True,
        from_better=True,
        session_share=0.17,
        whole_length=30,
    )
    assert profile.statements == Statements(damping=0.4)  # H9
    assert profile.named_time == NamedTime(
        soft=0.85, explicit=0.5, inferred=0.7, alone=0.8
    )  # H10, H21
    assert profile.asked_time == AskedTime(damping=0.15)  # H13
    assert profile.factors == (  # H6
        HalfLifeRecency(half_life_days=90, floor=0.5, damping=0.15, ignores_use=True),
        Strength(damping=0.15),
        Feedback(gain=0, damping=0.4, ignores_questions=True),  # H19
        Priority(damping=0.15),
        Trust(),  # H11
        QuestionFeedback(gain=0.15, most=3, loss=0.3, floor=0.2, least=0.8),  # H19
    )
    assert profile.keep == (FeedbackAbove(leaves_at=-3, ignores_questions=True),)  # O12, H19
    assert profile.newer_first == NewerFirst(depth=30, least_confidence=0.15)  # H12
    assert profile.expansion == AssociativeExpansion(quota=0.2)  # H7
    assert profile.reinforcement == SpacedReinforcement(  # H7
        gain=0.1,
        span_days=7,
        most=2,
        limit=10,
        associative_gain=0.03,  # C11
        link_gain=0.05,  # C13
        most_linked=5,
        link_rest_days=1,
        once_a_session=True,
        core_accesses=10,  # C12
        core_stability=1.6,
        core_sessions=3,
    )
    assert profile.abstention == WeakBest(cosine=0.25, words=0.5)  # H7


def test_every_name_gives_its_profile() -> None:
    assert profiles.names() == NAMES
    assert len({profiles.get(name).hash for name in NAMES}) == len(NAMES)
    for name in NAMES:
        assert profiles.get(name).name == name
        assert Profile.from_toml(profiles.get(name).to_toml()) == profiles.get(name)
    assert oneiros.profiles is profiles


@pytest.mark.parametrize("name", NAMES)
def test_every_profile_compiles_for_any_kinds(name: str) -> None:
    profile = profiles.get(name)
    for kinds in ((), ("", "note"), ("", "decision", "fact", "user_preference", "nonsense")):
        compiled = profile.compile(kinds)
        assert compiled.names == tuple(factor.name for factor in profile.factors)
        assert len(compiled.factors) == len(compiled.operations) == len(compiled.names)


@pytest.mark.parametrize("name", ["", "Reverie", "memory", None, 1])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownProfile, match="known: bm25, ciar, ciar-shipped, cognitive, "):
        profiles.get(name)


def test_an_unknown_option_lists_the_known_ones() -> None:
    with pytest.raises(TypeError, match="speed: no option of profile 'reverie'; known: lifecycle"):
        profiles.get("reverie", speed=True)
    with pytest.raises(TypeError, match="lifecycle: must be True or False, got 0"):
        profiles.get("reverie", lifecycle=0)  # type: ignore[arg-type]
    with pytest.raises(UnknownProfile, match="preset: profile 'reverie' has none called 'fast'"):
        profiles.get("reverie", preset="fast")
    with pytest.raises(UnknownProfile, match="has none called 'fast'; known: customer_service, "):
        profiles.get("ciar", preset="fast")


def test_a_preset_takes_switches_too() -> None:
    profile = profiles.get("ciar", preset="knowledge_base", reinforcement=False)
    assert profile.factors == (Significance(), CiarDecay(rate=0.005))


def test_which_systems_there_are_is_looked_up_once_and_not_by_each_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = oneiros.Engine(":memory:")
    searched.add("a text to be found")
    searched.search("text", profile="reverie")
    looked = []

    def refuse(*_: object, **__: object) -> list[object]:
        looked.append(1)
        return []

    monkeypatch.setattr("pkgutil.iter_modules", refuse)
    for name in ("reverie", "omega", "oneiros", "ciar"):
        assert searched.search("text", profile=name).results
        assert profiles.get(name).name == name
    assert profiles.names() == NAMES
    assert looked == []
    searched.close()
