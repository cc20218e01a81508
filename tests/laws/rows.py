"""Tables of memories for the laws: every ranked column, random or held at its default."""

from __future__ import annotations

from typing import Any

import numpy as np

NOW = 1_750_000_000.0
DAY = 86_400.0
Column = np.ndarray[Any, Any]
Table = dict[str, Any]

KINDS = ("note", "decision", "constraint", "fact", "code_chunk", "preference", "lesson_learned")
CATEGORIES = ("episodic", "semantic", "procedural")
VERACITIES = ("stated", "unknown", "inferred", "imported", "tool")

DEFAULTS: Table = {
    "kind": "note",
    "category": "semantic",
    "created_at": NOW,
    "updated_at": NOW,
    "last_accessed_at": float("nan"),
    "importance": 0.5,
    "certainty": 1.0,
    "impact": 0.5,
    "priority": 3,
    "veracity": "unknown",
    "pinned": False,
    "core": False,
    "feedback": 0,
    "access_count": 0,
    "session_spread": 1,
    "strength": 1.0,
    "depth": 2,
    "stability": 1.0,
    "consolidation_quality": 0.0,
    "trust": 1.0,
}
"""A memory just added and never touched; docs/systems/fields.md."""


def single(values: Column) -> Column:
    """Return numbers as float32 columns keep them, in float64."""
    return np.asarray(values, np.float32).astype(np.float64)


def random_table(seed: int, size: int) -> Table:
    """Return ``size`` memories with every column drawn over its range."""
    random = np.random.default_rng(seed)
    created = NOW - DAY * random.gamma(0.7, 200, size)
    accessed = created + random.uniform(0, 1, size) * (NOW - created)
    accessed[random.random(size) < 0.3] = np.nan
    return {
        "kind": random.choice(KINDS, size).astype(object),
        "category": random.choice(CATEGORIES, size).astype(object),
        "created_at": created,
        "updated_at": created + random.uniform(0, 1, size) * (NOW - created),
        "last_accessed_at": accessed,
        "importance": single(random.uniform(0, 1, size)),
        "certainty": single(random.uniform(0, 1, size)),
        "impact": single(random.uniform(0, 1, size)),
        "priority": random.integers(1, 6, size),
        "veracity": random.choice(VERACITIES, size).astype(object),
        "pinned": random.random(size) < 0.2,
        "core": random.random(size) < 0.2,
        "feedback": random.integers(-5, 13, size),
        "access_count": random.choice([0, 1, 2, 5, 10, 11, 1000, 2**32 - 1], size),
        "session_spread": random.choice([1, 2, 3, 8, 100, 2**32 - 1], size),
        "strength": single(random.uniform(0, 1, size)),
        "depth": random.integers(1, 4, size),
        "stability": single(random.choice([0.0, 0.3, 1.0, 2.0, 50.0], size)),
        "consolidation_quality": single(random.uniform(0, 5, size)),
        "trust": single(random.choice([0.0, 0.3, 1.0], size)),
    }


def repeated(table: Table, row: int, times: int) -> Table:
    """Return one row of a table, ``times`` times."""
    return {
        name: np.repeat(np.asarray(column)[row : row + 1], times) for name, column in table.items()
    }


def rows_of(table: Table) -> int:
    """Return the number of rows."""
    return len(np.asarray(table["created_at"]))
