"""Words with a typing error, which no text has: docs/systems/house.md H20."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import Stemmer
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.lexical.analyzers import FUNCTION_WORDS, TIME_WORDS
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import Blend
from oneiros.search.query.dates import MONTHS, UNITS, WEEKDAYS
from tests.oracles import bm25, fusion, house

NOW = 1_750_000_000.0
WORDS = ("harbour", "harbor", "barber", "boat", "bolt", "kitten", "kitchen", "the", "over")
SLIPS = ("harbuor", "harbr", "barbar", "boaat", "bot", "blot", "kitte", "kitcen", "vover", "boat2")
BARE = oneiros.profiles.get("oneiros").replace(
    name="bare",
    **dict.fromkeys(
        ("neighbours", "statements", "named_time", "asked_time", "expansion", "abstention")
    ),
    factors=(),
)
TEXTS = {
    "move": "the migrations of both databases were planned for March",
    "tea": "Ada prefers green tea",
    "deploy": "Kubernetes runs every deployment",
}

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=8)
queries = st.lists(st.sampled_from((*WORDS, *SLIPS)), min_size=1, max_size=8)


def profile_with(typos: float | None, *, weight: float = 0.4) -> oneiros.Profile:
    """Return a profile of the blend alone."""
    channel = LexicalChannel(k1=1.2, b=1.0, half_length=65.0, typos=typos)
    fusion = Blend(weight=weight, scale="coverage", pairs=0.15)
    return BARE.replace(channels=(channel, VectorChannel()), fusion=fusion)


def opened(analyzer: str = "simple", typos: float | None = house.TYPOS) -> oneiros.Engine:
    return oneiros.Engine(
        ":memory:", profile=profile_with(typos), analyzer=analyzer, clock=lambda: NOW
    )


def add(engine: Any, given: list[list[str]], **more: Any) -> None:
    engine.add_many(
        {"id": str(row), "text": " ".join(text) or "-"} | more for row, text in enumerate(given)
    )


def scores_of(engine: Any, query: str, **more: Any) -> dict[str, float]:
    found = engine.search(query, 100, reinforce=False, **more)
    return {one.id: one.relevance_score for one in found}


def bm25_of(engine: Any, query: str, **more: Any) -> dict[str, float]:
    found = engine.search(query, 100, reinforce=False, **more)
    return {one.id: one.channels["lexical"] for one in found}


def searched_as(found: oneiros.SearchResponse) -> str:
    (stage,) = (stage for stage in found.trace.stages if stage.name == "bm25_search")
    return stage.note


@pytest.fixture
def engine() -> Any:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add_many([{"id": id, "text": text} for id, text in TEXTS.items()], links=False)
        yield engine


def expected(texts: list[list[str]], query: list[str], typos: float) -> dict[str, float]:
    """Return the relevance of each text that has a word of the query, by the page."""
    documents = dict(enumerate(texts))
    held = {word: sum(word in text for text in texts) for word in (*WORDS, *SLIPS)}
    read = house.respelled(query, held) if typos else {}
    shares = dict.fromkeys(read.values(), typos)
    asked = [read.get(word, word) for word in query]
    hits = bm25.rank(documents, asked, 100, k1=1.2, b=1.0, half_length=65.0, shares=shares)
    weights = {
        word: shares.get(word, 1.0) * bm25.IDF["lucene"](len(texts), held[word])
        for word in asked
        if held[word]
    }
    pairs = house.pair_weights(asked, weights)
    scores = {row: score + 0.15 * house.pair_score(pairs, [texts[row]]) for row, score in hits}
    possible = bm25.possible(len(texts), held, asked, shares) + 0.15 * sum(pairs.values())
    # What a word has not that stands for another is missing still.
    possible += len(read) * (1 - typos) * bm25.IDF["lucene"](len(texts), 1)
    found = fusion.blend({"lexical": hits}, scores, {}, 0.4, possible)
    return {str(row): score for row, score in found.items()}


@settings(max_examples=200, deadline=None)
@given(texts=texts, query=queries, typos=st.sampled_from([None, 0.25, 0.8, 1.0]))
@example(texts=[["boat"], ["bolt", "boat"]], query=["blot", "boaat"], typos=0.8)
@example(texts=[["boat"]], query=["boaat", "boat"], typos=0.8)
@example(texts=[["boat"], ["bolt"]], query=["boxt", "over"], typos=0.8)
def test_relevance_is_the_oracles(
    texts: list[list[str]], query: list[str], typos: float | None
) -> None:
    with opened(typos=typos) as engine:
        add(engine, texts)
        got = scores_of(engine, " ".join(query))
    assert got == pytest.approx(expected(texts, query, typos or 0.0))


@settings(max_examples=60, deadline=None)
@given(texts=texts, others=texts, query=queries)
def test_a_scope_has_the_scores_of_a_store_of_its_own(
    texts: list[list[str]], others: list[list[str]], query: list[str]
) -> None:
    """Also where others have the word, or words nearer to it."""
    asked = " ".join(query)
    with opened("english") as alone, opened("english") as engine:
        add(alone, texts)
        engine.add_many({"text": " ".join((*text, *SLIPS[:4])), "user": "Bo"} for text in others)
        add(engine, texts, user="Ada")
        mine = engine.scope(user="Ada")
        assert scores_of(mine, asked) == scores_of(alone, asked)
        notes = [searched_as(one.search(asked, reinforce=False)) for one in (mine, alone)]
        assert notes[0] == notes[1]


@settings(max_examples=60, deadline=None)
@given(texts=texts, others=texts, query=queries)
def test_the_statistics_of_two_stores_weigh_as_one_of_both(
    texts: list[list[str]], others: list[list[str]], query: list[str]
) -> None:
    asked = " ".join(query)
    with opened("english") as one, opened("english") as two, opened("english") as both:
        add(one, texts)
        two.add_many({"id": f"o{row}", "text": " ".join(text)} for row, text in enumerate(others))
        add(both, texts)
        both.add_many({"id": f"o{row}", "text": " ".join(text)} for row, text in enumerate(others))
        whole = one.statistics(asked) + two.statistics(asked)
        found = bm25_of(one, asked, statistics=whole) | bm25_of(two, asked, statistics=whole)
        assert found == bm25_of(both, asked)


@pytest.mark.parametrize("slip", ["migratoin", "migrtion", "migrattion", "migrarion", "migrations"])
def test_forms_that_no_text_has_are_found_by_their_stem(engine: oneiros.Engine, slip: str) -> None:
    """The store has "migrations"; one slip makes "migration" of most of these."""
    found = engine.search(slip, reinforce=False)
    assert found.ids == ["move"]
    if slip != "migrations":
        assert f"no text has {slip!r}, searched as 'migration'" in searched_as(found)


def test_the_stems_are_the_oracles() -> None:
    stemmer = Stemmer.Stemmer("english")
    held = {stemmer.stemWord(word): 1 for text in TEXTS.values() for word in text.lower().split()}
    with opened("english") as engine:
        engine.add_many([{"id": id, "text": text} for id, text in TEXTS.items()], links=False)
        for word in ("datbases", "plannd", "marhc", "prefrs", "grean", "kuberntes", "deploymnt"):
            read = house.respelled([word], held, stemmer.stemWord)
            note = searched_as(engine.search(word, reinforce=False))
            assert note.startswith(f"no text has {word!r}, searched as ")
            other = note.rsplit("'", 2)[1]
            assert other in house.one_slip_away(word)
            assert list(read.values()) == [stemmer.stemWord(other)]


@pytest.mark.parametrize("word", ["last", "March", "week", "next", "July", "past", "five"])
def test_words_that_times_are_named_by_are_no_typing_errors(word: str) -> None:
    slips = {"last": "lost", "march": "match", "week": "weak", "next": "text"}
    slips |= {"july": "jolly", "past": "post", "five": "fire"}
    with opened("english") as engine:
        engine.add(f"Milo {slips[word.lower()]} a tooth, {slips[word.lower()]}ed")
        assert engine.search(word, reinforce=False).ids == []
        assert engine.search(f"{word}s", reinforce=False).ids == []
    assert house.respelled([word.lower()], {slips[word.lower()]: 1}, known=TIME_WORDS) == {}


def test_every_word_of_a_time_is_known() -> None:
    named = {word for word in (*MONTHS, *WEEKDAYS, *UNITS) if len(word) > 3}
    assert named <= {*TIME_WORDS}
    assert {word for word in TIME_WORDS if len(word) < 4} == set()
    assert not {*TIME_WORDS} & {*FUNCTION_WORDS}


@pytest.mark.parametrize(
    "query",
    [
        "tae",  # too few letters
        "hreen",  # the first letter
        "kuebrnteess",  # more than one slip
        "gr33n",
        '"gren"',  # not in plain syntax
    ],
)
def test_other_words_are_taken_as_they_are(engine: oneiros.Engine, query: str) -> None:
    syntax = "query" if '"' in query else "plain"
    found = engine.search(query, syntax=syntax, reinforce=False)
    assert found.ids == []
    assert "searched as" not in searched_as(found)


def test_a_word_that_any_text_has_is_no_slip(engine: oneiros.Engine) -> None:
    engine.add("the gren of the castle", id="gren")
    assert engine.search("gren", reinforce=False).ids == ["gren"]
    engine.delete("gren")
    assert engine.search("gren", reinforce=False).ids == ["tea"]


def test_words_of_forgotten_memories_are_not_searched(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        engine.add("Ada prefers green tea", id="tea")
        engine.add("a gren is a beard", id="beard")
        engine.add("no gren is green", id="gone")
        engine.add("one more gren", id="more")
        assert "searched as 'gren'" in searched_as(engine.search("grren", reinforce=False))
        for id in ("gone", "beard", "more"):
            engine.forget(id)
        found = engine.search("grren", reinforce=False)
        assert found.ids == ["tea"]
        assert "searched as 'green'" in searched_as(found)


@pytest.mark.parametrize("name", ["reverie", "cognitive", "mnemosyne", "omega", "ciar", "bm25"])
def test_published_systems_search_what_is_asked(name: str) -> None:
    with oneiros.Engine(":memory:", profile=name) as engine:
        engine.add("Ada prefers green tea")
        assert engine.search("prefrs", reinforce=False).ids == []
        assert engine.search("prefers", reinforce=False).ids != []


def test_other_alphabets_and_none() -> None:
    with oneiros.Engine(":memory:", analyzer="simple") as engine:
        engine.add("привет мир", id="ru")
        engine.add("καλημέρα κόσμε", id="el")
        engine.add("გამარჯობა მსოფლიო", id="ka")
        for slip, id in (
            ("превет", "ru"),
            ("καλημρα", "el"),
            ("გამარჯობბა", "ka"),
            ("გამარჯოაბ", "ka"),
        ):
            assert engine.search(slip, reinforce=False).ids == [id], slip
        assert engine.search("გამარჯობ", reinforce=False).ids == []  # no letter is put in


def test_abstention_goes_by_the_words_as_asked() -> None:
    """H7: what is foreign to a store is often one slip away from one of its words."""
    away = (0.0, 1.0)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add("Kubernetes runs it", id="deploy", embedding=(1.0, 0.0))
        assert engine.search("kubernetes", embedding=away, reinforce=False).ids == ["deploy"]
        assert engine.search("kuberntes", embedding=away, reinforce=False).abstained
        assert engine.search("kuberntes", embedding=(1.0, 0.1), reinforce=False).ids == ["deploy"]


def test_at_most_eight_words_are_looked_at() -> None:
    words = [
        "acorn",
        "banjo",
        "cedar",
        "dolma",
        "easel",
        "fudge",
        "gourd",
        "hazel",
        "ivory",
        "jumpy",
    ]
    slips = [f"{word[:2]}{word[3]}{word[2]}{word[4:]}" for word in words]
    with opened() as engine:
        add(engine, [[word] for word in words])
        found = scores_of(engine, " ".join(slips))
        assert sorted(found, key=int) == [str(n) for n in range(8)]
