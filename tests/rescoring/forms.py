"""One table in every form that ``oneiros.rescore`` takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import oneiros
from oneiros.model.fields import ENUMS
from oneiros.model.memory import Memory

rescore = partial(oneiros.rescore, missing="default")
"""Scores tables of a few columns; the other fields have their defaults."""
NOW = 1_750_000_000.0
DAY = 86_400.0
KINDS = ("note", "decision", "lesson_learned", "constraint", "unheard of", "é")
DTYPES: dict[str, str] = {
    "created_at": "f8",
    "updated_at": "f8",
    "last_accessed_at": "f8",
    "certainty": "f4",
    "impact": "f4",
    "importance": "f4",
    "strength": "f4",
    "stability": "f4",
    "consolidation_quality": "f4",
    "access_count": "u4",
    "session_spread": "u4",
    "feedback": "i2",
    "depth": "u1",
    "priority": "u1",
    "core": "?",
}
WORDS: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "category": ENUMS["category"],
    "veracity": ENUMS["veracity"],
}
Columns = dict[str, list[Any]]

_single = st.floats(0, 1, width=32)
_values: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("certainty", "impact", "importance", "strength"), _single),
    **dict.fromkeys(("stability", "consolidation_quality"), st.floats(0, 100, width=32)),
    **dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), st.floats(0, NOW)),
    "access_count": st.integers(0, 2**32 - 1) | st.integers(0, 9),
    "session_spread": st.integers(1, 2**32 - 1) | st.integers(1, 9),
    "feedback": st.integers(-5, 12),
    "depth": st.integers(1, 3),
    "priority": st.integers(1, 5),
    "core": st.booleans(),
    **{name: st.sampled_from(words) for name, words in WORDS.items()},
}


@st.composite
def tables(draw: st.DrawFn, *, nulls: bool = False, max_rows: int = 12) -> Columns:
    """Return columns by name, ``id`` among them; with ``nulls``, None here and there."""
    size = draw(st.integers(1, max_rows))
    names = draw(st.sets(st.sampled_from(sorted(_values)), min_size=1).map(sorted))
    names = sorted({*names, "created_at", "certainty", "strength", "importance"})

    def column(name: str) -> st.SearchStrategy[list[Any]]:
        value = _values[name]
        return st.lists(value | st.none() if nulls else value, min_size=size, max_size=size)

    return {"id": [f"m{row}" for row in range(size)]} | {name: draw(column(name)) for name in names}


def arrays(columns: Columns) -> dict[str, Any]:
    """Return NumPy arrays; columns with nulls as lists."""
    return {
        name: values if None in values else np.array(values, DTYPES.get(name))
        for name, values in columns.items()
    }


def structured(columns: Columns) -> np.ndarray:
    """Return a structured array; REQUIRES: no nulls."""
    held = arrays(columns)
    made = np.empty(len(columns["id"]), [(name, array.dtype) for name, array in held.items()])
    for name, array in held.items():
        made[name] = array
    return made


def records(columns: Columns) -> list[dict[str, Any]]:
    """Return dicts, a null left out in every second row."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [
        {name: value for name, value in row.items() if value is not None} if place % 2 else row
        for place, row in enumerate(rows)
    ]


def memories(columns: Columns) -> list[Memory]:
    """Return memories; REQUIRES: no nulls but in times."""
    return [Memory(text="", **row) for row in records(columns)]


def arrow(columns: Columns) -> pa.Table:
    """Return an Arrow table; words dictionary-encoded."""
    held = {}
    for name, values in columns.items():
        if name in DTYPES:
            held[name] = pa.array(values, pa.from_numpy_dtype(np.dtype(DTYPES[name])))
        else:
            held[name] = pa.array(values, pa.string())
            if name in WORDS:
                held[name] = held[name].dictionary_encode()
    return pa.table(held)


def chunked(columns: Columns) -> pa.Table:
    """Return an Arrow table whose columns are cut at places of their own; words as they are."""
    table = arrow(columns)
    made = {}
    for place, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        cut = place % (len(column) + 1)
        empty = column.slice(0, 0).chunks
        made[name] = pa.chunked_array(
            [*empty, *column.slice(0, cut).chunks, *empty, *column.slice(cut).chunks], column.type
        )
    return pa.table(made)


def batch(columns: Columns) -> pa.RecordBatch:
    """Return one record batch, cut out of a longer one."""
    table = arrow(columns)
    return pa.concat_tables([table, table]).combine_chunks().to_batches()[0].slice(table.num_rows)


def pandas_frame(columns: Columns) -> pd.DataFrame:
    """Return a frame with an index of its own; masked columns where there are nulls."""
    held: dict[str, Any] = {}
    masked = {"u4": "UInt32", "u1": "UInt8", "i2": "Int16", "?": "boolean", "f4": "Float32"}
    for name, values in columns.items():
        dtype = DTYPES.get(name)
        if dtype is None:
            held[name] = pd.Categorical(values) if name == "category" else values
        elif None in values:
            held[name] = pd.array(values, dtype=masked.get(dtype, "Float64"))
        else:
            held[name] = np.array(values, dtype)
    return pd.DataFrame(held, index=[f"row {id}" for id in columns["id"]])


def pandas_arrow(columns: Columns) -> pd.DataFrame:
    """Return a frame whose columns are Arrow's."""
    return arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)


def polars_frame(columns: Columns) -> pl.DataFrame:
    """Return a frame in two chunks."""
    types = {"f8": pl.Float64, "f4": pl.Float32, "u4": pl.UInt32, "i2": pl.Int16, "u1": pl.UInt8}
    made = []
    for name, values in columns.items():
        held = {"?": pl.Boolean}.get(DTYPES.get(name, ""), types.get(DTYPES.get(name, "")))
        series = pl.Series(name, values, held if name in DTYPES else pl.String)
        made.append(series.cast(pl.Categorical) if name == "veracity" else series)
    frame = pl.DataFrame(made)
    half = frame.height // 2
    return pl.concat([frame[:half], frame[half:]], rechunk=False)


class Stranger:
    """A table of which is known only that it speaks Arrow's stream interface."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def stranger(columns: Columns) -> Stranger:
    """Return a table of no library that is known."""
    return Stranger(chunked(columns))


TYPED: dict[str, Callable[[Columns], Any]] = {  # those that keep the columns' dtypes
    "arrays": arrays,
    "structured": structured,
    "arrow": arrow,
    "chunked": chunked,
    "batch": batch,
    "pandas": pandas_frame,
    "pandas_arrow": pandas_arrow,
    "polars": polars_frame,
    "stranger": stranger,
}
NULLABLE = tuple(form for form in TYPED if form != "structured")


def scores_of(result: Any, name: str = "score") -> np.ndarray:
    """Return the scores of whatever form."""
    if isinstance(result, list):
        return np.array([row[name] for row in result], np.float64)
    column = result[name] if not isinstance(result, pa.RecordBatch) else result.column(name)
    return np.asarray(column)


def ids_of(result: Any) -> list[Any]:
    """Return the ids of whatever form."""
    if isinstance(result, list):
        return [row["id"] for row in result]
    column = result["id"] if not isinstance(result, pa.RecordBatch) else result.column("id")
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)
