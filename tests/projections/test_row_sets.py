from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from oneiros.projections.lifecycle import Lifecycle
from oneiros.projections.row_sets import RowSets
from oneiros.scopes import allowed_bits

ROWS = st.sets(st.integers(0, 90))


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, live=ROWS, permitted=st.none() | st.sets(st.integers(0, 60)))
def test_of_rows_those_stay_that_a_search_may_return(
    rows: set[int], live: set[int], permitted: set[int] | None
) -> None:
    sets = RowSets(Lifecycle())
    sets.live = BitMap(live)
    bits = None if permitted is None else allowed_bits(BitMap(permitted), 61)
    found = sets.permitted_of(np.array(sorted(rows), np.uint32), bits)
    assert found.dtype == np.uint32
    assert found.tolist() == sorted(rows & (live if permitted is None else permitted))
