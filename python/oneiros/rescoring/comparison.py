"""Comparison of two scores of the same rows, and rank correlation."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "PART",
    "Comparison",
    "Decisions",
    "ScoreDistribution",
    "ScratchColumn",
    "Side",
    "compare_scores",
    "kendall_tau",
    "parts",
    "scratch_array",
    "top_overlap",
]


if TYPE_CHECKING:
    Array = npt.NDArray[Any]


PART = 1 << 18
"""Number of elements processed at once."""

_MOST_IN_MEMORY = 64 << 20  # bytes of one array that stay in memory


def scratch_array(size: int, dtype: npt.DTypeLike) -> Array:
    """Return an uninitialised array; a large one is mapped to a file, so that it can be paged out.

    Raises:
        OSError: the directory for temporary files (TMPDIR) is full.
    """
    item = np.dtype(dtype)
    if size * item.itemsize <= _MOST_IN_MEMORY:
        return np.empty(size, item)
    with tempfile.TemporaryFile(prefix="oneiros-") as file:
        file.truncate(size * item.itemsize)
        return np.memmap(file, item, "r+", shape=(size,))


def parts(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Yield aligned slices of arrays of equal length."""
    for start in range(0, len(arrays[0]), PART):
        yield tuple(np.asarray(array[start : start + PART]) for array in arrays)


class ScratchColumn:
    """A column that grows in pieces, all of one dtype."""

    def __init__(self) -> None:
        self._pieces: list[Array] = []
        self._piece_bytes = 0
        self._file: BinaryIO | None = None
        self._size = 0
        self._dtype: np.dtype[Any] = np.dtype(np.float64)

    def append(self, piece: Array) -> None:
        """Add a piece, shape (n,).

        Raises:
            OSError: the directory for temporary files is full.
        """
        if not len(piece):
            return
        self._dtype = piece.dtype
        self._size += len(piece)
        self._pieces.append(piece)
        self._piece_bytes += piece.nbytes
        if self._piece_bytes > _MOST_IN_MEMORY:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="oneiros-")  # noqa: SIM115 - array()
            self._write(self._file)

    def array(self) -> Array:
        """Return the whole column. Must be the last call."""
        if self._file is None:
            return np.concatenate(self._pieces) if self._pieces else np.empty(0, self._dtype)
        with self._file as file:
            self._write(file)
            file.flush()
            return np.memmap(file, self._dtype, "r+", shape=(self._size,))

    def _write(self, file: BinaryIO) -> None:
        file.writelines(np.ascontiguousarray(piece).data for piece in self._pieces)
        self._pieces.clear()
        self._piece_bytes = 0


_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)


def kendall_tau(left: Array, right: Array) -> float | None:
    """Return Kendall's tau-b, exact on ties; large arrays are sorted in temporary files.

    Args:
        left: numbers without NaN, shape (n,), fewer than 2 ** 32.
        right: as ``left``, of the same length.

    Returns:
        In [-1, 1], from exact pair counts; None if one side is all ties, or n < 2.

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
    places = left_places  # reused: places of the right side, in the order of the left one
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
    """Return the share of the ``k`` best rows common to both sides; ties go to the earlier row.

    Args:
        left: numbers without NaN, shape (n,).
        right: as ``left``, of the same length.
        k: at least 1; with fewer rows, all of them.

    Returns:
        In [0, 1]; None without rows.
    """
    if not len(left):
        return None
    best = [set(_best_rows(side, k).tolist()) for side in (left, right)]
    return len(best[0] & best[1]) / len(best[0])


def _best_rows(scores: Array, k: int) -> Array:
    best, rows, start = scores[:0], np.zeros(0, np.int64), 0
    for (part,) in parts(scores):
        # Among equal scores the earlier row stays.
        places = np.flatnonzero(part > best[-1]) if len(best) == k else np.arange(len(part))
        best = np.concatenate([best, part[places]])
        rows = np.concatenate([rows, start + places])
        order = np.argsort(-best, kind="stable")[:k]
        best, rows = best[order], rows[order]
        start += PART
    return rows


def _placed(values: Array) -> tuple[int, Array]:
    """Return the number of tied pairs, and for each value the number of smaller values."""
    ordered = scratch_array(len(values), values.dtype)
    for into, part in parts(ordered, values):
        into[:] = part
    ordered.sort()
    places = scratch_array(len(values), np.uint32)
    for into, part in parts(places, values):
        into[:] = np.searchsorted(ordered, part)
    return _tied_pairs(ordered), places


def _tied_pairs(ordered: Array) -> int:
    """Return the number of equal pairs. REQUIRES: equal values are adjacent."""
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
    """Return the number of inverted pairs, and sort ``places`` in place."""
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
    """Return the number of inverted pairs.

    Goes bit by bit from the highest: within each group that agrees in all higher bits (in original
    order), counts the ones before each zero, then splits the group into zeros and ones.
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


