"""Links: two hops from ten memories, strengthening, opening; beside igraph where it is installed.

100,000 memories and a million links, one end of each drawn by rank^-0.6, the other evenly, so that
the busiest has some 4,000; weights even in (0, 1], last co-retrievals even over the last 180 days,
nine memories of ten in scope. igraph collects the rows two links away and knows nothing of weights,
decay, scope or rank. The median and the 99th of a hundred of all of it, in one process:

    python -m bench.bench_association

ONEIROS_BENCH_LINKS sets how many links (1,000,000).
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from oneiros import _core

ROWS = 100_000
LINKS = int(os.environ.get("ONEIROS_BENCH_LINKS", "1000000"))
NOW = 1_750_000_000.0
SEED_SETS = 2_000
C10: dict[str, Any] = {
    "seed_values": None, "now_seconds": NOW, "tau_days": 90.0, "least_link": 0.3, "least": 0.3,
    "hop_decay": 1.0, "most_hops": 2, "top": 50,
}  # fmt: skip
O24: dict[str, Any] = {**C10, "least_link": 0.2, "least": 0.1, "hop_decay": 0.4}
Columns = dict[str, np.ndarray[Any, Any]]


def heavy_tailed(rows: int, links: int) -> Columns:
    random = np.random.default_rng(7)
    share = np.arange(1, rows + 1) ** -0.6
    busy = random.permutation(rows)[random.choice(rows, links + links // 20, p=share / share.sum())]
    other = random.integers(0, rows, len(busy))
    ends = np.sort(np.stack([busy, other])[:, busy != other], axis=0)
    keys = random.permutation(np.unique(ends[0] * rows + ends[1]))[:links]
    last = NOW - random.random(len(keys)) * 180 * 86_400
    return {
        "a": (keys // rows).astype(np.uint32),
        "b": (keys % rows).astype(np.uint32),
        "weight": 1 - random.random(len(keys)),
        "kind": np.zeros(len(keys), np.uint8),
        "created_seconds": last,
        "last_seconds": last,
    }


def opened(columns: Columns) -> _core.AssociationGraph:
    graph = _core.AssociationGraph()
    graph.grow(row_count=ROWS)
    graph.set(**columns)
    return graph


def drawn_seeds() -> list[list[int]]:
    random = np.random.default_rng(11)
    return [random.choice(ROWS, 10, replace=False).tolist() for _ in range(SEED_SETS)]


def scope(share: float) -> np.ndarray[Any, Any]:
    return np.packbits(np.random.default_rng(13).random(ROWS) < share, bitorder="little")


def by_numpy(columns: Columns, seeds: list[int], allowed: np.ndarray[Any, Any]) -> list[float]:
    """The values of the best fifty, two hops by C10, out of all links."""
    age_days = (NOW - columns["last_seconds"]) / 86_400
    left = np.tile(columns["weight"] * np.exp(-age_days / 90), 2)
    begin = np.concatenate([columns["a"], columns["b"]])
    end = np.concatenate([columns["b"], columns["a"]])
    left[~allowed[end]] = 0.0
    front = np.zeros(ROWS)
    front[[seed for seed in seeds if allowed[seed]]] = 1.0
    reached = np.zeros(ROWS)
    for _ in range(2):
        values = front[begin] * left
        values[values < 0.3] = 0.0
        front = np.zeros(ROWS)
        np.maximum.at(front, end, values)
        reached = np.maximum(reached, front)
    reached[seeds] = 0.0
    return [value for value in np.sort(reached)[::-1][:50].tolist() if value > 0]


def check(graph: _core.AssociationGraph, columns: Columns) -> None:
    for seeds in drawn_seeds()[:3]:
        allowed = scope(0.9)
        found = graph.expand(seeds=seeds, allowed=allowed, **C10)
        wanted = by_numpy(columns, seeds, np.unpackbits(allowed, bitorder="little").astype(bool))
        np.testing.assert_allclose(found.values, wanted, rtol=1e-12)


@pytest.fixture(scope="module")
def columns() -> Columns:
    return heavy_tailed(ROWS, LINKS)


@pytest.fixture(scope="module")
def graph(columns: Columns) -> _core.AssociationGraph:
    graph = opened(columns)
    check(graph, columns)
    return graph


def times_us(call: Callable[[Any], object], calls: list[Any]) -> np.ndarray[Any, Any]:
    taken = []
    for argument in calls:
        begin = time.perf_counter_ns()
        call(argument)
        taken.append(time.perf_counter_ns() - begin)
    return np.array(taken) / 1e3


def forms(graph: _core.AssociationGraph) -> Iterator[tuple[str, Callable[[list[int]], object]]]:
    """Each with its result as two arrays, rows and values."""

    def form(rule: dict[str, Any], share: float) -> Callable[[list[int]], object]:
        allowed = scope(share)

        def expand(seeds: list[int]) -> object:
            found = graph.expand(seeds=seeds, allowed=allowed, **rule)
            return found.rows, found.values

        return expand

    yield "two hops, top 50", form(C10, 0.9)
    yield "two hops, top 50, one memory of ten in scope", form(C10, 0.1)
    yield "two hops, all there are", form({**C10, "top": ROWS}, 0.9)
    yield "one hop, top 50", form({**C10, "most_hops": 1}, 0.9)
    yield "three hops, top 50", form({**C10, "most_hops": 3}, 0.9)
    yield "two hops, top 50, hop decay 0.4 (O24)", form(O24, 0.9)
    yield "the same, links that do not fade", form({**O24, "tau_days": float("inf")}, 0.9)
    allowed = scope(0.9)
    yield (
        "bridges between the first three",
        lambda seeds: (
            graph.bridges(
                ends=seeds[:3],
                now_seconds=NOW,
                tau_days=90.0,
                least_link=0.3,
                allowed=allowed,
                top=50,
            ).rows
        ),
    )


@pytest.mark.parametrize("name", [name for name, _ in forms(_core.AssociationGraph())])
def test_expansion(benchmark: BenchmarkFixture, graph: _core.AssociationGraph, name: str) -> None:
    benchmark.group = f"from ten of {ROWS:,} memories, {LINKS:,} links"
    seeds = itertools.cycle(drawn_seeds())
    benchmark.pedantic(  # a round is one set of seeds, whose links the caches do not hold
        dict(forms(graph))[name], setup=lambda: ((next(seeds),), {}), rounds=SEED_SETS
    )


def test_igraph(benchmark: BenchmarkFixture, columns: Columns) -> None:
    igraph = pytest.importorskip("igraph")
    benchmark.group = f"from ten of {ROWS:,} memories, {LINKS:,} links"
    peer = igraph.Graph(n=ROWS, edges=np.column_stack([columns["a"], columns["b"]]).tolist())
    seeds = itertools.cycle(drawn_seeds())
    benchmark.pedantic(
        lambda rows: peer.neighborhood(rows, order=2),
        setup=lambda: ((next(seeds),), {}),
        rounds=200,
    )


def pairs_of_ten(seeds: list[int]) -> dict[str, list[int]]:
    a, b = zip(*itertools.combinations(seeds, 2), strict=True)
    return {"a": list(a), "b": list(b)}


def test_strengthening_the_pairs_of_ten(benchmark: BenchmarkFixture, columns: Columns) -> None:
    benchmark.group = "strengthening"
    changed = opened(columns)
    calls = itertools.cycle([pairs_of_ten(seeds) for seeds in drawn_seeds()])
    benchmark.pedantic(
        lambda pairs: changed.strengthen(
            **pairs, now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=90.0
        ),
        setup=lambda: ((next(calls),), {}),
        rounds=SEED_SETS,
    )


def test_strengthening_one_pair(benchmark: BenchmarkFixture, columns: Columns) -> None:
    benchmark.group = "strengthening"
    changed = opened(columns)
    pairs = itertools.cycle(zip(columns["a"][:5_000].tolist(), columns["b"][:5_000].tolist()))  # noqa: B905
    benchmark.pedantic(
        lambda a, b: changed.strengthen(
            a=[a], b=[b], now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=90.0
        ),
        setup=lambda: (next(pairs), {}),
        rounds=SEED_SETS,
    )


def test_opening(benchmark: BenchmarkFixture, columns: Columns) -> None:
    benchmark.group = f"{LINKS:,} links"
    graph = benchmark.pedantic(opened, args=(columns,), rounds=5)
    benchmark.extra_info["bytes a link"] = graph.resident_bytes / len(graph)


def test_all_links_out(benchmark: BenchmarkFixture, graph: _core.AssociationGraph) -> None:
    benchmark.group = f"{LINKS:,} links"
    benchmark.pedantic(graph.links, rounds=5)


def main() -> None:
    """Print the median and the 99th of a hundred of each form, in one process."""
    columns = heavy_tailed(ROWS, LINKS)
    begin = time.perf_counter()
    graph = opened(columns)
    out = [f"opening: {(time.perf_counter() - begin) * 1e3:.0f} ms"]
    out.append(f"bytes a link: {graph.resident_bytes / len(graph):.1f}")
    check(graph, columns)
    sets = drawn_seeds()
    measured = [(name, times_us(form, sets)) for name, form in forms(graph)]
    if importlib.util.find_spec("igraph") is not None:
        import igraph  # noqa: PLC0415 (only where it is installed)

        edges = np.column_stack([columns["a"], columns["b"]]).tolist()
        peer = igraph.Graph(n=ROWS, edges=edges)
        name = f"igraph {igraph.__version__}, two hops, no weights"
        measured.append((name, times_us(lambda rows: peer.neighborhood(rows, order=2), sets[:300])))
    strengthened = [pairs_of_ten(seeds) for seeds in sets]
    measured.append(
        (
            "strengthening the 45 pairs of ten",
            times_us(
                lambda pairs: graph.strengthen(
                    **pairs, now_seconds=NOW, gain=0.1, rest_days=0.0, tau_days=90.0
                ),
                strengthened,
            ),
        )
    )
    for name, taken in measured:
        median, last = np.percentile(taken, [50, 99])
        out.append(f"{name}: p50 {median:.1f} us, p99 {last:.1f} us")
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
