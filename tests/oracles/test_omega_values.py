"""The oracles of OMEGA and of fusion against the source's figures and values done by hand."""

from __future__ import annotations

import math

import pytest

from tests.oracles import fusion, omega, profile_factors, profiles
from tests.oracles.omega_tables import CONTEXTS, HIDDEN_KINDS, INTENTS, KIND_WEIGHT, PROFILES

DAY = 86_400.0
NOW = 1_750_000_000.0


def test_feedback_keeps_the_sources_bounds() -> None:
    assert omega.feedback_factor(10) == omega.feedback_factor(32_767) == 2.5  # "max 2.5x"
    assert omega.feedback_factor(-4) == pytest.approx(0.2)  # "min 0.2x"
    assert omega.feedback_factor(-32_768) == 0.2
    assert [omega.feedback_factor(f) for f in (0, 1, -1)] == pytest.approx([1.0, 1.15, 0.8])
    assert [omega.leaves(f) for f in (-2, -3)] == [False, True]


def test_priority_keeps_the_sources_range() -> None:
    # "0.78 (priority=1) to 1.10 (priority=5)"
    got = [omega.priority_factor(p) for p in (1, 2, 3, 4, 5)]
    assert got == pytest.approx([0.78, 0.86, 0.94, 1.02, 1.10])
    assert omega.priority_factor(0) == omega.priority_factor(1)
    assert omega.priority_factor(9) == omega.priority_factor(5)


def test_decay_gives_the_values_done_by_hand() -> None:
    assert omega.floored_decay(50, 0.02, 0.15) == pytest.approx(1 / math.e)
    assert omega.floored_decay(1e6, 0.02, 0.35) == 0.35
    assert omega.floored_decay(math.nan, 0.02, 0.35) == 1.0
    assert omega.floored_decay(math.nan, 0.0, 2.0) == 1.0
    assert omega.floored_decay(-7, 0.02, 0.35) == 1.0
    assert omega.floored_decay(1e6, 0.0, 0.15) == 1.0
    assert omega.decision_rate(0.015, 0) == 0.015
    assert omega.decision_rate(0.015, 2) == pytest.approx(0.015 * 0.7225)
    assert omega.decision_rate(0.015, 10) == omega.decision_rate(0.015, 11)
    assert omega.decision_rate(0.005, 10) == 0.002  # the lower bound
    fresh = {"kind": "decision", "created_at": NOW - 100 * DAY}
    assert omega.decay_of(fresh, NOW) == pytest.approx(math.exp(-1.5))
    used = {**fresh, "access_count": 2, "last_accessed_at": NOW - 100 * DAY}
    assert omega.decay_of(used, NOW) == 0.35  # e^-1.08 = 0.338
    assert omega.decay_of({"kind": "constraint", "created_at": 0.0}, NOW) == 1.0


def test_boosts_give_the_values_done_by_hand() -> None:
    assert omega.consolidation_boost(5) == pytest.approx(1.3)  # "up to 1.3x"
    assert [omega.consolidation_boost(cq) for cq in (0, -1)] == [1.0, 1.0]
    assert omega.consolidation_boost(1.5) == pytest.approx(1.15)
    assert omega.thompson_boost(4, 5) == 1.0  # O15: under 10 observations
    assert omega.thompson_boost(5, 5) == pytest.approx(1.0)
    assert omega.thompson_boost(10, 0) == pytest.approx(0.8 + 0.4 * 11 / 12)
    assert omega.overlap_boost(1.0, 0, 1.0) == 1.5
    assert omega.overlap_boost(1.0, -1, 2.0) == 1.5
    assert omega.overlap_boost(0.5, 0, 1.8) == pytest.approx(1.45)
    assert omega.context_boost(2, 1, 7, 1.0) == pytest.approx(1.5)
    assert omega.context_boost(0, 0, 0, 2.0) == 1.0
    assert omega.cluster_boost(0.5) == 1.0
    assert omega.cluster_boost(0.6) == pytest.approx(1.033)
    assert omega.cluster_boost(1.0) == 1.15  # "1.05-1.15x"
    assert omega.preference_boost("user_preference", True) == 1.5
    assert omega.preference_boost("note", True) == 1.0
    for has_own_date, hard in ((True, 0.15), (False, 0.70)):
        assert omega.temporal_factor(False, has_own_date, is_soft=False) == hard
        assert omega.temporal_factor(False, has_own_date, is_soft=True) == 0.85
        assert omega.temporal_factor(True, has_own_date, is_soft=False) == 1.3
        assert omega.temporal_factor(True, has_own_date, is_soft=True) == 1.3
    assert [omega.rerank_boost(rank, 1.0) for rank in (1, 3, 4, 10, 11)] == [
        1.15, 1.15, 1.3, 1.3, 1.5,
    ]  # fmt: skip
    assert omega.rerank_boost(1, math.nan) == 1.0


