"""Worked examples, and what each argument may be."""

from __future__ import annotations

import math

import numpy as np
import pytest

import oneiros
from oneiros import LexicalIndex

LIMIT = 32 * 2**20


def small(**settings: object) -> LexicalIndex:
    index = LexicalIndex(analyzer="simple", **settings)
    index.add_many([10, 11, 12], ["red fox", "red red dog", "blue fish"])
    return index


def pairs(hits: oneiros.lexical.index.Hits) -> list[tuple[int | str, float]]:
    return list(hits)


# N = 3, df = 2, average length 7/3: B = 0.25 + 0.75 * 6/7 for the fox, 0.25 + 0.75 * 9/7 for the dog.
FOX, DOG = 0.25 + 0.75 * 6 / 7, 0.25 + 0.75 * 9 / 7
BY_HAND = {
    "lucene": (math.log(1 + 1.5 / 2.5), 1 / (1 + 1.2 * FOX), 2 / (2 + 1.2 * DOG)),
    "robertson": (math.log(1.5 / 2.5), 1 / (1 + 1.2 * FOX), 2 / (2 + 1.2 * DOG)),
    "atire": (math.log(3 / 2), 2.2 * 1 / (1 + 1.2 * FOX), 2.2 * 2 / (2 + 1.2 * DOG)),
    "bm25plus": (math.log(4 / 2), 1 + 2.2 / (1 + 1.2 * FOX), 1 + 4.4 / (2 + 1.2 * DOG)),
    "bm25+": (math.log(4 / 2), 1 + 2.2 / (1 + 1.2 * FOX), 1 + 4.4 / (2 + 1.2 * DOG)),
    "bm25l": (
        math.log(4 / 2.5),
        2.2 * (1 / FOX + 0.5) / (1.2 + 1 / FOX + 0.5),
        2.2 * (2 / DOG + 0.5) / (1.2 + 2 / DOG + 0.5),
    ),
}


@pytest.mark.parametrize("variant", BY_HAND)
def test_each_variant_gives_the_published_formula(variant: str) -> None:
    idf, fox, dog = BY_HAND[variant]
    got = dict(small(variant=variant).search("red"))
    assert got == pytest.approx({10: idf * fox, 11: idf * dog}, rel=1e-14)


def test_repeated_words_count_as_often_as_they_are_asked_for() -> None:
    index = small()
    once, twice = dict(index.search("red")), dict(index.search("red, RED!"))
    assert twice == {id: 2 * score for id, score in once.items()}


def test_given_texts_score_as_a_search_scores_them() -> None:
    index = small()
    found = dict(index.search("red dog"))
    scores = index.score("red dog", [12, 11, 99, 10, 11])
    assert scores.dtype == np.float64
    assert scores.tolist() == [0.0, found[11], 0.0, found[10], found[11]]
    assert index.score("red", []).tolist() == []
    assert index.score("nothing here", np.array([10])).tolist() == [0.0]
    assert index.delete(11)
    assert index.score("red", [11]).tolist() == [0.0]


def test_ids_come_back_as_int64_or_as_objects() -> None:
    index = small()
    hits = index.search("red")
    assert hits.ids.dtype == np.int64
    assert hits.scores.dtype == np.float64
    assert hits.ids.tolist() == [11, 10]
    assert len(hits) == 2
    index.add("10", "red")  # not the id 10
    index.add(-(2**63), "red")
    hits = index.search("red")
    assert hits.ids.dtype == np.object_
    assert set(hits.ids) == {10, 11, "10", -(2**63)}
    assert index.delete("10")
    assert index.search("red").ids.dtype == np.int64


def test_numpy_ids_and_texts_are_welcome() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(np.array([5, 6]), np.array(["red", "red"], dtype=object))
    index.add(np.int32(7), "red")
    assert index.search("red", where=np.array([6, 7])).ids.tolist() == [6, 7]
    assert 5 in index
    assert 7 in index


def test_an_update_keeps_the_place_among_equals() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(["a", "b", "c"], ["ant", "ant", "ant"])
    index.add("a", "bee")
    assert list(index.search("ant").ids) == ["b", "c"]
    index.add("a", "ant")
    assert list(index.search("ant").ids) == ["a", "b", "c"]
    assert index.delete("a")
    index.add("a", "ant")  # a new text, after the others
    assert list(index.search("ant").ids) == ["b", "c", "a"]
    assert len(index) == 3


def test_the_last_text_of_an_id_wins_within_a_batch() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add_many(["a", "b", "a"], ["ant", "ant", "bee"])
    assert list(index.search("ant").ids) == ["b"]
    assert list(index.search("bee").ids) == ["a"]
    assert len(index) == 2


