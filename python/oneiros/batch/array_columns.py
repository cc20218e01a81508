"""Columns held by NumPy arrays and by lists of Python values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.argument_checks import as_float
from oneiros.batch.columns import Piece, is_missing, native, real_of, require_numbers
from oneiros.batch.times import seconds_of_datetimes
from oneiros.field_checks import plain, wrong
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.batch.codes import Codes
    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["ArrayColumn", "ValueColumn", "array_column"]

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
        self._codes: Codes | None = coders.get(name)
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
