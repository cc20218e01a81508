"""Structured queries through the engine: every channel keeps to their signs, and scores agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.channels import LexicalChannel
from oneiros.scoring.fusion import Blend
from tests.engine.embedders import LetterCounts

NOW = 1_750_000_000.0
BARE = profiles.get("reverie").replace(
    name="bare", channels=(LexicalChannel(),), factors=(), reinforcement=None
)
WORDS = ["ant", "bee", "cat", "beetle"]
words = st.lists(st.sampled_from(WORDS), max_size=6)
records = st.fixed_dictionaries(
    {"text": words.map(" ".join), "title": words.map(" ".join), "tags": words}
)
items = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "+", "-"]),
    st.sampled_from(["", "", "title:", "text:", "tags:"]),
    st.sampled_from([*WORDS, '"ant bee"', '"bee ant"', "be*", "x*"]),
)
queries = st.lists(items, max_size=4).map(" ".join)


def engine(given: list[dict[str, Any]], **options: Any) -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW, **options)
    mind.add_many(dict(record, id=f"m{n:02}") for n, record in enumerate(given))
    return mind


@settings(max_examples=100, deadline=None)
@given(st.lists(records, max_size=8), queries, st.integers(0, 8))
def test_memories_are_found_as_an_index_with_fields_finds_texts(
    given: list[dict[str, Any]], query: str, k: int
) -> None:
    index = oneiros.LexicalIndex(fields=True)
    for number, one in enumerate(given):
        index.add(f"m{number:02}", one["text"], one["title"], one["tags"])
    with engine(given, profile=BARE) as mind:
        response = mind.search(query, k, syntax="query")
        assert response.ids == index.search(query, k, syntax="query").ids.tolist()
        together = mind.search_many([query, "ant"], k, syntax="query")
        assert [one.ids for one in together] == [response.ids, mind.search("ant", k).ids]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(records, max_size=8),
    queries,
    st.sampled_from(["oneiros", "reverie", "omega", "blend"]),
)
def test_every_channel_keeps_to_the_signs(
    given: list[dict[str, Any]], query: str, profile: str
) -> None:
    chosen = (
        profiles.get("reverie").replace(name="blend", fusion=Blend())
        if profile == "blend"
        else profiles.get(profile)
    )
    with engine(given, profile=chosen, embedder=LetterCounts()) as mind:
        everything = {memory.id: memory for memory in mind.list()}
        found = mind.search(query, 20, syntax="query", explain=True)
        told = mind.stats()["lexical"]
        names = ("k1", "b", "half_length", "title_weight", "title_length")
        numbers = {name: told[name] for name in names}
        plain = oneiros.LexicalIndex(**numbers, fields=True)
        for id, memory in everything.items():
            plain.add(id, memory.text, memory.title, memory.tags)
        scores = dict(plain.search(query, k=20, syntax="query"))
        for result in found.results:
            for sign in ("+", "-"):
                for item in split(query):
                    if item.startswith(sign):
                        holds = result.id in plain.search(item[1:], k=20, syntax="query").ids
                        assert holds == (sign == "+"), item
            lexical = result.explanation.channels[0]
            if lexical.score is not None and profile != "omega":  # whose score is O3's
                assert lexical.score == scores.get(result.id, 0.0)
            assert result.explanation.evaluate() == result.score
        for id in everything:
            told = mind.why_not(query, id, k=20, syntax="query")
            assert told.is_returned == (id in found.ids)


def split(query: str) -> list[str]:
    """Cut a query between its items."""
    return re.findall(r'(?:"[^"]*"|\S)+', query)


def test_meaning_is_sought_without_signs_and_what_must_not_be() -> None:
    embedder = LetterCounts()
    with engine([{"text": "a bad cab"}, {"text": "a bad egg"}], embedder=embedder) as mind:
        embedder.asked.clear()
        found = mind.search('+bad "bad egg" -cab ca*', syntax="query")
        assert embedder.asked == ["bad bad egg ca"]
        assert found.ids == ["m01"]
        assert set(mind.search("bad -cab").ids) == {"m00", "m01"}  # plain text is literal
        only = mind.search("-cab", syntax="query")
        assert only.ids == []
        near = mind.search("-cab", syntax="query", embedding=embedder(["bad cab"])[0])
        assert near.ids == ["m01"]


def test_a_scope_and_a_filter_hold_for_structured_queries() -> None:
    given = [{"text": "ant bee", "project": "x"}, {"text": "ant bee", "project": "y"}]
    with engine(given) as mind:
        assert mind.scope(project="x").search('"ant bee"', syntax="query").ids == ["m00"]
        where = oneiros.where(project="y")
        assert mind.search("+ant", where=where, syntax="query").ids == ["m01"]
        assert len(mind.search_many(['"ant bee"', "-ant"], where=where, syntax="query")[0]) == 1


def test_wrong_syntaxes_and_large_queries_are_refused() -> None:
    with engine([{"text": "ant"}], embedder=LetterCounts()) as mind:
        for call in (
            lambda **syntax: mind.search("ant", **syntax),
            lambda **syntax: mind.search_many(["ant"], **syntax),
            lambda **syntax: mind.why_not("ant", "m00", **syntax),
        ):
            with pytest.raises(ValueError, match="syntax: must be 'plain' or 'query', got 'x'"):
                call(syntax="x")
            with pytest.raises(TypeError, match="syntax"):
                call(syntax=1)
        with pytest.raises(oneiros.QueryTooLarge):
            mind.search(" ".join(f"+w{n}" for n in range(1_025)), syntax="query")


def test_the_weights_of_fields_are_kept_by_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    given = [
        {"id": "text", "text": "ant ant bee", "title": "cat"},
        {"id": "title", "text": "bee bee cat", "title": "ant"},
    ]
    with oneiros.Engine(path, profile=BARE) as mind:
        mind.add_many(given)
        assert mind.search("ant").ids == ["text", "title"]  # twice 1 and once 2: a tie
        assert mind.stats()["lexical"]["title_weight"] == 2.0
        assert mind.stats()["lexical"]["tags_weight"] == 1.5
    with oneiros.Engine(path, profile=BARE, title_weight=4) as mind:
        assert mind.search("ant").ids == ["title", "text"]
    with oneiros.Engine(path, profile=BARE) as mind:
        assert mind.stats()["lexical"]["title_weight"] == 4.0
        assert mind.search("ant").ids == ["title", "text"]
    with pytest.raises(ValueError, match=r"title_weight: must be a multiple of 0\.25"):
        oneiros.Engine(path, title_weight=0.1)
