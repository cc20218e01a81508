"""The rows of Arrow tables and of pandas and polars frames as records."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["require_no_periods", "rows_of_table"]

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def rows_of_table(table: Any) -> list[Mapping[str, object]]:
    """Return the rows of a table as dicts; a missing value is None.

    Args:
        table: an object with Arrow's stream interface. Of a pandas frame, levels of the index that
            have a name are columns.

    Raises:
        TypeError: no table, or of a type that Arrow lacks.
        ValueError: two columns of one name, a column of periods, or a value that Python lacks.
        ImportError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
    except ImportError as error:
        msg = "records: tables need pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    frame_type: Any = getattr(sys.modules.get("pandas"), "DataFrame", None)
    try:
        if frame_type is not None and isinstance(table, frame_type):
            count, columns = len(table), _columns_of_frame(table)
        else:
            arrow = pa.table(table)
            count = arrow.num_rows
            _require_once(arrow.column_names)
            require_no_periods(arrow.schema)
            columns = {name: _values(name, arrow.column(name)) for name in arrow.column_names}
    except pa.ArrowException as error:
        msg = f"records: no table of Arrow: {error}"
        raise TypeError(msg) from error
    if not columns:
        return [{} for _ in range(count)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def require_no_periods(schema: pa.Schema) -> None:
    """Refuse columns of pandas' periods, whose values in Arrow are numbers of days, months or others.

    Raises:
        ValueError: naming the first such column.
    """
    for field in schema:
        # Without pandas, Arrow reads the numbers, and keeps the type's name beside them.
        noted = (field.metadata or {}).get(b"ARROW:extension:name", b"").decode()
        if getattr(field.type, "extension_name", noted) == "pandas.period":
            msg = (
                f"{field.name}: must be no period of pandas; to_timestamp() makes times of periods"
            )
            raise ValueError(msg)


def _columns_of_frame(frame: Any) -> dict[str, Sequence[object]]:
    """Return the columns of a pandas frame, those of Python objects as they are.

    As Arrow columns, all dicts would have the same keys, and values of several types are refused.
    """
    import pyarrow as pa  # noqa: PLC0415 - as above

    index = frame.index
    if not isinstance(index, sys.modules["pandas"].RangeIndex):  # else it numbers the rows
        levels = [name for name in index.names if name is not None and name not in frame.columns]
        frame = frame.reset_index(level=levels) if levels else frame
    _require_once(list(frame.columns))
    columns: dict[str, Sequence[object]] = {}
    for name in frame.columns:
        series = frame[name]
        if series.dtype == object:
            given = zip(series.tolist(), series.notna().tolist(), strict=True)
            columns[str(name)] = [value if is_given else None for value, is_given in given]
        else:
            rows = pa.Table.from_pandas(series.to_frame(str(name)), preserve_index=False)
            require_no_periods(rows.schema)
            columns[str(name)] = _values(str(name), rows.column(0))
    return columns


def _require_once(names: Sequence[object]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        msg = f"records: two columns are named {repeated[0]!r}"
        raise ValueError(msg)


def _values(name: str, column: pa.ChunkedArray) -> Sequence[object]:
    """Return the values of an Arrow column; times that Python lacks are in seconds."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    try:
        values: Sequence[object] = column.to_pylist()
    except (OverflowError, ValueError) as error:
        if not pa.types.is_timestamp(column.type) or column.type.tz is None:
            msg = f"{name}: cannot be read: {error}"
            raise ValueError(msg) from error
        return [_time(value) for value in column]
    return values


def _time(value: Any) -> object:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.value / _PER_SECOND[value.type.unit]
