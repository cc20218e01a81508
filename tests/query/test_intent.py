"""What a question is after, and what it asks for: docs/systems/omega.md O9, O19."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.scoring.profiles.omega import UNDERSTANDING
from oneiros.scoring.understanding import KEYWORD_SIGNS, Understanding
from oneiros.search.query.parsed import holds_any, intent_of, is_keyword_like, spaced
from tests.oracles import omega_tables
from tests.oracles import questions as oracle
from tests.oracles.omega_tables import CONCEPTUAL, FACTUAL, INTENTS, PROFILES

PIECES = (
    *("what", "is", "which", "whichever", "how to", "why do", "design", "redesign", "where's"),
    *("I like tea", "likes", "likely", "snake_case", "CamelCase", "deadbeef", "`", "_", "a"),
    *("/", "./", "and/or", "mem-", "v1.2", ".", "3", '"', "http://", "c0ffee00", "C:/", "~"),
)
ALPHABET = 'abAZéÉ²x09 _-./~:"`(\u201c'
TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(ALPHABET, max_size=16),
    st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
)
SIGNED = (
    ("code", "`parse`"),
    ("code", "a ` alone"),
    ("path", "/etc/hosts"),
    ("path", "see (/etc) now"),
    ("path", "./build"),
    ("path", "../build"),
    ("path", "~/.x ~/bashrc"),
    ("path", "C:/Windows"),
    ("path", "where is src/net/pool.py"),
    ("path", "he/she/they"),
    ("quoted", '"exactly these words"'),
    ("quoted", ' "x" '),
    ("camel_case", "the UserProfile"),
    ("camel_case", "DBConnPool"),
    ("camel_case", "pool.GetIt"),
    ("snake_case", "what is max_retry_count"),
    ("snake_case", "a foo_bar_"),
    ("snake_case", "x-snake_case"),
    ("memory_id", "mem-4c9e8659"),
    ("memory_id", "(mem-0123456789abcdef)"),
    ("version", "since 1.4.15"),
    ("version", "v0.10"),
    ("version", "python 3.11 costs 3.50,"),
    ("version", "on 1.5.2025"),
    ("version", "10.0.0.1"),
    ("url", "https://example.org"),
    ("url", "http://"),
    ("hex", "commit deadbeef"),
    ("hex", "12345678"),
    ("hex", "550e8400-e29b-41d4"),
)
UNSIGNED = (
    *("he/she and/or 24/7", "1/2/3", "etc./x", "src/pool.py", "see:/x", "a / b", "/"),
    *('"a" and b', '""', "''", "'quoted'", "\u201cquoted\u201d", '"', 'in 5" or 6"'),
    *("camelCase", "HTTPServer", "Http2Server", "iPhone", "Mc X", "A1B", "user_Profile"),
    *("foo_", "_foo", "__init__", "foo_bar2", "SNAKE_CASE", "Foo_bar", "sha_256", "_"),
    *("mem-4c9e865", "mem-DEADBEEF", "mem-", "xmem-zz"),
    *("v2", "1.", ".5", "1.x", "x1.5", "1.5x", "V1.5", "e.g. this. And that", "1,5"),
    *("http:/", "www.example.org", "ftp:", "HTTPS"),
    *("DEADBEEF", "deadbee", "deadbeefg", "dead beef", "x_deadbeef1"),
    *("pool.py", "ERR-42", "#17", "C++", ""),
)


@pytest.mark.parametrize(("sign", "query"), SIGNED)
def test_each_sign_of_the_table_makes_a_question_keyword_like(sign: str, query: str) -> None:
    assert oracle.SIGNS[sign](query)
    assert is_keyword_like(query, [sign])
    assert intent_of(query, UNDERSTANDING) == "navigational"


@pytest.mark.parametrize("query", UNSIGNED)
def test_nothing_else_is_keyword_like(query: str) -> None:
    assert not is_keyword_like(query, KEYWORD_SIGNS)
    assert not any(has_sign(query) for has_sign in oracle.SIGNS.values())


@given(TEXTS)
@example("\u00c4nderungsProtokoll gr\u00f6\u00dfe_wert")
@example("/\u00b2x a/\u00b2/\u00b3")
@example("1.4.15rc1 x.1.4 1.4_")
def test_signs_are_the_oracles(text: str) -> None:
    for sign in KEYWORD_SIGNS:
        assert is_keyword_like(text, [sign]) == oracle.SIGNS[sign](text), sign
    assert is_keyword_like(text, ()) is False


@pytest.mark.parametrize("profile", ["omega", "omega-bounded"])
def test_the_lists_are_those_of_the_page(profile: str) -> None:
    reader = profiles.get(profile).understanding
    assert reader is not None
    assert reader.keyword_signs == omega_tables.KEYWORD_SIGNS
    assert set(reader.factual) == set(FACTUAL)
    assert set(reader.conceptual) == set(CONCEPTUAL)
    assert len({*FACTUAL, *CONCEPTUAL}) == len(reader.factual) + len(reader.conceptual)
    for name in ("keyword_signs", "factual", "conceptual"):
        other = profiles.get(profile).replace(understanding=replace(reader, **{name: ()}))
        assert other.hash != profiles.get(profile).hash


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        *((f"so {phrase.title()}, then", "factual") for phrase in FACTUAL),
        *((f"so {phrase.upper()}; then", "conceptual") for phrase in CONCEPTUAL),
        ("Why doesn\u2019t it run", "conceptual"),
        ("what is the design of the cache", "factual"),  # factual goes first
        ("what   is the port", "factual"),
        ("what's the plan", None),
        ("why", None),
        ("why did we drop the queue", "factual"),
        ("why did they drop the queue", None),
        ("how many ants", None),
        ("everywhere, whoever, whichever, nowhere", None),
        ("redesigned patterned strategies", None),
        ("what ant is it", None),
        ("coffee", None),
        ("", None),
        ("`what is` it", "navigational"),
    ],
)
def test_intents_as_the_page_lists_them(query: str, intent: str | None) -> None:
    assert intent_of(query, UNDERSTANDING) == intent
    assert oracle.intent_of(query, UNDERSTANDING) == intent


@given(TEXTS)
def test_phrases_are_words_and_never_parts_of_one(text: str) -> None:
    words = spaced(text)
    assert words.split() == oracle.words_of(text)
    for phrases in (FACTUAL, CONCEPTUAL, UNDERSTANDING.preference):
        assert holds_any(words, phrases) == oracle.holds(text, phrases)


@given(TEXTS)
def test_the_intent_is_the_first_that_fits(text: str) -> None:
    assert intent_of(text, UNDERSTANDING) == oracle.intent_of(text, UNDERSTANDING)


@pytest.mark.parametrize("hint", [None, *PROFILES, "note"])
@pytest.mark.parametrize("intent", INTENTS)
def test_weights_are_hint_times_intent(hint: str | None, intent: str | None) -> None:
    row = PROFILES.get(hint or "_default", PROFILES["_default"])
    want = oracle.product(row, INTENTS[intent])
    assert list(UNDERSTANDING.weights_of(hint, intent)) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize(
    "unit",
    [
        *("`", "_", "a", "/", "a/", "a_", "aA", "Aa", "1.", "\"'", "#", "\\", " ", "x ", "-", "A-"),
        *("a1", "mem-", "mem-a", "1", "(", "(/", "http:", "v1"),
    ],
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
        ({"keyword_signs": ("ticket",)}, ValueError, "keyword_signs: must be among code, path, "),
        ({"keyword_signs": "code"}, TypeError, "keyword_signs: expected a list of words"),
        ({"factual": ("What  is",)}, ValueError, "factual: must be lower case, single spaces"),
        ({"not_before": ("The",)}, ValueError, "not_before: must be lower case"),
        ({"quotes": ("''",)}, ValueError, "quotes: must be single characters, got \"''\""),
        ({"trailing_marks": "?"}, TypeError, "trailing_marks: expected a list of words"),
        ({"preference": "like"}, TypeError, "preference: expected a list of words"),
        ({"skips_vectors": 1}, TypeError, "skips_vectors: must be True or False"),
        ({"most_parts": 0}, ValueError, "most_parts: must be in 1 to 16"),
        ({"least_quotes": 0}, ValueError, "least_quotes: must be in 1 to 1000"),
        ({"least_question_characters": 0}, ValueError, "least_question_characters: must be in 1"),
        ({"part_gain": 0.5}, ValueError, "part_gain: must be >= 1"),
    ],
    ids=lambda one: str(one)[:24],
)
def test_an_understanding_says_what_is_wrong(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Understanding(**changes)  # type: ignore[arg-type]
