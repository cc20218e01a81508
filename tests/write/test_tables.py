"""``add_many`` of tables: Arrow, pandas and polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oneiros

FRAME = pd.DataFrame({"text": ["a", "b", "c"], "importance": [0.25, 1.0, 0.5]})


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:") as engine:
        yield engine


@pytest.mark.parametrize("dtype", [object, "str"])
def test_each_metadata_of_a_frame_keeps_its_keys(engine: oneiros.Engine, dtype: Any) -> None:
    metadata = [{"a": 1, "list": [1, "x"]}, {"b": 2.5}, None]
    engine.add_many(FRAME.astype({"text": dtype}).assign(metadata=metadata))
    assert [memory.metadata for memory in engine] == [metadata[0], metadata[1], {}]
    assert [memory.text for memory in engine] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.sort_values("importance"),
        FRAME.sample(frac=1.0, random_state=7),
        FRAME[FRAME.text != "b"],
        FRAME.set_index(pd.Index([5, 5, 5])),
        FRAME.set_index(pd.RangeIndex(3, name="row")),
    ],
    ids=["sorted", "shuffled", "filtered", "repeated", "range"],
)
def test_an_index_that_only_numbers_the_rows_is_left_out(
    engine: oneiros.Engine, frame: pd.DataFrame
) -> None:
    engine.add_many(frame)
    found = [(memory.text, memory.importance) for memory in engine]
    assert found == list(frame[["text", "importance"]].itertuples(index=False, name=None))


def test_an_index_that_has_the_name_of_a_field_is_read(engine: oneiros.Engine) -> None:
    named = FRAME.set_index(pd.Index(["x", "y", "z"], name="id"))
    assert engine.add_many(named).ids == ["x", "y", "z"]
    levels = FRAME.set_index(pd.MultiIndex.from_tuples([("t", 1)] * 3, names=["topic", None]))
    ids = engine.add_many(levels).ids
    assert {engine.get(id).topic for id in ids} == {"t"}
    assert engine.add_many(named.assign(id=["u", "v", "w"])).ids == ["u", "v", "w"]


def test_objects_of_a_frame_are_read_one_by_one(engine: oneiros.Engine) -> None:
    times = [5.0, "2020-01-01T00:00:00Z", pd.NaT]
    vectors = [np.array([1.0, 0.0]), [0.0, 1.0], None]
    tags = [["x"], None, ("y", "z")]
    rows = FRAME.assign(created_at=pd.Series(times, dtype=object), embedding=vectors, tags=tags)
    engine.add_many(rows, now=7.0)
    assert [memory.created_at for memory in engine] == [5.0, 1_577_836_800.0, 7.0]
    assert [memory.tags for memory in engine] == [["x"], [], ["y", "z"]]
    assert [memory.embedding is None for memory in engine] == [False, False, True]


def test_columns_of_pandas_types_are_read(engine: oneiros.Engine) -> None:
    rows = FRAME.assign(
        created_at=pd.to_datetime(["2020-01-01", None, "2021-01-01"], utc=True),
        kind=pd.Categorical(["note", "bug", None]),
        priority=pd.array([1, None, 3], dtype="Int64"),
    )
    engine.add_many(rows, now=7.0)
    assert [memory.created_at for memory in engine] == [1_577_836_800.0, 7.0, 1_609_459_200.0]
    assert [memory.kind for memory in engine] == ["note", "bug", "note"]
    assert [memory.priority for memory in engine][::2] == [1, 3]


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (
            pd.concat([FRAME, FRAME[["text"]]], axis=1),
            ValueError,
            "records: two columns are named 'text'",
        ),
        (
            pa.table([["a"], ["b"]], names=["text", "text"]),
            ValueError,
            "records: two columns are named 'text'",
        ),
        (FRAME.text, TypeError, "records: no table of Arrow"),
        (pl.Series(["a"]), TypeError, "records: no table of Arrow"),
        (pd.DataFrame(index=[1, 2]), ValueError, "text: required"),
        (
            pa.table({"text": ["a"], "metadata": pa.array([2**40], pa.timestamp("s"))}),
            ValueError,
            "metadata: cannot be read",
        ),
    ],
    ids=["twice", "twice in arrow", "series", "polars series", "no column", "no time of Python"],
)
def test_what_is_no_table_of_records_is_refused(
    engine: oneiros.Engine, table: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        engine.add_many(table)
    assert len(engine) == 0


def test_periods_are_refused(engine: oneiros.Engine) -> None:
    frame = FRAME.assign(event_at=pd.period_range("2025-01-01", periods=3))
    for table in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match="event_at: must be no period of pandas"):
            engine.add_many(table)
    assert len(engine) == 0


def test_a_time_that_python_lacks_costs_its_row(engine: oneiros.Engine) -> None:
    times = pa.array([2**40, 5, None, -(2**40)], pa.timestamp("s", "UTC"))
    table = pa.table({"text": ["far", "near", "none", "past"], "created_at": times})
    report = engine.add_many(table, on_error="collect", now=7.0)
    ((place, error),) = report.failures
    assert place == 0
    assert str(error).startswith("created_at: must be seconds since 1970, at most 1e11")
    found = {memory.text: memory.created_at for memory in engine}
    assert found == {"near": 5.0, "none": 7.0, "past": -float(2**40)}
