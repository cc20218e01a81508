"""LanceDB: an IVF_HNSW_SQ index, a full-text index, a bitmap of projects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker

from oneiros.benchmark.rivals.rival import (
    DEPTH,
    GRAPH_DEPTH,
    GRAPH_LINKS,
    RRF_K,
    MemorySearch,
    Question,
)

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["LanceDb"]

_BUILD_DEPTH = 100


class LanceDb(MemorySearch):
    """Its hybrid search, fused by its reciprocal rank reranker."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        vectors = corpus.vectors()
        flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        records = pa.table(
            {
                "id": pa.array(range(len(vectors)), pa.int64()),
                "text": pa.array(corpus.texts()),
                "project": pa.array(corpus.projects()),
                "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )
        self._table = lancedb.connect(str(folder / "lance")).create_table("memories", data=records)
        self._table.create_index(
            metric="cosine",
            vector_column_name="vector",
            index_type="IVF_HNSW_SQ",
            num_partitions=1,
            m=GRAPH_LINKS,
            ef_construction=_BUILD_DEPTH,
        )
        self._table.create_fts_index(
            "text", stem=False, remove_stop_words=False, ascii_folding=False
        )
        self._table.create_scalar_index("project", index_type="BITMAP")
        self._reranker = RRFReranker(K=RRF_K)

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        # limit() bounds both lists before they are fused: the depth is asked for, the best k taken.
        rows = (
            self._table.search(query_type="hybrid", vector_column_name="vector")
            .vector(question.vector)
            .text(question.words)
            .distance_type("cosine")
            .where(f"project = '{question.project}'", prefilter=True)
            .ef(GRAPH_DEPTH)
            .rerank(self._reranker)
            .limit(DEPTH)
            .select(["id", "text"])
            .to_arrow()
            .slice(0, k)
        )
        return list(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))
