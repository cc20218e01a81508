"""What OneirosStore promises beyond the tests of LangGraph's stores."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros

WHY = "needs LangGraph: pip install -r tests/integrations/langgraph/requirements.txt"
pytest.importorskip("langgraph.store.base", reason=WHY)

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from oneiros.clock import VirtualClock
from oneiros.integrations.langgraph import OneirosStore

WORDS = ("tea", "coffee", "milk", "red", "blue", "green")


class Counts(Embeddings):
    """Counts a few words, and notes which methods were called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def vector(self, text: str) -> list[float]:
        return [float(text.count(word)) for word in WORDS]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append("documents")
        return [self.vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.calls.append("query")
        return self.vector(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append("async documents")
        return [self.vector(text) for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        self.calls.append("async query")
        return self.vector(text)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(1_750_000_000)


@pytest.fixture
def engine(clock: VirtualClock) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=clock) as engine:
        yield engine


@pytest.fixture
def store(engine: oneiros.Engine) -> OneirosStore:
    return OneirosStore(engine)


@pytest.fixture
def indexed(engine: oneiros.Engine) -> OneirosStore:
    return OneirosStore(engine, index={"embed": Counts(), "fields": ["a", "b", "c[*]"]})


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


# -- items -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "namespace",
    [("a/b", "c"), ("a%2Fb",), ("a", "b/c"), ("100%", "%25"), ("line\nend\n",), ("ü*?[",)],
)
def test_labels_come_back_as_they_were(store: OneirosStore, namespace: tuple[str, ...]) -> None:
    store.put(("a", "b", "c"), "k", {"v": 0})
    store.put(namespace, "k", {"v": 1})
    item = store.get(namespace, "k")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (namespace, "k", {"v": 1})
    assert [found.namespace for found in store.search(namespace)] == [namespace]
    assert set(store.list_namespaces()) == {("a", "b", "c"), namespace}


def test_too_deep_a_namespace_is_refused(store: OneirosStore) -> None:
    store.put(tuple("abcdefghijklmnop"), "k", {"v": 1})
    with pytest.raises(ValueError, match="namespace"):
        store.put(tuple("abcdefghijklmnopq"), "k", {"v": 1})


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 5_000, "a/b:1"])
def test_any_text_is_a_key(store: OneirosStore, key: str) -> None:
    store.put(("n",), key, {"v": 1})
    store.put(("n",), "other", {"v": 2})
    assert store.get(("n",), key).value == {"v": 1}
    store.delete(("n",), key)
    assert store.get(("n",), key) is None
    assert keys(store.search(("n",))) == ["other"]


def test_a_key_is_not_code(store: OneirosStore) -> None:
    store.put(("n",), "public", {"access": "public"})
    key = "access') = 'public' OR '1'='1' OR json_extract(value, '$."
    assert store.search(("n",), filter={key: "dummy"}) == []
    store.put(("n",), "odd", {key: "dummy"})
    assert keys(store.search(("n",), filter={key: "dummy"})) == ["odd"]


def test_a_value_may_be_any_mapping(store: OneirosStore) -> None:
    store.put(("n",), "k", MappingProxyType({"v": [1, {"w": None}]}))
    assert store.get(("n",), "k").value == {"v": [1, {"w": None}]}
    with pytest.raises(TypeError, match="value: expected a mapping"):
        store.put(("n",), "k", "text")
    with pytest.raises(TypeError, match=r"metadata\.value\.v: must be JSON"):
        store.put(("n",), "k", {"v": {1, 2}})
    assert store.get(("n",), "k").value == {"v": [1, {"w": None}]}


def test_an_update_keeps_the_time_of_creation(
    store: OneirosStore, engine: oneiros.Engine, clock: VirtualClock
) -> None:
    store.put(("n",), "k", {"v": 1})
    (memory,) = engine.list()
    engine.feedback(memory.id, "helpful")
    clock.advance(60)
    store.put(("n",), "k", {"v": 2})
    item = store.get(("n",), "k")
    assert item.created_at.timestamp() == 1_750_000_000
    assert item.updated_at.timestamp() == 1_750_000_060
    assert engine.get(memory.id).feedback == 1
    assert [one.memory.metadata["value"] for one in engine.history(memory.id)] == [
        {"v": 1},
        {"v": 2},
    ]


