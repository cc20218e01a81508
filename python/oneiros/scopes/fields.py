"""What a filter may name: the fields, the words they take, and how times and numbers are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

__all__ = [
    "CODES",
    "MEASURES",
    "NAMED",
    "TIMES",
    "Scalar",
    "read_bounds",
    "read_scalar",
    "read_words",
    "scalar_key",
]

Scalar = str | int | float | bool | None
"""What a metadata value may be to be filtered on; lists and objects are not compared."""

# The words of each enumeration, in the order of docs/systems/fields.md: the index is the code.
CODES: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("episodic", "semantic", "procedural"),
    "veracity": ("stated", "unknown", "inferred", "imported", "tool"),
    "importance_tag": ("none", "proximity", "explicit", "cross_session", "schema_violation"),
    "status": ("staged", "consolidated", "archived"),
    "canonical_layer": ("episodic", "intermediate", "semantic"),
    "tier": ("hot", "cold", "stub"),
}

# Free words, held as row sets, one a value.
NAMED: Final = ("id", "kind", "project", "session", "topic", "tags")

TIMES: Final = (
    "created_at",
    "updated_at",
    "last_accessed_at",
    "event_at",
    "occurred_at",  # event_at, else created_at: no column of its own
    "valid_from",
    "valid_until",
    "at_floor_since",
    "cold_since",
)

MEASURES: Final = (
    "ttl",
    "importance",
    "certainty",
    "impact",
    "priority",
    "pinned",
    "feedback",
    "access_count",
    "revision_count",
    "duplicate_count",
    "session_spread",
    "strength",
    "depth",
    "stability",
    "consolidation_quality",
    "core",
)

LATEST_SECONDS: Final = 1e11  # beyond it, someone passed milliseconds (docs/systems/fields.md)


def _seconds(field: str, value: object) -> float:
    """Return a time as seconds since the epoch: a number, an aware datetime or an ISO 8601 text."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            msg = f"{field}: expected ISO 8601 with an offset, got {value!r}"
            raise ValueError(msg) from error
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            msg = f"{field}: a time must carry its offset from UTC, got {value.isoformat()!r}"
            raise ValueError(msg)
        return value.timestamp()
    seconds = _number(field, value)
    if abs(seconds) > LATEST_SECONDS:
        msg = f"{field}: expected seconds within 1e11 of the epoch, got {value!r} (milliseconds?)"
        raise ValueError(msg)
    return seconds


def _number(field: str, value: object) -> float:
    # NumPy scalars pass too: they know how to be a float, and are neither text nor a sequence.
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        msg = f"{field}: expected a number, got {value!r}"
        raise TypeError(msg)
    number = float(value)
    if not math.isfinite(number):
        msg = f"{field}: must be finite, got {value!r} (an open end is None)"
        raise ValueError(msg)
    return number


def read_bounds(field: str, value: object) -> tuple[float | None, float | None]:
    """Return the (start, end) of a range; an end of None is open.

    A measure may also be one number (or truth value), which is the range from it to itself.

    Raises:
        TypeError: neither a pair nor, for a measure, a number.
        ValueError: naive or implausible times, NaN, infinity, or start after end.
    """
    read = _seconds if field in TIMES else _number
    if field in MEASURES and not isinstance(value, tuple | list):
        number = read(field, value)
        return number, number
    if not isinstance(value, tuple | list) or len(value) != 2:
        msg = f"{field}: expected a range (start, end), either may be None, got {value!r}"
        raise TypeError(msg)
    start, end = (None if bound is None else read(field, bound) for bound in value)
    if start is not None and end is not None and start > end:
        msg = f"{field}: start must not be after end, got {value!r}"
        raise ValueError(msg)
    return start, end


def read_words(field: str, value: object) -> tuple[str, ...]:
    """Return the words of a condition, sorted and unique, from one text or an iterable of them.

    Raises:
        TypeError: something else than text (None too: leave a condition out to match all).
        ValueError: a word that the field, being an enumeration, does not have.
    """
    if isinstance(value, str):
        words: list[object] = [value]
    elif isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        words = list(value)
    else:
        msg = f"{field}: expected text or a list of texts, got {value!r}"
        raise TypeError(msg)
    known = CODES.get(field)
    for word in words:
        if not isinstance(word, str):
            msg = f"{field}: expected text or a list of texts, got {word!r} in it"
            raise TypeError(msg)
        if known is not None and word not in known:
            msg = f"{field}: no such value {word!r}; known: {', '.join(known)}"
            raise ValueError(msg)
    return tuple(sorted({word for word in words if isinstance(word, str)}))


def read_scalar(key: object, value: object) -> Scalar:
    """Return a metadata value to compare with.

    Raises:
        TypeError: the key is no text, or the value is a list, an object or no JSON at all.
        ValueError: NaN or infinity, which JSON does not have.
    """
    if not isinstance(key, str):
        msg = f"metadata: keys are text, got {key!r}"
        raise TypeError(msg)
    if value is not None and not isinstance(value, str | bool | int | float):
        msg = f"metadata[{key!r}]: expected text, number, truth value or None, got {value!r}"
        raise TypeError(msg)
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"metadata[{key!r}]: must be finite, got {value!r}"
        raise ValueError(msg)
    return value


def scalar_key(value: Scalar) -> object:
    """Return what stands for a scalar in a dict: 1 equals 1.0 there, and True does not equal 1."""
    return (value,) if value is None or isinstance(value, bool) else value
