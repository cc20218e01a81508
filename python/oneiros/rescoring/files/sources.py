"""Files read in parts: Parquet by row groups, Arrow by record batches, JSON lines by lines, CSV whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from oneiros._lazy import needed
from oneiros.display.json_values import decoding_problem
from oneiros.model.fields import FIELDS
from oneiros.model.validation import as_float, moment
from oneiros.rescoring.tables.arrow import require_pyarrow
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring.row_scores import BLOCK

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SUFFIXES", "CsvSource", "RowSource", "open_source"]


_NUMERIC: Final = ("time", "float32", "seconds", "int", "bool")  # kinds of fields
_BLOCK_BYTES: Final = 2**22
_HEAD_BYTES: Final = 2**20


class CsvSource:
    """CSV in UTF-8 with a header line, as a single part: an interrupted run starts over.

    An empty cell is missing; ``nan`` is the number NaN. Column types follow from the first block:
    numbers are float64, even if they look like integers; the id and other texts of a memory stay
    text.

    Args:
        path: the file.
        keep: columns to copy. Whole numbers there, such as ids and codes, keep their digits as text.
    """

    def __init__(self, path: Path, keep: Sequence[str] = ()) -> None:
        self.path = path
        with self._opened(None, {}) as reader:
            self.schema: pa.Schema = _settled(reader.schema, keep)
        self.row_count: int | None = None
        self.part_count = 1

    def identity(self) -> dict[str, object]:
        """Return size, modification time, and checksums of the schema and the file's beginning."""
        return _identity_of_text(self.path, self.schema)

    def first_row(self, part: int) -> int:
        """Return 0: there is one part."""
        del part
        return 0

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        del part
        types = {name: self.schema.field(name).type for name in columns}
        try:
            with self._opened(columns, types) as reader:
                yield from reader
        except require_pyarrow().ArrowException as error:
            msg = f"{self.path.name}: {error}"
            raise ValueError(msg) from error

    def close(self) -> None:
        """Do nothing: no file stays open between reads."""

    def _opened(self, columns: Sequence[str] | None, types: dict[str, pa.DataType]) -> Any:
        require_pyarrow()
        csv = needed("pyarrow.csv", "arrow")
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


def _settled(schema: pa.Schema, keep: Sequence[str]) -> pa.Schema:
    """Return types for the whole file, which may be wider than those of its first block."""
    return require_pyarrow().schema(
        [
            (field.name, _settled_type(field.name, field.type, field.name in keep))
            for field in schema
        ]
    )


def _settled_type(name: str, first: pa.DataType, is_kept: bool) -> pa.DataType:
    pa, known = require_pyarrow(), FIELDS.get(name)
    if known is not None and known.kind not in _NUMERIC:
        return pa.string()
    if pa.types.is_timestamp(first) and first.unit == "s":
        return pa.timestamp("us", first.tz)  # fractions of seconds may follow
    if not (pa.types.is_integer(first) or pa.types.is_null(first)):
        return first
    return pa.string() if is_kept and known is None else pa.float64()


