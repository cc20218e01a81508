"""Frames of polars. Nulls are missing; NaN is a value, as polars has it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.batch.array_columns import ValueColumn
from oneiros.batch.columns import Piece, all_missing, native
from oneiros.batch.tables.series import SeriesColumn, has_words, number_column
from oneiros.batch.times import naive_error, seconds_of_ticks
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["PolarsTable", "polars_column"]


class PolarsTable:
    """A ``DataFrame``."""

    are_records = False

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.size = frame.height
        self.names: tuple[str, ...] = tuple(frame.columns)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None."""
        if name not in self.names:
            return None
        return polars_column(name, self._frame.get_column(name), coders)

    def result(self, columns: Mapping[str, Array]) -> Any:
        """Return a ``DataFrame`` of ``id`` and ``columns``."""
        found: dict[str, Any] = dict(columns)
        if "id" in self.names:
            found = {"id": self._frame.get_column("id"), **found}
        return sys.modules["polars"].DataFrame(found)


def polars_column(name: str, series: Any, coders: Coders) -> Column:
    """Return the column that a ``Series`` is.

    Raises:
        TypeError: values of another type than the field's.
        ValueError: times without a time zone.
    """
    pl, dtype, kind = sys.modules["polars"], series.dtype, FIELDS[name].kind
    if dtype == pl.Null:
        return SeriesColumn(series, lambda part: all_missing(len(part)))
    is_text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    if is_text and has_words(name, coders):
        return ValueColumn(
            name,
            lambda start, stop: series.slice(start, stop - start).cast(pl.String).to_list(),
            coders,
        )
    if kind == "time" and isinstance(dtype, pl.Datetime):
        if dtype.time_zone is None:
            advice = "give it one, as in column.dt.replace_time_zone('UTC')"
            raise ValueError(naive_error(name, dtype, advice))
        return SeriesColumn(series, lambda part: _times(part, dtype.time_unit))
    if isinstance(dtype, pl.Decimal) and kind in ("float32", "seconds"):
        return polars_column(name, series.cast(pl.Float64), coders)
    return _number_column(name, series)


def _number_column(name: str, series: Any) -> Column:
    pl, dtype = sys.modules["polars"], series.dtype
    number = "f" if dtype.is_float() else "i" if dtype.is_integer() else ""
    real = np.dtype(np.float64 if dtype == pl.Float64 else np.float32)
    return number_column(
        name,
        series,
        _number,
        kind="b" if dtype == pl.Boolean else number,
        dtype=dtype,
        real=real if number == "f" else None,
    )


def _number(part: Any) -> Piece:
    if not part.null_count():
        return Piece(native(part.to_numpy()))
    zero = False if part.dtype == sys.modules["polars"].Boolean else 0
    return Piece(native(part.fill_null(zero).to_numpy()), part.is_null().to_numpy())


def _times(part: Any, unit: str) -> Piece:
    ticks = part.to_physical()
    if not ticks.null_count():
        return Piece(seconds_of_ticks(ticks.to_numpy(), unit))
    seconds = seconds_of_ticks(ticks.fill_null(0).to_numpy(), unit)
    return Piece(seconds, ticks.is_null().to_numpy())
