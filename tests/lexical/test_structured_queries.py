"""Structured queries against an oracle that looks at every text, whatever was written before."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneiros import LexicalIndex, _core, analyzers
from oneiros.errors import QueryTooLarge
from tests.oracles import clauses as oracle

EXAMPLES = 5000 if os.environ.get("ONEIROS_LONG") else 200
slow = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

VARIANTS = ["lucene", "robertson", "atire", "bm25plus", "bm25l"]
WORDS = ["ant", "bee", "cat", "beetle", "beeline", "the", "of", "running", "runs", "read_many"]
WORDS += ["東京都", "東", "京都の"]
PAIR = 2
words = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


class Fields(NamedTuple):
    text: str
    title: str | None
    tags: list[str] | None


texts = st.builds(
    Fields, words, st.none() | words, st.none() | st.lists(words.filter(bool), max_size=3)
)
ids = st.integers(0, 12)
histories = st.lists(
    st.one_of(
        st.tuples(st.just("add"), ids, texts),
        st.tuples(st.just("add"), ids, texts),
        st.tuples(st.just("delete"), ids, st.none()),
        st.tuples(st.just("seal"), st.just(0), st.none()),
    ),
    max_size=30,
)
items = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "+", "-"]),
    st.sampled_from(["", "", "", "title:", "text:", "tags:"]),
    st.one_of(
        st.sampled_from([*WORDS, "unheard", "ant,bee", "cat-unheard", "都", "京"]),
        st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=4).map(
            lambda phrase: f'"{" ".join(phrase)}"'
        ),
        st.sampled_from(["be*", "beet*", "a*", "run*", "read*", "x*", "ant,be*", "東*"]),
    ),
)
queries = st.lists(items, max_size=5).map(" ".join)


def play(
    history: list[tuple[str, int, Fields | None]], **options: Any
) -> tuple[LexicalIndex, dict]:
    """Run a history; return the index and the texts that are there."""
    index = LexicalIndex(fields=True, **options)
    there: dict[int, Fields] = {}
    for step, id, fields in history:
        if step == "add" and fields is not None:
            index.add(id, fields.text, fields.title, fields.tags)
            there[id] = fields
        elif step == "delete":
            assert index.delete(id) == (there.pop(id, None) is not None)
        else:
            index.seal()
    return index, there


class Told:
    """What the analyzer makes of texts and queries, in an analyzer of its own."""

    def __init__(self, there: dict[int, Fields]) -> None:
        self.analyzer = analyzers.make("english")
        self.documents = {id: self.document(fields) for id, fields in there.items()}

    def document(self, fields: Fields) -> list[oracle.Occurrence]:
        found = [*self._of(oracle.TITLE, fields.title), *self._of(oracle.TEXT, fields.text)]
        for number, tag in enumerate(fields.tags or []):  # no phrase goes from tag to tag
            found += self._of(oracle.TAGS, tag, 1_000 * number)
        return found

    def _of(self, field: int, text: str | None, start: int = 0) -> list[oracle.Occurrence]:
        found: list[oracle.Occurrence] = []
        pairs: dict[int, str] = {}
        for term, position in self.analyzer.tokens(text=text or ""):
            found.append(oracle.Occurrence(term, field, start + position))
            if len(term) == PAIR and not term.isascii():
                pairs[start + position] = term
        for place, pair in pairs.items():  # the characters of a run, each once
            found.append(oracle.Occurrence(pair[0], field, place, is_counted=False))
            if pairs.get(place + 1, "")[:1] != pair[1]:
                found.append(oracle.Occurrence(pair[1], field, place, is_counted=False))
        return found

    def clauses(self, query: str, syntax: str) -> list[oracle.Clause]:
        told, _ = self.analyzer.clauses(text=query, syntax=syntax, most_terms=1024)
        return [oracle.Clause(*one) for one in told]


def weights(title: float = 2.0, tags: float = 1.5) -> dict[int, float]:
    return {oracle.TITLE: title, oracle.TEXT: 1.0, oracle.TAGS: tags}


def assert_ranked(found: list[tuple[int, float]], want: dict[int, float], k: int) -> None:
    assert len(found) == min(k, len(want))
    for id, score in found:
        assert score == pytest.approx(want[id], rel=1e-9, abs=1e-9)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    best = sorted(want.values(), reverse=True)[: len(found)]
    assert scores == pytest.approx(best, rel=1e-9, abs=1e-9)


@slow
@given(
    histories,
    queries,
    st.sampled_from(VARIANTS),
    st.integers(0, 3),
    st.integers(0, 14),
    st.sampled_from(
        [(2.0, 1.5, 1.0), (1.0, 1.0, 1.0), (0.25, 3.0, 1.0), (3.0, 1.5, 0.0), (2.0, 1.0, 0.125)]
    ),
)
def test_any_history_and_query_gives_what_the_oracle_gives(
    history: list, query: str, variant: str, minimum: int, k: int, fields: tuple[float, ...]
) -> None:
    title, tags, title_length = fields
    index, there = play(
        history, variant=variant, title_weight=title, tags_weight=tags, title_length=title_length
    )
    told = Told(there)
    want = oracle.rank(
        told.documents,
        told.clauses(query, "query"),
        variant=variant,
        weights=weights(title, tags),
        minimum_should_match=minimum,
        title_length=title_length,
    )
    asked: dict[str, Any] = {"syntax": "query", "minimum_should_match": minimum}
    assert_ranked(list(index.search(query, k=k, **asked)), want, k)
    everything = dict(index.search(query, k=50, **asked))
    scores = index.score(query, list(range(13)), **asked)
    assert scores.tolist() == [everything.get(id, 0.0) for id in range(13)]


@slow
@given(
    histories,
    st.lists(
        st.builds(
            "{}{}{}*".format,
            st.sampled_from(["", "+", "-"]),
            st.sampled_from(["", "title:", "text:", "tags:"]),
            st.sampled_from(["be", "b"]),
        ),
        min_size=2,
        max_size=8,
    ).map(" ".join),
)
def test_a_prefix_with_several_signs_and_fields_is_what_the_oracle_gives(
    history: list, query: str
) -> None:
    index, there = play(history)
    told = Told(there)
    want = oracle.rank(
        told.documents,
        told.clauses(query, "query"),
        variant="lucene",
        weights=weights(),
        minimum_should_match=0,
    )
    assert_ranked(list(index.search(query, k=50, syntax="query")), want, 50)


@slow
@given(histories, words, st.integers(0, 4))
def test_plain_words_may_have_to_match_several_times(
    history: list, query: str, minimum: int
) -> None:
    index, there = play(history)
    told = Told(there)
    want = oracle.rank(
        told.documents,
        told.clauses(query, "plain"),
        variant="lucene",
        weights=weights(),
        minimum_should_match=minimum,
    )
    assert_ranked(list(index.search(query, k=50, minimum_should_match=minimum)), want, 50)


@slow
@given(histories, words, st.sampled_from(VARIANTS))
def test_words_alone_score_the_same_bits_in_either_syntax(
    history: list, query: str, variant: str
) -> None:
    index, _ = play(history, variant=variant)
    assert list(index.search(query, k=50, syntax="query")) == list(index.search(query, k=50))


@slow
@given(histories, words, st.sampled_from(VARIANTS))
def test_texts_alone_score_the_same_bits_with_fields_and_without(
    history: list, query: str, variant: str
) -> None:
    bare = [(step, id, fields and Fields(fields.text, None, None)) for step, id, fields in history]
    index, there = play(bare, variant=variant)
    plain = LexicalIndex(variant=variant)
    for id, fields in there.items():
        plain.add(id, fields.text)
    assert dict(index.search(query, k=50)) == dict(plain.search(query, k=50))


@slow
@given(histories, queries, st.sets(ids), st.integers(0, 2), st.integers(0, 6))
def test_filtered_is_filtered_afterwards(
    history: list, query: str, where: set[int], minimum: int, k: int
) -> None:
    index, _ = play(history)
    asked: dict[str, Any] = {"syntax": "query", "minimum_should_match": minimum}
    everything = list(index.search(query, k=50, **asked))
    filtered = list(index.search(query, k=k, where=where, **asked))
    assert filtered == [hit for hit in everything if hit[0] in where][:k]


@slow
@given(histories, queries)
def test_sealing_changes_no_bit(history: list, query: str) -> None:
    index, _ = play(history)
    before = list(index.search(query, k=50, syntax="query"))
    index.seal()
    assert list(index.search(query, k=50, syntax="query")) == before


@slow
@given(histories, st.lists(queries, max_size=12), st.integers(1, 6), st.integers(0, 2))
def test_threads_change_nothing(
    history: list, asked: list[str], threads: int, minimum: int
) -> None:
    index, _ = play(history)
    options: dict[str, Any] = {"syntax": "query", "minimum_should_match": minimum}
    single = [list(index.search(query, k=5, **options)) for query in asked]
    many = index.search_many(asked, k=5, threads=threads, **options)
    assert [list(hits) for hits in many] == single


INDEX = LexicalIndex(fields=True)
INDEX.add_many(
    ["a", "b"],
    ["ant bee café 東京 src/main.py", "ERR_CONN-42 größe \0 x"],
    titles=["an ant", None],
    tags=[["x y", ""], None],
)


@slow
@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from([*'+-"* :', "title:", "ant", "東", "x"])).map("".join)
    ),
    st.integers(0, 3),
)
def test_every_string_is_a_query(query: str, minimum: int) -> None:
    hits = INDEX.search(query, syntax="query", minimum_should_match=minimum)
    assert len(hits.ids) == len(hits.scores) <= 2
    assert np.isfinite(hits.scores).all()


def test_a_phrase_goes_over_the_gap_of_a_stop_word() -> None:
    index = LexicalIndex()
    index.add_many([1, 2, 3], ["run to the hills", "run hills", "run past green hills"])

    def found(query: str) -> list[int]:
        return sorted(index.search(query, syntax="query").ids.tolist())

    assert found('"run to the hills"') == found('"run for a hills"') == [1, 3]
    assert found('"run hills"') == [2]
    assert found('"hills run"') == []


def test_a_phrase_stays_within_its_field_and_its_tag() -> None:
    index = LexicalIndex(fields=True)
    index.add(1, "black tea", title="green", tags=["cold coffee", "black"])
    for query, want in {
        '"green black"': 0,
        '"tea cold"': 0,
        '"coffee black"': 0,
        '"cold coffee"': 1,
        'tags:"cold coffee"': 1,
        'title:"cold coffee"': 0,
        "text:black": 1,
        "title:black": 0,
        "title:gr*": 1,
        "tags:gr*": 0,
    }.items():
        assert len(index.search(query, syntax="query")) == want, query


def test_a_long_text_keeps_its_places() -> None:
    index = LexicalIndex(analyzer="simple")
    for id in range(150):  # beyond 64 KiB of occurrences every 50 texts
        text = f"w{id} x{id} "
        index.add(id, text + " ".join(f"v{n}" for n in range(30_000)) if id % 50 == 7 else text)
    for _ in range(2):
        for id in range(150):
            assert index.search(f'"w{id} x{id}"', syntax="query").ids.tolist() == [id]
            assert len(index.search(f'"x{id} w{id}"', syntax="query")) == 0
        assert sorted(index.search('"v8 v9 v10"', syntax="query").ids) == [7, 57, 107]
        index.seal()


def test_what_is_over_a_limit_is_refused() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(list(range(1_100)), [f"word{n}" for n in range(1_100)])
    assert len(index.search("word1*", k=2_000, syntax="query")) == 211
    with pytest.raises(QueryTooLarge, match="at most 1024 distinct terms"):
        index.search("-word* +word1", syntax="query")
    with pytest.raises(QueryTooLarge, match="at most 65536 bytes"):
        index.search("+a " * 30_000, syntax="query")
    phrases = " ".join(f'"word{n} word{m}"' for n in range(40) for m in range(40))
    with pytest.raises(QueryTooLarge, match="at most 1024 distinct clauses"):
        index.search(phrases, syntax="query")
    assert len(index.search("+word7 " * 9_000, syntax="query")) == 1  # one clause, often


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"syntax": "lucene"}, ValueError, "syntax: must be 'plain' or 'query', got 'lucene'"),
        ({"syntax": 3}, TypeError, "syntax: expected str, got int"),
        ({"minimum_should_match": -1}, ValueError, "minimum_should_match: must be at least 0"),
        ({"minimum_should_match": 1.0}, TypeError, "minimum_should_match: expected an integer"),
    ],
)
def test_wrong_arguments_are_named(options: dict, error: type, message: str) -> None:
    for call in (
        lambda: INDEX.search("ant", **options),
        lambda: INDEX.search_many(["ant"], **options),
        lambda: INDEX.score("ant", ["a"], **options),
    ):
        with pytest.raises(error, match=message):
            call()


def test_fields_need_an_index_with_fields() -> None:
    plain = LexicalIndex()
    for wrong in ({"title": "x"}, {"tags": ["x"]}):
        with pytest.raises(ValueError, match="the index has no fields; make it with fields=True"):
            plain.add(1, "x", **wrong)
    with pytest.raises(ValueError, match="title_weight: only an index with fields has one"):
        LexicalIndex(title_weight=2.0)
    for weight in (0.0, 0.3, 9.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"tags_weight: must be a multiple of 0\.25"):
            LexicalIndex(fields=True, tags_weight=weight)
    with pytest.raises(TypeError, match="fields: must be True or False"):
        LexicalIndex(fields=1)  # type: ignore[arg-type]
    fields = LexicalIndex(fields=True)
    with pytest.raises(TypeError, match=r"tags\[1\]: expected str, got int"):
        fields.add(1, "x", tags=["a", 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="tags: must be a sequence of str"):
        fields.add(1, "x", tags="a")
    with pytest.raises(ValueError, match=r"titles: must be as many as texts \(1\), got 2"):
        fields.add_many([1], ["x"], titles=["a", "b"])
    assert len(plain) == len(fields) == 0


def test_the_core_permits_what_the_signs_permit() -> None:
    core = _core.LexicalIndex(
        analyzer=analyzers.make("simple"),
        bm25=_core.Bm25(variant="lucene", k1=1.2, b=0.75, delta=0.0),
    )
    for row, text in enumerate(["ant bee", "bee", "ant", "", "cat"]):
        core.add(row=row, text=text)

    def permitted(query: str, allowed: list[int] | None = None) -> list[int] | None:
        bits = None
        if allowed is not None:
            bits = np.packbits([row in allowed for row in range(5)], bitorder="little")
        found = core.permitted(query=query, allowed=bits, syntax="query")
        return (
            None
            if found is None
            else np.flatnonzero(
                np.unpackbits(np.frombuffer(found, np.uint8), bitorder="little")
            ).tolist()
        )

    assert permitted("ant bee") is None
    assert permitted("-ant") == [1, 3, 4]
    assert permitted("+bee cat") == [0, 1]
    assert permitted("+bee -ant") == [1]
    assert permitted("+unheard") == []
    assert permitted("-ant", [2, 3]) == [3]


def test_prefixes_also_find_the_terms_of_given_statistics() -> None:
    """Also terms that the core knows only by their names."""
    core = _core.LexicalIndex(
        analyzer=analyzers.make("english"),
        bm25=_core.Bm25(variant="lucene", k1=1.2, b=0.75, delta=0.0),
    )
    for row, text in enumerate(["he runs", "tea", "a rune"]):
        core.add(row=row, text=text)

    def permitted(query: str, terms: dict[str, list[str]] | None) -> list[int]:
        given = None
        if terms is not None:
            df = {"run": 2, "quasar": 1, "tea": 1}
            given = _core.QueryStatistics(
                documents=9, length=20, df=df, prefix_df={"runn": 2}, prefix_terms=terms
            )
        bits = core.permitted(query=query, allowed=None, syntax="query", statistics=given)
        assert bits is not None
        rows: list[int] = np.flatnonzero(
            np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
        ).tolist()
        return rows

    assert permitted("+runn*", None) == []
    assert permitted("+runn*", {}) == []
    assert permitted("+runn*", {"runn": ["run"]}) == [0]
    assert permitted("-runn*", {"runn": ["run"]}) == [1, 2]
    assert permitted("+runn*", {"runn": ["quasar"]}) == []
    weighed = core.weigh(query="tea quasars", statistics=None)
    assert core.score_rows(query=weighed, rows=np.array([1], np.uint32))[0] > 0
