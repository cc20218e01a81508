"""Qdrant inside the process: Edge, and the local mode of its client."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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

__all__ = ["QdrantEdge", "QdrantLocal"]

_BATCH, _BUILD_DEPTH = 1_000, 100


class QdrantEdge(MemorySearch):
    """An HNSW graph and a BM25 index of words, fused by reciprocal ranks."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        import qdrant_edge as edge  # noqa: PLC0415 - the other class needs none

        texts, vectors, projects = corpus.texts(), corpus.vectors(), corpus.projects()
        place = folder / "shard"
        place.mkdir()
        self._edge: Any = edge
        self._shard = edge.EdgeShard.create(
            str(place),
            edge.EdgeConfig(
                vectors=edge.EdgeVectorParams(size=vectors.shape[1], distance=edge.Distance.Cosine),
                hnsw_config=edge.HnswIndexConfig(
                    m=GRAPH_LINKS, ef_construct=_BUILD_DEPTH, full_scan_threshold=10_000
                ),
            ),
        )
        update = edge.UpdateOperation
        words = edge.TextIndexParams(
            tokenizer=edge.TokenizerType.Word, lowercase=True, scoring=True
        )
        tenant = edge.KeywordIndexParams(is_tenant=True)
        self._shard.update(update.create_field_index("project", tenant))
        self._shard.update(update.create_field_index("text", words))
        for first in range(0, len(texts), _BATCH):
            points = [
                edge.Point(id, vectors[id].tolist(), {"text": texts[id], "project": projects[id]})
                for id in range(first, min(first + _BATCH, len(texts)))
            ]
            self._shard.update(update.upsert_points(points))
        self._shard.optimize()
        self._shard.flush()

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        edge = self._edge
        match = edge.MatchValue(question.project)
        own = edge.Filter(must=[edge.FieldCondition("project", match=match)])
        lists = [
            edge.Prefetch(limit=DEPTH, query=edge.TextQuery("text", question.words), filter=own),
            edge.Prefetch(
                limit=DEPTH,
                query=edge.Query.Nearest(question.vector.tolist()),
                filter=own,
                params=edge.SearchParams(hnsw_ef=GRAPH_DEPTH),
            ),
        ]
        request = edge.QueryRequest(
            limit=k, query=edge.Fusion.Rrf(k=RRF_K), with_payload=["text"], prefetches=lists
        )
        return [(point.id, point.payload["text"]) for point in self._shard.query(request)]

    def close(self) -> None:
        self._shard.close()


class QdrantLocal(MemorySearch):
    """The client's own mode without a server: NumPy, exact, vectors and filter, no words."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        from qdrant_client import QdrantClient, models  # noqa: PLC0415

        texts, vectors, projects = corpus.texts(), corpus.vectors(), corpus.projects()
        self._models = models
        self._client = QdrantClient(path=str(folder / "local"))
        size = vectors.shape[1]
        parameters = models.VectorParams(size=size, distance=models.Distance.COSINE)
        self._client.create_collection("memories", vectors_config=parameters)
        for first in range(0, len(texts), _BATCH):
            ids = range(first, min(first + _BATCH, len(texts)))
            batch = models.Batch(
                ids=list(ids),
                vectors=vectors[first : ids.stop].tolist(),
                payloads=[{"text": texts[id], "project": projects[id]} for id in ids],
            )
            self._client.upsert("memories", batch)

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        models = self._models
        match = models.MatchValue(value=question.project)
        found = self._client.query_points(
            "memories",
            query=question.vector.tolist(),
            limit=k,
            with_payload=True,
            query_filter=models.Filter(must=[models.FieldCondition(key="project", match=match)]),
        )
        return [(point.id, point.payload["text"]) for point in found.points]

    def close(self) -> None:
        self._client.close()
