"""Tables that are NumPy's: a dict of arrays, a structured array."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.batch.array_columns import ValueColumn, array_column

if TYPE_CHECKING:
    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["MappingTable", "StructuredTable"]


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
            from oneiros.batch.tables.pandas_frame import pandas_column  # noqa: PLC0415

            return pandas_column(name, sys.modules[home].Series(values), coders)
        if home == "polars" and home in sys.modules:
            from oneiros.batch.tables.polars_frame import polars_column  # noqa: PLC0415

            return polars_column(name, values, coders)
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            from oneiros.batch.arrow_columns import arrow_column  # noqa: PLC0415
            from oneiros.batch.tables.arrow import chunked_array  # noqa: PLC0415

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
