"""Rows are found by sequence numbers, in whatever order they came."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oneiros.projections.rows_by_sequence import RowsBySequence

SEQUENCES = st.integers(1, 2**53)


@given(st.lists(SEQUENCES, unique=True), st.lists(SEQUENCES | st.just(0)), st.data(), st.booleans())
def test_a_row_is_found_by_its_number(
    held: list[int], others: list[int], data: st.DataObject, is_sorted: bool
) -> None:
    if is_sorted:
        held.sort()
    erased = data.draw(st.sets(st.sampled_from(range(len(held))))) if held else set()
    asked = [*held, *others]
    left = [0 if row in erased else number for row, number in enumerate(held)]
    found = RowsBySequence(np.array(left, np.float64))(np.array(asked, np.int64))
    assert found.tolist() == [left.index(one) if one and one in left else -1 for one in asked]
