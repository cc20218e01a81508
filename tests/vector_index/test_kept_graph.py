"""A graph that is kept without its vectors, and comes back with them."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from oneiros import _core
from oneiros.vector_index import hnsw_snapshot, snapshot
from oneiros.vector_index import index as vector_index
from oneiros.vector_index.hnsw import library
from oneiros.vector_index.hnsw_snapshot import KeptGraph
from oneiros.vector_index.index import SCANS_WITHOUT_GRAPH, VectorIndex
from oneiros.vector_index.sealed import hashes_of
from tests.vector_index.vectors import assert_is_top, bits_of, clustered, plain_cosines

COUNT, WIDTH = 2_000, 16
VECTORS = clustered(COUNT + 600, WIDTH, 0)
QUERIES = clustered(25, WIDTH, 1)
FILTERS = [None, *(bits_of(range(0, COUNT + 600, step), COUNT + 600) for step in (2, 7, 90))]
Held = dict[int, np.ndarray]


@pytest.fixture(autouse=True)
def _walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through the graph, though looking at so few vectors one by one would be faster."""
    monkeypatch.setattr(snapshot, "SCANNED_PER_CANDIDATE", 0.05)


@pytest.fixture
def _narrowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk so narrowly that any other graph, or breadth, finds something else."""
    monkeypatch.setattr(snapshot, "LEAST_BREADTH", 1)


def lived(*, dead: bool = True) -> tuple[VectorIndex, Held]:
    """An index with twins, rows out of order and fresh vectors, and, if asked for, dead ones."""
    index = VectorIndex(WIDTH, "hnsw")
    held = dict(enumerate(VECTORS[:COUNT]))
    held.update((row, VECTORS[5]) for row in range(100, 160))
    held.update((row, VECTORS[row // 2]) for row in range(1_000, 1_040))
    index.add(list(held), np.stack(list(held.values())))
    assert index.settle(60)
    changes = dict(zip(range(COUNT, COUNT + 300), VECTORS[COUNT:], strict=False))
    if dead:
        changes |= dict(zip(range(0, 600, 3), VECTORS[COUNT + 300 :], strict=False))
    index.add(list(changes), np.stack(list(changes.values())))
    held |= changes
    if dead:
        index.remove(range(5, 300, 4))  # of twins some, and the head of them
        held = {row: held[row] for row in held if row not in range(5, 300, 4)}
    return index, held


def kept_of(index: VectorIndex) -> KeptGraph:
    assert index.lasting is not None
    return KeptGraph.of(index.lasting)


def over(kept: KeptGraph, held: Held, *, is_trusted: bool = False) -> VectorIndex:
    """An index over the vectors that there were when a graph was kept, which waits to be read."""
    kept.require_sense(COUNT + 600)
    column = _core.VectorColumn(dimension=WIDTH)
    column.write(rows=np.array(list(held), np.uint32), vectors=np.stack(list(held.values())))
    return VectorIndex.over(column, "hnsw", lambda: kept, is_trusted=is_trusted)


def back(kept: KeptGraph, held: Held, *, is_trusted: bool = False) -> VectorIndex:
    """The index when its graph has been read."""
    index = over(kept, held, is_trusted=is_trusted)
    assert not index.has_graph
    assert index.settle(60)
    assert len(index) == len(held)
    return index


def came_back(index: VectorIndex) -> bool:
    """Whether it is the graph that was kept, and not another one that was built."""
    return index._kept is not None


def answers(index: VectorIndex) -> list[tuple[bytes, bytes]]:
    found = [index.search(q, k, f) for q in QUERIES for k in (1, 10, 120) for f in FILTERS]
    found += index.search_many(QUERIES, 10) + index.search_many(QUERIES, 10, FILTERS[1])
    return [(rows.tobytes(), scores.tobytes()) for rows, scores in found]


def recall(index: VectorIndex, held: Held) -> float:
    rows, matrix = np.array(list(held)), np.stack(list(held.values()))
    order = np.argsort(-(QUERIES @ matrix.T), axis=1, kind="stable")[:, :10]
    found = [
        np.isin(rows[o], index.search(q, 10).rows) for q, o in zip(QUERIES, order, strict=True)
    ]
    return float(np.mean(found))


@pytest.mark.usefixtures("_narrowly")
@pytest.mark.parametrize("dead", [False, True])
def test_what_comes_back_answers_with_the_same_bits(dead: bool) -> None:
    index, held = lived(dead=dead)
    kept = kept_of(index)
    assert len(kept.heads) > 50
    assert (len(kept.dead_vectors) > 100) == dead
    again = back(kept, held)
    assert came_back(again)
    assert again.settle(0)  # nothing is built
    assert answers(again) == answers(index)
    rows = list(held)
    np.testing.assert_array_equal(again.reconstruct(rows), index.reconstruct(rows))
    once_more = back(kept_of(again), held, is_trusted=True)
    assert came_back(once_more)
    assert answers(once_more) == answers(index)


def test_answers_are_exact_until_the_graph_is_read_from_the_second_query_on() -> None:
    index, held = lived()
    again = over(kept_of(index), held)
    for query in QUERIES[:SCANS_WITHOUT_GRAPH]:
        assert again._worker is None
        assert not again.has_graph
        assert_is_top(*again.search(query, 10), plain_cosines(held, query), 10)
    assert again.settle(60)
    assert came_back(again)
    assert answers(again) == answers(index)


def test_a_graph_that_was_not_kept_is_built_from_the_second_query_on() -> None:
    _, held = lived()
    column = _core.VectorColumn(dimension=WIDTH)
    column.write(rows=np.array(list(held), np.uint32), vectors=np.array(list(held.values())))
    index = VectorIndex.over(column, "hnsw", None, is_trusted=True)
    for query in QUERIES[:SCANS_WITHOUT_GRAPH]:
        assert index._worker is None
        assert_is_top(*index.search(query, 10), plain_cosines(held, query), 10)
    assert index.settle(60)
    assert index.has_graph


def test_few_stored_vectors_wait_for_no_graph() -> None:
    column = _core.VectorColumn(dimension=WIDTH)
    column.write(rows=np.arange(9, dtype=np.uint32), vectors=QUERIES[:9])
    index = VectorIndex.over(column, "hnsw", None, is_trusted=True)
    for query in QUERIES[:SCANS_WITHOUT_GRAPH]:
        index.search(query, 3)
    assert index._worker is None
    index.add(np.arange(9, 1_009, dtype=np.uint32), np.tile(QUERIES[:10], (100, 1)))
    assert index.settle(60)
    assert index.has_graph


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_child_reads_the_graph_that_its_parent_was_reading() -> None:
    index, held = lived()
    kept, is_forked = kept_of(index), threading.Event()

    def read() -> KeptGraph:
        assert is_forked.wait(60)
        return kept

    again = over(kept, held)
    again._read_graph = read
    for query in QUERIES[:SCANS_WITHOUT_GRAPH]:
        again.search(query, 10)
    child = os.fork()
    if not child:  # only the thread that forked is here
        is_forked.set()
        again.search(QUERIES[0], 10)
        deadline = time.monotonic() + 30
        while not again.has_graph and time.monotonic() < deadline:
            time.sleep(0.01)
        os._exit(0 if again.has_graph else 1)
    is_forked.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert again.settle(60)
    assert came_back(again)


def test_a_filter_that_leaves_few_asks_for_no_graph() -> None:
    index, held = lived()
    again = over(kept_of(index), held)
    for query in QUERIES:
        again.search(query, 10, FILTERS[1])
    assert again._worker is None
    assert not again.has_graph


@pytest.mark.usefixtures("_narrowly")
def test_bits_of_the_living_come_back_where_all_live() -> None:
    """Breadths depend on whether anything is left out: fresh ones that died are nothing to a graph."""
    index, held = lived(dead=False)
    index.remove([COUNT + 10])
    del held[COUNT + 10]
    again = back(kept_of(index), held)
    assert answers(again) == answers(index)


@pytest.mark.usefixtures("_narrowly")
def test_what_changes_before_the_graph_is_read_is_walked_over_as_it_was() -> None:
    index, held = lived()
    again = over(kept_of(index), held)
    for changed_index in (index, again):
        changed_index.remove(range(1_100, 1_500))
        changed_index.add(range(1_150, 1_200), -VECTORS[1_150:1_200])
        changed_index.add(range(1_180, 1_230), VECTORS[COUNT + 550 : COUNT + 600])
        changed_index.add(range(30, 40), -VECTORS[30:40])
    assert not again.has_graph
    assert again.settle(60)
    assert came_back(again)
    assert answers(again) == answers(index)
    left = kept_of(again)
    left.require_sense(COUNT + 600)
    nodes = np.flatnonzero(left.are_live()[: len(left.hashes)])
    vectors = again.reconstruct(left.rows[nodes])
    np.testing.assert_array_equal(left.hashes[nodes], hashes_of(vectors))


def test_a_graph_whose_vectors_all_changed_before_it_is_read_is_left() -> None:
    index, held = lived()
    kept = kept_of(index)
    column = _core.VectorColumn(dimension=WIDTH)
    rows = np.array(list(held), np.uint32)
    column.write(rows=rows, vectors=np.stack(list(held.values())))
    again = VectorIndex.over(column, "hnsw", lambda: kept, is_trusted=True, recall=0.9)
    again.remove(rows)
    assert again.settle(60)
    assert again._read_graph is None  # it is not tried again
    assert not again.has_graph
    assert len(again.search(QUERIES[0], 10).rows) == 0


def test_a_graph_is_read_before_it_is_kept_again() -> None:
    index, held = lived()
    again = over(kept_of(index), held)
    assert not again.has_new_graph
    assert again.lasting is not None
    assert came_back(again)
    assert not again.has_new_graph


def test_a_graph_that_waits_is_kept_as_it_is_if_no_vector_changed() -> None:
    index, held = lived()
    kept = kept_of(index)
    for is_trusted in (True, False):
        again = over(kept, held, is_trusted=is_trusted)
        assert (again.kept()[0] is kept) == is_trusted
        assert again.has_graph != is_trusted
    again = over(kept, held, is_trusted=True)
    again.remove([700])
    left, _ = again.kept()
    assert left is not None
    assert left.are_live().sum() == kept.are_live().sum() - 1


def test_many_changes_ask_for_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    index, held = lived()
    again = over(kept_of(index), held)
    monkeypatch.setattr(vector_index, "FEWEST_FRESH", 20)
    again.add(range(10), VECTORS[:10])
    assert again._worker is None
    again.add(range(10), VECTORS[:10])
    assert again.settle(60)
    assert came_back(again)


@pytest.mark.parametrize("row", [40, 130], ids=["head", "twin"])
def test_a_graph_of_other_vectors_is_not_used(row: int) -> None:
    index, held = lived(dead=False)
    held[row] = VECTORS[COUNT + 500]
    again = back(kept_of(index), held)
    assert again.has_graph
    assert not came_back(again)
    for query in (VECTORS[COUNT + 500], VECTORS[5]):
        assert_is_top(*again.search(query, len(again)), plain_cosines(held, query), len(again))


def test_a_graph_that_is_about_to_be_made_anew_does_not_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, _ = lived(dead=False)
    index.remove(range(900))
    assert index.lasting is not None
    monkeypatch.setattr(vector_index, "FEWEST_DEAD", 800)
    assert index.has_graph
    assert index.lasting is None
    assert VectorIndex(WIDTH).lasting is None


def test_a_twin_is_compared_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes can be forged: a twin whose vector has the hash of its head is no twin."""
    index, held = lived(dead=False)
    kept, forged = kept_of(index), VECTORS[COUNT + 500]
    honest = hnsw_snapshot.hashes_of

    def forgeable(vectors: np.ndarray) -> np.ndarray:
        found = honest(vectors)
        found[(vectors == forged).all(axis=1)] = kept.hashes[kept.heads[0]]
        return found

    monkeypatch.setattr(hnsw_snapshot, "hashes_of", forgeable)
    held[int(kept.rows[len(kept.hashes)])] = forged
    again = back(kept, held)
    assert not came_back(again)
    for query in (forged, VECTORS[5]):
        assert_is_top(*again.search(query, len(again)), plain_cosines(held, query), len(again))


