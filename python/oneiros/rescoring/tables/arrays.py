"""Columns of NumPy arrays and of Python values; structured arrays as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

__all__ = ["ArrayColumn", "StructuredTable", "ValueColumn", "array_column"]


_WORDS = "OUT"  # NumPy dtype kinds: object, fixed-width and variable-width text


class ArrayColumn:
    """An array of numbers, or of values that are converted to numbers piece by piece.

    Args:
        values: shape (n,).
        convert: converts a slice to contiguous numbers.
        is_plain_time: whether they are times given as plain numbers.
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
    """Python values, each checked by itself: numbers, words, times in any form that ``add`` takes.

    Args:
        name: the field.
        values: returns the values between two rows.
        coders: the codes of words.
    """

    is_plain_time = False  # each time is checked as it is read

    def __init__(
        self, name: str, values: Callable[[int, int], Sequence[object]], coders: Coders
    ) -> None:
        self._name = name
        self._values = values
        self._codes: FieldCodes | None = coders.get(name)
        kind = FIELDS[name].kind
        self._is_time = kind == "time"
        is_real = kind in ("float32", "seconds")  # Python integers imply no dtype
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
    """Wrap an array as a column. ``datetime64`` is taken as UTC, since NumPy has no time zones.

    Raises:
        TypeError: a type that the field does not take.
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
        """Return the column of a field, or None if there is none."""
        if name not in self.names:
            return None
        return array_column(name, np.asarray(self._table[name]), coders)

    def result(self, columns: Mapping[str, Array]) -> Array:
        """Return a structured array of ``id`` and ``columns``."""
        found = {"id": self._table["id"], **columns} if "id" in self.names else dict(columns)
        result = np.empty(self.size, [(name, array.dtype) for name, array in found.items()])
        for name, array in found.items():
            result[name] = array
        return result
