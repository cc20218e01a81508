"""The fields that a filter may name, and the values that a memory is found by."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.validation import is_scalar_array, plain, time

__all__ = [
    "MEASURES",
    "NAMED",
    "TAGS",
    "TIMES",
    "Attributed",
    "Place",
    "Scalar",
    "read_bounds",
    "read_scalar",
    "read_words",
    "scalar_key",
    "scalars_of",
    "values_of",
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


Place = tuple[str, ...]
"""Where a value stands: a field, or "metadata" and a key."""

TAGS: Final = ("tags",)


class Attributed(Protocol):
    """What the index reads of a memory; :class:`oneiros.Memory` has it."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def project(self) -> str | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, object]: ...


def values_of(record: Attributed) -> Iterable[tuple[Place, object]]:
    """Yield the values a record is found by, each once or more."""
    yield ("kind",), record.kind
    if record.project is not None:
        yield ("project",), record.project
    if record.session is not None:
        yield ("session",), record.session
    if record.topic is not None:
        yield ("topic",), record.topic
    for tag in record.tags:
        yield TAGS, tag
    for key, scalar in scalars_of(record.metadata):
        yield ("metadata", key), scalar


def scalars_of(metadata: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Yield what of the metadata can be filtered on; lists and objects cannot."""
    for key, value in metadata.items():
        if value is None or isinstance(value, str | bool | int | float):
            yield key, scalar_key(value)
