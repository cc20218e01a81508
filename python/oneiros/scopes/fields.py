"""What a filter may name: the fields, the words they take, and how times and numbers are read."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from oneiros.argument_checks import is_scalar_array
from oneiros.field_checks import plain, time
from oneiros.fields import ENUMS, FIELDS

__all__ = [
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

# Free words, held as row sets, one a value.
NAMED: Final = ("id", "kind", "project", "session", "topic", "tags")

# What is deleted is nobody's to find. occurred_at is event_at, else created_at: no field of its own.
TIMES: Final = (
    *(name for name, field in FIELDS.items() if field.kind == "time" and name != "deleted_at"),
    "occurred_at",
)

MEASURES: Final = tuple(
    name for name, field in FIELDS.items() if field.kind in {"seconds", "float32", "int", "bool"}
)


def _number(field: str, value: object) -> float:
    value = plain(value)
    if FIELDS[field].kind == "bool":
        if not isinstance(value, bool):
            msg = f"{field}: must be True or False, got {value!r}"
            raise TypeError(msg)
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{field}: must be a number, got {value!r}"
        raise TypeError(msg)
    try:
        is_finite = math.isfinite(value)
    except OverflowError:  # an int beyond every float
        is_finite = False
    if not is_finite:
        msg = f"{field}: must be finite, got {reprlib.repr(value)} (an open end is None)"
        raise ValueError(msg)
    return value


def read_bounds(field: str, value: object) -> tuple[float | None, float | None]:
    """Return the (start, end) of a range; an end of None is open.

    A measure may also be one number (or truth value), which is the range from it to itself.

    Raises:
        TypeError: neither a pair nor, for a measure, a number.
        ValueError: naive or implausible times, NaN, infinity, or start after end.
    """
    if field in MEASURES and not isinstance(value, tuple | list):
        number = _number(field, value)
        return number, number
    if not isinstance(value, tuple | list) or len(value) != 2:
        msg = f"{field}: expected a range (start, end), either may be None, got {value!r}"
        raise TypeError(msg)
    read = time(field) if field in TIMES else partial(_number, field)
    start, end = (None if bound is None else read(bound) for bound in value)
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
    elif (
        isinstance(value, Iterable)
        and not isinstance(value, bytes | Mapping)
        and not is_scalar_array(value)
    ):
        words = list(value)
    else:
        msg = f"{field}: expected text or a list of texts, got {value!r}"
        raise TypeError(msg)
    known = ENUMS.get(field)
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
