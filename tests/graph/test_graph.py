"""Links as they are made, strengthened and taken away, beside the plain graph."""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core, kernels
from tests.graph.worlds import NOW, ROWS, TAU, links, made, pairs, rows, set_all, worlds
from tests.oracles.associations import PlainGraph, PlainLink
from tests.oracles.records import DAY

ALL_PAIRS = list(itertools.permutations(range(ROWS), 2))
SETTING = {"weight": [0.5], "kind": [2], "created_seconds": [NOW], "last_seconds": [NOW]}

operations = st.one_of(
    st.tuples(st.just("set"), st.lists(st.tuples(pairs, links), max_size=6)),
    st.tuples(st.just("strengthen"), st.lists(pairs, max_size=8)),
    st.tuples(st.just("remove"), st.lists(pairs, max_size=4)),
    st.tuples(st.just("remove_rows"), st.lists(rows, max_size=2)),
)


def apply(graph: _core.AssociationGraph, plain: PlainGraph, name: str, what: Any) -> None:
    if name == "set":
        set_all(graph, what)
        for (a, b), link in what:
            plain.set(a, b, link)
    elif name == "remove_rows":
        assert graph.remove_rows(rows=what) == sum(plain.remove_row(row) for row in what)
    else:
        a, b = [a for a, _ in what], [b for _, b in what]
        if name == "strengthen":
            rest = 20.0 * (sum(map(sum, what)) % 3)  # of one history links rest differently long
            graph.strengthen(a=a, b=b, now_seconds=NOW, gain=0.1, rest_days=rest, tau_days=TAU)
            for pair in what:
                plain.strengthen(*pair, NOW, 0.1, TAU, rest)
        else:
            assert graph.remove(a=a, b=b) == sum(plain.remove(*pair) for pair in what)


def assert_same(graph: _core.AssociationGraph, plain: PlainGraph) -> None:
    a, b, weight, kind, created, last = (column.tolist() for column in graph.links())
    assert len(graph) == len(plain.links) == len(a)
    assert list(zip(a, b, strict=True)) == sorted(tuple(sorted(pair)) for pair in plain.links)
    for i, pair in enumerate(zip(a, b, strict=True)):
        want = plain.links[frozenset(pair)]
        assert weight[i] == pytest.approx(want.weight, rel=1e-14)
        assert (kind[i], created[i]) == (want.kind, want.created)
        assert last[i] == want.last or (math.isnan(last[i]) and math.isnan(want.last))
    for (one, other), link in zip(
        ALL_PAIRS, graph.find(a=[a for a, _ in ALL_PAIRS], b=[b for _, b in ALL_PAIRS]), strict=True
    ):
        kept = plain.links.get(frozenset((one, other)))
        assert (link is None) == (kept is None)
        if link is not None and kept is not None:
            assert link[0] == pytest.approx(kept.weight, rel=1e-14)
            assert link[1:3] == (kept.kind, kept.created)
            assert link[3] == pytest.approx(kept.last, nan_ok=True, rel=0, abs=0)
    for row in range(ROWS):
        told = graph.neighbours(row=row, now_seconds=NOW, tau_days=TAU)
        wanted = plain.neighbours(row)
        assert sorted(neighbour for neighbour, *_ in told) == sorted(wanted)
        assert told == sorted(told, key=lambda link: (-link[1], link[0]))
        for neighbour, left, its_kind, its_created, _last in told:
            want = wanted[neighbour]
            assert left == pytest.approx(want.left(NOW, TAU), rel=1e-13, abs=1e-300)
            assert (its_kind, its_created) == (want.kind, want.created)


@settings(deadline=None)
@given(worlds, st.lists(operations, max_size=8))
def test_the_graph_is_the_plain_one_after_any_operations(world: Any, done: Any) -> None:
    graph, plain = made(world)
    for name, what in done:
        apply(graph, plain, name, what)
    assert_same(graph, plain)


