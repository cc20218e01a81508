"""Every named profile, searched over random stores, against the plain models of tests/oracles.

Raw scores come from the engine's explanations, where they are checked against NumPy and the BM25
oracle; which memories each channel finds, fusion, factors, order and score are the model's own.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.scoring.channels import VectorChannel
from oneiros.scoring.profile import Profile
from tests.engine.random_world import NOW, Store, Vector, random_question, random_store
from tests.oracles import finishing, fusion, mnemosyne, texts
from tests.oracles import profiles as models
from tests.oracles.profiles import MODELS, PRESETS, Model, Scored

K1, B = 1.2, 0.75
NORMALISED = {"omega", "omega-bounded"}  # O29
FEW = settings(max_examples=5_000 if os.environ.get("ONEIROS_LONG") else 4, deadline=None)
VECTORS = Profile(name="vectors", channels=(VectorChannel(depth=300),))
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([20, 60, 200])
Raw = dict[str, dict[str, float]]
EVERY: dict[str, tuple[str, dict[str, Any], Model]] = {
    **{name: (name, {}, model) for name, model in MODELS.items()},
    **{f"ciar/{name}": ("ciar", {"preset": name}, model) for name, model in PRESETS.items()},
}


def engine_of(store: Store, **options: Any) -> oneiros.Engine:
    settled: dict[str, Any] = {"analyzer": "simple", "k1": K1, "b": B, "clock": lambda: NOW}
    mind = oneiros.Engine(":memory:", **{**settled, **options})
    mind.add_many(list(store.records.values()))
    return mind


def of_all_kinds(profile: Profile) -> Profile:
    """Return a profile that hides no kind: O23 is test_whole_pipelines' to hold."""
    return profile.replace(selection=replace(profile.selection, hidden_kinds=()))


def raw_scores(response: oneiros.SearchResponse) -> Raw:
    """Return what the explanations tell of each channel: id to raw score."""
    raw: Raw = {"lexical": {}, "vector": {}}
    for result in response.results:
        assert result.explanation is not None
        for one in result.explanation.channels:
            if one.score is not None:
                raw[one.name][result.id] = one.score
    return raw


def found_by_channels(
    store: Store, model: Model, query: str, question: Vector | None, k: int, raw: Raw
) -> tuple[dict[str, list[tuple[str, float]]], Raw]:
    """Return each channel's hits by the model, with the engine's raw scores where it told them."""
    bm25 = dict(store.lexical(query, len(store.records), K1, B))
    if model.has_text_relevance:
        bm25 = text_relevance(store, query, model.depth["lexical"])
    cosine = {} if question is None else store.cosines(question)
    for told, exact, slack in ((raw["lexical"], bm25, 1e-12), (raw["vector"], cosine, 2e-6)):
        for id, score in told.items():
            want = exact.get(id, 0.0)
            assert score == pytest.approx(want, rel=slack, abs=slack), (id, score, want)
    bm25 |= {id: score for id, score in raw["lexical"].items() if id in bm25}
    cosine |= raw["vector"]
    place = {id: row for row, id in enumerate(store.records)}

    def best(scores: Mapping[str, float], depth: int) -> list[tuple[str, float]]:
        return sorted(scores.items(), key=lambda hit: (-hit[1], place[hit[0]]))[:depth]

    channels = {"lexical": best(bm25, model.depth["lexical"])}
    if question is not None:
        channels["vector"] = best(cosine, model.vector_depth(k))
    return channels, {"lexical": bm25, "vector": cosine}


def text_relevance(store: Store, query: str, depth: int) -> dict[str, float]:
    """O3: 0.7 of BM25 from 0.1 to 1 over what was found, and 0.3 of the share of words."""
    hits = store.lexical(query, depth, K1, B)
    normalised = fusion.minmax_floor([score for _, score in hits], 0.1)
    return {
        id: 0.7 * part + 0.3 * texts.word_ratio(query, store.records[id]["text"])
        for (id, _), part in zip(hits, normalised, strict=True)
    }


