"""How far float32 tables may lie from the engine, which computes in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import profiles
from oneiros.model.fields import ENUMS
from tests.rescoring.forms import DAY, DTYPES, KINDS, NOW, rescore

SMALLEST = float(np.finfo(np.float32).tiny)


def is_absent(value: object) -> bool:
    return isinstance(value, float) and np.isnan(value)


def drawn(rows: int, mean_days: float) -> dict[str, Any]:
    """Return columns as a store holds them: float32, times float64, ages up to ten times the mean."""
    random = np.random.default_rng(11)
    age = random.exponential(mean_days, rows) * DAY
    used = np.where(random.random(rows) < 0.3, np.nan, NOW - age * random.random(rows))
    held: dict[str, Any] = {
        "created_at": NOW - age,
        "updated_at": NOW - age * random.random(rows),
        "last_accessed_at": used,
        "stability": random.exponential(3.0, rows),
        "consolidation_quality": random.exponential(1.0, rows),
        "access_count": random.integers(0, 100, rows),
        "session_spread": random.integers(1, 30, rows),
        "feedback": random.integers(-8, 9, rows),
        "depth": random.integers(1, 4, rows),
        "priority": random.integers(1, 6, rows),
        "core": random.random(rows) < 0.1,
        "pinned": random.random(rows) < 0.1,
    }
    for name in ("certainty", "impact", "importance", "strength"):
        held[name] = random.random(rows)
    typed = {name: values.astype(DTYPES.get(name, "?")) for name, values in held.items()}
    words = {"kind": KINDS, "category": ENUMS["category"], "veracity": ENUMS["veracity"]}
    return typed | {name: random.choice(one, rows) for name, one in words.items()}


def bounds(table: dict[str, Any], name: str) -> Iterator[np.ndarray]:
    """Yield, by factor, (5 + 2 |exponent|) units of 2^-23; docs/systems/README.md.

    A factor's exponential is no smaller than the factor, so that its logarithm stands for the
    exponent: the bound is then no wider than the page's.
    """
    for values in oneiros.factors(table, name, NOW).values():
        yield (5 + 2 * np.abs(np.log(np.abs(values)))) * 2.0**-23


@pytest.mark.parametrize("mean_days", [5.0, 60.0, 1_000.0])
# A profile without factors reads no column, and so has no float32 to keep to.
@pytest.mark.parametrize("name", [name for name in profiles.names() if profiles.get(name).factors])
def test_float32_lies_within_the_bound_of_float64(name: str, mean_days: float) -> None:
    table = drawn(20_000, mean_days)
    got, want = rescore(table, name, NOW)["score"], rescore(table, name, NOW, dtype="float64")
    assert got.dtype == np.float32
    assert want["score"].dtype == np.float64
    far = np.abs(got - want["score"]) - SMALLEST
    assert (far <= sum(bounds(table, name)) * np.abs(want["score"])).all()


def test_the_figures_that_the_page_gives_hold() -> None:
    """Of ciar, whose exponent grows with the age: 1.9e-6 after 7 days, 5.7e-6 after 700."""
    for days, most in ((7.0, 1.9e-6), (700.0, 5.7e-6)):
        table = drawn(20_000, 1.0)
        table["created_at"] = np.full(20_000, NOW - days * DAY)
        got = rescore(table, "ciar", NOW)["score"]
        want = rescore(table, "ciar", NOW, dtype="float64")["score"]
        assert np.abs(got / want - 1).max() <= most


@pytest.mark.parametrize("name", profiles.names())
def test_in_float64_a_float32_table_scores_as_the_engine_to_the_bit(name: str) -> None:
    table = drawn(300, 60.0)
    del table["core"], table["pinned"]
    records = [
        {field: value for field, value in zip(table, row, strict=True) if not is_absent(value)}
        for row in zip(*(values.tolist() for values in table.values()), strict=True)
    ]
    with oneiros.Engine(":memory:", profile=name, clock=lambda: NOW) as mind:
        mind.add_many([{"text": "", **record} for record in records])
        want = mind.rescore(name).scores
    got = rescore(table, name, NOW, dtype="float64")["score"]
    np.testing.assert_array_equal(got, want)
