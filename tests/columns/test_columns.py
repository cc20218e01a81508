"""The columns as Python sees them: views, writes, refusals, reinforcement."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.scoring.reinforcement import Reinforcement
from tests.oracles import reverie

NOW = 1_750_000_000.0
R20 = Reinforcement()


def rows(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.uint32)


def filled(count: int) -> _core.Columns:
    columns = _core.Columns()
    columns.append(count=count)
    return columns


def reinforce(columns: _core.Columns, row: int, now: float, spread: int) -> None:
    columns.write(rows=[row], values={"session_spread": [spread]})
    numbers = _core.ReinforcementRule(**R20.rule())
    rule = _core.UseRule(
        found=numbers,
        linked=numbers,
        link_gain=None,
        link_rest_days=0.0,
        link_tau_days=90.0,
        most_linked=0,
        is_once_a_session=False,
        warms=False,
        core_accesses=None,
        core_stability=0.0,
        core_sessions=1,
    )
    _core.Reinforcer(columns=columns, sessions=_core.SessionSets()).apply(
        rows=[row],
        direct=[],
        linked=[],
        now_seconds=now,
        session=None,
        rule=rule,
        most_waiting=500,
    )


def test_the_schema_names_every_column_of_the_fields_page() -> None:
    schema = _core.Columns.schema()
    assert schema["strength"] == "float32"
    assert schema["created_at"] == "float64"
    assert schema["kind"] == "uint16"
    assert schema["feedback"] == "int16"
    assert schema["access_count"] == "uint32"
    assert schema["depth"] == "uint8"
    assert schema["asks"] == "float32"
    assert schema["sequence"] == "float64"
    assert schema["names_time"] == "uint8"
    assert len(schema) == 46
    columns = filled(2)
    for name, dtype in schema.items():
        view = columns.view(name=name)
        assert view.dtype == np.dtype(dtype)
        assert view.shape == (2,)
        assert view[0] == view[1] or (np.isnan(view[0]) and np.isnan(view[1]))


def test_a_view_is_read_only_and_sees_later_writes() -> None:
    columns = filled(2)
    view = columns.view(name="strength")
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0.0
    columns.write(rows=rows(1), values={"strength": np.array([0.5], np.float32)})
    assert view.tolist() == [1.0, 0.5]


def test_a_view_outlives_its_columns_and_keeps_its_address() -> None:
    columns = filled(3)
    view = columns.view(name="importance")
    address = view.ctypes.data
    columns.append(count=2_000_000)
    assert columns.view(name="importance").ctypes.data == address
    del columns
    gc.collect()
    assert view.tolist() == [0.5, 0.5, 0.5]


@given(
    st.lists(
        st.tuples(st.integers(0, 49), st.floats(0, 1, width=32), st.integers(1, 3)), max_size=60
    )
)
def test_columns_hold_what_a_dict_holds(written: list[tuple[int, float, int]]) -> None:
    columns = filled(50)
    want: dict[int, tuple[float, int]] = {}
    for row, strength, depth in written:
        want[row] = (strength, depth)
    columns.write(
        rows=np.array([row for row, _, _ in written], np.uint32),
        values={
            "strength": np.array([strength for _, strength, _ in written], np.float32),
            "depth": np.array([depth for _, _, depth in written], np.uint8),
        },
    )
    strength, depth = columns.view(name="strength"), columns.view(name="depth")
    for row in range(50):
        assert (strength[row], depth[row]) == want.get(row, (1.0, 2))


@pytest.mark.parametrize(
    ("name", "values", "error", "message"),
    [
        ("depth", np.array([4], np.uint8), ValueError, r"depth: must be in \[1, 3\] .*got 4"),
        ("depth", np.array([1]), TypeError, "depth: expected uint8, got int64"),
        ("depth", np.array([[1]], np.uint8), ValueError, r"depth: expected shape \(n,\)"),
        ("depth", np.array([1, 2], np.uint8), ValueError, "depth: expected 1 values, one a row"),
        ("depth", {1}, TypeError, "depth: expected an array, got <class 'set'>"),
        ("depth", [4], ValueError, r"depth: must be in \[1, 3\] .*got 4"),
        ("depth", [256], ValueError, "depth: 256 lies beyond its column"),
        ("depth", [-1], ValueError, "depth: -1 lies beyond its column"),
        ("depth", [2**64], OverflowError, "too big"),
        ("depth", [None], TypeError, "NoneType"),
        ("depth", [1.5], TypeError, "float"),
        ("depth", (1, 2), ValueError, "depth: expected 1 values, one a row"),
        ("strength", ["1"], TypeError, "must be real number, not str"),
        ("strength", [None], ValueError, r"strength: .*got nan"),
        ("size", np.array([1], np.uint8), ValueError, "size: no column has this name"),
        ("strength", np.array([np.nan], np.float32), ValueError, r"strength: .*got nan"),
        ("created_at", np.array([np.inf]), ValueError, "created_at: must be finite .*got inf"),
        ("ttl", np.array([-1.0]), ValueError, "ttl: must be finite and >= 0 .*got -1"),
    ],
)
def test_a_bad_write_says_what_is_wrong_and_writes_nothing(
    name: str, values: Any, error: type[Exception], message: str
) -> None:
    columns = filled(1)
    with pytest.raises(error, match=message):
        columns.write(
            rows=rows(0), values={"importance": np.array([0.25], np.float32), name: values}
        )
    assert columns.view(name="importance")[0] == 0.5


def test_bad_rows_and_names_are_refused() -> None:
    columns = filled(1)
    with pytest.raises(ValueError, match=r"rows: 1 \(position 0\) is not one of the 1 rows"):
        columns.write(rows=rows(1), values={"depth": np.array([1], np.uint8)})
    with pytest.raises(TypeError, match="rows: expected uint32, got int64"):
        columns.write(rows=np.array([0]), values={})
    with pytest.raises(ValueError, match="weight: no column has this name"):
        columns.view(name="weight")
    with pytest.raises(TypeError):
        columns.append(count=-1)
    assert len(columns) == 1


def test_full_columns_say_so() -> None:
    columns = filled(1)
    with pytest.raises(OverflowError, match="columns: full: room for"):
        columns.append(count=columns.capacity)
    assert len(columns) == 1


def test_little_address_space_is_taken_as_rows_come_and_refused_at_its_end() -> None:
    program = """
