"""When the events that wait for the store are due, and what became of the last write of them.

A search's event is applied to the columns at once, waits in the core and is written to the store in
groups by the thread that writes. A crash can lose what waits and nothing else.
Source: docs/systems/reverie.md R20.
"""

from __future__ import annotations

from collections import deque
from time import monotonic

from oneiros.errors import StorePoisoned

__all__ = ["FLUSH_EVENTS", "WriteBehind"]

# Half of what the durability promise allows (one second, 1,000 events): the other half is for the
# write itself.
FLUSH_SECONDS = 0.5
FLUSH_EVENTS = 500
LONGEST_PAUSE_SECONDS = 30.0  # between tries at a store that refuses


class WriteBehind:
    """When events are to be written. Used by the thread that writes.

    Any thread may call :meth:`keep_failure` and :meth:`raise_failure`, which are single operations of
    the interpreter on what the writer changes: there is no lock, which a signal handler could find
    taken.
    """

    def __init__(self) -> None:
        self._due_at: float | None = None  # of ``monotonic``; None: nothing was found waiting yet
        self._failures: deque[Exception] = deque(maxlen=1)  # the last
        self._pause_seconds = FLUSH_SECONDS

    def due_in(self, waiting_count: int) -> float | None:
        """Return the seconds until the events are due to be written; None while none waits.

        Args:
            waiting_count: accesses that wait.
        """
        if not waiting_count:
            self._due_at = None
            return None
        if waiting_count >= FLUSH_EVENTS and not self._failures:
            return 0.0
        if self._due_at is None:
            self._due_at = monotonic() + FLUSH_SECONDS
        return max(0.0, self._due_at - monotonic())

    def note_written(self) -> None:
        """Record that the store holds what waited."""
        self._due_at = None

    def note_success(self) -> None:
        """Record that the events were written in the background."""
        self._failures.clear()
        self._pause_seconds = FLUSH_SECONDS

    def keep_failure(self, error: Exception) -> None:
        """Keep what an event failed with, for :meth:`raise_failure`."""
        self._failures.append(error)

    def note_failure(self, error: Exception) -> bool:
        """Record that they could not be, for :meth:`raise_failure`; the next try is later.

        Returns:
            Whether the store takes no more writes: it is owed nothing more, and ``flush`` and
            ``close`` raise what stopped the writes.
        """
        self._failures.append(error)
        self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)
        self._due_at = monotonic() + self._pause_seconds
        return isinstance(error, StorePoisoned)

    def raise_failure(self) -> None:
        """Raise what the last write in the background failed with, once."""
        try:
            failure = self._failures.pop()
        except IndexError:
            return
        raise failure
