"""Filters against Haystack's own evaluation of them, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

WHY = "needs haystack-ai: nox -s 'integrations(name=\"haystack\")'"
pytest.importorskip("haystack", reason=WHY)

from haystack import Document
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.utils.filters import document_matches_filter

import oneiros
from oneiros.integrations import haystack
from oneiros.integrations.haystack import OneirosDocumentStore
from oneiros.integrations.opening import all_memories

NUMBERS = st.sampled_from([-2, 0, 1, 1.5, 10, 2**60 + 1])
WORDS = st.sampled_from(["a", "b", "B", "", "2025"])
TIMES = st.sampled_from(  # Haystack reads a time without an offset in the zone of the other one
    [
        "2025-03-01",
        "2025-03-01T00:00:00",
        "2025-03-01T00:00:00Z",
        "2025-03-01T00:00:00+00:00",
        "2025-03-01T12:30:00.25",
        "2024-02-29T23:59:59Z",
    ]
)
FIELDS = {"number": NUMBERS, "word": WORDS, "time": TIMES}
METAS = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.none() | values for name, values in FIELDS.items()},
        "deep": st.fixed_dictionaries({}, optional=FIELDS),
    },
)


@st.composite
def comparisons(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(FIELDS)))
    field = draw(st.sampled_from([f"meta.{name}", f"meta.deep.{name}", name]))
    names = ["==", "!=", "in", "not in", *([] if name == "word" else [">", ">=", "<", "<="])]
    operator = draw(st.sampled_from(names))
    one = st.none() | FIELDS[name]
    value = draw(st.lists(one, max_size=3) if operator.endswith("in") else one)
    return {"field": field, "operator": operator, "value": value}


FILTERS = st.recursive(
    comparisons(),
    lambda parts: st.fixed_dictionaries(
        {
            "operator": st.sampled_from(["AND", "OR", "NOT"]),
            "conditions": st.lists(parts, max_size=3),
        }
    ),
    max_leaves=5,
)


@given(st.lists(METAS, max_size=6), FILTERS)
def test_the_same_documents_match_as_in_haystack(metas: list[dict[str, Any]], filters: Any) -> None:
    documents = [
        Document(id=str(place), content="x", meta=meta) for place, meta in enumerate(metas)
    ]
    store = OneirosDocumentStore(":memory:")
    store.write_documents(documents)
    expected = [one.id for one in documents if document_matches_filter(filters, one)]
    assert [one.id for one in store.filter_documents(filters)] == expected
    assert store.count_documents_by_filter(filters) == len(expected)
    store.close()


@pytest.fixture
def store() -> OneirosDocumentStore:
    store = OneirosDocumentStore(":memory:")
    store.write_documents(
        [
            Document(id="a", content="tea", meta={"at": "2025-03-01T08:00:00", "plan": {"n": 1}}),
            Document(id="b", content="milk", meta={"at": "2025-03-01T08:00:00+02:00"}),
        ]
    )
    return store


def found(store: OneirosDocumentStore, field: str, operator: str, value: object) -> list[str]:
    filters = {"field": field, "operator": operator, "value": value}
    return [document.id for document in store.filter_documents(filters)]


def test_a_time_without_an_offset_is_in_utc_and_stays_as_it_was_written(
    store: OneirosDocumentStore,
) -> None:
    assert found(store, "meta.at", "==", "2025-03-01T08:00:00Z") == ["a"]
    assert found(store, "meta.at", "<", "2025-03-01T08:00:00") == ["b"]
    assert found(store, "meta.at", "==", "2025-03-01T06:00:00") == ["b"]
    assert store.filter_documents()[0].meta["at"] == "2025-03-01T08:00:00"


def test_an_update_of_a_time_moves_it_in_filters_too(store: OneirosDocumentStore) -> None:
    first = {"field": "id", "operator": "==", "value": "a"}
    assert store.update_by_filter(first, {"at": "2026-01-01T00:00:00", "plan": {"m": 2}}) == 1
    assert found(store, "meta.at", ">", "2025-12-01T00:00:00") == ["a"]
    assert store.filter_documents(first)[0].meta == {
        "at": "2026-01-01T00:00:00",
        "plan": {"n": 1, "m": 2},
    }
    store.update_by_filter(first, {"at": 7})
    assert found(store, "meta.at", ">", "2025-12-01T00:00:00") == []
    assert found(store, "meta.at", "==", 7) == ["a"]
    store.update_by_filter(first, {"at": None})
    assert "at" not in store.filter_documents(first)[0].meta


def test_an_update_changes_the_meta_alone() -> None:
    with oneiros.Engine(":memory:") as engine:
        store = OneirosDocumentStore.over(engine.scope(user="ada"))
        engine.add("of another user", user="grace", id="apart", metadata={"n": 1})
        store.write_documents(
            [
                Document(id="a", content="tea", meta={"n": 1, "o": {"x": 1}}, embedding=[1.0, 0.0]),
                Document(id="b", content="milk", meta={"n": 2}),
            ]
        )
        seen: list[tuple[str, tuple[str, ...]]] = []
        engine.observe(lambda event: seen.append((event.kind, event.ids)))
        one = {"field": "meta.n", "operator": "==", "value": 1}
        assert store.update_by_filter(one, {"n": None, "o": {"y": 2}, "seen": True}) == 1
        assert store.update_by_filter(one, {"seen": False}) == 0
        (changed,) = store.filter_documents({"field": "id", "operator": "==", "value": "a"})
        assert (changed.meta, changed.content) == ({"o": {"x": 1, "y": 2}, "seen": True}, "tea")
        assert changed.embedding == [1.0, 0.0]
        assert engine.get("apart").metadata == {"n": 1}
        assert engine.get("a").revision_count == 1
    assert seen == [("update", ("a",))]


def test_updates_beside_deletes_and_writes_bring_nothing_back() -> None:
    store = OneirosDocumentStore()
    every = {"field": "meta.n", "operator": ">=", "value": 0}
    numbers = range(400)

    def written(text: str) -> None:
        documents = [
            Document(id=str(n), content=text, meta={"n": n}, embedding=[1.0, n]) for n in numbers
        ]
        store.write_documents(documents, policy=DuplicatePolicy.OVERWRITE)

    written("old")
    with ThreadPoolExecutor(2) as pool:
        updates = [pool.submit(store.update_by_filter, every, {"m": n}) for n in range(6)]
        written("new")
        store.delete_documents([str(n) for n in numbers[:200]])
        for update in updates:
            update.result()
    left = store.filter_documents()
    assert {document.id for document in left} == {str(n) for n in numbers[200:]}
    assert {document.content for document in left} == {"new"}
    assert all(document.embedding is not None for document in left)


def test_ids_can_be_compared(store: OneirosDocumentStore) -> None:
    assert found(store, "id", "in", ["b", "c"]) == ["b"]
    assert found(store, "id", "!=", "b") == ["a"]
    assert found(store, "id", "not in", []) == ["a", "b"]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("meta.at", "expected a dict"),
        ({"operator": "XOR", "conditions": []}, "one of AND, OR, NOT, got 'XOR'"),
        ({"operator": "AND", "conditions": {}}, "'conditions' must be a list"),
        ({"operator": "AND", "conditions": ["x"]}, "expected a dict, got 'x'"),
        ({"field": "meta.at", "operator": "~", "value": 1}, "one of ==, !=, .*got '~'"),
        ({"field": 7, "operator": "==", "value": 1}, "field must be a text, got 7"),
        ({"field": "content", "operator": "==", "value": "tea"}, "'content' cannot be compared"),
        ({"field": "id", "operator": ">", "value": "a"}, "compared by ==, !=, in and not in"),
        ({"field": "meta.at", "operator": ">", "value": "soon"}, "number or a time .*'soon'"),
        ({"field": "meta.at", "operator": ">", "value": True}, "must be a number or a time"),
        ({"field": "meta.at", "operator": "==", "value": [1]}, r"got \[1\]"),
        ({"field": "meta.at", "operator": "in", "value": [[1]]}, r"got \[1\]"),
        ({"field": "meta.at", "operator": "==", "value": float("nan")}, "finite"),
    ],
)
def test_what_is_refused(store: OneirosDocumentStore, filters: Any, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        store.filter_documents(filters)


def test_filters_may_be_wide_but_not_deep(store: OneirosDocumentStore) -> None:
    times = [f"2024-01-01T00:00:00.{number:06}" for number in range(5_000)]
    assert found(store, "meta.at", "in", [*times, "2025-03-01T08:00:00"]) == ["a"]
    one: dict[str, Any] = {"field": "meta.at", "operator": "==", "value": 1}
    deep = one
    for _ in range(40):
        deep = {"operator": "NOT", "conditions": [deep, one]}
    with pytest.raises(FilterError, match="at most 32 levels deep"):
        store.filter_documents(deep)


def test_an_empty_filter_deletes_and_updates_nothing(store: OneirosDocumentStore) -> None:
    for empty in ({}, {"operator": "AND", "conditions": []}):
        with pytest.raises(FilterError, match="must not be empty"):
            store.delete_by_filter(empty)
    with pytest.raises(FilterError, match="must not be empty"):
        store.update_by_filter({}, {"x": 1})
    assert store.count_documents() == 2


def test_only_documents_that_match_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    store = OneirosDocumentStore()
    store.write_documents([Document(id=str(n), content="x", meta={"n": n}) for n in range(300)])
    read: list[str] = []

    def noted(*given: Any) -> Any:
        for memory in all_memories(*given):
            read.append(memory.id)
            yield memory

    monkeypatch.setattr(haystack, "all_memories", noted)
    few = {"field": "meta.n", "operator": "in", "value": [7, 250]}
    assert [document.id for document in store.filter_documents(few)] == ["7", "250"]
    assert store.update_by_filter(few, {"seen": True}) == 2
    assert store.count_documents_by_filter(few) == store.delete_by_filter(few) == 2
    assert read == ["7", "250"]