def test_reads_come_before_writes_and_the_last_put_wins(store: OneirosStore) -> None:
    store.put(("n",), "k", {"v": 1})
    results = store.batch(
        [
            PutOp(("n",), "k", {"v": 2}),
            GetOp(("n",), "k"),
            PutOp(("n",), "k", {"v": 3}),
            SearchOp(("n",)),
            PutOp(("n",), "gone", {"v": 4}),
            PutOp(("n",), "gone", None),
        ]
    )
    assert results[1].value == {"v": 1}
    assert [item.value for item in results[3]] == [{"v": 1}]
    assert results[0] is results[2] is results[4] is None
    assert store.get(("n",), "k").value == {"v": 3}
    assert store.get(("n",), "gone") is None


def test_a_batch_with_a_wrong_label_does_nothing(store: OneirosStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("n",), "k", {"v": 1}), GetOp(("a.b",), "k")])
    with pytest.raises(ValueError, match="ops: unknown operation str"):
        store.batch([PutOp(("n",), "k", {"v": 1}), "get"])
    assert store.get(("n",), "k") is None


# -- filters ---------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([-0.5, 0.5, 2.5]))
TEXTS = st.sampled_from(["", "a", "b", "2025-01-01"])
LISTS = st.lists(st.one_of(NUMBERS, TEXTS), max_size=2)
VALUES = st.fixed_dictionaries(
    {"n": NUMBERS},
    optional={
        "t": TEXTS,
        "l": LISTS,
        "o": st.fixed_dictionaries({"n": NUMBERS}, optional={"l": LISTS, "t": TEXTS}),
    },
)
RANGES = st.dictionaries(st.sampled_from(["$gt", "$gte"]), NUMBERS, min_size=1, max_size=1)
UPPER = st.dictionaries(st.sampled_from(["$lt", "$lte"]), NUMBERS, min_size=1, max_size=1)
EQUAL = {
    "n": NUMBERS,
    "t": TEXTS,
    "l": LISTS,
    "o": st.fixed_dictionaries({}, optional={"n": NUMBERS, "t": TEXTS, "l": LISTS}),
}


def operated(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        values,
        values.map(lambda value: {"$eq": value}),
        values.map(lambda value: {"$ne": value}),
    )


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "n": st.one_of(operated(NUMBERS), RANGES, UPPER, st.builds(dict.__or__, RANGES, UPPER)),
        "t": operated(TEXTS),
        "l": operated(LISTS),
        "o": EQUAL["o"].filter(bool),
    },
)


