"""``oneiros.rrf`` and its declaration. The oracle's agreement: tests/oracles/test_kernels.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import kernels
from oneiros.scoring.fusion import ReciprocalRankFusion, added

RANKINGS = st.lists(st.lists(st.integers(-5, 12), max_size=12), max_size=5)


def arrays(*lists: list[int]) -> list[np.ndarray[Any, Any]]:
    return [np.array(ranking, np.int64) for ranking in lists]


def test_the_public_example() -> None:
    got = oneiros.rrf([["a", "b"], ["b", "c"]], k=60)
    assert got == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]


def test_the_kernel_is_the_public_function() -> None:
    assert kernels.rrf is oneiros.rrf


def test_arrays_in_arrays_out() -> None:
    ids, scores = oneiros.rrf(arrays([1, 2], [2, 3]), k=60)
    assert ids.dtype == np.int64
    assert ids.tolist() == [2, 1, 3]
    assert scores.tolist() == [1 / 62 + 1 / 61, 1 / 61, 1 / 62]
    small = [np.array([1, 2], np.uint8), np.array([2, 3], ">i2")[::1]]
    assert oneiros.rrf(small)[0].tolist() == [2, 1, 3]
    assert oneiros.rrf(np.array([[1, 2], [2, 3]]))[0].tolist() == [2, 1, 3]  # type: ignore[arg-type]


def test_channel_normalisation_gives_the_best_result_1() -> None:
    got = oneiros.rrf([["a", "b"], ["b"]], weights=[2.0, 1.0], normalise="channel")
    assert got[0] == ("b", 1.0)
    assert got[1][1] == pytest.approx(2.0 / (2 * 61 / 62 + 1))


@pytest.mark.parametrize("normalise", ["none", "channel"])
def test_nothing_in_nothing_out(normalise: Any) -> None:
    assert oneiros.rrf([], normalise=normalise) == []
    assert oneiros.rrf([[], []], normalise=normalise) == []
    ids, scores = oneiros.rrf(arrays([], []), normalise=normalise)
    assert (len(ids), len(scores)) == (0, 0)


def test_ids_are_any_hashable_and_ties_keep_the_order_of_appearance() -> None:
    got = oneiros.rrf([[("x", 1), None], [b"x", ("x", 1)], ["x"]])
    assert [id for id, _ in got] == [("x", 1), b"x", "x", None]


@given(RANKINGS, st.integers(0, 30))
def test_top_is_the_front_of_all(rankings: list[list[int]], top: int) -> None:
    assert oneiros.rrf(rankings, top=top) == oneiros.rrf(rankings)[:top]


@given(RANKINGS.filter(bool))
def test_arrays_and_lists_give_the_same(rankings: list[list[int]]) -> None:
    ids, scores = oneiros.rrf(arrays(*rankings))
    assert list(zip(ids.tolist(), scores.tolist(), strict=True)) == oneiros.rrf(rankings)


@given(RANKINGS, st.permutations(range(5)))
def test_the_order_of_the_lists_changes_no_score(
    rankings: list[list[int]], order: list[int]
) -> None:
    shuffled = [rankings[i] for i in order if i < len(rankings)]
    got, want = dict(oneiros.rrf(shuffled)), dict(oneiros.rrf(rankings))
    assert got == pytest.approx(want, rel=1e-15)


@given(RANKINGS, st.integers(0, 12))
def test_a_hit_more_never_lowers_a_score(rankings: list[list[int]], id: int) -> None:
    before = dict(oneiros.rrf(rankings)).get(id, 0.0)
    assert dict(oneiros.rrf([*rankings, [id]]))[id] > before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rankings": ["ab", "cd"]}, TypeError, "rankings: expected lists of ids, got str 'ab'"),
        ({"rankings": [1, 2]}, TypeError, "rankings: expected lists of ids, got int 1"),
        ({"rankings": [[[1]]]}, TypeError, "rankings: every id must be hashable"),
        ({"rankings": [np.ones(2)]}, TypeError, "rankings: expected arrays of integers"),
        ({"rankings": [np.ones((2, 2), int)]}, ValueError, r"rankings: expected shape \(n,\)"),
        ({"rankings": [np.array([2**63], np.uint64)]}, ValueError, "int64 cannot hold 9223"),
        ({"k": -1}, ValueError, "k: must be >= 0 and <= 1e.09, got -1"),
        ({"k": math.nan}, ValueError, "k: must be .*, got nan"),
        ({"k": "60"}, TypeError, "k: expected a number, got str '60'"),
        ({"weights": [1.0]}, ValueError, "weights: expected 2 numbers, got"),
        ({"weights": [1.0, -1.0]}, ValueError, r"weights\[1\]: must be >= 0"),
        ({"weights": 1.0}, TypeError, "weights: expected a list of numbers"),
        ({"normalise": "best"}, ValueError, 'normalise: must be "none" or "channel", got "best"'),
        ({"top": -1}, ValueError, "top: must be in 0 to"),
        ({"top": 1.5}, TypeError, "top: expected an integer"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        oneiros.rrf(**({"rankings": [["a"], ["b"]]} | arguments))


def test_the_declaration_checks_its_numbers() -> None:
    assert ReciprocalRankFusion(k=30) == ReciprocalRankFusion(k=30.0)
    assert ReciprocalRankFusion(weights=[2, 1]).weights == (2.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights: expected at least one number"):
        ReciprocalRankFusion(weights=())
    with pytest.raises(ValueError, match=r"weights\[0\]: must be"):
        ReciprocalRankFusion(weights=(math.inf,))
    with pytest.raises(TypeError, match="weights: expected a list of numbers, got"):
        ReciprocalRankFusion(weights="12")  # type: ignore[arg-type]


def test_weights_are_added_in_order_whatever_the_python() -> None:
    """``sum()`` gives 1.0 since Python 3.12."""
    assert added([0.1] * 10) == 0.9999999999999999
    assert added(()) == 0.0
