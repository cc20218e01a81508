"""Parquet, by pyarrow (the extra ``oneiros[arrow]``)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oneiros.cli.failures import FAILED, CommandError
from oneiros.cli.sources import Row
from oneiros.cli.sources.columns import check_header, extras, fold, value_of

__all__ = ["rows"]

BATCH = 1000  # rows turned into Python objects at a time


def rows(path: Path, *, extra_to_metadata: bool) -> Iterator[Row]:
    """Return each row's record; the schema is judged before the first row is asked for.

    Columns ``metadata``, ``tags`` and ``embedding`` may be nested or, as in CSV, JSON text.

    Raises:
        CommandError: pyarrow is missing, the file is not Parquet, or :func:`check_header` refuses
            its columns.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        msg = "reading Parquet needs pyarrow: pip install 'oneiros[arrow]'"
        raise CommandError(msg, FAILED) from error
    try:
        table = parquet.ParquetFile(path)
    except pa.ArrowException as error:
        msg = f"{path.name}: not a Parquet file: {error}"
        raise CommandError(msg) from error
    names = list(table.schema_arrow.names)
    check_header(names, file=path.name, extra_to_metadata=extra_to_metadata)
    return _rows(table, extras(names), extra_to_metadata=extra_to_metadata)


def _rows(table: Any, unknown: set[str], *, extra_to_metadata: bool) -> Iterator[Row]:
    number = 0
    with table:
        for batch in table.iter_batches(batch_size=BATCH):
            for values in batch.to_pylist():
                number += 1
                yield _row(number, values, unknown, extra_to_metadata=extra_to_metadata)


def _row(number: int, values: dict[str, Any], unknown: set[str], *, extra_to_metadata: bool) -> Row:
    place = f"row {number}"
    try:
        held = {name: _value(name, value, name in unknown) for name, value in values.items()}
        return Row(place=place, record=fold(held, extra_to_metadata=extra_to_metadata))
    except (TypeError, ValueError, RecursionError) as error:
        return Row(place=place, problem=str(error))


def _value(name: str, value: Any, is_extra: bool) -> Any:
    if is_extra and isinstance(value, dt.datetime | dt.date):
        return value.isoformat()  # metadata is JSON, which has no dates
    if isinstance(value, str) and name in ("metadata", "tags", "embedding", "sessions"):
        return value_of(name, value)
    return value
