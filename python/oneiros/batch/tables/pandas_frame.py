"""Frames of pandas. What pandas calls missing (NaN, NaT, NA, None) is missing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.batch.array_columns import ArrayColumn, ValueColumn, array_column
from oneiros.batch.columns import Piece, native, real_of, taken
from oneiros.batch.tables.series import SeriesColumn, has_words, number_column
from oneiros.batch.times import naive_error, seconds_of_datetimes
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["PandasTable", "pandas_column"]


class PandasTable:
    """A ``DataFrame``.

    Raises:
        TypeError: columns of several levels.
    """

    are_records = False

    def __init__(self, frame: Any) -> None:
        if frame.columns.nlevels > 1:
            msg = "table: expected columns of one level, got a MultiIndex"
            raise TypeError(msg)
        self._frame = frame
        self.size = len(frame)
        self.names = tuple(map(str, frame.columns))

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None."""
        series = self._series(name)
        return None if series is None else pandas_column(name, series, coders)

    def result(self, columns: Mapping[str, Array]) -> Any:
        """Return a ``DataFrame`` of ``id`` and ``columns`` with the same index."""
        frame = sys.modules["pandas"].DataFrame(dict(columns), index=self._frame.index)
        id = self._series("id")
        if id is not None:
            frame.insert(0, "id", id)
        return frame

    def _series(self, name: str) -> Any:
        count = int((self._frame.columns == name).sum())
        if count > 1:
            msg = f"table: two columns are named {name!r}"
            raise ValueError(msg)
        return self._frame[name] if count else None


class _NumberColumn(ArrayColumn):
    """Floats of NumPy, of which NaN is missing."""

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``."""
        piece = super().read(start, stop)
        missing = np.isnan(piece.values)
        if missing.any():
            piece.missing = missing
        return piece


def pandas_column(name: str, series: Any, coders: Coders) -> Column:
    """Return the column that a ``Series`` is.

    Raises:
        TypeError: values of another type than the field's.
        ValueError: times without a time zone.
    """
    pd, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        from oneiros.batch.arrow_columns import arrow_column  # noqa: PLC0415
        from oneiros.batch.tables.arrow import chunked_array  # noqa: PLC0415

        return arrow_column(name, chunked_array(name, series.array.__arrow_array__()), coders)
    if isinstance(dtype, pd.CategoricalDtype):
        if name in coders:
            return SeriesColumn(series.iloc, lambda part: _words(part, coders))
        return pandas_column(name, series.astype(dtype.categories.dtype), coders)
    if FIELDS[name].kind == "time" and isinstance(dtype, pd.DatetimeTZDtype):
        return SeriesColumn(series.iloc, lambda part: Piece(seconds_of_datetimes(_utc(part))))
    if isinstance(dtype, pd.SparseDtype):
        return pandas_column(name, series.sparse.to_dense(), coders)
    if isinstance(dtype, np.dtype):
        return _plain_column(name, series, coders)
    return _extension_column(name, series, coders)


def _plain_column(name: str, series: Any, coders: Coders) -> Column:
    values = series.to_numpy()
    if FIELDS[name].kind == "time" and values.dtype.kind == "M":
        advice = "localise it, as in series.dt.tz_localize('UTC')"
        raise ValueError(naive_error(name, series.dtype, advice))
    column = array_column(name, values, coders)
    is_number = values.dtype.kind == "f" and FIELDS[name].kind != "time"
    return _NumberColumn(values) if is_number else column


def _extension_column(name: str, series: Any, coders: Coders) -> Column:
    """Return a column of masked numbers or of text."""
    is_text = sys.modules["pandas"].api.types.is_string_dtype(series.dtype)
    if is_text and has_words(name, coders):
        return ValueColumn(name, lambda start, stop: series.iloc[start:stop].tolist(), coders)
    held = getattr(series.dtype, "numpy_dtype", np.dtype(object))
    return number_column(
        name,
        series.iloc,
        lambda part: _masked(part, held),
        kind=held.kind,
        dtype=series.dtype,
        real=real_of(held),
    )


def _masked(part: Any, held: np.dtype[Any]) -> Piece:
    missing = part.isna().to_numpy()
    if not missing.any():
        return Piece(native(part.to_numpy(dtype=held)))
    return Piece(native(part.to_numpy(dtype=held, na_value=held.type(0))), missing)


def _words(part: Any, coders: Coders) -> Piece:
    entries = coders[part.name if part.name in coders else "kind"].of(part.cat.categories.tolist())
    codes = part.cat.codes.to_numpy()
    missing = codes < 0
    piece = taken(entries, np.where(missing, 0, codes)) if len(entries.values) else None
    if piece is None:
        return Piece(np.zeros(len(codes)), missing)
    if missing.any():
        piece.missing = missing if piece.missing is None else piece.missing | missing
        piece.broken = {place: why for place, why in piece.broken.items() if not missing[place]}
    return piece


def _utc(part: Any) -> Any:
    return part.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
