"""Retrievers alone and in pipelines, what they leave unchanged, and how they are serialized."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

WHY = "needs haystack-ai: nox -s 'integrations(name=\"haystack\")'"
pytest.importorskip("haystack", reason=WHY)

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy, FilterPolicy

import oneiros
from oneiros.integrations.haystack import (
    OneirosDocumentStore,
    OneirosEmbeddingRetriever,
    OneirosHybridRetriever,
)
from tests.integrations.forgetting import forgets_after_searches

DOCUMENTS = [
    Document(id="tea", content="green tea", meta={"price": 3}, embedding=[1.0, 0.0, 0.0]),
    Document(id="milk", content="oat milk", meta={"price": 2}, embedding=[0.8, 0.6, 0.0]),
    Document(id="coffee", content="black coffee", meta={"price": 5}, embedding=[0.0, 0.0, 2.0]),
    Document(id="bare", content="tea without a vector", meta={"price": 1}),
]
CHEAP = {"field": "meta.price", "operator": "<", "value": 3}
DEAR = {"field": "meta.price", "operator": ">", "value": 2}


@pytest.fixture
def store() -> OneirosDocumentStore:
    store = OneirosDocumentStore(":memory:")
    store.write_documents(DOCUMENTS)
    return store


def ids(found: dict[str, list[Document]]) -> list[str]:
    return [document.id for document in found["documents"]]


def test_the_embedding_retriever_ranks_by_cosine(store: OneirosDocumentStore) -> None:
    found = OneirosEmbeddingRetriever(store).run([2.0, 0.1, 0.0])
    assert ids(found) == ["tea", "milk", "coffee"]
    query = np.array([2.0, 0.1, 0.0])
    for document, given in zip(found["documents"], DOCUMENTS, strict=False):
        vector = np.asarray(given.embedding)
        cosine = query @ vector / np.linalg.norm(query) / np.linalg.norm(vector)
        assert document.score == pytest.approx(cosine, abs=1e-6)
        assert document.embedding is None
    assert ids(OneirosEmbeddingRetriever(store, top_k=2).run([1.0, 0.0, 0.0])) == ["tea", "milk"]
    assert ids(OneirosEmbeddingRetriever(store).run([1.0, 0.0, 0.0], top_k=0)) == []
    with_vectors = OneirosEmbeddingRetriever(store, return_embedding=True, top_k=1)
    assert with_vectors.run([1.0, 0.0, 0.0])["documents"][0].embedding == [1.0, 0.0, 0.0]


def test_words_alone_and_words_with_meaning(store: OneirosDocumentStore) -> None:
    words = OneirosHybridRetriever(store, profile="bm25")
    assert set(ids(words.run("tea"))) == {"tea", "bare"}
    both = OneirosHybridRetriever(store)
    assert set(ids(both.run("tea"))) == {"tea", "bare"}
    assert ids(both.run("tea", query_embedding=[1.0, 0.0, 0.0]))[0] == "tea"
    assert len(ids(both.run("tea", query_embedding=[1.0, 0.0, 0.0]))) == 4


def test_a_document_erased_after_the_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with oneiros.Engine(":memory:") as engine:
        store = OneirosDocumentStore.over(engine)
        store.write_documents([Document(id=id, content=f"tea {id}") for id in ("a", "b")])
        forgets_after_searches(engine, "a", monkeypatch)
        found = OneirosHybridRetriever(store).run("tea")["documents"]
        assert [document.id for document in found] == ["b"]


def test_a_query_of_any_length_is_searched(store: OneirosDocumentStore) -> None:
    store.write_documents([Document(id="oolong", content="an oolong")])
    log = " ".join(f"line{number}" for number in range(20_000))
    for profile in ("bm25", "rrf"):
        found = OneirosHybridRetriever(store, profile=profile).run(
            f"Is this oolong? {log}", top_k=1
        )
        assert [document.id for document in found["documents"]] == ["oolong"]


def test_filters_and_their_policies(store: OneirosDocumentStore) -> None:
    query = [1.0, 0.0, 0.0]
    replacing = OneirosEmbeddingRetriever(store, filters=CHEAP)
    assert ids(replacing.run(query)) == ["milk"]
    assert ids(replacing.run(query, filters=DEAR)) == ["tea", "coffee"]
    other = {"field": "meta.price", "operator": "!=", "value": 5}
    not_tea = {"field": "id", "operator": "!=", "value": "tea"}
    merging = OneirosEmbeddingRetriever(store, filters=not_tea, filter_policy=FilterPolicy.MERGE)
    assert ids(merging.run(query, filters=other)) == ["milk"]


def test_retrieving_counts_as_a_use_only_if_it_is_said_so(store: OneirosDocumentStore) -> None:
    engine = store.memories
    for retriever in (
        OneirosHybridRetriever(store),
        OneirosHybridRetriever(store, profile="oneiros"),
    ):
        retriever.run("tea", query_embedding=[1.0, 0.0, 0.0])
    OneirosEmbeddingRetriever(store).run([1.0, 0.0, 0.0])
    assert engine.get("tea").access_count == 0
    OneirosHybridRetriever(store, profile="oneiros", reinforce=True).run("green tea")
    assert engine.get("tea").access_count == 1
    with pytest.raises(ValueError, match="'rrf' has no reinforcement"):
        OneirosHybridRetriever(store, reinforce=True).run("tea")


def test_a_query_without_a_vector_is_refused(store: OneirosDocumentStore) -> None:
    retriever = OneirosEmbeddingRetriever(store)
    (found,) = retriever.run([1.0, 0.0, 0.0], top_k=1)["documents"]
    with pytest.raises(TypeError, match="query_embedding: must be a vector, got None"):
        retriever.run(found.embedding)


def test_a_pipeline_survives_yaml(tmp_path: Path) -> None:
    path = str(tmp_path / "documents.db")
    writing = Pipeline()
    writing.add_component("writer", DocumentWriter(OneirosDocumentStore(path)))
    writing.run({"writer": {"documents": DOCUMENTS}})
    asking = Pipeline()
    bounded = OneirosDocumentStore(path, soft_delete=True)
    asking.add_component("nearest", OneirosEmbeddingRetriever(bounded, filters=CHEAP, top_k=3))
    asking.add_component("words", OneirosHybridRetriever(bounded, profile="bm25", top_k=1))
    restored = Pipeline.loads(asking.dumps(), allowed_modules=["oneiros.integrations.haystack"])
    assert restored.to_dict() == asking.to_dict()
    found = restored.run({"nearest": {"query_embedding": [1, 0, 0]}, "words": {"query": "coffee"}})
    assert ids(found["nearest"]) == ["milk"]
    assert ids(found["words"]) == ["coffee"]


def test_a_changed_dict_leaves_the_document_store_in_its_scope() -> None:
    ada = OneirosDocumentStore(":memory:", scope={"user": "ada"})
    data = ada.to_dict()
    data["init_parameters"]["scope"]["user"] = "bob"
    bob = OneirosDocumentStore.from_dict(data)
    assert [store.memories.bounds for store in (ada, bob)] == [{"user": "ada"}, {"user": "bob"}]


def test_run_async(store: OneirosDocumentStore) -> None:
    async def both() -> list[list[str]]:
        near = OneirosEmbeddingRetriever(store).run_async([1.0, 0.0, 0.0], CHEAP)
        words = OneirosHybridRetriever(store).run_async("coffee")
        return [ids(found) for found in await asyncio.gather(near, words)]

    assert asyncio.run(both()) == [["milk"], ["coffee"]]


def test_two_stores_share_a_file_and_scopes_keep_users_apart(tmp_path: Path) -> None:
    path = tmp_path / "documents.db"
    ada = OneirosDocumentStore(path, scope={"user": "ada"})
    bob = OneirosDocumentStore(path, scope={"user": "bob"})
    ada.write_documents([DOCUMENTS[0]])
    assert bob.count_documents() == 0
    assert ids(OneirosHybridRetriever(bob).run("tea")) == []
    for policy in (DuplicatePolicy.SKIP, DuplicatePolicy.FAIL):
        with pytest.raises(DuplicateDocumentError):
            bob.write_documents([DOCUMENTS[0]], policy)
    assert OneirosDocumentStore(path).count_documents() == 1
    ada.close()
    assert ada.count_documents() == 1  # it opens again


def test_an_index_that_is_recreated_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "documents.db"
    ada, bob = (
        OneirosDocumentStore(path, scope={"user": user}, soft_delete=True)
        for user in ("ada", "bob")
    )
    for store, user in ((ada, "ada"), (bob, "bob")):
        store.write_documents(
            [Document(id=f"{user} {n}", content=f"tea {n} of {user}") for n in (1, 2)]
        )
    ada.delete_documents(["ada 1"])
    bob.delete_all_documents()
    ada.delete_all_documents(recreate_index=True)
    assert ada.memories.get_deleted(["ada 1", "ada 2"]) == [None, None]
    with oneiros.Engine(path) as engine:
        assert engine.verify_erased("tea 1 of ada")
        assert engine.verify_erased("tea 2 of ada")
        assert not engine.verify_erased("tea 1 of bob")
    bob.memories.restore("bob 1")
    assert [document.id for document in bob.filter_documents()] == ["bob 1"]
    ada.close()
    bob.close()


def test_skip_takes_the_first_of_an_id_and_overwrite_the_last() -> None:
    twice = [Document(id="1", content="first"), Document(id="1", content="last")]
    for policy, content, count in (
        (DuplicatePolicy.SKIP, "first", 1),
        (DuplicatePolicy.OVERWRITE, "last", 2),
    ):
        store = OneirosDocumentStore()
        assert store.write_documents(twice, policy) == count
        assert [document.content for document in store.filter_documents()] == [content]


def test_an_engine_of_an_application_embeds_documents_without_a_vector() -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    with oneiros.Engine(":memory:", embedder=lengths) as engine:
        store = OneirosDocumentStore.over(engine)
        store.write_documents([Document(id="tea", content="tea")])
        assert engine.get("tea").embedding is not None
        assert ids(OneirosHybridRetriever(store).run("xyz")) == ["tea"]
        with pytest.raises(ValueError, match="open engine cannot be serialized"):
            store.to_dict()
        store.close()
        assert store.count_documents() == 1  # it is not the owner of the engine


def test_the_values_of_a_field_with_dots_in_its_name() -> None:
    store = OneirosDocumentStore()
    store.write_documents(
        [
            Document(content="1", meta={"a.b": 3}),
            Document(content="2", meta={"a": {"b": 4}}),
            Document(content="3", meta={"a.b": None, "a": {"b": 5}}),
        ]
    )
    assert "a.b" in store.get_metadata_fields_info()
    assert store.get_metadata_field_min_max("meta.a.b") == {"min": 3, "max": 4}
    assert store.get_metadata_field_unique_values("meta.a.b") == ([3, 4], 2)
    assert store.count_unique_metadata_by_filter({}, ["a.b"]) == {"a.b": 2}


def test_a_document_without_content_keeps_none(store: OneirosDocumentStore) -> None:
    bare = Document(id="none", meta={"a": [1, {"b": None}]})
    store.write_documents([bare, Document(id="blank", content="")])
    assert store.filter_documents({"field": "id", "operator": "==", "value": "none"}) == [bare]
    blank = store.filter_documents({"field": "id", "operator": "==", "value": "blank"})
    assert blank[0].content == ""


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document(id="x", content="a", meta={"_haystack": 1}), "'_haystack' is reserved"),
        (Document(id="x", content="a", meta={"at": {1, 2}}), "at"),
        (Document(id="x", content="a", embedding=[1.0, 2.0]), "embedding"),
    ],
)
def test_documents_that_are_refused(
    store: OneirosDocumentStore, document: Document, message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        store.write_documents([Document(id="before", content="b"), document])
    assert store.count_documents() == len(DOCUMENTS)


def test_other_bad_arguments(store: OneirosDocumentStore) -> None:
    for field in ({"blob": ByteStream(b"x")}, {"sparse_embedding": SparseEmbedding([1], [0.5])}):
        with pytest.raises(ValueError, match="cannot be stored, but document 'x' has one"):
            store.write_documents([Document(id="x", **field)])
    with pytest.raises(TypeError, match="policy: expected a DuplicatePolicy, got str"):
        store.write_documents([Document(content="x")], "skip")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="recreate_index: must be True or False"):
        store.delete_all_documents("yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="document_store: expected a OneirosDocumentStore"):
        OneirosEmbeddingRetriever(store.memories)
    with pytest.raises(ValueError, match="top_k"):
        OneirosEmbeddingRetriever(store, top_k=0)
    with pytest.raises(ValueError, match="name the profile"):
        OneirosHybridRetriever(store, profile=oneiros.profiles.get("rrf")).to_dict()
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosDocumentStore.over("agent.db")  # type: ignore[arg-type]
