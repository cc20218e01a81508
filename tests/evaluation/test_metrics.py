"""The figures of merit: worked values, laws, words of the errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.evaluation.metrics import mean, ndcg_at, recall_at, reciprocal_rank

IDS = st.sampled_from("abcdefgh")
RANKINGS = st.lists(IDS, unique=True)
JUDGEMENTS = st.dictionaries(IDS, st.integers(0, 3).map(float), max_size=6)


def test_ndcg_reproduces_a_value_worked_by_hand() -> None:
    # DCG = 2/log2(2) + 0 + 1/log2(4) = 2.5; ideal = 2/log2(2) + 1/log2(3)
    got = ndcg_at(["a", "x", "b"], {"a": 2, "b": 1}, 10)
    assert got == pytest.approx(2.5 / (2 + 1 / math.log2(3)), rel=1e-15)


def test_ndcg_uses_linear_gains() -> None:
    # With exponential gains (2^3 - 1 = 7) the value would be 0.631 + small; linear: 3 counts as 3.
    got = ndcg_at(["b", "a"], {"a": 3, "b": 1}, 2)
    assert got == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)), rel=1e-15)


def test_ndcg_cuts_the_ideal_order_too() -> None:
    assert ndcg_at(["a"], {"a": 1, "b": 1, "c": 1}, 1) == 1.0


def test_recall_counts_the_first_ranks_only() -> None:
    judgements = {"a": 2.0, "b": 1.0, "c": 0.0}
    assert recall_at(["x", "a", "b"], judgements, 2) == 0.5
    assert recall_at(["x", "a", "b"], judgements, 3) == 1.0
    assert recall_at(["c"], judgements, 5) == 0.0


def test_reciprocal_rank_is_that_of_the_first_relevant_id() -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], {"a": 1, "b": 2}) == 1 / 3
    assert reciprocal_rank(["x"], {"a": 1}) == 0.0
    assert reciprocal_rank([], {"a": 1}) == 0.0


def test_a_repeated_id_keeps_its_first_rank() -> None:
    judgements = {"a": 1.0}
    assert reciprocal_rank(["x", "x", "a"], judgements) == 1 / 2
    assert recall_at(["x", "x", "a"], judgements, 2) == 1.0
    assert ndcg_at(["a", "a"], judgements, 2) == 1.0


@pytest.mark.parametrize("judgements", [{}, {"a": 0.0}, {"a": -1.0}])
def test_nothing_relevant_gives_zero(judgements: dict[str, float]) -> None:
    assert ndcg_at(["a"], judgements, 5) == 0.0
    assert recall_at(["a"], judgements, 5) == 0.0
    assert reciprocal_rank(["a"], judgements) == 0.0


@given(RANKINGS, JUDGEMENTS, st.integers(1, 10))
def test_every_figure_lies_between_0_and_1(
    ranking: list[str], judgements: dict[str, float], k: int
) -> None:
    assert 0 <= ndcg_at(ranking, judgements, k) <= 1 + 1e-12
    assert 0 <= recall_at(ranking, judgements, k) <= 1
    assert 0 <= reciprocal_rank(ranking, judgements) <= 1


@given(JUDGEMENTS.filter(lambda grades: any(grades.values())), st.integers(1, 10))
def test_the_ideal_order_scores_1(judgements: dict[str, float], k: int) -> None:
    ideal = sorted(judgements, key=lambda id: -judgements[id])
    assert ndcg_at(ideal, judgements, k) == pytest.approx(1.0, rel=1e-12)
    assert reciprocal_rank(ideal, judgements) == 1.0


@given(RANKINGS, JUDGEMENTS, st.integers(1, 9))
def test_recall_never_falls_with_depth(
    ranking: list[str], judgements: dict[str, float], k: int
) -> None:
    assert recall_at(ranking, judgements, k) <= recall_at(ranking, judgements, k + 1)


@given(RANKINGS, JUDGEMENTS, st.integers(1, 10))
def test_ndcg_agrees_with_a_plain_restatement(
    ranking: list[str], judgements: dict[str, float], k: int
) -> None:
    def dcg(grades: Sequence[float]) -> float:
        return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:k]))

    ideal = dcg(sorted(judgements.values(), reverse=True))
    want = dcg([judgements.get(id, 0.0) for id in ranking]) / ideal if ideal else 0.0
    assert ndcg_at(ranking, judgements, k) == pytest.approx(want, rel=1e-12)


@given(st.permutations([0.1, 0.2, 0.3, 1.0, 0.7]))
def test_the_mean_does_not_depend_on_the_order(values: list[float]) -> None:
    assert mean(values) == mean([0.1, 0.2, 0.3, 1.0, 0.7])


def test_errors_name_argument_value_and_rule() -> None:
    with pytest.raises(ValueError, match="k: must be >= 1, got 0"):
        ndcg_at(["a"], {"a": 1}, 0)
    with pytest.raises(ValueError, match="k: must be >= 1, got -3"):
        recall_at(["a"], {"a": 1}, -3)
    with pytest.raises(ValueError, match="judgements: a grade must be finite, got nan"):
        ndcg_at(["a"], {"a": math.nan}, 5)
    with pytest.raises(ValueError, match="values: must not be empty"):
        mean([])
