"""Columns held by Arrow: read in place where nothing is null, whoever made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.batch.array_columns import ValueColumn
from oneiros.batch.columns import (
    Piece,
    all_missing,
    native,
    real_of,
    require_numbers,
    taken,
)
from oneiros.batch.times import naive_error, seconds_of_ticks
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    import pyarrow as pa

    from oneiros.batch.columns import Array, Coders, Column

__all__ = ["ArrowColumn", "arrow_column"]


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
