"""Arithmetic that never raises: what IEEE 754 says where Python's operators and math would stop.

An oracle works on one row of Python floats. Python raises on 1 / 0, on exp(1000) and on log(0);
DESIGN.md section 3 asks for one defined answer to every input, so the oracles divide, exponentiate
and take logarithms here, and stay readable.
"""

from __future__ import annotations

import math
import struct
from typing import SupportsFloat


def as_float32(value: float) -> float:
    """Return what a float32 column keeps of a value: docs/systems/fields.md, type float32."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:  # beyond the largest float32
        return math.copysign(math.inf, value)


def number(value: SupportsFloat) -> float:
    """Return a Python float; an integer beyond every float is endless."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def has_nan(*values: float) -> bool:
    """Tell whether any value is NaN. docs/systems/README.md: NaN in, NaN out, but for times."""
    return any(math.isnan(value) for value in values)


def divide(one: float, other: float) -> float:
    """Return one / other; x / 0 is endless with the sign of both, 0 / 0 is NaN."""
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def exp(value: float) -> float:
    """Return e ** value; beyond the largest float, inf."""
    return math.inf if value > 709.782712893384 else math.exp(value)


def power(base: float, exponent: float) -> float:
    """Return base ** exponent, NaN for a negative base with a broken exponent."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = exponent == math.floor(exponent) and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan  # 0 ** -1; (-1) ** 0.5


def log1p(value: float) -> float:
    """Return ln(1 + value): -inf at -1, NaN below."""
    if value > -1:
        return math.log1p(value)
    return -math.inf if value == -1 else math.nan


def clip(value: float, low: float, high: float) -> float:
    """Return value held between low and high; NaN stays NaN."""
    if has_nan(value, low, high):
        return math.nan
    return min(max(value, low), high)


def larger(one: float, other: float) -> float:
    """Return the larger of two; NaN with either."""
    return math.nan if has_nan(one, other) else max(one, other)


def not_negative(age: float) -> float:
    """Return 0 for an age below 0; NaN stays NaN. docs/systems/README.md, "age" clocks."""
    return 0.0 if age < 0 else age
