"""Columns that new rows have by default, and those that are written."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.memory import Memory
from oneiros.projections.lifecycle import Lifecycle
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