def test_temporal_proximity_gives_the_values_done_by_hand() -> None:
    start, end = NOW, NOW + 10 * DAY
    before = [start - 1, start - 0.5 * DAY, start - DAY, start - 1.1 * DAY, start - 10 * DAY]
    got = [omega.temporal_proximity(time, start, end) for time in before]
    assert got == pytest.approx([1 / 1.1, 1 / 1.1, 1 / 1.1, 1 / 1.2, 0.5])  # O4
    after = [end + 1, end + 0.5 * DAY, end + DAY, end + 1.9 * DAY, end + 10.9 * DAY]
    got = [omega.temporal_proximity(time, start, end) for time in after]
    assert got == pytest.approx([1.0, 1.0, 1 / 1.1, 1 / 1.1, 0.5])
    outside = [start - 10 * DAY - 1, end + 11 * DAY]
    assert [omega.temporal_proximity(time, start, end) for time in outside] == [0.0, 0.0]
    assert [omega.temporal_proximity(time, start, end) for time in (start, end)] == [1.0, 1.0]
    hours = [omega.temporal_proximity(time, NOW, NOW + 3_600) for time in (NOW - 1, NOW - DAY - 1)]
    assert hours == [0.5, 0.0]  # a range of an hour counts as one of a day
    assert omega.temporal_proximity(NOW + 2 * DAY, NOW, NOW + 3_600) == 0.5
    assert omega.temporal_proximity(NOW - 2 * DAY, NOW, NOW + 1.9 * DAY) == 0.0  # rounded down
    assert omega.temporal_proximity(NOW, NOW + DAY, NOW - DAY) == 0.0
    assert math.isnan(omega.temporal_proximity(math.nan, start, end))


def test_the_text_channel_gives_the_values_done_by_hand() -> None:
    assert fusion.minmax_floor([3.0, 2.0, 1.0]) == pytest.approx([1.0, 0.55, 0.1])  # O3
    assert fusion.minmax_floor([2.0]) == fusion.minmax_floor([7.0]) == [1.0]
    assert fusion.minmax_floor([2.0, 2.0]) == [1.0, 1.0]
    assert fusion.minmax_floor([]) == []
    assert omega.text_relevance([3.0, 1.0], [0.5, 1.0]) == pytest.approx([0.85, 0.37])
    assert omega.is_strong([0.9, 0.7])  # O5
    assert not omega.is_strong([0.9])
    assert not omega.is_strong([0.9, 0.8])


def test_channel_weights_are_profile_times_intent() -> None:
    got = omega.channel_weights("lesson_learned", "conceptual")  # O7
    assert got == pytest.approx({"vector": 2.7, "lexical": 0.4, "temporal": 1.2})
    assert omega.channel_weights() == {"vector": 1.0, "lexical": 1.0, "temporal": 1.2}
    assert len(PROFILES) == 8
    assert len(INTENTS) == 4
    assert len(CONTEXTS) == 6
    assert KIND_WEIGHT["code_chunk"] == 0.1
    assert set(KIND_WEIGHT) >= HIDDEN_KINDS


def test_the_small_rules_give_the_values_done_by_hand() -> None:
    assert omega.expanded(1.0, [1.0, 0.5]) == 1.0  # O6
    assert omega.expanded(0.5, [1.0]) == 0.8
    assert omega.compound([0.5, 0.8]) == pytest.approx(0.92)  # O10
    assert omega.hot_seed(0.5, 0.3) == 0.4  # O1
    assert omega.hot_seed(0.39, 0.3) == 0.3
    assert omega.expansion_score(1.0, 2, 3.0, 0.3) == pytest.approx(0.048)  # O24
    assert omega.confidence([(0.9, 0.1), (-1.0, 0.3)]) == pytest.approx(0.4)  # O28
    assert omega.final_normalisation([4.0, 1.0]) == [1.0, 0.25]  # O29
    assert omega.final_normalisation([0.0]) == [0.0]
    old = {"kind": "note", "created_at": NOW - 400 * DAY, "feedback": -5}
    assert omega.is_forgotten(old, NOW, 400)  # O31: 1 x 0.2 x 0.15
    assert not omega.is_forgotten({**old, "kind": "constraint"}, NOW, 400)


