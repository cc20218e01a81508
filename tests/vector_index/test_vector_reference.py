"""The vector channel on real collections gives their published reference figures."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from oneiros.vector_index.index import VectorIndex
from tests.collections_on_disk import folder_of

FIGURES = {"cranfield": 0.3736, "cisi": 0.4207, "scifact-train": 0.6602}


def load(name: str) -> tuple[np.ndarray, np.ndarray, list[dict[int, float]]]:
    """Return vectors, query vectors, and per query row -> gain."""
    folder = folder_of(name)
    corpus = np.load(folder / "all-MiniLM-L6-v2.corpus.f16.npy", allow_pickle=False)
    queries = np.load(folder / "all-MiniLM-L6-v2.queries.f16.npy", allow_pickle=False)
    row_of, query_of = (ids(folder, kind) for kind in ("corpus", "queries"))
    gains: list[dict[int, float]] = [{} for _ in queries]
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, gain = line.split("\t")
        gains[query_of[query]][row_of[document]] = float(gain)
    return corpus, queries, gains


def ids(folder: Path, kind: str) -> dict[str, int]:
    plain = folder / f"{kind}.jsonl"
    if plain.exists():
        text = plain.read_bytes()
    else:
        text = gzip.decompress((folder / f"{kind}.jsonl.gz").read_bytes())
    lines = text.decode().rstrip("\n").split("\n")  # a text may hold other line breaks
    return {json.loads(line)["_id"]: row for row, line in enumerate(lines)}


def ndcg_at_10(rows: np.ndarray, gains: dict[int, float]) -> float:
    discounts = 1 / np.log2(np.arange(2, 12))
    got = np.array([gains.get(row, 0.0) for row in rows.tolist()[:10]])
    best = np.sort(np.fromiter(gains.values(), np.float64))[::-1][:10]
    return float(got @ discounts[: len(got)] / (best @ discounts[: len(best)]))


@pytest.mark.parametrize("name", FIGURES)
def test_exact_search_gives_the_reference_figure_and_the_rows_of_brute_force(name: str) -> None:
    corpus, queries, gains = load(name)
    index = VectorIndex(384, "flat")
    index.add(np.arange(len(corpus)), corpus)
    scores = []
    truths = unit_or_zero(queries) @ unit_or_zero(corpus).T
    batch = index.search_many(queries, 10)
    for at, query in enumerate(queries):
        rows, cosines = index.search(query, 10)
        np.testing.assert_array_equal(batch[at].rows, rows)
        truth = truths[at]
        np.testing.assert_allclose(cosines, truth[rows], atol=5e-7)
        want = np.argsort(-truth, kind="stable")[:10]
        if not np.array_equal(rows, want):  # only float32 cannot tell them apart
            np.testing.assert_allclose(truth[rows], truth[want], atol=3e-7)
        scores.append(ndcg_at_10(rows, gains[at]) if gains[at] else 0.0)
    judged = [score for score, gain in zip(scores, gains, strict=True) if gain]
    assert round(float(np.mean(judged)), 4) == FIGURES[name]


def unit_or_zero(matrix: np.ndarray) -> np.ndarray:
    wide = matrix.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms == 0, 1, norms)


@pytest.mark.parametrize("name", FIGURES)
def test_the_graph_finds_nearly_all_of_real_texts(name: str) -> None:
    corpus, queries, _ = load(name)
    flat, graph = VectorIndex(384, "flat"), VectorIndex(384, "hnsw")
    for index in (flat, graph):
        index.add(np.arange(len(corpus)), corpus)
        assert index.settle(300)
    assert graph.has_graph
    for k in (10, 100):
        shares = [
            len(np.intersect1d(flat.search(query, k).rows, graph.search(query, k).rows)) / k
            for query in queries[:100]
        ]
        assert np.mean(shares) >= 0.97
