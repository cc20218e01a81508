"""Batches of records in the forms people hold them: dicts, memories, Arrow tables, data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oneiros.memory import Memory

__all__ = ["records_of"]


def records_of(source: object, *, progress: bool) -> Iterator[Mapping[str, object] | Memory]:
    """Yield the records of a batch.

    Args:
        source: an iterable of dicts or ``Memory``; or whatever speaks Arrow's stream interface
            (pyarrow tables, polars and pandas frames; needs the extra ``oneiros[arrow]``).
        progress: show a bar on the terminal's error stream.

    Raises:
        TypeError: neither.
        ImportError: a table without pyarrow to read it.
    """
    records = _iterable(source)
    if not progress:
        return iter(records)
    from rich.console import Console  # noqa: PLC0415 - on use only
    from rich.progress import track  # noqa: PLC0415

    total = len(records) if isinstance(records, Sized) else None
    return iter(track(records, "reading", total=total, console=Console(stderr=True)))


def _iterable(source: Any) -> Iterable[Mapping[str, object] | Memory]:
    if hasattr(source, "__arrow_c_stream__"):
        return _rows_of_table(source)
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        msg = f"records: expected an iterable of dicts or a table, got {type(source).__name__}"
        raise TypeError(msg)
    return source


def _rows_of_table(source: object) -> list[Mapping[str, object]]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = "records: tables need pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    rows: list[Mapping[str, object]] = pa.table(source).to_pylist()
    return rows
