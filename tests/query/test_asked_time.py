"""Queries that ask for a time, and texts that name one: docs/systems/house.md H13."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oneiros.search.query.dates import asks_for_time, time_names
from tests.oracles import house

WORDS = (
    *("Monday", "may", "May", "MARCH", "March", "sept", "Sep", "weeks", "weekly", "today's", "ago"),
    *("Chicago", "sinces", "since", "1999", "20240", "2024", "12024", "a2024b", "5/2023", "year"),
    *("years", "hours", "éago", "day", "birthday", "monday", "ſunday", "İ", "１９９９", "Maya"),  # noqa: RUF001
)
TEXTS = st.lists(st.sampled_from(WORDS)).map(" ".join) | st.lists(
    st.sampled_from((*WORDS, "-", "_", "?", "\n"))
).map("".join)


@pytest.mark.parametrize(
    "query",
    [
        "When did Caroline go to the support group?",
        "when is the deadline",
        "When's the call with Ada?",
        "So when will we move",
        "and then, when was it?",
        "When Jon has lost his job as a banker?",
        "In which year did Dr. Smith retire?",
        "what date was the festival",
        "On what day do we meet?",
        "at what time is dinner",
        "Since when do I live here?",
        "How long ago did I start at Acme?",
        "I forgot. When did we meet?",
        "The plan is set!\nWhen does it start",
    ],
)
def test_queries_as_people_ask_them(query: str) -> None:
    assert asks_for_time(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "where did we go",
        "what did she do when it rained?",
        "When it comes to privacy, we keep logs for a week. Why?",
        "when the build fails",
        "whenever is it?",
        "what times table",
        "how long is my commute",
        "the day when we met",
        "which dates are sweet",
        "show the time",
    ],
)
def test_other_queries_ask_for_no_time(query: str) -> None:
    assert not asks_for_time(query)


def names_time(text: str) -> bool:
    return time_names().stand_in(texts=[text]) == b"\1"


@given(TEXTS)
@example("May")
@example("dec")
@example("Mondayİ")
@example("wee\u212a")
def test_a_text_names_a_time_as_the_oracle(text: str) -> None:
    assert names_time(text) == house.names_time(text)


@pytest.mark.parametrize("word", sorted(house.NAMES_OF_TIMES))
def test_every_word_for_a_time_names_one(word: str) -> None:
    assert names_time(f"It was {word}.")
    assert names_time(word.upper())
    assert not names_time(f"x{word}x")


@pytest.mark.parametrize("text", ["when " * 10**5, "and " * 10**5, ". when" * 10**5, "2" * 10**6])
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    started = time.process_time()
    asks_for_time(text)
    names_time(text)
    assert time.process_time() - started < 5.0