def asked_of(model: Model, store: Store, query: str) -> dict[str, dict[str, Any]]:
    """Return the records with the share of the query's words they hold, where the model reads it."""
    if not model.reads_overlap:
        return store.records
    return {
        id: {**one, "word_ratio": texts.overlap(query, one["text"])}
        for id, one in store.records.items()
    }


def gated(
    store: Store, query: str, near: Mapping[str, float], ranked: list[Scored]
) -> list[Scored]:
    """Return what passes M8's gate; without a word it is open."""
    words = mnemosyne.gate_words(query)
    texts_of = {one.id: store.records[one.id]["text"] for one in ranked}
    shares = {id: mnemosyne.lexical_share(query, text) for id, text in texts_of.items()}
    return [
        one
        for one in ranked
        if not words or mnemosyne.passes_gate(shares[one.id], len(words), near.get(one.id, 0.0))
    ]


def test_a_query_without_a_word_finds_what_is_far_from_it(mind: oneiros.Engine) -> None:
    mind.add("ant", id="far", embedding=[0.1, 1.0])
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "profile": "mnemosyne-3", "reinforce": False}
    assert mind.search("?! ...", **asked).ids == ["far"]  # M8: the gate is open
    assert mind.search("unheard", **asked).ids == []


def what_stays(
    model: Model,
    store: Store,
    query: str,
    channels: Mapping[str, list[tuple[str, float]]],
    ranked: list[Scored],
    k: int,
    response: oneiros.SearchResponse,
    cosines: Mapping[str, float],
) -> list[Scored]:
    """Return what O26 to O28 and H7 leave of the ranking, and check what the response says of it."""
    near = dict(channels.get("vector", ()))
    if model.abstains == "weak_best":
        ids = {id for hits in channels.values() for id, _ in hits}
        held = [store.records[id]["text"] for id in ids]
        counted = model.near(channels, cosines)
        is_weak = k > 0 and finishing.is_weak(query, [counted[id] for id in near], held)
        assert response.abstained == is_weak
        assert len(response.nearest_misses) == (min(3, len(ranked)) if is_weak else 0)
        return [] if is_weak else ranked[:k]
    if model.abstains != "surfacing":
        assert not response.abstained
        return ranked[:k]
    scores = [(one.id, one.score) for one in ranked]
    kept, left, sure = finishing.surfaced_at_last(query, scores, store.records, near, cosines, k)
    assert response.confidence == (None if sure is None else pytest.approx(sure, rel=1e-6))
    told = {one.id: one.of for one in response.trace.duplicates}
    assert told.keys() == left.keys()
    assert all(of in left[id] for id, of in told.items())
    assert response.abstained == bool(ranked and not kept)
    assert len(response.nearest_misses) == (min(3, len(ranked)) if response.abstained else 0)
    by_id = {one.id: one for one in ranked}
    return [by_id[id] for id in kept]


def check(
    response: oneiros.SearchResponse,
    want: list[Scored],
    lives: set[str],
    store: Store,
    near_by: float = 1e-12,
) -> None:
    """Same ids, same order, same scores; two within ``near_by`` of one another may change places.

    Where the engine's own scores are equal, the earlier insertion goes first.
    """
    got = [(result.id, result.raw_score) for result in response.results]
    assert len(got) == len(want)
    slack = max(near_by, 1e-9)
    assert [score for _, score in got] == pytest.approx([one.score for one in want], rel=slack)
    by_id = {one.id: one for one in want}
    for (id, score), one in zip(got, want, strict=True):
        near = abs(score - one.score) <= near_by * abs(one.score)
        assert id == one.id or near, (id, score, one)
    place = {id: row for row, id in enumerate(store.records)}
    for (first, high), (second, low) in itertools.pairwise(got):
        assert high > low or place[first] < place[second]
    best = max((score for _, score in got), default=0.0)
    for result in response.results:
        is_divided = response.profile in NORMALISED and best > 0
        assert result.score == (result.raw_score / best if is_divided else result.raw_score)
        if result.id in by_id:
            check_explanation(result, by_id[result.id], lives, slack)


