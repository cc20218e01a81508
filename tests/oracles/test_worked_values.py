"""The oracles of CIAR, cognitive-memory, Mnemosyne and the house against worked values.

Figures come from the sources, corrected where docs/systems says so, or were done by hand.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import bm25, ciar, cognitive, fusion, house, mnemosyne, neighbours

DAY = 86_400.0
NOW = 1_750_000_000.0


@pytest.mark.parametrize(
    ("fact", "decay", "score", "is_promoted"),
    [
        ((0.95, 0.90, 1, 0), 0.977, 0.835, True),  # scenario 1, as printed
        ((0.50, 0.60, 20, 0), 0.630, 0.189, False),  # scenario 2, corrected
        ((0.90, 0.95, 10, 5), 0.794, 1.018, True),  # scenario 3, corrected
    ],
)
def test_ciar_gives_the_three_scenarios(
    fact: tuple[float, ...], decay: float, score: float, is_promoted: bool
) -> None:
    certainty, impact, days, accesses = fact
    assert round(ciar.decay(days), 3) == decay
    raw = ciar.ciar(certainty, impact, days, accesses, clamp=False)
    assert round(raw, 3) == score
    assert ciar.ciar(certainty, impact, days, accesses) == min(raw, 1.0)  # A2
    assert ciar.should_promote(raw) == is_promoted  # A4


def test_ciar_gives_the_corrected_decay_picture() -> None:
    def score(days: float) -> float:
        return ciar.ciar(0.9, 0.9, days, 0)

    assert round(score(0), 2) == 0.81
    assert [round(score(days), 3) for days in (30, 60)] == [0.405, 0.203]
    assert score(12.9) > 0.6 > score(13.05)  # passes the threshold at 13.0 days


def test_ciar_gives_the_table_of_reinforcement() -> None:
    got = [ciar.ciar(0.9, 0.9, 30, accesses) for accesses in (0, 1, 3, 5, 10)]
    assert got == pytest.approx([0.405, 0.446, 0.527, 0.608, 0.810], abs=6e-4)
    assert [ciar.should_promote(score) for score in got] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("preset", "days"),
    [
        ("customer_service", 6.93),  # "7-day half-life"
        ("research_assistant", 69.31),  # "69-day half-life"
        ("personal_assistant", 30.01),  # "30-day half-life"
        ("real_time_monitoring", 1.386),
        ("knowledge_base", 138.6),
    ],
)
def test_ciar_presets_have_the_half_lives_that_the_source_prints(preset: str, days: float) -> None:
    rate, _, _ = ciar.PRESETS[preset]
    assert ciar.half_life_days(rate) == pytest.approx(days, rel=1e-3)  # A7
    assert ciar.decay(ciar.half_life_days(rate), rate) == pytest.approx(0.5, rel=1e-15)


@pytest.mark.parametrize("accesses", [0, 1e6, math.inf])
def test_ciar_vetoes_what_is_uncertain_or_of_no_impact(accesses: float) -> None:
    assert ciar.ciar(0.0, 1.0, 0.0, accesses) == 0.0  # A3
    assert ciar.ciar(1.0, 0.0, 0.0, accesses, clamp=False) == 0.0


def test_ciar_components_are_the_parts_of_the_score() -> None:
    got = ciar.components(0.9, 0.95, 10, 5)
    parts = (got.base_significance, got.time_decay, got.reinforcement)
    assert parts == pytest.approx((0.855, 0.79374, 1.5), abs=1e-5)
    assert got.total_score == 1.0  # "clamped to 1.0 for storage"


def test_ciar_shipped_gives_the_values_done_by_hand() -> None:
    assert ciar.ciar_shipped(0.5, 0.5, 0, 0) == 0.25
    assert ciar.shipped_decay(10) == pytest.approx(1 / math.e)
    assert ciar.shipped_decay(23) > 0.1 == ciar.shipped_decay(23.1)  # e^-2.3 = 0.1003
    assert ciar.shipped_decay(-4) == 1.0
    assert ciar.shipped_reinforcement(1) == pytest.approx(1 + 0.05 * math.log(2))
    assert ciar.shipped_reinforcement(403) == 1.3  # 0.05 ln 404 = 0.30007
    assert math.isnan(ciar.ciar_shipped(1, 1, math.nan, 0))
    assert math.isnan(ciar.ciar(1, 1, math.nan, 0))


def test_retention_gives_the_values_done_by_hand() -> None:
    # S 1, importance 0.5: B = 2; semantic beta 120: tau 240 days.
    assert cognitive.retention(240, 1, 0.5, cognitive.SEMANTIC) == pytest.approx(1 / math.e)
    # S 0.5, importance 0: 0.5 x 1 x 45 = 22.5 days.
    assert cognitive.retention(22.5, 0.5, 0, cognitive.EPISODIC) == pytest.approx(1 / math.e)
    # B is held at 3, S' at 0.01.
    assert cognitive.retention(360, 1, 1, cognitive.SEMANTIC) == pytest.approx(1 / math.e)
    assert cognitive.retention(0.45, 0, 0, cognitive.EPISODIC) == pytest.approx(1 / math.e)
    assert cognitive.retention(1e9, 0.1, 0, cognitive.PROCEDURAL) == 1.0
    floors = [cognitive.retention(1e9, 0.1, 0, code) for code in (0, 1, 3)]
    assert floors == [0.02, 0.02, 0.60]
    assert [cognitive.retention(math.nan, 1, 1, code) for code in range(4)] == list(
        cognitive.FLOORS
    )
    assert cognitive.retention(-3, 1, 0.5, 0) == 1.0
    assert math.isnan(cognitive.retention(1, math.nan, 0.5, 0))


def test_the_power_model_is_a_half_after_one_span() -> None:
    # 1.4427 = 1 / ln 2: (1 + 1) ** -1.4427 = 1 / e, as the exponential has it after one tau.
    got = cognitive.retention(240, 1, 0.5, cognitive.SEMANTIC, model="power")
    assert got == pytest.approx(1 / math.e, rel=1e-5)
    assert cognitive.retention(math.inf, 1, 0.5, 1, model="power") == 0.02


def test_a_core_memory_takes_the_better_of_core_and_its_own_category() -> None:
    old = {"created_at": NOW - 1e4 * DAY, "category": "procedural", "core": True}
    assert cognitive.memory_retention(old, NOW) == 1.0  # C12
    assert cognitive.memory_retention({**old, "category": "semantic"}, NOW) == 0.60
    assert cognitive.memory_retention({**old, "tier": "stub"}, NOW) == 0.0
    assert cognitive.memory_retention({**old, "core": False, "category": "episodic"}, NOW) == 0.02


def test_cognitive_boosts_give_the_values_done_by_hand() -> None:
    assert [cognitive.spacing_factor(days) for days in (0, 7, 14, 99, -1)] == [0, 1, 2, 2, 0]
    assert cognitive.spacing_factor(math.nan) == 1.0
    assert cognitive.reinforce_stability(0.5, 7) == pytest.approx(0.6)  # C11, direct
    assert cognitive.reinforce_stability(0.5, 7, gain=0.03) == pytest.approx(0.53)
    assert cognitive.reinforce_stability(0.95, 14) == 1.0
    assert cognitive.reinforce_stability(0.5, math.nan) == pytest.approx(0.6)
    assert cognitive.association_decay(0.8, 90) == pytest.approx(0.8 / math.e)  # C16
    assert cognitive.association_decay(0.8, math.nan) == 0.8
    assert cognitive.retention_score(0.5, 1.0) == 0.5  # C6
    assert cognitive.retention_score(0.5, 0.02) == pytest.approx(0.5 * 0.02**0.3)
    assert cognitive.initial_stability(1.0) == pytest.approx(0.4)  # C3
    assert cognitive.ingest_link(0.4) == pytest.approx(0.2)  # C17
    assert [cognitive.ingest_link(cosine) for cosine in (0.39, 1.0)] == [0.0, 0.5]
    assert cognitive.strengthened_link(0.95) == 1.0  # C13
    qualities = [cognitive.summary_quality(size) for size in (2, 5, 8, 12)]
    assert qualities == pytest.approx([1.0, 1.0, 1.9, 3.0])  # C21
    assert cognitive.associative_score(None, 1.0, (0.5, 0.6)) == pytest.approx(0.03)  # C9, C10


def test_validity_is_strict_and_only_of_plans_and_transient_states() -> None:
    plan = {"kind": "plan", "created_at": NOW - 10, "ttl": 10.0}
    assert not cognitive.is_expired(plan, NOW)
    assert cognitive.is_expired(plan, NOW + 0.5)
    assert cognitive.is_expired({"kind": "transient_state", "valid_until": NOW - 1}, NOW)
    assert not cognitive.is_expired({"kind": "note", "valid_until": NOW - 1}, NOW)
    assert cognitive.is_not_yet_valid({"valid_from": NOW + 1}, NOW)
    gone = {"superseded_by": "x", "kind": "plan", "valid_until": NOW - 1}
    assert cognitive.penalty(gone, NOW, deep_recall=True) == 0.25  # C7: x 0.5 on top of x 0.5
    assert cognitive.penalty(gone, NOW, deep_recall=True, by=0.8) == pytest.approx(0.64)
    assert cognitive.penalty(gone, NOW) == 1.0


def test_promotion_to_core() -> None:
    assert cognitive.becomes_core(10, 0.85, 3)  # C12
    assert not cognitive.becomes_core(10, 0.85, 2)
    assert cognitive.becomes_core(10, 0.85, 2, needed=2)
    assert cognitive.to_cold(0.0209, 0.02, 7)
    assert not cognitive.to_cold(0.03, 0.02, 70)
    assert cognitive.to_stub(180)
    assert cognitive.days_since(NOW, NOW + DAY) == 0.0
    assert cognitive.raised_by_neighbour(0.5, 0.76) == pytest.approx(0.55)  # C18
    assert cognitive.raised_by_neighbour(0.5, 0.75) == 0.5


def test_mnemosyne_gives_what_its_page_says() -> None:
    # "Fresh memories: score x ~1.0; old memories: score x ~0.7"
    assert mnemosyne.recency_blend(0.0) == 1.0
    assert mnemosyne.recency_blend(1e9) == 0.7
    assert mnemosyne.recency_blend(168.0) == pytest.approx(0.7 + 0.3 / math.e)  # tau, not half-life
    assert mnemosyne.recency_blend(math.nan) == pytest.approx(0.85)
    assert mnemosyne.recency_blend(-1.0) == 1.0
    assert mnemosyne.base_score(1.0, 1.0, 1.0) == 1.0
    assert mnemosyne.base_score(0.8, 0.0, 0.5) == pytest.approx(0.5)


def test_the_weibull_of_an_unlisted_kind_is_the_exponential() -> None:
    for hours in (0.0, 10.0, 168.0, 1e4):
        assert mnemosyne.weibull_retention(hours, 1.0, 168.0) == pytest.approx(
            math.exp(-hours / 168)
        )
    assert mnemosyne.weibull_retention(8760, 0.3, 8760) == pytest.approx(1 / math.e)
    assert mnemosyne.weibull_retention(-5, 0.3, 8760) == 1.0
    assert math.isnan(mnemosyne.weibull_retention(math.nan, 1, 168))
    assert len(mnemosyne.WEIBULL) == 21
    for kind, (_, eta_hours) in mnemosyne.WEIBULL.items():
        told = mnemosyne.weibull_of({"kind": kind, "created_at": NOW - eta_hours * 3600}, NOW)
        assert told == pytest.approx(1 / math.e), kind
    old = {"created_at": NOW - 400 * 3600}
    assert mnemosyne.weibull_of(old, NOW) == mnemosyne.weibull_of({**old, "kind": "general"}, NOW)


def test_mnemosyne_3_tiers_and_gate() -> None:
    assert [mnemosyne.tier(days) for days in (30, 31, 180, 181)] == [1.0, 0.5, 0.5, 0.25]
    assert mnemosyne.passes_gate(0.15, 2, 0.0)
    assert not mnemosyne.passes_gate(0.49, 3, 0.64)
    assert mnemosyne.passes_gate(0.3, 4, 0.0)
    assert mnemosyne.passes_gate(0.0, 4, 0.65)


def test_blend_gives_the_values_done_by_hand() -> None:
    assert house.blend([4.0, 2.0, 0.0], [0.5, -0.5, 1.0]) == pytest.approx([0.7, 0.2, 0.6])  # H3
    assert house.blend(None, [0.5, -0.5]) == [0.5, 0.0]
    assert house.blend([4.0, 2.0], None) == [1.0, 0.5]
    assert house.blend([0.0], [0.5]) == [0.3]
    # The best is 4 and 9 is possible: the scale is 6.
    assert house.blend([4.0, 2.0], [0.5, 1.0], 0.5, 9.0) == (
        pytest.approx([0.5 * 4 / 6 + 0.25, 0.5 * 2 / 6 + 0.5])
    )
    assert house.blend([4.0, 2.0], None, possible=4.0) == [1.0, 0.5]  # the best has every word
    assert house.blend([0.0], [0.5], 0.5, 0.0) == [0.25]
    found = {"lexical": [("a", 4.0), ("b", 2.0)], "vector": [("c", 1.0)]}
    cosine = {"a": 0.5, "b": -0.5, "c": 1.0}
    assert fusion.blend(found, {"a": 4.0, "b": 2.0}, cosine) == pytest.approx(
        {"a": 0.7, "b": 0.2, "c": 0.6}
    )
    assert fusion.blend(found, {"a": 4.0, "b": 2.0}, cosine, 0.5, 9.0) == pytest.approx(
        {"a": 0.5 * 4 / 6 + 0.25, "b": 0.5 * 2 / 6, "c": 0.5}
    )


def test_a_half_length_is_some_words_more_in_every_text() -> None:
    assert bm25.length_strength(1.0, 65.0, 65.0) == 0.5  # H5
    assert bm25.length_strength(1.0, 130.0, 65.0) == 0.8
    assert bm25.length_strength(0.75, 4.0, 0.0) == 0.75
    documents = {0: ["a"], 1: ["a", "b", "b"]}  # 2 words on average: 10^2 / 2 = 50 words more
    idf = math.log(1 + 0.5 / 2.5)
    got = dict(bm25.rank(documents, ["a"], 10, k1=0.9, b=1.0, half_length=10.0))
    assert got == pytest.approx({0: idf / (1 + 0.9 * 51 / 52), 1: idf / (1 + 0.9 * 53 / 52)})


def test_words_of_a_query_have_the_shares_done_by_hand() -> None:
    words = ["what", "ant", "bee", "what", "cat"]
    assert house.word_shares(words, {"what"}, 0.3, 2) == pytest.approx(
        {"what": 0.3, "ant": 1.0, "bee": math.sqrt(2 / 3), "cat": math.sqrt(2 / 5)}  # H17, H18
    )
    idf = math.log(1 + 1.5 / 1.5)  # of a word that one of two texts holds
    documents = {0: ["what", "ant"], 1: ["bee", "cat"]}
    shares = {"what": 0.3}
    whole = dict(bm25.rank(documents, ["ant"], 10))[0]
    assert dict(bm25.rank(documents, ["what", "ant"], 10, shares=shares)) == pytest.approx(
        {0: 1.3 * whole}
    )
    held = {"what": 1, "ant": 1}
    assert bm25.possible(2, held, ["what", "ant", "zebu"], shares) == pytest.approx(2.3 * idf)


def test_what_words_allow_counts_each_known_one_as_often_as_it_is_asked_for() -> None:
    held = {"a": 1, "b": 2}
    one, both = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 2.5)
    assert bm25.possible(2, held, ["a", "b", "b"]) == pytest.approx(one + 2 * both)  # H3
    assert bm25.possible(2, held, ["zebu", "zebu", "yak"]) == pytest.approx(2 * one)
    assert bm25.possible(2, held, []) == bm25.possible(0, {}, ["a"]) == 0.0


def test_neighbours_of_the_profile_give_the_values_done_by_hand() -> None:
    scores = {"a": 8.0, "b": 2.0, "c": 2.0, "d": 6.0, "e": 6.0, "alone": 0.0}
    sessions, lengths = [["a", "b", "c"], ["d", "e"]], dict.fromkeys(scores, 40.0)
    insertion = {id: row for row, id in enumerate(scores)}

    def shares(**more: Any) -> dict[str, float]:
        rule: dict[str, Any] = {"share": 0.5, "decay": 0.5, "reach": 2, "seeds": 0}
        got = neighbours.lent(
            sessions, scores, list(scores), set(scores), insertion, lengths=lengths, **rule, **more
        )
        return {id: value - scores[id] for id, value in got.relevance.items()}

    nothing = dict.fromkeys(scores, 0.0)
    # All have 4 on average, both sessions 4 and 6: a lends 4, the alike d and e nothing.
    profile = {"above_mean": True, "above_session": True, "from_better": True}
    assert shares(**profile) == {**nothing, "b": 2.0, "c": 1.0}
    assert shares(**profile, whole_length=10.0) == {**nothing, "b": 0.5, "c": 0.25}
    # The best of the first session has 8: b lacks 4 to it, c 5; d and e are each other's best.
    assert shares(**profile, session_share=0.25) == {**nothing, "b": 3.0, "c": 2.25}
    assert shares(above_mean=False) == {
        "a": 1.5,
        "b": 5.0,
        "c": 3.0,
        "d": 3.0,
        "e": 3.0,
        "alone": 0,
    }
    better = {"a": 1.5, "b": 4.0, "c": 3.0, "d": 3.0, "e": 3.0, "alone": 0}
    assert shares(above_mean=False, from_better=True) == better


def test_spread_neighbours_gives_the_values_done_by_hand() -> None:
    left, right = [-1, 0, 1, 2, -1], [1, 2, 3, -1, -1]
    got = house.spread_neighbours([1.0, 0.0, 0.0, 2.0, 5.0], left, right)
    assert got == pytest.approx([1.0, 0.3 + 0.3, 0.15 + 0.6, 2.0, 5.0])  # H4
    assert house.spread_neighbours([1.0, 2.0], [-1, 0], [1, -1], reach=0) == [1.0, 2.0]


@given(st.floats(0, 10))
def test_damp_keeps_1_and_holds_the_rest_near(factor: float) -> None:
    assert house.damp(1.0) == 1.0  # H6
    assert house.damp(0.0) == 0.85
    assert min(factor, 1.0) <= house.damp(factor) <= max(factor, 1.0)


def test_the_house_recency_has_a_true_half_life_and_a_floor() -> None:
    old = {"created_at": NOW - 400 * DAY, "updated_at": NOW - 300 * DAY}
    assert house.recency(old, NOW) == 0.5
    assert house.recency({**old, "updated_at": NOW - 45 * DAY}, NOW) == (
        pytest.approx(math.sqrt(0.5))
    )
    # What searches do to a memory is no evidence for it.
    assert house.recency({**old, "last_accessed_at": NOW, "core": True}, NOW) == 0.5
    assert house.recency({**old, "pinned": True}, NOW) == 1.0
    assert house.half_life_decay(math.nan, 90, 0.5) == 1.0
