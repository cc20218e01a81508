"""Strengthening by use: in the columns at once, in the store a little later.

Source: docs/systems/reverie.md R20.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from oneiros.remember.write_behind import ReinforcementEvent, WriteBehind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from oneiros.memory import Memory
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.store import StoredMemory

__all__ = ["Reinforcing"]

_REINFORCED: Final = ("access_count", "last_accessed_at", "stability")


class Reinforcing:
    """What searches strengthened: the columns hold it, the store is owed it.

    Args:
        lifecycle: the columns.
        write: writes what is owed to the store; called by a thread of the queue.
    """

    def __init__(self, lifecycle: Lifecycle, write: Callable[[], None]) -> None:
        self._lifecycle = lifecycle
        # Guards columns and waiting events against each other: an event must never be counted
        # twice or lost when a row is read anew from the store.
        self._lock = threading.Lock()
        self._behind = WriteBehind(write)

    def put(self, event: ReinforcementEvent) -> None:
        """Strengthen what a search returned."""
        with self._lock:
            self._strengthen(event, event.ids)
            self._behind.put(event)

    def is_owing(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._behind.waiting())

    def owes(self, memory_id: str) -> bool:
        """Whether something of this memory waits to be written."""
        return any(memory_id in event.ids for event in self._behind.waiting())

    def apply_columns(self, batch: Sequence[StoredMemory]) -> None:
        """Read rows from the store, and strengthen again what it does not know of yet."""
        with self._lock:
            self._lifecycle.apply(batch)
            waiting = self._behind.waiting()
            if waiting:
                ids = {memory.id for memory in batch}
                for event in waiting:
                    self._strengthen(event, [i for i in event.ids if i in ids])

    def owing(self) -> frozenset[str]:
        """Ids of the memories of which something waits to be written."""
        return frozenset(i for event in self._behind.waiting() for i in event.ids)

    def as_reinforced(
        self, memories: list[Memory | None], owed_before: frozenset[str]
    ) -> list[Memory | None]:
        """Bring memories read from the store up to what it is owed.

        Args:
            memories: as the store held them.
            owed_before: :meth:`owing` from before they were read: what was written meanwhile waits
                no longer, and may yet be missing from what was read.
        """
        behind = owed_before | self.owing()
        return [
            self._up_to_date(memory) if memory is not None and memory.id in behind else memory
            for memory in memories
        ]

    def owed(
        self,
    ) -> tuple[list[ReinforcementEvent], list[tuple[str, dict[str, object]]]]:
        """Return the waiting events, and the fields to write for them."""
        with self._lock:
            events = list(self._behind.waiting())
            row_of = self._lifecycle.row_of
            ids = [
                i for i in dict.fromkeys(i for event in events for i in event.ids) if i in row_of
            ]
            rows = [row_of[memory_id] for memory_id in ids]
            values_at = self._lifecycle.columns.values_at
            values = [values_at(name=name, rows=rows) for name in _REINFORCED]
        return events, [
            (memory_id, dict(zip(_REINFORCED, row, strict=True)))
            for memory_id, row in zip(ids, zip(*values, strict=True), strict=True)
        ]

    def forget(self, memory_id: str) -> None:
        """Drop what waits for a memory that was erased: another may come by its id."""
        with self._lock:
            self._behind.drop(memory_id)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let nothing be strengthened while the block runs."""
        with self._lock:
            yield

    def settle(self, events: Sequence[ReinforcementEvent]) -> None:
        """Drop the oldest events: the store knows them now."""
        self._behind.forget_written(len(events))

    def raise_failure(self) -> None:
        """Raise what writing in the background failed with, once."""
        self._behind.raise_failure()

    def close(self) -> None:
        """Stop writing in the background."""
        self._behind.close()

    def _strengthen(self, event: ReinforcementEvent, ids: Sequence[str]) -> None:
        row_of = self._lifecycle.row_of
        rows = [row for i in ids if (row := row_of.get(i)) is not None]
        if not rows:
            return
        columns = self._lifecycle.columns
        spread = columns.values_at(name="session_spread", rows=rows)
        if event.session is not None:
            sizes = [self._lifecycle.remember_session(row, event.session) for row in rows]
            spread = list(map(max, spread, sizes))
        columns.reinforce(
            rows=rows,
            now_seconds=event.now,
            session_spread=spread,
            **event.rule.rule(),
        )

    def _up_to_date(self, memory: Memory) -> Memory:
        row = self._lifecycle.row_of.get(memory.id)
        if row is None:
            return memory
        with self._lock:
            values: dict[str, Any] = {
                name: self._lifecycle.columns.values_at(name=name, rows=[row])[0]
                for name in (*_REINFORCED, "session_spread")
            }
            return replace(memory, sessions=self._lifecycle.sessions_of(row), **values)
