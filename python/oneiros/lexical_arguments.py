"""What callers of the lexical index may pass: each check names field, value and rule."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from numbers import Real
from typing import Any, Final, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt

from oneiros.argument_checks import (
    as_float,
    index_of,
    is_scalar_array,
    not_an_integer,
    require_flag,
)
from oneiros.errors import TextEncodingError
from oneiros.field_checks import encoded

__all__ = [
    "Id",
    "checked_count",
    "checked_id",
    "checked_ids",
    "checked_number",
    "checked_reading",
    "checked_tags",
    "checked_texts",
    "checked_weights",
]

Id = int | str

T = TypeVar("T")

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def checked_number(value: object, name: str) -> float:
    """Return a real number as a float; TypeError if it is none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        msg = f"{name}: must be a number, got {type(value).__name__}"
        raise TypeError(msg)
    return as_float(value)


def checked_id(id: object, name: str) -> Id:
    """Return an id as an int of 64 bits or a str, else raise TypeError or ValueError."""
    if isinstance(id, str):
        try:
            id.encode()
        except UnicodeEncodeError:
            msg = f"{name}: must have no lone surrogates, got {id!a}"
            raise TextEncodingError(msg) from None
        return str(id)
    if isinstance(id, bool | np.bool_) or not hasattr(id, "__index__"):
        msg = f"{name}: must be an int or a str, got {type(id).__name__}"
        raise TypeError(msg)
    number = _index(id, f"{name}: must be an int or a str")
    if not INT64_MIN <= number <= INT64_MAX:
        msg = f"{name}: must fit 64 bits, got {number}"
        raise ValueError(msg)
    return number


def checked_ids(ids: Collection[Id] | npt.NDArray[Any], name: str) -> list[Id]:
    """Return many ids; an error names the place."""
    is_one = isinstance(ids, str | bytes) or is_scalar_array(ids)
    if is_one or not isinstance(ids, Collection | np.ndarray):
        msg = f"{name}: must be a collection of ids, got {type(ids).__name__}"
        raise TypeError(msg)
    items = ids.tolist() if isinstance(ids, np.ndarray) else ids
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i" and ids.ndim == 1:
        return list(items)
    if isinstance(ids, range) and all(
        INT64_MIN <= end <= INT64_MAX for end in (*ids[:1], *ids[-1:])
    ):
        return list(ids)
    return [
        id
        if (type(id) is int and INT64_MIN <= id <= INT64_MAX) or (type(id) is str and id.isascii())
        else checked_id(id, f"{name}[{place}]")
        for place, id in enumerate(items)
    ]


def checked_weights(
    fields: object, given: Mapping[str, object], default: Mapping[str, float]
) -> dict[str, float]:
    """Return the weights of an index's fields, none if it has no fields."""
    if require_flag("fields", fields):
        return {
            name: default[name] if weight is None else checked_number(weight, name)
            for name, weight in given.items()
        }
    for name, weight in given.items():
        if weight is not None:
            msg = f"{name}: only an index with fields has one, got {weight!r}"
            raise ValueError(msg)
    return {}


def checked_text(text: object, name: str) -> str:
    """Return a str; TypeError if it is none."""
    if not isinstance(text, str):
        msg = f"{name}: expected str, got {type(text).__name__}"
        raise TypeError(msg)
    return text


class Reading(TypedDict):
    """How the core reads a query."""

    syntax: str
    minimum_should_match: int


_PLAIN: Final = Reading(syntax="plain", minimum_should_match=0)


def checked_reading(syntax: object, minimum_should_match: object) -> Reading:
    """Return how a query is read; which syntaxes there are, the core knows."""
    if syntax == "plain" and type(minimum_should_match) is int and minimum_should_match == 0:
        return _PLAIN
    least = checked_count(minimum_should_match, "minimum_should_match", least=0)
    encoded("syntax", checked_text(syntax, "syntax"))
    return Reading(syntax=str(syntax), minimum_should_match=least)


def checked_tags(tags: Sequence[str], name: str) -> str:
    """Return the tags as the core takes them, one a line."""
    items = checked_texts(tags, name)
    return "\n".join(checked_text(tag, f"{name}[{place}]") for place, tag in enumerate(items))


def checked_texts(texts: Sequence[T], name: str) -> list[T]:
    """Return the texts as a list; what is in it, the core checks."""
    is_one = isinstance(texts, str | bytes) or is_scalar_array(texts)
    if is_one or not isinstance(texts, Sequence | np.ndarray):
        msg = f"{name}: must be a sequence of str, got {type(texts).__name__}"
        raise TypeError(msg)
    return list(texts)


def checked_count(value: object, name: str, *, least: int) -> int:
    """Return an int from ``least`` up, cut to 64 bits."""
    if type(value) is int and least <= value <= INT64_MAX:
        return value
    if isinstance(value, np.bool_):
        raise not_an_integer(name, value)
    count = index_of(name, value)
    if count < least:
        msg = f"{name}: must be at least {least}, got {count}"
        raise ValueError(msg)
    return min(count, INT64_MAX)


def _index(value: Any, rule: str) -> int:
    try:
        return operator.index(value)
    except TypeError:  # an array of several has the method, too
        msg = f"{rule}, got {type(value).__name__}"
        raise TypeError(msg) from None
