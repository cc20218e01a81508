"""Chroma: vectors and a filter on metadata; its embedded form ranks no words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import chromadb
from chromadb.config import Settings

from oneiros.benchmark.rivals.rival import GRAPH_DEPTH, GRAPH_LINKS, MemorySearch, Question

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["Chroma"]

_BATCH, _BUILD_DEPTH = 5_000, 100


class Chroma(MemorySearch):
    """A persistent collection with an HNSW graph."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        texts, vectors, projects = corpus.texts(), corpus.vectors(), corpus.projects()
        settings = Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        graph = {
            "space": "cosine",
            "max_neighbors": GRAPH_LINKS,
            "ef_construction": _BUILD_DEPTH,
            "ef_search": GRAPH_DEPTH,
        }
        self._collection = client.create_collection(
            "memories", embedding_function=None, configuration={"hnsw": graph}
        )
        for first in range(0, len(texts), _BATCH):
            ids = range(first, min(first + _BATCH, len(texts)))
            self._collection.add(
                ids=[str(id) for id in ids],
                documents=texts[first : ids.stop],
                embeddings=vectors[first : ids.stop],
                metadatas=[{"project": project} for project in projects[first : ids.stop]],
            )

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        found = self._collection.query(
            query_embeddings=[question.vector],
            n_results=k,
            where={"project": question.project},
            include=["documents"],
        )
        return list(zip(map(int, found["ids"][0]), found["documents"][0], strict=True))
