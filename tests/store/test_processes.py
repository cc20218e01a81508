"""One writer, readers and would-be writers in processes of their own: each sees whole commits."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

from oneiros.errors import StoreBusy
from oneiros.model.memory import Memory
from oneiros.store import Store

SECONDS = 60.0 if os.environ.get("ONEIROS_LONG") else 2.0
BATCH = 7


def batch(name: str, number: int) -> list[Memory]:
    ids = [f"{name}-{number}-{part}" for part in range(BATCH)]
    return [Memory.from_record({"id": id, "text": "x" * 200}, now=0.0) for id in ids]


def opened(path: str, timeout: float) -> Store:
    """Whoever waits for nothing may find another process making the tables."""
    while True:
        try:
            return Store(path, busy_timeout_seconds=timeout, durability="normal")
        except StoreBusy:
            if timeout > 0:
                raise


def write_on(path: str, name: str, timeout: float) -> None:
    """Write batches until the time is over; a typed wait is the only failure allowed."""
    end = time.monotonic() + SECONDS
    number = 0
    with opened(path, timeout) as store:
        while time.monotonic() < end:
            try:
                with store.write() as transaction:
                    transaction.insert_many(batch(name, number))
                number += 1
            except StoreBusy:
                continue
    assert number > 0 or timeout == 0.0


def follow(path: str, is_late: bool) -> None:
    """Follow the others' commits; every state is a whole number of batches, none is missed."""
    if is_late:
        time.sleep(SECONDS / 2)
    end = time.monotonic() + SECONDS
    seen: set[str] = set()
    revision = 0
    with Store(path, busy_timeout_seconds=30.0) as store:
        while time.monotonic() < end:
            with store.read() as reading:
                now = reading.last_revision()
                new = [row for part in reading.changes(revision, batch=50) for row in part]
                assert reading.count() == now * BATCH
            assert now >= revision
            assert {row.revision for row in new} == set(range(revision + 1, now + 1))
            assert len(new) == (now - revision) * BATCH
            seen |= {row.id for row in new}
            revision = now
            assert len(seen) == revision * BATCH
            assert store.revision() >= revision


def test_every_process_sees_a_prefix_of_the_commits(tmp_path: Path) -> None:
    path = str(tmp_path / "mind.db")
    context = multiprocessing.get_context("spawn")
    work = [
        (write_on, (path, "steady", 30.0)),
        (write_on, (path, "hasty", 0.0)),
        (follow, (path, False)),
        (follow, (path, True)),
    ]
    processes = [context.Process(target=target, args=given) for target, given in work]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)
    with Store(path) as store:
        assert store.quick_check() == []
        assert store.count() == store.revision() * BATCH
