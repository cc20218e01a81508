"""What the adapter adds to LangChain's suite: filters, scores, use, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros

WHY = "needs LangChain: pip install -r tests/integrations/langchain/requirements.txt"
pytest.importorskip("langchain_core", reason=WHY)

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore

from oneiros.integrations.langchain import (
    LangChainEmbedder,
    OneirosRetriever,
    OneirosVectorStore,
)


class Axes(Embeddings):
    """Vectors by hand; a query about one axis begins with "?"."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors
        self.queries: list[str] = []
        self.batches: list[int] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(len(texts))
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self.vectors[text.removeprefix("?")]


VECTORS = {
    "east": [1.0, 0.0, 0.0],
    "east too": [0.99, 0.05, 0.0],
    "north east": [0.8, 0.6, 0.0],
    "west": [-1.0, 0.0, 0.0],
    "up": [0.0, 0.0, 1.0],
}


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:") as engine:
        yield engine


@pytest.fixture
def store(engine: oneiros.Engine) -> OneirosVectorStore:
    store = OneirosVectorStore(engine, Axes(VECTORS))
    texts = list(VECTORS)
    store.add_texts(texts, [{"place": place} for place in range(len(texts))], ids=texts)
    return store


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_scores_are_cosines_and_k_is_kept(store: OneirosVectorStore) -> None:
    scored = store.similarity_search_with_score("?east", k=5)
    assert [(document.id, round(score, 3)) for document, score in scored] == [
        ("east", 1.0),
        ("east too", 0.999),
        ("north east", 0.8),
        ("up", 0.0),
        ("west", -1.0),
    ]
    assert len(store.similarity_search("?east", k=2)) == 2
    assert store.similarity_search("?east", k=0) == []


def test_relevance_is_the_cosine_from_0_to_1(store: OneirosVectorStore) -> None:
    scored = store.similarity_search_with_relevance_scores("?east", k=5)
    assert [round(score, 3) for _, score in scored] == [1.0, 0.999, 0.8, 0.0, 0.0]
    near = store.similarity_search_with_relevance_scores("?east", k=5, score_threshold=0.9)
    assert ids([document for document, _ in near]) == ["east", "east too"]
    retriever = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.9}
    )
    assert ids(retriever.invoke("?east")) == ["east", "east too"]


def test_ranks_are_no_relevance(engine: oneiros.Engine) -> None:
    store = OneirosVectorStore(engine, Axes(VECTORS), profile="rrf")
    store.add_texts(["east"])
    with pytest.raises(ValueError, match="profile: relevance scores need 'cosine'"):
        store.similarity_search_with_relevance_scores("?east")


def test_rrf_finds_words_that_vectors_do_not(engine: oneiros.Engine) -> None:
    vectors = {"ERR-42 in the pool": [0.0, 1.0], "near": [1.0, 0.0], "ERR-42": [1.0, 0.1]}
    texts = ["ERR-42 in the pool", "near"]
    store = OneirosVectorStore(engine, Axes(vectors))
    store.add_texts(texts, ids=texts)
    both = OneirosVectorStore(engine, Axes(vectors), profile="rrf")
    assert ids(store.similarity_search("ERR-42")) == ["near", "ERR-42 in the pool"]
    assert ids(both.similarity_search("ERR-42")) == ["ERR-42 in the pool", "near"]


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"place": 1}, ["east too"]),
        ({"place": {"$gte": 1, "$lt": 3}}, ["east too", "north east"]),
        (oneiros.meta("place").in_([0, 4]), ["east", "up"]),
        (~oneiros.where(id=["east", "east too"]) & (oneiros.meta("place") < 4), None),
        ({}, list(VECTORS)),
    ],
)
def test_filters(store: OneirosVectorStore, filter: object, found: list[str] | None) -> None:
    wanted = {"north east", "west"} if found is None else set(found)
    assert set(ids(store.similarity_search("?east", 9, filter))) == wanted
    assert set(ids(store.similarity_search_by_vector([1.0, 0, 0], 9, filter))) == wanted
    assert set(ids(store.max_marginal_relevance_search("?east", 9, filter=filter))) == wanted
    retriever = store.as_retriever(search_kwargs={"filter": filter, "k": 9})
    assert set(ids(retriever.invoke("?east"))) == wanted


