"""Words of a query that weigh less than others: docs/systems/house.md H17, H18."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import analyzers
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import Blend
from tests.oracles import bm25, fusion, house

NOW = 1_750_000_000.0
FUNCTION_WORDS = ("what", "how", "do", "can")  # of one letter case and with a stem of their own
WORDS = ("ant", "cat", "elk", "dog", *FUNCTION_WORDS)
UNKNOWN = ("zebu", "yak", "whom")
BARE = oneiros.profiles.get("oneiros").replace(
    name="bare",
    **dict.fromkeys(
        ("neighbours", "statements", "named_time", "asked_time", "expansion", "abstention")
    ),
    factors=(),
)

words = st.lists(st.sampled_from(WORDS), max_size=14)
queries = st.lists(st.sampled_from((*WORDS, *UNKNOWN)), min_size=1, max_size=12)


def shared(function_words: float | None, whole_query: int | None) -> oneiros.Profile:
    """Return a profile of the blend alone, with shares of words."""
    channel = LexicalChannel(
        k1=1.2, b=1.0, half_length=65.0, function_words=function_words, whole_query=whole_query
    )
    return BARE.replace(
        channels=(channel, VectorChannel()), fusion=Blend(weight=0.4, scale="coverage", pairs=0.15)
    )


def opened(analyzer: str = "english", **more: Any) -> oneiros.Engine:
    return oneiros.Engine(
        ":memory:", profile=shared(0.3, 30), analyzer=analyzer, clock=lambda: NOW, **more
    )


def scores_of(engine: Any, query: str, profile: oneiros.Profile | None = None) -> dict[str, float]:
    response = engine.search(query, 100, profile=profile, reinforce=False)
    return {one.id: one.relevance_score for one in response}


def add(engine: Any, texts: list[list[str]], **more: Any) -> None:
    engine.add_many(
        {"id": str(row), "text": " ".join(text) or "-"} | more for row, text in enumerate(texts)
    )


def expected(
    texts: list[list[str]], query: list[str], share: float, whole: float
) -> dict[str, float]:
    """Return the relevance of each text that has a word of the query, by the page."""
    documents = dict(enumerate(texts))
    shares = house.word_shares(query, {*FUNCTION_WORDS, "whom"}, share, whole)
    hits = bm25.rank(documents, query, 100, k1=1.2, b=1.0, half_length=65.0, shares=shares)
    held = {word: sum(word in text for text in texts) for word in query}
    weights = {
        word: shares[word] * bm25.IDF["lucene"](len(texts), df) for word, df in held.items() if df
    }
    pairs = house.pair_weights(query, weights)
    scores = {row: score + 0.15 * house.pair_score(pairs, [texts[row]]) for row, score in hits}
    possible = bm25.possible(len(texts), held, query, shares) + 0.15 * sum(pairs.values())
    found = fusion.blend({"lexical": hits}, scores, {}, 0.4, possible)
    return {str(row): score for row, score in found.items()}


@settings(max_examples=120, deadline=None)
@given(
    texts=st.lists(words, min_size=1, max_size=12),
    query=queries,
    share=st.sampled_from([None, 0.3, 0.01]),
    whole=st.sampled_from([None, 1, 4, 30]),
)
def test_relevance_is_the_oracles(
    texts: list[list[str]], query: list[str], share: float | None, whole: int | None
) -> None:
    with opened() as engine:
        add(engine, texts)
        got = scores_of(engine, " ".join(query), shared(share, whole))
    want = expected(texts, query, 1.0 if share is None else share, whole or math.inf)
    assert got == pytest.approx(want)


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(words, min_size=1, max_size=8), query=queries)
def test_a_scope_has_the_scores_of_a_store_of_its_own(
    texts: list[list[str]], query: list[str]
) -> None:
    asked = " ".join(query)
    with opened() as alone, opened() as engine:
        add(alone, texts)
        engine.add_many({"text": "what ant how elk can", "user": "Bo"} for _ in range(3))
        add(engine, texts, user="Ada")
        assert scores_of(engine.scope(user="Ada"), asked) == scores_of(alone, asked)


def test_what_a_query_is_about_outranks_how_it_is_asked() -> None:
    with opened() as engine:
        add(engine, [["how", "did", "she", "do"], ["elk"], ["dog"], ["how", "did", "he", "do"]])
        query = "how did the elk do"
        assert engine.search(query, 1, reinforce=False).ids == ["1"]
        alike = engine.search(query, 1, profile=shared(None, None), reinforce=False)
        assert alike.ids == ["0"]


def test_a_query_of_function_words_alone_scores_as_without_shares() -> None:
    with opened() as engine:
        add(engine, [["what"], ["what", "how", "elk"], ["dog"], ["how"]])
        without = scores_of(engine, "what how", shared(None, None))
        assert scores_of(engine, "what how") == pytest.approx(without)
        assert set(without) == {"0", "1", "3"}


def test_a_word_late_in_a_long_query_counts_for_less() -> None:
    early, late = ["ant"], ["elk"]
    filler = [f"word{number}" for number in range(40)]
    with opened() as engine:
        add(engine, [early, late, ["cat"]])
        scores = scores_of(engine, " ".join([*early, *filler, *late]))
        assert scores["1"] / scores["0"] == pytest.approx(math.sqrt(30 / 42))
        scores = scores_of(engine, " ".join([*early, *filler[:28], *late]))
        assert scores["1"] == scores["0"]


def test_stop_words_hold_places() -> None:
    with opened() as engine:
        add(engine, [["ant"], ["elk"], ["cat"]])
        scores = scores_of(engine, "ant " + "the " * 40 + "elk")
        assert scores["1"] / scores["0"] == pytest.approx(math.sqrt(30 / 42))


def test_queries_with_operators_weigh_all_words_alike() -> None:
    with opened() as engine:
        add(engine, [["what"], ["elk"], ["cat"]])
        response = engine.search("what elk", 10, syntax="query", reinforce=False)
        first, second = (one.relevance_score for one in response)
        assert first == second


@pytest.mark.parametrize("analyzer", ["german", "simple"])
def test_only_english_has_function_words(analyzer: str) -> None:
    with opened(analyzer) as engine:
        add(engine, [["whose"], ["elk"], ["cat"]])
        scores = scores_of(engine, "whose elk")
        assert scores["0"] == scores["1"]
    with opened("porter") as engine:
        add(engine, [["whose"], ["elk"], ["cat"]])
        scores = scores_of(engine, "whose elk")
        assert scores["0"] == pytest.approx(0.3 * scores["1"])


def test_function_words_are_single_lower_case_words_and_no_stop_words() -> None:
    listed = analyzers.FUNCTION_WORDS
    english = analyzers.make("english")
    assert len(set(listed)) == len(listed)
    for word in listed:
        assert word == word.lower()
        assert len(english.tokens(text=word)) == 1, word


def test_words_that_only_others_have_leave_no_trace_in_a_score() -> None:
    rare = [f"word{number}" for number in range(60)]
    query = " ".join(["ant", *rare, "whom"])
    with opened() as alone, opened() as engine:
        add(alone, [["ant"], ["cat"]])
        add(engine, [["ant"], ["cat"]], user="Ada")
        engine.add_many({"text": " ".join(rare[start::3]), "user": "Bo"} for start in range(2))
        assert scores_of(engine.scope(user="Ada"), query) == scores_of(alone, query)
