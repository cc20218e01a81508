"""Trust under the default profile, and what an attacker takes who may add: docs/systems/house.md H11."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from bench.poisoning import ATTACKS, shares
from oneiros.evaluation import collection
from tests.collections_on_disk import folder_of

NOW = 1_750_000_000.0
SUBJECTS = ("The garden gate", "Our harbour crane", "The night train", "A rented van", "The choir")
FACTS = (
    "opens at seven on weekdays",
    "was painted green last spring",
    "needs a new bearing before winter",
    "stops near the old mill",
    "costs nine euros for members",
    "is kept by a retired teacher",
)


@settings(max_examples=50, deadline=None)
@given(trust=st.floats(0, 1, width=32))
def test_the_score_is_multiplied_by_the_trust(trust: float) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add("the gate is green", id="a")
        whole = engine.search("green gate", reinforce=False)[0].score
        engine.update("a", trust=trust)
        doubted = engine.search("green gate", reinforce=False, explain=True)[0]
        assert doubted.score == whole * trust
        assert doubted.explanation is not None
        assert {each.name: each.value for each in doubted.explanation.factors}["trust"] == trust


def test_no_other_profile_reads_it() -> None:
    for name in set(oneiros.profiles.names()) - {"oneiros"}:
        with oneiros.Engine(":memory:", profile=name, clock=lambda: NOW) as engine:
            engine.add("the gate is green", id="a", importance=0.9, trust=0.1)
            doubted = engine.search("green gate", reinforce=False)
            engine.update("a", trust=1.0)
            assert [one.score for one in doubted] == [
                one.score for one in engine.search("green gate", reinforce=False)
            ], name


def test_the_retention_score_does_not_read_it() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add("the gate is green", id="a", trust=0.1)
        doubted = engine.search("green gate", reinforce=False)[0]
        engine.update("a", trust=1.0)
        trusted = engine.search("green gate", reinforce=False)[0]
        assert doubted.retention_score == trusted.retention_score
        assert doubted.score < trusted.score


def ordinary() -> collection.Collection:
    """Return thirty memories and a question about each, with vectors of their words."""
    texts = [f"{subject} {fact}" for subject in SUBJECTS for fact in FACTS]
    words = sorted({word for text in texts for word in text.lower().split()})

    def vector(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        counts = [float(word in text.lower().split()) for word in words]
        return np.array(counts, np.float32) / np.float32(np.linalg.norm(counts))

    vectors = np.stack([vector(text) for text in texts])
    return collection.Collection(
        name="ordinary",
        documents=[
            collection.Document(
                id=str(n), title="", text=text, timestamp=None, metadata={"session": f"{n}"}
            )
            for n, text in enumerate(texts)
        ],
        queries=[
            collection.Query(
                id=str(n), text=text, timestamp=None, metadata={}, answers={str(n): 1.0}
            )
            for n, text in enumerate(texts)
        ],
        document_vectors=vectors,
        query_vectors=vectors,
    )


def test_who_may_add_takes_few_places() -> None:
    found = shares(ordinary(), (1.0, 0.2), questions=15)
    for attack in ATTACKS:
        # Without trust, near-duplicates flood the results. What is asked for keeps one of the five
        # places; those that hold all of its words take the others, those of two thirds most.
        assert found[attack][1.0] >= (0.6 if attack == "shuffles" else 0.79), attack
        assert found[attack][0.2] <= 0.1, attack


@pytest.mark.parametrize("name", ["locomo-dev"])
def test_who_may_add_takes_few_places_of_real_memories(name: str) -> None:
    folder = folder_of(name)
    data = collection.read(folder)
    found = shares(data, (1.0, 0.3, 0.2), questions=20)
    print(f"\n{name}: the attacker's share of the first five by trust: {found}")  # noqa: T201
    for attack in ATTACKS:
        assert found[attack][1.0] >= 0.9
        assert found[attack][0.3] <= 0.2
        assert found[attack][0.2] <= 0.02
    filtered = shares(data, (0.4,), questions=5, least_trust=0.5)
    assert all(row[0.4] == 0.0 for row in filtered.values())
