"""A question weighs its profile by hint and intent: docs/systems/omega.md O2, O8, O9, O19."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import profiles
from oneiros.scoring.factors import ContextMatch, Overlap
from oneiros.scoring.profile import Profile
from tests.oracles import fusion
from tests.oracles.omega_tables import INTENTS, PROFILES

NOW = 1_750_000_000.0
QUERIES = {
    "navigational": "pool_size alpha",
    "factual": "which alpha",
    "conceptual": "explain alpha",
    None: "alpha beta",
}
HINTS = ("decision", "multi-session", "note", None)

OPEN = profiles.get("omega").replace(
    abstention=None, duplicates=None, fast_path=None, strong_signal=None
)
"""All that is found is returned."""


@pytest.fixture(scope="module")
def mind() -> oneiros.Engine:
    random = np.random.default_rng(5)
    engine = oneiros.Engine(":memory:", profile=OPEN, analyzer="simple", clock=lambda: NOW)
    words = ["alpha", "beta", "gamma", "pool_size"]
    engine.add_many(
        {
            "id": f"m{number}",
            "text": " ".join(random.choice(words, 3)),
            "kind": str(random.choice(["note", "user_preference", "decision"])),
            "embedding": random.normal(size=4).tolist(),
        }
        for number in range(40)
    )
    return engine


def asked(mind: oneiros.Engine, query: str, **options: Any) -> oneiros.SearchResponse:
    return mind.search(query, 40, embedding=[1.0, 0.5, 0.0, -0.5], explain=True, **options)


@pytest.mark.parametrize("intent", QUERIES)
@pytest.mark.parametrize("hint", HINTS)
def test_fusion_weighs_by_hint_and_intent(
    mind: oneiros.Engine, intent: str | None, hint: str | None
) -> None:
    response = asked(mind, QUERIES[intent], hint=hint)
    assert response.profile_hash == OPEN.hash
    found: dict[str, dict[str, int]] = {"lexical": {}, "vector": {}}
    for result in response.results:
        told = result.explanation
        assert told is not None
        assert told.evaluate() == result.score
        for one in told.channels:
            if one.rank is not None:
                found[one.name][result.id] = one.rank
    row = PROFILES.get(hint or "_default", PROFILES["_default"])
    vector, text, *_ = (mine * theirs for mine, theirs in zip(row, INTENTS[intent], strict=True))
    channels = {
        name: [(id, 0.0) for id in sorted(ranks, key=ranks.__getitem__)]
        for name, ranks in found.items()
    }
    if intent == "navigational":  # O2
        assert channels["vector"] == []
    want = fusion.reciprocal_rank(channels, {"lexical": text, "vector": vector}, 60.0, "channel")
    assert {one.id: one.relevance_score for one in response.results} == pytest.approx(want)


def test_a_keyword_like_question_is_asked_of_words_alone_and_is_not_embedded() -> None:
    heard: list[str] = []

    class Embedder:
        name = "counting"

        def __call__(self, texts: list[str]) -> np.ndarray[Any, Any]:
            heard.extend(texts)
            return np.ones((len(texts), 2), np.float32)

    mind = oneiros.Engine(":memory:", profile="omega", embedder=Embedder(), clock=lambda: NOW)
    mind.add("the pool_size is 7", id="a")
    heard.clear()
    response = mind.search("pool_size")
    stages = {stage.name: stage for stage in response.trace.stages}
    assert stages["vector_search"].note == "skipped: the query is keyword-like"
    assert response.trace.notes == ("intent navigational",)
    assert mind.why_not("pool_size", "a").channels[1].detail == stages["vector_search"].note
    first, second = mind.search_many(["pool_size", "size of the pool"])
    assert (first.ids, second.ids) == (["a"], ["a"])
    assert heard == ["size of the pool"]
    mind.search("pool_size", profile="oneiros")
    assert heard[-1] == "pool_size"


def test_the_single_kind_that_is_asked_for_is_the_hint(mind: oneiros.Engine) -> None:
    of_kind = oneiros.where(kind="decision")
    by_kind = asked(mind, "alpha beta", where=of_kind & oneiros.where(session="s") | of_kind)
    assert by_kind.trace.notes == ()  # an "or" asks for no single kind
    by_kind = asked(mind, "alpha beta", where=of_kind & oneiros.where(importance=(0, 1)))
    by_hint = asked(mind, "alpha beta", where=of_kind, hint="decision")
    assert by_kind.trace.notes == by_hint.trace.notes == ("hint decision",)
    assert [(one.id, one.score) for one in by_kind] == [(one.id, one.score) for one in by_hint]
    plain = asked(mind, "alpha beta", where=of_kind, hint="note")
    assert [one.score for one in plain] != [one.score for one in by_hint]
    two = oneiros.where(kind=["decision", "note"])
    assert asked(mind, "alpha beta", where=two).trace.notes == ()


def test_hint_and_intent_weigh_the_factors_of_words_and_context() -> None:
    from oneiros.search.query.parsed import ranked_by, understand  # noqa: PLC0415

    omega = profiles.get("omega")
    understood = understand("why is it so", omega, "lesson_learned", None, None)
    weighed = ranked_by(omega, understood)
    by_name = {factor.name: factor for factor in weighed.factors}
    assert by_name["overlap"] == Overlap(weight=0.5 * 0.3)
    assert by_name["context"] == ContextMatch(weight=0.8)
    assert ranked_by(omega, understood) is weighed
    assert ranked_by(omega, understand("tea", omega, None, None, None)) is omega


@pytest.mark.parametrize(
    ("query", "is_asked"),
    [
        ("does Ada prefer alpha", True),
        ("my FAVOURITE alpha", True),
        ("alpha rather than beta", True),
        ("always use alpha", True),
        ("alpha instead of beta", True),
        ("unlikely alpha", False),
        ("defaults of alpha", False),
        ("always useful alpha", False),
    ],
)
def test_preferences_count_more_where_one_is_asked_for(
    mind: oneiros.Engine, query: str, is_asked: bool
) -> None:
    for result in asked(mind, query):
        told = result.explanation
        assert told is not None
        (factor,) = (one for one in told.factors if one.name == "preference")
        is_preference = result.memory.kind == "user_preference"
        assert factor.value == (1.5 if is_asked and is_preference else 1.0)
        assert told.evaluate() == result.score
    missed = mind.why_not(query, "m0", k=1, hint="decision").factors
    assert {one.name for one in missed} >= {"preference", "overlap"}


def test_a_batch_answers_as_each_question_alone(mind: oneiros.Engine) -> None:
    queries = list(QUERIES.values())
    vectors = [[1.0, 0.5, 0.0, -0.5]] * len(queries)
    many = mind.search_many(queries, 40, embeddings=vectors, hint="decision", reinforce=False)
    for query, response in zip(queries, many, strict=True):
        alone = asked(mind, query, hint="decision")
        assert [(r.id, r.score) for r in response] == [(r.id, r.score) for r in alone]
        assert response.trace.notes == alone.trace.notes


def test_a_profile_without_understanding_takes_no_hint() -> None:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    with pytest.raises(ValueError, match=r"^hint: must be left out"):
        mind.search("alpha", hint="decision")
    mine = Profile(name="mine")
    assert mine.understanding is None
    assert "understanding" not in mine.record()