import resource
import numpy as np
from oneiros import _core
limit = 4 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
columns = _core.Columns()
columns.append(count=100_000)
assert columns.view(name="strength")[99_999] == 1.0
rest = np.ones(1 << 28, np.uint8)
try:
    columns.append(count=100_000_000)
except MemoryError:
    columns.append(count=100_000)
    print(len(columns), columns.capacity, columns.view(name="strength")[199_999])
"""
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert told.stdout.split() == ["200000", str(_core.Columns().capacity), "1.0"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons, OpenBLAS threads
def test_a_fork_has_its_own_columns() -> None:
    columns = filled(1)
    view = columns.view(name="strength")
    child = os.fork()
    if child == 0:
        columns.append(count=100_000)
        columns.write(rows=rows(0), values={"strength": np.array([0.5], np.float32)})
        os._exit(0 if view[0] == 0.5 and len(columns) == 100_001 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert view[0] == 1.0
    assert len(columns) == 1


@given(
    st.floats(-30, 400),
    st.one_of(st.none(), st.floats(-30, 400)),
    st.floats(0, 20, width=32),
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
)
def test_reinforcement_agrees_with_its_oracle(
    created_days: float, used_days: float | None, stability: float, accesses: int, sessions: int
) -> None:
    columns = filled(1)
    created = NOW - created_days * reverie.DAY
    used = None if used_days is None else NOW - used_days * reverie.DAY
    life = reverie.Life(
        created_at=created,
        last_accessed_at=used,
        stability=stability,
        access_count=accesses,
        sessions=frozenset(str(i) for i in range(sessions)),
    )
    columns.write(
        rows=rows(0),
        values={
            "created_at": np.array([created]),
            "last_accessed_at": np.array([np.nan if used is None else used]),
            "stability": np.array([stability], np.float32),
            "access_count": np.array([accesses], np.uint32),
        },
    )
    reinforce(columns, 0, NOW, sessions)
    want = reverie.reinforce(life, NOW)
    assert columns.view(name="stability")[0] == want.stability
    assert columns.view(name="access_count")[0] == want.access_count
    assert columns.view(name="last_accessed_at")[0] == NOW
    assert columns.view(name="session_spread")[0] == want.session_spread


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gain": -1.0}, "gain: must be finite and >= 0, got -1"),
        ({"most": -1.0}, "most: must be finite and >= 0, got -1"),
        ({"span_days": 0.0}, "span_days: must be > 0 and finite, got 0"),
        ({"limit": float("inf")}, "limit: must be > 0 and finite, got inf"),
    ],
)
def test_a_bad_rule_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.ReinforcementRule(**(R20.rule() | changes))


def test_lists_are_written_as_arrays_are() -> None:
    by_list, by_array = filled(2), filled(2)
    by_list.write(
        rows=[1, 0],
        values={
            "ttl": [None, 60.0],
            "strength": (0.1, 1),
            "pinned": [True, False],
            "feedback": [-3, 32767],
            "access_count": [2**32 - 1, 0],
        },
    )
    by_array.write(
        rows=rows(1, 0),
        values={
            "ttl": np.array([np.nan, 60.0]),
            "strength": np.array([0.1, 1], np.float32),
            "pinned": np.array([1, 0], np.uint8),
            "feedback": np.array([-3, 32767], np.int16),
            "access_count": np.array([2**32 - 1, 0], np.uint32),
        },
    )
    for name in _core.Columns.schema():
        np.testing.assert_array_equal(by_list.view(name=name), by_array.view(name=name))


def test_values_at_rows_are_those_of_the_view() -> None:
    columns = filled(3)
    columns.write(rows=rows(2, 0), values={"strength": np.array([0.25, 0.5], np.float32)})
    for name in _core.Columns.schema():
        held = columns.values_at(name=name, rows=[2, 0, 2])
        np.testing.assert_array_equal(held, columns.view(name=name)[[2, 0, 2]])
    with pytest.raises(IndexError, match="rows: there is no row 3"):
        columns.values_at(name="strength", rows=[3])
    with pytest.raises(ValueError, match="nothing: no column has this name"):
        columns.values_at(name="nothing", rows=[0])


def test_threads_read_while_one_writes() -> None:
    columns = filled(10)
    faults: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            view = columns.view(name="strength")
            if not set(np.unique(view[:10])) <= {0.5, 1.0}:
                faults.append(f"torn value among {view[:10]}")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(300):
        columns.append(count=100)
        columns.write(rows=rows(i % 10), values={"strength": np.array([0.5], np.float32)})
    done.set()
    for reader in readers:
        reader.join()
    assert not faults
    assert len(columns) == 10 + 300 * 100


def test_garbage_is_collected_where_the_system_has_no_more_mappings() -> None:
    class Holder:
        def __init__(self) -> None:
            self.columns = _core.Columns()
            self.columns.append(count=1)
            self.own = self  # a cycle: only the collector frees it

    thresholds = gc.get_threshold()
    gc.set_threshold(0)  # nothing is collected unless somebody asks for it
    try:
        for _ in range(2_000):
            Holder()
    finally:
        gc.set_threshold(*thresholds)
        gc.collect()
