"""The parts of compound questions: docs/systems/omega.md O10."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.scoring.profiles.omega import UNDERSTANDING
from oneiros.search.query.subqueries import parts_of
from tests.oracles import omega_tables
from tests.oracles import questions as oracle

PIECES = st.lists(
    st.sampled_from(
        [
            *("and also", "and", "AND", "as well as", "As  Well\tas", "also", "the", "it's", "it"),
            *("in", "in-memory", ", what", ", why did", ";", ",", ", which", "what", "show", "is"),
            *("the cache", "we moved", "to Postgres", "?", "! ", '"', "'", "androids", "band"),
        ]
    ),
    max_size=14,
)
QUERIES = PIECES.map(" ".join) | PIECES.map("  ".join) | PIECES.map("".join)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        (
            "when did we move to Postgres, and why did we drop the queue?",
            ["when did we move to Postgres", "why did we drop the queue"],
        ),
        (
            "Who owns billing and also which team runs the cache?",
            ["Who owns billing", "which team runs the cache"],
        ),
        (
            "who owns billing AS  well\tas who runs the cache",
            ["who owns billing", "who runs the cache"],
        ),
        ("who owns billing also who runs the cache", ["who owns billing", "who runs the cache"]),
        (
            "who owns billing , and who runs the cache ? !",
            ["who owns billing", "who runs the cache"],
        ),
        # A word that keeps one conjunction from splitting does not keep the next in the list.
        (
            "which tea does Ada like and also the cup she has",
            ["which tea does Ada like", "also the cup she has"],
        ),
        (
            "what auth did we use, which API did they choose",
            ["what auth did we use", "which API did they choose"],
        ),
        (
            "Which port is it,, what's the proxy, ",
            ["Which port is it", "what's the proxy"],
        ),
        (
            "who owns billing and it's slow on some mornings",
            ["who owns billing", "it's slow on some mornings"],
        ),
        (
            "who owns billing and in-memory caches of ours",
            ["who owns billing", "in-memory caches of ours"],
        ),
        (
            "which team, and who owns billing and runs the cache",
            ["who owns billing", "runs the cache"],
        ),
        (
            " and ".join(f"part number {n}" for n in ("one", "two", "three", "four", "five")),
            ["part number one", "part number two", "part number three", "part number four"],
        ),
    ],
)
def test_questions_split_at_conjunctions_and_clauses(query: str, parts: list[str]) -> None:
    assert parts_of(query, UNDERSTANDING) == parts
    assert oracle.parts_of(query, UNDERSTANDING) == parts


@pytest.mark.parametrize(
    "query",
    [
        "who owns it and who runs",  # 24 characters
        f"{' ' * 9}who owns it and who runs ",
        'who owns "billing" and who runs the cache',
        "who's at billing and who's at the cache",
        "bread, butter, milk or a lot of eggs",
        "what auth did we use, then what API, when did we move",  # a part is no clause
        "tea and a cup of coffee and the milk of it",
        "what did we write and it, then whose was it",
        "the salt and pepper of each of our sandwiches",  # a part of 8 characters
        "aaaaaaaaaaaaaaaa and coffee of ours",  # of one word
        "who owns the band of androids, which plays",
        "tea,and coffee, and,coffee of all our cups",
        "and who owns the billing of the cache",
        *("", "and", " , "),
    ],
)
def test_questions_that_stay_whole(query: str) -> None:
    assert parts_of(query, UNDERSTANDING) == [query]
    assert oracle.parts_of(query, UNDERSTANDING) == [query]


@given(QUERIES)
@example("x  and  the cache of ours as it is today and  the")
@example("who owns billing and the cache, and who runs the thing")
def test_parts_are_the_oracles(query: str) -> None:
    assert parts_of(query, UNDERSTANDING) == oracle.parts_of(query, UNDERSTANDING)


@given(QUERIES)
def test_parts_are_long_enough_and_stand_in_the_question(query: str) -> None:
    parts = parts_of(query, UNDERSTANDING)
    assert 1 <= len(parts) <= 4
    if len(parts) > 1:
        assert all(len(part) >= 12 and len(part.split()) >= 2 for part in parts)
        assert all(part in query for part in parts)
    else:
        assert parts == [query]


@pytest.mark.parametrize("profile", ["omega", "omega-bounded"])
def test_the_lists_and_limits_are_those_of_the_page(profile: str) -> None:
    reader = profiles.get(profile).understanding
    assert reader is not None
    assert reader.conjunctions == omega_tables.CONJUNCTIONS
    assert reader.not_before == omega_tables.NOT_BEFORE
    assert reader.clause_marks == omega_tables.CLAUSE_MARKS
    assert (reader.least_question_characters, reader.quotes, reader.least_quotes) == (
        25,
        ('"', "'"),
        2,
    )
    assert reader.trailing_marks == ("?", ".", ",", ";", "!")
    assert (reader.most_parts, reader.least_characters, reader.least_words) == (4, 12, 2)


def test_each_list_and_limit_is_a_field_that_counts() -> None:
    query = "who owns 'billing' and the port, and who runs the cache !"
    assert parts_of(query, UNDERSTANDING) == [query]
    for split in (
        replace(UNDERSTANDING, quotes=('"',)),
        replace(UNDERSTANDING, least_quotes=3),
    ):
        assert parts_of(query, split) == ["who owns 'billing' and the port", "who runs the cache"]
        assert len(parts_of(query, replace(split, least_question_characters=100))) == 1
        assert parts_of(query, replace(split, most_parts=1)) == [query]
        assert parts_of(query, replace(split, trailing_marks=()))[1] == "who runs the cache !"
        assert parts_of(query, replace(split, not_before=(), least_characters=8)) == [
            "who owns 'billing'",
            "the port",
            "who runs the cache",
        ]
        assert parts_of(query, replace(split, least_words=5)) == [query]
        assert parts_of(query, replace(split, conjunctions=())) == [query]
    asked = "who owns billing or more, which team runs the cache"
    clauses = ["who owns billing or more", "which team runs the cache"]
    assert parts_of(asked, UNDERSTANDING) == clauses
    assert parts_of(asked, replace(UNDERSTANDING, clause_marks=("who", "which team"))) == clauses
    for marks in ((), ("who", "which people")):
        assert parts_of(asked, replace(UNDERSTANDING, clause_marks=marks)) == [asked]


@pytest.mark.parametrize(
    "unit",
    [
        *(", what", "and also ", ", ", "a, ", ",  ", "; why ", " ", "  ", " and", "and  ", "? "),
        *("what, ", "as well ", "and the ", "\t ,"),
    ],
)
def test_hostile_text_is_read_in_one_go(unit: str) -> None:
    hostile = f"x{unit * (65_536 // len(unit))}x"
    assert len(parts_of(hostile, UNDERSTANDING)) <= 4
