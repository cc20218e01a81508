"""The parts of compound questions: docs/systems/omega.md O10."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.profiles.omega import UNDERSTANDING
from oneiros.query.compound import parts_of
from tests.oracles.questions import words_of

PIECES = st.lists(
    st.sampled_from(
        ["and also", ", what", ", why did", ";  how", "the cache", "we moved", "to Postgres", ","]
    ),
    max_size=14,
).map(" ".join)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        (
            "when did we move to Postgres, and why did we drop the queue",
            ["when did we move to Postgres", "and why did we drop the queue"],
        ),
        (
            "Who owns billing and also which team runs the cache?",
            ["Who owns billing", "which team runs the cache?"],
        ),
        ("bread, butter, milk and a lot of eggs", ["bread, butter, milk and a lot of eggs"]),
        ("tea and also a cup of coffee", ["tea and also a cup of coffee"]),  # 3 characters
        ("aaaaaaaaaaaaa and also a cup of coffee", ["aaaaaaaaaaaaa and also a cup of coffee"]),
        ("who owns the band also known as x", ["who owns the band also known as x"]),
        ("", [""]),
    ],
)
def test_questions_part_at_conjunctions_and_clauses(query: str, parts: list[str]) -> None:
    assert parts_of(query, UNDERSTANDING) == parts


@given(PIECES)
def test_parts_are_long_enough_and_lose_no_word_but_conjunctions(query: str) -> None:
    parts = parts_of(query, UNDERSTANDING)
    assert 1 <= len(parts) <= 4
    if len(parts) > 1:
        assert all(len(part) >= 12 and len(words_of(part)) >= 2 for part in parts)
    kept = [word for part in parts for word in words_of(part)]
    assert [w for w in words_of(query) if w not in {"and", "also"}] == [
        w for w in kept if w not in {"and", "also"}
    ]


def test_beyond_four_parts_the_rest_is_one() -> None:
    query = " and also ".join(f"part number {number} here" for number in range(6))
    parts = parts_of(query, UNDERSTANDING)
    assert parts[:3] == [f"part number {number} here" for number in range(3)]
    assert parts[3].count("and also") == 2


@pytest.mark.parametrize("unit", [", what", "and also ", ", ", "a, ", ",  ", "; why "])
def test_hostile_text_is_read_in_one_go(unit: str) -> None:
    assert len(parts_of(unit * (65_536 // len(unit)), UNDERSTANDING)) <= 4