_SHARES: Final = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_BINS: Final = np.arange(11) / 10.0
_MOST_EXAMPLES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The scores of one side."""

    name: str
    scores: Array
    """Shape (n,), NaN for unscored rows."""
    threshold: float | None
    """Rows with at least this score are promoted; None: no promotion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistribution:
    """The distribution of one side's scores."""

    name: str
    threshold: float | None
    scored: int
    unscored: int
    """Rows whose score is NaN."""
    mean: float | None
    quantiles: dict[str, float]
    """Share of the rows -> the score that they do not exceed; empty without scores."""
    below_zero: int
    tenths: tuple[int, ...]
    """Rows in [0, 0.1), [0.1, 0.2) and so on to [0.9, 1]."""
    above_one: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Promotions by side. A row without a score is not promoted."""

    both: int
    only_left: int
    only_right: int
    neither: int
    changed_rows: tuple[int, ...]
    """The first rows that only one side promotes, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between the left and the right side."""

    rows: int
    compared: int
    """Rows scored by both sides; ``kendall_tau`` and ``top_overlap`` refer to these."""
    left: ScoreDistribution
    right: ScoreDistribution
    decisions: Decisions | None
    """None if a side has no threshold."""
    kendall_tau: float | None
    """Tau-b, in [-1, 1]; None if a side is all ties."""
    top_overlap: dict[int, float]
    """k -> share of the k best rows common to both sides."""


def compare_scores(left: Side, right: Side, *, top: tuple[int, ...] = (10, 100)) -> Comparison:
    """Compare two scores of the same rows.

    Args:
        left: the side before.
        right: the side after, with the same number of rows.
        top: the values of k for ``top_overlap``.

    Raises:
        ValueError: the sides differ in length.
    """
    if left.scores.shape != right.scores.shape:
        msg = f"scores: expected as many on both sides, got {left.scores.shape} and "
        raise ValueError(msg + str(right.scores.shape))
    pair = _scored_by_both(left.scores, right.scores)
    overlaps = {k: top_overlap(*pair, k) for k in top}
    return Comparison(
        rows=len(left.scores),
        compared=len(pair[0]),
        left=_distribution(left),
        right=_distribution(right),
        decisions=_decisions(left, right),
        kendall_tau=kendall_tau(*pair),
        top_overlap={k: share for k, share in overlaps.items() if share is not None},
    )


def _distribution(side: Side) -> ScoreDistribution:
    column = ScratchColumn()
    for (part,) in parts(side.scores):
        column.append(part[~np.isnan(part)].astype(np.float64))
    scores = column.array()
    with np.errstate(over="ignore", invalid="ignore"):  # the sum of large scores may overflow
        mean = float(scores.mean()) if len(scores) else None
    tenths, _ = np.histogram(scores, _BINS)
    scores.sort()
    at = [max(0, math.ceil(len(scores) * share - 1.0)) for share in _SHARES if len(scores)]
    found = [float(scores[place]) for place in at]
    return ScoreDistribution(
        name=side.name,
        threshold=side.threshold,
        scored=len(scores),
        unscored=len(side.scores) - len(scores),
        mean=mean,
        quantiles={f"{share:g}": value for share, value in zip(_SHARES, found, strict=False)},
        below_zero=int(np.searchsorted(scores, 0.0)),
        tenths=tuple(tenths.tolist()),
        above_one=len(scores) - int(np.searchsorted(scores, 1.0, side="right")),
    )


def _decisions(left: Side, right: Side) -> Decisions | None:
    if left.threshold is None or right.threshold is None:
        return None
    counts = np.zeros(4, np.int64)  # index: 2 x promoted before + promoted after
    changed: list[int] = []
    start = 0
    for before_part, after_part in parts(left.scores, right.scores):
        before, after = before_part >= left.threshold, after_part >= right.threshold
        counts += np.bincount(2 * before + after, minlength=4)
        if len(changed) < _MOST_EXAMPLES:
            changed += (start + np.flatnonzero(before != after)[:_MOST_EXAMPLES]).tolist()
        start += len(before)
    neither, only_right, only_left, both = counts.tolist()
    return Decisions(
        both=both,
        only_left=only_left,
        only_right=only_right,
        neither=neither,
        changed_rows=tuple(changed[:_MOST_EXAMPLES]),
    )


def _scored_by_both(left: Array, right: Array) -> tuple[Array, Array]:
    columns = ScratchColumn(), ScratchColumn()
    for first, second in parts(left, right):
        is_scored = ~(np.isnan(first) | np.isnan(second))
        columns[0].append(first[is_scored])
        columns[1].append(second[is_scored])
    return columns[0].array(), columns[1].array()