def test_bounded_gives_the_values_done_by_hand() -> None:
    assert omega.near_best_bonus(5, 3, 3) == pytest.approx(0.01)  # O32
    assert omega.near_best_bonus(1, 0, 0) == 0.0
    assert omega.near_best_bonus(3, 1, 9) == pytest.approx(0.0025 + 0.0025 / 3 + 0.0025)
    assert omega.age_bonus(30) == pytest.approx(0.05 / math.e)
    assert omega.age_bonus(-1) == 0.05
    record = {"created_at": NOW, "priority": 5}
    near = profile_factors.bounded_factors(record, NOW, 0.95, 0.955)
    far = profile_factors.bounded_factors(record, NOW, 0.5, 0.955)
    assert [part.value for part in near] == [0.005, 0.05]
    assert [part.value for part in far] == [0.0, 0.05]


def test_the_full_scoring_formula_of_the_source() -> None:
    # "Step 1" to "Step 4", one memory that both channels put first.
    record = {
        "kind": "lesson_learned", "feedback": 2, "priority": 4, "consolidation_quality": 2.0,
        "access_count": 1, "created_at": NOW, "last_accessed_at": NOW - 40 * DAY,
    }  # fmt: skip
    channels = {"lexical": [("m", 7.0)], "vector": [("m", 0.9)]}
    (got,) = profiles.rank(profiles.MODELS["omega"], {"m": record}, NOW, 1, channels, {}, {})
    want = 1.0 * 2.0 * 1.3 * 1.02 * math.exp(-0.2) * 1.0 * 1.2
    assert got.score == pytest.approx(want)


HITS = {"lexical": [("a", 4.0), ("b", 2.0), ("a", 1.0)], "vector": [("b", 0.5), ("c", -0.2)]}


def test_fusion_gives_the_values_done_by_hand() -> None:
    assert fusion.union(HITS) == ["a", "b", "c"]
    by_rank = fusion.reciprocal_rank(HITS, None, 60.0)
    assert by_rank == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62})
    weights = {"lexical": 0.3, "vector": 0.5}
    kinds = {"lexical": "max", "vector": "clamp"}
    assert fusion.weighted_sum(HITS, weights, kinds) == pytest.approx(
        {"a": 0.3, "b": 0.15 + 0.25, "c": 0.0}
    )
    assert fusion.weighted_mean(HITS, weights, kinds) == pytest.approx(
        {"a": 0.3 / 0.8, "b": 0.4 / 0.8, "c": 0.0}
    )
    words_alone = {"lexical": HITS["lexical"], "vector": []}
    assert fusion.weighted_mean(words_alone, weights, kinds) == pytest.approx({"a": 1.0, "b": 0.5})
    assert fusion.retention_weighted_union(HITS, {"b": 0.5, "c": -0.2}) == {
        "a": 0.1, "b": 0.5, "c": -0.2,
    }  # fmt: skip
    words = {"lexical": HITS["lexical"]}
    assert fusion.retention_weighted_union(words, {}) == {"a": 1.0, "b": 0.5}
    assert fusion.blend(words, {"a": 4.0, "b": 2.0}, {}) == {"a": 1.0, "b": 0.5}
    assert fusion.weighted_scores([[1.0, 2.0], [10.0, 20.0]], [0.5, 0.1]) == [1.5, 3.0]


@pytest.mark.parametrize("channels", [{}, {"lexical": []}, {"lexical": [], "vector": []}])
def test_fusion_of_nothing_is_nothing(channels: dict[str, list[tuple[str, float]]]) -> None:
    weights = {"lexical": 1.0, "vector": 1.0}
    kinds = dict.fromkeys(weights, "minmax_floor")
    assert fusion.reciprocal_rank(channels) == {}
    assert fusion.weighted_sum(channels, weights, kinds) == {}
    assert fusion.weighted_mean(channels, weights, kinds) == {}
    assert fusion.retention_weighted_union(channels, {}) == {}
    assert fusion.blend(channels, {}, {}) == {}


@pytest.mark.parametrize("kind", ["minmax_floor", "max", "clamp"])
def test_a_single_hit_and_equal_scores_are_defined(kind: str) -> None:
    for hits in ([("a", 1.0)], [("a", 1.0), ("b", 1.0)]):
        got = fusion.weighted_sum({"x": hits}, {"x": 1.0}, {"x": kind})
        assert set(got.values()) == {1.0}
