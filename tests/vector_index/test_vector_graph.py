"""VectorIndex with a graph: recall, filters, upkeep."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
import pytest

from oneiros import _core
from oneiros.vector_index import hnsw, snapshot
from oneiros.vector_index import index as index_module
from oneiros.vector_index.index import FLAT_LIMIT, VectorIndex
from tests.vector_index.vectors import assert_is_top, bits_of, clustered, plain_cosines, unit

COUNT, WIDTH = 6_000, 32
VECTORS = clustered(COUNT, WIDTH, 0)
QUERIES = clustered(50, WIDTH, 1)


@pytest.fixture(autouse=True)
def _walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through the graph where that was once faster than looking at so few vectors."""
    monkeypatch.setattr(snapshot, "SCANNED_PER_CANDIDATE", 8)


@pytest.fixture(scope="module")
def graph() -> VectorIndex:
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(COUNT), VECTORS)
    assert index.settle(120)
    return index


def recall(index: VectorIndex, k: int, allowed: np.ndarray | None, rows: np.ndarray) -> float:
    found = 0
    for query in QUERIES:
        truth = rows[np.argsort(-(VECTORS[rows] @ query), kind="stable")[:k]]
        got, scores = index.search(query, k, allowed)
        assert len(got) == len(set(got.tolist())) == min(k, len(rows))
        assert np.isin(got, rows).all()
        assert (np.diff(scores) <= 0).all()
        found += len(np.intersect1d(truth, got))
    return found / (min(k, len(rows)) * len(QUERIES))


def test_auto_turns_to_a_graph_beyond_its_limit() -> None:
    index = VectorIndex(4)
    vectors = clustered(FLAT_LIMIT + 1, 4, 2)
    index.add(np.arange(FLAT_LIMIT), vectors[:-1])
    assert index.settle(0.0)
    assert not index.has_graph
    index.add([FLAT_LIMIT], vectors[-1:])
    assert index.settle(120)
    assert index.has_graph
    index.close()


@pytest.mark.parametrize("k", [1, 10, 100])
def test_the_graph_finds_nearly_all(graph: VectorIndex, k: int) -> None:
    assert graph.has_graph
    assert recall(graph, k, None, np.arange(COUNT)) >= 0.95


