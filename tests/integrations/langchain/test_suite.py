"""LangChain's own tests of vector stores and retrievers, over every kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros

WHY = "needs LangChain: pip install -r tests/integrations/langchain/requirements.txt"
pytest.importorskip("langchain_core", reason=WHY)
pytest.importorskip("langchain_tests", reason=WHY)

from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from oneiros.integrations.langchain import OneirosRetriever, OneirosVectorStore

TEXTS = (
    "Ada likes her coffee black",
    "Grace drinks coffee with milk",
    "The coffee machine is on the second floor",
    "Coffee beans come from Kenya",
)


class TestInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[OneirosVectorStore]:
        with oneiros.Engine(":memory:") as engine:
            yield OneirosVectorStore(engine, self.get_embeddings())


class TestInAFile(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[OneirosVectorStore]:
        with oneiros.Engine(tmp_path / "store.db") as engine:
            yield OneirosVectorStore(engine, self.get_embeddings())


class TestSoftDeletes(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[OneirosVectorStore]:
        with oneiros.Engine(":memory:") as engine:
            yield OneirosVectorStore(engine, self.get_embeddings(), erases=False)


class TestInAScope(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[OneirosVectorStore]:
        embeddings = self.get_embeddings()
        with oneiros.Engine(":memory:") as engine:
            vector = embeddings.embed_query("foo")
            engine.add("foo", id="of another user", user="grace", embedding=vector)
            yield OneirosVectorStore(engine.scope(user="ada"), embeddings)


class TestWordsAndVectors(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[OneirosVectorStore]:
        with oneiros.Engine(":memory:") as engine:
            yield OneirosVectorStore(engine, self.get_embeddings(), profile="rrf")


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def engine(self) -> Iterator[None]:
        with oneiros.Engine(":memory:") as engine:
            engine.add_many({"text": text} for text in TEXTS)
            self.memories = engine
            yield

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return OneirosRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memories": self.memories}

    @property
    def retriever_query_example(self) -> str:
        return "Who drinks coffee?"