def check_explanation(
    result: oneiros.SearchResult, want: Scored, lives: set[str], slack: float
) -> None:
    """Relevance and each factor by its name, in order; folded, the score to the bit.

    retention_score is the product of what the lifecycle factors multiply by, before any exponent
    or damping.
    """
    told = result.explanation
    assert told is not None
    assert told.evaluate() == told.score == result.score
    assert replace(told, divided_by=None).evaluate() == result.raw_score  # O29
    assert result.relevance_score == pytest.approx(want.relevance, rel=1e-9, abs=1e-300)
    assert told.relevance == result.relevance_score
    assert [factor.name for factor in told.factors] == [part.name for part in want.factors]
    values = [factor.value for factor in told.factors]
    assert values == pytest.approx([part.value for part in want.factors], rel=slack, abs=1e-300)
    bases = [part.value if part.base is None else part.base for part in want.factors]
    parts = zip(want.factors, bases, strict=True)
    retention = math.prod(
        base for part, base in parts if part.name in lives and part.operation == "multiply"
    )
    assert result.retention_score == pytest.approx(retention, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("name", EVERY)
@FEW
@given(seed=seeds, size=sizes, k=st.sampled_from([1, 3, 10, 300]), asks=st.booleans())
def test_search_is_the_model(name: str, seed: int, size: int, k: int, asks: bool) -> None:
    profile_name, options, model = EVERY[name]
    store = random_store(seed, size)
    query, vector = random_question(seed)
    question = vector if asks else None
    profile = of_all_kinds(oneiros.profiles.get(profile_name, **options))
    # finishing/test_short_cuts.py and texts/test_hot_set.py
    profile = profile.replace(fast_path=None, strong_signal=None, hot_set=None)
    with engine_of(store) as mind:
        asked: dict[str, Any] = {
            "embedding": question, "profile": profile, "explain": True, "reinforce": False
        }  # fmt: skip
        unleft = profile.replace(abstention=None, duplicates=None, retry=None, normalisation=None)
        raw = raw_scores(mind.search(query, k=300, **{**asked, "profile": unleft}))
        if asks:  # of all memories: equal vectors have equal cosines, also where one is not found
            raw["vector"] = raw_scores(mind.search(query, k=300, **{**asked, "profile": VECTORS}))[
                "vector"
            ]
        response = mind.search(query, k=k, **asked)
    channels, scores = found_by_channels(store, model, query, question, k, raw)
    records = asked_of(model, store, query)
    words, possible = store.with_pairs(model.pairs, query, scores["lexical"])
    ranked = models.rank(
        *(model, records, NOW, 300, channels, words, scores["vector"]),
        possible,
    )
    if model.has_gate:
        ranked = gated(store, query, dict(channels.get("vector", ())), ranked)
    want = what_stays(model, store, query, channels, ranked, k, response, scores["vector"])
    lives = {factor.name for factor in profile.factors if factor.is_lifecycle}
    # cosines to the centre of the best are of float32, and no explanation tells them
    check(response, want, lives, store, 1e-6 if model.has_cluster else 1e-12)


@pytest.mark.parametrize("name", EVERY)
@FEW
@given(seed=seeds, size=sizes)
def test_factors_without_a_query_are_the_models(name: str, seed: int, size: int) -> None:
    profile_name, options, model = EVERY[name]
    profile = oneiros.profiles.get(profile_name, **options)
    records = list(random_store(seed, size).records.values())
    got = oneiros.factors(records, profile=profile, now=NOW, invalid="clamp")  # A6
    for row, record in enumerate(records):
        for part in models.rescored(model, record, NOW).factors:
            value = float(np.asarray(got[part.name])[row])
            assert value == pytest.approx(part.value, rel=1e-9, abs=1e-300), (part, record)


@pytest.mark.parametrize("name", EVERY)
@FEW
@given(seed=seeds, size=sizes)
def test_rescoring_is_the_model(name: str, seed: int, size: int) -> None:
    profile_name, options, model = EVERY[name]
    profile = oneiros.profiles.get(profile_name, **options)
    store = random_store(seed, size)
    with engine_of(store) as mind:
        got = dict(mind.rescore(profile=profile, now=NOW))
    want = {id: models.rescored(model, one, NOW).score for id, one in store.records.items()}
    assert got == pytest.approx(want, rel=1e-9, abs=1e-300)
