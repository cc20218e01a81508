"""Random worlds of memories that fade, and phases run over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from oneiros.dream.cycles import run_phases
from oneiros.dream.draft import Draft
from oneiros.model.fields import ENUMS
from tests.dream.worlds import DAY, NOW, Fields, World, changes_of

__all__ = ["MEMORIES", "after_changes", "drafted", "fading", "rows_of"]

AGES = [0.0, 1.0, 20.0, 30.0, 45.0, 300.0, 900.0, 4_000.0]
KINDS = [
    "note",
    "decision",
    "code_chunk",
    "file_summary",
    "test",
    "reminder",
    "error_pattern",
    "plan",
    "error",
    "rule",
]


def ago(*days: float) -> st.SearchStrategy[float]:
    return st.sampled_from(days).map(lambda some: NOW - some * DAY)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([usual] * 7 + list(others))


def eighths(least: int, most: int) -> st.SearchStrategy[float]:
    """Numbers that a float32 holds."""
    return st.integers(least, most).map(lambda number: number / 8)


VECTORS = st.tuples(*[st.integers(-2, 2)] * 3).filter(any)

MEMORIES: st.SearchStrategy[Fields] = st.fixed_dictionaries(
    {
        "text": st.text("ab é", max_size=6),
        "embedding": st.sampled_from([(2, 1, 0), (2, 0, 1), (2, 1, 1)]) | VECTORS | st.none(),
        "kind": st.sampled_from(KINDS),
        "category": st.sampled_from(ENUMS["category"]),
        "project": mostly(None, "x"),
        "topic": mostly("t", None, "u"),
        "session": mostly(None, "s"),
        "user": mostly(None, "ada"),
        "namespace": mostly("acme", "acme/eu"),
        "source": mostly("user", "tool"),
        "trust": mostly(1.0, 0.5, 0.125),
        "tags": st.lists(st.sampled_from("pqr"), max_size=3, unique=True),
        "labels": st.lists(st.sampled_from("pqr"), max_size=3, unique=True),
        "created_at": ago(*AGES),
        "updated_at": ago(*AGES),
        "last_accessed_at": st.none() | ago(*AGES),
        "learned_at": mostly(None, NOW, NOW - 40 * DAY, NOW - 900 * DAY),
        "importance": eighths(0, 8),
        "certainty": eighths(0, 8),
        "impact": eighths(0, 8),
        "strength": eighths(0, 8),
        "stability": eighths(0, 16),
        "depth": st.integers(1, 3),
        "priority": st.integers(1, 5),
        "access_count": mostly(0, 1, 12),
        "feedback": mostly(0, 2, -1, -3, -5),
        "duplicate_count": st.integers(0, 2),
        "veracity": mostly("stated", "inferred"),
        "core": mostly(False, True),
        "pinned": mostly(False, True),
        "importance_tag": mostly("none", "explicit", "cross_session"),
        "status": mostly("staged", "archived", "consolidated", "quarantined"),
        "tier": st.sampled_from(["hot", "hot", "hot", "cold", "cold", "stub"]),
        "at_floor_since": st.none() | ago(0, 6.875, 7, 100),
        "cold_since": st.none() | ago(0, 179.5, 180, 400),
        "consolidation_quality": mostly(0.0, 1.0),
        "superseded_by": mostly(None, "m0"),
        "valid_from": mostly(None, NOW - DAY),
        "valid_until": mostly(None, NOW + DAY),
        "ttl": mostly(None, DAY),
        "deleted_at": mostly(None, NOW - DAY),
        "erased": mostly(False, True),
    }
)


def fading(**given: Any) -> Fields:
    """A memory that nobody has asked for in ten years, and what is said of it."""
    long_ago = NOW - 3_650 * DAY
    return {"created_at": long_ago, "category": "episodic", **given}


def drafted(memories: list[Fields] | World, *phases: Any, **told: Any) -> Draft:
    """Return what phases draft over memories."""
    world = memories if isinstance(memories, World) else World(memories)
    draft = Draft(world, now=NOW, **told)
    run_phases(draft, phases)
    return draft


def after_changes(draft: Draft) -> dict[tuple[int, str], Any]:
    """Return by row and field what columns hold in the end, where they differ."""
    return {place: after for place, (_, after) in changes_of(draft).items()}


def rows_of(draft: Draft, field: str) -> list[int]:
    """Return the rows of which a field changed, in that order."""
    changed = [change.rows for change in draft.columns if change.field == field]
    return np.concatenate(changed).tolist() if changed else []
