"""Conditions on metadata read by a plain scan, and strategies for both."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone

from hypothesis import strategies as st

import oneiros
from oneiros.filters.conditions import (
    MetadataExists,
    MetadataHas,
    MetadataIn,
    MetadataIs,
    MetadataPrefix,
    MetadataRange,
    MetadataSubstring,
    OnMetadata,
    Where,
)

NOTHING = object()


def value_at(metadata: Mapping[str, object], key: str | tuple[str, ...]) -> object:
    """Return the value at a path, or NOTHING, by the words of `oneiros.meta`'s docstring."""
    if isinstance(key, str):
        if key in metadata:
            return metadata[key]
        key = tuple(key.split("."))
    value: object = metadata
    for word in key:
        if not isinstance(value, dict) or word not in value:
            return NOTHING
        value = value[word]
    return value


def same_json(left: object, right: object) -> bool:
    """Tell whether two are the same JSON scalar; numbers by value, whatever their spelling."""
    if isinstance(left, list | dict):
        return False
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return json.dumps(left) == json.dumps(right)
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    return math.isfinite(left) and left == right


def time_of(value: object) -> float | None:
    """Return the seconds of a text in ISO 8601 with an offset, or of a date alone."""
    if not isinstance(value, str) or len(value) < 10 or value[4] != "-" or value[7] != "-":
        return None
    try:
        if len(value) == 10:
            day = date.fromisoformat(value)
            return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.timestamp()


def holds(condition: OnMetadata, metadata: Mapping[str, object]) -> bool:
    """Tell whether metadata meet a condition."""
    value = value_at(metadata, condition.key)
    if value is NOTHING:
        return False
    match condition:
        case MetadataExists():
            return True
        case MetadataIs(value=wanted):
            return same_json(value, wanted)
        case MetadataIn(values=values):
            return any(same_json(value, wanted) for wanted in values)
        case MetadataHas(values=values):
            items = value if isinstance(value, list) else []
            return any(same_json(item, wanted) for item in items for wanted in values)
        case MetadataPrefix(prefix=prefix):
            return isinstance(value, str) and value.startswith(prefix)
        case MetadataSubstring(text=text, ignores_case=ignores_case):
            if not isinstance(value, str):
                return False
            return text.casefold() in value.casefold() if ignores_case else text in value
        case MetadataRange(low=low, high=high, has_low=has_low, has_high=has_high):
            number = value if isinstance(value, int | float) else None
            if condition.is_time:
                number = time_of(value)
            if number is None or isinstance(number, bool):
                return False
            if low is not None and not (number > low or (has_low and number == low)):
                return False
            return high is None or number < high or (has_high and number == high)
    raise AssertionError(condition)


TEXTS = st.sampled_from(["", "a", "ab", "abc", "b", "1", "é", "ab\U0010ffff", "x\0y", "true"])
NUMBERS = st.sampled_from(
    [0, -0.0, 1, 1.0, 1.5, 2, -3, 0.1, 10**30, 2**53, 2**53 + 1, float(2**53), 2**53 + 2, 1e300]
)
MOMENTS = st.sampled_from(
    [
        datetime(2025, 3, 1, tzinfo=UTC),
        datetime(2025, 3, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2025, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        datetime(2025, 2, 28, 22, tzinfo=timezone(timedelta(hours=-3))),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ]
)
TIMES = MOMENTS.map(datetime.isoformat) | st.sampled_from(
    ["2025-03-01", "2025-03-01T00:00:00Z", "2025-03-01T00:00:00", "20250301", "2025-W09-6", "2025"]
)
SCALARS = st.one_of(TEXTS, NUMBERS, TIMES, st.booleans(), st.none())
KEYS = st.sampled_from(["k", "l", "k.l", "", "$gte"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
METADATA = st.dictionaries(KEYS, VALUES, max_size=3)
PATHS = st.one_of(
    st.sampled_from(["k", "k", "k", "l", "k.l", "l.k", "k.", "$gte", "none"]),
    st.lists(KEYS, min_size=1, max_size=3).map(tuple),
)
ENDS = st.one_of(
    st.tuples(st.none() | NUMBERS, NUMBERS),
    st.tuples(st.none() | MOMENTS, MOMENTS),
    st.tuples(st.dates(date(2025, 2, 27), date(2025, 3, 2)), st.none()),
).map(lambda ends: _ordered(*ends))


def _ordered(low: object, high: object) -> tuple[object, object]:
    if low is None or high is None:
        return low, high
    return (low, high) if low <= high else (high, low)  # type: ignore[operator]


def _compared(path: str | tuple[str, ...], operator: str, value: object) -> Where:
    condition = getattr(oneiros.meta(path), operator)(value)
    assert isinstance(condition, Where)
    return condition


ON_METADATA = st.one_of(
    st.builds(_compared, PATHS, st.sampled_from(["__eq__", "__ne__", "contains"]), SCALARS),
    st.builds(
        _compared,
        PATHS,
        st.sampled_from(["in_", "not_in", "contains_any", "contains_all"]),
        st.lists(SCALARS, max_size=3),
    ),
    st.builds(
        _compared,
        PATHS,
        st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__"]),
        NUMBERS | MOMENTS,
    ),
    st.builds(lambda path, ends: oneiros.meta(path).between(*ends), PATHS, ENDS),
    st.builds(lambda path: oneiros.meta(path).exists(), PATHS),
    st.builds(lambda path: oneiros.meta(path).is_null(), PATHS),
    st.builds(_compared, PATHS, st.sampled_from(["prefix", "substring"]), TEXTS),
    st.builds(
        lambda path, text: oneiros.meta(path).substring(text, ignore_case=True),
        PATHS,
        st.sampled_from(["", "A", "bC", "É", "z"]),
    ),
    st.builds(lambda key, value: oneiros.where(metadata={key: value}), KEYS, SCALARS),
)
"""Conditions on metadata, some of them negated."""
