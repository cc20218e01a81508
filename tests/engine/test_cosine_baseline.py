"""Cosines that count from what unrelated texts have under an embedder. Source: docs/systems/house.md H3."""

from __future__ import annotations

import math
import random

import numpy as np
import numpy.typing as npt
import pytest

import oneiros
from oneiros.display.tables import figure
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import Blend
from oneiros.scoring.stages import WeakBest
from tests.oracles import house

NOW = 1_750_000_000.0
WIDTH = 24
COUNT = 60
WORDS = ["tea", "coffee", "train", "kettle", "river", "violin", "budget", "garden"]
COUNTED = oneiros.Profile(
    name="counted",
    channels=(LexicalChannel(), VectorChannel()),
    fusion=Blend(weight=0.5, baseline="candidates"),
)
Vectors = npt.NDArray[np.float32]


def lifted(vectors: Vectors, height: float) -> Vectors:
    """Return unit vectors with a component in common: each cosine c becomes (c + h²) / (1 + h²)."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    raised = np.hstack([units, np.full((len(units), 1), height, np.float32)])
    return (raised / math.sqrt(1 + height**2)).astype(np.float32)


def world(count: int = COUNT, seed: int = 7) -> tuple[list[str], Vectors]:
    """Return texts, and vectors of these and of a question, the last."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=4)) + f" n{number}" for number in range(count)]
    vectors = np.random.default_rng(seed).standard_normal((count + 1, WIDTH), np.float32)
    return texts, vectors


def engine(
    texts: list[str], vectors: Vectors, profile: oneiros.Profile | str = COUNTED
) -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW)
    mind.add_many(
        [
            {"id": f"m{number}", "text": text, "embedding": vector}
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=False))
        ],
        links=False,
    )
    return mind


def relevances(
    mind: oneiros.Engine, question: npt.NDArray[np.float32], query: str = "tea and coffee"
) -> dict[str, float]:
    found = mind.search(query, 2 * COUNT, embedding=question, reinforce=False)
    return {result.id: result.relevance_score for result in found}


@pytest.mark.parametrize("height", [0.0, 0.5, 0.7, 1.1, 1.5, 3.0])
def test_relevance_is_the_oracles(height: float) -> None:
    texts, plain = world()
    vectors = lifted(plain, height)
    with engine(texts, vectors) as mind:
        found = mind.search(
            "tea and coffee", COUNT, embedding=vectors[-1], reinforce=False, explain=True
        )
        scores = [one.channels for one in found]
        cosines = [one["vector"] for one in scores]
        assert len(cosines) == COUNT
        base = house.baseline(cosines)
        assert (base == 0.0) == (height < 1.1)
        near = [house.above(cosine, base) for cosine in cosines]
        want = house.blend([one.get("lexical", 0.0) for one in scores], near, 0.5)
        assert [one.relevance_score for one in found] == pytest.approx(want, rel=1e-12, abs=1e-12)
        stages = {stage.name: stage.note for stage in found.trace.stages}
        assert ("cosine_baseline" in stages) == (base > 0.0)
        if base > 0.0:
            assert stages["cosine_baseline"].startswith("cosines count from 0.")


def test_an_embedder_of_narrow_cosines_ranks_as_one_of_wide_ones() -> None:
    """An affine change of all cosines changes nothing, once the baseline is counted whole."""
    texts, plain = world()
    found = []
    for height in (1.5, 2.0, 3.0):
        vectors = lifted(plain, height)
        with engine(texts, vectors) as mind:
            found.append(relevances(mind, vectors[-1]))
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=2e-5)  # cosines of float32
    zero = COUNTED.replace(fusion=Blend(weight=0.5))
    spread = []
    for profile in (COUNTED, zero):
        vectors = lifted(plain, 3.0)
        with engine(texts, vectors, profile) as mind:
            only = mind.search("zzz", COUNT, embedding=vectors[-1], reinforce=False)
            spread.append(only[0].relevance_score - only[-1].relevance_score)
    assert spread[0] > 3.0 * spread[1]


def test_nineteen_candidates_have_no_baseline() -> None:
    texts, plain = world()
    vectors = lifted(plain, 1.5)
    for count, has_baseline in ((19, False), (20, True)):
        chosen = np.vstack([vectors[:count], vectors[-1:]])
        with engine(texts[:count], chosen) as mind:
            found = mind.search("tea", 5, embedding=chosen[-1], reinforce=False)
            names = [stage.name for stage in found.trace.stages]
            assert ("cosine_baseline" in names) == has_baseline


def test_memories_without_a_vector_are_left_out_of_it() -> None:
    texts, plain = world()
    vectors = lifted(plain, 1.5)
    with engine(texts, vectors) as mind:
        before = relevances(mind, vectors[-1], "zzz")
        mind.add_many([{"id": f"bare{n}", "text": f"river n{n}"} for n in range(30)], links=False)
        assert relevances(mind, vectors[-1], "zzz") == before
        after = mind.search("river", 2 * COUNT, embedding=vectors[-1], reinforce=False)
        assert {one.id for one in after} > before.keys()
        (stage,) = (one for one in after.trace.stages if one.name == "cosine_baseline")
        base = house.baseline(map(float, vectors[:COUNT] @ vectors[-1]))
        assert stage.note == f"cosines count from {figure(base)}"


def test_nothing_is_found_where_no_text_is_nearer_than_unrelated_ones() -> None:
    texts, plain = world()
    profile = COUNTED.replace(abstention=WeakBest(cosine=0.25, words=0.5))
    away = plain.copy()
    basis = np.linalg.svd(plain[:COUNT] - plain[:COUNT].mean(axis=0))[2]
    away[-1] = basis[-1]  # as unlike all of them as can be
    for height in (0.0, 2.0):
        vectors = lifted(away, height)
        with engine(texts, vectors, profile) as mind:
            found = mind.search("xylophone", 5, embedding=vectors[-1], reinforce=False)
            cosine = house.above(
                float((vectors[:COUNT] @ vectors[-1]).max()),
                house.baseline(map(float, vectors[:COUNT] @ vectors[-1])),
            )
            assert found.abstained == (cosine < 0.25)
            if found.abstained:
                assert f"the best cosine is {figure(cosine)}, below 0.25" in found.reason


def test_a_verdict_counts_for_questions_beyond_the_baseline() -> None:
    """H19: under an embedder of narrow cosines, other questions are as alike as 0.8 and more."""
    texts, plain = world()
    asked = {"near": plain[-1] * 1.0, "far": plain[0] - plain[-1]}
    asked["near"][0] += 0.2
    scores = {}
    for height in (0.0, 3.0):
        vectors = lifted(plain, height)
        with engine(texts, vectors, "oneiros") as mind:
            mind.feedback("m3", "helpful", query="tea and coffee", embedding=vectors[-1], now=NOW)
            for name, question in asked.items():
                own = lifted(question[None, :], height)[0]
                found = mind.search(
                    "tea", COUNT, embedding=own, reinforce=False, explain=True, now=NOW
                )
                (one,) = (result for result in found if result.id == "m3")
                factors = {factor.name: factor.value for factor in one.explanation.factors}
                scores[name, height] = factors["question_feedback"]
    assert scores["far", 0.0] == scores["far", 3.0] == 1.0
    assert scores["near", 0.0] > 1.1
    assert scores["near", 3.0] > 1.1
