"""``oneiros.factors``: what each factor makes of rows, in whatever form they come."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import Memory, profiles
from oneiros.scoring.profile import Profile
from tests.rescoring.forms import rescore

NOW = 1_750_000_000.0
DAY = 86_400.0
each = pytest.mark.parametrize("name", profiles.names())


def test_the_example_of_the_design() -> None:
    rows = {"kind": np.array(["decision", "note", "code_chunk"]), "feedback": np.array([3, 0, -1])}
    got = oneiros.factors(rows, profile="omega", now=NOW)
    assert list(got) == [factor.name for factor in profiles.get("omega").factors]
    assert got["kind"].tolist() == [2.0, 1.0, 0.1]  # O11
    assert got["feedback"].tolist() == [1.45, 1.0, 0.8]  # O12
    np.testing.assert_allclose(got["priority"], [1.02, 0.94, 0.78])  # O13, by kind
    for name in ("decay", "thompson", "overlap", "preference", "context", "cluster", "rerank"):
        assert got[name].tolist() == [1.0] * 3


@each
def test_folded_they_are_the_score_of_a_rescore(name: str) -> None:
    random = np.random.default_rng(7)
    table: dict[str, Any] = {
        "kind": random.choice(["note", "decision", "fact", "user_preference"], 50),
        "created_at": NOW - random.uniform(0, 400, 50) * DAY,
        "access_count": random.integers(0, 20, 50),
        "importance": random.random(50),
        "certainty": random.random(50),
        "feedback": random.integers(-4, 12, 50),
        "stability": random.uniform(0, 3, 50),
        "strength": random.random(50),
        "core": random.random(50) < 0.2,
    }
    profile = profiles.get(name)
    compiled = profile.compile(("note",))
    score = np.full(50, 1.0)
    if name.startswith("mnemosyne"):
        score = (0.5 + 0.3) + 0.2 * table["importance"]  # M4: vector and text 1
    found = oneiros.factors(table, profile=name, now=NOW)
    for operation, values in zip(compiled.operations, found.values(), strict=True):
        score = score * values if operation == "multiply" else score + values
    want = rescore(table, profile=name, now=NOW)["score"]
    np.testing.assert_allclose(score, want, rtol=1e-14)


def test_rows_are_dicts_memories_or_arrays() -> None:
    records = [
        {"text": "a", "kind": "constraint", "created_at": NOW - 90 * DAY, "strength": 0.5},
        {"text": "b", "session_spread": 3, "created_at": NOW},
    ]
    memories = [Memory.from_record(record, now=NOW) for record in records]
    arrays = {
        "kind": ["constraint", "note"],
        "created_at": np.array([NOW - 90 * DAY, NOW]),
        "strength": np.array([0.5, 1.0]),
        "session_spread": np.array([1, 3]),
    }
    wanted = {
        "recency": [0.925, 1.0],  # H6: damped by 0.15
        "strength": [0.925, 1.0],
        "feedback": [1.0, 1.0],
        "priority": [0.85 + 0.15 * 1.1, 0.85 + 0.15 * 0.94],
        "trust": [1.0, 1.0],
        "question_feedback": [1.0, 1.0],  # there is no question
    }
    for rows in (records, memories, arrays):
        got = oneiros.factors(rows, now=NOW)
        assert list(got) == list(wanted)
        for name, values in wanted.items():
            np.testing.assert_allclose(got[name], values, rtol=1e-12, err_msg=name)


@each
def test_no_rows_give_empty_arrays(name: str) -> None:
    for values in oneiros.factors([], profile=name, now=NOW).values():
        assert values.shape == (0,)
        assert values.dtype == np.float64


def test_an_absent_field_has_its_default() -> None:
    got = oneiros.factors({"certainty": np.array([0.5])}, profile="ciar", now=NOW)
    assert {name: values.tolist() for name, values in got.items()} == {
        "significance": [0.25],
        "decay": [1.0],  # created now
        "reinforcement": [1.0],
    }
    retained = oneiros.factors([{"category": "procedural"}], profile="cognitive", now=NOW)
    assert retained["retention"].tolist() == [1.0]


def test_what_factors_refuses() -> None:
    with pytest.raises(ValueError, match="certainty"):
        oneiros.factors({"certainty": np.array([1.5])}, profile="ciar", now=NOW)
    lost = oneiros.factors({"certainty": np.array([1.5])}, "ciar", NOW, invalid="nan")
    assert math.isnan(lost["significance"][0])
    with pytest.raises(oneiros.UnknownProfile, match="no profile is called 'nobody'"):
        oneiros.factors([], profile="nobody")
    assert oneiros.factors([{}], profile=Profile(name="bare"), now=NOW) == {}
