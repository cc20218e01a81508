"""Two scores of the same rows, side by side: what a change of profile would change.

Source: docs/systems/ciar.md A11.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.batch.rank_correlation import kendall_tau, top_overlap
from oneiros.batch.scratch import ScratchColumn, parts
from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["Comparison", "Decisions", "Distribution", "Side", "compare_scores"]

_SHARES: Final = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
_BINS: Final = np.arange(11) / 10.0
_MOST_EXAMPLES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side's scores."""

    name: str
    scores: Array
    """Shape (n,), NaN where there is none."""
    threshold: float | None
    """From which score on a row is promoted; None: this side promotes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How one side's scores lie."""

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
    """Which rows either side promotes. A row without a score is promoted by none."""

    both: int
    only_left: int
    only_right: int
    neither: int
    changed_rows: tuple[int, ...]
    """The first rows that one side alone promotes, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changes from the left side to the right one."""

    rows: int
    compared: int
    """Rows that both sides score; tau and overlap are theirs."""
    left: Distribution
    right: Distribution
    decisions: Decisions | None
    """None where a side has no threshold."""
    kendall_tau: float | None
    """Tau-b, in [-1, 1]; None where a side is all ties."""
    top_overlap: dict[int, float]
    """k -> share of the k best rows that both sides have."""


def compare_scores(left: Side, right: Side, *, top: tuple[int, ...] = (10, 100)) -> Comparison:
    """Compare two scores of the same rows.

    Args:
        left: the one before.
        right: the one after, of as many rows.
        top: for how many best rows the overlap is told.

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


def _distribution(side: Side) -> Distribution:
    column = ScratchColumn()
    for (part,) in parts(side.scores):
        column.append(part[~np.isnan(part)].astype(np.float64))
    scores = column.array()
    with np.errstate(over="ignore", invalid="ignore"):  # scores may be as large as they like
        mean = float(scores.mean()) if len(scores) else None
    tenths, _ = np.histogram(scores, _BINS)
    scores.sort()
    at = [max(0, math.ceil(len(scores) * share - 1.0)) for share in _SHARES if len(scores)]
    found = [float(scores[place]) for place in at]
    return Distribution(
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
    counts = np.zeros(4, np.int64)  # by 2 x promoted before + promoted after
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
