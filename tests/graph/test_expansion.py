"""What links lead to, beside every path walked by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core
from tests.graph.worlds import NOW, ROWS, TAU, linked, made, packed, rows, weights_left, worlds
from tests.oracles import associations
from tests.oracles.associations import PlainLink
from tests.oracles.records import DAY

C10: dict[str, Any] = {
    "seed_values": None, "now_seconds": NOW, "tau_days": TAU, "least_link": 0.3, "least": 0.3,
    "hop_decay": 1.0, "most_hops": 2, "allowed": None, "top": 50,
}  # fmt: skip
O24: dict[str, Any] = {**C10, "least_link": 0.2, "least": 0.1, "hop_decay": 0.4}
FOR_EVER = PlainLink(1.0, 0, NOW, math.nan)


rules = st.fixed_dictionaries(
    {
        "least_link": st.sampled_from([0.0, 0.2, 0.3, 0.5]),
        "least": st.sampled_from([0.0, 0.1, 0.3, 0.25]),
        "hop_decay": st.sampled_from([1.0, 0.4, 0.5]),
        "most_hops": st.integers(1, 3),
    }
)
seed_values = st.sampled_from([1.0, 0.5, 0.75, 0.0, 2.0]) | st.floats(0.0, 1.0)


@settings(deadline=None)
@given(
    world=worlds,
    seeds=st.dictionaries(rows, seed_values, max_size=4),
    rule=rules,
    allowed=st.lists(st.booleans() | st.just(True), min_size=ROWS, max_size=ROWS),
    top=st.integers(0, 2 * ROWS),
    tau_days=st.sampled_from([TAU, TAU, 30.0, math.inf]),
    now=st.sampled_from([NOW, NOW, NOW + 40 * DAY]),
)
def test_expansion_is_the_best_of_all_paths(
    world: Any,
    seeds: dict[int, float],
    rule: Any,
    allowed: list[bool],
    top: int,
    tau_days: float,
    now: float,
) -> None:
    graph, _ = made(world)
    weights = weights_left(graph, now, tau_days)
    want = associations.expand(weights, seeds, **rule, allowed=allowed)[:top]
    got = graph.expand(
        seeds=list(seeds), seed_values=list(seeds.values()), now_seconds=now, tau_days=tau_days,
        **rule, allowed=packed(allowed), top=top,
    ).results()  # fmt: skip
    assert [(row, value) for row, value, _ in got] == [(each.row, each.value) for each in want]
    for (row, value, path), each in zip(got, want, strict=True):
        assert len(path) == len(each.path)
        walked = associations.value_of(weights, (*path, row), seeds[path[0]], rule["hop_decay"])
        assert walked == value
        assert all(allowed[before] for before in path)


@settings(deadline=None)
@given(
    world=worlds.map(lambda world: [(pair, FOR_EVER) for pair, _ in world]),
    seeds=st.lists(rows, max_size=4, unique=True),
    most_hops=st.integers(1, 3),
)
def test_of_equal_paths_the_one_that_is_said_is_told(
    world: Any, seeds: list[int], most_hops: int
) -> None:
    graph, _ = made(world)
    want = associations.expand(
        weights_left(graph), dict.fromkeys(seeds, 1.0), least_link=0.3, least=0.3, hop_decay=1.0,
        most_hops=most_hops, allowed=[True] * ROWS,
    )  # fmt: skip
    got = graph.expand(seeds=seeds, **{**C10, "most_hops": most_hops}).results()
    assert [(row, path) for row, _, path in got] == [(each.row, each.path) for each in want]


def dense(seed: int, weights: list[float], ages_days: list[float]) -> _core.AssociationGraph:
    """Most of all pairs of rows, so that many paths lead to each."""
    random = np.random.default_rng(seed)
    world = [
        (
            (a, b),
            PlainLink(random.choice(weights), 0, NOW, NOW - random.choice(ages_days) * DAY),
        )
        for a, b in itertools.combinations(range(ROWS), 2)
        if random.random() < 0.6
    ]
    return made(world)[0]


@pytest.mark.parametrize("seed", range(12))
def test_of_many_equal_paths_the_one_that_is_said_is_told(seed: int) -> None:
    graph = dense(seed, [0.5, 1.0], [math.nan])
    for seeds, most_hops in itertools.product([[0], [7, 3], [11, 0, 5]], [1, 2, 3]):
        want = associations.expand(
            weights_left(graph), dict.fromkeys(seeds, 1.0), least_link=0.3, least=0.1,
            hop_decay=1.0, most_hops=most_hops, allowed=[True] * ROWS,
        )  # fmt: skip
        for top in (2, 50):
            rule = {**C10, "least": 0.1, "most_hops": most_hops, "top": top}
            got = graph.expand(seeds=seeds, **rule).results()
            assert got == [(each.row, each.value, each.path) for each in want[:top]]


@pytest.mark.parametrize("tau_days", [TAU, 20.0, 400.0, math.inf])
@pytest.mark.parametrize("hop_decay", [1.0, 0.4])
def test_links_of_every_age_are_found_however_they_fade(tau_days: float, hop_decay: float) -> None:
    for seed, least in itertools.product(range(6), [0.05, 0.3]):
        graph = dense(seed, [0.1, 0.4, 0.7, 1.0], [math.nan, -30.0, 0.0, 10.0, 80.0, 300.0])
        rule: dict[str, Any] = {"least_link": least, "least": least, "hop_decay": hop_decay}
        want = associations.expand(
            weights_left(graph, NOW, tau_days), {0: 1.0, 6: 0.5}, **rule, most_hops=2,
            allowed=[True] * ROWS,
        )  # fmt: skip
        for top in (3, 50):
            got = graph.expand(
                seeds=[0, 6], **{**C10, **rule, "seed_values": [1.0, 0.5], "tau_days": tau_days, "top": top}
            ).results()  # fmt: skip
            assert [(row, value) for row, value, _ in got] == [
                (each.row, each.value) for each in want[:top]
            ]


def test_a_large_graph_beside_walks_by_hand() -> None:
    """Hubs, old links, links without a time: far more rows than are asked for."""
    random = np.random.default_rng(5)
    count, size = 6_000, 400
    a = (size * random.random(count) ** 3).astype(np.uint32)
    b = random.integers(0, size, count).astype(np.uint32)
    keys = np.unique(np.minimum(a, b)[a != b] * np.uint32(size) + np.maximum(a, b)[a != b])
    graph = _core.AssociationGraph()
    graph.grow(row_count=size)
    graph.set(
        a=(keys // size).astype(np.uint32),
        b=(keys % size).astype(np.uint32),
        weight=np.ceil(random.random(len(keys)) * 10) / 10,
        kind=np.zeros(len(keys), np.uint8),
        created_seconds=np.zeros(len(keys)),
        last_seconds=np.where(random.random(len(keys)) < 0.05, np.nan, NOW - random.random(len(keys)) * 1e7),
    )  # fmt: skip
    weights = weights_left(graph)
    allowed = (random.random(size) < 0.8).tolist()
    for seed in range(20):
        seeds = np.random.default_rng(seed).choice(size, 10, replace=False).tolist()
        want = associations.expand(
            weights, dict.fromkeys(seeds, 1.0), least_link=0.3, least=0.3, hop_decay=1.0,
            most_hops=2, allowed=allowed,
        )  # fmt: skip
        for top in (1, 5, 50, 1_000):
            got = graph.expand(seeds=seeds, **{**C10, "allowed": packed(allowed), "top": top})
            assert [(row, value) for row, value, _ in got.results()] == [
                (each.row, each.value) for each in want[:top]
            ]
    assert len(want) > 100


def test_two_hops_multiply_and_the_threshold_is_the_products() -> None:
    graph = linked((0, 1, 0.5), (1, 2, 0.75), (2, 3, 1.0), (1, 4, 0.5))
    assert graph.expand(seeds=[0], **C10).results() == [(1, 0.5, (0,)), (2, 0.375, (0, 1))]
    three = graph.expand(seeds=[0], **{**C10, "most_hops": 3}).results()
    assert three == [(1, 0.5, (0,)), (2, 0.375, (0, 1)), (3, 0.375, (0, 1, 2))]


def test_what_is_not_allowed_is_neither_reached_nor_passed_nor_begun_at() -> None:
    graph = linked((0, 1, 1.0), (1, 2, 1.0), (3, 2, 0.5))
    assert [row for row, *_ in graph.expand(seeds=[0], **C10).results()] == [1, 2]
    scoped = {**C10, "allowed": packed([True, False, True, True])}
    assert graph.expand(seeds=[0], **scoped).results() == []
    assert graph.expand(seeds=[0, 3], **scoped).results() == [(2, 0.5, (3,))]
    assert graph.expand(seeds=[1], **scoped).results() == []
    # Rows past the last byte are not allowed.
    far = made([((0, 9), FOR_EVER)])[0]
    assert len(far.expand(seeds=[0], **{**C10, "allowed": np.array([255], np.uint8)})) == 0


def test_o24_decays_by_hop_and_begins_at_the_seeds_scores() -> None:
    graph = linked((0, 1, 1.0), (1, 2, 0.75), (2, 3, 1.0), (0, 4, 0.19), (5, 1, 1.0))
    got = graph.expand(seeds=[0, 5], **{**O24, "seed_values": [1.0, 0.5]}).results()
    assert got == [(1, 0.4, (0,)), (2, 0.4 * 0.4 * 0.75, (0, 1))]


def test_a_link_fades_out_of_reach_and_one_without_a_time_does_not() -> None:
    graph, _ = made(
        [((0, 1), PlainLink(1.0, 0, NOW, NOW)), ((0, 2), PlainLink(0.4, 0, NOW, math.nan))]
    )
    at = {
        days: graph.expand(seeds=[0], **{**C10, "now_seconds": NOW + days * DAY})
        for days in (0, 90, 200)
    }
    assert {days: found.rows.tolist() for days, found in at.items()} == {
        0: [1, 2],
        90: [2, 1],
        200: [2],
    }
    assert at[90].values.tolist() == pytest.approx([0.4, math.exp(-1)], rel=1e-14)


def test_arrays_and_tuples_say_the_same() -> None:
    graph = linked((0, 1, 0.5), (1, 2, 1.0))
    found = graph.expand(seeds=np.array([0], np.uint32), **C10)
    assert (found.rows.tolist(), found.values.tolist()) == ([1, 2], [0.5, 0.5])
    assert [found.path(place) for place in range(2)] == [(0,), (0, 1)]
    assert found.results() == [(1, 0.5, (0,)), (2, 0.5, (0, 1))]
    nothing = graph.expand(seeds=[], **C10)
    assert (len(nothing), nothing.rows.shape, nothing.values.shape) == (0, (0,), (0,))
    with pytest.raises(IndexError, match="place: must be below 2, got 2"):
        found.path(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": [ROWS]}, rf"seeds: {ROWS} \(position 0\) is not one of the {ROWS} rows"),
        ({"seed_values": [1.0, 1.0]}, "seed_values: expected 1 values, one a seed, got 2"),
        ({"seed_values": [math.nan]}, "seed_values: must be finite and >= 0, got nan"),
        ({"seed_values": [-1.0]}, "seed_values: must be finite and >= 0, got -1"),
        ({"now_seconds": math.nan}, "now_seconds: must be finite, got nan"),
        ({"tau_days": -1.0}, "tau_days: must be > 0, got -1"),
        ({"least_link": 1.5}, r"least_link: must be in \[0, 1\], got 1.5"),
        ({"least": math.nan}, "least: must be finite and >= 0, got nan"),
        ({"hop_decay": 0.0}, r"hop_decay: must be in \(0, 1\], got 0"),
        ({"hop_decay": 1.1}, r"hop_decay: must be in \(0, 1\], got 1.1"),
        ({"most_hops": 0}, "most_hops: must be 1, 2 or 3, got 0"),
        ({"most_hops": 4}, "most_hops: must be 1, 2 or 3, got 4"),
        ({"allowed": np.zeros((2, 2), np.uint8)}, r"allowed: expected shape \(n,\)"),
    ],
)
def test_expansion_refuses_what_makes_no_sense(change: dict[str, Any], message: str) -> None:
    graph = linked((0, 1, 0.5))
    with pytest.raises(ValueError, match=message):
        graph.expand(**{"seeds": [0], **C10, **change})
    with pytest.raises(TypeError):
        graph.expand(seeds=[0], **{**C10, "allowed": np.zeros(2, np.int64)})
