"""What undoes a cycle comes back as it was written, and damaged bytes are told, whatever they are."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.dream import ledger
from oneiros.errors import StoreCorrupt

SCHEMA = _core.Columns.schema()
SEQUENCES = st.lists(st.integers(1, 2**40), max_size=20, unique=True).map(sorted)
TIMES = st.floats(0, 4e9)
STATES = st.none() | st.tuples(st.integers(0, 3), st.floats(0, 1), TIMES, st.none() | TIMES)


@st.composite
def _columns(draw: st.DrawFn) -> ledger.KeptColumn:
    field = draw(st.sampled_from(["strength", "deleted_at", "status", "depth", "access_count"]))
    dtype = np.dtype(SCHEMA[field])
    sequences = draw(SEQUENCES)
    if dtype.kind == "f":
        values: st.SearchStrategy[Any] = st.just(float("nan")) | st.floats(width=32)
    else:
        values = st.integers(0, np.iinfo(dtype).max)
    drawn = st.lists(values, min_size=len(sequences), max_size=len(sequences))
    before, after = (np.array(draw(drawn), dtype) for _ in range(2))
    return ledger.KeptColumn(field, np.array(sequences, np.int64), before, after)


LEDGERS = st.tuples(
    st.lists(_columns(), max_size=4),
    st.lists(
        st.builds(ledger.KeptLink, st.integers(1, 99), st.integers(1, 99), STATES, STATES),
        max_size=4,
    ),
)


@given(LEDGERS)
def test_what_is_kept_comes_back(kept: tuple[list[Any], list[Any]]) -> None:
    columns, links = ledger.decoded(ledger.encoded(*kept))
    assert links == kept[1]
    assert len(columns) == len(kept[0])
    for found, wanted in zip(columns, kept[0], strict=True):
        assert found.field == wanted.field
        for one, other in zip(found[1:], wanted[1:], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@given(LEDGERS, st.data())
def test_a_flipped_bit_is_told(kept: tuple[list[Any], list[Any]], data: st.DataObject) -> None:
    blob = bytearray(ledger.encoded(*kept))
    bit = data.draw(st.integers(0, 8 * len(blob) - 1))
    blob[bit // 8] ^= 1 << bit % 8
    with pytest.raises(StoreCorrupt, match="damaged changes"):
        ledger.decoded(bytes(blob))


@given(LEDGERS, st.data())
def test_what_is_cut_or_longer_is_told(
    kept: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    blob = ledger.encoded(*kept)
    for damaged in (blob[: data.draw(st.integers(0, len(blob) - 1))], blob + b"\0"):
        with pytest.raises(StoreCorrupt, match="damaged changes"):
            ledger.decoded(damaged)


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
        ledger.decoded(_sealed(header))


def test_a_block_that_swells_is_told() -> None:
    block = zlib.compress(bytes(10**7))
    with pytest.raises(StoreCorrupt, match="bytes for 2 values"):
        ledger.decoded(_sealed(_column(2, [len(block)] * 3), block * 3))
