"""Reinforcement events waiting for the store: bounded in number and in time.

A search changes the columns at once and leaves an event here; a thread writes the events to the
store in groups. Source: docs/systems/reverie.md R20; what may be lost is what waits here.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from oneiros.errors import StorePoisoned
from oneiros.ranking.reinforcement import SpacedReinforcement

if TYPE_CHECKING:
    from collections.abc import Callable

    from oneiros.ranking.reinforcement import ReinforcementDeclaration

__all__ = ["ReinforcementEvent", "WriteBehind"]

# Half of what the durability promise allows (one second, 1,000 events): the other half is for the
# write itself.
FLUSH_SECONDS = 0.5
FLUSH_EVENTS = 500
LONGEST_PAUSE_SECONDS = 30.0  # between tries at a store that refuses


@dataclass(frozen=True, slots=True)
class ReinforcementEvent:
    """The memories one search returned."""

    ids: tuple[str, ...]
    now: float
    session: str | None
    rule: ReinforcementDeclaration
    direct: tuple[str, ...] = ()
    """Those found together: the direct results, before what links brought was merged in."""
    linked: frozenset[str] = frozenset()
    """Those of ``ids`` that links brought."""
    seen: frozenset[str] = frozenset()
    """Those that gain nothing from this session any more, but what is counted of every access."""

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs whose links gain. Source: docs/systems/cognitive.md C13."""
        rule = self.rule
        if not isinstance(rule, SpacedReinforcement) or rule.link_gain is None:
            return []
        pairs = combinations(self.direct[: rule.most_linked], 2)
        if not self.seen:
            return list(pairs)
        return [pair for pair in pairs if not self.seen.issuperset(pair)]


class WriteBehind:
    """A queue of events and the thread that has them written.

    Args:
        write: writes everything that waits (it calls :meth:`take`); runs on the thread of this
            queue. An error it raises is kept for :meth:`raise_failure`, and the events stay.
    """

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._condition = threading.Condition()
        self._events: list[ReinforcementEvent] = []
        self._waiting_count = 0
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._failure: BaseException | None = None
        self._has_stopped = False  # the store takes no more writes
        self._pause_seconds = FLUSH_SECONDS

    def put(self, event: ReinforcementEvent) -> None:
        """Queue one event; the thread starts with the first.

        A store that takes no more writes is owed nothing more: the event is let go, and what
        stopped the writes is raised by ``flush`` and ``close``.
        """
        with self._condition:
            if self._has_stopped:
                return
            self._events.append(event)
            self._waiting_count += len(event.ids)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(
                    target=self._run, name="oneiros-write-behind", daemon=True
                )
                self._thread.start()
            elif len(self._events) == 1 or self._waiting_count >= FLUSH_EVENTS:
                self._condition.notify_all()

    def waiting(self) -> tuple[ReinforcementEvent, ...]:
        """The events not yet written, oldest first."""
        with self._condition:
            return tuple(self._events)

    def forget_written(self, count: int) -> None:
        """Drop the oldest ``count`` events: they are in the store now."""
        with self._condition:
            written = self._events[:count]
            del self._events[:count]
            self._waiting_count -= sum(len(event.ids) for event in written)

    def drop(self, memory_id: str) -> None:
        """Take a memory out of every event: it was erased."""
        with self._condition:
            for place, event in enumerate(self._events):
                if memory_id in event.ids or memory_id in event.direct:
                    left = tuple(other for other in event.ids if other != memory_id)
                    self._waiting_count -= len(event.ids) - len(left)
                    found = tuple(other for other in event.direct if other != memory_id)
                    self._events[place] = replace(event, ids=left, direct=found)

    def raise_failure(self) -> None:
        """Raise what the thread's last write failed with, once."""
        with self._condition:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Stop the thread; what still waits is the caller's to write."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._wait_for_a_group():
            try:
                self._write()
            except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
                self._note(error)
            else:
                with self._condition:
                    self._failure = None
                    self._pause_seconds = FLUSH_SECONDS

    def _note(self, error: Exception) -> None:
        with self._condition:
            self._failure = error
            self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)
            if isinstance(error, StorePoisoned):
                self._has_stopped = True
                self._events.clear()
                self._waiting_count = 0

    def _wait_for_a_group(self) -> bool:
        with self._condition:
            self._condition.wait_for(lambda: self._is_closed or bool(self._events))
            is_backing_off = self._failure is not None
            self._condition.wait_for(
                lambda: (
                    self._is_closed or (self._waiting_count >= FLUSH_EVENTS and not is_backing_off)
                ),
                timeout=self._pause_seconds,
            )
            return not self._is_closed
