"""Columns written to the store: each memory its own values, in whatever fields it changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from oneiros import _core
from oneiros.index.columns import ColumnWrite, Lifecycle
from oneiros.model.fields import FIELDS
from oneiros.store import Store
from oneiros.write.cycle_columns import write_columns
from tests.store.samples import FULL, memory, rows

NAMES = [name for name in _core.Columns.schema() if name in FIELDS and FIELDS[name].range]


def held(store: Store) -> dict[str, np.ndarray[Any, Any]]:
    lifecycle = Lifecycle()
    lifecycle.apply(rows(store))
    return {name: lifecycle.column(name).copy() for name in NAMES}


def test_every_field_of_numbers_can_be_written_at_once() -> None:
    """One number says which fields a memory changes in: with 30 of them it is a large one."""
    with Store(":memory:") as store:
        with store.write() as transaction:
            transaction.insert_many([memory("plain"), FULL, memory("other")])
        before = held(store)
        first, last = np.array([0, 1], np.uint32), np.array([2], np.uint32)
        writes = [ColumnWrite(name, first, before[name][[1, 0]]) for name in NAMES]
        writes[-1] = ColumnWrite(NAMES[-1], last, before[NAMES[-1]][[1]])
        with store.write() as transaction:
            write_columns(transaction, writes, np.array([1, 2, 3], np.int64))
        after = held(store)
        for name in NAMES[:-1]:
            np.testing.assert_array_equal(after[name], before[name][[1, 0, 2]])
        np.testing.assert_array_equal(after[NAMES[-1]], before[NAMES[-1]][[0, 1, 1]])
