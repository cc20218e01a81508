"""Ranges over whole columns, one comparison an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Column", "in_time", "measured"]

Column: TypeAlias = "npt.NDArray[Any]"


def in_time(
    name: str, start: float | None, end: float | None, column_of: Callable[[str], Column]
) -> npt.NDArray[np.bool_]:
    """Tell which rows have the time of this name in [start, end); no time is in no range."""
    if name != "occurred_at":
        return _within(column_of(name), start, end)
    event, created = column_of("event_at"), column_of("created_at")
    count = min(len(event), len(created))  # rows may be appended between the two
    event, created = event[:count], created[:count]
    # Not np.where over the times: that branches a row, at six times the cost.
    return _within(event, start, end) | (np.isnan(event) & _within(created, start, end))


def _within(seconds: Column, start: float | None, end: float | None) -> npt.NDArray[np.bool_]:
    """NaN, the missing time, compares false with both ends, and with none it must be told."""
    if start is None and end is None:
        return ~np.isnan(seconds)
    inside = np.ones(len(seconds), np.bool_) if start is None else seconds >= start
    if end is not None:
        inside &= seconds < end
    return inside


def measured(values: Column, low: float | None, high: float | None) -> npt.NDArray[np.bool_]:
    """Tell which values lie in [low, high]; NaN does not.

    Both ends count, rounded to the column's own dtype: 0.8 matches a stored float32 of 0.8.
    """
    inside = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    with np.errstate(over="ignore"):  # a bound beyond float32 is as good as an infinite one
        if low is not None:
            inside &= values >= low
        if high is not None:
            inside &= values <= high
    return inside