def test_what_is_left_of_a_weight_is_the_kernels() -> None:
    graph, _ = made(
        [((0, b), PlainLink(b / 13, 0, NOW, NOW - b * 17.3 * DAY)) for b in range(1, 12)]
    )
    for path in _core.simd_paths():
        before = _core.simd_path()
        _core.use_simd_path(name=path)
        try:
            told = graph.neighbours(row=0, now_seconds=NOW, tau_days=TAU)
            reached = graph.expand(
                seeds=[0], seed_values=None, now_seconds=NOW, tau_days=TAU, least_link=0.0,
                least=0.0, hop_decay=1.0, most_hops=1, allowed=None, top=50,
            )  # fmt: skip
        finally:
            _core.use_simd_path(name=before)
        for neighbour, left, *_ in told:
            age = (NOW - (NOW - neighbour * 17.3 * DAY)) / DAY
            assert left == float(kernels.association_decay(neighbour / 13, age))
        assert [(row, value) for row, value, _ in reached.results()] == [
            (neighbour, left) for neighbour, left, *_ in told
        ]


def test_reading_never_writes_what_is_left() -> None:
    graph, plain = made([((0, 1), PlainLink(0.8, 1, NOW - 50 * DAY, NOW - 50 * DAY))])
    for _ in range(3):
        graph.neighbours(row=0, now_seconds=NOW, tau_days=TAU)
    assert_same(graph, plain)


def test_a_pair_given_twice_is_strengthened_twice() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=2)
    graph.strengthen(
        a=[0, 1, 0], b=[1, 0, 1], now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=TAU
    )
    assert graph.links()[2].tolist() == [0.1 + 0.1 + 0.1]
    for _ in range(10):
        graph.strengthen(a=[1], b=[0], now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=TAU)
    assert graph.links()[2].tolist() == [1.0]


def many(count: int, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 500, (2, count)).astype(np.uint32)
    keep = a != b
    a, b = a[keep], b[keep]
    return {
        "a": a,
        "b": b,
        "weight": 1 - random.random(len(a)),
        "kind": random.integers(0, 5, len(a)).astype(np.uint8),
        "created_seconds": NOW - random.random(len(a)) * 1e7,
        "last_seconds": np.where(
            random.random(len(a)) < 0.1, np.nan, NOW - random.random(len(a)) * 1e7
        ),
    }


@pytest.mark.parametrize("is_distinct", [True, False])
def test_links_set_at_once_are_those_set_one_by_one(is_distinct: bool) -> None:
    columns = many(20_000, seed=3)
    if is_distinct:
        keys = np.minimum(columns["a"], columns["b"]) * 500 + np.maximum(columns["a"], columns["b"])
        _, first = np.unique(keys, return_index=True)
        columns = {name: column[np.sort(first)] for name, column in columns.items()}
    at_once, in_parts = _core.AssociationGraph(), _core.AssociationGraph()
    for graph in (at_once, in_parts):
        graph.grow(row_count=500)
    at_once.set(**columns)
    for part in range(0, len(columns["a"]), 700):
        in_parts.set(**{name: column[part : part + 700] for name, column in columns.items()})
    assert len(at_once) == len(in_parts) > 10_000
    for one, other in zip(at_once.links(), in_parts.links(), strict=True):
        np.testing.assert_array_equal(one, other)
    again = _core.AssociationGraph()
    again.grow(row_count=500)
    again.set(**dict(zip(columns, at_once.links(), strict=True)))
    for one, other in zip(again.links(), at_once.links(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_replaced_is_used_again() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=500)
    graph.set(**many(20_000, seed=5))
    held = []
    for round_ in range(6):
        for part in range(20):
            columns = many(300, seed=100 * round_ + part)
            graph.strengthen(
                a=columns["a"],
                b=columns["b"],
                now_seconds=NOW,
                gain=0.1,
                rest_days=0.0,
                tau_days=TAU,
            )
            graph.remove(a=columns["b"], b=columns["a"])
        held.append(graph.resident_bytes)
    assert held[-1] == held[2]


def test_rows_are_made_known_and_stay() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=3)
    graph.set(a=[0], b=[2], **SETTING)
    for count in (5, 4, 100_000):
        graph.grow(row_count=count)
        assert graph.row_count == max(5, count)
        assert [link[0] for link in graph.neighbours(row=2, now_seconds=NOW, tau_days=TAU)] == [0]
    with pytest.raises(OverflowError, match="row_count: at most 268435456, got 268435457"):
        graph.grow(row_count=2**28 + 1)


