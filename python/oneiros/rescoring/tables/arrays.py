"""Tables of NumPy: a dict of arrays, a structured array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.model.fields import FIELDS
from oneiros.model.validation import as_float, plain, wrong
from oneiros.rescoring.columns import (
    Piece,
    is_missing,
    native,
    real_of,
    require_numbers,
    seconds_of_datetimes,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.rescoring.columns import Array, Coders, Column, FieldCodes

__all__ = ["ArrayColumn", "MappingTable", "StructuredTable", "ValueColumn", "array_column"]


_WORDS = "OUT"  # NumPy's kinds of object, fixed-width and variable-width text


class ArrayColumn:
    """An array whose parts are numbers, or become numbers at once.

    Args:
        values: shape (n,).
        convert: makes a part of them contiguous numbers.
        is_plain_time: whether they are times given as numbers.
    """

    def __init__(
        self,
        values: Array,
        convert: Callable[[Array], Array] = native,
        *,
        is_plain_time: bool = False,
    ) -> None:
        self._values = values
        self._convert = convert
        self.is_plain_time = is_plain_time
        is_number = convert is native and not is_plain_time
        self.real = real_of(values.dtype) if is_number else None

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``."""
        return Piece(self._convert(self._values[start:stop]))


class ValueColumn:
    """Python values, each judged by itself: numbers, words, times in any form that ``add`` takes.

    Args:
        name: the field.
        values: gives those from one row to another.
        coders: the numbers of words.
    """

    is_plain_time = False  # each time is judged as it is read

    def __init__(
        self, name: str, values: Callable[[int, int], Sequence[object]], coders: Coders
    ) -> None:
        self._name = name
        self._values = values
        self._codes: FieldCodes | None = coders.get(name)
        kind = FIELDS[name].kind
        self._is_time = kind == "time"
        is_real = kind in ("float32", "seconds")  # integers in Python's values say nothing
        self.real: np.dtype[Any] | None = np.dtype(np.float64) if is_real else None

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``."""
        values = self._values(start, stop)
        if self._codes is not None:
            return self._codes.of(values)
        return self._numbers(values)

    def _numbers(self, values: Sequence[object]) -> Piece:
        found = np.zeros(len(values))
        missing = np.zeros(len(values), np.bool_)
        broken: dict[int, str] = {}
        read = FIELDS[self._name].check if self._is_time else self._number
        for place, value in enumerate(values):
            if is_missing(value) and (self._is_time or not isinstance(value, float)):
                missing[place] = True
                continue
            try:
                found[place] = read(value)
            except (TypeError, ValueError) as error:
                broken[place] = str(error)
        return Piece(found, missing if missing.any() else None, broken)

    def _number(self, value: object) -> float:
        value = plain(value)
        if FIELDS[self._name].kind == "bool" and isinstance(value, bool):
            return float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(wrong(self._name, "a number", value))
        return as_float(value)


def array_column(name: str, values: npt.NDArray[Any], coders: Coders) -> Column:
    """Return the column that an array is.

    ``datetime64`` is taken as UTC: NumPy has no zones.

    Raises:
        TypeError: values of another type than the field's.
        ValueError: more than one dimension.
    """
    if values.ndim != 1:
        msg = f"{name}: expected shape (n,), got {values.shape}"
        raise ValueError(msg)
    field, kind = FIELDS[name], values.dtype.kind
    if kind in _WORDS and (name in coders or field.kind == "time" or kind == "O"):
        return ValueColumn(name, lambda start, stop: values[start:stop].tolist(), coders)
    if field.kind == "time" and kind == "M":
        return ArrayColumn(values, seconds_of_datetimes)
    require_numbers(name, kind, values.dtype)
    return ArrayColumn(values, is_plain_time=field.kind == "time")


class MappingTable:
    """Columns by name: arrays of NumPy or Arrow, series of pandas or polars, lists.

    Raises:
        TypeError: a key is no str, or a column has no length.
        ValueError: columns of different lengths.
    """

    are_records = False

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = columns
        sizes: dict[str, int] = {}
        for name, values in columns.items():
            if not isinstance(name, str):
                msg = f"table: column names are str, got {name!r}"
                raise TypeError(msg)
            if type(values) is np.ndarray and values.ndim:  # the check below takes longer
                sizes[name] = len(values)
                continue
            if isinstance(values, str | bytes) or not isinstance(values, Sized):
                msg = f"{name}: expected an array, got {type(values).__name__}"
                raise TypeError(msg)
            if getattr(values, "shape", None) == ():
                msg = f"{name}: expected shape (n,), got ()"
                raise ValueError(msg)
            sizes[name] = len(values)
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{name} {size}" for name, size in sizes.items())
            msg = f"table: columns must be of one length, got {told}"
            raise ValueError(msg)
        self.size = next(iter(sizes.values()), 0)
        self.names = tuple(columns)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None."""
        values = self._columns.get(name)
        if values is None:
            return None
        if type(values) is np.ndarray:
            return array_column(name, values, coders)
        if isinstance(values, list | tuple):
            return ValueColumn(name, lambda start, stop: values[start:stop], coders)
        home = type(values).__module__.partition(".")[0]
        if home == "pandas" and home in sys.modules:
            from oneiros.rescoring.tables.frames import pandas_column  # noqa: PLC0415

            return pandas_column(name, sys.modules[home].Series(values), coders)
        if home == "polars" and home in sys.modules:
            from oneiros.rescoring.tables.frames import polars_column  # noqa: PLC0415

            return polars_column(name, values, coders)
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            from oneiros.rescoring.tables.arrow import (  # noqa: PLC0415
                arrow_column,
                chunked_array,
            )

            return arrow_column(name, chunked_array(name, values), coders)
        return array_column(name, np.asarray(values), coders)

    def result(self, columns: Mapping[str, Array]) -> dict[str, Any]:
        """Return a dict of ``id``, as it was given, and ``columns``."""
        id = {"id": self._columns["id"]} if "id" in self._columns else {}
        return {**id, **columns}


class StructuredTable:
    """A structured array.

    Raises:
        TypeError: an array without fields.
        ValueError: more than one dimension.
    """

    are_records = False

    def __init__(self, table: Array) -> None:
        if table.dtype.names is None:
            msg = f"table: expected a structured array (fields with names), got {table.dtype}"
            raise TypeError(msg)
        if table.ndim != 1:
            msg = f"table: expected shape (n,), got {table.shape}"
            raise ValueError(msg)
        self._table = table
        self.names: tuple[str, ...] = table.dtype.names
        self.size = len(table)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None."""
        if name not in self.names:
            return None
        return array_column(name, np.asarray(self._table[name]), coders)

    def result(self, columns: Mapping[str, Array]) -> Array:
        """Return a structured array of ``id`` and ``columns``."""
        found = {"id": self._table["id"], **columns} if "id" in self.names else dict(columns)
        made = np.empty(self.size, [(name, array.dtype) for name, array in found.items()])
        for name, array in found.items():
            made[name] = array
        return made
