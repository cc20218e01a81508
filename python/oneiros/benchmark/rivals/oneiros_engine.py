"""Oneiros itself: the engine, and its indexes on their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import oneiros
from oneiros.benchmark.corpus import NOW
from oneiros.benchmark.rivals.rival import (
    K1,
    RRF_K,
    B,
    Ids,
    MemorySearch,
    Question,
    Vectors,
    VectorSearch,
    WordSearch,
)
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.vector_index.index import VectorIndex

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["LexicalAlone", "OneirosDefault", "OneirosFused", "VectorsAlone"]

_BATCH = 20_000


class OneirosDefault(MemorySearch):
    """The default profile, which counts results as uses. Its cache of responses is off."""

    profile = oneiros.profiles.get("oneiros").replace(cache=None)

    def build(self, corpus: Corpus, folder: Path) -> None:
        path = folder / "memories.db"
        self.engine = oneiros.Engine(path, analyzer="simple", k1=K1, b=B, clock=lambda: NOW)
        records = list(corpus.records())
        for first in range(0, len(records), _BATCH):
            self.engine.add_many(records[first : first + _BATCH])
        self.engine.search("", embedding=corpus.vectors()[0], reinforce=False)
        vectors = self.engine._scope.services.read_model.indexes.vectors
        if vectors is not None:
            vectors.settle()

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        response = self.engine.search(
            question.words,
            k,
            embedding=question.vector,
            where=oneiros.where(project=question.project),
            profile=self.profile,
            session="benchmark",
        )
        texts = response.texts
        return [(int(id), text or "") for id, text in zip(response.ids, texts, strict=True)]

    def rest(self) -> None:
        self.engine.flush()

    def close(self) -> None:
        self.engine.close()


class OneirosFused(OneirosDefault):
    """Reciprocal ranks of words and vectors alone: the rule that the rivals follow."""

    profile = oneiros.Profile(
        name="fused", fusion=ReciprocalRankFusion(k=RRF_K), factors=(), reinforcement=None
    )


class LexicalAlone(WordSearch):
    """The lexical index, in memory."""

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002 - it needs no files
        self.index = oneiros.LexicalIndex(k1=K1, b=B, analyzer="simple")
        self.index.add_many(range(len(texts)), texts)
        self.index.seal()

    def search(self, query: str, k: int) -> Ids:
        return self.index.search(query, k=k).ids


class VectorsAlone(VectorSearch):
    """The vector index, as the engine has it."""

    def build(self, vectors: Vectors) -> None:
        self.index = VectorIndex(vectors.shape[1])
        self.index.add(range(len(vectors)), vectors)
        self.index.search(vectors[0], 10)
        self.index.settle()

    def search(self, vector: Vectors, k: int) -> Ids:
        return self.index.search(vector, k).rows

    def rest(self) -> None:
        self.index.settle()

    def close(self) -> None:
        self.index.close()
