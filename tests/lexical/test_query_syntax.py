"""What a query asks for, clause by clause: the grammar against its re-statement, and the terms."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oneiros import _core, analyzers
from tests.oracles import query_syntax

PIECES = st.sampled_from(
    [
        *'+-"*: \t\u3000\u00a0\u001c',
        *"abé東",
        "title:",
        "text:",
        "tags:",
        "Title:",
        "--",
        '""',
        "a*",
    ]
)
QUERIES = st.one_of(st.lists(PIECES).map("".join), st.text())
Told = tuple[str, str, int, list[str], list[int], bool]


def parse(text: str | bytes, syntax: str = "query") -> list[tuple[str, str, int, str]]:
    return _core.parse_query(text=text, syntax=syntax)


@given(QUERIES)
@example('"a "b" c" +"d')
@example('+title:"a b"tags:c* -text:"')
@example('""""+""a -""b')
@example("+- -+ -- + - * ** a** *a a*b +* title: title:* text:+a tags:-b title:title:x")
def test_every_string_parses_as_the_grammar_says(text: str) -> None:
    assert parse(text) == query_syntax.parse(text)


@given(QUERIES)
def test_plain_text_is_literal(text: str) -> None:
    assert parse(text, "plain") == [("should", "word", 7, word) for word in text.split()]


@given(st.binary())
def test_any_bytes_parse(data: bytes) -> None:
    clauses = parse(data)
    assert sum(len(text) for *_, text in clauses) <= len(data)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("black coffee", [("should", "word", 7, "black"), ("should", "word", 7, "coffee")]),
        (
            '+a -b "c d" e*',
            [
                ("must", "word", 7, "a"),
                ("must_not", "word", 7, "b"),
                ("should", "phrase", 7, "c d"),
                ("should", "prefix", 7, "e"),
            ],
        ),
        (
            '+title:"a b" -tags:c* text:d author:e',
            [
                ("must", "phrase", 1, "a b"),
                ("must_not", "prefix", 4, "c"),
                ("should", "word", 2, "d"),
                ("should", "word", 7, "author:e"),
            ],
        ),
        ('"never closed', [("should", "word", 7, '"never'), ("should", "word", 7, "closed")]),
        ("--verbose C++", [("should", "word", 7, "--verbose"), ("should", "word", 7, "C++")]),
        ('"a""b"c', [("should", "phrase", 7, t) for t in "ab"] + [("should", "word", 7, "c")]),
    ],
)
def test_what_is_written_means(text: str, want: list[tuple[str, str, int, str]]) -> None:
    assert parse(text) == want


@pytest.mark.parametrize(
    "piece", ['"', "+", "-", "*", '"a', "+-", "title:", 'title:"', "a*", "東", "\u3000", '+"" ']
)
def test_millions_of_open_signs_are_parsed_in_passing(piece: str) -> None:
    # At a step for each pair of them this would take days.
    count = 2_000_000
    assert len(parse(piece * count)) <= 2 * count


# --- terms ----------------------------------------------------------------------------------------


def known(analyzer: str, *texts: str) -> _core.Analyzer:
    made = analyzers.make(analyzer)
    for text in texts:
        made.tokens(text=text)
    return made


def clauses(analyzer: _core.Analyzer, query: str, most_terms: int = 1024) -> list[Told]:
    return analyzer.clauses(text=query, syntax="query", most_terms=most_terms)[0]