def test_marginal_relevance_prefers_what_differs(store: OneirosVectorStore) -> None:
    assert ids(store.similarity_search("?east", 2)) == ["east", "east too"]
    found = store.max_marginal_relevance_search("?east", 2, fetch_k=3, lambda_mult=0.3)
    assert ids(found) == ["east", "north east"]
    near = store.max_marginal_relevance_search("?east", 2, fetch_k=3, lambda_mult=1.0)
    assert ids(near) == ["east", "east too"]
    assert ids(store.max_marginal_relevance_search("?east", 1, fetch_k=0)) == ["east"]
    assert store.max_marginal_relevance_search("?east", 0) == []


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_marginal_relevance_is_langchains(seed: int, k: int, weight: float) -> None:
    vectors = np.random.default_rng(seed).normal(size=(11, 4)).astype(np.float32)
    axes = Axes({str(place): vector.tolist() for place, vector in enumerate(vectors)})
    texts = list(axes.vectors)[:-1]  # the last one is the query
    with oneiros.Engine(":memory:") as engine:
        ours = OneirosVectorStore(engine, axes)
        theirs = InMemoryVectorStore(axes)
        for store in (ours, theirs):
            store.add_texts(texts, ids=texts)
        found = [
            ids(store.max_marginal_relevance_search("?10", k, fetch_k=8, lambda_mult=weight))
            for store in (ours, theirs)
        ]
    assert found[0] == found[1]


def test_the_engines_embedder_takes_the_place_of_embeddings() -> None:
    with oneiros.Engine(":memory:", embedder=LangChainEmbedder(Axes(VECTORS))) as engine:
        store = OneirosVectorStore(engine)
        store.add_texts(list(VECTORS), ids=list(VECTORS))
        assert store.embeddings is None
        assert engine.stats()["embedder"] == "langchain/Axes"
        assert ids(store.similarity_search("east", 2)) == ["east", "east too"]
        found = store.max_marginal_relevance_search("east", 2, fetch_k=3, lambda_mult=0.3)
        assert ids(found) == ["east", "north east"]


async def test_async_twins_return_the_same(store: OneirosVectorStore) -> None:
    query, vector = "?north east", VECTORS["north east"]
    assert await store.asimilarity_search(query, 3) == store.similarity_search(query, 3)
    assert await store.asimilarity_search_with_score(
        query, 3
    ) == store.similarity_search_with_score(query, 3)
    assert await store.asimilarity_search_by_vector(
        vector, 3, {"place": 4}
    ) == store.similarity_search_by_vector(vector, 3, {"place": 4})
    assert await store.asimilarity_search_with_relevance_scores(
        query
    ) == store.similarity_search_with_relevance_scores(query)
    assert await store.amax_marginal_relevance_search(
        query, 2
    ) == store.max_marginal_relevance_search(query, 2)
    assert await store.aadd_texts(["up"], ids=["new"]) == ["new"]
    assert await store.adelete(["up"])
    assert ids(await store.asimilarity_search("?up", 1)) == ["new"]


def test_ids_are_returned_in_the_order_of_the_texts(store: OneirosVectorStore) -> None:
    texts = ["up", "west", "east", "north east"]
    made = store.add_texts(texts, ids=[None, "west", None, "w2"])
    assert made[1::2] == ["west", "w2"]
    assert len({*made}) == 4
    assert [document.page_content for document in store.get_by_ids(made)] == texts
    assert store.add_texts(["up", "west"], ids=["twice", "twice"]) == ["twice", "twice"]
    assert store.get_by_ids(["twice"])[0].page_content == "west"
    assert store.add_texts([]) == []


