"""Tables with Arrow's C interface, read in place where nothing is null."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.model.fields import FIELDS
from oneiros.rescoring.columns import (
    Piece,
    all_missing,
    naive_error,
    native,
    real_of,
    require_numbers,
    seconds_of_ticks,
    taken,
)
from oneiros.rescoring.tables.arrays import ValueColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from oneiros.rescoring.columns import Array, Coders, Column

__all__ = [
    "ArrowColumn",
    "ArrowTable",
    "arrow_column",
    "arrow_table",
    "chunked_array",
    "require_pyarrow",
]


class ArrowColumn:
    """A chunked array of Arrow.

    Args:
        values: all rows.
        decode: makes an array without chunks a piece.
        real: the float dtype of its numbers.
        is_plain_time: whether they are times given as numbers.
    """

    def __init__(
        self,
        values: pa.ChunkedArray,
        decode: Callable[[pa.Array], Piece],
        *,
        real: np.dtype[Any] | None = None,
        is_plain_time: bool = False,
    ) -> None:
        self._values = values
        self._decode = decode
        self.real = real
        self.is_plain_time = is_plain_time

    def read(self, start: int, stop: int) -> Piece:
        """Return the rows from ``start`` to ``stop``; those of one chunk stay where they are."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        part = self._values.slice(start, stop - start)
        chunks = [chunk for chunk in part.chunks if len(chunk)]
        if not chunks:
            return Piece(np.zeros(0))
        return self._decode(chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks))


def arrow_column(name: str, values: pa.ChunkedArray, coders: Coders) -> Column:
    """Return the column that an Arrow column is. Nulls are missing.

    Raises:
        TypeError: values of another type than the field's.
        ValueError: timestamps without a time zone.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kind, held = FIELDS[name].kind, values.type
    if isinstance(held, pa.BaseExtensionType):
        return arrow_column(name, _storage(values), coders)
    if pa.types.is_null(held):
        return ArrowColumn(values, lambda part: all_missing(len(part)))
    if pa.types.is_run_end_encoded(held):
        return arrow_column(name, _plain(values, pa.compute.run_end_decode), coders)
    if name in coders and _holds_words(held):
        codes = coders[name]
        return ArrowColumn(values, lambda part: _words(part, codes.of))
    if pa.types.is_dictionary(held):
        return arrow_column(name, _plain(values, lambda part: part.dictionary_decode()), coders)
    if kind == "time" and pa.types.is_timestamp(held):
        if held.tz is None:
            advice = "cast it to one with a zone, such as pa.timestamp('us', 'UTC')"
            raise ValueError(naive_error(name, held, advice))
        return ArrowColumn(values, lambda part: _times(part, held.unit))
    if kind == "time" and _holds_words(held):
        return ValueColumn(
            name, lambda start, stop: values.slice(start, stop - start).to_pylist(), coders
        )
    return _numbers(name, values)


def _numbers(name: str, values: pa.ChunkedArray) -> Column:
    import pyarrow as pa  # noqa: PLC0415

    kind, held = FIELDS[name].kind, values.type
    if pa.types.is_decimal(held) and kind in ("float32", "seconds"):
        values, held = values.cast(pa.float64()), pa.float64()
    tests = {"f": pa.types.is_floating, "i": pa.types.is_integer, "b": pa.types.is_boolean}
    number = next((letter for letter, test in tests.items() if test(held)), "")
    require_numbers(name, number, held)
    is_time = kind == "time"
    has_real = number == "f" and not is_time
    real = real_of(np.dtype(held.to_pandas_dtype())) if has_real else None
    return ArrowColumn(values, _number, real=real, is_plain_time=is_time)


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


def _words(part: pa.Array, coded: Callable[[list[object]], Piece]) -> Piece:
    """Return codes: each distinct word is looked at once."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_dictionary(part.type):
        part = part.dictionary_encode()
    entries = coded(part.dictionary.to_pylist())
    missing = _nulls(part)
    if not len(part.dictionary):
        return all_missing(len(part))
    indices = part.indices if missing is None else part.indices.fill_null(0)
    piece = taken(entries, indices.to_numpy(zero_copy_only=False))
    if missing is not None:
        piece.missing = missing if piece.missing is None else piece.missing | missing
        piece.broken = {place: why for place, why in piece.broken.items() if not missing[place]}
    return piece


def _nulls(part: pa.Array) -> Array | None:
    return part.is_null().to_numpy(zero_copy_only=False) if part.null_count else None


def _holds_words(held: pa.DataType) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_dictionary(held):
        return _holds_words(held.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(held) for test in tests)


def _plain(values: pa.ChunkedArray, decode: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415

    decoded = [decode(chunk) for chunk in values.chunks]
    if not decoded:
        return pa.chunked_array([], values.type.value_type)
    return pa.chunked_array(decoded)


def _storage(values: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415

    held = values.type.storage_type
    return pa.chunked_array([chunk.storage for chunk in values.chunks], held)


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