ENGLISH = known(
    "english",
    "the runners are running to the black coffee house",
    "read_many rows of YouTube, src/read_many.py",
    "東京タワー 猫が 안녕",
)


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ("running", [("should", "word", 7, ["run"], [], False)]),
        ("+running", [("must", "word", 7, ["run"], [], False)]),
        ("unheard", [("should", "word", 7, [], [], True)]),
        ("+unheard", [("must", "word", 7, [], [], True)]),
        ("the +the -the 'the *' \"of the\" + ,", []),
        # an identifier: whole and in parts if it should, whole if it must
        ("read_many", [("should", "word", 7, ["read_many", "read", "mani"], [], False)]),
        ("-read_many", [("must_not", "word", 7, ["read_many"], [], False)]),
        ("read_rows", [("should", "word", 7, ["read", "row"], [], False)]),
        ("+read_rows", [("must", "word", 7, [], [], True)]),
        ("+youtube", [("must", "word", 7, ["youtub"], [], False)]),
        ("+black-house", [("must", "word", 7, ["black", "hous"], [], False)]),
        ("+black-tea", [("must", "word", 7, ["black"], [], True)]),
        ("black-tea", [("should", "word", 7, ["black"], [], False)]),
        # phrases: stop words leave gaps
        ('"running to the coffee"', [("should", "phrase", 7, ["run", "coffe"], [0, 3], False)]),
        ('"to running"', [("should", "phrase", 7, ["run"], [0], False)]),
        ('"read_many rows"', [("should", "phrase", 7, ["read_many", "row"], [0, 2], False)]),
        ('"black tea"', [("should", "phrase", 7, ["black"], [0], True)]),
        # prefixes: surfaces tell, terms are found
        ("runn*", [("should", "prefix", 7, ["run", "runner"], [], False)]),
        ("RUNNI*", [("should", "prefix", 7, ["run"], [], False)]),
        ("th*", [("should", "prefix", 7, [], [], True)]),
        ("read_m*", [("should", "prefix", 7, ["read_many", "read_many.py"], [], False)]),
        ("src/read_m*", [("should", "prefix", 7, ["src/read_many.py"], [], False)]),
        (
            "+black,(cof*",
            [
                ("must", "word", 7, ["black"], [], False),
                ("must", "prefix", 7, ["coffe"], [], False),
            ],
        ),
        (
            "black-cof*",
            [
                ("should", "word", 7, ["black"], [], False),
                ("should", "prefix", 7, ["coffe"], [], False),
            ],
        ),
        ("cof* COF*", [("should", "prefix", 7, ["coffe"], [], False)]),
        ("black,*", [("should", "word", 7, ["black"], [], False)]),
        ("東*", [("should", "phrase", 7, ["東"], [0], False)]),
        ("東京タ*", [("should", "phrase", 7, ["東京", "京タ"], [0, 1], False)]),
        (
            "coffee猫*",
            [("should", "phrase", 7, ["coffe", "猫"], [0, 1], False)],
        ),
    ],
)
def test_clauses_in_terms(query: str, want: list[Told]) -> None:
    assert clauses(ENGLISH, query) == want


def test_a_prefix_is_folded_whatever_the_language() -> None:
    german = known("german", "Die Häuser, häuslich; Hausmeister")
    terms = ["haus", "hausmeist", "hauslich"]
    for query in ("haus*", "HÄUS*", "ha\u0308us*"):
        (clause,) = clauses(german, query)
        assert clause[3] == sorted(terms)
    (clause,) = clauses(german, "häuse*")
    assert clause[3] == ["haus"]


def test_a_prefix_sees_words_learnt_after_the_last_one() -> None:
    analyzer = known("simple", "alpha")
    assert clauses(analyzer, "al*") == [("should", "prefix", 7, ["alpha"], [], False)]
    for number in range(300):
        analyzer.tokens(text=f"al{number} other{number}")
        (clause,) = clauses(analyzer, "al*")
        assert len(clause[3]) == number + 2


WORDS = st.lists(st.text("abcé", min_size=1, max_size=4), max_size=30)


@given(WORDS, st.text("abcé", min_size=1, max_size=3))
def test_a_prefix_finds_what_a_scan_finds(words: list[str], prefix: str) -> None:
    analyzer = known("simple", " ".join(words[:10]))
    clauses(analyzer, "a*")
    analyzer.tokens(text=" ".join(words[10:]))
    plain = prefix.replace("é", "e")
    want = sorted({w.replace("é", "e") for w in words if w.replace("é", "e").startswith(plain)})
    (clause,) = clauses(analyzer, f"{prefix}*")
    assert clause == ("should", "prefix", 7, want, [], not want)


@given(QUERIES)
def test_plain_words_have_the_terms_of_the_whole_text(text: str) -> None:
    analyzer = analyzers.make("english")
    want = [term for term, _ in analyzer.tokens(text=text)]
    told, _ = analyzer.clauses(text=text, syntax="plain", most_terms=10_000)
    assert [term for clause in told for term in clause[3]] == want


@given(QUERIES)
def test_any_query_has_clauses_of_known_shape(text: str) -> None:
    for occur, kind, fields, terms, positions, matches_nothing in clauses(ENGLISH, text):
        assert occur in {"should", "must", "must_not"}
        assert fields in {1, 2, 4, 7}
        assert matches_nothing or terms
        assert len(positions) == (len(terms) if kind == "phrase" else 0)
        assert positions == sorted(positions)


def test_distinct_terms_are_counted_prefixes_and_unknown_ones_too() -> None:
    analyzer = known("simple", " ".join(f"word{n}" for n in range(2_000)))

    def count(query: str, most: int = 1024) -> int:
        return analyzer.clauses(text=query, syntax="query", most_terms=most)[1]

    assert count("word1 WORD1 +word1 unknown -unknown") == 2
    assert count("word19* word1") == 112  # word1, word19, word190 to 199, word1900 to 1999
    assert count("word1*") == 1025  # 1,111 of them
    assert count("a b c d e f g", most=3) == 4
    assert analyzer.clauses(text="a* " * 20_000, syntax="query", most_terms=1024) == (
        [("should", "prefix", 7, [], [], True)],
        0,
    )


def test_an_unknown_syntax_is_refused() -> None:
    with pytest.raises(ValueError, match="syntax: must be 'plain' or 'query', got 'lucene'"):
        parse("a", "lucene")
