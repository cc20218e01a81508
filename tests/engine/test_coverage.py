"""The scale of words is what the query allows, too: docs/systems/house.md H3."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.scoring.fusion import Blend, added
from tests.oracles import bm25, fusion

NOW = 1_750_000_000.0
WORDS = ("ant", "bee", "cat", "dog")
UNKNOWN = ("zebu", "yak")
BARE = oneiros.profiles.get("oneiros").replace(
    name="bare",
    **dict.fromkeys(
        ("neighbours", "statements", "named_time", "asked_time", "expansion", "abstention")
    ),
    factors=(),
)
COVERED = BARE.replace(fusion=Blend(weight=0.4, scale="coverage"))
BY_BEST = BARE.replace(fusion=Blend(weight=0.4))

texts_of_store = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=12
)
queries = st.lists(st.sampled_from((*WORDS, *UNKNOWN)), min_size=1, max_size=6).map(" ".join)
vectors = st.sampled_from([None, (1.0, 0.0), (0.6, 0.8), (-1.0, 0.0)])


def opened(**more: Any) -> oneiros.Engine:
    return oneiros.Engine(":memory:", profile=BARE, analyzer="simple", clock=lambda: NOW, **more)


def frequencies(documents: dict[int, list[str]], query: str) -> dict[str, int]:
    return {word: sum(word in tokens for tokens in documents.values()) for word in query.split()}


@settings(max_examples=80, deadline=None)
@given(
    texts=texts_of_store,
    query=queries,
    data=st.data(),
    has_vector=st.booleans(),
    deleted=st.sets(st.integers(0, 11), max_size=3),
    hidden=st.sets(st.integers(0, 11), max_size=3),
)
def test_relevance_is_the_oracles(
    texts: list[str],
    query: str,
    data: st.DataObject,
    has_vector: bool,
    deleted: set[int],
    hidden: set[int],
) -> None:
    embeddings = [data.draw(vectors) if has_vector else None for _ in texts]
    with opened() as engine:
        engine.add_many(
            {
                "id": str(row),
                "text": text,
                "embedding": embedding,
                "status": "archived" if row in hidden else "staged",
            }
            for row, (text, embedding) in enumerate(zip(texts, embeddings, strict=True))
        )
        for row in deleted & set(range(len(texts))):
            engine.delete(str(row))
        # What is hidden stays in the statistics, what is deleted leaves them.
        documents = {row: one.split() for row, one in enumerate(texts) if row not in deleted}
        seen = {row for row in documents if row not in hidden}
        hits = bm25.rank(documents, query.split(), 100, k1=1.2, b=1.0, allowed=seen, half_length=65)
        channels: dict[str, fusion.Hits[int]] = {"lexical": hits}
        cosine = {row: vector[0] for row in seen if (vector := embeddings[row]) is not None}
        is_asked = any(embeddings[row] is not None for row in documents)
        if is_asked:
            channels["vector"] = list(cosine.items())
        allowed = bm25.possible(len(documents), frequencies(documents, query), query.split())
        asked: dict[str, Any] = {"embedding": (1.0, 0.0) if is_asked else None, "reinforce": False}
        for profile, possible in ((COVERED, allowed), (BY_BEST, None)):
            want = fusion.blend(channels, dict(hits), cosine, 0.4, possible)
            response = engine.search(query, 100, profile=profile, **asked)
            got = {int(one.id): one.relevance_score for one in response}
            assert got == pytest.approx(want, rel=1e-6, abs=1e-6)  # vectors are float32
            assert len(got) == len(response)
            many = engine.search_many(
                [query], 100, profile=profile, reinforce=False,
                embeddings=[(1.0, 0.0)] if is_asked else None,
            )  # fmt: skip
            assert [(one.id, one.score) for one in many[0]] == [
                (one.id, one.score) for one in response
            ]


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with opened() as made:
        made.add_many(
            {"id": str(row), "text": text}
            for row, text in enumerate(
                ("ant bee", "ant", "bee cat ant", "cat cat", "dog", "dog bee")
            )
        )
        yield made


def possible(engine: oneiros.Engine, query: str, **more: Any) -> float:
    """Return what the words of a query allow: without vectors the best has √(best / possible)."""
    first = engine.search(query, profile=COVERED, reinforce=False, explain=True, **more)[0]
    assert first.explanation is not None
    (best,) = (one.score for one in first.explanation.channels if one.name == "lexical")
    assert best is not None
    return best / first.relevance_score**2


def test_a_word_counts_as_often_as_it_is_asked_for(engine: oneiros.Engine) -> None:
    ant, cat = (math.log(1 + (6 - df + 0.5) / (df + 0.5)) for df in (3, 2))
    for query, allowed in (("ant", ant), ("ant cat", ant + cat), ("ant cat ant", 2 * ant + cat)):
        assert possible(engine, query) == pytest.approx(allowed)
        assert possible(engine, query, syntax="query") == pytest.approx(allowed)


@pytest.mark.parametrize("unknown", ["zebu", "zebu zebu", "zeb*", '"zebu yak"'])
def test_what_no_text_holds_counts_once_as_if_one_did(engine: oneiros.Engine, unknown: str) -> None:
    once = math.log(1 + (6 - 1 + 0.5) / 1.5)
    for query in ("ant", "+ant bee", "cat -dog"):
        known = possible(engine, query, syntax="query")
        assert possible(engine, f"{query} {unknown}", syntax="query") == pytest.approx(known + once)


@pytest.mark.parametrize(
    "query", ['"ant bee"', "+ant bee", "an* dog", "text:ant zebu", "ant bee cat dog", "ant^2 bee"]
)
def test_no_relevance_exceeds_that_of_every_word_found(engine: oneiros.Engine, query: str) -> None:
    for scores in (COVERED, BY_BEST):
        for one in engine.search(query, profile=scores, syntax="query", reinforce=False):
            assert 0.0 < one.relevance_score <= 1.0
    covered = engine.search(query, profile=COVERED, syntax="query", reinforce=False)
    by_best = engine.search(query, profile=BY_BEST, syntax="query", reinforce=False)
    assert covered.ids == by_best.ids
    assert covered[0].relevance_score < by_best[0].relevance_score


def test_a_scope_allows_what_its_own_texts_do(engine: oneiros.Engine) -> None:
    scope = engine.scope(project="p")
    scope.add_many([{"text": "ant bee"}, {"text": "cat"}])
    one = math.log(1 + 1.5 / 1.5)
    assert possible(scope, "ant dog") == pytest.approx(2 * one)  # dogs are outside


def test_the_parts_of_an_explanation_add_up(engine: oneiros.Engine) -> None:
    for query in ("ant zebu", "ant bee cat"):
        for one in engine.search(query, profile=COVERED, reinforce=False, explain=True):
            assert one.explanation is not None
            assert one.explanation.evaluate() == one.score
            assert added(part.value for part in one.explanation.parts) == one.relevance_score
