"""Row sets to bits and back, against one row at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyroaring import BitMap

from oneiros.filters import allowed_bits, rows_where, set_of
from oneiros.filters.row_bitmaps import rows_of_bits

# Pieces that make each kind of container: single rows, dense spans, long runs.
PIECES = st.lists(
    st.tuples(
        st.integers(0, 300_000),
        st.integers(1, 70_000),
        st.sampled_from(["row", "run", "dense", "sparse"]),
    ),
    max_size=6,
)


def masked(pieces: list[tuple[int, int, str]], size: int) -> np.ndarray:
    mask = np.zeros(size, np.bool_)
    for start, length, kind in pieces:
        if kind == "row":
            mask[start : start + 1] = True
        elif kind == "run":
            mask[start : start + length] = True
        else:
            mask[start : start + length : 2 if kind == "dense" else 97] = True
    return mask


@given(PIECES, st.integers(0, 400_000), st.integers(0, 400_000), st.booleans())
@example([(0, 65_536, "run")], 65_536, 65_536, True)
@example([(0, 8_192, "dense")], 8_192, 8_192, False)  # 4,096 rows: the most an array holds
@example([(0, 8_194, "dense")], 8_194, 8_194, False)
@example([(65_536 * n, 9, "run") for n in range(5)], 330_000, 330_000, True)  # runs with offsets
@example([(65_536 * n, 9, "run") for n in range(3)], 200_000, 200_000, True)  # runs without
def test_bits_and_rows_are_the_mask(
    pieces: list[tuple[int, int, str]], size: int, row_count: int, has_runs: bool
) -> None:
    mask = masked(pieces, size)
    rows = rows_where(mask)
    assert rows == BitMap(np.flatnonzero(mask).tolist())
    assert rows == set_of(np.flatnonzero(mask).astype(np.uint32))
    packed = np.packbits(mask, bitorder="little").tobytes()
    assert rows_of_bits(memoryview(packed), size) == rows
    assert list(rows_of_bits(memoryview(b"\xff" * 9), 65)) == list(range(65))
    if has_runs:
        rows.run_optimize()
    wide = np.zeros(row_count, np.bool_)
    wide[: min(size, row_count)] = mask[:row_count]
    assert allowed_bits(rows, row_count) == np.packbits(wide, bitorder="little").tobytes()


def test_a_set_made_of_rows_works_as_one_made_by_pyroaring() -> None:
    mask = masked([(0, 70_000, "dense"), (100_000, 50_000, "sparse")], 200_000)
    rows = rows_where(mask)
    rows.add(1)
    rows |= BitMap([199_999])
    rows &= BitMap(range(50_000, 200_000))
    mask[[1, 199_999]] = True
    mask[:50_000] = False
    assert list(rows) == np.flatnonzero(mask).tolist()


def test_the_ends_of_the_range() -> None:
    assert len(allowed_bits(BitMap(), 0)) == 0
    assert allowed_bits(BitMap([0, 2**32 - 1]), 9) == b"\x01\x00"
    assert list(set_of([2**32 - 1, 0])) == [0, 2**32 - 1]
    assert list(set_of([])) == []
    with pytest.raises(ValueError, match="row_count: must be >= 0, got -1"):
        allowed_bits(BitMap(), -1)
    with pytest.raises(OverflowError):
        set_of([2**32])
