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
RANKINGS = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=20), max_size=2)


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


def listed(rankings: Sequence[Sequence[int]]) -> list[np.ndarray[Any, Any]]:
    """One array a channel of Reverie, empty where none is given."""
    padded = [*rankings, [], []][:2]
    return [np.array(ranking, np.uint32) for ranking in padded]


def rank(
    columns: _core.Columns,
    rankings: list[list[int]],
    k: int = 100,
    *,
    lifecycle: bool = True,
    explain: bool = True,
    now: float = NOW,
) -> _core.Ranked:
    plan = profiles.get("reverie", lifecycle=lifecycle).compile().plan
    lists = listed(rankings)
    candidates = plan.candidates(hits=[(rows, np.ones(len(rows))) for rows in lists])
    return plan.rank(
        columns=columns,
        candidates=candidates,
        now_seconds=now,
        k=k,
        signals=None,
        explain=explain,
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
    score = got.relevance.copy()
    for factor in got.factors:
        score *= factor
    retention = got.factors[1].copy()  # the first factor, recency, is none of the lifecycle
    for factor in got.factors[2:]:
        retention *= factor
    assert np.array_equal(score, got.scores)
    assert np.array_equal(retention, got.retention)
    for channel, ranking in enumerate(rankings):
        for row, place in zip(got.rows.tolist(), got.ranks[channel].tolist(), strict=True):
            assert place == (ranking.index(row) + 1 if row in ranking else 0)
    plain = rank(columns, rankings, explain=False)
    assert plain.ranks is None
    assert plain.factors is None
    assert plain.channel_scores is None
    assert np.array_equal(plain.scores, got.scores)


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


def request(**changes: Any) -> dict[str, Any]:
    columns = _core.Columns()
    columns.append(count=3)
    candidates = changes.pop("candidates", None) or candidates_of([[0], []])
    fixed = {"columns": columns, "now_seconds": NOW, "k": 1, "signals": None, "explain": False}
    return {"candidates": candidates, **fixed, **changes}


def candidates_of(rankings: Sequence[Sequence[int]]) -> _core.Candidates:
    plan = profiles.get("reverie").compile().plan
    lists = listed(rankings)
    return plan.candidates(hits=[(rows, np.ones(len(rows))) for rows in lists])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"candidates": candidates_of([[2, 9]])}, ValueError, "rows: 9 is not one of the 3 rows"),
        ({"now_seconds": math.nan}, ValueError, "now_seconds: must be finite, got nan"),
        ({"now_seconds": math.inf}, ValueError, "now_seconds: must be finite, got inf"),
        ({"k": -1}, TypeError, "incompatible function arguments"),
        ({"signals": {"x": [1.0]}}, TypeError, "signals: x: expected an array, got"),
        ({"signals": {"x": np.ones(1, int)}}, TypeError, "signals: x: expected float64, got int64"),
        ({"signals": {"x": np.ones(4)}}, ValueError, r"x: expected one value a candidate \(1\)"),
        ({"signals": {"depth": np.ones(1)}}, ValueError, "signals: the plan gives depth itself"),
    ],
)
def test_a_bad_request_says_what_is_wrong(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    plan = profiles.get("reverie").compile().plan
    with pytest.raises(error, match=message):
        plan.rank(**request(**changes))


ROWS, SCORES = [np.array([0], np.uint32)] * 2, [np.ones(1)] * 2


@pytest.mark.parametrize(
    ("rankings", "scores", "error", "message"),
    [
        ([np.array([0])] * 2, SCORES, TypeError, "rows: expected uint32, got int64"),
        ([[0]] * 2, SCORES, TypeError, "hits: expected arrays of rows and scores, got"),
        (ROWS[:1], SCORES[:1], ValueError, r"hits: expected one list a channel \(2\), got 1"),
        (ROWS, [[1.0]] * 2, TypeError, "hits: expected arrays of rows and scores, got"),
        (ROWS, [np.ones(1, int)] * 2, TypeError, "scores: expected float32 or float64, got int64"),
        (ROWS, [np.ones(2)] * 2, ValueError, r"scores: expected one a row \(1\), got 2"),
    ],
)
def test_bad_lists_say_what_is_wrong(
    rankings: Any, scores: Any, error: type[Exception], message: str
) -> None:
    plan = profiles.get("reverie").compile().plan
    with pytest.raises(error, match=message):
        plan.candidates(hits=list(zip(rankings, scores, strict=True)))


def test_what_is_no_hits_is_refused() -> None:
    plan = profiles.get("reverie").compile().plan
    with pytest.raises(TypeError, match=r"hits: expected \(rows, scores\), got"):
        plan.candidates(hits=[ROWS[0], ROWS[0]])  # type: ignore[list-item]


def test_candidates_tell_what_is_missing_and_take_it() -> None:
    plan = profiles.get("reverie").compile().plan
    candidates = plan.candidates(
        hits=[
            (np.array([7, 5], np.uint32), np.array([8.0, 2.0])),
            (np.array([5, 9], np.uint32), np.array([0.75, -0.25], np.float32)),
        ]
    )
    assert len(candidates) == 3
    assert candidates.rows.tolist() == [7, 5, 9]
    assert candidates.missing(0).tolist() == [9]
    candidates.fill(0, np.array([1.0]))
    assert candidates.missing(0).tolist() == []
    with pytest.raises(ValueError, match=r"scores: expected one a missing row \(1\), got 2"):
        candidates.fill(1, np.ones(2))
    with pytest.raises(ValueError, match="channel: must be below 2, got 2"):
        candidates.missing(2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fusion": "magic"}, 'fusion: no kind is called "magic"'),
        ({"fusion_parameters": {"k": math.nan}}, r"k: must be in \[0, 1e9\], got nan"),
        (
            {"fusion_parameters": {"k": 1, "weights": [1.0]}},
            r"weights: expected one a channel \(2\)",
        ),
        ({"fusion_parameters": {"k": 1, "size": 2}}, "reciprocal_rank: takes no parameter size"),
        ({"channels": ["lexical", "lexical"]}, 'channels: "lexical" stands there twice'),
        ({"factors": [1]}, "outputs: register 1 is not one of the 1"),
    ],
)
def test_a_bad_plan_says_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "fusion": "reciprocal_rank",
        "fusion_parameters": {"k": 30},
        "channels": ["lexical", "vector"],
        "program": _core.Program(inputs=[("value", "relevance", 1.0)], instructions=[]),
        "relevance": 0,
        "score": 0,
        "retention": 0,
        "keep": None,
        "factors": [],
        "parts": [],
    }
    with pytest.raises(ValueError, match=message):
        _core.Plan(**(arguments | changes))


@given(WORLD, RANKINGS, st.integers(0, SIZE - 1))
def test_the_place_of_a_row_is_that_of_the_ranking(
    lives: list[reverie.Life], rankings: list[list[int]], row: int
) -> None:
    columns, plan = columns_of(lives), profiles.get("reverie").compile().plan
    asked: dict[str, Any] = {
        "columns": columns,
        "candidates": candidates_of(rankings),
        "now_seconds": NOW,
        "signals": None,
    }
    ranked = plan.rank(**asked, k=SIZE, explain=True)
    placed = plan.place_of(**asked, row=row)
    if row not in ranked.rows:
        assert placed is None
        return
    assert placed is not None
    told, place = placed
    at = ranked.rows.tolist().index(row)
    assert place == at + 1
    assert told.rows.tolist() == [row]
    assert told.scores[0] == ranked.scores[at]
    assert told.factors is not None
    assert ranked.factors is not None
    assert np.array_equal(told.factors[:, 0], ranked.factors[:, at])


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
