"""Checks that every declaration of a profile's part shares.

A declaration is data: its numbers are checked once, when it is made, and brought to one form
(``30`` and ``30.0`` are one profile, with one hash).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from oneiros.argument_checks import (
    as_float,
    is_real,
    is_scalar_array,
    not_an_integer,
    require_flag,
    within,
)

__all__ = [
    "LARGEST_K",
    "LARGEST_WEIGHT",
    "require_int",
    "require_number",
    "require_numbers",
    "settle",
    "settle_numbers",
]

LARGEST_WEIGHT = 1e6
LARGEST_K = 1e9
"""With it as the bound of every weight, no product of factors overflows."""


def settle(declaration: object, field: str, value: object) -> None:
    """Set ``field`` of a frozen declaration that is still being made."""
    object.__setattr__(declaration, field, value)


def require_number(
    field: str,
    value: object,
    *,
    low: float,
    high: float = math.inf,
    above_low: bool = False,
    below_high: bool = False,
    finite: bool = True,
) -> float:
    """Return ``value`` as a float.

    Args:
        field: its name, for the error.
        value: an int, a float or another real number; bool is refused.
        low: the least value allowed.
        high: the greatest value allowed.
        above_low: ``low`` itself is refused too.
        below_high: ``high`` itself is refused too.
        finite: infinity is refused; NaN always is.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: ``value`` lies outside.
    """
    if not is_real(value):
        msg = f"{field}: expected a number, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    number = as_float(value)
    low_holds = number > low if above_low else number >= low
    high_holds = number < high if below_high else number <= high
    if not (low_holds and high_holds) or (finite and math.isinf(number)):
        bounds = [f"> {low:g}" if above_low else f">= {low:g}"]
        bounds += [f"{'<' if below_high else '<='} {high:g}"] if math.isfinite(high) else []
        bounds += ["finite"] if finite and not math.isfinite(high) else []
        msg = f"{field}: must be {' and '.join(bounds)}, got {value!r}"
        raise ValueError(msg)
    return number


def settle_numbers(declaration: object, **rules: tuple[float, float, bool]) -> None:
    """Check fields by (low, high, low itself refused) and store them as floats."""
    for field, (low, high, above_low) in rules.items():
        value = require_number(
            field, getattr(declaration, field), low=low, high=high, above_low=above_low
        )
        settle(declaration, field, value)


def require_numbers(
    field: str,
    value: object,
    *,
    low: float,
    high: float = math.inf,
    above_low: bool = False,
    finite: bool = True,
    count: int | None = None,
) -> tuple[float, ...]:
    """Return ``value``, a tuple, list or array of numbers, as a tuple of floats.

    Args:
        field: its name, for the error.
        value: what to check; each item as :func:`require_number`.
        low: the least number allowed.
        high: the greatest number allowed.
        above_low: ``low`` itself is refused too.
        finite: infinity is refused.
        count: how many there must be; None: at least one.

    Raises:
        TypeError: ``value`` is no sequence of numbers.
        ValueError: another count, or a number outside.
    """
    is_one = isinstance(value, str | bytes) or is_scalar_array(value)
    if is_one or not hasattr(value, "__len__"):
        msg = f"{field}: expected a list of numbers, got {type(value).__name__} {value!r}"
        raise TypeError(msg)
    items = list(value) if isinstance(value, Iterable) else []
    if len(items) != count if count is not None else not items:
        wanted = "at least one number" if count is None else f"{count} numbers"
        msg = f"{field}: expected {wanted}, got {value!r}"
        raise ValueError(msg)
    return tuple(
        require_number(
            f"{field}[{index}]", item, low=low, high=high, above_low=above_low, finite=finite
        )
        for index, item in enumerate(items)
    )


def require_int(field: str, value: object, *, low: int, high: int) -> int:
    """Return ``value``, an int from ``low`` to ``high``.

    Raises:
        TypeError: ``value`` is no int (bool is none).
        ValueError: ``value`` lies outside.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise not_an_integer(field, value)
    return within(field, value, low, high)


def settle_flags(declaration: object, *fields: str) -> None:
    """Check that fields are True or False, Python's or NumPy's, and store them as Python's.

    Raises:
        TypeError: one is anything else, 0 and 1 included.
    """
    for field in fields:
        settle(declaration, field, require_flag(field, getattr(declaration, field)))
