"""Columns that new rows have by default, and those that are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.index.columns import Lifecycle
from oneiros.model.memory import Memory
from oneiros.store import Store, StoredMemory
from tests.store.samples import FULL, memory, rows

SOME = [
    memory("plain"),
    FULL,
    memory("half", importance=0.25, ttl=60, pinned=True, superseded_by="plain", topic="t"),
    memory("old", created_at=0.0, last_accessed_at=1.0, depth=3),
]


def stored(memories: list[Memory]) -> list[StoredMemory]:
    with Store(":memory:") as store:
        with store.write() as transaction:
            transaction.insert_many(memories)
        return rows(store)


@given(st.lists(st.sampled_from(SOME), min_size=1, unique_by=lambda one: one.id))
def test_new_rows_hold_what_rows_hold_that_are_written_whole(memories: list[Memory]) -> None:
    batch = stored(memories)
    once, twice = Lifecycle(), Lifecycle()
    once.apply(batch)
    twice.apply(batch)
    twice.apply(batch)
    for name in _core.Columns.schema():
        np.testing.assert_array_equal(once.column(name), twice.column(name))


class CutOffIds(list[str]):
    """Ids of which the next are added, and then an interrupt comes; before one changes, too."""

    def extend(self, ids: Iterable[str]) -> None:
        super().extend(ids)
        raise KeyboardInterrupt

    def __setitem__(self, *_given: Any) -> None:
        raise KeyboardInterrupt


class CutOffRows(dict[str, int]):
    """Rows of ids before the next of which an interrupt comes."""

    def update(self, *_given: Any, **_named: Any) -> None:
        raise KeyboardInterrupt


def numbers(batch: list[StoredMemory]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([memory.sequence for memory in batch], np.int64)


@pytest.mark.parametrize("cut_off", ["ids", "row_of"])
def test_rows_that_an_interrupt_left_are_those_of_the_next(cut_off: str) -> None:
    """Nor do they keep anything of whom they were meant for, if another comes."""
    full = [memory(f"full{n}", strength=0.25, depth=3, topic="t") for n in range(3)]
    batch = stored(
        [*(memory(f"m{n}") for n in range(9)), *full, *(memory(f"z{n}") for n in range(9))]
    )
    rows = Lifecycle()
    rows.apply(batch[:9])
    held: Any = {"ids": CutOffIds, "row_of": CutOffRows}[cut_off](getattr(rows, cut_off))
    setattr(rows, cut_off, held)
    with pytest.raises(KeyboardInterrupt):
        rows.apply(batch[9:14])
    setattr(rows, cut_off, list(held) if cut_off == "ids" else dict(held))
    left = batch[:9] + batch[12:]  # three were erased meanwhile
    rows.apply(batch[12:])
    fresh = Lifecycle()
    fresh.apply(left)
    assert list(rows.ids) == list(fresh.ids) == [memory.id for memory in left]
    assert rows.rows_of_sequences(numbers(left)).tolist() == list(range(len(left)))
    for name in _core.Columns.schema():
        np.testing.assert_array_equal(rows.column(name)[: len(left)], fresh.column(name))


def test_an_erasing_that_was_cut_off_is_finished() -> None:
    batch = stored([memory(f"m{n}") for n in range(5)])
    rows = Lifecycle()
    rows.apply(batch)
    rows.ids = CutOffIds(rows.ids)
    with pytest.raises(KeyboardInterrupt):
        rows.erase(["m1", "m2"])
    rows.ids = list(rows.ids)
    rows.erase(["m2", "m1", "m9"])
    rows.erase(["m2"])
    assert list(rows.ids) == ["m0", "", "", "m3", "m4"]
    assert rows.rows_of_sequences(numbers(batch)).tolist() == [0, -1, -1, 3, 4]
