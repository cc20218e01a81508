"""Tables of NumPy, Arrow, pandas, polars and plain Python. Results have the form of the input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.rescoring.tables.arrays import (
    RecordTable,
    StructuredTable,
    array_column,
    array_of,
    value_column,
)
from oneiros.rescoring.tables.arrow import arrow_column, arrow_table, chunked_array
from oneiros.rescoring.tables.frames import (
    PandasTable,
    PolarsTable,
    pandas_column,
    polars_column,
)

if TYPE_CHECKING:
    from oneiros.rescoring.columns import Array, Coders, Column, ColumnTable

__all__ = ["MappingTable", "open_table"]


_FORMS = (
    "a dict of arrays, a structured array, dicts or Memory, "
    "an Arrow table or record batch, a pandas or polars frame"
)


def open_table(table: Any) -> ColumnTable:
    """Wrap a table of any supported form without reading it.

    Never imports pandas or polars: a caller that passes their frames has imported them.

    Raises:
        TypeError: an unsupported form.
        ImportError: an Arrow table, but pyarrow is not installed.
        ValueError: columns of different lengths.
    """
    if isinstance(table, Mapping):
        return MappingTable(table)
    if isinstance(table, np.ndarray):
        return StructuredTable(table)
    if _is_instance("pandas", "DataFrame", table):
        return PandasTable(table)
    if _is_instance("polars", "DataFrame", table):
        return PolarsTable(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return arrow_table(table)
    is_lazy = _is_instance("polars", "LazyFrame", table)
    if is_lazy or isinstance(table, str | bytes) or not isinstance(table, Iterable):
        advice = "; collect() it first" if is_lazy else ""
        msg = f"table: expected {_FORMS}, got {type(table).__name__}{advice}"
        raise TypeError(msg)
    return RecordTable(table if isinstance(table, list | tuple) else list(table))


def _is_instance(package: str, name: str, table: object) -> bool:
    kind = getattr(sys.modules.get(package), name, None)
    return isinstance(kind, type) and isinstance(table, kind)


class MappingTable:
    """Columns by name: arrays of NumPy or Arrow, series of pandas or polars, lists.

    Raises:
        TypeError: a key that is not a str, or a column without a length.
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
            if type(values) is np.ndarray and values.ndim:  # faster than the checks below
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
            lengths = ", ".join(f"{name} {size}" for name, size in sizes.items())
            msg = f"table: columns must be of one length, got {lengths}"
            raise ValueError(msg)
        self.size = next(iter(sizes.values()), 0)
        self.names = tuple(columns)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if there is none."""
        values = self._columns.get(name)
        if values is None:
            return None
        if type(values) is np.ndarray:
            return array_column(name, values, coders)
        if isinstance(values, list | tuple):
            return value_column(name, lambda start, stop: values[start:stop], coders)
        home = type(values).__module__.partition(".")[0]
        if home == "pandas" and home in sys.modules:
            return pandas_column(name, sys.modules[home].Series(values), coders)
        if home == "polars" and home in sys.modules:
            return polars_column(name, values, coders)
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            return arrow_column(name, chunked_array(name, values), coders)
        return array_column(name, array_of(values), coders)

    def result(self, columns: Mapping[str, Array]) -> dict[str, Any]:
        """Return a dict of ``id``, unchanged, and ``columns``."""
        id = {"id": self._columns["id"]} if "id" in self._columns else {}
        return {**id, **columns}
