"""The table ``lifecycle``: the fields changed by reinforcement and dream cycles, in narrow rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from oneiros import _core
from oneiros.model.fields import FIELDS

__all__ = ["LIFECYCLE", "parted", "ranges_of"]

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
"""The fields stored in the table ``lifecycle``; all others are in ``memory``."""

_LAST_SEQUENCE: Final = 2.0**53  # columns store sequence numbers as float64


def parted(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split fields into those stored in ``memory`` and those in ``lifecycle``."""
    own: list[str] = []
    lifecycle: list[str] = []
    for name in names:
        (lifecycle if name in LIFECYCLE else own).append(name)
    return own, lifecycle


def ranges_of(places: Mapping[str, int]) -> _core.RowRanges:
    """Return the check that the numbers of a row lie in the ranges of their fields.

    A code from a damaged or hostile file must not index past the end of a table of weights.

    Args:
        places: field to position in the row, whose first cell is the sequence number; fields that
            are not numeric are ignored.
    """
    ranges = [(0, 1.0, _LAST_SEQUENCE, False)]
    ranges += [
        (place, field.range.low, field.most_stored, field.nullable)
        for name, place in places.items()
        if (field := FIELDS[name]).range is not None
    ]
    found, lows, highs, nullable = map(list, zip(*ranges, strict=True))
    return _core.RowRanges(places=found, lows=lows, highs=highs, nullable=nullable)
