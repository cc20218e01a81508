"""Checks of what a call is given, where it is no field of a memory."""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Iterable, Sequence
from typing import SupportsFloat, TypeGuard

from oneiros.field_checks import encoded, require_flag

__all__ = [
    "as_float",
    "count",
    "file_name",
    "index_of",
    "is_real",
    "is_scalar_array",
    "not_an_integer",
    "require_callable",
    "require_choice",
    "require_flag",
    "require_instance",
    "require_text",
    "require_utf8",
    "statuses",
    "texts",
    "within",
]

_repr = reprlib.repr


def require_instance(name: str, value: object, kinds: tuple[type, ...], words: str) -> None:
    """Raise TypeError, saying what ``words`` say, unless ``value`` is one of ``kinds``."""
    if not isinstance(value, kinds):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def require_text(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str."""
    require_instance(name, value, (str,), "str")


def require_utf8(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str, TextEncodingError if it holds lone surrogates."""
    require_text(name, value)
    encoded(name, str(value))


def require_callable(name: str, value: object, words: str) -> None:
    """Raise TypeError, saying what ``words`` say, unless ``value`` can be called."""
    if not callable(value):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def file_name(name: str, value: object) -> str:
    """Return the path that a str or ``os.PathLike`` is.

    Raises:
        TypeError: something else, bytes too.
        ValueError: an empty path, one with a NUL or a lone surrogate.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    require_instance(name, path, (str,), "a str or a path of str")
    text = str(path)
    if not text or "\0" in text:
        msg = f"{name}: must be a file's name, got {text!r}"
        raise ValueError(msg)
    encoded(name, text)
    return text


def is_real(value: object) -> TypeGuard[SupportsFloat]:
    """Return whether a value is a real number and no bool."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool)
    from numbers import Real  # noqa: PLC0415 - a float32 of NumPy, a Fraction, or no number

    return isinstance(value, Real)


def as_float(value: SupportsFloat) -> float:
    """Return a real number as a float; an int beyond every float is infinite."""
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf  # type: ignore[operator]


def is_scalar_array(value: object) -> bool:
    """Whether it is an array of NumPy without a dimension, which only looks as if it iterated."""
    return getattr(value, "shape", None) == ()


def texts(name: str, values: object) -> Sequence[str]:
    """Return several str as a sequence; a single str is none."""
    if (
        isinstance(values, str | bytes)
        or not isinstance(values, Iterable)
        or is_scalar_array(values)
    ):
        msg = f"{name}: expected a sequence of str, got {type(values).__name__}"
        raise TypeError(msg)
    found = values if isinstance(values, Sequence) else list(values)
    for place, value in enumerate(found):
        require_text(f"{name}[{place}]", value)
    return found


def require_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the known words."""
    if not isinstance(value, str) or value not in known:
        msg = f"{name}: must be one of {', '.join(known)}, got {reprlib.repr(value)}"
        raise ValueError(msg)


def count(name: str, value: object, *, low: int = 0) -> int:
    """Return an int from ``low`` to 2^31 - 1; anything that indexes is one, a truth value is not."""
    return within(name, index_of(name, value), low, 2**31 - 1)


def index_of(name: str, value: object) -> int:
    """Return anything that indexes as an int.

    Raises:
        TypeError: it does not, or is a truth value.
    """
    if isinstance(value, bool):
        raise not_an_integer(name, value)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise not_an_integer(name, value) from None


def not_an_integer(name: str, value: object) -> TypeError:
    """Return the error for an argument that must be an integer."""
    return TypeError(f"{name}: expected an integer, got {type(value).__name__} {_repr(value)}")


def within(name: str, number: int, low: int, high: int) -> int:
    """Return an integer from ``low`` to ``high``.

    Raises:
        ValueError: it lies outside.
    """
    if not low <= number <= high:
        msg = f"{name}: must be in {low} to {high}, got {number!r}"
        raise ValueError(msg)
    return number


def statuses(status: str | Sequence[str] | None) -> Sequence[str] | None:
    """Return a list of statuses where one was given."""
    if status is None or isinstance(status, str):
        return None if status is None else [status]
    require_instance("status", status, (Sequence, set, frozenset), "a str or several")
    return list(status)
