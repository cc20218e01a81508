"""What a question is after, and what it asks for: docs/systems/omega.md O9, O19."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.profiles.omega import UNDERSTANDING
from oneiros.query.intent import intent_of, is_keyword_like
from oneiros.query.words import holds_any, spaced
from oneiros.ranking.understanding import Understanding
from tests.oracles import questions as oracle
from tests.oracles.omega_tables import INTENTS, PROFILES

PIECES = (
    *("what", "is", "which", "whichever", "how to", "why", "design", "redesign", "where's"),
    *("I like tea", "likes", "likely", "snake_case", "CamelCase", "deadbeef", "`", "_", "a"),
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join),
)


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("`parse`", "navigational"),
        ("where is src/net/pool.py", "navigational"),
        ("/etc/hosts", "navigational"),
        ("~/.bashrc", "navigational"),
        ("pool.py", "navigational"),
        ('"exactly these words"', "navigational"),
        ("UserProfile", "navigational"),
        ("what is max_retry_count", "navigational"),
        ("ERR-42", "navigational"),
        ("#17", "navigational"),
        ("release v2", "navigational"),
        ("since 1.4.15", "navigational"),
        ("https://example.org", "navigational"),
        ("commit deadbeef", "navigational"),
        ("what is the port of the proxy", "factual"),
        ("Which team owns billing?", "factual"),
        ("who signed it off", "factual"),
        ("when did the pool run dry", "factual"),
        ("did we choose Postgres", "factual"),
        ("do you remember the name of the cat", "factual"),
        ("What\u2019s the plan", "factual"),
        ("what is the design of the cache", "factual"),
        ("how to deploy", "conceptual"),
        ("why do deploys fail", "conceptual"),
        ("explain the retries", "conceptual"),
        ("a pattern for retries", "conceptual"),
        ("coffee", None),
        ("", None),
        ("somewhere over the rainbow", None),
        ("whichever", None),
        ("redesigned patterned", None),
        ("he/she and/or 24/7", None),
        ('he said "yes" and "no"', None),
        ("python 3.11 costs 3.50", None),
        ("on 1.5.2025 and 12/24/2024", None),
        ("e.g. this. And that", None),
    ],
)
def test_intents_as_the_page_lists_them(query: str, intent: str | None) -> None:
    assert intent_of(query, UNDERSTANDING) == intent


@given(TEXTS)
def test_phrases_are_words_and_never_parts_of_one(text: str) -> None:
    words = spaced(text)
    assert words.split() == oracle.words_of(text)
    for phrases in (
        UNDERSTANDING.factual, UNDERSTANDING.conceptual, UNDERSTANDING.preference
    ):  # fmt: skip
        assert holds_any(words, phrases) == oracle.holds(text, phrases)


@given(TEXTS)
def test_the_intent_is_the_first_that_fits(text: str) -> None:
    found = intent_of(text, UNDERSTANDING)
    if oracle.has_inner_sign(text) or oracle.has_long_hex(text):
        assert found == "navigational"
    elif found != "navigational":
        factual = oracle.holds(text, UNDERSTANDING.factual)
        conceptual = oracle.holds(text, UNDERSTANDING.conceptual)
        assert found == ("factual" if factual else "conceptual" if conceptual else None)


@given(st.lists(st.sampled_from(["tea", "and", "the", "cat,", "sat?", "3.5", "it's", "(so)"])))
def test_plain_words_name_no_thing(words: list[str]) -> None:
    assert not is_keyword_like(" ".join(words), UNDERSTANDING.file_endings)


@pytest.mark.parametrize("hint", [None, *PROFILES, "note"])
@pytest.mark.parametrize("intent", INTENTS)
def test_weights_are_hint_times_intent(hint: str | None, intent: str | None) -> None:
    row = PROFILES.get(hint or "_default", PROFILES["_default"])
    want = oracle.product(row, INTENTS[intent])
    assert list(UNDERSTANDING.weights_of(hint, intent)) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize(
    "unit", ["`", "_", "a", "/", "a/", "a_", "aA", "1.", "\"'", "#", "\\", " ", "x ", "-", "A-"]
)
def test_hostile_text_is_read_in_one_go(unit: str) -> None:
    hostile = unit * (65_536 // len(unit))
    assert intent_of(hostile, UNDERSTANDING) in {"navigational", None}  # and returns


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"hints": {"x": (1, 2)}}, ValueError, "hints.x: expected 5 numbers"),
        ({"intents": {"lost": (1, 1, 1, 1, 1)}}, ValueError, "intents: must be among navigat"),
        ({"intents": [1]}, TypeError, "intents: expected a table of rows by word, got list"),
        ({"situations": {"general": (1, 1, 1, -1)}}, ValueError, r"situations.general\[3\]: must"),
        ({"factual": ("What  is",)}, ValueError, "factual: must be lower case, single spaces"),
        ({"preference": "like"}, TypeError, "preference: expected a list of words"),
        ({"skips_vectors": 1}, TypeError, "skips_vectors: expected true or false"),
        ({"most_parts": 0}, ValueError, "most_parts: must be in 1 to 16"),
        ({"part_gain": 0.5}, ValueError, "part_gain: must be >= 1"),
    ],
    ids=lambda one: str(one)[:24],
)
def test_an_understanding_says_what_is_wrong(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Understanding(**changes)  # type: ignore[arg-type]
