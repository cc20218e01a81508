"""The plain profiles against plain Python: docs/systems/plain.md, P1 to P3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.factors import QuestionFeedback
from tests.engine.embedders import LetterCounts
from tests.oracles import bm25

NOW = 1_750_000_000.0
WORDS = ("ant", "bee", "wasp", "moth", "gnat")
PLAIN = ("bm25", "cosine", "rrf")

TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=25
)
VECTORS = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(
    lambda vector: vector if any(vector) else None
)
QUERIES = st.lists(st.sampled_from((*WORDS, "heron")), min_size=1, max_size=4).map(" ".join)


def by_words(texts: list[str], query: str, k: int) -> list[tuple[int, float]]:
    documents = {row: text.split() for row, text in enumerate(texts)}
    return bm25.rank(documents, query.split(), k)


def by_cosine(vectors: list[list[int] | None], query: list[int], k: int) -> list[tuple[int, float]]:
    unit = np.array(query) / np.linalg.norm(query)
    found = [
        (row, float(np.array(vector) / np.linalg.norm(vector) @ unit))
        for row, vector in enumerate(vectors)
        if vector is not None
    ]
    return sorted(found, key=lambda hit: (-round(hit[1], 6), hit[0]))[:k]


def fused(*lists: list[tuple[int, float]]) -> list[tuple[int, float]]:
    scores: dict[int, float] = {}
    for hits in lists:
        for rank, (row, _) in enumerate(hits, start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))


def engine_of(texts: list[str], vectors: list[list[int] | None]) -> oneiros.Engine:
    engine = oneiros.Engine(":memory:", profile="bm25", clock=lambda: NOW)
    engine.add_many(
        [
            {"id": str(row), "text": text, "embedding": vector}
            for row, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
    )
    return engine


@given(data=st.data(), texts=TEXTS, query=QUERIES, k=st.integers(1, 30))
def test_scores_and_order_are_those_of_plain_python(
    data: st.DataObject, texts: list[str], query: str, k: int
) -> None:
    size = len(texts)
    vectors = data.draw(st.lists(VECTORS, min_size=size, max_size=size))
    asked = data.draw(VECTORS.filter(bool))
    assert asked is not None
    with engine_of(texts, vectors) as engine:
        words = engine.search(query, k, profile="bm25", embedding=asked)
        expected = by_words(texts, query, k)
        assert words.ids == [str(row) for row, _ in expected]
        assert words.scores == pytest.approx([score for _, score in expected], rel=1e-5)
        near = engine.search(query, k, profile="cosine", embedding=asked)
        expected = by_cosine(vectors, asked, k)
        assert near.scores == pytest.approx([score for _, score in expected], abs=1e-5)
        if len(set(near.scores)) == len(near.scores):  # float32 may part what float64 ties
            assert sorted(near.ids[:-1]) == sorted(str(row) for row, _ in expected[:-1])
        both = engine.search(query, 1_000, profile="rrf", embedding=asked)
        wide = [engine.search(query, 1_000, profile=name, embedding=asked) for name in PLAIN[:2]]
        lists = [
            [(int(id), score) for id, score in zip(one.ids, one.scores, strict=True)]
            for one in wide
        ]
        expected = fused(*lists)
        assert both.ids == [str(row) for row, _ in expected]
        assert both.scores == [pytest.approx(score, rel=1e-12) for _, score in expected]


@pytest.fixture
def many() -> Iterator[oneiros.Engine]:
    with engine_of(
        [f"ant {'bee ' * (row % 7)}" for row in range(250)],
        [[1, row % 50, row % 3] for row in range(250)],
    ) as engine:
        yield engine


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("k", [0, 1, 99, 101, 250, 1_500, 2**31 - 1])
def test_as_many_results_come_as_match(many: oneiros.Engine, name: str, k: int) -> None:
    response = many.search("ant", k, profile=name, embedding=[1.0, 2.0, 0.0])
    assert len(response) == min(k, 250)
    assert not [note for note in response.trace.notes if "depth" in note]


def test_other_profiles_stay_within_their_depth(many: oneiros.Engine) -> None:
    assert len(many.search("ant", 250, profile="reverie")) == 100


@pytest.mark.parametrize("name", PLAIN)
def test_a_search_changes_nothing(many: oneiros.Engine, name: str) -> None:
    before = many.get_many([str(row) for row in range(250)])
    for _ in range(3):
        many.search("ant bee", profile=name, embedding=[1.0, 2.0, 0.0])
    many.flush()
    assert many.get_many([str(row) for row in range(250)]) == before
    with pytest.raises(ValueError, match=f"the profile '{name}' has no reinforcement"):
        many.search("ant", profile=name, reinforce=True)


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_but_the_score_decides(name: str) -> None:
    profile = profiles.get(name)
    for part in ("factors", "keep", "phases"):
        assert getattr(profile, part) == ()
    for part in (
        *("expansion", "rerank", "duplicates", "abstention", "retry", "normalisation", "cache"),
        *(
            "hot_set",
            "neighbours",
            "statements",
            "named_time",
            "asked_time",
            "fast_path",
            "strong_signal",
        ),
        *("newer_first", "reinforcement", "promotion", "understanding", "ingest", "rails"),
    ):
        assert getattr(profile, part) is None, part
    assert profile.selection == oneiros.scoring.selection.Selection()


@pytest.mark.parametrize("name", PLAIN)
def test_twins_stay_and_what_every_profile_hides_is_hidden(name: str) -> None:
    with oneiros.Engine(":memory:", profile=name, clock=lambda: NOW) as engine:
        for id in ("twin", "other", "old", "archived", "expired", "early", "deleted"):
            engine.add("ant bee", id=id, embedding=[1.0, 0.0], created_at=NOW - 100)
        engine.supersede("old", "twin")
        engine.update("archived", status="archived")
        engine.update("expired", ttl=50)
        engine.update("early", valid_from=NOW + 50)
        engine.delete("deleted")

        def ids(**options: object) -> list[str]:
            return engine.search("ant", embedding=[1.0, 0.0], **options).ids  # type: ignore[arg-type]

        assert ids() == ["twin", "other"]
        assert ids(include_expired=True) == ["twin", "other", "expired"]
        assert ids(status="archived") == ["archived"]
        assert set(ids(deep_recall=True)) == {"twin", "other", "old"}


def test_without_a_vector_cosine_finds_nothing_and_says_why() -> None:
    with oneiros.Engine(":memory:", profile="cosine") as engine:
        engine.add("ant")
        response = engine.search("ant")
        assert response.ids == []
        assert "absent: no embedder, and no embedding given" in str(response.trace)
        assert engine.search("ant", profile="rrf").scores == [1 / 61]


def test_a_cosine_may_be_negative() -> None:
    with oneiros.Engine(":memory:", profile="cosine") as engine:
        engine.add("ant", id="far", embedding=[-1.0, 0.0])
        engine.add("bee", id="near", embedding=[1.0, 0.0])
        engine.add("no vector", id="none")
        response = engine.search("moth", embedding=[1.0, 0.0])
        assert dict(zip(response.ids, response.scores, strict=True)) == {"near": 1.0, "far": -1.0}


# -- the channels of a result ----------------------------------------------------------------------


@pytest.mark.parametrize("name", profiles.names())
def test_channels_are_those_that_an_explanation_shows(many: oneiros.Engine, name: str) -> None:
    options = {"profile": name, "embedding": [1.0, 2.0, 0.0]}
    plain = many.search("ant bee", **options, reinforce=False)  # type: ignore[arg-type]
    explained = many.search("ant bee", **options, explain=True)  # type: ignore[arg-type]
    assert plain.ids == explained.ids
    assert plain.ids
    for result, other in zip(plain, explained, strict=True):
        assert other.explanation is not None
        expected = {
            channel.name: channel.score
            for channel in other.explanation.channels
            if channel.rank is not None
        }
        assert result.channels == expected == other.channels
        assert expected


def test_channels_hold_each_channels_own_score(many: oneiros.Engine) -> None:
    vector = [1.0, 2.0, 0.0]
    by_name = {
        name: many.search("bee", 1_000, profile=name, embedding=vector) for name in PLAIN[:2]
    }
    words, near = (dict(zip(one.ids, one.scores, strict=True)) for one in by_name.values())
    found = many.search("bee", 1_000, profile="rrf", embedding=vector)
    assert len(found) == 250
    for result in found:
        assert result.channels.get("lexical") == words.get(result.id)
        assert result.channels["vector"] == near[result.id]
    assert any("lexical" not in result.channels for result in found)


def test_what_links_bring_has_no_channels() -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as engine:
        engine.add("ant", id="ant", embedding=[1.0, 0.0])
        engine.add("heron", id="heron")
        engine.link("ant", "heron", 1.0)
        results = {result.id: result for result in engine.search("ant", embedding=[1.0, 0.0])}
        assert results["heron"].is_associative
        assert results["heron"].channels == {}
        assert results["ant"].channels.keys() == {"lexical", "vector"}


def test_a_batch_and_a_cached_response_have_channels() -> None:
    with oneiros.Engine(":memory:", profile="omega") as engine:
        engine.add("the ant works")
        first = engine.search("ant")
        assert "response_cache" in str(engine.search("ant").trace)
        assert engine.search("ant").results[0].channels == first.results[0].channels != {}
        assert engine.search_many(["ant"])[0].results[0].channels == first.results[0].channels


def test_a_compound_query_has_the_channels_of_its_best_part() -> None:
    with oneiros.Engine(":memory:", profile="omega") as engine:
        engine.add("the launch of the rocket is in July", id="launch")
        engine.add("the garden has seven apple trees", id="garden")
        response = engine.search("when is the launch of the rocket and also what about the garden")
        assert response.parts
        assert response.ids
        assert all(result.channels.keys() == {"lexical"} for result in response)


def test_no_embedder_is_called_where_the_profile_reads_no_vector() -> None:
    embedder = LetterCounts()
    with oneiros.Engine(":memory:", embedder=embedder, clock=lambda: NOW) as engine:
        engine.add_many([{"text": "ant bee", "id": "a"}, {"text": "bee", "id": "b"}])
        embedder.asked.clear()
        assert engine.search("bee ant", profile="bm25").ids == ["a", "b"]
        both = engine.search_many(["bee ant", "ant"], profile="bm25")
        assert [response.ids for response in both] == [["a", "b"], ["a"]]
        assert engine.why_not("bee", "b", profile="bm25").is_returned
        assert embedder.asked == []
        with pytest.raises(ValueError, match="embedding: expected 8 values"):
            engine.search("bee", profile="bm25", embedding=[1.0])


def test_verdicts_on_alike_questions_read_the_vector_without_a_channel_of_it() -> None:
    embedder = LetterCounts()
    words = profiles.get("bm25").replace(factors=(QuestionFeedback(least=0.9),))
    with oneiros.Engine(":memory:", embedder=embedder, clock=lambda: NOW) as engine:
        engine.add_many([{"text": "bee", "id": id} for id in ("a", "b")])
        engine.feedback("b", "helpful", query="bee bee")
        embedder.asked.clear()
        assert engine.search("bee", profile=words).ids == ["b", "a"]
        assert embedder.asked == ["bee"]
