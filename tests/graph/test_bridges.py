"""Rows that connect results which share no link, beside every path walked by hand. C10."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.worlds import NOW, ROWS, TAU, linked, made, packed, rows, weights_left, worlds
from tests.oracles import associations

C10: dict[str, Any] = {
    "now_seconds": NOW, "tau_days": TAU, "least_link": 0.3, "allowed": None, "top": 50,
}  # fmt: skip


@settings(deadline=None)
@given(
    world=worlds,
    ends=st.lists(rows, max_size=4, unique=True),
    least_link=st.sampled_from([0.05, 0.3, 0.5]),
    allowed=st.lists(st.booleans() | st.just(True), min_size=ROWS, max_size=ROWS),
    top=st.integers(0, ROWS),
    tau_days=st.sampled_from([TAU, TAU, math.inf]),
)
def test_bridges_are_the_rows_of_all_paths(
    world: Any,
    ends: list[int],
    least_link: float,
    allowed: list[bool],
    top: int,
    tau_days: float,
) -> None:
    graph, _ = made(world)
    weights = weights_left(graph, NOW, tau_days)
    want = associations.bridges(weights, ends, least_link=least_link, allowed=allowed)[:top]
    got = graph.bridges(
        ends=ends, now_seconds=NOW, tau_days=tau_days, least_link=least_link,
        allowed=packed(allowed), top=top,
    )  # fmt: skip
    assert got.results() == [(each.row, each.value, each.path) for each in want]


def test_a_bridge_comes_with_its_path_and_linked_results_have_none() -> None:
    graph = linked((0, 5, 0.5), (5, 1, 0.5), (0, 6, 1.0), (6, 7, 1.0), (7, 1, 0.5), (0, 2, 0.3))
    path = (0, 6, 7, 1)
    assert graph.bridges(ends=[0, 1, 2], **C10).results() == [
        (6, 0.5, path),
        (7, 0.5, path),
        (5, 0.25, (0, 5, 1)),
    ]
    graph.set(a=[0], b=[1], weight=[0.3], kind=[0], created_seconds=[NOW], last_seconds=[NOW])
    assert graph.bridges(ends=[0, 1], **C10).results() == []


def test_a_link_that_has_faded_below_the_least_is_none() -> None:
    graph = linked((0, 1, 0.29), (0, 2, 0.5), (2, 1, 0.5))
    assert [row for row, *_ in graph.bridges(ends=[0, 1], **C10).results()] == [2]


def test_another_end_may_lie_on_a_path_but_is_no_bridge() -> None:
    graph = linked((0, 2, 1.0), (2, 3, 0.5), (3, 1, 0.5))
    assert graph.bridges(ends=[0, 1], **C10).results() == [
        (2, 0.25, (0, 2, 3, 1)),
        (3, 0.25, (0, 2, 3, 1)),
    ]
    # Of equal paths the one with fewer links.
    assert graph.bridges(ends=[0, 1, 2], **C10).results() == [(3, 0.25, (1, 3, 2))]
    hidden = {**C10, "allowed": packed([True, True, True, False])}
    assert graph.bridges(ends=[0, 1, 2], **hidden).results() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ends": [ROWS]}, f"ends: {ROWS}"),
        ({"ends": [1, 1]}, "ends: must be different rows, got 1 twice"),
        ({"ends": list(range(12)) + list(range(12))}, "ends: at most 16 rows, got 24"),
        ({"least_link": 0.0}, r"least_link: must be in \(0, 1\], got 0"),
        ({"tau_days": 0.0}, "tau_days: must be > 0, got 0"),
        ({"now_seconds": math.nan}, "now_seconds: must be finite, got nan"),
    ],
)
def test_bridges_refuse_what_makes_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        linked((0, 1, 0.5)).bridges(**{"ends": [0, 1], **C10, **change})