@given(st.lists(VALUES, max_size=6), st.lists(FILTERS, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_filters_find_what_the_store_in_memory_finds(
    values: list[dict[str, Any]], filters: list[dict[str, Any]]
) -> None:
    with oneiros.Engine(":memory:") as engine:
        ours, theirs = OneirosStore(engine), InMemoryStore()
        for place, value in enumerate(values):
            for store in (ours, theirs):
                store.put(("n",), str(place), value)
        for filter in filters:
            if any(_is_reversed(bounds) for bounds in filter.values()):
                continue
            found = keys(ours.search((), filter=filter))
            assert found == keys(theirs.search((), filter=filter)), filter


def _is_reversed(bounds: object) -> bool:
    """Whether a range ends before it starts: nothing there, an error here."""
    if not isinstance(bounds, Mapping):
        return False
    low = [bounds[name] for name in ("$gt", "$gte") if name in bounds]
    high = [bounds[name] for name in ("$lt", "$lte") if name in bounds]
    return bool(low and high and low[0] > high[0])


def test_an_empty_dict_matches_objects_alone(store: OneirosStore) -> None:
    values: list[Any] = [{}, {"y": 1}, {"y": [1]}, [], [{}], "", "a", 0, -1.5, True, False, None]
    stores = (store, InMemoryStore())
    for each in stores:
        for place, value in enumerate(values):
            each.put(("a",), f"{place:02}", {"x": value, "n": {"x": value}})
        each.put(("a",), "none", {})
    for filter in ({"x": {}}, {"n": {"x": {}}}):
        found = [sorted(keys(each.search(("a",), filter=filter, limit=50))) for each in stores]
        assert found == [["00", "01", "02"]] * 2


def test_filters_are_stricter_than_python(store: OneirosStore) -> None:
    for key, value in {"one": 1, "true": True, "null": None}.items():
        store.put(("n",), key, {"v": value})
    store.put(("n",), "none", {})
    assert keys(store.search((), filter={"v": 1.0})) == ["one"]
    assert keys(store.search((), filter={"v": True})) == ["true"]
    assert keys(store.search((), filter={"v": None})) == ["null"]


def test_keys_with_dots_come_first(store: OneirosStore) -> None:
    store.put(("n",), "key", {"a.b": 1, "a": {"b": 2}})
    store.put(("n",), "path", {"a": {"b": 2}})
    assert keys(store.search((), filter={"a.b": 1})) == ["key"]
    assert keys(store.search((), filter={"a.b": 2})) == ["path"]
    assert keys(store.search((), filter={"a": {"b": 2}})) == ["key", "path"]
    assert keys(store.search((), filter={"a.b": {"$gt": 1}})) == ["path"]


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"v": {"$in": [1]}}, r"filter: v: unknown operator '\$in'"),
        ({"v": {"$gt": "b"}}, "v"),
        ({"v": {"$gt": None}}, "v"),
    ],
)
def test_wrong_filters_are_named(store: OneirosStore, filter: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        store.search((), filter=filter)


# -- search ----------------------------------------------------------------------------------------


def test_words_rank_without_an_index(store: OneirosStore) -> None:
    store.put(("n",), "tea", {"text": "Grace drinks tea"})
    store.put(("n",), "coffee", {"text": "Ada likes her coffee black"})
    store.put(("m",), "elsewhere", {"text": "coffee"})
    store.put(("n",), "hidden", {"text": "coffee"}, index=False)
    found = store.search(("n",), query="coffee")
    assert keys(found) == ["coffee", "tea", "hidden"]
    assert found[0].score > 0
    assert [item.score for item in found[1:]] == [None, None]
    assert keys(store.search(("n",), query="coffee", limit=1)) == ["coffee"]


def test_a_query_of_any_length_is_searched(store: OneirosStore) -> None:
    store.put(("a",), "milk", {"text": "Grace drinks milk"})
    store.put(("a",), "tea", {"text": "Ada drinks tea"})
    log = " ".join(f"line{number}" for number in range(20_000))
    assert keys(store.search(("a",), query=f"Who has tea? {log}")) == ["tea", "milk"]


def test_words_rank_at_the_paths_of_an_index(engine: oneiros.Engine) -> None:
    store = OneirosStore(engine, index={"fields": ["text", "tags[*]"]})
    store.put(("n",), "coffee", {"text": "black", "tags": ["coffee"], "note": "secret"})
    store.put(("n",), "tea", {"text": "green", "note": "coffee"})
    store.put(("n",), "note", {"text": "red", "note": "coffee"}, index=["note"])
    found = store.search((), query="coffee")
    assert [item.key for item in found if item.score is not None] == ["note", "coffee"]
    assert keys(found)[2] == "tea"
    assert [item.score for item in store.search((), query="text")] == [None] * 3
    assert engine.search("black coffee").texts[0] == "black\ncoffee"


def test_vectors_of_another_dimension_are_refused(engine: oneiros.Engine) -> None:
    OneirosStore(engine, index={"embed": Counts()}).put(("n",), "k", {"text": "tea"})
    short = OneirosStore(engine, index={"embed": lambda texts: [[1.0] for _ in texts]})
    with pytest.raises(ValueError, match="embedding: expected 6 values"):
        short.put(("n",), "other", {"text": "tea"})
    assert short.get(("n",), "other") is None


def test_a_wrong_number_of_vectors_is_named(engine: oneiros.Engine) -> None:
    store = OneirosStore(engine, index={"embed": lambda texts: [[1.0]] * (len(texts) + 1)})
    with pytest.raises(ValueError, match="embedder: expected 1 vectors, got 2"):
        store.put(("a",), "k", {"text": "tea"})
    with pytest.raises(ValueError, match="embedder: expected 1 vectors, got 2"):
        asyncio.run(store.aput(("a",), "k", {"text": "tea"}))
    assert len(engine) == 0


def test_the_engines_embedder_ranks_too() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        return np.array([[("tea" in text) + 0.1, ("warm" in text) + 0.1] for text in texts])

    def near(texts: list[str]) -> np.ndarray:
        return embed([text.replace("infusion", "tea") for text in texts])

    with oneiros.Engine(":memory:", embedder=near) as engine:
        store = OneirosStore(engine)
        store.put(("n",), "warm", {"text": "a warm day"})
        store.put(("n",), "tea", {"text": "Grace drinks tea"})
        assert keys(store.search((), query="infusion")) == ["tea", "warm"]
        store.put(("n",), "tea", {"text": "Grace drinks water"})
        store.put(("n",), "warm", {"text": "a day for tea"})
        assert keys(store.search((), query="infusion")) == ["warm", "tea"]


TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"n": st.integers(0, 2)},
            optional={"a": TEXT, "b": TEXT, "c": st.lists(TEXT, max_size=3)},
        ),
        max_size=8,
    ),
    TEXT,
    st.integers(1, 9),
    st.integers(0, 4),
    st.sampled_from([None, {"n": 1}, {"n": {"$gte": 1}}]),
)
@settings(max_examples=60, deadline=None)
def test_the_best_vector_of_an_item_counts(
    values: list[dict[str, Any]], query: str, limit: int, offset: int, filter: Any
) -> None:
    """By the rule itself: the greatest cosine of an item's texts, items without texts last."""
    embed = Counts()
    with oneiros.Engine(":memory:") as engine:
        store = OneirosStore(engine, index={"embed": embed, "fields": ["a", "b", "c[*]"]})
        best: dict[str, float | None] = {}
        for place, value in enumerate(values):
            store.put(("n",), str(place), value)
            if filter and (value["n"] != 1 if filter == {"n": 1} else value["n"] < 1):
                continue
            texts = [value[name] for name in ("a", "b") if name in value] + value.get("c", [])
            best[str(place)] = max((_cosine(embed, text, query) for text in texts), default=None)
        found = store.search((), query=query, limit=limit, offset=offset, filter=filter)
    scored = sorted((score for score in best.values() if score is not None), reverse=True)
    wanted = [*scored, *([None] * (len(best) - len(scored)))][offset : offset + limit]
    assert [None if item.score is None else round(item.score, 4) for item in found] == [
        None if score is None else round(score, 4) for score in wanted
    ]
    for item in found:
        assert (item.score is None) == (best[item.key] is None)
        assert item.score is None or item.score == pytest.approx(best[item.key], abs=1e-4)
    assert len({item.key for item in found}) == len(found)


