"""How alike two orders are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.batch.scratch import PART, parts, scratch_array

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["kendall_tau", "top_overlap"]


_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)


def kendall_tau(left: Array, right: Array) -> float | None:
    """Return Kendall's tau-b, exact on ties; large sides are ordered in temporary files.

    Args:
        left: numbers without NaN, shape (n,), fewer than 2 ** 32.
        right: likewise.

    Returns:
        In [-1, 1], from exact counts of pairs; None where one side is all ties, or n < 2.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); the
    count of swaps as W. R. Knight, JASA 61 (1966).
    """
    size = len(left)
    pairs = math.comb(size, 2)
    left_ties, left_places = _placed(left)
    right_ties, right_places = _placed(right)
    keys = scratch_array(size, np.uint64)
    for key, first, second in parts(keys, left_places, right_places):
        key[:] = first.astype(np.uint64) << _HALF | second
    keys.sort()
    both_ties = _tied_pairs(keys)
    if pairs in (left_ties, right_ties):
        return None
    places = left_places  # of the right side, in the order of the left one
    for place, key in parts(places, keys):
        place[:] = (key & _LOWER).astype(places.dtype)
    swaps = _inversions(places)
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
    best = [set(_best_rows(side, k).tolist()) for side in (left, right)]
    return len(best[0] & best[1]) / len(best[0])


def _best_rows(scores: Array, k: int) -> Array:
    best, rows, start = scores[:0], np.zeros(0, np.int64), 0
    for (part,) in parts(scores):
        # Of those that score the same the earlier row stays.
        places = np.flatnonzero(part > best[-1]) if len(best) == k else np.arange(len(part))
        best = np.concatenate([best, part[places]])
        rows = np.concatenate([rows, start + places])
        order = np.argsort(-best, kind="stable")[:k]
        best, rows = best[order], rows[order]
        start += PART
    return rows


def _placed(values: Array) -> tuple[int, Array]:
    """Return the tied pairs, and of each value how many are less."""
    ordered = scratch_array(len(values), values.dtype)
    for into, part in parts(ordered, values):
        into[:] = part
    ordered.sort()
    places = scratch_array(len(values), np.uint32)
    for into, part in parts(places, values):
        into[:] = np.searchsorted(ordered, part)
    return _tied_pairs(ordered), places


def _tied_pairs(ordered: Array) -> int:
    """Return how many pairs are equal. REQUIRES: equal ones stand together."""
    total, run, last = 0, 0, None
    for (part,) in parts(ordered):
        bounds = np.flatnonzero(part[1:] != part[:-1]) + 1
        runs = np.diff(np.concatenate([[0], bounds, [len(part)]]))
        lengths = [int(runs[0]), int(runs[-1])] if len(runs) > 1 else [int(runs[0])]
        if last is not None and part[0] == last:
            lengths[0] += run
        else:
            total += math.comb(run, 2)
        if len(lengths) > 1:
            within = runs[1:-1]
            total += math.comb(lengths[0], 2) + int((within * (within - 1) // 2).sum())
        run, last = lengths[-1], part[-1]
    return total + math.comb(run, 2)


def _inversions(places: Array) -> int:
    """Return how many pairs stand in falling order; puts them into rising order."""
    total = 0
    for (part,) in parts(places):
        total += _inversions_of(np.unique(part, return_inverse=True)[1].astype(np.int64))
        part.sort()
    width = PART
    while width < len(places):
        for middle in range(width, len(places), 2 * width):
            earlier, later = places[middle - width : middle], places[middle : middle + width]
            for (part,) in parts(later):
                not_above = np.searchsorted(earlier, part, side="right")
                total += len(earlier) * len(part) - int(not_above.sum())
            places[middle - width : middle + width].sort()
        width *= 2
    return total


def _inversions_of(places: Array) -> int:
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
