"""Pairs of words that stand near each other in query and text: docs/systems/house.md H14."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.scoring.fusion import Blend, added
from tests.oracles import bm25, fusion, house

NOW = 1_750_000_000.0
WORDS = ("ant", "bee", "cat", "dog", "elk")
UNKNOWN = ("zebu", "yak")
BARE = oneiros.profiles.get("oneiros").replace(
    name="bare",
    **dict.fromkeys(
        ("neighbours", "statements", "named_time", "asked_time", "expansion", "abstention")
    ),
    factors=(),
)

words = st.lists(st.sampled_from(WORDS), max_size=14)
queries = st.lists(st.sampled_from((*WORDS, *UNKNOWN)), min_size=1, max_size=8).map(" ".join)


def paired(share: float | None, window: int | None = None, scale: Any = "coverage") -> Any:
    return BARE.replace(fusion=Blend(weight=0.4, scale=scale, pairs=share, pair_window=window))


def opened(path: Any = ":memory:", **more: Any) -> oneiros.Engine:
    return oneiros.Engine(path, profile=BARE, analyzer="simple", clock=lambda: NOW, **more)


@settings(max_examples=80, deadline=None)
@given(
    texts=st.lists(words, min_size=1, max_size=12),
    query=queries,
    share=st.sampled_from([0.15, 1.0]),
    window=st.sampled_from([None, 1, 2, 7]),
    scale=st.sampled_from(["coverage", "best"]),
    deleted=st.sets(st.integers(0, 11), max_size=3),
    has_vector=st.booleans(),
)
def test_relevance_is_the_oracles(
    texts: list[list[str]],
    query: str,
    share: float,
    window: int | None,
    scale: str,
    deleted: set[int],
    has_vector: bool,
) -> None:
    vector = [0.6, 0.8] if has_vector else None
    with opened() as engine:
        engine.add_many(
            {"id": str(row), "text": " ".join(text) or "-", "embedding": vector}
            for row, text in enumerate(texts)
        )
        for row in deleted & set(range(len(texts))):
            engine.delete(str(row))
        documents = {row: one for row, one in enumerate(texts) if row not in deleted}
        asked = query.split()
        hits = bm25.rank(documents, asked, 100, k1=1.2, b=1.0, half_length=65.0)
        held = {word: sum(word in one for one in documents.values()) for word in asked}
        idf = {word: bm25.IDF["lucene"](len(documents), df) for word, df in held.items() if df}
        weights = house.pair_weights(asked, idf)
        scores = {
            row: score + share * house.pair_score(weights, [documents[row]], window or 3)
            for row, score in hits
        }
        possible = bm25.possible(len(documents), held, asked) + share * sum(weights.values())
        channels: dict[str, fusion.Hits[int]] = {"lexical": hits}
        cosine = dict.fromkeys(documents, 0.6) if has_vector else {}
        if has_vector and documents:
            channels["vector"] = list(cosine.items())
        want = fusion.blend(
            channels, scores, cosine, 0.4, possible if scale == "coverage" else None
        )
        options: dict[str, Any] = {
            "embedding": [1.0, 0.0] if has_vector else None, "reinforce": False, "explain": True,
            "profile": paired(share, window, scale),
        }  # fmt: skip
        response = engine.search(query, 100, **options)
        got = {int(one.id): one.relevance_score for one in response}
        assert got == pytest.approx(want, rel=1e-6, abs=1e-6)  # vectors are float32
        raw = dict(hits)
        for one in response:
            assert one.explanation is not None
            (score,) = (each.score for each in one.explanation.channels if each.name == "lexical")
            assert score == pytest.approx(raw.get(int(one.id), 0.0))  # without pairs
            assert added(part.value for part in one.explanation.parts) == one.relevance_score
            assert one.explanation.evaluate() == one.score


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with opened() as made:
        made.add_many(
            [
                {"id": "near", "text": "ant bee elk elk elk elk elk"},
                {"id": "turned", "text": "bee ant elk elk elk elk elk"},
                {"id": "far", "text": "ant elk elk elk elk elk bee"},
            ]
        )
        yield made


def gains(engine: oneiros.Engine, query: str, **more: Any) -> dict[str, float]:
    """Return what pairs add to each relevance."""
    options: dict[str, Any] = {"profile": paired(0.5), "reinforce": False, "explain": True, **more}
    found = {}
    for one in engine.search(query, **options):
        assert one.explanation is not None
        (found[one.id],) = (p.value for p in one.explanation.parts if p.name == "word_pairs")
    return found


def test_words_near_each_other_gain_in_either_order(engine: oneiros.Engine) -> None:
    got = gains(engine, "ant bee")
    assert got["near"] == got["turned"] > 0.0 == got["far"]
    assert gains(engine, "ant dog bee")["near"] > 0.0  # no text has a dog
    assert gains(engine, "ant dog dog bee")["near"] == 0.0
    assert set(gains(engine, "ant ant").values()) == {0.0}


def test_fields_and_tags_are_apart(engine: oneiros.Engine) -> None:
    engine.add("ant", title="bee", id="title")
    engine.add("elk", title="ant bee", id="within")
    engine.add("elk", tags=["ant", "bee"], id="tags")
    engine.add("elk", tags=["ant bee"], id="tag")
    got = gains(engine, "ant bee")
    assert got["title"] == got["tags"] == 0.0 < got["within"] == got["tag"] == got["near"]


def test_only_plain_queries_have_pairs(engine: oneiros.Engine) -> None:
    assert set(gains(engine, "+ant +bee", syntax="query").values()) == {0.0}


def test_an_identifier_pairs_with_its_later_parts() -> None:
    with oneiros.Engine(":memory:", profile=BARE, clock=lambda: NOW) as engine:
        engine.add_many([{"id": "a", "text": "pool_size"}, {"id": "b", "text": "size pool"}])
        got = gains(engine, "pool_size")
        assert got["a"] > got["b"] > 0.0  # pool and size; in a, pool_size and size, too


def test_a_scope_has_the_scores_of_a_store_of_its_own(engine: oneiros.Engine) -> None:
    texts = ["ant bee cat", "cat ant", "bee dog ant dog bee", "dog"]
    scope = engine.scope(project="p")
    scope.add_many({"id": f"s{row}", "text": text} for row, text in enumerate(texts))
    with opened() as own:
        own.add_many({"id": f"s{row}", "text": text} for row, text in enumerate(texts))
        for query in ("ant bee", "zebu ant bee cat", "elk elk ant bee", "elk zebu zebu"):
            options: dict[str, Any] = {"profile": paired(0.15), "reinforce": False}
            want = [(one.id, one.score) for one in own.search(query, **options)]
            assert [(one.id, one.score) for one in scope.search(query, **options)] == want


def test_many_searches_and_reopening_give_the_same_bits(tmp_path: Path) -> None:
    query, options = "ant bee cat", {"profile": paired(0.15), "reinforce": False}
    with opened(tmp_path / "store") as engine:
        engine.add_many(
            {"text": " ".join(WORDS[(row * step) % 5] for step in range(row % 9 + 1))}
            for row in range(300)
        )
        want = [(one.id, one.score) for one in engine.search(query, 50, **options)]
        (many,) = engine.search_many([query], 50, **options)
        assert [(one.id, one.score) for one in many] == want
    with opened(tmp_path / "store") as engine:
        assert [(one.id, one.score) for one in engine.search(query, 50, **options)] == want


@pytest.mark.parametrize(
    "wrong",
    [{"pairs": -0.1}, {"pairs": 1.1}, {"pairs": math.nan}, {"pair_window": 0}, {"pair_window": 65}],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Blend(**wrong)


def test_no_pairs_is_the_declaration_without_them() -> None:
    assert Blend(pairs=0.0) == Blend()
    assert paired(0.0).hash == paired(None).hash
    assert "\npairs = " not in paired(None).to_toml()
    assert "\npairs = " in paired(0.25).to_toml()
    profile = paired(0.25, 6)
    assert oneiros.Profile.from_toml(profile.to_toml()) == profile
