"""VectorIndex, exact: what it finds, in which order, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.vector_index.index import VectorIndex
from tests.vector_index.vectors import assert_is_top, bits_of, clustered, plain_cosines, unit


def test_exact_search_orders_by_cosine_then_row() -> None:
    index = VectorIndex(2)
    index.add([7, 3, 5, 4], [[1, 0], [0, 1], [1, 0], [1, 1]])
    rows, scores = index.search([2, 0], 3)
    assert rows.tolist() == [5, 7, 4]
    assert rows.dtype == np.uint32
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, [1, 1, np.sqrt(0.5)], rtol=1e-6)


@pytest.mark.parametrize("k", [1, 7, 150, 250, 600, 700])
def test_ties_at_the_end_go_to_the_smaller_row(k: int) -> None:
    index = VectorIndex(8)
    vectors = np.repeat(clustered(3, 8, 0), 200, axis=0)
    index.add(np.arange(600)[::-1], vectors)
    cosines = index.cosines(vectors[300], np.arange(600))
    want = np.lexsort((np.arange(600), -cosines))[:k]
    rows, scores = index.search(vectors[300], k)
    np.testing.assert_array_equal(rows, want)
    np.testing.assert_array_equal(scores, cosines[want])


@given(
    count=st.integers(0, 60),
    dimension=st.integers(1, 40),
    k=st.integers(0, 70),
    seed=st.integers(0, 1000),
    distinct=st.integers(1, 60),
    share=st.sampled_from([None, 0.0, 0.05, 0.5, 1.0]),
    bits_size=st.integers(1, 90),
)
def test_search_is_brute_force(
    count: int,
    dimension: int,
    k: int,
    seed: int,
    distinct: int,
    share: float | None,
    bits_size: int,
) -> None:
    rng = np.random.default_rng(seed)
    vectors = clustered(distinct, dimension, seed)[rng.integers(0, distinct, count)]
    rows = rng.permutation(80)[:count]
    index = VectorIndex(dimension)
    index.add(rows, vectors)
    allowed, seen = None, set(rows.tolist())
    if share is not None:
        chosen = np.flatnonzero(rng.random(bits_size) < share)
        allowed = bits_of(chosen, bits_size)
        seen &= set(chosen.tolist())
    query = rng.standard_normal(dimension)
    held = {int(row): vector for row, vector in zip(rows, vectors, strict=True) if row in seen}
    found = index.search(query, k, allowed)
    assert_is_top(*found, plain_cosines(held, query), k)
    np.testing.assert_array_equal(found.scores, index.cosines(query, found.rows))
    got = index.cosines(query, np.arange(90))
    np.testing.assert_array_equal(~np.isnan(got), np.isin(np.arange(90), rows))


@pytest.mark.parametrize("count", [1, 9, 40, 400])
def test_a_batch_answers_as_single_searches_do(count: int) -> None:
    vectors = clustered(1500, 48, 1)
    vectors[700:720] = vectors[3]  # ties
    index = VectorIndex(48)
    index.add(np.arange(1500), vectors)
    index.remove([5, 6, 900])
    queries = np.concatenate((clustered(count, 48, 2), vectors[3:4], np.zeros((1, 48), np.float32)))
    for allowed in (None, bits_of(range(0, 1500, 3), 1500), bits_of([1, 2, 3], 1500)):
        for k in (0, 1, 10, 100):
            batch = index.search_many(queries, k, allowed, threads=2)
            assert len(batch) == len(queries)
            for query, (rows, scores) in zip(queries, batch, strict=True):
                want = index.search(query, k, allowed)
                np.testing.assert_array_equal(rows, want.rows)
                np.testing.assert_array_equal(scores, want.scores)


def test_the_same_bits_whatever_the_order_of_adding() -> None:
    vectors, query = clustered(300, 33, 3), clustered(1, 33, 4)[0]
    straight, scattered = VectorIndex(33), VectorIndex(33)
    straight.add(np.arange(300), vectors)
    for row in np.random.default_rng(5).permutation(300):
        scattered.add([row], vectors[row][None])
    a, b = straight.search(query, 300), scattered.search(query, 300)
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.scores, b.scores)


def test_a_row_added_again_has_its_new_vector_only() -> None:
    index = VectorIndex(2)
    index.add([0, 1], [[1, 0], [0, 1]])
    index.add([0], [[0, -1]])
    assert len(index) == 2
    assert index.search([1, 0], 5).rows.tolist() == [0, 1]
    np.testing.assert_array_equal(index.cosines([1, 0], [0, 1]), [0, 0])
    np.testing.assert_array_equal(index.reconstruct([0, 1]), [[0, -1], [0, 1]])


def test_zero_vectors_stand_for_none() -> None:
    index = VectorIndex(2)
    assert index.add([0, 1, 2], [[1, 0], [0, 0], [0, 1]]) == 2
    assert index.add([0], [[0, 0]]) == 0  # and so takes the old one away
    assert len(index) == 1
    assert index.search([1, 1], 9).rows.tolist() == [2]
    assert index.search([0, 0], 9).rows.tolist() == []
    none = np.nan
    np.testing.assert_array_equal(index.cosines([1, 0], [0, 1, 2, 99]), [none, none, 0, none])
    np.testing.assert_array_equal(index.cosines([0, 0], [2]), [none])
    np.testing.assert_array_equal(index.reconstruct([1, 99]), np.zeros((2, 2)))


def test_removed_rows_are_gone_and_unknown_ones_passed_over() -> None:
    index = VectorIndex(2)
    index.add([0, 1, 2], [[1, 0], [1, 0], [1, 0]])
    assert index.remove([1, 1, 77]) == 1
    assert index.search([1, 0], 9).rows.tolist() == [0, 2]
    assert index.remove([0, 2]) == 2
    assert len(index) == 0
    assert index.search([1, 0], 9).rows.tolist() == []


@pytest.mark.parametrize(
    "scale", [1.0, 1e38, 1e-38, 1e-44], ids=["plain", "huge", "tiny", "denormal"]
)
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "float16"])
def test_any_scale_and_dtype_of_the_same_vector_counts_the_same(scale: float, dtype: str) -> None:
    if dtype == "float16" and scale != 1.0:
        scale = 1e-3
    index = VectorIndex(3)
    index.add([0, 1], np.array([[1, 2, 2], [2, 2, -1]], "<f4"))
    index.add([2], (np.array([[1, 2, 2]]) * scale).astype(dtype))
    rows, scores = index.search((np.array([1, 2, 2]) * scale).astype(dtype), 3)
    assert sorted(rows.tolist()[:2]) == [0, 2]
    np.testing.assert_allclose(scores, [1, 1, 4 / 9], atol=0.06 if scale == 1e-44 else 2e-3)


def test_strided_input_is_taken() -> None:
    index = VectorIndex(4)
    wide = clustered(20, 8, 0)
    index.add(np.arange(20)[::2], wide[::2, ::2])
    query = wide[0, ::2]
    assert index.search(query, 1).rows.tolist() == [0]
    assert index.search(query[::-1][::-1], 1).rows.tolist() == [0]


NAN = np.array([[1, 0], [0, np.nan]], np.float32)


@pytest.mark.parametrize(
    ("rows", "vectors", "error", "message"),
    [
        ([0, 1], NAN, ValueError, r"vectors\[1\]: must be finite, got nan at component 1"),
        ([0], [[np.inf, 0]], ValueError, r"vectors\[0\]: must be finite, got inf at component 0"),
        ([0], [[1e300, 0]], ValueError, r"vectors\[0\]: its norm must be finite"),
        ([0], [[1, 2, 3]], ValueError, r"vectors: expected shape \(n, 2\), got \(1, 3\)"),
        ([0], [1, 2], ValueError, r"vectors: expected shape \(n, 2\), got \(2,\)"),
        ([0], [["a", "b"]], TypeError, "vectors: expected real numbers"),
        ([0], [[1j, 0]], TypeError, "vectors: expected real numbers"),
        ([0, 1], [[1, 0]], ValueError, "rows: expected 1, one a vector, got 2"),
        ([0, 1, 0], [[1, 0]] * 3, ValueError, "rows: each at most once, got 0 twice"),
        ([-1], [[1, 0]], ValueError, "rows: must lie in 0 to 4294967295, got -1"),
        ([2**32], [[1, 0]], ValueError, "rows: must lie in 0 to 4294967295, got 4294967296"),
        ([0.0], [[1, 0]], TypeError, "rows: expected integers, got dtype float64"),
        ([[0]], [[1, 0]], ValueError, r"rows: expected shape \(n,\), got \(1, 1\)"),
    ],
)
def test_a_bad_batch_is_refused_whole(
    rows: object, vectors: object, error: type[Exception], message: str
) -> None:
    index = VectorIndex(2)
    index.add([5], [[0, 1]])
    with pytest.raises(error, match=message):
        index.add(rows, vectors)  # type: ignore[arg-type]
    assert len(index) == 1
    assert index.search([1, 0], 9).rows.tolist() == [5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 0, 0], 1), ValueError, r"vector: expected shape \(2,\), got \(3,\)"),
        (([[1, 0]], 1), ValueError, r"vector: expected shape \(2,\), got \(1, 2\)"),
        (([np.nan, 0], 1), ValueError, r"vector\[0\]: must be finite"),
        (
            (np.array([np.inf, 0], np.float32), 1),
            ValueError,
            r"vector\[0\]: must be finite, got inf",
        ),
        ((["a", "b"], 1), TypeError, "vector: expected real numbers"),
        (([1, 0], -1), ValueError, "k: must be >= 0, got -1"),
        (([1, 0], 1.5), TypeError, "integer"),
        (([1, 0], 1, [True]), TypeError, "allowed: expected None or a uint8 array"),
        (([1, 0], 1, np.ones(3, bool)), TypeError, "allowed: expected .* got bool"),
        (([1, 0], 1, np.ones((1, 1), np.uint8)), ValueError, r"allowed: expected shape \(n,\)"),
    ],
)
def test_a_bad_query_is_refused(
    arguments: tuple[object, ...], error: type[Exception], message: str
) -> None:
    index = VectorIndex(2)
    index.add([0], [[1, 0]])
    with pytest.raises(error, match=message):
        index.search(*arguments)  # type: ignore[arg-type]


def test_a_batch_says_which_query_is_bad() -> None:
    index = VectorIndex(2)
    with pytest.raises(ValueError, match=r"vectors\[1\]: must be finite"):
        index.search_many(NAN, 1)
    with pytest.raises(ValueError, match="threads: must be in 1 to 256, got 0"):
        index.search_many([[1, 0]], 1, threads=0)


@pytest.mark.parametrize(
    ("dimension", "kind", "message"),
    [(0, "auto", "dimension: must be >= 1, got 0"), (3, "ivf", "kind: expected one of auto")],
)
def test_a_bad_index_is_refused(dimension: int, kind: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VectorIndex(dimension, kind)  # type: ignore[arg-type]


def test_an_empty_index_finds_nothing() -> None:
    index = VectorIndex(3)
    assert index.search([1, 0, 0], 10).rows.tolist() == []
    assert [len(found.rows) for found in index.search_many(np.ones((2, 3)), 10)] == [0, 0]
    assert index.search_many(np.empty((0, 3)), 10) == []
    assert index.add([], np.empty((0, 3))) == 0
    assert index.remove([]) == 0


def test_a_closed_index_still_answers_but_takes_nothing() -> None:
    index = VectorIndex(2)
    index.add([0], [[1, 0]])
    index.close()
    index.close()
    assert index.search([1, 0], 1).rows.tolist() == [0]
    with pytest.raises(RuntimeError, match="closed"):
        index.add([1], [[1, 0]])
    with pytest.raises(RuntimeError, match="closed"):
        index.remove([0])


def test_what_was_given_is_copied() -> None:
    index, vectors = VectorIndex(2), unit(np.array([[1, 0], [0, 1]]))
    index.add([0, 1], vectors)
    vectors[:] = 9
    np.testing.assert_array_equal(index.reconstruct([0, 1]), [[1, 0], [0, 1]])
    index.reconstruct([0])[:] = 9
    np.testing.assert_array_equal(index.reconstruct([0]), [[1, 0]])


def indexed(kind: str, vectors: np.ndarray) -> VectorIndex:
    """An index of these vectors, under a graph if it is to have one."""
    index = VectorIndex(vectors.shape[1], kind)  # type: ignore[arg-type]
    index.add(np.arange(len(vectors)), vectors)
    assert index.settle(60)
    return index


def assert_alike(index: VectorIndex, other: VectorIndex, queries: np.ndarray) -> None:
    assert len(index) == len(other)
    rows = np.arange(600)
    np.testing.assert_array_equal(index.reconstruct(rows), other.reconstruct(rows))
    for query in queries:
        for k in (3, 600):
            for ours, theirs in zip(index.search(query, k), other.search(query, k), strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
@pytest.mark.parametrize("name", ["write", "remove"])
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_is_cut_off_has_not_begun_or_is_done(
    moment: str, error: type[BaseException], name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(600, 4, 5)
    index, other = (indexed(kind, vectors[:400]) for _ in range(2))
    assert index.has_graph == (kind == "hnsw")
    whole = getattr(_core.VectorColumn, name)

    def change(changed: VectorIndex) -> None:
        if name == "write":
            changed.add([7, 450, 451], vectors[440:443])
        else:
            changed.remove([7, 9, 399])

    def cut_off(column: _core.VectorColumn, **given: object) -> None:
        if moment == "after":
            whole(column, **given)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(_core.VectorColumn, name, cut_off)
        with pytest.raises(error):
            change(index)
    if moment == "after":
        change(other)
    queries = vectors[[0, 7, 9, 440]]
    assert_alike(index, other, queries)
    for each in (index, other):
        assert each.remove([7, 8]) == 2 - (moment == "after" and name == "remove")
        assert each.add([450, 3], vectors[443:445]) == 2
    assert_alike(index, other, queries)
