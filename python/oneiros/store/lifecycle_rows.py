"""The table of what use and dream cycles change: a narrow row beside each memory's wide one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oneiros.fields import FIELDS

__all__ = ["LIFECYCLE", "in_range", "parted"]

LIFECYCLE: Final = (
    "last_accessed_at",
    "feedback",
    "access_count",
    "duplicate_count",
    "session_spread",
    "strength",
    "depth",
    "stability",
    "consolidation_quality",
    "importance_tag",
    "status",
    "core",
    "canonical_layer",
    "at_floor_since",
    "cold_since",
    "tier",
    "sessions",
)
"""The fields that lie in the table ``lifecycle``; all others lie in ``memory``."""


def parted(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the fields that lie in ``memory``, and those in ``lifecycle``."""
    own: list[str] = []
    lifecycle: list[str] = []
    for name in names:
        (lifecycle if name in LIFECYCLE else own).append(name)
    return own, lifecycle


def in_range(names: Iterable[str]) -> str:
    """Return SQL that is 1 where every value of the fields lies in its range.

    A damaged or hostile file must not put a code past the end of some table of weights.
    """
    spans = []
    for name in names:
        field = FIELDS[name]
        if field.range is not None:
            number = float if field.column in {"float32", "float64"} else int
            span = f"{name} BETWEEN {number(field.range.low)} AND {number(field.most_stored)}"
            spans.append(f"({name} IS NULL OR {span})" if field.nullable else span)
    return " AND ".join(spans)
