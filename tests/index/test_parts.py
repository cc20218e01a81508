"""Parts of a snapshot: what was put is taken, and whatever the bytes are, nothing else is."""

from __future__ import annotations

import contextlib
import json
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.errors import SnapshotDamaged
from oneiros.filters.row_bitmaps import RowsByValue, sets_of_arrays, values_and_rows
from oneiros.index.row_attributes import StoredTexts
from oneiros.index.snapshot_parts import PartReader, PartWriter
from oneiros.index.stored_rows import StoredRecords, records_part
from tests.filters.metadata_oracle import METADATA, NOTHING, PATHS, value_at

NUMBERS = st.lists(st.integers(0, 2**32 - 1), max_size=20)
WORDS = st.text(max_size=6)
VALUES = st.one_of(
    WORDS, st.integers(), st.floats(allow_nan=False), st.sampled_from([(None,), (True,), (False,)])
)
REFUSALS = (SnapshotDamaged, ValueError, TypeError, RecursionError)


def as_part(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


@given(numbers=NUMBERS, value=st.dictionaries(WORDS, st.integers()), data=st.binary(max_size=30))
def test_what_was_put_is_taken(numbers: list[int], value: dict[str, int], data: bytes) -> None:
    part = PartWriter()
    part.put(np.array(numbers, np.uint32))
    part.put_json(value)
    part.put_bytes(data)
    reader = PartReader(as_part(part.bytes()))
    assert reader.take("I").tolist() == numbers
    assert reader.take_json() == value
    assert reader.take("B").tobytes() == data
    reader.end()
    with pytest.raises(SnapshotDamaged):
        reader.take("B")


@given(data=st.binary(max_size=60))
def test_any_bytes_are_taken_or_refused(data: bytes) -> None:
    reader = PartReader(as_part(data))
    with contextlib.suppress(SnapshotDamaged):
        while True:
            reader.take("Q")
    with contextlib.suppress(SnapshotDamaged):
        PartReader(as_part(data)).take_json()


@given(held=st.dictionaries(VALUES, st.sets(st.integers(0, 99), min_size=1)))
def test_sets_come_back(held: dict[object, set[int]]) -> None:
    sets = RowsByValue()
    for value, rows in held.items():
        sets.add_all(value, sorted(rows))
    again = sets_of_arrays(*values_and_rows(sets), row_end=100)
    assert {value: set(again.rows(value)) for value in held} == held
    for value, rows in held.items():
        again.add(value, 500)
        again.discard(value, min(rows))
        assert set(again.rows(value)) == (rows | {500}) - {min(rows)}


@given(
    values=st.lists(st.one_of(VALUES, st.lists(st.booleans(), max_size=2), st.none())),
    sizes=NUMBERS,
    rows=NUMBERS,
)
def test_sets_that_do_not_fit_are_refused(
    values: list[object], sizes: list[int], rows: list[int]
) -> None:
    is_sound = len(values) == len(sizes) and sum(sizes) == len(rows) and 0 not in sizes
    numbers = array("I", rows)
    with contextlib.suppress(ValueError):
        sets = sets_of_arrays(values, array("I", sizes), numbers, row_end=2**31)
        assert is_sound
        assert all(
            row < 2**31
            for _, held in sets.items()
            for row in ([held] if isinstance(held, int) else held)
        )


def stored(part: bytes) -> StoredRecords:
    return StoredRecords(as_part(part), lambda _: np.zeros(100, np.uint32), lambda _, __: None)


SESSIONS = st.dictionaries(st.integers(0, 19), st.frozensets(WORDS, max_size=3))
SOURCES = st.dictionaries(
    st.integers(0, 19),
    st.tuples(
        st.sampled_from([None, '["a"]']),
        st.sampled_from([None, '{"b":1}']),
        st.sampled_from([None, '["c"]']),
    ),
)


@given(
    sessions=SESSIONS,
    sources=SOURCES,
    later=SESSIONS,
    changed=SOURCES,
    gone=st.sets(st.integers(0, 19)),
)
def test_records_come_back_with_what_changed(
    sessions: dict[int, frozenset[str]],
    sources: dict[int, StoredTexts],
    later: dict[int, frozenset[str]],
    changed: dict[int, StoredTexts],
    gone: set[int],
) -> None:
    ids = [str(row) for row in range(20)]
    former = stored(records_part(None, ids, sessions, sources, lambda _: True))
    former.check(20)
    left = ["" if row in gone else id for row, id in enumerate(ids)]
    again = stored(records_part(former, left, later, changed, lambda row: row % 2 == 0))
    again.check(20)
    for row in range(20):
        if row in gone:
            continue
        assert again.sessions(row) == later.get(row, sessions.get(row, frozenset()))
        nothing = (None, None, None)
        known = sources.get(row, nothing) if row % 2 == 0 else nothing
        assert again.texts(row) == changed.get(row, known)


@given(data=st.data())
def test_records_of_damaged_bytes_are_refused_or_read(data: st.DataObject) -> None:
    ids = [str(row) for row in range(20)]
    sources: dict[int, StoredTexts] = {3: ('["a"]', None, '["c"]'), 7: (None, '{"b":1}', None)}
    part = bytearray(records_part(None, ids, {3: frozenset(["s"])}, sources, lambda _: True))
    for _ in range(data.draw(st.integers(1, 3))):
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(*REFUSALS):
        records = stored(bytes(part))
        records.check(20)
        for row in range(20):
            records.sessions(row)
            records.texts(row)


SPELLINGS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 2]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
    }
)


