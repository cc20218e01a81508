"""Order and thresholds in plain Python, and when they cannot be told.

The engine's cosines are sums of float32. Where two scores, or a score and what it must reach, lie
nearer than that can tell, the rules have no one answer: the oracle says so and the world is left.
What is equal to the bit is a tie, and ties have their rule: the earlier insertion.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping

__all__ = ["Doubt", "none_near", "ordered", "reaches"]

SLACK = 2e-6


class Doubt(Exception):
    """Two numbers are so near that rounding decides."""


def none_near(scores: Iterable[float]) -> None:
    """Raise Doubt where two scores differ by less than rounding does."""
    for low, high in itertools.pairwise(sorted(scores)):
        if low != high and high - low <= SLACK * max(abs(low), abs(high), 0.05):
            raise Doubt(low, high)


def ordered(scores: Mapping[str, float], place: Mapping[str, int]) -> list[str]:
    """Return ids, higher score first, then the earlier insertion; NaN never."""
    known = {id: score for id, score in scores.items() if not math.isnan(score)}
    none_near(known.values())
    return sorted(known, key=lambda id: (-known[id], place[id]))


def reaches(value: float, least: float) -> bool:
    """Tell whether a number is at least another."""
    none_near((value, least))
    return value >= least