@pytest.mark.parametrize("texts", [[], [""], ["", "the of and", "?!", "\0"]])
@pytest.mark.parametrize("query", ["", " ", "ant", "the", "\0", "\N{BUG}"])
def test_where_nothing_is_nothing_is_found(texts: list[str], query: str) -> None:
    index = LexicalIndex()
    index.add_many(list(range(len(texts))), texts)
    assert len(index) == len(texts)
    hits = index.search(query)
    assert hits.ids.shape == hits.scores.shape == (0,)
    assert [len(one) for one in index.search_many([query] * 3, threads=2)] == [0, 0, 0]
    assert index.search_many([]) == []


def test_k_from_nothing_to_more_than_there_is() -> None:
    index = small()
    assert index.search("red", k=0).ids.tolist() == []
    assert index.search("red", k=1).ids.tolist() == [11]
    assert index.search("red", k=10**30).ids.tolist() == [11, 10]


def test_where_restricts_and_leaves_scores_alone() -> None:
    index = small()
    free = dict(index.search("red"))
    assert dict(index.search("red", k=1, where={10})) == {10: free[10]}
    assert len(index.search("red", where=[])) == 0
    assert len(index.search("red", where=[12, "unknown"])) == 0
    many = index.search_many(["red", "fish"], where=(10, 12))
    assert [one.ids.tolist() for one in many] == [[10], [12]]


def test_cut_words_are_counted() -> None:
    index = LexicalIndex(analyzer="simple")
    assert index.add(1, "ant " + "a" * 300) == 1
    assert index.add_many([2, 3], ["b" * 257 + " " + "c" * 256, "ant"]) == 1
    assert index.search("a" * 1000).ids.tolist() == [1]


