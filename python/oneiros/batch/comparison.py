"""Two scores of the same rows, side by side: what a change of profile would change.

Source: docs/systems/ciar.md A11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.batch.rank_correlation import kendall_tau, top_overlap

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
    is_scored = ~(np.isnan(left.scores) | np.isnan(right.scores))
    pair = left.scores[is_scored], right.scores[is_scored]
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
    scores = side.scores[~np.isnan(side.scores)].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # scores may be as large as they like
        mean = float(scores.mean()) if len(scores) else None
    tenths, _ = np.histogram(scores, _BINS)
    found: list[float] = []
    if len(scores):
        found = np.quantile(scores, _SHARES, method="inverted_cdf").tolist()
    return Distribution(
        name=side.name,
        threshold=side.threshold,
        scored=len(scores),
        unscored=len(side.scores) - len(scores),
        mean=mean,
        quantiles={f"{share:g}": value for share, value in zip(_SHARES, found, strict=False)},
        below_zero=int((scores < 0.0).sum()),
        tenths=tuple(tenths.tolist()),
        above_one=int((scores > 1.0).sum()),
    )


def _decisions(left: Side, right: Side) -> Decisions | None:
    if left.threshold is None or right.threshold is None:
        return None
    before, after = left.scores >= left.threshold, right.scores >= right.threshold
    changed = np.flatnonzero(before != after)
    return Decisions(
        both=int((before & after).sum()),
        only_left=int((before & ~after).sum()),
        only_right=int((after & ~before).sum()),
        neither=int((~before & ~after).sum()),
        changed_rows=tuple(changed[:_MOST_EXAMPLES].tolist()),
    )
