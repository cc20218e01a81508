"""The vector store by the protocol of BasePydanticVectorStore, and in an index of LlamaIndex."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WHY = "needs llama-index-core: nox -s 'integrations(name=\"llamaindex\")'"
pytest.importorskip("llama_index.core", reason=WHY)

from llama_index.core import Document, MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.schema import (
    BaseNode,
    ImageNode,
    IndexNode,
    MediaResource,
    Node,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from llama_index.core.vector_stores.types import VectorStoreQueryMode

import oneiros
from oneiros.integrations.llamaindex import OneirosVectorStore
from tests.integrations.forgetting import forgets_after_searches

SUPPORTED = {"default", "sparse", "text_search", "hybrid"}


def node(id: str, text: str, vector: list[float] | None, doc: str, **metadata: Any) -> TextNode:
    made = TextNode(id_=id, text=text, embedding=vector, metadata=metadata)
    made.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=doc)
    return made


def nodes() -> list[TextNode]:
    return [
        node("tea", "green tea", [1.0, 0.0, 0.0], "drinks", price=3),
        node("milk", "oat milk", [0.8, 0.6, 0.0], "drinks", price=2),
        node("coffee", "black coffee", [0.0, 0.0, 2.0], "beans", price=5),
        node("bare", "tea without a vector", None, "beans", price=1),
    ]


CHEAP = MetadataFilters(filters=[MetadataFilter(key="price", operator=FilterOperator.LT, value=3)])


@pytest.fixture(params=["memory", "file", "soft", "scope"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OneirosVectorStore]:
    path = str(tmp_path / "nodes.db")
    other = None
    match request.param:
        case "memory":
            made = OneirosVectorStore()
        case "file":
            made = OneirosVectorStore(path)
        case "soft":
            made = OneirosVectorStore(soft_delete=True)
        case _:
            made = OneirosVectorStore(path, scope={"user": "ada"})
            other = OneirosVectorStore(path, scope={"user": "bob"})
            other.add([node("bob's", "tea of bob", [1.0, 0.0, 0.0], "drinks", price=1)])
    made.add(nodes())
    yield made
    made.close()
    if other is not None:
        assert [one.node_id for one in other.get_nodes()] == ["bob's"]
        other.close()


def ids(found: list[BaseNode]) -> list[str]:
    return [one.node_id for one in found]


def asked(store: OneirosVectorStore, mode: str, **fields: Any) -> list[str]:
    query = VectorStoreQuery(mode=VectorStoreQueryMode(mode), similarity_top_k=10, **fields)
    return store.query(query).ids or []


def test_default_ranks_by_cosine(store: OneirosVectorStore) -> None:
    query = np.array([2.0, 0.1, 0.0])
    found = store.query(VectorStoreQuery(query_embedding=query.tolist(), similarity_top_k=10))
    assert found.ids == ["tea", "milk", "coffee"]
    assert ids(list(found.nodes or [])) == found.ids
    for similarity, given in zip(found.similarities or [], nodes(), strict=False):
        vector = np.asarray(given.embedding)
        cosine = query @ vector / np.linalg.norm(query) / np.linalg.norm(vector)
        assert similarity == pytest.approx(cosine, abs=1e-6)


def test_words_and_both(store: OneirosVectorStore) -> None:
    for mode in ("sparse", "text_search"):
        assert set(asked(store, mode, query_str="tea")) == {"tea", "bare"}
    tea = {"query_str": "tea without", "query_embedding": [0.0, 0.0, 1.0]}
    assert len(asked(store, "hybrid", **tea)) == 4
    assert asked(store, "hybrid", **tea, alpha=1.0)[0] == "coffee"
    assert asked(store, "hybrid", **tea, alpha=0.0)[0] == "bare"


def test_a_node_erased_after_the_search_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with oneiros.Engine(":memory:") as engine:
        store = OneirosVectorStore.over(engine)
        store.add(nodes())
        forgets_after_searches(engine, "tea", monkeypatch)
        found = store.query(
            VectorStoreQuery(
                query_str="tea", mode=VectorStoreQueryMode.TEXT_SEARCH, similarity_top_k=5
            )
        )
        assert found.ids == ids(list(found.nodes or [])) == ["bare"]
        assert len(found.similarities or []) == 1


def test_a_query_of_any_length_is_searched(store: OneirosVectorStore) -> None:
    log = " ".join(f"line{number}" for number in range(20_000))
    for mode in ("sparse", "text_search", "hybrid"):
        assert asked(store, mode, query_str=f"Is it oat? {log}") == ["milk"]


@pytest.mark.parametrize("profile", ["rrf", "oneiros", "reverie", "vectors first"])
def test_alpha_weighs_the_vectors(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reversed_rrf = oneiros.profiles.get("rrf").replace(
        name="vectors first", channels=oneiros.profiles.get("rrf").channels[::-1]
    )
    monkeypatch.setattr(
        "oneiros.integrations.llamaindex.resolved",
        lambda name: reversed_rrf if name == "vectors first" else oneiros.profiles.get(name),
    )
    store = OneirosVectorStore(profile=profile)
    store.add(nodes())
    tea = {"query_str": "tea without a vector", "query_embedding": [0.0, 0.0, 1.0]}
    assert asked(store, "hybrid", **tea, alpha=1.0)[0] == "coffee"
    assert asked(store, "hybrid", **tea, alpha=0.0)[0] == "bare"


@pytest.mark.parametrize("profile", ["bm25", "cosine", "mnemosyne", "omega", "cognitive"])
def test_alpha_needs_two_weights(profile: str) -> None:
    store = OneirosVectorStore(profile=profile)
    with pytest.raises(ValueError, match=f"alpha: needs a profile that .*, got '{profile}'"):
        asked(store, "hybrid", query_str="tea", query_embedding=[1.0], alpha=0.5)


def test_limits_of_modes(store: OneirosVectorStore) -> None:
    fields = {"query_str": "tea", "query_embedding": [1.0, 0.0, 0.0]}
    assert len(asked(store, "sparse", **fields, sparse_top_k=1)) == 1
    assert len(asked(store, "hybrid", **fields, hybrid_top_k=2)) == 2
    assert len(asked(store, "default", **fields, sparse_top_k=1, hybrid_top_k=1)) == 3


def test_queries_are_narrowed_by_filters_ids_and_documents(store: OneirosVectorStore) -> None:
    vector = {"query_embedding": [1.0, 0.0, 0.0]}
    assert asked(store, "default", **vector, filters=CHEAP) == ["milk"]
    assert asked(store, "default", **vector, node_ids=["coffee", "none"]) == ["coffee"]
    assert len(asked(store, "default", **vector, node_ids=[], doc_ids=[])) == 3
    assert asked(store, "default", **vector, doc_ids=["drinks"]) == ["tea", "milk"]
    assert asked(store, "default", **vector, doc_ids=["beans"], node_ids=["tea"]) == []


@pytest.mark.parametrize("mode", sorted({mode.value for mode in VectorStoreQueryMode} - SUPPORTED))
def test_other_modes_are_refused(mode: str) -> None:
    with pytest.raises(ValueError, match=f"mode: '{mode}' is not supported"):
        asked(OneirosVectorStore(), mode, query_str="tea", query_embedding=[1.0])


@pytest.mark.parametrize(
    ("mode", "fields", "message"),
    [
        ("default", {"query_str": "tea"}, "query_embedding: the mode default needs it"),
        ("sparse", {"query_embedding": [1.0]}, "query_str: the mode sparse needs it"),
        ("hybrid", {"query_embedding": [1.0]}, "query_str: the mode hybrid needs it"),
        ("hybrid", {"query_str": "tea", "alpha": 2.0}, r"alpha: must be in \[0, 1\], got 2.0"),
    ],
)
def test_what_a_mode_needs(mode: str, fields: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        asked(OneirosVectorStore(), mode, **fields)


def test_get_nodes(store: OneirosVectorStore) -> None:
    assert ids(store.get_nodes()) == ["tea", "milk", "coffee", "bare"]
    assert ids(store.get_nodes(["coffee", "none", "tea"])) == ["coffee", "tea"]
    assert ids(store.get_nodes(filters=CHEAP)) == ["milk", "bare"]
    assert ids(store.get_nodes(["bare", "tea"], CHEAP)) == ["bare"]
    assert store.get_nodes([]) == []


def test_a_node_comes_back_as_it_was(store: OneirosVectorStore) -> None:
    rich = TextNode(
        id_="rich",
        text="Ünïcode",
        metadata={"list": [1, "a"], "deep": {"n": None}, "at": "2025-03-01T08:00:00", "none": []},
        excluded_llm_metadata_keys=["list"],
        start_char_idx=3,
        end_char_idx=9,
        metadata_template="{key}={value}",
    )
    rich.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="doc", metadata={"x": 1})
    index = IndexNode(id_="index", text="see there", index_id="there")
    image = ImageNode(id_="image", text="", image_url="https://example.org/a.png")
    plain = Node(id_="plain", text_resource=MediaResource(text="plain"))
    given: list[BaseNode] = [rich, index, image, plain]
    assert store.add(given) == ids(given)
    for one, back in zip(given, store.get_nodes(ids(given)), strict=True):
        assert type(back) is type(one)
        assert back.model_dump(exclude={"embedding"}) == one.model_dump(exclude={"embedding"})


def test_adding_again_replaces(store: OneirosVectorStore) -> None:
    store.add([node("tea", "white tea", [0.0, 1.0, 0.0], "leaves")])
    (back,) = store.get_nodes(["tea"])
    assert (back.get_content(), back.metadata, back.ref_doc_id) == ("white tea", {}, "leaves")
    assert len(store.get_nodes()) == 4
    assert asked(store, "default", query_embedding=[0.0, 1.0, 0.0])[0] == "tea"


def test_delete_by_document(store: OneirosVectorStore) -> None:
    store.delete("drinks")
    store.delete("unknown")
    assert ids(store.get_nodes()) == ["coffee", "bare"]
    assert asked(store, "default", query_embedding=[1.0, 0.0, 0.0]) == ["coffee"]
    store.add(nodes())
    assert len(store.get_nodes()) == 4


def test_delete_nodes(store: OneirosVectorStore) -> None:
    store.delete_nodes(["tea", "bare", "none"], CHEAP)
    assert ids(store.get_nodes()) == ["tea", "milk", "coffee"]
    store.delete_nodes(["tea", "none"])
    store.delete_nodes(filters=CHEAP)
    store.delete_nodes([])
    assert ids(store.get_nodes()) == ["coffee"]
    nested = MetadataFilters(filters=[MetadataFilters(filters=[])])
    for nothing in (None, MetadataFilters(filters=[]), nested):
        with pytest.raises(ValueError, match=r"clear\(\) deletes all"):
            store.delete_nodes(filters=nothing)
    store.clear()
    assert store.get_nodes() == []
    store.clear()


def test_soft_deleted_nodes_come_back_and_others_are_gone() -> None:
    for soft in (True, False):
        store = OneirosVectorStore(soft_delete=soft)
        store.add(nodes())
        store.delete("drinks")
        assert [one is not None for one in store.client.get_deleted(["tea"])] == [soft]


def test_async_twins(store: OneirosVectorStore) -> None:
    async def run() -> None:
        await store.async_add([node("oats", "oats", [0.0, 1.0, 0.0], "grain", price=1)])
        assert ids(await store.aget_nodes(["oats"])) == ["oats"]
        query = VectorStoreQuery(query_embedding=[0.0, 1.0, 0.0], similarity_top_k=1)
        assert (await store.aquery(query)).ids == ["oats"]
        await store.adelete_nodes(["oats"])
        await store.adelete("drinks")
        assert ids(await store.aget_nodes()) == ["coffee", "bare"]
        await store.aclear()
        assert await store.aget_nodes() == []

    asyncio.run(run())


def test_a_query_counts_as_a_use_only_if_it_is_said_so() -> None:
    store = OneirosVectorStore(profile="oneiros")
    store.add(nodes())
    both = {"query_str": "green tea", "query_embedding": [1.0, 0.0, 0.0]}
    for mode in sorted(SUPPORTED):
        assert asked(store, mode, **both)
    assert store.client.get("tea").access_count == 0
    using = OneirosVectorStore.over(store.client, profile="oneiros", reinforce=True)
    assert asked(using, "hybrid", **both)
    assert store.client.get("tea").access_count == 1
    with pytest.raises(ValueError, match="'rrf' has no reinforcement"):
        asked(OneirosVectorStore(reinforce=True), "hybrid", **both)


def test_an_index_over_the_store_and_its_storage(tmp_path: Path) -> None:
    path = str(tmp_path / "nodes.db")
    store = OneirosVectorStore(path)
    model = MockEmbedding(embed_dim=4)
    context = StorageContext.from_defaults(vector_store=store)
    documents = [
        Document(id_=name, text=f"{name} is fine", metadata={"n": len(name)})
        for name in ("tea", "milk")
    ]
    index = VectorStoreIndex.from_documents(documents, storage_context=context, embed_model=model)
    index.delete_ref_doc("milk")
    store.close()

    again = OneirosVectorStore.from_dict(store.to_dict())
    index = VectorStoreIndex.from_vector_store(again, embed_model=model)
    retriever = index.as_retriever(similarity_top_k=5)
    (found,) = retriever.retrieve("fine?")
    assert (found.node.ref_doc_id, found.node.metadata) == ("tea", {"n": 3})
    assert found.score == pytest.approx(1.0)
    words = index.as_retriever(vector_store_query_mode="text_search", similarity_top_k=5)
    assert words.retrieve("fine")[0].text == "tea is fine"
    index.insert(Document(id_="oats", text="oats are fine"))
    assert {one.node.ref_doc_id for one in retriever.retrieve("fine?")} == {"tea", "oats"}


def test_an_engine_of_an_application_and_memories_of_others() -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    with oneiros.Engine(":memory:", embedder=lengths) as engine:
        store = OneirosVectorStore.over(engine)
        store.add([TextNode(id_="tea", text="tea")])
        engine.add("milk", id="milk", metadata={"price": 2})
        assert asked(store, "default", query_embedding=[3.0, 1.0]) == ["tea", "milk"]
        (milk,) = store.get_nodes(["milk"])
        assert (milk.get_content(), milk.metadata) == ("milk", {"price": 2})
        store.close()
        assert engine.count() == 2


def test_a_copy_of_a_node_has_an_id_of_its_own() -> None:
    with oneiros.Engine(":memory:") as engine:
        store = OneirosVectorStore.over(engine)
        store.add([node("tea", "green tea", None, "drinks", price=3)])
        engine.add("black tea", id="copy", metadata=engine.get("tea").metadata)
        engine.add("milk", id="odd", metadata={"_llamaindex": {"type": "TextNode"}})
        assert ids(store.get_nodes()) == ["tea", "copy", "odd"]
        (copy,) = store.get_nodes(["copy"])
        assert (copy.get_content(), copy.metadata) == ("black tea", {"price": 3})
        assert sorted(asked(store, "text_search", query_str="tea")) == ["copy", "tea"]


def test_what_is_refused() -> None:
    store = OneirosVectorStore()
    with pytest.raises(ValueError, match="'_llamaindex' is reserved, but node 'x' has it"):
        store.add([TextNode(id_="x", text="x", metadata={"_llamaindex": 1})])
    store.add([TextNode(id_="a", text="a", embedding=[1.0, 0.0])])
    with pytest.raises(ValueError, match="embedding"):
        store.add([TextNode(id_="b", text="b"), TextNode(id_="c", text="c", embedding=[1.0])])
    with pytest.raises(TypeError, match="nodes: expected a list of nodes, got TextNode"):
        store.add(TextNode(text="b"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="node: expected LlamaIndex's BaseNode, got str"):
        store.add(["b"])  # type: ignore[list-item]
    assert ids(store.get_nodes()) == ["a"]
    with pytest.raises(TypeError, match="query: expected a VectorStoreQuery, got str"):
        store.query("a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="query_str: the mode hybrid needs it"):
        store.query(VectorStoreQuery(query_embedding=[1.0, 0.0], mode="hybrid"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rrff"):
        OneirosVectorStore(profile="rrff")
    with pytest.raises(TypeError, match="memories: expected an Engine or a scope"):
        OneirosVectorStore.over("agent.db")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="soft_delete"):
        OneirosVectorStore(soft_delete=1)  # type: ignore[arg-type]


def test_only_a_vector_store_of_a_file_is_pickled(tmp_path: Path) -> None:
    store = OneirosVectorStore(str(tmp_path / "nodes.db"), soft_delete=True)
    store.add([TextNode(id_="tea", text="tea")])
    again = pickle.loads(pickle.dumps(store))
    assert (again.soft_delete, again.get_nodes()[0].text) == (True, "tea")
    again.close()
    store.close()
    with oneiros.Engine(":memory:") as engine:
        shared = OneirosVectorStore.over(engine)
        with pytest.raises(TypeError, match="a vector store over an open engine cannot be"):
            pickle.dumps(shared)
