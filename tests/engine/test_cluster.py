"""What lies near the centre of the best is boosted: docs/systems/omega.md O21."""

from __future__ import annotations

import numpy as np
import pytest

import oneiros
from oneiros.explain.explanation import combined
from tests.oracles import omega

NOW = 1_750_000_000.0
KINDS = ("note", "decision", "constraint", "test")

OPEN = oneiros.profiles.get("omega").replace(abstention=None, duplicates=None)
"""All that is found is returned."""


def test_the_cluster_is_that_of_the_ten_best_before_it() -> None:
    random = np.random.default_rng(11)
    vectors = random.normal(size=(40, 5)) + 0.6
    with oneiros.Engine(":memory:", profile=OPEN, clock=lambda: NOW) as mind:
        mind.add_many(
            {
                "id": f"m{n}",
                "text": "ant " * (n % 3 + 1),
                "kind": KINDS[n % 4],
                "embedding": vector.tolist() if n % 5 else None,
            }
            for n, vector in enumerate(vectors)
        )
        asked = {"embedding": [1.0, 0.2, 0.1, 0.0, 0.3]}
        response = mind.search("ant", 40, explain=True, **asked)
        first = mind.search("ant", 3, explain=True, **asked)
        missed = mind.why_not("ant", response.ids[-1], k=3, **asked)
    assert len(response) == 40
    before = {}
    for result in response.results:
        told = result.explanation
        assert told is not None
        assert told.evaluate() == result.score
        names = [factor.name for factor in told.factors]
        before[result.id] = combined(told.relevance, told.factors[: names.index("cluster")])
    ten = sorted(before, key=lambda id: (-before[id], int(id[1:])))[:10]
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [int(id[1:]) for id in ten if int(id[1:]) % 5]
    centre = units[rows].mean(axis=0)
    centre /= np.linalg.norm(centre)
    values = set()
    for result in response.results:
        row = int(result.id[1:])
        want = omega.cluster_boost(float(units[row] @ centre)) if row % 5 else 1.0
        told = result.explanation
        assert told is not None
        (value,) = (factor.value for factor in told.factors if factor.name == "cluster")
        assert value == pytest.approx(want, rel=1e-6)
        values.add(value)
    assert len(values) > 3
    assert [(one.id, one.score) for one in first] == [(one.id, one.score) for one in response][:3]
    assert missed.score == response.results[-1].score


def test_without_an_embedding_there_is_no_cluster() -> None:
    mind = oneiros.Engine(":memory:", profile=OPEN, clock=lambda: NOW)
    mind.add("ant", id="a")
    mind.add("bee", id="b", embedding=[1.0, 0.0])
    (result,) = mind.search("ant", explain=True).results
    told = result.explanation
    assert told is not None
    assert {factor.name: factor.value for factor in told.factors}["cluster"] == 1.0