@pytest.mark.parametrize("is_async", [False, True])
async def test_langchains_index_adds_changes_and_deletes(
    engine: oneiros.Engine, is_async: bool
) -> None:
    store = OneirosVectorStore(engine, Axes(VECTORS))
    records = InMemoryRecordManager("test")
    records.create_schema()

    async def indexed(texts: dict[str, str]) -> dict[str, int]:
        documents = [
            Document(page_content=text, metadata={"source": source})
            for source, text in texts.items()
        ]
        given: dict[str, Any] = {
            "docs_source": documents,
            "record_manager": records,
            "vector_store": store,
            "cleanup": "full",
            "source_id_key": "source",
            "key_encoder": "sha256",
        }
        counted = await aindex(**given) if is_async else index(**given)
        return {name: number for name, number in counted.items() if number}

    assert await indexed({"1": "east", "2": "up"}) == {"num_added": 2}
    assert await indexed({"1": "east", "2": "west"}) == {
        "num_added": 1,
        "num_skipped": 1,
        "num_deleted": 1,
    }
    assert {memory.text for memory in engine.list()} == {"east", "west"}


async def test_texts_are_embedded_in_batches(engine: oneiros.Engine) -> None:
    axes = Axes(VECTORS)
    store = OneirosVectorStore(engine, axes)
    texts = list(VECTORS)
    store.add_texts(texts, ids=texts, batch_size=2)
    assert axes.batches == [2, 2, 1]
    await store.aadd_texts(texts, ids=texts, batch_size=3)
    assert axes.batches == [2, 2, 1, 3, 2]
    assert ids(store.similarity_search("?up", k=1)) == ["up"]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        ([[1.0, 0.0]], ValueError, "embedder: expected 2 vectors, got 1"),
        ([[1.0, 0.0]] * 3, ValueError, "embedder: expected 2 vectors, got 3"),
        (None, TypeError, "embedder: expected a list of 2 vectors, got NoneType"),
    ],
)
async def test_a_wrong_number_of_vectors_is_named(
    engine: oneiros.Engine, monkeypatch: pytest.MonkeyPatch, made: Any, error: Any, message: str
) -> None:
    axes = Axes(VECTORS)
    monkeypatch.setattr(axes, "embed_documents", lambda _: made)
    store = OneirosVectorStore(engine, axes)
    with pytest.raises(error, match=message):
        store.add_texts(["east", "up"])
    with pytest.raises(error, match=message):
        await store.aadd_texts(["east", "up"])
    assert engine.count() == 0


def test_deleting_erases_or_hides(engine: oneiros.Engine, store: OneirosVectorStore) -> None:
    soft = OneirosVectorStore(engine, Axes(VECTORS), erases=False)
    soft.delete(["east", "unknown"])
    assert engine.get_deleted(["east"])[0] is not None
    assert engine.restore("east")
    store.delete(["east", "unknown"])
    assert engine.get_deleted(["east"]) == [None]
    assert engine.verify_erased("east too") is False
    store.delete([])
    assert len(engine) == len(VECTORS) - 1
    store.delete()
    assert len(engine) == 0


def test_a_scope_deletes_only_its_own(engine: oneiros.Engine, store: OneirosVectorStore) -> None:
    ada = OneirosVectorStore(engine.scope(user="ada"), Axes(VECTORS))
    ada.add_texts(["up"], ids=["ada's"])
    ada.delete(["east"])
    ada.delete()
    assert set(ids(store.get_by_ids([*VECTORS, "ada's"]))) == set(VECTORS)


