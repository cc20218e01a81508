"""The temporal channel: the rows nearest to a stretch of time. Source: docs/systems/omega.md O4."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.channels import ChannelAnswer, RankedList
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.channels import Rows, Scores
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.query.dates import TimeRange

    Times = npt.NDArray[np.float64]

__all__ = ["have_own_dates", "nearest_in_time", "proximity", "times_of"]

_DAY: Final = 86_400.0


def times_of(lifecycle: Lifecycle, rows: Rows) -> Times:
    """Return when what the rows tell of happened, else when they were made; shape (n,), seconds."""
    event, created = lifecycle.column("event_at")[rows], lifecycle.column("created_at")[rows]
    return np.where(np.isnan(event), created, event)


def have_own_dates(lifecycle: Lifecycle, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which rows have a date of their own, not that of their creation alone; shape (n,)."""
    is_missing: npt.NDArray[np.bool_] = np.isnan(lifecycle.column("event_at")[rows])
    return ~is_missing


def _rows_within(lifecycle: Lifecycle, start: float, end: float) -> Rows:
    """Return the rows whose time lies within two others, rising: of all there are, live or not."""
    event, created = lifecycle.column("event_at"), lifecycle.column("created_at")
    created = created[: len(event)]  # it may have grown since
    is_within = (event >= start) & (event <= end)  # none of them NaN
    is_within |= (created >= start) & (created <= end) & np.isnan(event)
    return np.flatnonzero(is_within).astype(np.uint32)


def proximity(times: Times, asked: TimeRange) -> Scores:
    """Return how near times are to a range: 1 in it, above 0 at most its days outside, else 0."""
    found: Scores = _core.evaluate(
        kernel="temporal_proximity",
        inputs=[times, np.full(len(times), asked.start), np.full(len(times), asked.end)],
        parameters={},
        dtype="float64",
        out=None,
        threads=1,
    )
    return found


def nearest_in_time(
    lifecycle: Lifecycle, permitted: Callable[[Rows], Rows], asked: TimeRange, depth: int
) -> ChannelAnswer:
    """Return the rows nearest to a range of time: those in it, then those near it.

    Args:
        lifecycle: the columns.
        permitted: takes rows, rising, to those of them that may be returned.
        asked: the range; an endless one has no rows outside of it.
        depth: most rows to return; of equally near ones, those added first.
    """
    length = asked.end - asked.start
    # At least as far as the kernel's whole days reach; it gives 0 to what is further off.
    reach = length + 2 * _DAY if math.isfinite(length) else 0.0
    near = permitted(_rows_within(lifecycle, asked.start - reach, asked.end + reach))
    scores = proximity(times_of(lifecycle, near), asked)
    best = np.flatnonzero(scores == 1.0)[:depth]
    if len(best) == depth:  # nothing is more: spares the sorting of a long time's memories
        near, scores = near[best], scores[best]
    order = np.argsort(-scores, kind="stable")[:depth]
    order = order[scores[order] > 0.0]

    def score_rows(asked_rows: Rows) -> Scores:
        return proximity(times_of(lifecycle, asked_rows), asked)

    return ChannelAnswer(RankedList(near[order], scores[order]), score_rows)
