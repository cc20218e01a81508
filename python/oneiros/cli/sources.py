"""Readers of what ``oneiros import`` takes: each yields one :class:`Row` a record.

A record that cannot be read is a row with a problem, so that one bad line never hides the others;
what makes the whole source useless (no such file, an unknown column) is a ``CommandError``.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from oneiros._lazy import needed
from oneiros.cli.failures import FAILED, CommandError
from oneiros.display.json_values import decoding_problem
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import dataclass
from oneiros.write.tables import require_no_periods

__all__ = ["Row", "Rows", "json_lines", "located", "open_file", "read_cell", "row_count"]

LINE_LIMIT = 64 * 2**20  # bytes: a text of 16 MiB escaped at its worst, and a vector
CELL_LIMIT = 16 * 2**20  # characters: the longest text a memory may have
BATCH = 1000  # rows of a Parquet file turned into Python objects at a time
_CLAIMS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of a source, or what is wrong with it."""

    place: str
    """Where it stands, for messages: "line 17"."""
    record: dict[str, Any] | None = None
    """Fields of a memory by name; None when ``problem`` says why not."""
    problem: str = ""


Rows: TypeAlias = Generator[Row, None, None]
"""The rows of a source, which ``close()`` closes."""


def open_file(path: Path, *, extra_to_metadata: bool) -> Rows:
    """Return the rows of a file, read as its extension says; a header is judged at once.

    Args:
        path: a ``.jsonl``, ``.csv`` or ``.parquet`` file.
        extra_to_metadata: columns that are no field of a memory go to its metadata; without it
            they are an error.

    Raises:
        CommandError: no such file, another extension, or a header that cannot be used.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        msg = f"{path}: expected a file ending in {', '.join(_READERS)}"
        raise CommandError(msg)
    if not path.is_file():
        msg = f"{path}: {'not a file' if path.exists() else 'no such file'}"
        raise CommandError(msg)
    return read(path, extra_to_metadata)


def located(path: Path, words: str) -> str:
    """Return words that begin with a place in a file, such as "line 17: ...", with the file before.

    A line is written as compilers do, ``memories.jsonl:17: ...``.
    """
    place, colon, rest = words.partition(": ")
    number = place.removeprefix("line ")
    if colon and number != place and number.isdecimal():
        return f"{path}:{number}: {rest}"
    is_place = place.startswith(("line ", "row ", "commit "))
    return f"{path}, {words}" if is_place else f"{path}: {words}"


def _row(place: str, read: Callable[[], Mapping[str, Any]], extra_to_metadata: bool) -> Row:
    """Return the row of the values that a function reads, or of what is wrong with them."""
    try:
        return Row(place=place, record=_folded(read(), extra_to_metadata))
    except json.JSONDecodeError as error:
        problem = f"not JSON: {decoding_problem(error)}"
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte {error.start}"
    except UnicodeEncodeError:  # a lone surrogate
        problem = "not UTF-8"
    except RecursionError:
        problem = "nested too deeply"
    except (TypeError, ValueError) as error:
        problem = str(error)
    return Row(place=place, problem=problem)


# -- JSON Lines: one object a line, UTF-8 ----------------------------------------------------------


def json_lines(path: Path, extra_to_metadata: bool) -> Rows:
    """Yield each line's record; blank lines are passed over, a byte order mark is ignored."""
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file.readline), start=1):
            place = f"line {number}"
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if len(line) > LINE_LIMIT:
                yield Row(place=place, problem=f"longer than {LINE_LIMIT} bytes")
            elif content.strip():
                yield _row(place, partial(_object, content), extra_to_metadata)


def _lines(readline: Any) -> Iterator[bytes]:
    """Yield lines, each cut just past the limit: a file without newlines must not fill memory."""
    while line := readline(LINE_LIMIT + 1):
        while not line.endswith(b"\n") and len(line) > LINE_LIMIT:
            rest = readline(LINE_LIMIT)
            if not rest or rest.endswith(b"\n"):
                break
        yield line


def _object(line: bytes) -> dict[str, Any]:
    values = _json(line.decode("utf-8"))
    if not isinstance(values, dict):
        msg = f"expected an object, got {type(values).__name__}"
        raise TypeError(msg)
    return values


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    msg = f"not JSON: {constant}"
    raise ValueError(msg)


# -- CSV: a header of field names, commas, double quotes, UTF-8; an empty cell is an absent field ---


