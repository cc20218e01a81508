"""Reinforcement events waiting for the store: bounded in number and in time.

A search leaves an event. The thread that writes applies it to the columns before anything else is
read or written, puts it here and writes the events to the store in groups. A crash can lose what
waits here and nothing else. Source: docs/systems/reverie.md R20.
"""

from __future__ import annotations

from collections import deque
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.errors import StorePoisoned
from oneiros.ranking.reinforcement import SpacedReinforcement

if TYPE_CHECKING:
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
    """Events that wait for the store, and when they are due to be written.

    The thread that writes puts them in and takes them out; any thread may call :meth:`waiting` and
    :meth:`raise_failure`, which are single operations of the interpreter on what the other changes. So
    there is no lock, which a signal handler could find taken.
    """

    def __init__(self) -> None:
        self._events: list[ReinforcementEvent] = []
        self._waiting_count = 0
        self._due_at = 0.0  # of ``monotonic``, while events wait
        self._failures: deque[Exception] = deque(maxlen=1)  # the last
        self._has_stopped = False  # the store takes no more writes
        self._pause_seconds = FLUSH_SECONDS

    def put(self, event: ReinforcementEvent) -> None:
        """Queue one event.

        A store that takes no more writes is owed nothing more: the event is dropped, and ``flush``
        and ``close`` raise what stopped the writes.
        """
        if self._has_stopped:
            return
        if not self._events:
            self._due_at = monotonic() + FLUSH_SECONDS
        self._events.append(event)
        self._waiting_count += len(event.ids)

    def due_in(self) -> float | None:
        """Return the seconds until the events are due to be written; None while none waits."""
        if not self._events:
            return None
        if self._waiting_count >= FLUSH_EVENTS and not self._failures:
            return 0.0
        return max(0.0, self._due_at - monotonic())

    def waiting(self) -> tuple[ReinforcementEvent, ...]:
        """Return the events not yet written, oldest first."""
        return tuple(self._events)

    def forget_written(self, count: int) -> None:
        """Drop the oldest ``count`` events: the store holds them now."""
        written = self._events[:count]
        del self._events[:count]
        self._waiting_count -= sum(len(event.ids) for event in written)
        self._due_at = monotonic() + FLUSH_SECONDS

    def drop(self, memory_id: str) -> None:
        """Remove an erased memory from every event."""
        for place, event in enumerate(self._events):
            if memory_id in event.ids or memory_id in event.direct:
                left = tuple(other for other in event.ids if other != memory_id)
                self._waiting_count -= len(event.ids) - len(left)
                found = tuple(other for other in event.direct if other != memory_id)
                self._events[place] = replace(event, ids=left, direct=found)

    def note_success(self) -> None:
        """Record that the events were written in the background."""
        self._failures.clear()
        self._pause_seconds = FLUSH_SECONDS

    def note_failure(self, error: Exception) -> None:
        """Record that they could not be, for :meth:`raise_failure`; the next try is later."""
        self._failures.append(error)
        self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)
        self._due_at = monotonic() + self._pause_seconds
        if isinstance(error, StorePoisoned):
            self._has_stopped = True
            self._events.clear()
            self._waiting_count = 0

    def raise_failure(self) -> None:
        """Raise what the last write in the background failed with, once."""
        try:
            failure = self._failures.pop()
        except IndexError:
            return
        raise failure
