"""Queries that ask for whatever was at a time: docs/systems/house.md H21."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.lexical.analyzers import ENGLISH, FUNCTION_WORDS
from oneiros.scoring.relevance_adjustments import NamedTime
from oneiros.search.query.dates import asks_by_time_alone, range_in

NOW = 1_773_835_200.0  # Wednesday, 18 March 2026, 12:00 UTC
DAY = 86_400.0
TEXTS = {  # by id: the text, and how many days ago
    "lunch": ("Had lunch with Ida at the Korean place", 1),
    "brake": ("Fixed the front brake of the bike", 1),
    "long": ("Yesterday was a long day, so I slept in", 5),
    "run": ("Ran ten kilometres by the river", 5),
    "retro": ("The team retro happened without me", 30),
    "tickets": ("Bought tickets for the concert on Friday", 9),
}
ASIDE = [word for word in (*ENGLISH, *FUNCTION_WORDS) if "." not in word]


def filled(**options: Any) -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW, **options)
    for id, (text, days) in TEXTS.items():
        mind.add(text, id=id, now=NOW - days * DAY)
    return mind


@pytest.mark.parametrize(
    ("query", "is_alone"),
    [
        ("what did I do yesterday?", True),
        ("Yesterday", True),
        ("what happened on 17 March?", True),
        ("What\u2019s planned for next week?", True),
        ("anything going on this weekend", True),
        ("what did we talk about two weeks ago?", True),
        ("do you remember what I said last Friday?", True),
        ("in the last month", True),
        ("what did Ida say yesterday?", False),
        ("what did I eat yesterday?", False),
        ("what happened to the bike yesterday?", False),
        ("the retro of last week", False),
        ("5 km yesterday", False),
        ("was habe ich yesterday gemacht?", False),
    ],
)
def test_whether_a_query_asks_by_the_time_alone(query: str, is_alone: bool) -> None:
    found = range_in(query, NOW)
    assert found is not None
    assert asks_by_time_alone(query, found.words) == is_alone


@given(
    st.lists(st.sampled_from([*ASIDE, "happened", "anything"]), max_size=6),
    st.lists(st.sampled_from(ASIDE), max_size=6),
    st.sampled_from(["bike", "Ida", "42", "été", "日本"]),
)
def test_one_word_of_content_is_enough(before: list[str], after: list[str], word: str) -> None:
    query = " ".join([*before, "two weeks ago", *after])
    assert asks_by_time_alone(query, "two weeks ago")
    assert not asks_by_time_alone(f"{query} {word}", "two weeks ago")
    assert not asks_by_time_alone(f"{word}, {query}", "two weeks ago")


@pytest.mark.parametrize("embedder", [None, "hashing"])
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("what did I do yesterday?", {"lunch", "brake"}),
        ("yesterday", {"lunch", "brake"}),
        ("what happened on 17 March?", {"lunch", "brake"}),
        ("what did I do five days ago?", {"long", "run"}),
        ("last Friday", {"long", "run"}),
        ("what happened in the last week?", {"lunch", "brake", "long", "run"}),
    ],
)
def test_what_lies_in_the_time_comes_first(
    embedder: str | None, query: str, wanted: set[str]
) -> None:
    with filled(embedder=embedder) as mind:
        found = mind.search(query, reinforce=False)
        assert {*found.ids[: len(wanted)]} == wanted
        assert found.confidence is None
        assert found.reason == ""
        assert "asks by the time alone" in str(found.trace)
        assert mind.search(f"{query} And the bike?", reinforce=False).confidence is not None


def test_relevance_is_that_of_the_page() -> None:
    """0.8 more within the time; what lies outside is damped by H10 alone."""
    profile = oneiros.profiles.get("oneiros")
    assert profile.named_time is not None
    without = profile.replace(named_time=NamedTime(soft=0.85, explicit=0.5, inferred=0.7))
    query = "what happened yesterday?"
    with filled() as mind:
        for options in ({}, {"where": oneiros.where(kind="note")}):
            found = mind.search(query, explain=True, reinforce=False, **options)
            plain = mind.search(query, explain=True, reinforce=False, profile=without, **options)
            before = {one.id: one.relevance_score for one in plain}
            assert before.keys() == {one.id for one in found}
            for one in found:
                is_inside = TEXTS[one.id][1] == 1
                assert one.relevance_score == pytest.approx(before[one.id] + 0.8 * is_inside)
                assert one.explanation.evaluate() == one.score
            assert before["retro"] > 0.0  # it has a word


def test_a_range_without_words_and_other_profiles_are_as_before() -> None:
    yesterday = (NOW - 2 * DAY, NOW)
    with filled() as mind:
        for query in ("what did I do", ""):
            found = mind.search(query, date_range=yesterday, reinforce=False)
            assert {one.score for one in found if one.id in ("lunch", "brake")} == {0.0}
        found = mind.search("what did I do yesterday?", profile="omega", reinforce=False)
        assert "time alone" not in str(found.trace)


def test_an_answer_is_not_held_back() -> None:
    """Neither a cosine nor a word speaks for what lies in the time (H7)."""
    with filled() as mind:
        for id in TEXTS:
            mind.update(id, embedding=[1.0, 0.0])
        found = mind.search("what did I do yesterday?", embedding=[0.0, 1.0], reinforce=False)
        assert {*found.ids[:2]} == {"lunch", "brake"}
        assert (
            mind.search("teapots and kettles yesterday", embedding=[0.0, 1.0], reinforce=False).ids
            == []
        )
