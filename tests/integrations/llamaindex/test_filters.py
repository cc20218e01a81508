"""The 14 operators and 3 conditions against LlamaIndex's own evaluation of them, and beyond it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

WHY = "needs llama-index-core: nox -s 'integrations(name=\"llamaindex\")'"
pytest.importorskip("llama_index.core", reason=WHY)

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from oneiros.integrations.llamaindex import OneirosVectorStore

OPERATORS = FilterOperator
NUMBERS = st.sampled_from([-2, 0, 1, 1.5, 10, 2**60 + 1])
WORDS = st.sampled_from(["a", "ab", "B", "", "Old Town", "2025-03-01"])
LISTS = st.lists(st.sampled_from(["a", "ab", "B"]), max_size=3)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "number": st.none() | NUMBERS | st.booleans(),
        "word": st.none() | WORDS,
        "tags": st.none() | LISTS,
        "a.b": WORDS,
    },
)
PLAIN = (OPERATORS.EQ, OPERATORS.NE)
MEMBERS = (OPERATORS.IN, OPERATORS.NIN)
ORDERS = (OPERATORS.GT, OPERATORS.GTE, OPERATORS.LT, OPERATORS.LTE)
MATCHES = (OPERATORS.TEXT_MATCH, OPERATORS.TEXT_MATCH_INSENSITIVE)
COMPARISONS = st.one_of(
    st.tuples(st.just("number"), st.sampled_from(PLAIN), st.none() | NUMBERS),
    st.tuples(st.sampled_from(["word", "a.b"]), st.sampled_from(PLAIN), st.none() | WORDS),
    st.tuples(
        st.just("number"),
        st.sampled_from(MEMBERS),
        st.lists(st.sampled_from([0, 1, 10]), max_size=3),
    ),
    st.tuples(st.just("word"), st.sampled_from(MEMBERS), st.lists(WORDS, max_size=3)),
    st.tuples(st.just("word"), st.sampled_from(MATCHES), st.sampled_from(["", "a", "OLD", "T"])),
    st.tuples(st.just("tags"), st.sampled_from([OPERATORS.ANY, OPERATORS.ALL]), LISTS),
    st.tuples(st.just("tags"), st.just(OPERATORS.CONTAINS), st.sampled_from(["a", "B", "z"])),
    st.tuples(
        st.sampled_from(["number", "word", "tags", "none"]), st.just(OPERATORS.IS_EMPTY), st.none()
    ),
)


def as_filters(parts: Any, condition: FilterCondition | None) -> MetadataFilters:
    return MetadataFilters(
        filters=[MetadataFilter(key=k, operator=o, value=v) for k, o, v in parts],
        condition=condition,
    )


def stored(metadata: list[dict[str, Any]]) -> OneirosVectorStore:
    store = OneirosVectorStore()
    store.add(
        [TextNode(id_=str(place), text="x", metadata=one) for place, one in enumerate(metadata)]
    )
    return store


def require_as_llamaindex(metadata: list[dict[str, Any]], filters: MetadataFilters) -> None:
    store = stored(metadata)
    matches = build_metadata_filter_fn(lambda id: metadata[int(id)], filters)
    expected = [str(place) for place in range(len(metadata)) if matches(str(place))]
    assert [node.node_id for node in store.get_nodes(filters=filters)] == expected
    store.close()


@given(
    st.lists(METADATA, max_size=6),
    st.lists(COMPARISONS, max_size=3),
    st.none() | st.sampled_from(FilterCondition),
)
def test_the_same_nodes_match_as_in_llamaindex(
    metadata: list[dict[str, Any]], parts: Any, condition: FilterCondition | None
) -> None:
    require_as_llamaindex(metadata, as_filters(parts, condition))


@given(
    st.lists(st.fixed_dictionaries({}, optional={"n": st.none() | NUMBERS}), max_size=6),
    st.sampled_from(ORDERS),
    NUMBERS,
)
def test_numbers_are_ordered_as_in_llamaindex(
    metadata: list[dict[str, Any]], order: FilterOperator, value: float
) -> None:
    require_as_llamaindex(metadata, as_filters([("n", order, value)], None))


def test_every_operator_is_covered() -> None:
    tried = {*PLAIN, *MEMBERS, *ORDERS, *MATCHES}
    tried |= {OPERATORS.ANY, OPERATORS.ALL, OPERATORS.CONTAINS, OPERATORS.IS_EMPTY}
    assert tried == set(FilterOperator)


def ids(store: OneirosVectorStore, *parts: Any, condition: Any = None) -> list[str]:
    return [node.node_id for node in store.get_nodes(filters=as_filters(parts, condition))]


def test_filters_nest() -> None:
    store = stored([{"n": n, "word": "a" if n % 2 else "b"} for n in range(6)])
    odd = MetadataFilter(key="word", value="a")
    ends = as_filters([("n", OPERATORS.LT, 2), ("n", OPERATORS.GT, 3)], FilterCondition.OR)
    both = MetadataFilters(filters=[odd, ends])
    neither = MetadataFilters(filters=[odd, ends], condition=FilterCondition.NOT)
    assert [node.node_id for node in store.get_nodes(filters=both)] == ["1", "5"]
    assert [node.node_id for node in store.get_nodes(filters=neither)] == ["2"]


def test_times_are_compared_as_moments() -> None:
    store = stored(
        [
            {"at": "2025-03-01T08:00:00"},
            {"at": "2025-03-01T08:00:00+02:00"},
            {"at": "2025-03-02"},
            {"at": "soon"},
            {"deep": {"at": "2025-03-03T00:00:00"}},
            {"read.at": "2025-03-04T00:00:00"},
            {"read.at": "never", "read": {"at": "2025-03-04T00:00:00"}},
        ]
    )
    assert ids(store, ("at", OPERATORS.LT, "2025-03-01T07:00:00Z")) == ["1"]
    assert ids(store, ("at", OPERATORS.GTE, "2025-03-01T08:00:00")) == ["0", "2"]
    assert ids(store, ("deep.at", OPERATORS.GT, "2025-03-02")) == ["4"]
    assert ids(store, ("read.at", OPERATORS.GT, "2025-03-02")) == ["5"]


def test_the_reference_document_can_be_compared() -> None:
    store = OneirosVectorStore()
    for id, reference in (("a", "doc-1"), ("b", "doc-2"), ("c", None)):
        node = TextNode(id_=id, text=id)
        if reference:
            node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=reference)
        store.add([node])
    assert ids(store, ("ref_doc_id", OPERATORS.EQ, "doc-1")) == ["a"]
    assert ids(store, ("doc_id", OPERATORS.IN, ["doc-2", "doc-3"])) == ["b"]
    assert ids(store, ("document_id", OPERATORS.NE, "doc-1")) == ["b", "c"]
    with pytest.raises(TypeError, match=r"== at 'doc_id'.*got 7"):
        ids(store, ("doc_id", OPERATORS.EQ, 7))
    with pytest.raises(ValueError, match="compared by ==, !=, in and nin"):
        ids(store, ("ref_doc_id", OPERATORS.GT, "doc-1"))


@pytest.mark.parametrize(
    ("part", "error", "message"),
    [
        (("n", OPERATORS.GT, "soon"), ValueError, "> at 'n': expected a number or a time"),
        (("n", OPERATORS.GT, None), ValueError, "> at 'n': expected a number or a time"),
        (("n", OPERATORS.IN, "abc"), TypeError, "in at 'n': expected a list, got 'abc'"),
        (("n", OPERATORS.ANY, "abc"), TypeError, "any at 'n': expected a list, got 'abc'"),
        (("n", OPERATORS.ALL, 7), TypeError, "all at 'n': expected a list, got 7"),
        (("n", OPERATORS.CONTAINS, ["a"]), TypeError, r"contains at 'n': .*got \['a'\]"),
        (("n", OPERATORS.TEXT_MATCH, 7), TypeError, "text_match at 'n'"),
        (("n", OPERATORS.EQ, ["a"]), TypeError, r"== at 'n': .*got \['a'\]"),
    ],
)
def test_what_is_refused(part: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ids(stored([{"n": 1}]), part)


def test_lists_alone_have_members_and_numbers_alone_an_order() -> None:
    store = stored([{"n": "xy"}, {"n": ["x", "y"]}, {"n": False}, {"n": 0}])
    for operator, value in ((OPERATORS.ANY, ["x"]), (OPERATORS.ALL, ["x"])):
        assert ids(store, ("n", operator, value)) == ["1"]
    assert ids(store, ("n", OPERATORS.CONTAINS, "x")) == ["1"]
    assert ids(store, ("n", OPERATORS.LT, 1)) == ["3"]