def _cosine(embed: Counts, text: str, query: str) -> float:
    a, b = np.array(embed.vector(text)), np.array(embed.vector(query))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_further_vectors_go_with_their_item(indexed: OneirosStore, engine: oneiros.Engine) -> None:
    indexed.put(("n",), "k", {"a": "tea", "b": "coffee", "c": ["milk", "red"]})
    assert len(engine) == 4
    assert keys(indexed.search((), query="red")) == ["k"]
    assert indexed.search((), query="red")[0].score == pytest.approx(1.0)
    assert len(engine.search("red milk coffee tea").ids) == 1  # the engine sees the item alone

    indexed.put(("n",), "k", {"a": "tea", "b": "blue"})
    assert len(engine) == 2
    assert indexed.search((), query="red")[0].score == pytest.approx(0.0)
    assert indexed.search((), query="blue")[0].score == pytest.approx(1.0)

    indexed.put(("n",), "k", {"a": "tea", "b": "blue"}, index=False)
    assert len(engine) == 1
    assert indexed.search((), query="tea")[0].score is None

    indexed.put(("n",), "k", {"a": "tea", "b": "blue"}, index=["b"])
    assert [item.score for item in indexed.search((), query="blue")] == [pytest.approx(1.0)]
    indexed.put(("n",), "k", {"a": "tea", "b": "blue"})
    indexed.delete(("n",), "k")
    assert len(engine) == 0
    assert engine.verify_erased("blue")


def test_an_archived_item_is_there_without_a_score(
    indexed: OneirosStore, engine: oneiros.Engine
) -> None:
    indexed.put(("n",), "k", {"a": "tea", "b": "coffee"})
    (item,) = engine.list(oneiros.where(labels="langgraph"))
    engine.update(item.id, status="archived")
    assert [found.score for found in indexed.search((), query="coffee")] == [None]
    assert indexed.get(("n",), "k").value == {"a": "tea", "b": "coffee"}
    indexed.put(("n",), "k", {"a": "tea", "b": "coffee"})
    assert [found.score for found in indexed.search((), query="coffee")] == [pytest.approx(1.0)]