def refusing() -> _core.AssociationGraph:
    graph = _core.AssociationGraph()
    graph.grow(row_count=5)
    graph.set(a=[0], b=[1], **SETTING)
    return graph


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": [5]}, r"a: 5 \(position 0\) is not one of the 5 rows"),
        ({"b": [7]}, r"b: 7 \(position 0\) is not one of the 5 rows"),
        ({"b": [2]}, r"b: must be another row than a, got 2 for both \(position 0\)"),
        ({"b": [1, 3]}, "b: expected 1 values, one a pair, got 2"),
        ({"weight": []}, "weight: expected 1 values, one a pair, got 0"),
        ({"weight": [0.0]}, r"weight: must be in \(0, 1\] \(position 0\), got 0"),
        ({"weight": [1.5]}, r"weight: must be in \(0, 1\] \(position 0\), got 1.5"),
        ({"weight": [math.nan]}, r"weight: must be in \(0, 1\] \(position 0\), got nan"),
        ({"kind": [6]}, r"kind: must be below 6, got 6 \(position 0\)"),
        ({"kind": [300]}, "kind: 300 lies beyond"),
        (
            {"created_seconds": [math.nan]},
            r"created_seconds: must be finite \(position 0\), got nan",
        ),
        ({"last_seconds": [math.inf]}, r"last_seconds: must be finite \(position 0\), got inf"),
        ({"a": [-1]}, "a: -1 lies beyond"),
    ],
)
def test_a_link_that_breaks_a_rule_is_refused_before_anything_is_written(
    change: dict[str, Any], message: str
) -> None:
    graph = refusing()
    with pytest.raises(ValueError, match=message):
        graph.set(**{"a": [2], "b": [3], **SETTING, **change})
    with pytest.raises(ValueError, match="one of the 5 rows"):
        graph.strengthen(a=[2, 9], b=[3, 1], now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=TAU)
    assert [column.tolist() for column in graph.links()[:3]] == [[0], [1], [0.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gain": 0.0}, r"gain: must be in \(0, 1\], got 0"),
        ({"gain": math.nan}, r"gain: must be in \(0, 1\], got nan"),
        ({"rest_days": -1.0}, "rest_days: must be finite and >= 0, got -1"),
        ({"rest_days": math.inf}, "rest_days: must be finite and >= 0, got inf"),
        ({"tau_days": 0.0}, "tau_days: must be > 0, got 0"),
        ({"tau_days": math.nan}, "tau_days: must be > 0, got nan"),
        ({"now_seconds": math.inf}, "now_seconds: must be finite, got inf"),
        ({"b": [2]}, "b: must be another row"),
    ],
)
def test_strengthening_refuses_what_makes_no_sense(change: dict[str, Any], message: str) -> None:
    graph = refusing()
    arguments: dict[str, Any] = {
        "a": [2],
        "b": [3],
        "now_seconds": NOW,
        "gain": 0.1,
        "rest_days": 0.0,
        "tau_days": TAU,
    }
    with pytest.raises(ValueError, match=message):
        graph.strengthen(**{**arguments, **change})
    assert len(graph) == 1
    with pytest.raises(ValueError, match="rows: 5"):
        graph.remove_rows(rows=[5])
    with pytest.raises(ValueError, match="row: 5"):
        graph.neighbours(row=5, now_seconds=NOW, tau_days=TAU)
    with pytest.raises(TypeError):
        graph.remove(a=np.array([0.5]), b=[1])


