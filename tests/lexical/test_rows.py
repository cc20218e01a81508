"""The rows of ids beside a plain dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros.lexical.rows import IdRows

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

starts = st.integers(-200, 200) | st.sampled_from(
    [INT64_MIN, INT64_MAX - 300, 2**62 - 100, -(2**62) - 100]
)
runs = st.builds(lambda start, size: list(range(start, start + size)), starts, st.integers(1, 200))
others = st.lists(
    st.integers(-200, 200) | st.sampled_from(["x", "y", "", "a\0", "7"]) | st.just(INT64_MAX),
    max_size=8,
)
batches = st.lists(runs | others, max_size=4).map(
    lambda parts: [id for part in parts for id in part]
)
steps = st.one_of(
    st.tuples(st.just("batch"), batches),
    st.tuples(st.just("one by one"), batches),
    st.tuples(st.just("forget"), st.lists(starts | st.sampled_from(["x", "7"]), max_size=8)),
    st.tuples(st.just("forget"), runs),
    st.tuples(st.just("pack"), st.just([])),
)


def check(rows: IdRows, there: dict[int | str, int]) -> None:
    assert len(rows) == len(there)
    asked = [*there, *range(-210, 210, 7), "x", "y", "nobody", INT64_MIN, INT64_MAX]
    expected = [there.get(id, -1) for id in asked]
    assert rows.rows_of(asked).tolist() == expected
    numbers = [id for id in asked if isinstance(id, int)]
    assert rows.rows_of(numbers).tolist() == [there.get(id, -1) for id in numbers]
    for id in (*asked[:3], *asked[-40:]):
        assert rows.row_of(id) == there.get(id)
    ids = rows.ids_of(np.array(list(there.values()), dtype=np.uint32))
    assert ids.tolist() == list(there)
    assert all(type(id) in (int, str) for id in ids.tolist())
    assert (ids.dtype == np.int64) == all(isinstance(id, int) for id in there)


@settings(max_examples=300, deadline=None)
@given(st.lists(steps, max_size=12))
def test_any_history_gives_the_rows_of_a_dict(history: list) -> None:
    rows = IdRows()
    there: dict[int | str, int] = {}
    count = 0
    for step, ids in history:
        if step == "pack":
            packed = rows.packed()
            rows = IdRows.unpacked(packed)
            assert rows.packed() == packed
        elif step == "forget":
            for id in ids:
                if there.pop(id, None) is not None:
                    rows.forget(id)
        else:
            for id in ids:
                if id not in there:
                    there[id] = count
                    count += 1
            given = rows.assigned(ids) if step == "batch" else [rows.assigned_one(id) for id in ids]
            assert list(given) == [there[id] for id in ids]
        check(rows, there)


def test_a_row_tells_its_id_when_that_was_forgotten() -> None:
    rows = IdRows()
    rows.assigned([*range(100), *range(500, 510)])
    rows.assigned_one(7_000)
    for id in (50, 505, 7_000):
        rows.forget(id)
    assert rows.ids_of(np.array([50, 105, 110], dtype=np.uint32)).tolist() == [50, 505, 7_000]


@pytest.mark.parametrize("ids", [range(200_000), [3 * i for i in range(100)]])
def test_ids_that_count_up_cost_nothing_each(ids: list[int]) -> None:
    rows = IdRows()
    rows.assigned_one(10**6)
    rows.assigned(list(ids))
    for id in range(10**6 + 1, 10**6 + 5_000):
        rows.assigned_one(id)
    assert rows.nbytes < 40_000