def test_a_graph_that_came_back_grows_as_one_that_never_went() -> None:
    index, held = lived()
    again = back(kept_of(index), held)
    more = clustered(1_600, WIDTH, 7)
    for grown in (index, again):
        for start in range(0, 1_600, 800):
            grown.add(np.arange(start, start + 800) + 3_000, more[start : start + 800])
            assert grown.settle(60)
        assert grown.lasting is not None
        assert grown.lasting.sealed_count > 3_000
    held |= {row + 3_000: vector for row, vector in enumerate(more)}
    assert recall(again, held) > recall(index, held) - 0.02
    faiss, graph = library(), again.lasting.sealed.graph  # type: ignore[union-attr]
    levels = faiss.vector_to_array(graph._index.hnsw.levels)
    assert (np.bincount(levels)[1:4] > 0).all()
    for query in QUERIES[:2]:
        want = plain_cosines(held, query)
        assert_is_top(*again.search(query, 10), want, 10, exact=False)
        assert_is_top(*again.search(query, len(held)), want, len(held))


def test_each_growth_after_a_return_draws_levels_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, held = lived(dead=False)
    monkeypatch.setattr(vector_index, "FEWEST_FRESH", 250)  # what comes back grows at once
    drawn = []
    for start in (3_000, 3_300):
        kept = kept_of(index)
        again = back(kept, held)
        assert again.settle(60)
        drawn.append(kept_of(again).links.levels[len(kept.links.levels) :][:250].tolist())
        assert len(drawn[-1]) == 250
        more = clustered(300, WIDTH, start)
        index, held = again, held | dict(zip(range(start, start + 300), more, strict=True))
    assert drawn[0] != drawn[1]


