"""Quality on real collections, beside the published figures.

The data stand outside the repository: ONEIROS_DATA names their folder.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from oneiros import LexicalIndex
from tests.collections_on_disk import folder_of
from tests.oracles.metrics import ndcg

BM25S = {"cranfield": 0.3595, "cisi": 0.3943, "scifact-train": 0.6960}
"""nDCG@10 of bm25s under the same variant and parameters; figures of the data's own README."""
TOLERANCE = 0.005


def records(path: Path) -> list[dict[str, str]]:
    packed = path.with_name(path.name + ".gz")
    raw = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return [json.loads(line) for line in raw.decode().split("\n") if line]


def judgements(path: Path) -> dict[str, dict[str, float]]:
    judged: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        judged.setdefault(query, {})[document] = float(score)
    return judged


@pytest.mark.parametrize("name", BM25S)
def test_ndcg_is_at_the_published_figure_or_above(name: str) -> None:
    folder = folder_of(name)
    index = LexicalIndex(variant="lucene", k1=1.2, b=0.75, analyzer="english")
    documents = records(folder / "corpus.jsonl")
    index.add_many(
        [document["_id"] for document in documents],
        [document.get("title", "") + " " + document["text"] for document in documents],
    )
    judged = judgements(folder / "qrels.tsv")
    queries = [query for query in records(folder / "queries.jsonl") if query["_id"] in judged]
    found = index.search_many([query["text"] for query in queries], k=10, threads=2)
    values = [
        ndcg(hits.ids.tolist(), judged[query["_id"]], 10)
        for query, hits in zip(queries, found, strict=True)
    ]
    mean = sum(values) / len(values)
    print(f"\n{name}: nDCG@10 {mean:.4f} over {len(values)} queries (bm25s {BM25S[name]:.4f})")  # noqa: T201
    assert mean >= BM25S[name] - TOLERANCE
