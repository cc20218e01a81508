"""Tables in the forms of NumPy, Arrow, pandas, polars and plain Python. The result has the form of the input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.rescoring.tables.arrays import MappingTable, StructuredTable
from oneiros.rescoring.tables.records import RecordTable

if TYPE_CHECKING:
    from oneiros.rescoring.columns import ColumnTable

__all__ = ["open_table"]


_FORMS = (
    "a dict of arrays, a structured array, dicts or Memory, "
    "an Arrow table or record batch, a pandas or polars frame"
)


def open_table(table: Any) -> ColumnTable:
    """Return the table behind any of the forms. Nothing is read yet.

    pandas and polars are never imported here: who gives their frames has imported them.

    Raises:
        TypeError: none of the forms.
        ImportError: an Arrow table without pyarrow to read it.
        ValueError: columns of different lengths.
    """
    if isinstance(table, Mapping):
        return MappingTable(table)
    if isinstance(table, np.ndarray):
        return StructuredTable(table)
    if _is_one("pandas", "DataFrame", table):
        from oneiros.rescoring.tables.frames import PandasTable  # noqa: PLC0415

        return PandasTable(table)
    if _is_one("polars", "DataFrame", table):
        from oneiros.rescoring.tables.frames import PolarsTable  # noqa: PLC0415

        return PolarsTable(table)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        from oneiros.rescoring.tables.arrow import arrow_table  # noqa: PLC0415

        return arrow_table(table)
    is_lazy = _is_one("polars", "LazyFrame", table)
    if is_lazy or isinstance(table, str | bytes) or not isinstance(table, Iterable):
        advice = "; collect() it first" if is_lazy else ""
        msg = f"table: expected {_FORMS}, got {type(table).__name__}{advice}"
        raise TypeError(msg)
    return RecordTable(table if isinstance(table, list | tuple) else list(table))


def _is_one(package: str, name: str, table: object) -> bool:
    kind = getattr(sys.modules.get(package), name, None)
    return isinstance(kind, type) and isinstance(table, kind)