def test_a_put_over_a_superseded_item_makes_it_current(
    indexed: OneirosStore, engine: oneiros.Engine
) -> None:
    indexed.put(("n",), "k", {"a": "tea"})
    (item,) = engine.list()
    engine.supersede(item.id, engine.add("coffee"))
    assert [found.score for found in indexed.search((), query="tea")] == [None]
    indexed.put(("n",), "k", {"a": "tea"})
    assert [found.score for found in indexed.search((), query="tea")] == [pytest.approx(1.0)]


def test_other_memories_are_no_items(store: OneirosStore, engine: oneiros.Engine) -> None:
    engine.add("coffee", namespace="n", metadata={"key": "k", "value": {}})
    assert store.search((), query="coffee") == []
    assert store.list_namespaces() == []


def test_a_memory_with_the_label_alone_is_no_item(
    indexed: OneirosStore, engine: oneiros.Engine
) -> None:
    indexed.put(("a",), "k", {"a": "tea"})
    indexed.put(("a",), "lost", {"a": "milk", "b": "tea"})
    is_lost = oneiros.where(labels="langgraph") & (oneiros.meta("key") == "lost")
    (id,) = (memory.id for memory in engine.list(is_lost))
    engine.update(id, metadata={"note": "of another program"})
    vector = Counts().vector("tea")
    engine.add("by hand", labels=["langgraph"], namespace="a", embedding=vector)
    for store in (indexed, OneirosStore(engine)):
        assert keys(store.search(("a",))) == ["k"]
        assert keys(store.search(("a",), query="tea")) == ["k"]
        assert store.get(("a",), "lost") is None
        assert store.list_namespaces() == [("a",)]
    indexed.put(("a",), "lost", {"a": "coffee"})
    item = indexed.get(("a",), "lost")
    assert item is not None
    assert item.value == {"a": "coffee"}


def test_reads_never_count_as_a_use(store: OneirosStore, engine: oneiros.Engine) -> None:
    store.put(("n",), "k", {"text": "coffee"})
    store.get(("n",), "k")
    store.search((), query="coffee")
    store.search(())
    engine.flush()
    assert [memory.access_count for memory in engine.list()] == [0]


# -- lifetimes -------------------------------------------------------------------------------------


def test_an_item_lives_from_its_last_read(store: OneirosStore, clock: VirtualClock) -> None:
    store.put(("n",), "k", {"v": 1}, ttl=2)
    clock.advance(100)
    assert store.get(("n",), "k", refresh_ttl=False) is not None
    clock.advance(19)
    assert keys(store.search(())) == ["k"]  # a read: two more minutes
    clock.advance(119)
    assert store.get(("n",), "k") is not None
    clock.advance(119)
    assert store.get(("n",), "k", refresh_ttl=False) is not None
    clock.advance(2)
    assert store.get(("n",), "k") is None
    assert store.search(()) == []
    assert store.list_namespaces() == []
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0


def test_a_put_sets_the_lifetime_again(store: OneirosStore, clock: VirtualClock) -> None:
    store.put(("n",), "k", {"v": 1}, ttl=1)
    clock.advance(50)
    store.put(("n",), "k", {"v": 2}, ttl=1)
    clock.advance(50)
    assert store.get(("n",), "k", refresh_ttl=False).value == {"v": 2}
    store.put(("n",), "k", {"v": 3})
    clock.advance(10**7)
    assert store.get(("n",), "k").value == {"v": 3}
    store.put(("n",), "k", {"v": 4}, ttl=1)
    clock.advance(61)
    assert store.get(("n",), "k") is None
    store.put(("n",), "k", {"v": 5})  # over an expired one
    assert store.get(("n",), "k").value == {"v": 5}


def test_the_stores_own_lifetime(engine: oneiros.Engine, clock: VirtualClock) -> None:
    store = OneirosStore(engine, ttl={"default_ttl": 1, "refresh_on_read": False})
    store.put(("n",), "default", {"v": 1})
    store.put(("n",), "longer", {"v": 1}, ttl=2)
    store.put(("n",), "for good", {"v": 1}, ttl=None)
    clock.advance(50)
    assert len(store.search(())) == 3
    clock.advance(11)
    assert keys(store.search(())) == ["longer", "for good"]
    clock.advance(60)
    assert keys(store.search(())) == ["for good"]
    assert store.sweep_ttl() == 2


