"""A fork waits until no thread is inside SQLite.

SQLite keeps the locks of a file in the process, beside those of the kernel. A child inherits these
books: what a thread of its parent held at the fork, a read or a write, nobody in the child ever
lets go, and a write or a checkpoint of its own would wait for it in vain.
"""

from __future__ import annotations

import os
import threading
from typing import Final

__all__ = ["GATE", "ForkGate"]

_LONGEST_PAUSE_SECONDS: Final = 1.0  # a thread that forks inside a read of its own gets on, too


class ForkGate:
    """Counts the threads inside SQLite, and lets none in while a fork waits for them."""

    def __init__(self) -> None:
        # Taken itself, and not by the condition: no interrupt comes between taking it and its block.
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        self._inside: dict[int, int] = {}  # thread -> how deep
        self._is_forking = False

    def enter(self) -> int:
        """Begin to use SQLite; returns what :meth:`leave` takes."""
        thread = threading.get_ident()
        with self._lock:
            if self._is_forking and thread not in self._inside:
                self._condition.wait_for(
                    lambda: not self._is_forking, timeout=_LONGEST_PAUSE_SECONDS
                )
            self._inside[thread] = self._inside.get(thread, 0) + 1
        return thread

    def leave(self, thread: int) -> None:
        """Be done with it; another thread may do so for the one that entered."""
        with self._lock:
            left = self._inside.get(thread, 1) - 1  # a child has forgotten its parent's threads
            if left:
                self._inside[thread] = left
                return
            self._inside.pop(thread, None)
            if self._is_forking:
                self._condition.notify_all()

    def hold(self) -> None:
        """Before a fork: wait for all other threads, a second at most, and let none in."""
        own = {threading.get_ident()}
        with self._lock:
            self._is_forking = True
            self._condition.wait_for(
                lambda: not self._inside.keys() - own, timeout=_LONGEST_PAUSE_SECONDS
            )

    def open(self) -> None:
        """After it, in the parent: go on."""
        with self._lock:
            self._is_forking = False
            self._condition.notify_all()

    def renew(self) -> None:
        """After it, in the child: a thread that is not here may have held the lock."""
        self._lock = threading.Lock()
        self._condition = threading.Condition(self._lock)
        own = threading.get_ident()
        self._inside = {own: self._inside[own]} if own in self._inside else {}
        self._is_forking = False


GATE: Final = ForkGate()
"""Of all stores."""

os.register_at_fork(before=GATE.hold, after_in_parent=GATE.open, after_in_child=GATE.renew)
