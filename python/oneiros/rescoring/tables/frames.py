"""Tables of pandas and polars.

Missing values are what pandas calls missing, and nulls in polars, where NaN is a value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.model.fields import FIELDS
from oneiros.rescoring.columns import (
    Column,
    Piece,
    all_missing,
    naive_error,
    native,
    number_column,
    real_of,
    seconds_of_datetimes,
    seconds_of_ticks,
    taken,
)
from oneiros.rescoring.tables.arrays import array_column, value_column
from oneiros.rescoring.tables.arrow import arrow_column, chunked_array
from oneiros.runtime.dataclasses import replace

if TYPE_CHECKING:
    from oneiros.rescoring.columns import Array, Coders

__all__ = ["PandasTable", "PolarsTable", "pandas_column", "polars_column"]


_WIDE = ("Int128", "UInt128")  # NumPy has no such integers


def _has_words(name: str, coders: Coders) -> bool:
    """Return whether text in a field's column is parsed: as words with codes, or as times."""
    return name in coders or FIELDS[name].kind == "time"


def _reader(rows: Any, decode: Callable[[Any], Piece]) -> Callable[[int, int], Piece]:
    """Return the ``read`` of a column of ``rows``, of which ``rows[start:stop]`` is a series."""
    return lambda start, stop: decode(rows[start:stop])


class PandasTable:
    """A pandas ``DataFrame``.

    Raises:
        TypeError: columns with several levels.
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
        """Return the column of a field, or None if there is none."""
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


def _with_nan(piece: Piece) -> Piece:
    """Return NumPy floats, in which NaN is a missing value for pandas."""
    missing = np.isnan(piece.values)
    return replace(piece, missing=missing) if missing.any() else piece


def pandas_column(name: str, series: Any, coders: Coders) -> Column:
    """Wrap a pandas ``Series`` as a column.

    Raises:
        TypeError: a type that the field does not take.
        ValueError: times without a time zone.
    """
    pd, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_column(name, chunked_array(name, series.array.__arrow_array__()), coders)
    if isinstance(dtype, pd.CategoricalDtype):
        if name in coders:
            codes = coders[name]
            return Column(_reader(series.iloc, lambda part: _words(part, codes.of)))
        return pandas_column(name, series.astype(dtype.categories.dtype), coders)
    if FIELDS[name].kind == "time" and isinstance(dtype, pd.DatetimeTZDtype):
        return Column(_reader(series.iloc, lambda part: Piece(seconds_of_datetimes(_utc(part)))))
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
    if values.dtype.kind != "f" or FIELDS[name].kind == "time":
        return column
    return replace(column, read=lambda start, stop: _with_nan(column.read(start, stop)))


def _extension_column(name: str, series: Any, coders: Coders) -> Column:
    """Return a column of masked numbers or of text."""
    is_text = sys.modules["pandas"].api.types.is_string_dtype(series.dtype)
    if is_text and _has_words(name, coders):
        return value_column(name, lambda start, stop: series.iloc[start:stop].tolist(), coders)
    dtype = getattr(series.dtype, "numpy_dtype", np.dtype(object))
    return number_column(
        name,
        _reader(series.iloc, lambda part: _masked(part, dtype)),
        kind=dtype.kind,
        dtype=series.dtype,
        real=real_of(dtype),
    )


def _masked(part: Any, dtype: np.dtype[Any]) -> Piece:
    missing = part.isna().to_numpy()
    if not missing.any():
        return Piece(native(part.to_numpy(dtype=dtype)))
    return Piece(native(part.to_numpy(dtype=dtype, na_value=dtype.type(0))), missing)


def _words(part: Any, encode: Callable[[list[object]], Piece]) -> Piece:
    entries = encode(part.cat.categories.tolist())
    codes = part.cat.codes.to_numpy()
    missing = codes < 0
    if not len(entries.values):
        return Piece(np.zeros(len(codes)), missing)
    return taken(entries, np.where(missing, 0, codes), missing)


def _utc(part: Any) -> Any:
    return part.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()


class PolarsTable:
    """A polars ``DataFrame``."""

    are_records = False

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.size = frame.height
        self.names: tuple[str, ...] = tuple(frame.columns)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if there is none."""
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
    """Wrap a polars ``Series`` as a column.

    Raises:
        TypeError: a type that the field does not take.
        ValueError: times without a time zone.
    """
    pl, dtype, kind = sys.modules["polars"], series.dtype, FIELDS[name].kind
    if dtype == pl.Null:
        return Column(_reader(series, lambda part: all_missing(len(part))))
    is_text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    if is_text and _has_words(name, coders):
        return value_column(
            name,
            lambda start, stop: series.slice(start, stop - start).cast(pl.String).to_list(),
            coders,
        )
    if kind == "time" and isinstance(dtype, pl.Datetime):
        if dtype.time_zone is None:
            advice = "give it one, as in column.dt.replace_time_zone('UTC')"
            raise ValueError(naive_error(name, dtype, advice))
        return Column(_reader(series, lambda part: _times(part, dtype.time_unit)))
    if isinstance(dtype, pl.Decimal) and kind in ("float32", "seconds"):
        return polars_column(name, series.cast(pl.Float64), coders)
    return _number_column(name, series)


def _number_column(name: str, series: Any) -> Column:
    pl, dtype = sys.modules["polars"], series.dtype
    number = "f" if dtype.is_float() else "i" if dtype.is_integer() else ""
    real = np.dtype(np.float64 if dtype == pl.Float64 else np.float32)
    return number_column(
        name,
        _reader(series, _number),
        kind="b" if dtype == pl.Boolean else number,
        dtype=dtype,
        real=real if number == "f" else None,
    )


def _number(part: Any) -> Piece:
    if str(part.dtype) in _WIDE:
        part = part.cast(sys.modules["polars"].Float64)
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