def test_a_text_may_be_long() -> None:
    index = LexicalIndex(analyzer="simple")
    index.add(1, "ant " * (LIMIT // 4))
    assert index.search("ant").ids.tolist() == [1]
    with pytest.raises(ValueError, match="text: must be at most 33554432 bytes"):
        index.add(1, "é" * (LIMIT // 2 + 1))
    with pytest.raises(ValueError, match=r"texts\[1\]: must be at most 33554432 bytes"):
        index.add_many([2, 3], ["ant", "a" * (LIMIT + 1)])
    assert len(index) == 1
    assert 2 not in index


def test_queries_have_limits() -> None:
    index = small()
    assert index.search("red" + " " * (2**16 - 3)).ids.tolist() == [11, 10]
    with pytest.raises(oneiros.QueryTooLarge, match="query: must be at most 65536 bytes"):
        index.search("red" + " " * (2**16 - 2))
    words = " ".join(f"w{number}" for number in range(1023))
    assert index.search(f"red {words} red").ids.tolist() == [11, 10]
    with pytest.raises(oneiros.QueryTooLarge, match=r"at most 1024 distinct terms, got 1025"):
        index.search(f"red fish {words}")
    with pytest.raises(oneiros.QueryTooLarge):
        index.search_many(["red", f"red fish {words}"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda i: i.add(True, "x"), TypeError, "id: must be an int or a str, got bool"),
        (lambda i: i.add(1.0, "x"), TypeError, "id: must be an int or a str, got float"),
        (lambda i: i.add(2**63, "x"), ValueError, "id: must fit 64 bits, got 9223372036854775808"),
        (lambda i: i.add("\ud800", "x"), oneiros.TextEncodingError, "id: must have no lone"),
        (lambda i: i.add(1, b"x"), TypeError, "text: expected str, got bytes"),
        (lambda i: i.add(1, "\udfff"), oneiros.TextEncodingError, "text: must have no lone"),
        (lambda i: i.add_many([1, None], "xy"), TypeError, r"ids\[1\]: must be an int or a str"),
        (lambda i: i.add_many([1, 2], "xy"), TypeError, "texts: must be a sequence of str"),
        (lambda i: i.add_many("ab", ["x", "y"]), TypeError, "ids: must be a collection of ids"),
        (lambda i: i.add_many([1], ["x", "y"]), ValueError, r"texts: must be as many as ids \(1\)"),
        (lambda i: i.add_many([1, 2], ["x", 3]), TypeError, r"texts\[1\]: expected str, got int"),
        (lambda i: i.add_many([1, 2], ["x", "\ud800"]), ValueError, r"texts\[1\]: must have no"),
        (lambda i: i.delete(None), TypeError, "id: must be an int or a str, got NoneType"),
        (lambda i: i.search(b"red"), TypeError, "query: expected str, got bytes"),
        (lambda i: i.search("\ud800"), oneiros.TextEncodingError, "query: must have no lone"),
        (lambda i: i.search("red", k=-1), ValueError, "k: must be at least 0, got -1"),
        (lambda i: i.search("red", k=2.5), TypeError, "k: expected an integer, got float 2.5"),
        (lambda i: i.search("red", k=True), TypeError, "k: expected an integer, got bool True"),
        (lambda i: i.search("red", where="10"), TypeError, "where: must be a collection of ids"),
        (lambda i: i.search("red", where=[1.5]), TypeError, r"where\[0\]: must be an int or a str"),
        (lambda i: i.search_many("red"), TypeError, "queries: must be a sequence of str"),
        (lambda i: i.search_many([3]), TypeError, r"queries\[0\]: expected str, got int"),
        (lambda i: i.score(3, [10]), TypeError, "query: expected str, got int"),
        (lambda i: i.score("red", [1.5]), TypeError, r"ids\[0\]: must be an int or a str"),
        (lambda i: i.score("red", "ab"), TypeError, "ids: must be a collection of ids"),
        (lambda i: i.search_many(["x"], threads=0), ValueError, "threads: must be in 1 to 256, got 0"),
        (lambda _: LexicalIndex("okapi"), ValueError, "variant: must be lucene, .* got 'okapi'"),
        (lambda _: LexicalIndex(k1=-0.1), ValueError, "k1: must be a number from 0 to .* got -0.1"),
        (lambda _: LexicalIndex(k1=math.inf), ValueError, "k1: must be a number from 0"),
        (lambda _: LexicalIndex(k1="1.2"), TypeError, "k1: must be a number, got str"),
        (lambda _: LexicalIndex(b=1.1), ValueError, "b: must be a number from 0 to 1, got 1.1"),
        (lambda _: LexicalIndex(b=math.nan), ValueError, "b: must be a number from 0 to 1, got nan"),
        (lambda _: LexicalIndex(half_length=-1), ValueError, "half_length: must be .* from 0 to .* -1"),
        (lambda _: LexicalIndex(half_length=math.inf), ValueError, "half_length: must be a number"),
        (lambda _: LexicalIndex(half_length=math.nan), ValueError, "half_length: must be .* got nan"),
        (lambda _: LexicalIndex(half_length="9"), TypeError, "half_length: must be a number, got str"),
        (lambda _: LexicalIndex("bm25l", delta=-1), ValueError, "delta: must be a number from 0"),
        (lambda _: LexicalIndex(delta=0.5), ValueError, "delta: only bm25plus and bm25l have one"),
        (lambda _: LexicalIndex(analyzer="klingon"), ValueError, "analyzer: must be one of"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_changes_nothing(
    call: object, error: type[Exception], message: str
) -> None:
    index = small()
    before = pairs(index.search("red fox dog blue"))
    with pytest.raises(error, match=message):
        call(index)
    assert len(index) == 3
    assert 1 not in index
    assert 2 not in index
    assert pairs(index.search("red fox dog blue")) == before


def test_settings_at_the_ends_of_their_ranges_give_numbers() -> None:
    for variant in BY_HAND:
        for k1, b in [(0, 0), (0, 1), (1e100, 0), (1e100, 1)]:
            scores = small(variant=variant, k1=k1, b=b).search("red dog").scores
            assert np.isfinite(scores).all()
            assert len(scores) == 2
            boundless = small(variant=variant, k1=k1, b=b, half_length=1e100).search("red dog")
            assert boundless.scores.tolist() == pytest.approx(
                small(variant=variant, k1=k1, b=0).search("red dog").scores.tolist()
            )


def test_the_index_tells_what_it_is() -> None:
    index = small()
    assert repr(index) == (
        "LexicalIndex(variant='lucene', k1=1.2, b=0.75, analyzer='simple', texts=3)"
    )
    empty = LexicalIndex().nbytes
    index.add_many(list(range(1000)), [f"word{n} other{n}" for n in range(1000)])
    assert index.nbytes > empty + 1000 * 20
    assert 1.0 not in index
    assert True not in index
    assert "10" not in index


def test_stats_tell_the_bytes_of_each_part() -> None:
    index = small()
    index.add_many(range(3_000), [f"common word{n}" for n in range(3_000)])
    before = index.stats()
    assert before["bytes"]["growing"] > before["bytes"]["postings"]
    index.seal()
    stats = index.stats()
    assert sum(stats["bytes"].values()) == index.nbytes
    assert stats["bytes"]["postings"] > 3_000
    assert stats["bytes"]["occurrences"] > 3_000
    assert stats["texts"] == len(index)
    assert stats["segments"] == 1
    assert stats["merge_error"] is None
