"""Memories to store, and short ways to write and read them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np

from oneiros.model.memory import Memory
from oneiros.store import Reading, Store, StoredMemory
from oneiros.store.erased import digest_of
from oneiros.store.rows import encoded_embedding

NOW = 1_780_000_000.0
BLOB = encoded_embedding(np.array([0.6, 0.8], np.float32))
"""The stored form of an embedding."""


def memory(id: str, **fields: object) -> Memory:
    return Memory.from_record({"id": id, "text": f"text of {id}", **fields}, now=NOW)


FULL = memory(
    "full\0id",
    text="all of it \0 Größe 会議 🦊",
    title="T",
    kind="decision",
    category="procedural",
    topic="t",
    project="p",
    session="s2",
    user="ada",
    agent="writer\0",
    namespace="acme/suppört",
    sessions=["s1", "s2"],
    tags=["b", "a", "b"],
    labels=["z", "ü", "z"],
    metadata={"a": [1, 2.5, None, True, {"ü\0": "x"}]},
    created_at=5.0,
    updated_at=6.0,
    last_accessed_at=7.25,
    event_at=8.0,
    valid_from=9.0,
    valid_until=10.0,
    ttl=60.0,
    importance=0.9,
    certainty=0.1,
    impact=1.0,
    veracity="tool",
    pinned=True,
    source="tool",
    source_ref="https://example.org/?q=1",
    derived_from=["one", "other\0"],
    trust=0.3,
    feedback=-3,
    access_count=2**32 - 1,
    revision_count=4,
    duplicate_count=5,
    session_spread=6,
    strength=0.25,
    depth=3,
    stability=2.5,
    consolidation_quality=0.75,
    importance_tag="schema_violation",
    status="archived",
    core=True,
    at_floor_since=11.0,
    cold_since=12.0,
    tier="stub",
    superseded_by="other",
    deleted_at=13.0,
)


def add(store: Store, *memories: Memory) -> None:
    with store.write() as transaction:
        transaction.insert_many(memories)


def add_ids(store: Store, *ids: str) -> None:
    """Add memories that differ in nothing but their ids and texts."""
    add(store, *map(memory, ids))


def small_store(path: Path, count: int = 3) -> bytes:
    """Write a store of the memories "m0", "m1" and so on, and return its bytes."""
    with Store(path) as store:
        add_ids(store, *(f"m{i}" for i in range(count)))
    return path.read_bytes()


def run_sql(path: Path, sql: str, *values: object) -> None:
    """Run SQL past the store, on a connection of its own."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(sql, values)


def erased_of(store: Store, ids: Sequence[str], after: int = 0) -> list[str]:
    """Return those of some ids whose memories were erased, in order of the commits."""
    with store.read() as reading:
        names = {digest_of(id, reading.erased_salt()): id for id in ids}
        return [names[erased.digest] for erased in reading.erased(after)]


def rows(store: Store, after: int = 0) -> list[StoredMemory]:
    return [row for part in store.changes(after) for row in part]


def feedback_events(reading: Reading) -> list[tuple[str, str, str, float]]:
    """Return (id, kind, verdict, time) of the feedback events, in order."""
    return reading.rows("""
SELECT id, feedback_event.kind, verdict, time
FROM feedback_event JOIN memory USING (sequence) ORDER BY number""")
