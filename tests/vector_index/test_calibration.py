"""The breadth of walks: measured on the graph's own vectors, so that they find what they should."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from oneiros import _core
from oneiros.index.stored_vectors import graph_of, graph_part
from oneiros.vector_index import calibration as calibrating
from oneiros.vector_index import snapshot
from oneiros.vector_index.calibration import Calibration, MeasuredDepth, needs_full_precision
from oneiros.vector_index.hnsw_snapshot import KeptGraph
from oneiros.vector_index.index import VectorIndex
from tests.collections_on_disk import folder_of
from tests.vector_index.vectors import clustered, unit

WIDTH = 64
COLLECTIONS = ("npl", "arguana", "gitlog-dev", "scifact-train", "locomo-dev", "realmem-dev")
FILE = "all-MiniLM-L6-v2.{}.f16.npy"


def uniform(count: int, width: int, seed: int) -> np.ndarray:
    """Vectors without any structure."""
    return unit(np.random.default_rng(seed).standard_normal((count, width)))


def near_duplicates(count: int, width: int, groups: int, noise: float) -> np.ndarray:
    """A tenth are texts, the others near-duplicates of the first ``groups`` of them."""
    random = np.random.default_rng(3)
    texts = clustered(count // 10, width, 4)
    sources = texts[random.integers(0, groups, count - len(texts))]
    step = noise / np.sqrt(width) * random.standard_normal(sources.shape)
    return random.permutation(np.concatenate((texts, unit(sources + step))))


def made(vectors: np.ndarray, **options: float) -> VectorIndex:
    index = VectorIndex(vectors.shape[1], "hnsw", **options)
    index.add(np.arange(len(vectors)), vectors)
    assert index.settle(300)
    assert index.has_graph
    return index


def shares(index: VectorIndex, queries: np.ndarray, k: int) -> np.ndarray:
    """The share of the exact nearest that searches find, of each query."""
    found = []
    for query in queries:
        exact = index.column.nearest(query=query, k=k)[1]
        found.append(np.count_nonzero(index.search(query, k).scores >= exact[-1]) / len(exact))
    return np.minimum(found, 1.0)


def measured(index: VectorIndex) -> Calibration:
    lasting = index.lasting
    assert lasting is not None
    assert lasting.sealed is not None
    assert lasting.sealed.calibration is not None
    return lasting.sealed.calibration


@pytest.fixture
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks cost next to nothing, so that the widest are worthwhile."""
    monkeypatch.setattr(snapshot, "SCANNED_PER_CANDIDATE", 1)


@pytest.mark.usefixtures("_cheap")
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_walks_find_what_they_should_in_texts(collection: str) -> None:
    folder = folder_of(collection)
    vectors = unit(np.load(folder / FILE.format("corpus")))
    queries = unit(np.load(folder / FILE.format("queries"))[:200])
    index = made(vectors)
    for k in (10, 100):
        assert measured(index).of(k).factor >= 1, "the graph is walked"
        assert shares(index, queries, k).mean() >= 0.98
    index.close()


@pytest.mark.usefixtures("_cheap")
def test_a_component_in_common_changes_nothing() -> None:
    """The vectors of many models have one: a cosine c becomes (c + h²) / (1 + h²)."""
    plain, queries = np.split(clustered(6_200, WIDTH, 2), [6_000])
    depths = []
    for height in (0.0, 4.0):
        lifted = unit(np.hstack([plain, np.full((len(plain), 1), height)]))
        asked = unit(np.hstack([queries, np.full((len(queries), 1), height)]))
        index = made(lifted)
        depths.append([(depth.k, depth.factor) for depth in measured(index).depths])
        for k in (10, 100):
            assert measured(index).of(k).factor >= 1, "the graph is walked"
            assert shares(index, asked, k).mean() >= 0.98
        index.close()
    assert depths[0] == depths[1]


REGIMES: dict[str, Callable[[], np.ndarray]] = {
    "uniform": lambda: uniform(6_000, WIDTH, 1),
    "clustered": lambda: clustered(6_000, WIDTH, 2),
    "near-duplicates": lambda: near_duplicates(6_000, WIDTH, 600, 0.01),
    "near-duplicates of thirty texts": lambda: near_duplicates(6_000, WIDTH, 30, 0.001),
}


