"""What undoes a cycle comes back as it was written, and damaged bytes are told, whatever they are."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.dream import undo_log
from oneiros.errors import StoreCorrupt
from oneiros.index.columns import LongNumbers

SCHEMA = _core.Columns.schema()
SEQUENCES = st.lists(st.integers(1, 2**40), max_size=20, unique=True).map(sorted)
TIMES = st.floats(0, 4e9)
VALUES: dict[str, st.SearchStrategy[Any]] = {  # as docs/systems/fields.md has them
    "strength": st.floats(0, 1, width=32),
    "stability": st.floats(0, width=32, allow_infinity=False),
    "deleted_at": st.just(math.nan) | st.floats(-1e9, 1e11),
    "status": st.integers(0, 3),
    "depth": st.integers(1, 3),
    "access_count": st.integers(0, 2**32 - 1),
}
ENDS = st.lists(st.integers(1, 99), min_size=2, max_size=2, unique=True)
STATES = st.none() | st.tuples(st.integers(0, 3), st.floats(0, 1), TIMES, st.none() | TIMES)


@st.composite
def _columns(draw: st.DrawFn) -> undo_log.KeptColumn:
    field = draw(st.sampled_from(list(VALUES)))
    dtype = np.dtype(SCHEMA[field])
    sequences = draw(SEQUENCES)
    values = VALUES[field]
    drawn = st.lists(values, min_size=len(sequences), max_size=len(sequences))
    before, after = (np.array(draw(drawn), dtype) for _ in range(2))
    long = draw(_long_numbers(before)) if dtype == np.float32 else None
    return undo_log.KeptColumn(field, np.array(sequences, np.int64), before, after, long)


@st.composite
def _long_numbers(draw: st.DrawFn, before: np.ndarray[Any, Any]) -> LongNumbers | None:
    """Numbers that are nearer to what a column holds than to its neighbours."""
    places = [place for place in range(len(before)) if draw(st.booleans())]
    numbers = before[places].astype(np.float64) * (1.0 - 2.0**-40)
    return LongNumbers(np.array(places, np.int64), numbers) if places else None


LINKS = st.builds(
    lambda ends, before, after: undo_log.KeptLink(*ends, before, after), ENDS, STATES, STATES
)
LEDGERS = st.tuples(
    st.lists(_columns(), max_size=4, unique_by=lambda column: column.field),
    st.lists(LINKS, max_size=4),
)


@given(LEDGERS)
def test_what_is_kept_comes_back(kept: tuple[list[Any], list[Any]]) -> None:
    blob = undo_log.encoded(*kept, revision=7)
    assert undo_log.revision_of(blob) == 7
    columns, links = undo_log.decoded(blob)
    assert links == kept[1]
    assert len(columns) == len(kept[0])
    for found, wanted in zip(columns, kept[0], strict=True):
        assert found.field == wanted.field
        assert (found.long is None) == (wanted.long is None)
        arrays = [(*one[1:4], *(one.long or ())) for one in (found, wanted)]
        for one, other in zip(*arrays, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@given(LEDGERS, st.data())
def test_a_flipped_bit_is_told(kept: tuple[list[Any], list[Any]], data: st.DataObject) -> None:
    blob = bytearray(undo_log.encoded(*kept, revision=7))
    bit = data.draw(st.integers(0, 8 * len(blob) - 1))
    blob[bit // 8] ^= 1 << bit % 8
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        undo_log.decoded(bytes(blob))


@given(LEDGERS, st.data())
def test_what_is_cut_or_longer_is_told(
    kept: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    blob = undo_log.encoded(*kept, revision=7)
    for damaged in (blob[: data.draw(st.integers(0, len(blob) - 1))], blob + b"\0"):
        with pytest.raises(StoreCorrupt, match="damaged changes"):
            undo_log.decoded(damaged)


def _sealed(header: str, blocks: bytes = b"") -> bytes:
    """Return a blob whose checksum is right."""
    checked = len(header).to_bytes(4, "little") + header.encode() + blocks
    return b"oneiros-dream-1\n" + zlib.crc32(checked).to_bytes(4, "little") + checked


def _column(rows: object, sizes: object, field: object = "strength") -> str:
    column = {"field": field, "rows": rows, "bytes": sizes}
    return json.dumps({"columns": [column], "links": []})


@pytest.mark.parametrize(
    "header",
    [
        "", "null", "[]", "{}", "7", "[" * 100_000, '"\\ud800"',
        _column(-1, [0, 0, 0]), _column(2**62, [0, 0, 0]), _column(1.5, [0, 0, 0]),
        _column(1, [0, 0]), _column(1, [9, 9, 9]), _column(1, [-1, 0, 0]), _column(1, "abc"),
        _column(1, [float("inf")] * 3), _column(0, [0, 0, 0], "no field"),
        _column(0, [0, 0, 0], ["x"]),
        '{"columns": [], "links": [[1, 2, null]]}',
        '{"columns": [], "links": [[Infinity, 2, null, null]]}',
        '{"columns": [], "links": [[1, 2, [1], null]]}',
        '{"columns": [], "links": [[1, 2, [0, 1' + "0" * 400 + ', 0, null], null]]}',
    ],
)  # fmt: skip
def test_a_hostile_header_is_told(header: str) -> None:
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        undo_log.decoded(_sealed(header))


def test_a_block_that_swells_is_told() -> None:
    block = zlib.compress(bytes(10**7))
    with pytest.raises(StoreCorrupt, match="bytes for 2 values"):
        undo_log.decoded(_sealed(_column(2, [len(block)] * 3), block * 3))


def _of_steps(steps: list[int], field: str = "strength") -> bytes:
    """Return a ledger in which memories stand so far from each other, sealed."""
    values = np.zeros(len(steps), SCHEMA[field])
    parts = [np.array(steps, "<i8"), values, values]
    blocks = [zlib.compress(part.tobytes()) for part in parts]
    sizes = [len(block) for block in blocks]
    return _sealed(_column(len(steps), sizes, field), b"".join(blocks))


def test_numbers_that_rise_are_read() -> None:
    ((column,), _) = undo_log.decoded(_of_steps([3, 1, 2**62]))
    assert column.sequences.tolist() == [3, 4, 4 + 2**62]


@pytest.mark.parametrize(
    "steps", [[0], [-1], [5, 0], [5, -1], [2**63 - 1, 1], [2**62, 2**62, 2**62, 2**62, 7]]
)
def test_numbers_that_do_not_rise_are_told(steps: list[int]) -> None:
    with pytest.raises(StoreCorrupt, match="numbers of memories that do not rise"):
        undo_log.decoded(_of_steps(steps))


@pytest.mark.parametrize("field", ["kind", "superseded", "asks", "topic_code"])
def test_a_field_that_no_cycle_changes_is_told(field: str) -> None:
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        undo_log.decoded(_of_steps([1], field))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("strength", 1.5), ("strength", -0.5), ("strength", math.nan), ("stability", math.inf),
        ("status", 4), ("depth", 0), ("core", 2), ("session_spread", 0), ("priority", 6),
        ("created_at", math.nan), ("cold_since", math.inf), ("deleted_at", 1e12),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["before", "after"])
def test_a_value_that_no_memory_holds_is_told(field: str, value: float, place: str) -> None:
    fine = {"depth": 1, "session_spread": 1, "priority": 1}.get(field, 0)
    values = {"before": fine, "after": fine} | {place: value}
    held = {name: np.array([fine, number], SCHEMA[field]) for name, number in values.items()}
    blob = undo_log.encoded([undo_log.KeptColumn(field, np.array([4, 9]), **held)], [], revision=7)
    with pytest.raises(StoreCorrupt, match=f"damaged changes .*{field}: must be"):
        undo_log.decoded(blob)


def test_a_field_told_twice_is_damage() -> None:
    value = np.ones(1, np.float32)
    column = undo_log.KeptColumn("strength", np.array([1]), value, value)
    with pytest.raises(StoreCorrupt, match="a field twice"):
        undo_log.decoded(undo_log.encoded([column, column], [], revision=7))


def _with_long(places: list[int], values: list[float], field: str = "strength") -> bytes:
    held = np.array([0.5, 0.25], SCHEMA[field])
    long = LongNumbers(np.array(places, np.int64), np.array(values))
    column = undo_log.KeptColumn(field, np.array([4, 9]), held, held, long)
    return undo_log.encoded([column], [], revision=7)


@pytest.mark.parametrize(
    ("places", "values", "field"),
    [
        ([2], [0.5], "strength"), ([-2], [0.25], "strength"), ([1, 0], [0.25, 0.5], "strength"),
        ([1, 1], [0.25, 0.25], "strength"), ([0], [0.6], "strength"), ([0], [math.nan], "strength"),
        ([0], [0.5], "created_at"),
    ],
)  # fmt: skip
def test_long_numbers_that_no_memory_held_are_told(
    places: list[int], values: list[float], field: str
) -> None:
    ((column,), _) = undo_log.decoded(_with_long([0], [0.5 + 2.0**-40]))
    assert column.long is not None
    assert column.long.values.tolist() == [0.5 + 2.0**-40]
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        undo_log.decoded(_with_long(places, values, field))


SOUND = [1, 2, [0, 0.5, 1.0, None], [0, 0.6, 1.0, 2.0]]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((0, end) for end in (0, -1, 2, 2**63, 1.0, "1", True, None)),
        *((2, [kind, 0.5, 1.0, None]) for kind in (-1, 6, 0.0, "0", None)),
        *((2, [0, weight, 1.0, None]) for weight in (-0.5, 1.5, math.nan, "1", None)),
        *((3, [0, 0.5, created, None]) for created in (math.inf, math.nan, "1", None)),
        *((3, [0, 0.5, 1.0, last]) for last in (math.inf, math.nan, "1")),
    ],
)
def test_a_link_that_makes_no_sense_is_told(place: int, value: object) -> None:
    def sealed(link: list[Any]) -> bytes:
        return _sealed(json.dumps({"columns": [], "links": [link]}))

    assert len(undo_log.decoded(sealed(SOUND))[1]) == 1
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        undo_log.decoded(sealed([*SOUND[:place], value, *SOUND[place + 1 :]]))