class JsonLinesSource:
    """JSON lines as ``export`` writes them. A part is 65,536 lines.

    The file is read twice, first for the names and types of its columns and where its parts begin.
    The id and other texts of a memory are text, also where they are numbers. Its other numbers are
    float64, times seconds. Its lists, vectors and metadata are left out. Columns that are no field
    of a memory are int64 or float64 if all values are numbers that these have, text if all are, or
    booleans; other values are their JSON.
    """

    def __init__(self, path: Path) -> None:
        pa = require_pyarrow()
        self.path = path
        kinds: dict[str, set[type | None]] = {}
        self._starts: list[_Place] = []
        count = 0
        for place, record in self._records(_Place(0, 1)):
            if count % _LINES_AT_ONCE == 0:
                self._starts.append(place)
            count += 1
            for name, value in record.items():
                if value is not None:
                    kinds.setdefault(name, set()).add(_kind_of(value))
        types: dict[Any, Any] = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        fields = []
        for name, found in kinds.items():
            known = FIELDS.get(name)
            if known is not None and known.kind in _NOT_IN_LINES:
                continue
            if known is not None and known.kind not in _NUMERIC:
                only: Any = str  # ids may be numbers, which float64 would round
            elif known is not None and (known.kind == "time" or found <= {int, float, None}):
                only = float
            elif len(found) == 1:
                only = found.pop()
            else:
                only = float if found == {int, float} else str
            fields.append(pa.field(name, types.get(only, pa.string())))
        self.schema = pa.schema(fields)
        self.row_count: int | None = count
        self.part_count = max(len(self._starts), 1)

    def identity(self) -> dict[str, object]:
        """Return size, modification time, and checksums of the schema and the file's beginning."""
        return _identity_of_text(self.path, self.schema) | {"lines_a_part": _LINES_AT_ONCE}

    def first_row(self, part: int) -> int:
        """Return the number of rows before a part."""
        return part * _LINES_AT_ONCE

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part at once."""
        schema = require_pyarrow().schema([self.schema.field(name) for name in columns])
        start = self._starts[part] if self._starts else _Place(0, 1)
        rows = [
            {name: self._cell(place.line, name, record.get(name)) for name in columns}
            for place, record in islice(self._records(start), _LINES_AT_ONCE)
        ]
        if rows:
            yield self._batch(rows, schema)

    def close(self) -> None:
        """Do nothing: no file stays open between reads."""

    def _batch(self, rows: list[dict[str, object]], schema: pa.Schema) -> pa.RecordBatch:
        pa = require_pyarrow()
        try:
            return pa.RecordBatch.from_pylist(rows, schema=schema)
        except (pa.ArrowException, TypeError) as error:  # the file was changed since
            msg = f"{self.path.name}: {error}"
            raise ValueError(msg) from error

    def _cell(self, number: int, name: str, value: object) -> object:
        known = FIELDS.get(name)
        if value is None:
            return None
        if known is not None and known.kind == "time":
            try:
                return moment(name)(value)
            except (TypeError, ValueError) as error:
                msg = f"{self.path}:{number}: {error}"
                raise ValueError(msg) from error
        pa, kind = require_pyarrow(), self.schema.field(name).type
        if pa.types.is_floating(kind) and type(value) is int:
            return as_float(value)
        return value if isinstance(value, str) or kind != pa.string() else json.dumps(value)

    def _records(self, start: _Place) -> Iterator[tuple[_Place, dict[str, object]]]:
        """Yield the place of each line from ``start`` on and its object; empty lines are skipped."""
        offset = start.offset
        with self.path.open("rb") as file:
            file.seek(offset)
            for number, line in enumerate(file, start=start.line):
                place, offset = _Place(offset, number), offset + len(line)
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    msg = f"{self.path}:{number}: not JSON: {decoding_problem(error)}"
                    raise ValueError(msg) from error
                if not isinstance(record, dict):
                    msg = f"{self.path}:{number}: expected an object"
                    raise ValueError(msg)  # noqa: TRY004 - the file is wrong, no argument
                yield place, record


def _kind_of(value: object) -> type | None:
    """Return the type of a value; None of an int that int64 does not have."""
    return None if type(value) is int and value.bit_length() > 63 else type(value)


class _Place(NamedTuple):
    """Where a line begins."""

    offset: int
    """In bytes."""
    line: int
    """Its number, from 1."""


_NOT_IN_LINES: Final = ("embedding", "metadata", "words", "word_set", "ids")
_LINES_AT_ONCE: Final = 2**16


def _identity_of_text(path: Path, schema: pa.Schema) -> dict[str, object]:
    """Return size, modification time, and checksums of the schema and the file's beginning."""
    state = path.stat()
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
    return {
        "size": state.st_size,
        "mtime_ns": state.st_mtime_ns,
        "schema": hashlib.sha256(schema.to_string().encode()).hexdigest(),
        "head": head,
    }


SUFFIXES: Final = (".parquet", ".arrow", ".feather", ".csv", ".jsonl")
_READ_BYTES: Final = 2**20  # read per column at once, so that a row group may exceed memory
_PART_BYTES: Final = 2**22  # of record batches that are joined
_MOST_FOOTER: Final = 2**30