def changed(kept: KeptGraph, name: str, values: Any) -> KeptGraph:
    if name in {"levels", "neighbours", "entry"}:
        return dataclasses.replace(kept, links=dataclasses.replace(kept.links, **{name: values}))
    return dataclasses.replace(kept, **{name: values})


def with_value(array: np.ndarray, at: int, value: int) -> np.ndarray:
    array = array.copy()
    array[at] = value
    return array


def test_what_makes_no_sense_is_refused() -> None:
    kept = kept_of(lived()[0])
    links, node_count = kept.links, len(kept.hashes)
    top = int(np.argmax(links.levels))
    low = int(np.argmin(links.levels))
    starts = np.concatenate(([0], np.cumsum((links.levels.astype(int) + 1) * 16)))
    upper = starts[top] + 32
    live = np.flatnonzero(kept.are_live())
    faults: list[tuple[str, Any]] = [
        ("entry", low),
        ("entry", node_count),
        ("entry", -1),
        ("levels", with_value(links.levels, low, 0)),
        ("levels", with_value(links.levels, low, 200)),
        ("levels", with_value(links.levels, low, links.levels[top] + 1)),
        ("levels", links.levels[:-1]),
        ("levels", links.levels[:0]),
        ("neighbours", with_value(links.neighbours, 5, node_count)),
        ("neighbours", with_value(links.neighbours, 5, -2)),
        ("neighbours", with_value(links.neighbours, upper, low)),
        ("neighbours", with_value(links.neighbours, 3, -1)),
        ("neighbours", links.neighbours[:-1]),
        ("neighbours", np.append(links.neighbours, np.int32(0))),
        ("heads", with_value(kept.heads, -1, node_count)),
        ("heads", kept.heads[::-1]),
        ("heads", kept.heads[8:]),
        ("rows", with_value(kept.rows, 0, COUNT + 600)),
        ("rows", with_value(kept.rows, live[0], kept.rows[live[1]])),
        ("rows", kept.rows[8:]),
        ("live", kept.live[1:]),  # type: ignore[index]
        ("live", np.zeros_like(kept.live)),
        ("hashes", kept.hashes[1:]),
        ("dead_vectors", kept.dead_vectors[1:]),
        ("dead_vectors", with_value(kept.dead_vectors, 0, np.nan)),  # type: ignore[arg-type]
        ("dimension", WIDTH + 1),
    ]
    kept.require_sense(COUNT + 600)
    for name, values in faults:
        with pytest.raises(ValueError, match="graph"):
            changed(kept, name, values).require_sense(COUNT + 600)