@given(metadata=st.lists(METADATA, max_size=6), path=PATHS, spelling=SPELLINGS)
def test_values_at_a_path_are_those_of_the_parsed_metadata(
    metadata: list[dict[str, object]], path: str | tuple[str, ...], spelling: dict[str, object]
) -> None:
    sources = {
        3 * place: (None, json.dumps(each, **spelling), None)  # type: ignore[arg-type]
        for place, each in enumerate(metadata)
    }
    ids = [str(row) for row in range(3 * len(metadata))]
    records = stored(records_part(None, ids, {}, sources, lambda _: True))
    found = dict(records.metadata_values(path))
    wanted = {3 * place: value_at(each, path) for place, each in enumerate(metadata)}
    assert repr(sorted(found.items())) == repr(
        [(row, value) for row, value in wanted.items() if value is not NOTHING]
    )


@given(data=st.data())
def test_values_of_damaged_metadata_are_refused_or_read(data: st.DataObject) -> None:
    ids = [str(row) for row in range(20)]
    sources: dict[int, StoredTexts] = {
        3: (None, '{"b":{"c":[1,"x"]}}', '["l"]'),
        7: ('["t"]', '{"b":1,"b.c":null}', None),
    }
    part = bytearray(records_part(None, ids, {}, sources, lambda _: True))
    for _ in range(data.draw(st.integers(1, 3))):
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(*REFUSALS):
        list(stored(bytes(part)).metadata_values("b.c"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"last": 2}, "first, last"),
        ({"first": 1, "last": 0}, "first, last"),
        ({"stride": 0}, "first, last"),
        ({"offset": 1}, "first, last"),
        ({"keys": []}, "keys: must not be empty"),
        ({"ends": memoryview(np.array([9], np.uint64))}, "ends: text 0 is out of bounds"),
        ({"ends": memoryview(np.array([1], np.uint32))}, "ends: must be a contiguous buffer"),
        ({"texts": memoryview(np.zeros((2, 2), np.uint8))}, "texts: must be a contiguous buffer"),
    ],
)
def test_values_of_texts_that_do_not_fit_are_refused(
    changed: dict[str, object], message: str
) -> None:
    given: dict[str, object] = {
        "texts": memoryview(b'{"a":1}'),
        "ends": memoryview(np.array([7], np.uint64)),
        "keys": [b"a"],
        "whole_key": b"",
    }
    given |= {"stride": 1, "offset": 0, "first": 0, "last": 1}
    assert _core.json_values(**given) == ([0], b"[1]", [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        _core.json_values(**(given | changed))  # type: ignore[arg-type]