def test_from_texts_records_the_model(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = OneirosVectorStore.from_texts(["east", "up"], Axes(VECTORS), ids=["1", "2"], path=path)
    assert store.memories.stats()["embedder"] == "langchain/Axes"
    store.memories.close()

    class Others(Axes):
        pass

    with pytest.raises(oneiros.EmbedderMismatch, match="langchain/Others"):
        OneirosVectorStore.from_texts([], Others(VECTORS), path=path)
    again = OneirosVectorStore.from_texts([], Axes(VECTORS), path=path)
    assert ids(again.similarity_search("?up", 1)) == ["2"]
    again.memories.close()


def test_from_texts_closes_the_store_if_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(ValueError, match="ids: must have one entry"):
        OneirosVectorStore.from_texts(["east"], Axes(VECTORS), ids=["1", "2"], path=path)
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith("-wal")] == []
    with pytest.raises(ValueError, match="profile: must be one of"):
        OneirosVectorStore.from_texts(["east"], Axes(VECTORS), path=path, profile="oneiros")
    with oneiros.Engine(path) as engine:
        assert len(engine) == 0


async def test_afrom_texts(tmp_path: Path) -> None:
    store = await OneirosVectorStore.afrom_texts(
        ["east", "up"], Axes(VECTORS), [{"n": 1}, {"n": 2}], ids=["1", "2"], path=tmp_path / "a.db"
    )
    assert (await store.aget_by_ids(["2"]))[0].metadata == {"n": 2}
    store.memories.close()


def test_the_name_of_a_model() -> None:
    embeddings = Axes(VECTORS)
    assert LangChainEmbedder(embeddings).name == "langchain/Axes"
    embeddings.model = "small"  # type: ignore[attr-defined]
    assert LangChainEmbedder(embeddings).name == "langchain/Axes/small"
    assert LangChainEmbedder(embeddings, name="mine").name == "mine"
    with pytest.raises(ValueError, match="embedder: its name must be a text that is not empty"):
        LangChainEmbedder(embeddings, name="")


def test_the_retriever_searches_with_the_engines_profile() -> None:
    embedder = LangChainEmbedder(Axes({"Ada likes tea": [1.0, 0.0], "tea": [1.0, 0.1]}))
    with oneiros.Engine(":memory:", embedder=embedder, clock=lambda: 1_750_000_000.0) as engine:
        engine.add(
            "Ada likes tea", id="tea", source="tool", trust=0.5, metadata={"n": 1}, kind="fact"
        )
        expected = engine.search("tea", reinforce=False)
        (document,) = OneirosRetriever(memories=engine, reinforce=False).invoke("tea")
        assert document.page_content == "Ada likes tea"
        assert document.metadata == {
            "n": 1,
            "oneiros": {
                "score": expected.results[0].score,
                "kind": "fact",
                "created_at": "2025-06-15T15:06:40+00:00",
                "source": "tool",
                "source_ref": None,
                "trust": 0.5,
            },
        }
        plain = OneirosRetriever(memories=engine, profile="cosine").invoke("tea")
        assert plain[0].metadata["oneiros"]["score"] == pytest.approx(0.995, abs=1e-3)
        trusted = OneirosRetriever(memories=engine, options={"least_trust": 0.6})
        assert trusted.invoke("tea") == []
        for name, field in (("k", "k"), ("where", "filter")):
            with pytest.raises(ValueError, match=f"options: give '{name}' as .* '{field}'"):
                OneirosRetriever(memories=engine, options={name: None})


def test_the_retriever_embeds_queries_as_queries(store: OneirosVectorStore) -> None:
    axes = Axes(VECTORS)
    retriever = OneirosRetriever(memories=store.memories, embedding=axes, profile="cosine", k=1)
    assert ids(retriever.invoke("?up")) == ["up"]
    assert axes.queries == ["?up"]


@pytest.mark.parametrize(("reinforce", "uses"), [(None, 1), (True, 1), (False, 0)])
async def test_a_search_counts_as_use_unless_switched_off(
    engine: oneiros.Engine, reinforce: bool | None, uses: int
) -> None:
    engine.add("Ada likes tea", id="tea")
    retriever = OneirosRetriever(memories=engine, reinforce=reinforce)
    assert ids(await retriever.ainvoke("tea")) == ["tea"]
    engine.flush()
    assert engine.get("tea").access_count == uses
    retriever.invoke("tea", reinforce=False)
    engine.flush()
    assert engine.get("tea").access_count == uses