@pytest.mark.parametrize("share", [0.0005, 0.01, 0.1, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("k", [10, 100])
def test_a_filter_leaves_k_results_and_recall(graph: VectorIndex, share: float, k: int) -> None:
    rows = np.flatnonzero(np.random.default_rng(3).random(COUNT) < share)
    assert recall(graph, k, bits_of(rows, COUNT), rows) >= 0.95


def test_a_filter_far_from_the_query_leaves_k_results(graph: VectorIndex) -> None:
    # The walk starts among vectors that may not be returned, and may never leave them.
    query = QUERIES[0]
    far = np.argsort(VECTORS @ query)[: COUNT // 2]
    rows, _ = graph.search(query, 10, bits_of(far, COUNT))
    truth = far[np.argsort(-(VECTORS[far] @ query))[:10]]
    assert len(np.intersect1d(rows, truth)) >= 8


def test_all_rows_can_be_asked_for(graph: VectorIndex) -> None:
    want = plain_cosines(dict(enumerate(VECTORS)), QUERIES[0])
    for k in (COUNT - 1, COUNT, COUNT + 5):
        assert_is_top(*graph.search(QUERIES[0], k), want, k)


def test_a_score_has_the_bits_of_an_exact_search(graph: VectorIndex) -> None:
    flat = VectorIndex(WIDTH, "flat")
    flat.add(np.arange(COUNT), VECTORS)
    for query in QUERIES:
        rows, scores = graph.search(query, 20)
        np.testing.assert_array_equal(scores, flat.cosines(query, rows))
        np.testing.assert_array_equal(scores, graph.cosines(query, rows))


def test_a_batch_answers_as_single_searches_do(graph: VectorIndex) -> None:
    for allowed in (None, bits_of(range(0, COUNT, 2), COUNT), bits_of([4, 9], COUNT)):
        batch = graph.search_many(QUERIES, 10, allowed, threads=2)
        for query, (rows, scores) in zip(QUERIES, batch, strict=True):
            want = graph.search(query, 10, allowed)
            np.testing.assert_array_equal(rows, want.rows)
            np.testing.assert_array_equal(scores, want.scores)


def test_vectors_come_back_from_the_graph(graph: VectorIndex) -> None:
    rows = [5_999, 0, 17, 6_000]
    want = np.concatenate((VECTORS[[5_999, 0, 17]], np.zeros((1, WIDTH), np.float32)))
    np.testing.assert_array_equal(graph.reconstruct(rows), want)


def test_fresh_replaced_and_removed_rows_beside_a_graph() -> None:
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(3_000), VECTORS[:3_000])
    assert index.settle(120)
    assert index.has_graph
    held = dict(enumerate(VECTORS[:3_000]))
    index.add(np.arange(2_990, 3_100), VECTORS[3_000:3_110])
    held.update(zip(range(2_990, 3_100), VECTORS[3_000:3_110], strict=True))
    index.remove(np.arange(0, 3_000, 7))
    held = {row: v for row, v in held.items() if not (row < 3_000 and row % 7 == 0)}
    assert len(index) == len(held)
    for query in QUERIES[:10]:
        want = plain_cosines(held, query)
        assert_is_top(*index.search(query, 10), want, 10, exact=False)
        assert_is_top(*index.search(query, 3_100), want, 3_100)  # so many: exact
        few = [row for row in held if row % 50 == 3]
        seen = {row: want[row] for row in few}
        assert_is_top(*index.search(query, 30, bits_of(few, 3_100)), seen, 30)
    index.close()


def test_upkeep_takes_fresh_vectors_in_and_drops_dead_ones() -> None:
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(2_000), VECTORS[:2_000])
    assert index.settle(120)
    index.add(np.arange(2_000, 4_500), VECTORS[2_000:4_500])  # extends
    assert index.settle(120)
    before = index.resident_bytes
    index.remove(np.arange(500, 2_500))  # rebuilds
    assert index.settle(120)
    assert index.resident_bytes < 0.8 * before
    held = {row: VECTORS[row] for row in (*range(500), *range(2_500, 4_500))}
    for query in QUERIES[:10]:
        want = plain_cosines(held, query)
        assert_is_top(*index.search(query, len(held)), want, len(held))
        rows, _ = index.search(query, 10)
        best = sorted(want, key=lambda row: -want[row])[:10]
        assert len(np.intersect1d(rows, best)) >= 8
    index.remove(np.arange(0, 4_500 - 100))  # too few for a graph
    assert index.settle(120)
    assert not index.has_graph
    assert index.search(VECTORS[4_499], 1).rows.tolist() == [4_499]
    index.close()


def test_a_flat_index_gives_dead_vectors_back() -> None:
    index = VectorIndex(WIDTH, "flat")
    index.add(np.arange(4_000), VECTORS[:4_000])
    for row in range(0, 4_000, 100):  # each replaced many times over
        index.add(np.arange(row, row + 100), VECTORS[row : row + 100][::-1])
    assert index.settle(60)
    assert index.resident_bytes < 1.5 * 4_000 * WIDTH * 4
    assert index.search(VECTORS[99], 1).rows.tolist() == [0]
    index.close()


def test_changes_during_a_build_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    index = VectorIndex(WIDTH, "hnsw")
    calls = 0
    grown = hnsw.Graph.grown.__func__  # type: ignore[attr-defined]

    def slow(cls: type, *arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:  # while the first build is under way
            index.add([3, 5_000], VECTORS[[100, 5_000]])
            index.remove([4, 5])
            assert index.search(VECTORS[100], 2).rows.tolist() == [3, 100]
        return grown(cls, *arguments, **options)

    monkeypatch.setattr(hnsw.Graph, "grown", classmethod(slow))
    index.add(np.arange(1_000), VECTORS[:1_000])
    assert index.settle(120)
    assert index.has_graph
    assert len(index) == 999
    assert index.search(VECTORS[100], 2).rows.tolist() == [3, 100]
    assert index.search(VECTORS[5_000], 1).rows.tolist() == [5_000]
    assert not {4, 5} & set(index.search(VECTORS[4], 999).rows.tolist())
    index.close()


def test_rows_written_as_a_build_begins_wait_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = VectorIndex(WIDTH, "hnsw")
    needs, calls = index_module.needs_full_precision, 0

    def slow(*arguments: object) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            index.add(np.arange(1_000, 1_400), VECTORS[1_000:1_400])
        return needs(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "needs_full_precision", slow)
    index.add(np.arange(1_000), VECTORS[:1_000])
    assert index.settle(120)
    now = index.lasting
    assert now is not None
    assert (now.sealed_count, now.dead_count, now.fresh_count) == (1_000, 0, 400)
    index.close()


@pytest.mark.parametrize("change", ["replaced", "removed"])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_build_whose_vectors_all_change_meanwhile_ends_well(
    monkeypatch: pytest.MonkeyPatch, change: str, is_late: bool
) -> None:
    index = VectorIndex(WIDTH, "hnsw")
    build, calls = index_module.build, 0
    every = np.arange(600)

    def beside_changes(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        early = build(*arguments) if is_late else None  # type: ignore[arg-type]
        if calls == 1 and change == "replaced":
            index.add(every, VECTORS[1_000:1_600])
        elif calls == 1:
            index.remove(every)
        return early if is_late else build(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "build", beside_changes)
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    index.add(every, VECTORS[:600])
    assert index.settle(120)
    assert not failures
    assert index.has_graph == (change == "replaced")
    assert len(index.search(VECTORS[1_007], 700).rows) == len(index)
    index.add(every, VECTORS[:600])
    assert index.settle(120)
    assert not failures
    assert index.search(VECTORS[7], 1).rows.tolist() == [7]
    index.close()


def test_close_stops_a_long_build() -> None:
    index = VectorIndex(256, "hnsw")
    index.add(np.arange(20_000), clustered(20_000, 256, 1))
    index.close()  # would be tens of seconds if it waited for the whole
    assert not index.has_graph
    assert len(index.search(np.ones(256), 5).rows) == 5


def test_a_failed_build_leaves_exact_search(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        msg = "no room"
        raise MemoryError(msg)

    monkeypatch.setattr(hnsw.Graph, "grown", fail)
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(1_000), VECTORS[:1_000])
    assert index.settle(60)
    assert "no room" in caplog.text
    assert not index.has_graph
    want = plain_cosines(dict(enumerate(VECTORS[:1_000])), QUERIES[0])
    assert_is_top(*index.search(QUERIES[0], 10), want, 10)
    index.add([1_000], VECTORS[1_000:1_001])
    assert index.search(VECTORS[1_000], 1).rows.tolist() == [1_000]


@pytest.mark.parametrize("nonsense", [-1, COUNT, 2**40, -(2**40)])
def test_what_faiss_returns_is_checked(
    graph: VectorIndex, monkeypatch: pytest.MonkeyPatch, nonsense: int
) -> None:
    nearest = hnsw.Graph.nearest

    def careless(
        self: hnsw.Graph,
        queries: np.ndarray,
        k: int,
        breadth: int,
        threads: int = 1,
    ) -> np.ndarray:
        nodes = nearest(self, queries, k, breadth, threads)
        nodes[:, :wrong] = nonsense
        return nodes

    monkeypatch.setattr(hnsw.Graph, "nearest", careless)
    every, even = np.arange(COUNT), np.arange(0, COUNT, 2)
    wrong = 11  # too few of twenty are left
    assert recall(graph, 10, None, every) == 1.0  # by the exact way
    wrong = 1
    assert recall(graph, 10, None, every) >= 0.85  # only the first is missing
    assert recall(graph, 10, bits_of(even, COUNT), even) >= 0.85  # only the first is missing
    for rows, _ in graph.search_many(QUERIES, 10, bits_of(even, COUNT)):
        assert len(rows) == 10
        assert (rows % 2 == 0).all()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("k", [10, 100])
def test_a_filter_that_leaves_the_querys_neighbourhood_out(share: float, k: int) -> None:
    # As a scope does when the question is about another project.
    rng = np.random.default_rng(4)
    centres = rng.standard_normal((60, WIDTH))
    label = rng.integers(0, 60, 20_000)
    vectors = unit(centres[label] + 0.6 * rng.standard_normal((20_000, WIDTH)))
    index = shared_index(vectors)
    found = 0
    for centre in range(20):
        query = centres[centre] + 0.6 * rng.standard_normal(WIDTH)
        others = rng.permutation(np.delete(np.arange(60), centre))[: int(60 * share)]
        rows = np.flatnonzero(np.isin(label, others))
        got, _ = index.search(query, k, bits_of(rows, 20_000))
        assert len(got) == k
        found += len(np.intersect1d(got, rows[np.argsort(-(vectors[rows] @ query))[:k]]))
    assert found / (20 * k) >= 0.95


@functools.cache
def _cached(key: bytes) -> VectorIndex:
    index = VectorIndex(WIDTH, "hnsw")
    vectors = np.frombuffer(key, np.float32).reshape(-1, WIDTH)
    index.add(np.arange(len(vectors)), vectors)
    assert index.settle(300)
    assert index.has_graph
    return index


def shared_index(vectors: np.ndarray) -> VectorIndex:
    return _cached(vectors.tobytes())


@pytest.mark.parametrize("repeats", [100, 2_000])
def test_repeated_vectors_hide_no_other(repeats: int) -> None:
    vectors = VECTORS.copy()
    rows = np.random.default_rng(5).permutation(COUNT)[:repeats]
    vectors[rows] = vectors[rows[0]]
    index = VectorIndex(WIDTH, "hnsw")
    index.add(np.arange(0, 4_000), vectors[:4_000])
    assert index.settle(120)
    index.add(np.arange(4_000, COUNT), vectors[4_000:])  # twins of the graph's own
    assert index.settle(120)
    assert all(index.search(vector, 1).scores[0] > 0.9999 for vector in vectors[::3])
    smallest = np.sort(rows)
    for k in (1, 50, repeats, repeats + 1):
        got, scores = index.search(vectors[rows[0]], k)
        np.testing.assert_array_equal(got[:repeats], smallest[:k])
        assert (scores[:repeats] > 0.9999).all()
    odd = smallest[smallest % 2 == 1]
    got, _ = index.search(vectors[rows[0]], len(odd), bits_of(range(1, COUNT, 2), COUNT))
    np.testing.assert_array_equal(got, odd)
    queries = np.concatenate((QUERIES, vectors[rows[:1]]))
    for query, batch in zip(queries, index.search_many(queries, 20), strict=True):
        np.testing.assert_array_equal(batch.rows, index.search(query, 20).rows)
    index.remove(smallest[:30])  # the head among them
    assert index.search(vectors[rows[0]], 3).rows.tolist() == smallest[30:33].tolist()
    np.testing.assert_array_equal(
        index.reconstruct(np.arange(4_000, COUNT)),
        vectors[4_000:] * (~np.isin(np.arange(4_000, COUNT), smallest[:30]))[:, None],
    )
    index.close()


def _parts(vectors: np.ndarray) -> list[np.ndarray]:
    return [vectors[start : start + hnsw.SLICE] for start in range(0, len(vectors), hnsw.SLICE)]


def _grown(vectors: np.ndarray, former: hnsw.Graph | None = None) -> hnsw.Graph:
    graph = hnsw.Graph.grown(former, WIDTH, _parts(vectors), lambda: False)
    assert graph is not None
    return graph


def _nodes_of(graph: hnsw.Graph) -> np.ndarray:
    """The graph's vectors, rounded to 16 bits."""
    return graph.rounded(np.arange(len(graph)))


def _rounded(vectors: np.ndarray) -> np.ndarray:
    return _nodes_of(_grown(vectors))


def test_laying_a_graph_out_moves_its_nodes_and_changes_no_walk() -> None:
    graph = _grown(VECTORS[:3_000])
    before = [set(graph.nearest(query[None], 20, 50)[0].tolist()) for query in QUERIES]
    laid_out, nodes = graph.laid_out()
    assert sorted(nodes.tolist()) == list(range(3_000))
    assert nodes.tolist() != list(range(3_000))
    np.testing.assert_array_equal(_nodes_of(laid_out), _rounded(VECTORS[nodes]))
    for query, want in zip(QUERIES, before, strict=True):
        (found,) = laid_out.nearest(query[None], 20, 50)
        assert set(nodes[found].tolist()) == want


def test_a_graph_is_laid_out_each_time_it_has_doubled() -> None:
    graph, first = _grown(VECTORS[:1_000]).laid_out()
    more = _grown(VECTORS[1_000:1_999], graph)
    same, nodes = more.laid_out()
    assert same is more
    np.testing.assert_array_equal(nodes, np.arange(1_999))
    np.testing.assert_array_equal(_nodes_of(more)[:1_000], _rounded(VECTORS[first]))
    twice = _grown(VECTORS[1_999:2_000], more)
    before = _nodes_of(twice)
    again, nodes = twice.laid_out()
    assert again is not twice
    np.testing.assert_array_equal(_nodes_of(again), before[nodes])


def _distance_of_linked(graph: hnsw.Graph) -> float:
    """The median number of nodes between a node and one that it is linked to."""
    links = graph.links()
    starts = np.cumsum((links.levels.astype(int) + 1) * 16) - (links.levels.astype(int) + 1) * 16
    linked = links.neighbours[starts[:, None] + np.arange(32)]
    distances = np.abs(linked - np.arange(len(starts))[:, None])
    return float(np.median(distances[linked >= 0]))


def test_linked_nodes_lie_near_each_other() -> None:
    shuffled = np.random.default_rng(5).permutation(COUNT)  # no neighbours by chance
    graph = _grown(VECTORS[shuffled])
    before = _distance_of_linked(graph)
    assert _distance_of_linked(graph.laid_out()[0]) < 0.6 * before


@pytest.mark.parametrize("width", [WIDTH, 20, 33])
@pytest.mark.parametrize("is_rounded", [True, False])
def test_the_links_are_those_of_the_vectors_that_the_graph_has(
    width: int, is_rounded: bool
) -> None:
    vectors = np.ascontiguousarray(np.random.default_rng(8).standard_normal((700, width)), "f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = hnsw.Graph.grown(None, width, _parts(vectors), lambda: False, is_rounded=is_rounded)
    assert graph is not None
    held = graph.rounded(np.arange(700))
    np.testing.assert_allclose(held, vectors, rtol=2**-10 if is_rounded else 0, atol=1e-7)
    want = _core.grown_hnsw_links(
        levels=np.empty(0, np.uint8),
        neighbours=np.empty(0, np.int32),
        entry=-1,
        vectors=np.pad(held, ((0, 0), (0, -width % 32))),
        breadth=hnsw.EF_BUILD,
        is_stopped=lambda: False,
    )
    assert want is not None
    np.testing.assert_array_equal(graph.links().neighbours, want[1])


def test_the_core_links_what_it_can_read_alone() -> None:
    vectors = np.zeros((10, 32), np.float32)
    nothing = {
        "levels": np.empty(0, np.uint8),
        "neighbours": np.empty(0, np.int32),
        "entry": -1,
        "vectors": vectors,
        "breadth": 10,
        "is_stopped": lambda: False,
    }
    assert _core.grown_hnsw_links(**nothing) is not None
    assert _core.grown_hnsw_links(**nothing | {"is_stopped": lambda: True}) is None
    faults: list[tuple[str, Any, str]] = [
        ("breadth", 0, "breadth: must be >= 1, got 0"),
        ("entry", 0, "graph: walks begin outside"),
        ("levels", np.ones(11, np.uint8), "graph: another number of links"),
        ("vectors", vectors[:, :31].copy(), "vectors: expected a multiple of 32 components"),
        ("vectors", vectors[:, :0].copy(), "vectors: expected a multiple of 32 components"),
        ("vectors", vectors[:, ::2], "vectors: must be contiguous"),
        ("vectors", vectors[0], "vectors: expected shape"),
    ]
    for name, value, message in faults:
        with pytest.raises(ValueError, match=message):
            _core.grown_hnsw_links(**nothing | {name: value})
    with pytest.raises(TypeError, match="vectors: expected float32, got float64"):
        _core.grown_hnsw_links(**nothing | {"vectors": vectors.astype(float)})
    with pytest.raises(ZeroDivisionError):  # what the callable raises
        _core.grown_hnsw_links(**nothing | {"is_stopped": lambda: 1 / 0})


def test_a_growing_that_was_cut_off_leaves_nothing_behind() -> None:
    graph = _grown(VECTORS[:1_000])
    looks = iter([False, False, True])
    stopped = hnsw.Graph.grown(graph, WIDTH, _parts(VECTORS[1_000:3_000]), lambda: next(looks))
    assert stopped is None
    more = _grown(VECTORS[3_000:3_100], graph)
    whole = VECTORS[[*range(1_000), *range(3_000, 3_100)]]
    np.testing.assert_array_equal(_nodes_of(more), _rounded(whole))
    np.testing.assert_array_equal(_nodes_of(graph), _rounded(VECTORS[:1_000]))


def test_twins_follow_their_heads_through_growing_and_laying_out() -> None:
    random = np.random.default_rng(6)
    index = VectorIndex(WIDTH, "hnsw")
    held = {}
    for start in range(0, 5_000, 1_250):  # laid out at 1,250 and 2,500
        rows = np.arange(start, start + 1_250)
        vectors = VECTORS[random.integers(0, 600, len(rows))]  # each some twice a step
        index.add(rows, vectors)
        assert index.settle(120)
        held.update(zip(rows.tolist(), vectors, strict=True))
    for query in QUERIES:
        assert_is_top(*index.search(query, 25), plain_cosines(held, query), 25, exact=False)
    np.testing.assert_array_equal(
        index.reconstruct(np.arange(5_000)), np.stack([held[row] for row in range(5_000)])
    )
    index.close()
