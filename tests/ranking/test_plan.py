"""The plan against the oracle, and the laws of ranking."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core, profiles
from tests.oracles import reverie

NOW = 1_750_000_000.0
DAY = reverie.DAY
SIZE = 12

LIVES = st.builds(
    reverie.Life,
    created_at=st.floats(NOW - 4000 * DAY, NOW + 40 * DAY),
    updated_at=st.one_of(st.none(), st.floats(NOW - 4000 * DAY, NOW + 40 * DAY)),
    last_accessed_at=st.one_of(st.none(), st.floats(NOW - 4000 * DAY, NOW + 40 * DAY)),
    strength=st.floats(0, 1, width=32),
    depth=st.integers(1, 3),
    stability=st.floats(0, 10, width=32),
    session_spread=st.integers(1, 2**32 - 1),
)
WORLD = st.lists(LIVES, min_size=SIZE, max_size=SIZE)
RANKINGS = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=20), max_size=3)


def columns_of(lives: Sequence[reverie.Life]) -> _core.Columns:
    def times(name: str, fallback: str | None) -> np.ndarray[Any, Any]:
        values = [getattr(life, name) for life in lives]
        if fallback is not None:
            values = [
                getattr(life, fallback) if value is None else value
                for value, life in zip(values, lives, strict=True)
            ]
        return np.array([math.nan if value is None else value for value in values])

    columns = _core.Columns()
    columns.append(count=len(lives))
    columns.write(
        rows=np.arange(len(lives), dtype=np.uint32),
        values={
            "created_at": times("created_at", None),
            "updated_at": times("updated_at", "created_at"),  # as the engine writes it
            "last_accessed_at": times("last_accessed_at", None),
            "strength": np.array([life.strength for life in lives], np.float32),
            "depth": np.array([life.depth for life in lives], np.uint8),
            "stability": np.array([life.stability for life in lives], np.float32),
            "session_spread": np.array([life.session_spread for life in lives], np.uint32),
        },
    )
    return columns


def rank(
    columns: _core.Columns,
    rankings: list[list[int]],
    k: int = 100,
    *,
    lifecycle: bool = True,
    explain: bool = True,
    now: float = NOW,
) -> _core.Ranked:
    return (
        profiles.get("reverie", lifecycle=lifecycle)
        .compile()
        .plan.rank(
            columns=columns,
            rankings=[np.array(ranking, np.uint32) for ranking in rankings],
            now_seconds=now,
            k=k,
            explain=explain,
        )
    )


@given(WORLD, RANKINGS, st.booleans(), st.integers(0, 15))
def test_the_plan_agrees_with_the_oracle(
    lives: list[reverie.Life], rankings: list[list[int]], lifecycle: bool, k: int
) -> None:
    got = rank(columns_of(lives), rankings, lifecycle=lifecycle)
    want = {
        one.id: one
        for one in reverie.rank(dict(enumerate(lives)), rankings, NOW, 100, lifecycle=lifecycle)
    }
    assert got.candidate_count == len(want)
    assert sorted(got.rows.tolist()) == sorted(want)
    assert got.factors is not None
    for i, row in enumerate(got.rows.tolist()):
        assert got.relevance[i] == pytest.approx(want[row].fused, rel=1e-15)
        exact = [value for _, value in want[row].factors]
        assert got.factors[:, i] == pytest.approx(exact, rel=1e-9)
        assert got.scores[i] == pytest.approx(want[row].score, rel=1e-9)
    order = [(-score, row) for score, row in zip(got.scores, got.rows, strict=True)]
    assert order == sorted(order)
    front = rank(columns_of(lives), rankings, k, lifecycle=lifecycle)
    assert front.rows.tolist() == got.rows.tolist()[:k]


@given(WORLD, RANKINGS)
def test_the_explanation_evaluates_to_the_score_bit_for_bit(
    lives: list[reverie.Life], rankings: list[list[int]]
) -> None:
    columns = columns_of(lives)
    got = rank(columns, rankings)
    assert got.factors is not None
    assert got.ranks is not None
    score, retention = got.relevance.copy(), np.ones(len(got.rows))
    for factor in got.factors:
        score *= factor
        retention *= factor
    assert np.array_equal(score, got.scores)
    assert np.array_equal(retention, got.retention)
    for channel, ranking in enumerate(rankings):
        for row, place in zip(got.rows.tolist(), got.ranks[channel].tolist(), strict=True):
            assert place == (ranking.index(row) + 1 if row in ranking else 0)
    plain = rank(columns, rankings, explain=False)
    assert plain.ranks is None
    assert plain.factors is None
    assert np.array_equal(plain.scores, got.scores)
    assert np.array_equal(
        got.factors,
        profiles.get("reverie")
        .compile()
        .plan.factors(columns=columns, rows=got.rows, now_seconds=NOW),
    )


@given(st.lists(st.floats(-400, 4000), min_size=SIZE, max_size=SIZE), RANKINGS)
def test_a_fresh_memory_ranks_exactly_as_the_live_pipeline(
    days: list[float], rankings: list[list[int]]
) -> None:
    """R9: strength 1, depth 2, spread 1, stability 1 change no bit."""
    columns = columns_of([reverie.Life(created_at=NOW - age * DAY) for age in days])
    whole, live = rank(columns, rankings), rank(columns, rankings, lifecycle=False)
    assert np.array_equal(whole.rows, live.rows)
    assert np.array_equal(whole.scores, live.scores)
    assert whole.factors is not None
    assert np.array_equal(whole.factors[1:], np.ones((4, len(whole.rows))))


@given(WORLD, RANKINGS, st.randoms(use_true_random=False))
def test_a_permuted_store_gives_the_same_scores(
    lives: list[reverie.Life], rankings: list[list[int]], random: Any
) -> None:
    order = list(range(SIZE))
    random.shuffle(order)
    moved = columns_of([lives[row] for row in order])
    place = {row: at for at, row in enumerate(order)}
    got = rank(moved, [[place[row] for row in ranking] for ranking in rankings])
    want = rank(columns_of(lives), rankings)
    scores = dict(zip((order[row] for row in got.rows.tolist()), got.scores.tolist(), strict=True))
    assert scores == dict(zip(want.rows.tolist(), want.scores.tolist(), strict=True))


@given(WORLD, st.integers(0, SIZE - 1), st.floats(0, 1, width=32), st.integers(1, 3))
def test_scores_rise_with_strength_and_depth(
    lives: list[reverie.Life], row: int, strength: float, depth: int
) -> None:
    columns = columns_of(lives)
    before = rank(columns, [[row]]).scores[0]
    life = lives[row]
    at = np.array([row], np.uint32)
    more = max(strength, life.strength), max(depth, life.depth)
    columns.write(
        rows=at,
        values={"strength": np.array(more[:1], np.float32), "depth": np.array(more[1:], np.uint8)},
    )
    assert rank(columns, [[row]]).scores[0] >= before


def test_ages_of_a_million_years_reach_the_clamps() -> None:
    lives = [
        reverie.Life(created_at=NOW, stability=value, session_spread=2**32 - 1)
        for value in (0.0, 0.5, 1.0, 2.0)
    ]
    got = rank(columns_of(lives), [[0, 1, 2, 3]], now=NOW + 365.25e6 * DAY)
    assert got.factors is not None
    stability = dict(zip(got.rows.tolist(), got.factors[4].tolist(), strict=True))
    assert stability == {0: 0.1, 1: 0.1, 2: 1.0, 3: 3.0}
    assert np.all(np.isfinite(got.scores))


def test_memories_ahead_of_the_clock_are_counted() -> None:
    lives = [reverie.Life(created_at=NOW + day * DAY) for day in (-1, 0, 1, 2)]
    got = rank(columns_of(lives), [[0, 1, 2, 3]])
    assert got.future_count == 2
    assert got.factors is not None
    assert got.factors[0].max() == 1.3


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rankings": [np.array([9], np.uint32)]}, ValueError, "rows: 9 is not one of the 3 rows"),
        ({"rankings": [np.array([0])]}, TypeError, "rankings: expected uint32, got int64"),
        ({"rankings": [[0]]}, TypeError, "rankings: expected a list of arrays, got"),
        ({"now_seconds": math.nan}, ValueError, "now_seconds: must be finite, got nan"),
        ({"now_seconds": math.inf}, ValueError, "now_seconds: must be finite, got inf"),
        ({"k": -1}, TypeError, "incompatible function arguments"),
    ],
)
def test_a_bad_request_says_what_is_wrong(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    columns = _core.Columns()
    columns.append(count=3)
    arguments = {
        "columns": columns,
        "rankings": [np.array([0], np.uint32)],
        "now_seconds": NOW,
        "k": 1,
        "explain": False,
    }
    with pytest.raises(error, match=message):
        profiles.get("reverie").compile().plan.rank(**(arguments | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rrf_k": math.nan}, r"k: must be in \[0, 1e9\], got nan"),
        ({"weights": [1.0, -1.0]}, r"weights: must be in \[0, 1e6\], got -1"),
        ({"steps": [("magic", {})]}, 'steps: no factor is called "magic"'),
        ({"steps": [("spread", {"cap": 0.0})]}, "cap: must be > 0, got 0"),
        ({"steps": [("spread", {})]}, "spread: parameter cap is missing"),
        ({"steps": [("strength", {"x": 1.0})]}, "strength: takes 0 parameters, got 1"),
    ],
)
def test_a_bad_plan_says_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    arguments = {"rrf_k": 30.0, "weights": None, "steps": []}
    with pytest.raises(ValueError, match=message):
        _core.Plan(**(arguments | changes))


def test_weights_are_one_a_ranking() -> None:
    columns = _core.Columns()
    columns.append(count=2)
    plan = _core.Plan(rrf_k=30.0, weights=[2.0, 1.0], steps=[])
    rankings = [np.array([0], np.uint32), np.array([1], np.uint32)]
    ranked = plan.rank(columns=columns, rankings=rankings, now_seconds=NOW, k=5, explain=True)
    assert ranked.scores.tolist() == [2 / 31, 1 / 31]
    with pytest.raises(ValueError, match=r"weights: expected one a ranking \(1\), got 2"):
        plan.rank(columns=columns, rankings=rankings[:1], now_seconds=NOW, k=5, explain=False)


def test_one_plan_serves_many_threads() -> None:
    lives = [reverie.Life(created_at=NOW - row * DAY) for row in range(SIZE)]
    columns = columns_of(lives)
    want = rank(columns, [[3, 1, 2], [2, 5]]).scores.tolist()
    faults: list[list[float]] = []

    def work() -> None:
        for _ in range(300):
            got = rank(columns, [[3, 1, 2], [2, 5]]).scores.tolist()
            if got != want:
                faults.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        columns.append(count=1000)
    for thread in threads:
        thread.join()
    assert not faults