@pytest.mark.parametrize("costs", ["those of the machine", "next to nothing"])
@pytest.mark.parametrize("regime", REGIMES)
def test_searches_find_what_they_should_in_every_regime(
    regime: str, costs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if costs == "next to nothing":  # else all of so few are compared
        monkeypatch.setattr(snapshot, "SCANNED_PER_CANDIDATE", 1)
    vectors = REGIMES[regime]()
    index = made(vectors)
    random = np.random.default_rng(9)
    near = vectors[random.permutation(len(vectors))[:150]]
    queries = unit(near + random.standard_normal(near.shape) / np.sqrt(WIDTH))
    for k in (10, 100):
        assert shares(index, queries, k).mean() >= 0.98
        walked = index.walk(queries[0], k, None)
        assert (walked is None) == (measured(index).of(k).factor == 0 or costs != "next to nothing")
    index.close()


@pytest.mark.usefixtures("_cheap")
def test_a_higher_target_takes_wider_walks_and_finds_more() -> None:
    vectors, queries = uniform(6_000, 128, 1), uniform(100, 128, 2)
    low, high = made(vectors, recall=0.6), made(vectors, recall=0.98)
    assert measured(low).of(10).breadth < measured(high).of(10).breadth
    assert 0.6 <= shares(low, queries, 10).mean() < 0.95 <= shares(high, queries, 10).mean()
    walked = high.walk(queries[0], 10, None)
    assert walked is not None
    assert (walked.breadth, walked.recall) == (
        measured(high).of(10).breadth,
        measured(high).of(10).recall,
    )
    again = made(vectors, recall=0.98)
    assert measured(again) == measured(high)  # the same vectors, the same breadths


def test_where_walks_cost_more_than_a_scan_searches_are_exact() -> None:
    index = made(uniform(3_000, 256, 1))
    assert [depth.breadth for depth in measured(index).depths] == [0, 0]
    assert index.walk(uniform(1, 256, 2)[0], 10, None) is None
    assert shares(index, uniform(50, 256, 2), 10).min() == 1.0
    assert index.measured() == {
        "method": "hnsw",
        "target_recall": 0.98,
        "bits": 16,
        **{
            f"top_{d.k}": {"breadth": 0, "recall": round(d.recall, 3)}
            for d in measured(index).depths
        },
    }


@pytest.mark.usefixtures("_cheap")
def test_a_filter_and_vectors_that_left_widen_the_measured_breadth() -> None:
    vectors, queries = uniform(6_000, WIDTH, 1), uniform(60, WIDTH, 2)
    index = made(vectors)
    index.remove(np.arange(0, 600))
    rows = np.arange(0, 6_000, 2)
    bits = np.packbits(np.arange(6_000) % 2 == 0, bitorder="little")
    allowed = rows[rows >= 600]
    found = []
    for query in queries:
        best = allowed[np.argsort(-(vectors[allowed] @ query))[:10]]
        found.append(len(np.intersect1d(best, index.search(query, 10, bits).rows)) / 10)
    assert np.mean(found) >= 0.97


def test_bits_that_rounding_takes_from_near_duplicates_are_kept() -> None:
    column = _core.VectorColumn(dimension=WIDTH)
    for vectors, is_needed in (
        (clustered(3_000, WIDTH, 2), False),
        (near_duplicates(3_000, WIDTH, 300, 0.01), False),  # ten of each: rescoring finds them
        (near_duplicates(3_000, WIDTH, 30, 0.001), True),
    ):
        column.write(rows=np.arange(3_000, dtype=np.uint32), vectors=vectors)
        assert needs_full_precision(column, lambda: False) is is_needed


@pytest.mark.usefixtures("_cheap")
def test_a_graph_grows_out_of_rounded_vectors_and_is_measured_again() -> None:
    index = made(clustered(2_000, WIDTH, 2))
    assert index.measured()["bits"] == 16
    first = measured(index)
    assert first.count == 2_000
    near = near_duplicates(6_000, WIDTH, 30, 0.001)
    index.add(np.arange(2_000, 8_000), near)
    assert index.settle(300)
    assert index.measured()["bits"] == 32
    assert measured(index).count == 8_000
    assert shares(index, near[:100], 10).mean() >= 0.98
    index.add(np.arange(8_000, 10_000), clustered(2_000, WIDTH, 5))  # a quarter more
    assert index.settle(300)
    assert index.measured()["bits"] == 32
    assert measured(index).count == 8_000
    index.close()


@pytest.mark.usefixtures("_cheap")
@pytest.mark.parametrize("is_rounded", [True, False])
def test_a_kept_graph_is_walked_as_widely_as_before(is_rounded: bool) -> None:
    vectors = clustered(3_000, WIDTH, 2) if is_rounded else near_duplicates(3_000, WIDTH, 30, 0.001)
    index = made(vectors)
    index.remove(np.arange(0, 200, 2))  # their vectors are kept with the graph
    assert index.lasting is not None
    kept = graph_of(graph_part(KeptGraph.of(index.lasting)), 3_000)
    assert kept.calibration == measured(index)
    assert kept.is_rounded is is_rounded
    column = _core.VectorColumn(dimension=WIDTH)
    rows = index.column.rows()
    column.write(rows=rows, vectors=index.reconstruct(rows))
    back = VectorIndex.over(column, "hnsw", lambda: kept, is_trusted=False)
    assert back.settle(60)
    assert back.measured() == index.measured()
    for query in vectors[:40]:
        for k in (10, 100):
            want = index.search(query, k)
            np.testing.assert_array_equal(back.search(query, k).rows, want.rows)
            np.testing.assert_array_equal(back.search(query, k).scores, want.scores)
    other = VectorIndex.over(column, "hnsw", lambda: kept, is_trusted=False, recall=1.0)
    assert other.settle(60)
    assert measured(other).target == 1.0  # another target is measured again


@pytest.mark.parametrize(
    "broken",
    [
        Calibration(1.5, 10, (MeasuredDepth(10, 1.0, 96, 0.9), MeasuredDepth(100, 1.0, 200, 0.9))),
        Calibration(0.9, 10, (MeasuredDepth(10, 1.0, 96, 0.9),)),
        Calibration(0.9, 10, (MeasuredDepth(10, 1.0, 96, 0.9), MeasuredDepth(50, 1.0, 200, 0.9))),
        Calibration(0.9, 10, (MeasuredDepth(10, 1e9, 96, 0.9), MeasuredDepth(100, 1.0, 200, 0.9))),
        Calibration(0.9, 10, (MeasuredDepth(10, 1.0, -1, 0.9), MeasuredDepth(100, 1.0, 200, 0.9))),
        Calibration(0.9, 10, (MeasuredDepth(10, 1.0, 96, -0.1), MeasuredDepth(100, 1.0, 200, 0.9))),
    ],
)
def test_measures_out_of_range_are_refused(broken: Calibration) -> None:
    with pytest.raises(ValueError, match="graph: expected a measured breadth for each depth"):
        broken.require_sense()


def test_the_breadth_never_falls_with_the_number_of_results() -> None:
    def narrowest(k: int) -> int:
        return max(96, 2 * k)

    for wide, narrow in ((16.0, 1.0), (1.0, 16.0), (3.0, 2.0)):
        found = Calibration(
            0.98, 1, (MeasuredDepth(10, wide, 0, 1.0), MeasuredDepth(100, narrow, 0, 1.0))
        )
        breadths = [found.breadth(k, narrowest) or 0 for k in range(1, 300)]
        assert breadths == sorted(breadths)
        assert breadths[9] == wide * 96
        assert breadths[99] >= narrow * 200
    exact = Calibration(
        0.98, 1, (MeasuredDepth(10, 2.0, 192, 1.0), MeasuredDepth(100, 0.0, 0, 0.9))
    )
    assert [exact.breadth(k, narrowest) for k in (10, 11, 500)] == [192, None, None]


def test_closing_stops_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    index = VectorIndex(WIDTH, "hnsw")
    stops = []

    def stopped(*arguments: object) -> None:
        index._is_closed = True
        stops.append(calibrating.calibrated(*arguments))  # type: ignore[arg-type]

    monkeypatch.setattr("oneiros.vector_index.index.calibrated", stopped)
    index.add(np.arange(1_000), clustered(1_000, WIDTH, 2))
    assert index.settle(60)
    assert stops == [None]
    assert not index.has_graph


@pytest.mark.parametrize("recall", [0.0, -0.1, 1.01, float("nan")])
def test_a_target_outside_its_range_is_refused(recall: float) -> None:
    with pytest.raises(ValueError, match="recall: must"):
        VectorIndex(4, recall=recall)
