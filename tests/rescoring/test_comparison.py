"""Comparisons of two scores: tau by definition, overlaps, decisions, distributions."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.rescoring.comparison import (
    ScratchColumn,
    Side,
    compare_scores,
    kendall_tau,
    top_overlap,
)
from oneiros.rescoring.files import ScoreColumn, compare_file
from tests.rescoring.files import memories, write
from tests.rescoring.forms import NOW, rescore

numbers = st.integers(0, 6).map(float) | st.floats(allow_nan=False)
pairs = st.lists(st.tuples(numbers, numbers), max_size=25)


def tau_by_definition(left: list[float], right: list[float]) -> float | None:
    """Tau-b, pair by pair (M. G. Kendall 1945)."""

    def sign(a: float, b: float) -> int:
        return (a > b) - (a < b)

    pairs = list(combinations(range(len(left)), 2))
    signs = [(sign(left[i], left[j]), sign(right[i], right[j])) for i, j in pairs]
    balance = sum(a * b for a, b in signs)
    untied = sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs)
    return balance / math.sqrt(untied) if untied else None


@given(pairs)
def test_tau_is_that_of_the_definition(rows: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in rows], [b for _, b in rows]
    want = tau_by_definition(left, right)
    got = kendall_tau(np.array(left), np.array(right))
    if want is None:
        assert got is None
    else:
        assert got == pytest.approx(want, abs=1e-12)


@given(st.lists(numbers, min_size=2, max_size=25))
def test_an_order_agrees_with_itself_exactly(values: list[float]) -> None:
    array = np.array(values)
    if len(set(values)) > 1:
        assert kendall_tau(array, array) == 1.0
        assert kendall_tau(array, -array) == -1.0
    else:
        assert kendall_tau(array, array) is None


def test_a_worked_tau() -> None:
    # Kendall's own example of ties, by hand: 10 pairs, 1 tied on the left, 2 on the right.
    left, right = np.array([1.0, 2, 2, 3, 4]), np.array([1.0, 1, 2, 2, 3])
    assert kendall_tau(left, right) == pytest.approx(7 / math.sqrt(9 * 8))


def test_a_large_tau_stays_exact() -> None:
    drawn = np.random.default_rng(1)
    left = drawn.integers(0, 50, 2000).astype(float)
    right = left + drawn.integers(0, 80, 2000)
    signs = np.sign(left[:, None] - left) * np.sign(right[:, None] - right)
    untied = [(side[:, None] != side).sum() for side in (left, right)]
    want = signs.sum() / math.sqrt(untied[0] * untied[1])
    assert kendall_tau(left, right) == pytest.approx(float(want), abs=1e-14)


def test_overlaps_go_by_score_and_then_by_row() -> None:
    left, right = np.array([3.0, 2.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0, 3.0])
    assert top_overlap(left, right, 1) == 0.0
    assert top_overlap(left, right, 2) == 0.0
    assert top_overlap(left, right, 3) == 2 / 3  # rows 0, 1, 2 and 2, 3, 1
    assert top_overlap(left, right, 9) == 1.0
    assert top_overlap(left[:0], right[:0], 9) is None


def side(name: str, scores: list[float], threshold: float | None = 0.6) -> Side:
    return Side(name=name, scores=np.array(scores), threshold=threshold)


def test_decisions_and_distributions_by_hand() -> None:
    before = side("before", [0.7, 0.6, 0.59, math.nan, 1.5, 0.05])
    after = side("after", [0.7, 0.1, 0.9, 0.9, -1.0, math.nan], 0.7)
    found = compare_scores(before, after, top=(1, 2))
    assert found.rows == 6
    assert found.compared == 4
    decisions = found.decisions
    assert decisions is not None
    counts = (decisions.both, decisions.only_left, decisions.only_right, decisions.neither)
    assert counts == (1, 2, 2, 1)
    assert decisions.changed_rows == (1, 2, 3, 4)
    assert found.left.scored == 5
    assert found.left.unscored == 1
    assert found.left.mean == pytest.approx((0.7 + 0.6 + 0.59 + 1.5 + 0.05) / 5)
    assert found.left.quantiles["0"] == 0.05
    assert found.left.quantiles["0.5"] == 0.6
    assert found.left.quantiles["1"] == 1.5
    assert found.left.tenths == (1, 0, 0, 0, 0, 1, 1, 1, 0, 0)
    assert (found.left.above_one, found.right.below_zero) == (1, 1)
    assert found.top_overlap == {1: 0.0, 2: 0.5}


def test_sides_without_a_threshold_decide_nothing() -> None:
    assert compare_scores(side("a", [1.0], None), side("b", [1.0])).decisions is None


def test_nothing_to_compare() -> None:
    found = compare_scores(side("a", []), side("b", []))
    assert found.left.mean is None
    assert found.left.quantiles == {}
    assert found.kendall_tau is None
    assert found.top_overlap == {}
    with pytest.raises(ValueError, match="expected as many on both sides"):
        compare_scores(side("a", [1.0]), side("b", []))


@given(pairs.filter(bool))
def test_every_row_is_in_one_place(rows: list[tuple[float, float]]) -> None:
    found = compare_scores(side("a", [a for a, _ in rows]), side("b", [b for _, b in rows]))
    for each in (found.left, found.right):
        assert each.below_zero + sum(each.tenths) + each.above_one == each.scored == len(rows)
    assert found.decisions is not None
    counts = found.decisions
    assert counts.both + counts.only_left + counts.only_right + counts.neither == len(rows)


def test_a_file_is_compared_as_its_table(tmp_path: Path) -> None:
    table = memories(60).append_column("old", pa.array([None, *np.linspace(0, 1, 59)]))
    path = write(tmp_path / "in.parquet", table, [25, 25, 10])
    reverie, capped = profiles.get("reverie"), profiles.get("reverie-capped")
    options = {"now": NOW, "threads": 1, "invalid": "raise", "missing": "default", "top": (5,)}
    got = compare_file(path, reverie, capped, threshold=0.5, advance=lambda _: None, **options)
    scores = [rescore(table, each, NOW)["score"].to_numpy() for each in (reverie, capped)]
    want = compare_scores(
        Side(name="reverie", scores=scores[0], threshold=0.5),
        Side(name="reverie-capped", scores=scores[1], threshold=0.5),
        top=(5,),
    )
    assert got == want
    old = compare_file(
        path, ScoreColumn("old"), reverie, threshold=0.5, advance=lambda _: None, **options
    )
    assert (old.rows, old.compared) == (60, 59)
    assert old.left.unscored == 1
    for name, words in (("new", "found 0"), ("id", "expected numbers, got string")):
        with pytest.raises((ValueError, TypeError), match=words):
            compare_file(
                path, ScoreColumn(name), reverie, threshold=None, advance=lambda _: None, **options
            )


scores = st.sampled_from([0.0, -0.0, 0.1, 0.3, 0.6, 1.0, 1.5, math.inf, math.nan]) | st.floats()
narrow = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0, math.nan]) | st.floats(width=32)


@given(
    st.lists(st.tuples(scores, narrow), max_size=60),
    st.integers(1, 9),
    st.sampled_from([1, 40, 10**6]),
)
def test_parts_and_files_change_nothing(
    rows: list[tuple[float, float]], part: int, most_held: int
) -> None:
    left = Side(name="a", scores=np.array([a for a, _ in rows]), threshold=0.6)
    right = Side(name="b", scores=np.array([b for _, b in rows], np.float32), threshold=0.3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oneiros.rescoring.comparison.PART", part)
        patch.setattr("oneiros.rescoring.comparison.PART", part)
        patch.setattr("oneiros.rescoring.comparison._MOST_IN_MEMORY", most_held)
        found = compare_scores(left, right, top=(1, 3, 20))
    is_scored = ~(np.isnan(left.scores) | np.isnan(right.scores))
    pair = [side.scores[is_scored].tolist() for side in (left, right)]
    want = tau_by_definition(*pair)
    assert found.compared == len(pair[0])
    assert (found.kendall_tau is None) == (want is None)
    if want is not None:
        assert found.kendall_tau == pytest.approx(want, abs=1e-12)
    for k, share in found.top_overlap.items():
        best = [set(np.argsort(-np.array(side), kind="stable")[:k].tolist()) for side in pair]
        assert share == len(best[0] & best[1]) / len(best[0])
    assert len(found.top_overlap) == (3 if pair[0] else 0)
    for side, told in ((left, found.left), (right, found.right)):
        held = side.scores[~np.isnan(side.scores)].astype(np.float64)
        shares = [float(share) for share in told.quantiles]
        assert bool(shares) == bool(len(held))
        if shares:
            with np.errstate(over="ignore", invalid="ignore"):
                assert np.array_equal(told.mean, held.mean(), equal_nan=True)
            quantiles = np.quantile(held, shares, method="inverted_cdf").tolist()
            assert list(told.quantiles.values()) == quantiles
        assert told.below_zero == (held < 0).sum()
        assert told.above_one == (held > 1).sum()
        assert told.unscored == len(side.scores) - len(held)
    before, after = left.scores >= 0.6, right.scores >= 0.3
    assert found.decisions is not None
    assert found.decisions.both == (before & after).sum()
    assert found.decisions.only_left == (before & ~after).sum()
    assert found.decisions.only_right == (after & ~before).sum()
    assert found.decisions.neither == (~before & ~after).sum()
    assert found.decisions.changed_rows == tuple(np.flatnonzero(before != after)[:10].tolist())


def test_scores_beyond_what_is_held_go_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    column = ScratchColumn()
    monkeypatch.setattr("oneiros.rescoring.comparison._MOST_IN_MEMORY", 100)
    pieces = [np.arange(size, dtype=np.float32) for size in (3, 0, 40, 1, 7)]
    for piece in pieces:
        column.append(piece)
    whole = column.array()
    assert isinstance(whole, np.memmap)
    assert whole.dtype == np.float32
    assert whole.tolist() == np.concatenate(pieces).tolist()
