"""Filters on metadata: what each comparison matches, and paths kept in step with changed rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.filters import AttributeIndex, Where, metadata_index, where
from oneiros.filters.conditions import OnMetadata
from oneiros.filters.metadata_paths import resolver
from tests.filters.metadata_oracle import METADATA, NOTHING, ON_METADATA, PATHS, value_at
from tests.filters.records import CONDITIONS, Record, columns_of, matches

meta = oneiros.meta


def rows_of(condition: Where, values: list[Mapping[str, object]]) -> list[int]:
    index = AttributeIndex()
    for row, metadata in enumerate(values):
        index.add(row, Record(id=str(row), metadata=metadata))
    return list(index.compile(condition, columns_of([])))


SCALARS = [1, 1.0, True, "1", None, 0, False, 2**53 + 1, [1], {"k": 1}]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (meta("k") == 1, [0, 1]),
        (meta("k") == 1.0, [0, 1]),
        (meta("k") == True, [2]),
        (meta("k") == "1", [3]),
        (meta("k") == None, [4]),
        (meta("k").is_null(), [4]),
        (meta("k") == False, [6]),
        (meta("k") != 1, [2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (meta("k").in_([1, "1", None]), [0, 1, 3, 4]),
        (meta("k").in_([]), []),
        (meta("k").not_in([1, "1", None]), [2, 5, 6, 7, 8, 9, 10]),
        (meta("k").exists(), list(range(10))),
        (~meta("k").exists(), [10]),
        (meta("k") >= 1, [0, 1, 7]),
        (meta("k") > 1, [7]),
        (meta("k") < 1, [5]),
        (meta("k") <= 1.0, [0, 1, 5]),
        (meta("k") > 2**53, [7]),
        (meta("k") >= 2**53 + 2, []),
        (meta("k").between(1, 1), [0, 1]),
        (meta("k").contains(1), [8]),
        (meta("k").contains(True), []),
        (meta("k").contains("k"), []),
        (meta("k").prefix(""), [3]),
        (meta("k").substring(""), [3]),
        (meta("k.k") == 1, [9]),
        (meta(["k", "k"]) == 1, [9]),
    ],
)
def test_what_is_compared_with_what(condition: Where, rows: list[int]) -> None:
    assert rows_of(condition, [*({"k": value} for value in SCALARS), {}]) == rows


LISTS = [["a", "b"], ["b"], [], "a", ["a", ["c"], {"d": 1}, 1, None], ["b", "a", "a"]]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (meta("k").contains("a"), [0, 4, 5]),
        (meta("k").contains_any(["a", "b"]), [0, 1, 4, 5]),
        (meta("k").contains_all(["a", "b"]), [0, 5]),
        (meta("k").contains_any([]), []),
        (meta("k").contains_all([]), [0, 1, 2, 3, 4, 5]),
        (meta("k").contains("c"), []),
        (meta("k").contains(1), [4]),
        (meta("k").contains(None), [4]),
        (~meta("k").contains("a"), [1, 2, 3]),
    ],
)
def test_lists_are_compared_by_their_items(condition: Where, rows: list[int]) -> None:
    assert rows_of(condition, [{"k": value} for value in LISTS]) == rows


PLACES = ["Kraków", "KRAKÓW", "Old Kraków", "Straße 1", "STRASSE 2", ["Kraków"], 1]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (meta("k").substring("Krak"), [0, 2]),
        (meta("k").substring("kraków"), []),
        (meta("k").substring("kraków", ignore_case=True), [0, 1, 2]),
        (meta("k").substring("straße", ignore_case=True), [3, 4]),
        (meta("k").substring("1"), [3]),
        (meta("k").substring(" "), [2, 3, 4]),
        (~meta("k").substring("a"), [1, 4, 5, 6]),
    ],
)
def test_a_part_of_a_text(condition: Where, rows: list[int]) -> None:
    assert rows_of(condition, [{"k": value} for value in PLACES]) == rows


TIMES = [
    "2025-03-01T00:00:00Z",
    "2025-03-01",
    "2025-03-01T01:00:00+02:00",  # 23:00 the day before
    "2025-03-02T00:00:00Z",
    "2025-03-01T12:00:00",  # no time zone
    "20250301",
    1740787200,
    "next week",
]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (meta("due").between("2025-03-01", "2025-03-02"), [0, 1]),
        (meta("due").between(date(2025, 3, 1), "2025-03-02T00:00:00Z"), [0, 1]),
        (meta("due") <= "2025-03-02", [0, 1, 2, 3]),
        (meta("due") < "2025-03-01T02:00:00+02:00", [2]),
        (meta("due") > "2025-03-01", [3]),
        (meta("due") == "2025-03-01", [1]),
        (meta("due") >= 0, [6]),
        (meta("due").prefix("2025-03-01T"), [0, 2, 4]),
    ],
)
def test_times_are_compared_with_times(condition: Where, rows: list[int]) -> None:
    assert rows_of(condition, [{"due": value} for value in TIMES]) == rows


def test_a_key_with_a_dot_comes_before_a_path() -> None:
    values: list[Mapping[str, object]] = [
        {"a.b": 1, "a": {"b": 2}},
        {"a": {"b": 1}},
        {"a.b": {"c": 1}},
        {"a": {"b": {"c": 1}}},
        {"a": [{"b": 1}]},
        {"a.b": None, "a": {"b": 1}},
    ]
    assert rows_of(meta("a.b") == 1, values) == [0, 1]
    assert rows_of(meta(["a", "b"]) == 1, values) == [1, 5]
    assert rows_of(meta(["a.b"]) == 1, values) == [0]
    assert rows_of(meta("a.b.c") == 1, values) == [3]
    assert rows_of(meta(["a.b", "c"]) == 1, values) == [2]
    assert rows_of(where(metadata={"a": {"b": 1}}), values) == [1, 5]
    assert rows_of(where(metadata={"a.b": {"c": 1}}), values) == [2]


@given(METADATA, PATHS)
def test_a_path_finds_what_a_walk_finds(
    metadata: dict[str, object], path: str | tuple[str, ...]
) -> None:
    wanted = value_at(metadata, path)
    found = resolver(path)(metadata)
    assert (found is metadata_index.MISSING) == (wanted is NOTHING)
    if wanted is not NOTHING:
        assert found is wanted


@settings(max_examples=200)
@given(
    st.lists(st.builds(Record, id=st.uuids().map(str), metadata=METADATA), max_size=8),
    st.lists(CONDITIONS | ON_METADATA, min_size=1, max_size=3),
    st.data(),
)
def test_paths_follow_every_change(
    records: list[Record], conditions: list[Where], data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata_index, "_MOST_FRESH", data.draw(st.sampled_from([1, 2, 1_000])))
        patch.setattr(metadata_index, "_MOST_CHANGES", data.draw(st.sampled_from([2, 5, 1_000])))
        patch.setattr(metadata_index, "_MOST_PATHS", data.draw(st.sampled_from([1, 256])))
        index = AttributeIndex()
        index.add_many(
            list(range(len(records))),
            ids=[record.id for record in records],
            kind=[record.kind for record in records],
            metadata=[record.metadata for record in records],
        )
        rows: list[Record | None] = list(records)
        numbers = count()
        steps = st.sampled_from(["add", "add_many", "replace", "remove", "again", "purge_many"])
        for step in [None, *data.draw(st.lists(steps, max_size=8))]:
            known = [row for row, record in enumerate(rows) if record is not None]
            new = Record(id=f"new {next(numbers)}", metadata=data.draw(METADATA))
            if step == "add" or (step == "replace" and not known):
                index.add(len(rows), new)
                rows.append(new)
            elif step == "add_many":
                index.add_many(
                    [len(rows), len(rows) + 1],
                    ids=["m", new.id],
                    kind=["note"] * 2,
                    metadata=[{}, new.metadata],
                )
                rows += [Record(id="m"), new]
            elif step == "replace":
                row = data.draw(st.sampled_from(known))
                old = rows[row]
                assert old is not None
                changed = replace(old, metadata=new.metadata)
                index.replace(row, old, changed)
                rows[row] = changed
            elif step in ("remove", "again", "purge_many") and known:
                row = data.draw(st.sampled_from(known))
                old = rows[row]
                assert old is not None
                index.remove(row, old)
                rows[row] = None
                if step == "again":
                    rows[row] = replace(old, metadata=new.metadata)
                    index.add(row, rows[row])  # type: ignore[arg-type]
            chosen = [record or Record(id="") for record in rows]
            for condition in conditions:
                wanted = [
                    row
                    for row, record in enumerate(rows)
                    if record is not None and matches(condition, record)
                ]
                assert list(index.compile(condition, columns_of(chosen))) == wanted


def test_many_changed_rows_are_merged() -> None:
    index = AttributeIndex()
    values = {row: row % 97 for row in range(5_000)}
    index.add_many(
        list(values), ids=[str(row) for row in values], metadata=[{"n": n} for n in values.values()]
    )
    condition = meta("n").between(10, 19)
    for start in range(0, 5_000, 700):
        for row in range(start, min(start + 700, 5_000)):
            old = Record(id=str(row), metadata={"n": values[row]})
            values[row] = row % 89
            index.replace(row, old, replace(old, metadata={"n": values[row]}))
        found = index.compile(condition, columns_of([]))
        assert list(found) == [row for row, n in values.items() if 10 <= n <= 19]


def test_readers_see_each_change_whole() -> None:
    """A row has a topic and the same word in its metadata; both change at once, again and again."""
    index = AttributeIndex()
    records = [
        Record(id=str(row), topic="a", metadata={"topic": "a", "n": 1}) for row in range(200)
    ]
    for row, record in enumerate(records):
        index.add(row, record)
    other = {"a": "b", "b": "a"}
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            for row, old in enumerate(records):
                topic = other[old.topic or ""]
                new = replace(old, topic=topic, metadata={"topic": topic, "n": 1 + (topic == "b")})
                index.replace(row, old, new)
                records[row] = new

    writer = threading.Thread(target=write)
    writer.start()
    try:
        split = where(topic="a") & ~(meta("topic") == "a") | where(topic="b") & (meta("n") < 2)
        for turn in range(300):
            if turn % 50 == 0:  # indexed again while the writer goes on
                index._metadata._paths.clear()
            assert not index.compile(split, columns_of([]))
            assert len(index.compile(meta("topic").in_(["a", "b"]), columns_of([]))) == 200
    finally:
        is_over.set()
        writer.join()


def test_a_reader_that_interrupts_a_reader_reads_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = AttributeIndex()
    record = Record(id="a", metadata={"k": 1})
    index.add(0, record)
    assert list(index.compile(meta("k") == 1, columns_of([]))) == [0]
    index.replace(0, record, replace(record, metadata={"k": 2}))
    inner: list[list[int]] = []
    path_type = type(next(iter(index._metadata._paths.values())))
    add = path_type._add

    def interrupted(self: object, row: int, value: object) -> None:
        if not inner:
            inner.append(list(index.compile(meta("k") == 2, columns_of([]))))
        add(self, row, value)  # type: ignore[arg-type]

    monkeypatch.setattr(path_type, "_add", interrupted)
    assert list(index.compile(meta("k") == 2, columns_of([]))) == [0]
    assert inner == [[0]]
    assert list(index.compile(meta("k") == 1, columns_of([]))) == []


def test_no_other_thread_waits_long_for_an_interrupted_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A signal handler may have interrupted the reader, and wait for a write with a filter."""
    monkeypatch.setattr(metadata_index, "_LONGEST_WAIT_SECONDS", 0.01)
    index = AttributeIndex()
    for row in range(3):
        index.add(row, Record(id=str(row), metadata={"k": row}))
    found: list[list[int]] = []

    def read() -> None:
        found.append(list(index.compile(meta("k") >= 1, columns_of([]))))

    for lock in (index._metadata._indexing, index._metadata._lock):
        with lock:
            thread = threading.Thread(target=read)
            thread.start()
            thread.join(10)
    assert found == [[1, 2], [1, 2]]


