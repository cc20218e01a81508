"""CSV files, read block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.batch.tables.arrow import require_pyarrow
from oneiros.fields import FIELDS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CsvSource"]

_BLOCK_BYTES: Final = 2**22
_HEAD_BYTES: Final = 2**20


class CsvSource:
    """CSV in UTF-8 with a line of names. It is one part: what is cut off begins anew.

    An empty cell is missing; ``nan`` is a number that is none. What a column holds is told by its
    first block: numbers are float64, also where they look like integers; the id and other texts of
    a memory stay as they are written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened(None, {}) as reader:
            self.schema: pa.Schema = _settled(reader.schema)
        self.row_count: int | None = None
        self.part_count = 1

    def identity(self) -> dict[str, object]:
        """Return size, time, and the checksums of the schema and of how the file begins."""
        state = self.path.stat()
        with self.path.open("rb") as file:
            head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
        schema = hashlib.sha256(self.schema.to_string().encode()).hexdigest()
        return {
            "size": state.st_size,
            "mtime_ns": state.st_mtime_ns,
            "schema": schema,
            "head": head,
        }

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows; there is one part."""
        del part
        types = {name: self.schema.field(name).type for name in columns}
        try:
            with self._opened(columns, types) as reader:
                yield from reader
        except require_pyarrow().ArrowException as error:
            msg = f"{self.path.name}: {error}"
            raise ValueError(msg) from error

    def close(self) -> None:
        """Nothing stays open between two reads."""

    def _opened(self, columns: Sequence[str] | None, types: dict[str, pa.DataType]) -> Any:
        require_pyarrow()
        from pyarrow import csv  # noqa: PLC0415 - an extra

        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=None if columns is None else list(columns),
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


def _settled(schema: pa.Schema) -> pa.Schema:
    """Return the types that hold for the whole file, whatever else its first block would do with."""
    pa = require_pyarrow()
    return pa.schema([(field.name, _settled_type(field.name, field.type)) for field in schema])


def _settled_type(name: str, first: pa.DataType) -> pa.DataType:
    pa, known = require_pyarrow(), FIELDS.get(name)
    if known is not None and known.kind not in ("time", "float32", "seconds", "int", "bool"):
        return pa.string()
    is_number = pa.types.is_integer(first) or pa.types.is_null(first)
    return pa.float64() if is_number else first
