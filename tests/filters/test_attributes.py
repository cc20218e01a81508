"""Filters compiled to rows, held against a plain reading of each record."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from oneiros.filters import AttributeIndex, Where, where
from oneiros.filters.fields import SINGLE, WORDS
from tests.filters.records import CONDITIONS, RECORDS, Record, columns_of, matches


def filled(records: list[Record], *, at_once: bool = False) -> AttributeIndex:
    index = AttributeIndex()
    if not at_once:
        for row, record in enumerate(records):
            index.add(row, record)
        return index
    index.add_many(
        np.arange(len(records), dtype=np.uint32),
        ids=[r.id for r in records],
        **{name: [getattr(r, name) for r in records] for name in (*SINGLE, *WORDS)},
        metadata=[r.metadata for r in records],
    )
    return index


@given(st.lists(RECORDS, max_size=12), CONDITIONS, st.booleans())
@settings(max_examples=300)
def test_compile_is_the_plain_reading(
    records: list[Record], condition: Where, at_once: bool
) -> None:
    rows = filled(records, at_once=at_once).compile(condition, columns_of(records))
    assert list(rows) == [row for row, record in enumerate(records) if matches(condition, record)]


@given(st.lists(RECORDS, max_size=12), st.sampled_from(["", "a", "b", "x"]), st.booleans())
def test_rows_of_values_are_those_whose_project_matches(
    records: list[Record], part: str, at_once: bool
) -> None:
    rows = filled(records, at_once=at_once).rows_of_values("project", lambda name: part in name)
    assert list(rows) == [
        row
        for row, record in enumerate(records)
        if record.project is not None and part in record.project
    ]


@given(st.lists(RECORDS, min_size=1, max_size=10), RECORDS, CONDITIONS, st.data())
def test_replaced_and_removed_rows(
    records: list[Record], new: Record, condition: Where, data: st.DataObject
) -> None:
    index = filled(records)
    changed = data.draw(st.integers(0, len(records) - 1))
    gone = data.draw(st.integers(0, len(records) - 1))
    new = replace(new, id=records[changed].id)
    index.replace(changed, records[changed], new)
    records[changed] = new
    index.remove(gone, records[gone])
    index.remove(gone, records[gone])  # twice is once
    assert len(index) == len(records) - 1
    rows = index.compile(condition, columns_of(records))
    want = [r for r, record in enumerate(records) if r != gone and matches(condition, record)]
    assert list(rows) == want
    everyone = where(id=[record.id for record in records])
    assert list(index.compile(everyone, columns_of(records))) == list(index.rows)


@given(st.lists(RECORDS, max_size=10), CONDITIONS, CONDITIONS)
def test_the_laws_of_sets_hold(records: list[Record], a: Where, b: Where) -> None:
    index, columns = filled(records), columns_of(records)

    def rows(condition: Where) -> BitMap:
        return index.compile(condition, columns)

    assert rows(~(a & b)) == rows(~a | ~b)
    assert rows(a) | rows(~a) == index.rows
    assert not rows(a) & rows(~a)


def test_add_after_remove_is_as_if_new() -> None:
    record = Record(id="a", tags=["t"], metadata={"k": 1}, project="p")
    index = filled([record])
    index.remove(0, record)
    index.add(0, record)
    for condition in (
        where(tags="t"),
        where(metadata={"k": 1.0}),
        where(project="p"),
        where(id="a"),
    ):
        assert list(index.compile(condition, columns_of([record]))) == [0]


@given(st.lists(RECORDS, min_size=1, max_size=12), st.data())
def test_many_are_taken_out_as_one_by_one(records: list[Record], data: st.DataObject) -> None:
    gone = sorted(data.draw(st.sets(st.sampled_from(range(len(records))))))
    at_once, singly = (_with_ids_outside(records) for _ in range(2))
    for row in gone:
        singly.remove(row, records[row])
    left = [records[row] for row in gone]
    at_once.purge_many(
        gone,
        **{name: [getattr(r, name) for r in left] for name in (*SINGLE, *WORDS)},
        metadata=[r.metadata for r in left],
    )
    assert at_once.rows == singly.rows
    for place, sets in singly.places().items():
        assert dict(at_once.places()[place].items()) == dict(sets.items()), place


def _with_ids_outside(records: list[Record]) -> AttributeIndex:
    index = AttributeIndex({}.get)
    for row, record in enumerate(records):
        index.add(row, record)
    return index


def test_a_known_row_is_not_added_again() -> None:
    index = filled([Record(id="a")])
    with pytest.raises(ValueError, match="row: 0 is known already"):
        index.add(0, Record(id="b"))
    with pytest.raises(ValueError, match="rows: a row is known already, or given twice"):
        index.add_many([1, 0])
    with pytest.raises(ValueError, match="rows: a row is known already, or given twice"):
        index.add_many([1, 1])
    with pytest.raises(ValueError, match="kind: expected 2 values, one a row, got 1"):
        index.add_many([1, 2], kind=["a"])
    assert list(index.rows) == [0]


def test_ids_are_looked_up_where_the_caller_has_them() -> None:
    index = AttributeIndex({"a": 1, "b": 2, "outside": 99}.get)
    index.add(1, Record(id="a"))
    index.add_many([2], kind=["x"])
    records = [Record(id="-"), Record(id="a"), Record(id="b", kind="x")]
    got = index.compile(where(id=["b", "a", "outside", "none"]), columns_of(records))
    assert list(got) == [1, 2]


def test_what_is_returned_is_the_callers_own() -> None:
    records = [Record(id=str(number), project="p", tags=["t"]) for number in range(3)]
    index, columns = filled(records), columns_of(records)
    for condition in (where(), where(project="p"), where(tags=["t"]), where(tags_all=["t"])):
        index.compile(condition, columns).clear()
        assert len(index.compile(condition, columns)) == 3
    index.rows.clear()
    assert len(index) == 3


def test_columns_longer_than_the_index_do_not_widen_it() -> None:
    # The core's columns also hold rows that were deleted or are not yet in the index.
    records = [Record(id=str(number)) for number in range(5)]
    index = AttributeIndex()
    index.add(1, records[1])
    for condition in (where(status="staged"), where(depth=2), ~where(kind="x"), where(project=[])):
        rows = index.compile(condition, columns_of(records))
        assert list(rows) == [] if condition == where(project=[]) else [1]


def test_a_replaced_row_is_never_out_of_sight() -> None:
    # A reader beside the writer: the row must match by its old or its new values at any moment.
    old, new = Record(id="a", project="p", kind="x"), Record(id="a", project="q", kind="x")
    index, columns = filled([old]), columns_of([old])
    is_done, misses = threading.Event(), [0]

    def read() -> None:
        condition = where(kind="x", project=["p", "q"])
        while not is_done.is_set():
            misses[0] += list(index.compile(condition, columns)) != [0]

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(3_000):
        index.replace(0, old, new)
        index.replace(0, new, old)
    is_done.set()
    reader.join()
    assert misses == [0]
    with pytest.raises(ValueError, match="row: 7 is not known; add it"):
        index.replace(7, old, new)


def test_an_own_map_of_ids_follows_a_replaced_id() -> None:
    old, new = Record(id="a"), Record(id="b")
    index = filled([old])
    index.replace(0, old, new)
    assert list(index.compile(where(id=["a"]), columns_of([new]))) == []
    assert list(index.compile(where(id=["b"]), columns_of([new]))) == [0]


@pytest.mark.parametrize("name", ["importance", "depth", "feedback", "access_count"])
@pytest.mark.parametrize("bound", [1e300, 10**30, 2**32, 0.5])
def test_bounds_beyond_a_columns_dtype(name: str, bound: float) -> None:
    records = [Record(id="a", feedback=1, access_count=1)]
    index, columns = filled(records), columns_of(records)
    assert list(index.compile(where(**{name: (-bound, bound)}), columns)) == (
        [0] if bound > 0.5 or name == "importance" else []
    )
    assert list(index.compile(where(**{name: (bound, None)}), columns)) == (
        [0] if bound == 0.5 else []
    )
    assert list(index.compile(where(**{name: (None, -bound)}), columns)) == []


def test_columns_may_grow_while_they_are_read() -> None:
    records = [Record(id="a", created_at=1.0), Record(id="b", event_at=1.0)]
    index, columns = filled(records[:1]), columns_of(records)

    def growing(name: str) -> np.ndarray:
        return columns(name)[:1] if name == "event_at" else columns(name)

    assert list(index.compile(where(occurred_at=(0.5, 1.5)), growing)) == [0]
