"""The steps that SQLite takes, which are the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

import oneiros


def steps_of(engine: oneiros.Engine, run: Callable[[], object]) -> int:
    """Return how many steps SQLite takes for the reads and writes of a call."""
    store = engine._scope.services.store
    with store.read() as reading:
        connections = [reading._connection, store._writer.connection]
    steps = 0

    def count(event: dict[str, Any]) -> None:
        nonlocal steps
        steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    for connection in connections:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count)
    run()
    for connection in connections:
        connection.trace_v2(0, None)
    return steps
