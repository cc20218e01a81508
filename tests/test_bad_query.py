"""Odd questions: empty stores, limits, ties, and any string at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneiros

KIB_64 = 64 * 2**10


def ids(response: oneiros.SearchResponse) -> list[str]:
    return [result.id for result in response.results]


@pytest.mark.parametrize("query", ["", " ", "ant", "the of and", "\0", "?!"])
@pytest.mark.parametrize("embedding", [None, [1.0, 0.0]])
def test_an_empty_store_answers_with_nothing(
    mind: oneiros.Engine, query: str, embedding: list[float] | None
) -> None:
    response = mind.search(query, embedding=embedding)
    assert ids(response) == []
    assert response.trace.total_ms >= 0
    assert [ids(one) for one in mind.search_many([query, query])] == [[], []]


def test_texts_without_words_are_found_by_nothing(mind: oneiros.Engine) -> None:
    mind.add_many([{"text": text} for text in ("", " ", "?!", "\0")])
    assert len(mind) == 4
    assert ids(mind.search("ant")) == []
    assert ids(mind.search("")) == []


def test_stop_words_alone_find_nothing() -> None:
    with oneiros.Engine(":memory:", profile="reverie", analyzer="english") as mind:
        mind.add("the of and")
        assert ids(mind.search("the")) == []
        mind.add("the ant", id="ant")
        assert ids(mind.search("the ant")) == ["ant"]


def test_k_may_be_0_or_more_than_there_is(mind: oneiros.Engine) -> None:
    mind.add_many([{"text": "ant", "id": id} for id in "abc"])
    assert ids(mind.search("ant", k=0)) == []
    assert mind.get("a").access_count == 0
    assert ids(mind.search("ant", k=1000)) == ["a", "b", "c"]


@pytest.mark.parametrize("k", [-1, 2.5, "3", None])
def test_k_refuses_what_is_no_count(mind: oneiros.Engine, k: object) -> None:
    mind.add("ant")
    with pytest.raises((ValueError, TypeError), match="k"):
        mind.search("ant", k=k)


def test_ties_go_to_the_earlier_memory_also_after_updates(mind: oneiros.Engine) -> None:
    names = [f"m{number:03}" for number in range(50)]
    mind.add_many([{"text": "ant", "id": id, "embedding": [0.6, 0.8]} for id in names])
    for id in names[::7]:
        mind.update(id, text="ant")
    for embedding in (None, [0.8, 0.6]):
        found = mind.search(
            "ant", k=50, embedding=embedding, reinforce=False, now=mind.get(names[0]).updated_at
        )
        assert ids(found) == names


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_ties_do_not_depend_on_threads(threads: int) -> None:
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add_many(list(range(500)), ["ant bee"] * 500)
    for hits in index.search_many(["ant", "bee ant", ""] * 20, k=300, threads=threads):
        assert list(hits.ids) in ([], list(range(300)))


def test_a_query_over_the_limit_is_refused(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    assert ids(mind.search("ant" + " " * (KIB_64 - 3))) == ["a"]
    assert ids(mind.search("ant " * 1024)) == ["a"]
    with pytest.raises(oneiros.QueryTooLarge, match=r"65,?536|64 KiB"):
        mind.search("ant" + " " * (KIB_64 - 2))
    with pytest.raises(oneiros.QueryTooLarge):
        mind.search("é" * (KIB_64 // 2) + "a")  # bytes, not characters
    with pytest.raises(oneiros.QueryTooLarge):
        mind.search("a" * 2**20)
    with pytest.raises(oneiros.QueryTooLarge):
        mind.search_many(["ant", "a" * 2**20])


def test_a_query_of_too_many_terms_is_refused(mind: oneiros.Engine) -> None:
    mind.add("w5", id="a")
    assert ids(mind.search(" ".join(f"w{number}" for number in range(1024)))) == ["a"]
    with pytest.raises(oneiros.QueryTooLarge, match=r"1,?024"):
        mind.search(" ".join(f"w{number}" for number in range(1025)))


def nested(depth: int) -> oneiros.Where:
    condition = oneiros.where(project="x")
    for _ in range(depth):
        condition = ~(condition & oneiros.where(kind="note"))
    return condition


def test_a_filter_over_the_limit_is_refused(mind: oneiros.Engine) -> None:
    mind.add("ant", project="x", id="a")
    assert ids(mind.search("ant", where=nested(10))) in ([], ["a"])
    with pytest.raises(oneiros.QueryTooLarge, match="32"):
        mind.search("ant", where=nested(5000))
    names = [f"p{number}" for number in range(99_999)]
    assert ids(mind.search("ant", where=oneiros.where(project=[*names, "x"]))) == ["a"]
    with pytest.raises(oneiros.QueryTooLarge, match=r"100,?000"):
        mind.search("ant", where=oneiros.where(project=[*names, "x", "y"]))


@pytest.mark.parametrize(
    "query",
    ['"ant"', "ant*", "-ant", "+ant", "ant AND", "NEAR(ant", "text:ant", "ant^9", "(ant", "ant~",
     "'; DROP TABLE memories; -- ant", "%ant%", "\\ant", "[red]ant[/red]", "{ant}", "$ant", "ant\0"],
)  # fmt: skip
def test_plain_text_is_literal(mind: oneiros.Engine, query: str) -> None:
    mind.add("ant", id="a")
    mind.add("antelope", id="b")
    assert ids(mind.search(query, reinforce=False)) == ["a"]
    assert len(mind) == 2


TEXTS = ("ant bee", "café 東京 src/main.py", "🙂", "")


@pytest.fixture(scope="module")
def filled() -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", profile="reverie")
    mind.add_many([{"text": text} for text in TEXTS])
    return mind


@pytest.fixture(scope="module")
def index() -> oneiros.LexicalIndex:
    index = oneiros.LexicalIndex()
    index.add_many(list(range(len(TEXTS))), list(TEXTS))
    return index


@settings(max_examples=300, deadline=None)
@given(query=st.text())
@example(query="\ud800")
@example(query="\0" * 1000)
@example(query='"' * 999)
@example(query="(" * 5000)
@example(query="\U0010ffff\u200d\ufe0f")
def test_every_string_is_a_query_of_the_engine(filled: oneiros.Engine, query: str) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in query):
        with pytest.raises(oneiros.TextEncodingError):
            filled.search(query)
        return
    response = filled.search(query, k=10)
    assert len(response.results) <= len(TEXTS)
    assert all(result.score > 0 for result in response.results)


@settings(max_examples=300, deadline=None)
@given(query=st.text())
@example(query="\ud800")
@example(query="\0" * 1000)
@example(query='"' * 999)
@example(query="(" * 5000)
def test_every_string_is_a_query_of_the_index(index: oneiros.LexicalIndex, query: str) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in query):
        with pytest.raises(oneiros.TextEncodingError):
            index.search(query)
        return
    hits = index.search(query, k=10)
    assert len(hits.ids) == len(hits.scores) <= len(TEXTS)


@pytest.mark.parametrize("query", [None, 3, b"ant", ["ant"]])
def test_a_query_is_a_string(mind: oneiros.Engine, query: object) -> None:
    mind.add("ant")
    with pytest.raises((TypeError, ValueError), match="query"):
        mind.search(query)


@pytest.mark.parametrize(
    ("syntax", "shown"), [("\0", r"got '\x00'"), ("it's", 'got "it\'s"'), ("x" * 10**6, "got 'xxx")]
)
def test_the_name_of_a_syntax_is_shown_whole_or_shortened(
    mind: oneiros.Engine, syntax: str, shown: str
) -> None:
    index = oneiros.LexicalIndex()
    for search in (mind.search, mind.statistics, index.search):
        with pytest.raises(
            ValueError, match=r"^syntax: must be 'plain' or 'query', got "
        ) as caught:
            search("ant", syntax=syntax)
        assert shown in str(caught.value)
        assert len(str(caught.value)) < 200
