"""A memory as a dict, read the way docs/systems/fields.md says: defaults, types, ages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tests.oracles.ieee import as_float32, not_negative
from tests.oracles.kinds import entry

DAY = 86_400.0
HOUR = 3_600.0

Record = Mapping[str, Any]

DEFAULTS: dict[str, Any] = {
    "kind": "note",
    "category": "semantic",
    "importance": 0.5,
    "certainty": 1.0,
    "impact": 0.5,
    "veracity": "unknown",
    "pinned": False,
    "trust": 1.0,
    "feedback": 0,
    "access_count": 0,
    "revision_count": 0,
    "duplicate_count": 0,
    "session_spread": 1,
    "strength": 1.0,
    "depth": 2,
    "stability": 1.0,
    "consolidation_quality": 0.0,
    "importance_tag": "none",
    "status": "staged",
    "core": False,
    "tier": "hot",
    "superseded_by": None,
}
FLOAT32 = {"importance", "certainty", "impact", "strength", "stability", "consolidation_quality"}

PRIORITY_BY_KIND = {  # docs/systems/omega.md O13
    "constraint": 5,
    "checkpoint": 5,
    "reminder": 5,
    "user_preference": 5,
    "error_pattern": 4,
    "lesson_learned": 4,
    "decision": 4,
    "skill_template": 4,
    "session_summary": 2,
    "coordination_snapshot": 1,
    "session_respawn": 1,
    "file_summary": 1,
    "code_chunk": 1,
}


def value(record: Record, name: str, *, stored: bool = True) -> Any:
    """Return a field, its default where the record leaves it out.

    ``stored``: as the store keeps it, float32 fields rounded to float32; a table given to
    ``oneiros.factors`` keeps its own type.
    """
    given = record.get(name)
    if given is None:
        if name == "priority":
            return entry(PRIORITY_BY_KIND, value(record, "kind"), 3)
        given = DEFAULTS[name]
    return as_float32(given) if stored and name in FLOAT32 else given


def time_of(record: Record, now: float, *names: str) -> float:
    """Return the first time among ``names`` that is given, in seconds; NaN without any.

    Left out, created_at is ``now`` and updated_at is created_at.
    """
    for name in names:
        given = record.get(name)
        if name == "created_at" and given is None:
            given = now
        if name == "updated_at" and given is None:
            given = time_of(record, now, "created_at")
        if given is not None and not math.isnan(given):
            return float(given)
    return math.nan


def validity_of(memory: Mapping[str, Any]) -> tuple[float, float]:
    """Return from and until when a memory of a kind that expires is valid. C7."""
    start, end, ttl = (memory.get(name) for name in ("valid_from", "valid_until", "ttl"))
    ends = [math.inf if end is None else end]
    if ttl is not None:
        ends.append(memory["created_at"] + ttl)
    return -math.inf if start is None else start, min(ends)


def part_of(record: Record) -> tuple[str | None, ...]:
    """Return what memories must share that a cycle merges: project, user, agent and namespace."""
    return tuple(record[name] for name in ("project", "user", "agent", "namespace"))


def age_days(record: Record, now: float, *names: str) -> float:
    """Return days since the first time among ``names``; after ``now`` 0, without any NaN."""
    return not_negative((now - time_of(record, now, *names)) / DAY)


def age_hours(record: Record, now: float, *names: str) -> float:
    """Return hours since the first time among ``names``; after ``now`` 0, without any NaN."""
    return not_negative((now - time_of(record, now, *names)) / HOUR)


def idle_days(record: Record, now: float) -> float:
    """Return days since the last access, since creation if never (R8, C1, O14)."""
    return age_days(record, now, "last_accessed_at", "created_at")