class RowSource(Protocol):
    """A file of rows, in parts."""

    path: Path
    schema: pa.Schema
    part_count: int
    row_count: int | None
    """None if it is not known before all parts are read."""

    def identity(self) -> dict[str, object]:
        """Return values that change whenever the file does."""

    def first_row(self, part: int) -> int:
        """Return the number of rows before a part."""

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part in order, at most about a million at a time.

        Raises:
            ValueError: the part is damaged.
        """

    def close(self) -> None:
        """Close the file."""


@contextmanager
def open_source(path: Path, keep: Sequence[str] = ()) -> Iterator[RowSource]:
    """Open a file by its suffix.

    Args:
        path: the file.
        keep: columns that are copied; see :class:`CsvSource`.

    Raises:
        ValueError: another suffix, a file of another format than its suffix, a damaged footer.
        ImportError: pyarrow is not installed.
        OSError: the file cannot be read.
    """
    if path.suffix not in SUFFIXES:
        msg = f"{path.name}: expected a file named {', '.join(SUFFIXES)}"
        raise ValueError(msg)
    pa = require_pyarrow()
    try:
        source: RowSource = (
            CsvSource(path, keep)
            if path.suffix == ".csv"
            else _FORMS.get(path.suffix, ArrowSource)(path)
        )
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        msg = f"{path.name}: not a {path.suffix[1:]} file, or a damaged one: {error}"
        raise ValueError(msg) from error
    try:
        yield source
    finally:
        source.close()


class ParquetSource:
    """A Parquet file. A part is a row group, or several small adjacent ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = needed("pyarrow.parquet", "arrow").ParquetFile(
            path, buffer_size=_READ_BYTES, pre_buffer=False
        )
        self.schema: pa.Schema = self._file.schema_arrow
        counts = _row_counts(self._file.metadata, path)
        self.row_count: int | None = sum(counts)
        self._parts = _joined(counts)
        self._sizes = [sum(counts[group] for group in part) for part in self._parts]
        self.part_count = len(self._parts)

    def identity(self) -> dict[str, object]:
        """Return size, modification time, and checksums of schema and footer."""
        return _identity(self.path, self.schema, tail=8)

    def first_row(self, part: int) -> int:
        """Return the number of rows in the row groups before those of a part."""
        return sum(self._sizes[:part])

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part."""
        groups, found = self._parts[part], 0
        try:
            for batch in self._file.iter_batches(
                batch_size=BLOCK, row_groups=list(groups), columns=list(columns)
            ):
                found += batch.num_rows
                yield batch
        except (require_pyarrow().ArrowException, OSError) as error:
            raise ValueError(_damaged(self.path, groups, str(error))) from error
        if found != self._sizes[part]:
            problem = f"{found} rows where the footer says {self._sizes[part]}"
            raise ValueError(_damaged(self.path, groups, problem))

    def close(self) -> None:
        """Close the file."""
        self._file.close(force=True)


class ArrowSource:
    """A file in Arrow's file format, which is also Feather 2.

    A part is a record batch, or several small adjacent ones.
    """

    def __init__(self, path: Path) -> None:
        pyarrow = require_pyarrow()
        self.path = path
        self._file = pyarrow.OSFile(str(path))
        self._reader = pyarrow.ipc.open_file(self._file)
        self.schema: pa.Schema = self._reader.schema
        self.row_count: int | None = None
        count: int = self._reader.num_record_batches
        # Their rows are known only once they are read.
        size = max(1, count * _PART_BYTES // path.stat().st_size)
        self._parts = [range(start, min(start + size, count)) for start in range(0, count, size)]
        self.part_count = len(self._parts)

    def identity(self) -> dict[str, object]:
        """Return size, modification time, and checksums of schema and footer."""
        return _identity(self.path, self.schema, tail=10) | {"bytes_a_part": _PART_BYTES}

    def first_row(self, part: int) -> int:
        """Return the number of rows in the batches before those of a part."""
        batches = range(self._parts[part].start)
        return sum(self._reader.get_batch(number).num_rows for number in batches)

    def batches(self, part: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a part, small ones joined and large ones in slices."""
        small: list[pa.RecordBatch] = []
        rows = 0
        for number in self._parts[part]:
            try:
                batch = self._reader.get_batch(number).select(list(columns))
                batch.validate(full=True)  # the offsets in a file are not trusted
            except (require_pyarrow().ArrowException, OSError) as error:
                raise ValueError(_damaged(self.path, (number,), str(error))) from error
            for start in range(0, batch.num_rows, BLOCK):
                piece = batch.slice(start, BLOCK)
                if rows + piece.num_rows > BLOCK:
                    yield from _joined_batches(small)
                    small, rows = [], 0
                small.append(piece)
                rows += piece.num_rows
        yield from _joined_batches(small)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _joined_batches(small: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches as one; as several where a text column has more than 2 GiB."""
    if len(small) == 1:
        yield small[0]
    elif small:
        yield from require_pyarrow().Table.from_batches(small).combine_chunks().to_batches()


_FORMS: Final[dict[str, Callable[[Path], RowSource]]] = {
    ".parquet": ParquetSource,
    ".jsonl": JsonLinesSource,
}


def _row_counts(metadata: Any, path: Path) -> list[int]:
    counts = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if any(count < 0 for count in counts) or sum(counts) != metadata.num_rows:
        msg = f"{path.name}: damaged: its row groups do not have the {metadata.num_rows} rows it names"
        raise ValueError(msg)
    return counts


def _joined(counts: Sequence[int]) -> list[range]:
    """Return ranges of row groups; small neighbours are joined up to ``BLOCK`` rows."""
    parts: list[range] = []
    rows = BLOCK
    for group, count in enumerate(counts):
        if rows + count <= BLOCK and parts:
            parts[-1] = range(parts[-1].start, group + 1)
            rows += count
        else:
            parts.append(range(group, group + 1))
            rows = count
    return parts


def _identity(path: Path, schema: pa.Schema, *, tail: int) -> dict[str, object]:
    """Return values that change whenever the file does.

    Args:
        path: the file.
        schema: its schema.
        tail: size of the end of the file that begins with the footer's length, in bytes.
    """
    state = path.stat()
    with path.open("rb") as file:
        file.seek(-tail, 2)
        length = min(int.from_bytes(file.read(4), "little"), _MOST_FOOTER, state.st_size - tail)
        file.seek(-tail - length, 2)
        footer = hashlib.sha256(file.read(length)).hexdigest()
    text = schema.to_string(show_schema_metadata=False)
    return {
        "size": state.st_size,
        "mtime_ns": state.st_mtime_ns,
        "schema": hashlib.sha256(text.encode()).hexdigest(),
        "footer": footer,
    }


def _damaged(path: Path, groups: Sequence[int], problem: str) -> str:
    kind = "row group" if path.suffix == ".parquet" else "record batch"
    span = f"{kind} {groups[0]}"
    if len(groups) > 1:
        span = f"{kind}s {groups[0]} to {groups[-1]}"
    return f"{path.name}: damaged in {span}: {problem}"