def test_reads_refresh_by_default(engine: oneiros.Engine, clock: VirtualClock) -> None:
    store = OneirosStore(engine, ttl={"default_ttl": 1})
    store.put(("n",), "k", {"v": 1})
    clock.advance(50)
    assert store.get(("n",), "k") is not None
    clock.advance(50)
    assert store.get(("n",), "k") is not None
    clock.advance(61)
    assert store.get(("n",), "k") is None


def test_further_vectors_live_as_long(
    indexed: OneirosStore, engine: oneiros.Engine, clock: VirtualClock
) -> None:
    indexed.put(("n",), "k", {"a": "tea", "b": "coffee"}, ttl=1)
    clock.advance(50)
    assert indexed.search((), query="coffee")[0].score == pytest.approx(1.0)
    clock.advance(50)
    (found,) = indexed.search((), query="coffee", refresh_ttl=False)
    assert found.score == pytest.approx(1.0)
    clock.advance(11)
    assert indexed.search((), query="coffee") == []
    assert indexed.sweep_ttl() == 1
    assert len(engine) == 0


def test_a_search_refreshes_all_lifetimes_in_one_transaction(engine: oneiros.Engine) -> None:
    store = OneirosStore(engine)
    for key in "abc":
        store.put(("n",), key, {"v": 1}, ttl=5)
    ids = tuple(memory.id for memory in engine.list())
    engine.forget(ids[1])
    events: list[Any] = []
    with engine.observe(events.append):
        engine._touch(dict.fromkeys(ids, 60.0))  # one was deleted since it was read
        assert [item.key for item in store.search(("n",))] == ["a", "c"]
        store.search(("n",), refresh_ttl=False)
    assert [(event.method, event.ids) for event in events] == [("touch", (ids[0], ids[2]))] * 2


@pytest.mark.parametrize("ttl", [-1, float("nan"), float("inf"), "5", True])
def test_a_wrong_lifetime_is_named(store: OneirosStore, ttl: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^ttl: must be a (finite )?number"):
        store.put(("n",), "k", {"v": 1}, ttl=ttl)
    with pytest.raises((TypeError, ValueError), match=r"^default_ttl: must be a (finite )?number"):
        OneirosStore(store.memories, ttl={"default_ttl": ttl})


# -- scopes, files, threads ------------------------------------------------------------------------


def test_scopes_are_apart(engine: oneiros.Engine) -> None:
    stores = [OneirosStore(engine.scope(user=user)) for user in ("ada", "grace")]
    for number, store in enumerate(stores):
        store.put(("n",), "k", {"v": number})
    assert [store.get(("n",), "k").value["v"] for store in stores] == [0, 1]
    assert [len(store.search(())) for store in stores] == [1, 1]
    stores[0].delete(("n",), "k")
    assert stores[0].list_namespaces() == []
    assert stores[1].get(("n",), "k").value == {"v": 1}
    with pytest.raises(ValueError, match="namespace"):
        OneirosStore(engine.scope(namespace="acme")).put(("n",), "k", {"v": 1})


def test_soft_deletes_can_be_undone(engine: oneiros.Engine) -> None:
    store = OneirosStore(engine, erases=False)
    store.put(("n",), "k", {"v": 1})
    (memory,) = engine.list()
    store.delete(("n",), "k")
    store.delete(("n",), "unknown")
    assert store.get(("n",), "k") is None
    engine.restore(memory.id)
    assert store.get(("n",), "k").value == {"v": 1}
    store.delete(("n",), "k")
    store.put(("n",), "k", {"v": 2})
    assert store.get(("n",), "k").value == {"v": 2}


def test_a_file_keeps_items(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, clock=clock) as engine, oneiros.Engine(path, clock=clock) as other:
        OneirosStore(engine).put(("n",), "k", {"v": 1}, ttl=1)
        assert OneirosStore(other).get(("n",), "k").value == {"v": 1}
        OneirosStore(other).put(("n",), "k", {"v": 2}, ttl=1)
        assert OneirosStore(engine).get(("n",), "k").value == {"v": 2}
    with oneiros.Engine(path, clock=clock, read_only=True) as reader:
        store = OneirosStore(reader)
        clock.advance(50)
        assert store.get(("n",), "k").value == {"v": 2}  # a reader lets nothing live longer
        clock.advance(11)
        assert store.get(("n",), "k") is None
        with pytest.raises(oneiros.EngineReadOnly):
            store.put(("n",), "k", {"v": 3})


def test_threads_put_and_delete_one_item(store: OneirosStore) -> None:
    def work(number: int) -> None:
        for _ in range(20):
            store.put(("n",), "k", {"v": number}, ttl=60)
            item = store.get(("n",), "k")
            assert item is None or item.value["v"] in range(4)
            store.delete(("n",), "k")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert store.search(()) == []


def test_async_twins_use_the_async_methods(engine: oneiros.Engine) -> None:
    async def run() -> None:
        embed = Counts()
        store = OneirosStore(engine, index={"embed": embed})
        await store.aput(("n",), "k", {"text": "tea"})
        assert (await store.aget(("n",), "k")).value == {"text": "tea"}
        assert keys(await store.asearch(("n",), query="tea")) == ["k"]
        assert await store.alist_namespaces() == [("n",)]
        await store.adelete(("n",), "k")
        assert await store.aget(("n",), "k") is None
        assert embed.calls == ["async documents", "async query"]

    asyncio.run(run())


def test_namespaces_by_condition(store: OneirosStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "x", "c"), ("b",)):
        store.put(namespace, "k", {"v": 1})
    conditions = (MatchCondition("prefix", ("a", "*")), MatchCondition("suffix", ("c",)))
    op = ListNamespacesOp(match_conditions=conditions, max_depth=1)
    assert store.batch([op]) == [[("a",)]]
    with pytest.raises(ValueError, match="match_type: must be prefix or suffix"):
        store.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))])