def test_a_path_indexed_next_to_many_writes_follows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_index, "_MOST_CHANGES", 4)
    records = {row: Record(id=str(row), metadata={"k": 0}) for row in range(20)}
    values: dict[int, Mapping[str, object]] = {}
    index = AttributeIndex(metadata=lambda _: written_between())

    def written_between() -> Iterator[tuple[int, object]]:
        for row, metadata in list(values.items()):
            yield row, metadata["k"]
        for row, old in records.items():  # after they were read
            new = replace(old, metadata={"k": row})
            index.replace(row, old, new, publish=partial(values.__setitem__, row, new.metadata))
            records[row] = new

    for row, record in records.items():
        values[row] = record.metadata
        index.add(row, record)
    assert list(index.compile(meta("k") >= 10, columns_of([]))) == list(range(10, 20))
    index.compile(meta("k") >= 10, columns_of([]))
    index.replace(15, records[15], replace(records[15], metadata={}))
    assert list(index.compile(meta("k") >= 15, columns_of([]))) == list(range(16, 20))


def test_changes_that_an_interrupt_cut_off_are_applied_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = AttributeIndex()
    records = [Record(id=str(row), metadata={"k": row, "l": [row]}) for row in range(4)]
    for row, record in enumerate(records):
        index.add(row, record)
    for condition in (meta("k") >= 0, meta("l").contains(0)):
        index.compile(condition, columns_of([]))
    for row, record in enumerate(records):
        records[row] = replace(record, metadata={"k": row + 1, "l": [row + 1, "x"]})
        index.replace(row, record, records[row])
    path_type = type(next(iter(index._metadata._paths.values())))
    discard, calls = path_type._discard, count()

    def cut_off(self: object, row: int, value: object) -> None:
        discard(self, row, value)  # type: ignore[arg-type]
        if next(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(path_type, "_discard", cut_off)
    with pytest.raises(KeyboardInterrupt):
        index.compile(meta("k") >= 3, columns_of([]))
    for condition in (meta("k") >= 3, meta("k") == 2, meta("l").contains(2)):
        wanted = [row for row, record in enumerate(records) if matches(condition, record)]
        assert list(index.compile(condition, columns_of([]))) == wanted


def test_only_paths_that_a_filter_names_are_indexed() -> None:
    index = AttributeIndex()
    index.add(0, Record(id="a", metadata={"k": 1, "l": 2}))
    index.compile(where(kind="note"), columns_of([]))
    assert not index._metadata._paths
    assert not index._metadata._is_noting
    index.compile(meta("k") == 1, columns_of([]))
    assert list(index._metadata._paths) == ["k"]
    for number in range(300):  # made up by queries
        index.compile(meta(f"k{number}") == 1, columns_of([]))
    assert len(index._metadata._paths) == 256
    assert isinstance(meta("k") == 1, OnMetadata)
