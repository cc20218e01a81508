"""The oracles against worked values: those the sources print, and those done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import bm25, fusion, metrics, reverie

DAY = 86_400.0
NOW = 1_750_000_000.0

# N = 3, lengths 2, 4, 3, so the average is 3; "a" stands in two of them.
# By hand, k1 1.2, b 0.75: norm .75 and 1.25; tf part 1/1.9 and 2/3.5; c 4/3 and 8/5.
DOCUMENTS = {0: ["a", "b"], 1: ["a", "a", "c", "c"], 2: ["d", "d", "d"]}
BY_HAND = {
    "lucene": [(1, math.log(1.6) * 4 / 7), (0, math.log(1.6) * 10 / 19)],
    "robertson": [(0, math.log(0.6) * 10 / 19), (1, math.log(0.6) * 4 / 7)],
    "atire": [(1, math.log(1.5) * 8.8 / 7), (0, math.log(1.5) * 22 / 19)],
    "bm25plus": [(1, math.log(2) * (1 + 8.8 / 7)), (0, math.log(2) * (1 + 22 / 19))],
    "bm25l": [
        (1, math.log(1.6) * 2.2 * 2.1 / 3.3),
        (0, math.log(1.6) * 2.2 * (11 / 6) / (91 / 30)),
    ],
}


@pytest.mark.parametrize("variant", BY_HAND)
def test_bm25_gives_the_values_done_by_hand(variant: str) -> None:
    got = bm25.rank(DOCUMENTS, ["a"], 10, variant=variant)
    assert [row for row, _ in got] == [row for row, _ in BY_HAND[variant]]
    assert [score for _, score in got] == pytest.approx([s for _, s in BY_HAND[variant]])


def test_bm25_counts_a_repeated_query_term_twice() -> None:
    once = dict(bm25.rank(DOCUMENTS, ["a"], 10))
    assert dict(bm25.rank(DOCUMENTS, ["a", "a"], 10)) == {row: 2 * s for row, s in once.items()}


def test_bm25_hides_what_is_not_allowed_but_counts_it() -> None:
    everything = bm25.rank(DOCUMENTS, ["a"], 10)
    assert bm25.rank(DOCUMENTS, ["a"], 10, allowed={0}) == [
        hit for hit in everything if hit[0] == 0
    ]


def test_bm25_breaks_ties_by_row() -> None:
    documents = {7: ["a"], 3: ["a"], 5: ["b"]}
    assert [row for row, _ in bm25.rank(documents, ["a"], 10)] == [3, 7]


@pytest.mark.parametrize("query", [[], ["unknown"]])
@pytest.mark.parametrize("documents", [{}, {0: []}, {0: ["a"]}])
def test_bm25_finds_nothing_where_nothing_is(
    documents: dict[int, list[str]], query: list[str]
) -> None:
    assert bm25.rank(documents, query, 10) == []


def test_bm25_still_returns_a_term_that_every_document_holds() -> None:
    assert bm25.rank({0: ["a"], 1: ["a"]}, ["a"], 10, variant="atire") == [(0, 0.0), (1, 0.0)]


def test_bm25_names_an_unknown_variant() -> None:
    with pytest.raises(ValueError, match="variant: unknown 'nonsense'"):
        bm25.rank(DOCUMENTS, ["a"], 10, variant="nonsense")


def test_rrf_is_the_source_code_of_reverie() -> None:
    # ADR-006: 1 / (RRF_K + (rank + 1)), rank from 0, k = 30, both channels unweighted.
    got = fusion.rrf([["a", "b"], ["b", "c"]], k=30.0)
    assert got == [("b", 1 / 32 + 1 / 31), ("a", 1 / 31), ("c", 1 / 32)]


def test_rrf_is_the_source_code_of_omega() -> None:
    # O7: k = 60, each channel by its best, weighted, then by the best sum: the best has 1.
    got = fusion.rrf([["a", "b"], ["b", "c"]], k=60.0, weights=[2.0, 1.0], normalise="channel")
    best = 2 * 61 / 62 + 1
    assert [item for item, _ in got] == ["b", "a", "c"]
    assert [score for _, score in got] == pytest.approx([1.0, 2 / best, 61 / 62 / best])


def test_rrf_keeps_the_best_rank_of_a_repeated_id() -> None:
    assert fusion.rrf([["a", "b", "a", "c"]]) == [("a", 1 / 61), ("b", 1 / 62), ("c", 1 / 64)]


def test_rrf_breaks_ties_by_first_appearance() -> None:
    assert [item for item, _ in fusion.rrf([["z"], ["a"], ["m"]])] == ["z", "a", "m"]


@pytest.mark.parametrize("normalise", ["none", "channel"])
def test_rrf_of_nothing_is_nothing(normalise: str) -> None:
    assert fusion.rrf([], normalise=normalise) == []
    assert fusion.rrf([[], []], normalise=normalise) == []


def test_time_decay_boost_gives_1_3_when_new_and_1_when_old() -> None:
    assert reverie.time_decay_boost(0.0) == 1.3  # ADR-006: "recent -> 1.3x boost, old -> 1.0x"
    assert reverie.time_decay_boost(1e6) == 1.0
    assert reverie.time_decay_boost(30.0) == pytest.approx(1 + 0.3 / math.e)
    assert reverie.time_decay_boost(-5.0) == 1.3
    assert reverie.time_decay_boost(math.nan) == 1.0
    assert math.isnan(reverie.time_decay_boost(1.0, boost=math.nan))


def test_depth_weight_is_the_table_of_r6() -> None:
    assert [reverie.depth_weight(depth) for depth in (1, 2, 3)] == [0.8, 1.0, 1.2]


def test_spread_weight_is_1_at_1_and_6_7_at_100() -> None:
    assert reverie.spread_weight(1) == 1.0
    assert round(reverie.spread_weight(100), 1) == 6.7  # R7, the reason for the cap
    assert reverie.spread_weight(100, cap=3.0) == 3.0


@given(st.floats(min_value=-1e6, allow_infinity=True, allow_nan=False))
def test_stability_boost_is_1_at_stability_1_for_every_age(age: float) -> None:
    assert reverie.stability_boost(age, 1.0) == 1.0  # R8: "1 at S = 1 for every t"


def test_stability_boost_gives_the_values_done_by_hand() -> None:
    assert reverie.stability_boost(30.0, 2.0) == pytest.approx(math.exp(0.5))
    assert reverie.stability_boost(30.0, 0.5) == pytest.approx(math.exp(-1))
    assert reverie.stability_boost(1e300, 2.0) == 3.0
    assert reverie.stability_boost(1e300, 0.5) == 0.1
    assert reverie.stability_boost(0.0, 0.0) == 0.1
    assert reverie.stability_boost(-3.0, 5.0) == 1.0
    assert reverie.stability_boost(math.nan, 5.0) == 1.0
    assert math.isnan(reverie.stability_boost(1.0, math.nan))


def test_replay_delta_is_the_source_code_of_reverie() -> None:
    # ADR-006: (max_delta * 1 / (1 + age_h.max(0)) * ln(1 + peers)).clamp(0, max_delta)
    assert reverie.replay_delta(0, 0.0) == 0.0
    assert reverie.replay_delta(1, 0.0) == pytest.approx(0.0693147180559945)
    assert reverie.replay_delta(3, 1.0) == pytest.approx(0.05 * math.log(4))
    assert reverie.replay_delta(1000, 0.0) == 0.1
    assert reverie.replay_delta(1, -9.0) == reverie.replay_delta(1, 0.0)
    assert math.isnan(reverie.replay_delta(1, math.nan))


def test_reinforce_gives_the_values_done_by_hand() -> None:
    life = reverie.Life(created_at=NOW - 7 * DAY, stability=2.0, sessions=frozenset({"s1"}))
    again = reverie.reinforce(life, NOW, session="s2")
    assert (again.access_count, again.last_accessed_at, again.session_spread) == (1, NOW, 2)
    assert again.stability == pytest.approx(2.2)  # one span of 7 days: + 10 %
    late = reverie.reinforce(again, NOW + 365 * DAY, session="s2")
    assert (late.access_count, late.session_spread) == (2, 2)
    assert late.stability == pytest.approx(2.64)  # two spans at most: + 20 %
    assert reverie.reinforce(reverie.Life(created_at=NOW + DAY), NOW).stability == 1.0
    assert reverie.reinforce(reverie.Life(created_at=0.0, stability=9.9), NOW).stability == 10.0
    full = reverie.Life(created_at=0.0, access_count=2**32 - 1)
    assert reverie.reinforce(full, NOW).access_count == 2**32 - 1


RANKINGS = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=10), min_size=1, max_size=2)


@given(RANKINGS, st.floats(0, 1e8), st.integers(0, 12))
def test_fresh_memories_rank_as_without_lifecycle(
    rankings: list[list[int]], age: float, k: int
) -> None:
    memories = {row: reverie.Life(created_at=NOW - age) for row in range(10)}
    on = reverie.rank(memories, rankings, NOW, k)
    off = reverie.rank(memories, rankings, NOW, k, lifecycle=False)  # R9
    assert [(one.id, one.score) for one in on] == [(one.id, one.score) for one in off]


def test_rank_multiplies_the_factors_in_their_order() -> None:
    memories = {
        "plain": reverie.Life(created_at=NOW),
        "alive": reverie.Life(
            created_at=NOW - 60 * DAY,
            updated_at=NOW - 30 * DAY,
            last_accessed_at=NOW - 15 * DAY,
            strength=0.5,
            depth=3,
            session_spread=3,
            stability=2.0,
        ),
    }
    got = reverie.rank(memories, [["plain", "alive"], ["alive"]], NOW, 10)
    fused = 1 / 32 + 1 / 31
    want = fused * (1 + 0.3 / math.e) * 0.5 * 1.2 * 2.0 * math.exp(0.25)
    assert [one.id for one in got] == ["alive", "plain"]
    assert [one.score for one in got] == pytest.approx([want, 1.3 / 31])
    assert [name for name, _ in got[0].factors] == [
        "time_decay", "strength", "depth", "spread", "stability",
    ]  # fmt: skip


def test_rank_breaks_ties_by_insertion_not_by_first_appearance() -> None:
    memories = {name: reverie.Life(created_at=NOW) for name in ("first", "second")}
    got = reverie.rank(memories, [["second"], ["first"]], NOW, 10)
    assert [one.id for one in got] == ["first", "second"]


def test_columns_keep_float32() -> None:
    assert reverie.as_float32(0.1) == 0.10000000149011612
    assert reverie.as_float32(0.5) == 0.5


def test_metrics_give_the_values_done_by_hand() -> None:
    judged = {"a": 3.0, "b": 2.0, "c": 1.0, "x": 0.0}
    ranking = ["x", "b", "a", "y"]
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert metrics.ndcg(ranking, judged, 10) == pytest.approx((2 / math.log2(3) + 3 / 2) / ideal)
    assert metrics.ndcg(ranking, judged, 1) == 0.0
    assert metrics.ndcg(["a", "b", "c"], judged, 3) == 1.0
    assert metrics.recall(ranking, judged, 2) == pytest.approx(1 / 3)
    assert metrics.recall(ranking, judged, 10) == pytest.approx(2 / 3)
    assert metrics.reciprocal_rank(ranking, judged) == 0.5
    assert metrics.reciprocal_rank(ranking, judged, 1) == 0.0
    nothing = (metrics.ndcg(ranking, {}, 10), metrics.recall(ranking, {}, 10))
    assert (*nothing, metrics.reciprocal_rank(ranking, {})) == (0.0, 0.0, 0.0)
