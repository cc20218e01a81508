"""One text cell of a table, read as its column's type."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["value_of"]

INTEGERS = frozenset(
    {
        *("priority", "feedback", "access_count", "revision_count", "duplicate_count"),
        *("session_spread", "depth"),
    }
)
NUMBERS = frozenset(
    {"ttl", "importance", "certainty", "impact", "strength", "stability", "consolidation_quality"}
)
TIMES = frozenset(
    {
        *("created_at", "updated_at", "last_accessed_at", "event_at", "valid_from", "valid_until"),
        *("at_floor_since", "cold_since", "deleted_at"),
    }
)
CLAIMS = frozenset({"pinned", "core"})
LISTS = frozenset({"tags", "sessions"})
CLAIM_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def value_of(column: str, cell: str) -> Any:
    """Return what the cell says.

    Numbers and booleans as such; a time as a number (seconds) or else as its ISO 8601 text, which
    the record's own rules judge; ``tags`` and ``sessions`` as a JSON list or as words between
    semicolons; ``metadata`` and ``embedding`` as JSON. Text, and columns not known here, unchanged.

    Raises:
        ValueError: the cell is not what its column holds, naming column and cell.
    """
    cell.encode()  # lone surrogates: UnicodeEncodeError, a ValueError
    if column in INTEGERS:
        return _read(int, column, cell, "a whole number")
    if column in NUMBERS:
        return _read(float, column, cell, "a number")
    if column in TIMES:
        return _time(cell)
    if column in CLAIMS:
        return _read(lambda word: CLAIM_WORDS[word.strip().lower()], column, cell, "true or false")
    if column in LISTS and not cell.lstrip().startswith("["):
        return [word.strip() for word in cell.split(";") if word.strip()]
    if column in LISTS or column in ("metadata", "embedding"):
        return _read(_json, column, cell, "JSON")
    return cell


def _read(reader: Callable[[str], Any], column: str, cell: str, wanted: str) -> Any:
    try:
        return reader(cell)
    except (ValueError, KeyError) as error:
        shown = cell if len(cell) <= 40 else cell[:39] + "…"
        msg = f"{column}: must be {wanted}, got {shown!r}"
        raise ValueError(msg) from error


def _time(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _json(cell: str) -> Any:
    return json.loads(cell, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