def damaged(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The array with some bits flipped, or values of its own in other places."""
    array = array.copy()
    values, bits = array.reshape(-1), array.reshape(-1).view(np.uint8)
    for _ in range(rng.integers(1, 30)):
        if rng.random() < 0.3:
            bits[rng.integers(len(bits))] ^= np.uint8(1 << rng.integers(8))
        else:
            values[rng.integers(len(values))] = values[rng.integers(len(values))]
    return array


def test_whatever_the_arrays_are_they_are_refused_or_answer_truly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, held = lived()
    kept, rng = kept_of(index), np.random.default_rng(3)
    monkeypatch.setattr(vector_index, "FEWEST_FRESH", 400)  # what comes back grows at once
    arrays = {name: getattr(kept.links, name) for name in ("levels", "neighbours")}
    names = ("heads", "rows", "live", "hashes", "dead_vectors")
    arrays |= {name: getattr(kept, name) for name in names}
    back_count = 0
    for _ in range(60):
        name = rng.choice(list(arrays))
        changed_kept = changed(kept, name, damaged(arrays[name], rng))
        try:
            changed_kept.require_sense(COUNT + 600)
        except ValueError:
            continue
        again = back(changed_kept, held)
        back_count += came_back(again)
        for is_grown in (False, True):
            assert not is_grown or again.settle(60)
            for query in QUERIES[:2]:
                want = plain_cosines(held, query)
                for allowed in FILTERS:
                    rows, scores = again.search(query, 10, allowed)
                    assert len(set(rows.tolist())) == 10
                    np.testing.assert_allclose(scores, [want[r] for r in rows.tolist()], atol=2e-6)
    assert back_count >= 10  # FAISS 1.10: 10