def _csv(path: Path, extra_to_metadata: bool) -> Rows:
    csv.field_size_limit(CELL_LIMIT)
    # Bytes that are not UTF-8 come through as lone surrogates, so that only their row is refused.
    file = path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        reader = csv.reader(file, strict=True)
        header = next(reader, [])
        _check_utf8(header, path)
        _check_header(header, path, extra_to_metadata)
    except csv.Error as error:
        file.close()
        msg = f"{path}: no header: {error}"
        raise CommandError(msg) from error
    except CommandError:
        file.close()
        raise
    return _csv_rows(file, reader, header, extra_to_metadata)


def _check_utf8(header: list[str], path: Path) -> None:
    try:
        "".join(header).encode()
    except UnicodeEncodeError as error:
        msg = f"{path}:1: not UTF-8"
        raise CommandError(msg) from error


def _csv_rows(file: Any, reader: Any, header: list[str], extra_to_metadata: bool) -> Rows:
    with file:
        while True:
            place = f"line {reader.line_num + 1}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(place=place, problem=f"not CSV: {error}")
                continue
            if cells:
                yield _row(place, partial(_cells, header, cells), extra_to_metadata)


def _cells(header: list[str], cells: list[str]) -> dict[str, Any]:
    if len(cells) > len(header):
        msg = f"{len(cells)} cells under {len(header)} columns"
        raise ValueError(msg)
    named = zip(header, cells, strict=False)  # absent at the end: absent fields
    return {name: read_cell(name, cell) for name, cell in named if cell != "" or name == "text"}


def read_cell(column: str, cell: str) -> Any:
    """Return what a cell says.

    Numbers and booleans as such; a time as a number (seconds) or else as its ISO 8601 text, which
    the record's own rules judge; ``tags`` and other lists as a JSON list or as words between
    semicolons; ``metadata`` and ``embedding`` as JSON. Text, and a column that is no field of a
    memory, unchanged.

    Raises:
        ValueError: the cell is not what its column holds, naming column and cell.
    """
    cell.encode()  # lone surrogates: UnicodeEncodeError, a ValueError
    kind = FIELDS[column].kind if column in FIELDS else "text"
    if kind == "time":
        try:
            return float(cell)
        except ValueError:
            return cell.strip()
    if kind in _LISTS and not cell.lstrip().startswith("["):
        return [word.strip() for word in cell.split(";") if word.strip()]
    if kind not in _KINDS:
        return cell
    reader, wanted = _KINDS[kind]
    try:
        return reader(cell)
    except (ValueError, KeyError) as error:
        shown = cell if len(cell) <= 40 else cell[:39] + "…"
        msg = f"{column}: must be {wanted}, got {shown!r}"
        raise ValueError(msg) from error


_LISTS: Final = ("words", "word_set", "ids")
_NESTED: Final = ("metadata", "embedding")
_KINDS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "int": (int, "a whole number"),
    "float32": (float, "a number"),
    "seconds": (float, "a number"),
    "bool": (lambda cell: _CLAIMS[cell.strip().lower()], "true or false"),
    **dict.fromkeys((*_LISTS, *_NESTED), (_json, "JSON")),
}
"""Kind of field -> its reader, and what a cell must be."""


# -- Parquet, by pyarrow ---------------------------------------------------------------------------


def _parquet(path: Path, extra_to_metadata: bool) -> Rows:
    """Return each row's record.

    Columns of lists, ``metadata`` and ``embedding`` may be nested or, as in CSV, JSON text.
    """
    try:
        arrow, parquet = needed("pyarrow", "arrow"), needed("pyarrow.parquet", "arrow")
    except ImportError as error:
        msg = "reading Parquet needs pyarrow: pip install 'oneiros[arrow]'"
        raise CommandError(msg, FAILED) from error
    try:
        table = parquet.ParquetFile(path)
    except arrow.ArrowException as error:
        msg = f"{path}: not a Parquet file: {error}"
        raise CommandError(msg) from error
    _check_header(table.schema_arrow.names, path, extra_to_metadata)
    try:
        require_no_periods(table.schema_arrow)
    except ValueError as error:
        msg = f"{path}: {error}"
        raise CommandError(msg) from error
    batches = _arrow_batches(path, table, (arrow.ArrowException, OSError))
    return _parquet_rows(table, batches, extra_to_metadata)


def _arrow_batches(path: Path, table: Any, damages: tuple[type[Exception], ...]) -> Iterator[Any]:
    """Yield a file's rows, some at a time.

    Args:
        path: of the file.
        table: the open file.
        damages: what pyarrow raises where it cannot read a part.

    Raises:
        CommandError: a part cannot be read.
    """
    batches = table.iter_batches(batch_size=BATCH)
    count = 0
    while True:
        try:
            batch = next(batches, None)
        except damages as error:
            msg = f"{path}: cannot be read after row {count}: {error}"
            raise CommandError(msg) from error
        if batch is None:
            return
        count += batch.num_rows
        yield batch