def test_a_vector_store_never_counts_as_use(
    engine: oneiros.Engine, store: OneirosVectorStore
) -> None:
    store.similarity_search("?east", 5)
    store.max_marginal_relevance_search("?east", 5)
    engine.flush()
    assert {memory.access_count for memory in engine.list()} == {0}


def test_a_query_of_any_length_is_searched(engine: oneiros.Engine) -> None:
    engine.add("Ada drinks tea", id="tea")
    log = " ".join(f"line{number}" for number in range(20_000))
    retriever = OneirosRetriever(memories=engine, profile="bm25")
    assert ids(retriever.invoke(f"Who drinks tea? {log}")) == ["tea"]
    store = OneirosVectorStore(engine, profile="rrf")
    assert ids(store.similarity_search(f"Who drinks tea? {log}")) == ["tea"]


def test_the_retriever_filters(engine: oneiros.Engine) -> None:
    for year in (2024, 2025):
        engine.add(f"tea of {year}", id=str(year), metadata={"year": year})
    retriever = OneirosRetriever(memories=engine, filter={"year": 2024})
    assert ids(retriever.invoke("tea")) == ["2024"]
    assert ids(retriever.invoke("tea", filter=oneiros.meta("year") > 2024)) == ["2025"]


def test_wrong_arguments_are_named(engine: oneiros.Engine, store: OneirosVectorStore) -> None:
    axes = Axes(VECTORS)
    cases = [
        (lambda: OneirosVectorStore("a.db", axes), TypeError, "memories: expected an Engine"),
        (lambda: OneirosVectorStore(engine, len), TypeError, "embedding: expected LangChain's"),
        (lambda: OneirosVectorStore(engine, axes, profile="oneiros"), ValueError, "profile: must"),
        (lambda: OneirosVectorStore(engine, axes, erases=1), TypeError, "erases: must be True"),
        (lambda: store.add_texts(["up"], ids=["1", "2"]), ValueError, "ids: must have one entry"),
        (lambda: store.add_texts(["up"], [{}, {}]), ValueError, "metadatas: must have one entry"),
        (lambda: store.add_texts(["up"], [{"a": {1}}]), TypeError, r"metadata\.a: must be JSON"),
        (lambda: store.add_texts("up"), TypeError, "texts: expected a sequence of str"),
        (lambda: store.add_texts(["up"], batch_size=0), ValueError, "batch_size: must be"),
        (lambda: store.delete("up"), TypeError, "ids: expected a sequence of str"),
        (lambda: store.get_by_ids("up"), TypeError, "ids: expected a sequence of str"),
        (lambda: store.similarity_search("?up", filter=bool), TypeError, "filter: expected an"),
        (lambda: store.similarity_search("?up", where=1), TypeError, "unknown argument 'where'"),
        (lambda: store.similarity_search("?up", k=-1), ValueError, "k: "),
        (
            lambda: store.max_marginal_relevance_search("?up", lambda_mult=2),
            ValueError,
            "lambda_mult: must be a number in",
        ),
        (lambda: OneirosRetriever(memories=engine).invoke("up", n=1), TypeError, "argument 'n'"),
        (lambda: OneirosRetriever(memories="a.db"), TypeError, "memories: expected an Engine"),
        (lambda: OneirosRetriever(memories=engine, k=-1), ValueError, "k\n.*greater than or equal"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
    assert len(engine) == len(VECTORS)


def test_documents_are_listed_as_in_a_collection_of_chroma(store: OneirosVectorStore) -> None:
    listed = store._collection.get()
    documents = store.get_by_ids(listed["ids"])
    assert listed["ids"] == list(VECTORS)
    assert listed["documents"] == [document.page_content for document in documents]
    assert listed["metadatas"] == [document.metadata for document in documents]
    for limit in (0, 1, 3, len(VECTORS), 100):
        assert store._collection.get(limit=limit)["ids"] == list(VECTORS)[:limit]
    with pytest.raises(ValueError, match="limit"):
        store._collection.get(limit=-1)
