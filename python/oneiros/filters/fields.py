"""The fields that a filter may name, and the values by which memories are found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, Protocol, cast

from oneiros.model.fields import ENUMS, FIELDS, SOURCES, levels_of
from oneiros.model.validation import brief, is_scalar_array, plain, shown, time

__all__ = [
    "MEASURES",
    "NAMED",
    "SINGLE",
    "TIMES",
    "WORDS",
    "Attributed",
    "Place",
    "Scalar",
    "is_finite",
    "read_bounds",
    "read_words",
    "scalar_key",
    "sets_of",
    "values_of",
]


Scalar = str | int | float | bool | None
"""A metadata value that filters can compare; lists and objects are not compared."""

SINGLE: Final = (
    *("kind", "project", "session", "topic"),
    *("user", "agent", "namespace", "source", "source_ref"),
)
"""Fields of one word, with a row set per value. Those of a namespace hold the rows below it too."""

WORDS: Final = ("tags", "labels")
"""Fields of many words, with a row set per word."""

NAMED: Final = ("id", *SINGLE, *WORDS)

# Not deleted_at, as no filter finds deleted memories. occurred_at, event_at or else created_at, is
# not a field.
TIMES: Final = (
    *(name for name, field in FIELDS.items() if field.kind == "time" and name != "deleted_at"),
    "occurred_at",
)

MEASURES: Final = tuple(
    name for name, field in FIELDS.items() if field.kind in {"seconds", "float32", "int", "bool"}
)


def is_finite(value: float) -> bool:
    """Return whether a number is finite as a float; an int beyond every float is not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _number(field: str, value: object) -> float:
    value = plain(value)
    if FIELDS[field].kind == "bool":
        if not isinstance(value, bool):
            msg = f"{field}: must be True or False, got {shown(value)}"
            raise TypeError(msg)
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{field}: must be a number, got {shown(value)}"
        raise TypeError(msg)
    if not is_finite(value):
        msg = f"{field}: must be finite, got {brief(value)} (an open end is None)"
        raise ValueError(msg)
    return value


def read_bounds(field: str, value: object) -> tuple[float | None, float | None]:
    """Return the (start, end) of a range; an end of None is open.

    For a measure, a single number or bool means the range from it to itself.

    Raises:
        TypeError: neither a pair nor, for a measure, a number.
        ValueError: naive or implausible times, NaN, infinity, or start after end.
    """
    if field in MEASURES and not isinstance(value, tuple | list):
        number = _number(field, value)
        return number, number
    if not isinstance(value, tuple | list) or len(value) != 2:
        msg = f"{field}: expected a range (start, end), either may be None, got {shown(value)}"
        raise TypeError(msg)
    read = time(field) if field in TIMES else partial(_number, field)
    start, end = (None if bound is None else read(bound) for bound in value)
    if start is not None and end is not None and start > end:
        msg = f"{field}: start must not be after end, got {shown(value)}"
        raise ValueError(msg)
    return start, end


def read_words(field: str, value: object) -> tuple[str, ...]:
    """Return the distinct words of a condition, sorted, from one text or an iterable of texts.

    Raises:
        TypeError: not a text, or None: leave a condition out to match all.
        ValueError: the field is an enumeration without this word, or a namespace with an empty
            segment.
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
        msg = f"{field}: expected text or a list of texts, got {shown(value)}"
        raise TypeError(msg)
    known = SOURCES if field == "source" else ENUMS.get(field)
    for word in words:
        if not isinstance(word, str):
            msg = f"{field}: expected text or a list of texts, got {shown(word)} in it"
            raise TypeError(msg)
        if known is not None and word not in known:
            msg = f"{field}: no such value {word!r}; known: {', '.join(known)}"
            raise ValueError(msg)
        if field == "namespace":
            FIELDS[field].check(word)  # one that no memory can have is a mistake
    if len(words) == 1:
        return cast("tuple[str]", tuple(words))
    return tuple(sorted({word for word in words if isinstance(word, str)}))


def scalar_key(value: Scalar) -> object:
    """Return a dict key for a scalar: 1 equals 1.0, but True does not equal 1."""
    return (value,) if value is None or isinstance(value, bool) else value


Place = tuple[str, ...]
"""The place of a value: the name of a field."""


class Attributed(Protocol):
    """The attributes that the index reads; :class:`oneiros.Memory` has them."""

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
    def user(self) -> str | None: ...
    @property
    def agent(self) -> str | None: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def source_ref(self) -> str | None: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, object]: ...


_words_of: Final = attrgetter(*SINGLE)


def values_of(record: Attributed) -> Iterable[tuple[Place, object]]:
    """Yield the values by which a record is found, each once or more; not those of metadata."""
    for name, value in zip(SINGLE, _words_of(record), strict=True):
        if value is None:
            continue
        if name != "namespace":
            yield (name,), value
        else:
            for word in levels_of(value):
                yield (name,), word
    for name in WORDS:
        for word in getattr(record, name):
            yield (name,), word


def sets_of(name: str, value: str) -> Sequence[str]:
    """Return the words whose row sets hold a memory with this value of a field of one word."""
    return levels_of(value) if name == "namespace" else (value,)
