"""Checks of what a call is given, where it is no field of a memory."""

from __future__ import annotations

import operator
from collections.abc import Sequence

__all__ = ["count", "require_choice", "require_instance", "require_text", "statuses", "texts"]


def require_instance(name: str, value: object, kinds: tuple[type, ...], words: str) -> None:
    """Raise TypeError, saying what ``words`` say, unless ``value`` is one of ``kinds``."""
    if not isinstance(value, kinds):
        msg = f"{name}: expected {words}, got {type(value).__name__}"
        raise TypeError(msg)


def require_text(name: str, value: object) -> None:
    """Raise TypeError unless ``value`` is a str."""
    require_instance(name, value, (str,), "str")


def texts(name: str, values: object) -> Sequence[str]:
    """Return a sequence of str; a single str is none."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        msg = f"{name}: expected a sequence of str, got {type(values).__name__}"
        raise TypeError(msg)
    for place, value in enumerate(values):
        require_text(f"{name}[{place}]", value)
    return values


def require_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the known words."""
    if value not in known:
        msg = f"{name}: expected one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


def count(name: str, value: object, *, low: int = 0) -> int:
    """Return an int in [low, 2^31 - 1]; anything that indexes is one, a truth value is not."""
    if isinstance(value, bool):
        msg = f"{name}: expected an int, got {value!r}"
        raise TypeError(msg)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{name}: expected an int, got {type(value).__name__}"
        raise TypeError(msg) from None
    if not low <= number <= 2**31 - 1:
        msg = f"{name}: must be in [{low}, 2^31 - 1], got {number}"
        raise ValueError(msg)
    return number


def statuses(status: str | Sequence[str] | None) -> Sequence[str] | None:
    """Return a list of statuses where one was given."""
    if status is None or isinstance(status, str):
        return None if status is None else [status]
    require_instance("status", status, (Sequence, set, frozenset), "a str or several")
    return list(status)
