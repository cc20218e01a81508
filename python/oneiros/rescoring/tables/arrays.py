"""Columns of NumPy arrays and of Python values; structured arrays and lists of records as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.model.fields import FIELDS
from oneiros.model.memory import BLANKS, Memory
from oneiros.model.validation import as_float, plain, wrong
from oneiros.rescoring.columns import (
    Column,
    Piece,
    is_missing,
    native,
    number_column,
    real_of,
    seconds_of_datetimes,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.rescoring.columns import Array, Coders

__all__ = ["RecordTable", "StructuredTable", "array_column", "array_of", "value_column"]


_WORDS = "OUT"  # NumPy dtype kinds: object, fixed-width and variable-width text


def value_column(
    name: str, values: Callable[[int, int], Sequence[object]], coders: Coders
) -> Column:
    """Return a column of Python values, each checked by itself.

    Args:
        name: the field; numbers, words, or times in any form that ``add`` takes.
        values: returns the values between two rows.
        coders: the codes of words.
    """
    codes, kind = coders.get(name), FIELDS[name].kind

    def read(start: int, stop: int) -> Piece:
        found = values(start, stop)
        return _numbers(name, found) if codes is None else codes.of(found)

    # Python integers imply no dtype.
    return Column(read, np.dtype(np.float64) if kind in ("float32", "seconds") else None)


def _numbers(name: str, values: Sequence[object]) -> Piece:
    field = FIELDS[name]
    is_time = field.kind == "time"
    found = np.zeros(len(values))
    missing = np.zeros(len(values), np.bool_)
    broken: dict[int, str] = {}
    for place, value in enumerate(values):
        if is_missing(value) and (is_time or not isinstance(value, float)):
            missing[place] = True
            continue
        try:
            found[place] = field.check(value) if is_time else _number(name, value)
        except (TypeError, ValueError) as error:
            broken[place] = str(error)
    return Piece(found, missing if missing.any() else None, broken)


def _number(name: str, value: object) -> float:
    value = plain(value)
    if FIELDS[name].kind == "bool" and isinstance(value, bool):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(wrong(name, "a number", value))
    return as_float(value)


def array_column(name: str, values: npt.NDArray[Any], coders: Coders) -> Column:
    """Wrap an array as a column. ``datetime64`` is taken as UTC, since NumPy has no time zones.

    The masked values of a masked array are missing.

    Raises:
        TypeError: a type that the field does not take.
        ValueError: more than one dimension.
    """
    if values.ndim != 1:
        msg = f"{name}: expected shape (n,), got {values.shape}"
        raise ValueError(msg)
    field, kind = FIELDS[name], values.dtype.kind
    if kind in _WORDS and (name in coders or field.kind == "time" or kind == "O"):
        return value_column(name, lambda start, stop: values[start:stop].tolist(), coders)
    if field.kind == "time" and kind == "M":
        return Column(lambda start, stop: _unmasked(values[start:stop], seconds_of_datetimes))
    return number_column(
        name,
        lambda start, stop: _unmasked(values[start:stop], native),
        kind=kind,
        dtype=values.dtype,
        real=real_of(values.dtype),
    )


def array_of(values: Any) -> npt.NDArray[Any]:
    """Return values as an array, unchanged if it has a mask."""
    return values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def _unmasked(values: npt.NDArray[Any], decode: Callable[[Array], Array]) -> Piece:
    """Return a piece of decoded values, those that are masked missing."""
    if type(values) is np.ndarray:
        return Piece(decode(values))
    mask = np.ma.getmaskarray(values)
    return Piece(decode(np.ma.getdata(values)), mask if mask.any() else None)


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
        return array_column(name, array_of(self._table[name]), coders)

    def result(self, columns: Mapping[str, Array]) -> Array:
        """Return a structured array of ``id`` and ``columns``."""
        found = {"id": self._table["id"], **columns} if "id" in self.names else dict(columns)
        result = np.empty(self.size, [(name, array.dtype) for name, array in found.items()])
        for name, array in found.items():
            result[name] = array
        return result


class RecordTable:
    """A list of records. A field that is None or absent from a record is missing.

    Raises:
        TypeError: a row is neither a mapping nor a ``Memory``.
    """

    are_records = True

    def __init__(self, rows: Sequence[Any]) -> None:
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping | Memory):
                raise TypeError(wrong(f"table[{place}]", "a dict or a Memory", row))
        self._rows = rows
        self.size = len(rows)

    @property
    def names(self) -> tuple[str, ...]:
        """All fields that occur in a record."""
        found = (FIELDS if isinstance(row, Memory) else row for row in self._rows)
        return tuple(dict.fromkeys(str(name) for names in found for name in names))

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if no record has it."""
        if not any(isinstance(row, Memory) or name in row for row in self._rows):
            return None
        return value_column(name, lambda start, stop: self._values(name, start, stop), coders)

    def result(self, columns: Mapping[str, Array]) -> list[dict[str, Any]]:
        """Return dicts of ``id``, if the row has one, and ``columns``."""
        names = list(columns)
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        found = [dict(zip(names, row, strict=True)) for row in values]
        for place, row in enumerate(self._rows):
            id = row.id if isinstance(row, Memory) else row.get("id")
            if id not in (None, ""):
                found[place] = {"id": id, **found[place]}
        return found

    def _values(self, name: str, start: int, stop: int) -> list[Any]:
        blank = BLANKS.get(name)
        found: list[Any] = []
        for row in self._rows[start:stop]:
            if isinstance(row, Memory):
                value = getattr(row, name)
                found.append(None if value == blank else value)
            else:
                found.append(row.get(name))
        return found
