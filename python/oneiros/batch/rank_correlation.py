"""How alike two orders are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["kendall_tau", "top_overlap"]


def kendall_tau(left: Array, right: Array) -> float | None:
    """Return Kendall's tau-b, exact on ties, in O(n log n).

    Args:
        left: numbers without NaN, shape (n,).
        right: likewise.

    Returns:
        In [-1, 1], from exact counts of pairs; None where one side is all ties, or n < 2.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); the
    count of swaps as W. R. Knight, JASA 61 (1966).
    """
    order = np.lexsort((right, left))
    first, second = _dense(left)[order], _dense(right)[order]
    pairs = math.comb(len(order), 2)
    left_ties, right_ties = _tied_pairs(first), _tied_pairs(second)
    both_ties = _tied_pairs(_dense_pairs(first, second))
    if pairs in (left_ties, right_ties):
        return None
    swaps = _inversions(second)
    balance = pairs - left_ties - right_ties + both_ties - 2 * swaps
    square = (pairs - left_ties) * (pairs - right_ties)
    root = math.isqrt(square)
    if root * root == square:
        return balance / root
    return max(-1.0, min(1.0, balance / math.sqrt(square)))


def top_overlap(left: Array, right: Array, k: int) -> float | None:
    """Return the share of the ``k`` best rows that both sides have; ties go to the earlier row.

    Args:
        left: numbers without NaN, shape (n,).
        right: likewise.
        k: at least 1; where there are fewer rows, all of them.

    Returns:
        In [0, 1]; None where there are no rows.
    """
    if not len(left):
        return None
    best = [set(np.argsort(-side, kind="stable")[:k].tolist()) for side in (left, right)]
    return len(best[0] & best[1]) / len(best[0])


def _dense(values: Array) -> Array:
    """Return the place of each value among the distinct ones."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _dense_pairs(first: Array, second: Array) -> Array:
    """Return numbers that are equal where both are. REQUIRES: sorted by first, then second."""
    changes = (np.diff(first) != 0) | (np.diff(second) != 0)
    return np.concatenate([[0], np.cumsum(changes)]) if len(first) else first


def _tied_pairs(places: Array) -> int:
    counts = np.bincount(places).astype(object) if len(places) else np.zeros(0, object)
    large = counts[counts > 1]
    return int((large * (large - 1) // 2).sum()) if len(large) else 0


def _inversions(places: Array) -> int:
    """Return how many pairs stand in falling order.

    One bit at a time from the highest: among the places that agree in all higher bits, kept
    together in their order, count the ones before each zero; then part ones from zeros.
    """
    total = 0
    groups = np.zeros(len(places), np.int64)
    for bit in reversed(range(int(places.max(initial=0)).bit_length())):
        ones = (places >> bit) & 1
        before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        sizes = np.diff(np.append(starts, len(places)))
        ones_before = before - np.repeat(before[starts], sizes)
        total += int((ones_before * (1 - ones)).sum())
        groups = 2 * groups + ones
        order = np.argsort(groups, kind="stable")
        places, groups = places[order], groups[order]
    return total
