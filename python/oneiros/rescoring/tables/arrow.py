"""Tables with Arrow's C interface; columns without nulls are not copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros._lazy import needed
from oneiros.model.fields import FIELDS
from oneiros.rescoring.columns import (
    Column,
    Piece,
    all_missing,
    naive_error,
    native,
    number_column,
    real_of,
    seconds_of_ticks,
    taken,
)
from oneiros.rescoring.tables.arrays import value_column

if TYPE_CHECKING:
    import pyarrow as pa

    from oneiros.rescoring.columns import Array, Coders

__all__ = [
    "ArrowTable",
    "arrow_column",
    "arrow_table",
    "chunked_array",
    "require_pyarrow",
]


def _reader(
    values: pa.ChunkedArray, decode: Callable[[pa.Array], Piece]
) -> Callable[[int, int], Piece]:
    """Return the ``read`` of a column; rows of one chunk are not copied.

    Args:
        values: all rows.
        decode: converts an unchunked array to a piece.
    """

    def read(start: int, stop: int) -> Piece:
        part = values.slice(start, stop - start)
        chunks = [chunk for chunk in part.chunks if len(chunk)]
        if not chunks:
            return Piece(np.zeros(0))
        return decode(chunks[0] if len(chunks) == 1 else require_pyarrow().concat_arrays(chunks))

    return read


def arrow_column(name: str, values: pa.ChunkedArray, coders: Coders) -> Column:
    """Wrap an Arrow column. Nulls are missing values.

    Raises:
        TypeError: a type that the field does not take.
        ValueError: timestamps without a time zone.
    """
    pa = require_pyarrow()
    kind, type_ = FIELDS[name].kind, values.type
    if isinstance(type_, pa.BaseExtensionType):
        return arrow_column(name, _storage(values), coders)
    if pa.types.is_null(type_):
        return Column(_reader(values, lambda part: all_missing(len(part))))
    if pa.types.is_run_end_encoded(type_):
        return arrow_column(name, _plain(values, pa.compute.run_end_decode), coders)
    if name in coders and _holds_words(type_):
        codes = coders[name]
        return Column(_reader(values, lambda part: _words(part, codes.of)))
    if pa.types.is_dictionary(type_):
        return arrow_column(name, _plain(values, lambda part: part.dictionary_decode()), coders)
    if kind == "time" and pa.types.is_timestamp(type_):
        if type_.tz is None:
            advice = "cast it to one with a zone, such as pa.timestamp('us', 'UTC')"
            raise ValueError(naive_error(name, type_, advice))
        return Column(_reader(values, lambda part: _times(part, type_.unit)))
    if kind == "time" and _holds_words(type_):
        return value_column(
            name, lambda start, stop: values.slice(start, stop - start).to_pylist(), coders
        )
    return _numbers(name, values)


def _numbers(name: str, values: pa.ChunkedArray) -> Column:
    pa = require_pyarrow()
    kind, type_ = FIELDS[name].kind, values.type
    if pa.types.is_decimal(type_) and kind in ("float32", "seconds"):
        values, type_ = values.cast(pa.float64()), pa.float64()
    tests = {"f": pa.types.is_floating, "i": pa.types.is_integer, "b": pa.types.is_boolean}
    number = next((letter for letter, test in tests.items() if test(type_)), "")
    real = real_of(np.dtype(type_.to_pandas_dtype())) if number == "f" else None
    return number_column(name, _reader(values, _number), kind=number, dtype=type_, real=real)


def _number(part: pa.Array) -> Piece:
    if not part.null_count:
        return Piece(native(part.to_numpy(zero_copy_only=False)))
    zero = False if str(part.type) == "bool" else 0
    values = part.fill_null(zero).to_numpy(zero_copy_only=False)
    return Piece(native(values), _nulls(part))


def _times(part: pa.Array, unit: str) -> Piece:
    missing = _nulls(part)
    ticks = (part if missing is None else part.fill_null(0)).view("int64")
    return Piece(seconds_of_ticks(ticks.to_numpy(), unit), missing)


def _words(part: pa.Array, encode: Callable[[list[object]], Piece]) -> Piece:
    """Return the codes of words, encoding each distinct word once."""
    pa = require_pyarrow()
    if not pa.types.is_dictionary(part.type):
        part = part.dictionary_encode()
    entries = encode(part.dictionary.to_pylist())
    missing = _nulls(part)
    if not len(part.dictionary):
        return all_missing(len(part))
    indices = part.indices if missing is None else part.indices.fill_null(0)
    return taken(entries, indices.to_numpy(zero_copy_only=False), missing)


def _nulls(part: pa.Array) -> Array | None:
    return part.is_null().to_numpy(zero_copy_only=False) if part.null_count else None


def _holds_words(type_: pa.DataType) -> bool:
    pa = require_pyarrow()
    if pa.types.is_dictionary(type_):
        return _holds_words(type_.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(type_) for test in tests)


def _plain(values: pa.ChunkedArray, decode: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    pa = require_pyarrow()
    decoded = [decode(chunk) for chunk in values.chunks]
    if not decoded:
        return pa.chunked_array([], values.type.value_type)
    return pa.chunked_array(decoded)


def _storage(values: pa.ChunkedArray) -> pa.ChunkedArray:
    pa = require_pyarrow()
    type_ = values.type.storage_type
    return pa.chunked_array([chunk.storage for chunk in values.chunks], type_)


class ArrowTable:
    """A pyarrow table or record batch."""

    are_records = False

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        self._table = table
        self.size = table.num_rows
        self.names: tuple[str, ...] = tuple(table.schema.names)

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if there is none."""
        values = self._chunked(name)
        return None if values is None else arrow_column(name, values, coders)

    def result(self, columns: Mapping[str, Array]) -> pa.Table | pa.RecordBatch:
        """Return ``id`` and ``columns`` as a table, or as a record batch if this is one."""
        id = self._chunked("id")
        found = {} if id is None else {"id": id}
        found |= {name: require_pyarrow().array(array) for name, array in columns.items()}
        if isinstance(self._table, require_pyarrow().RecordBatch):
            found |= {} if id is None else {"id": self._table.column("id")}
            return require_pyarrow().RecordBatch.from_pydict(found)
        return require_pyarrow().table(found)

    def column_type(self, name: str) -> pa.DataType | None:
        """Return a column's type, dictionary-encoded ones decoded; None if there is no column."""
        values = self._chunked(name)
        if values is None:
            return None
        type_ = values.type
        return type_.value_type if require_pyarrow().types.is_dictionary(type_) else type_

    def _chunked(self, name: str) -> pa.ChunkedArray | None:
        places = self._table.schema.get_all_field_indices(name)
        if len(places) > 1:
            msg = f"table: two columns are named {name!r}"
            raise ValueError(msg)
        return chunked_array(name, self._table.column(places[0])) if places else None


def arrow_table(table: Any) -> ArrowTable:
    """Wrap an object with ``__arrow_c_array__`` or ``__arrow_c_stream__``, without a copy.

    Raises:
        ImportError: pyarrow is not installed.
        TypeError: an array that is not a record batch.
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
    """Return an array or stream of arrays as a chunked array, without a copy.

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
        needed("pyarrow.compute", "arrow")
    except ImportError as error:
        msg = "table: Arrow needs pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    return needed("pyarrow", "arrow")
