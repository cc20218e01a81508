"""Links of what is added together, and what it does to its like, pair by pair: C17, C18."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine
from oneiros.scoring.ingest import IngestAssociation
from tests.oracles.cognitive import ingest_link, initial_stability, raised_by_neighbour

NOW = 1_750_000_000.0
FEW = settings(max_examples=500 if os.environ.get("ONEIROS_LONG") else 6, deadline=None)
Vector = np.ndarray[Any, Any]
vectors = st.none() | st.tuples(*[st.sampled_from([0.0, 0.1, 0.5, 1.0, -0.3])] * 3).map(np.array)
records = st.lists(
    st.tuples(vectors, st.sampled_from([None, "s1", "s2"]), st.sampled_from(["x", "y"])),
    max_size=7,
)


def cosine(one: Vector | None, other: Vector | None) -> float:
    """Return it; of what has no vector, or a zero one, none that counts."""
    if one is None or other is None or not one.any() or not other.any():
        return -1.0
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def near(value: float, edge: float) -> bool:
    return abs(value - edge) < 1e-6  # the engine's vectors are float32


@FEW
@given(batches=st.lists(records, min_size=1, max_size=3), through=st.booleans())
def test_a_batch_is_linked_and_raises_its_like(
    batches: list[list[tuple[Vector | None, str | None, str]]], through: bool
) -> None:
    links: dict[frozenset[str], float] = {}
    stability: dict[str, float] = {}
    known: dict[str, tuple[Vector | None, str]] = {}
    numbers = itertools.count()
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as mind:
        for batch in batches:
            project = "x" if through else None
            view = mind if project is None else mind.scope(project=project)
            added = [
                (f"m{next(numbers)}", vector, session, project or own)
                for vector, session, own in batch
            ]
            view.add_many(
                [
                    {"text": "", "id": id, "embedding": vector, "session": session, "project": own}
                    for id, vector, session, own in added
                ]
            )
            for _, vector, _, _ in added:
                for other, (held, its) in known.items():
                    like = cosine(vector, held)
                    if project in (None, its) and not near(like, 0.75):
                        stability[other] = raised_by_neighbour(stability[other], like)
            for one, other in itertools.combinations(added, 2):
                like = cosine(one[1], other[1])
                weight = ingest_link(like)
                if one[2] == other[2] and weight and not near(like, 0.4):
                    links[frozenset((one[0], other[0]))] = weight
            for id, vector, _, own in added:
                known[id], stability[id] = (vector, own), initial_stability(0.5)
        for id in known:
            assert mind.get(id).stability == pytest.approx(stability[id], rel=1e-6)
            told = {frozenset((id, link.id)): link for link in mind.neighbours(id)}
            assert {pair: link.weight for pair, link in told.items()} == pytest.approx(
                {pair: weight for pair, weight in links.items() if id in pair}, rel=1e-5
            )
            assert {link.kind for link in told.values()} <= {"ingest"}
            assert {link.co_retrieved_at for link in told.values()} <= {None}


def alike(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"text": "", "embedding": [1.0, 0.0], **fields} for _ in range(count)]


@pytest.fixture
def mind(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "mind.db", profile="cognitive", clock=lambda: NOW) as opened:
        yield opened


def links_of(mind: Engine) -> int:
    found: int = mind.stats()["links"]
    return found


def test_no_more_than_64_are_compared(mind: Engine) -> None:
    mind.add_many(alike(64 + 3))
    assert links_of(mind) == 64 * 63 // 2 + 3


def test_large_batches_are_linked_if_they_ask(tmp_path: Path) -> None:
    rule = IngestAssociation(most_records=4, together=2)
    profile = oneiros.profiles.get("cognitive").replace(ingest=rule)
    with Engine(tmp_path / "mind.db", profile=profile) as mind:
        first = mind.add_many(alike(4)).ids[0]
        assert links_of(mind) == 2
        mind.add_many(alike(5))
        assert links_of(mind) == 2
        before = mind.get(first).stability
        mind.add_many(alike(5), links=True)
        assert links_of(mind) == 4
        assert mind.get(first).stability == pytest.approx(before + 5 * 0.05)
        mind.add_many(alike(2), links=False)
        assert links_of(mind) == 4
        with pytest.raises(TypeError, match="links"):
            mind.add_many(alike(2), links=1)  # type: ignore[arg-type]


def test_other_profiles_link_nothing(tmp_path: Path) -> None:
    with Engine(tmp_path / "mind.db") as mind:
        mind.add_many(alike(3), links=True)
        assert links_of(mind) == 0


def test_what_searches_left_comes_on_top(mind: Engine) -> None:
    id = mind.add("ant", embedding=[1.0, 0.0], stability=0.5, last_accessed_at=NOW - 7 * 86_400)
    mind.search("ant", embedding=[1.0, 0.0])  # + 0.1, not written yet
    mind.add("bee", embedding=[1.0, 0.0])
    for _ in range(2):
        assert mind.get(id).stability == pytest.approx(0.65)
        assert mind.get(id).access_count == 1
        mind.flush()


def test_a_batch_that_is_refused_leaves_nothing(mind: Engine) -> None:
    first = mind.add("ant", embedding=[1.0, 0.0], id="a")
    before = mind.get(first)
    with pytest.raises(oneiros.DuplicateId):
        mind.add_many([*alike(3), {"text": "", "id": "a"}])
    assert links_of(mind) == 0
    assert mind.get(first) == before
