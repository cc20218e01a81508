"""Tables that speak Arrow's C interface: pyarrow's own, and whatever else has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oneiros.batch.arrow_columns import arrow_column

if TYPE_CHECKING:
    import pyarrow as pa

    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["ArrowTable", "arrow_table", "chunked_array", "require_pyarrow"]


class ArrowTable:
    """A table or a record batch of pyarrow."""

    are_records = False

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        self._table = table
        self.size = table.num_rows
        self.names: tuple[str, ...] = tuple(table.schema.names)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None."""
        values = self._chunked(name)
        return None if values is None else arrow_column(name, values, coders)

    def result(self, columns: Mapping[str, Array]) -> pa.Table | pa.RecordBatch:
        """Return a table, or a record batch for one, of ``id`` and ``columns``."""
        id = self._chunked("id")
        found = {} if id is None else {"id": id}
        found |= {name: require_pyarrow().array(array) for name, array in columns.items()}
        if isinstance(self._table, require_pyarrow().RecordBatch):
            found |= {} if id is None else {"id": self._table.column("id")}
            return require_pyarrow().RecordBatch.from_pydict(found)
        return require_pyarrow().table(found)

    def column_type(self, name: str) -> pa.DataType | None:
        """Return the type of a column, of a dictionary-encoded one that of its words, or None."""
        values = self._chunked(name)
        if values is None:
            return None
        held = values.type
        return held.value_type if require_pyarrow().types.is_dictionary(held) else held

    def _chunked(self, name: str) -> pa.ChunkedArray | None:
        places = self._table.schema.get_all_field_indices(name)
        if len(places) > 1:
            msg = f"table: two columns are named {name!r}"
            raise ValueError(msg)
        return chunked_array(name, self._table.column(places[0])) if places else None


def arrow_table(table: Any) -> ArrowTable:
    """Return the table behind ``__arrow_c_array__`` or ``__arrow_c_stream__``; nothing is copied.

    Raises:
        ImportError: pyarrow is missing.
        TypeError: an array that is no record batch.
    """
    pa = require_pyarrow()
    if isinstance(table, pa.Table | pa.RecordBatch):
        return ArrowTable(table)
    try:
        if hasattr(table, "__arrow_c_stream__"):
            return ArrowTable(pa.table(table))
        return ArrowTable(pa.record_batch(table))
    except (pa.ArrowException, TypeError) as error:
        msg = f"table: no table of Arrow: {error}"
        raise TypeError(msg) from error


def chunked_array(name: str, values: Any) -> pa.ChunkedArray:
    """Return an array or stream of arrays as a chunked array; nothing is copied.

    Raises:
        TypeError: a stream of something else.
    """
    pa = require_pyarrow()
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError) as error:
        msg = f"{name}: no column of Arrow: {error}"
        raise TypeError(msg) from error


def require_pyarrow() -> Any:
    """Return pyarrow.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415, ICN001 - an extra
        import pyarrow.compute  # noqa: PLC0415
    except ImportError as error:
        msg = "table: Arrow needs pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    return pyarrow
