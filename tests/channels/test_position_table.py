from __future__ import annotations

import numpy as np
import pytest

from oneiros.channels.position_table import ABSENT, PositionTable


@pytest.mark.parametrize("size", [1, 62, 63, 64, 65, 127, 128, 200])
def test_each_row_has_its_position_and_any_other_none(size: int) -> None:
    table, rows = PositionTable(), np.arange(size)
    table.reserve(size)
    table.put(rows, rows + 1_000)
    asked = np.array([0, size - 1, size, size + 1, 2 * size, 10**6, 2**32 - 1])
    want = [1_000, size + 999, *[ABSENT] * 5]
    assert table.of(asked).tolist() == want
    table.put(np.array([0, size, 10**6]), ABSENT)  # those beyond the room are passed over
    assert table.of(asked).tolist() == ([ABSENT, want[1], *want[2:]] if size > 1 else [ABSENT] * 7)
    table.reserve(3 * size)
    assert table.of(asked)[1:].tolist() == (want[1:] if size > 1 else [ABSENT] * 6)
    table.clear()
    assert (table.of(asked) == ABSENT).all()