def test_wrong_arguments_are_named(engine: oneiros.Engine, store: OneirosStore) -> None:
    with pytest.raises(TypeError, match="memories: expected an Engine"):
        OneirosStore("agent.db")
    with pytest.raises(TypeError, match="erases"):
        OneirosStore(engine, erases="no")
    with pytest.raises(ValueError, match="limit"):
        store.search((), limit=-1)
    with pytest.raises(ValueError, match="offset"):
        store.search((), offset=-1)
    for call, message in (
        (lambda: store.put("users", "k", {"v": 1}), "namespace: expected a tuple of labels"),
        (lambda: store.get("users", "k"), "namespace: expected a tuple of labels"),
        (lambda: store.search("users"), "namespace_prefix: expected a tuple of labels"),
        (lambda: store.search((), filter="v"), "filter: expected a dict, got str"),
        (lambda: OneirosStore(engine, index="v"), "index: expected a dict, got str"),
        (lambda: OneirosStore(engine, index={"fields": "v"}), "fields: expected a sequence"),
        (lambda: OneirosStore(engine, ttl=5), "ttl: expected a dict, got int"),
        (lambda: OneirosStore(engine, ttl={"refresh_on_read": "no"}), "refresh_on_read: "),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    assert len(engine) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"index": {"field": ["text"]}},
            "index: must have no other keys than dims, embed, fields, got 'field'",
        ),
        (
            {"ttl": {"default": 5}},
            "ttl: must have no other keys than .*refresh_on_read, .*, got 'default'",
        ),
        ({"ttl": {"sweep_interval_minutes": 5}}, "got 'sweep_interval_minutes'"),
        ({"ttl": {"omit_expired": False}}, "ttl: omit_expired must be True"),
    ],
)
def test_a_key_that_would_have_no_effect_is_refused(
    engine: oneiros.Engine, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OneirosStore(engine, **options)


def test_every_key_that_is_known_is_taken(engine: oneiros.Engine) -> None:
    ttl = {"default_ttl": 5, "refresh_on_read": True, "omit_expired": True}
    index = {"dims": 1, "embed": lambda texts: [[1.0] for _ in texts], "fields": ["text"]}
    store = OneirosStore(engine, index=index, ttl=ttl)
    store.put(("n",), "k", {"text": "tea"})
    assert [item.key for item in store.search((), query="tea")] == ["k"]
