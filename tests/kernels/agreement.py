"""When two values of a kernel are the same, and how many examples are drawn."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, settings

EXAMPLES = settings(
    max_examples=5_000 if os.environ.get("ONEIROS_LONG") else 15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def agrees(got: float, want: float, slack: float) -> bool:
    """Tell whether two values are the same but for ``slack``; NaN only with NaN."""
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    return got == want or abs(got - want) <= slack


def finite(value: float) -> float:
    """Return the size of a value, 0 where it has none."""
    return abs(value) if math.isfinite(value) else 0.0


def slack_float64(row: Sequence[float], want: float, scale: float) -> float:
    """Return 1e-12 of the value; ``scale``: a term of that size may have cancelled."""
    del row
    return 1e-12 * finite(want) + 2.3e-308 + 4e-16 * finite(scale)


def slack_float32(row: Sequence[float], want: float, scale: float, exponent: float) -> float:
    """Return DESIGN.md section 3's bound: (4 + 2 |exponent|) ULP of the value.

    A part that falls below the smallest normal float32 keeps fewer bits, and may be multiplied by
    an argument after that.
    """
    largest = max(finite(want), finite(scale))
    ulp = float(np.spacing(np.float32(min(largest, 3.4e38))))
    underflow = 6e-45 * (1 + max(map(finite, row), default=0.0))
    return (4 + 2 * finite(exponent)) * ulp + underflow