def _parquet_rows(table: Any, batches: Iterator[Any], extra_to_metadata: bool) -> Rows:
    with table:
        readers = chain.from_iterable(map(_arrow_readers, batches))
        for number, read in enumerate(readers, start=1):
            yield _row(f"row {number}", read, extra_to_metadata)


def _arrow_readers(batch: Any) -> list[Callable[[], dict[str, Any]]]:
    """Return a function for each row that returns its values."""
    try:
        return [partial(_from_arrow, values) for values in batch.to_pylist()]
    except (OverflowError, ValueError):  # a value that Python lacks must not hide the other rows
        return [partial(_from_arrow_row, batch, place) for place in range(batch.num_rows)]


def _from_arrow_row(batch: Any, place: int) -> dict[str, Any]:
    values = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[name] = column[place].as_py()
        except (OverflowError, ValueError) as error:
            msg = f"{name}: cannot be read: {error}"
            raise ValueError(msg) from error
    return _from_arrow(values)


def _from_arrow(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in values.items()}


def _value(name: str, value: Any) -> Any:
    if name not in FIELDS and isinstance(value, dt.datetime | dt.date):
        return value.isoformat()  # metadata is JSON, which has no dates
    if isinstance(value, str) and name in FIELDS and FIELDS[name].kind in (*_LISTS, *_NESTED):
        return read_cell(name, value)
    return value


def row_count(path: Path) -> int | None:
    """Return the number of rows of a file where that is quickly known, for a progress bar.

    Lines of a ``.jsonl`` file, blank ones too, the rows of a ``.csv`` file below the header, and
    those that a ``.parquet`` file names; None of another file, or of one that cannot be read.
    """
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            try:
                return max(0, sum(bool(cells) for cells in csv.reader(lines, strict=True)) - 1)
            except csv.Error:
                return None
    if path.suffix.lower() == ".jsonl":
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    if path.suffix.lower() == ".parquet":
        try:
            metadata = needed("pyarrow.parquet", "arrow").read_metadata(path)
        except Exception:  # noqa: BLE001 - the reader says what is wrong
            return None
        return int(metadata.num_rows)
    return None


_READERS: Final = {".jsonl": json_lines, ".csv": _csv, ".parquet": _parquet}


# -- columns ---------------------------------------------------------------------------------------


def _check_header(columns: Iterable[str], file: Path, extra_to_metadata: bool) -> None:
    """Refuse a table whose columns cannot all be kept.

    Raises:
        CommandError: an unnamed or repeated column, an extra one without ``extra_to_metadata``,
            or no column ``text``.
    """
    problem = _header_problem(list(columns), extra_to_metadata)
    if problem:
        msg = f"{file}: {problem}"
        raise CommandError(msg)


def _header_problem(columns: list[str], extra_to_metadata: bool) -> str:
    for place, column in enumerate(columns):
        if not column:
            return "a column has no name"
        if column in columns[:place]:
            return f"two columns are named {column!r}"
    unknown = set(columns) - FIELDS.keys()
    if unknown and not extra_to_metadata:
        return _unknown(min(unknown))
    return "" if "text" in columns else "needs a column 'text'"


def _folded(values: Mapping[str, Any], extra_to_metadata: bool) -> dict[str, Any]:
    """Return a record: empty values left out, extras moved into its metadata.

    Raises:
        TypeError: metadata that is no object.
        ValueError: an extra without ``extra_to_metadata``, or one that its metadata names as well.
    """
    record = {name: value for name, value in values.items() if value is not None}
    unknown = sorted(record.keys() - FIELDS.keys())
    if not unknown:
        return record
    if not extra_to_metadata:
        raise ValueError(_unknown(unknown[0]))
    metadata = record.get("metadata", {})
    if not isinstance(metadata, dict):
        msg = f"metadata: must be an object, got {type(metadata).__name__}"
        raise TypeError(msg)
    record["metadata"] = dict(metadata)
    for name in unknown:
        if name in metadata:
            msg = f"{name}: stands both as a column and in metadata"
            raise ValueError(msg)
        record["metadata"][name] = record.pop(name)
    return record


def _unknown(column: str) -> str:
    return f"column {column!r} is not a field of a memory; --extra-to-metadata keeps it in metadata"