def test_readers_see_all_of_a_write_or_nothing_of_it() -> None:
    """A ring of links that are all made equally heavy, again and again."""
    size, ended = 40, threading.Event()
    graph = _core.AssociationGraph()
    graph.grow(row_count=size)
    ring = {"a": list(range(size)), "b": [(row + 1) % size for row in range(size)]}
    rest = {"kind": [0] * size, "created_seconds": [NOW] * size, "last_seconds": [math.nan] * size}
    graph.set(**ring, weight=[1.0] * size, **rest)
    broken: list[Any] = []

    def read() -> None:
        while not ended.is_set():
            found = graph.expand(
                seeds=[0], seed_values=None, now_seconds=NOW, tau_days=TAU, least_link=0.1,
                least=0.0, hop_decay=1.0, most_hops=3, allowed=None, top=50,
            ).results()  # fmt: skip
            weight = found[0][1]
            if [value for _, value, _ in found] != [weight, weight, weight**2, weight**2] + [
                weight**2 * weight
            ] * 2:
                broken.append(found)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for step in range(2_000):
        graph.set(**ring, weight=[0.2 + 0.7 * (step % 7) / 7] * size, **rest)
    ended.set()
    for thread in threads:
        thread.join()
    assert not broken


def test_what_lies_endlessly_far_apart_keeps_its_weight_where_nothing_fades() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=3)
    for row, weight in ((1, 0.1), (2, 0.7)):
        graph.set(
            a=[0],
            b=[row],
            weight=[weight],
            kind=[0],
            created_seconds=[0.0],
            last_seconds=[-1.7e308],
        )
    far = {"now_seconds": 1.7e308, "tau_days": math.inf}
    assert [found[:2] for found in graph.neighbours(row=0, **far)] == [(2, 0.7), (1, 0.1)]
    assert graph.neighbours(row=0, now_seconds=1.7e308, tau_days=TAU)[0][1] == 0.0
    graph.strengthen(a=[0], b=[1], gain=0.1, rest_days=0.0, **far)
    ((_, weight, *_), _) = sorted(graph.neighbours(row=0, **far))
    assert weight == 0.2


def test_a_row_of_very_many_links_is_changed_in_linear_time() -> None:
    count = 300_000
    graph = _core.AssociationGraph()
    graph.grow(row_count=count + 3)
    ends = np.arange(1, count + 1, dtype=np.uint32)
    hub = np.zeros(count, dtype=np.uint32)
    rest = {
        "weight": np.full(count, 0.5),
        "kind": np.full(count, 2, dtype=np.uint8),
        "created_seconds": np.full(count, NOW),
        "last_seconds": np.full(count, NOW),
    }
    started = time.process_time()
    graph.set(a=[count + 1], b=[count + 2], **SETTING)
    for _ in range(2):  # made, and replaced
        graph.set(a=hub, b=ends, **rest)
        assert len(graph) == count + 1
    again = {"now_seconds": NOW, "gain": 0.1, "rest_days": 0.0, "tau_days": TAU}
    graph.strengthen(a=ends, b=hub, **again)
    assert graph.find(a=[0], b=[count])[0][0] == pytest.approx(0.6)
    assert graph.remove_rows(rows=[0]) == count
    assert time.process_time() - started < 5  # were it quadratic, it would take minutes
    assert len(graph) == 1


def test_a_graph_that_is_filled_and_emptied_holds_no_more_than_once_filled() -> None:
    graph = _core.AssociationGraph()
    graph.grow(row_count=3_000)
    held = []
    for more in range(12):
        count = 2_000 + 8 * more
        graph.set(
            a=[0] * count,
            b=list(range(1, count + 1)),
            weight=[0.5] * count,
            kind=[0] * count,
            created_seconds=[0.0] * count,
            last_seconds=[0.0] * count,
        )
        held.append(graph.resident_bytes)
        assert graph.remove_rows(rows=[0]) == count
    assert held[-1] < 1.5 * held[0]
