"""Delays a fork until no thread is inside SQLite.

SQLite tracks the locks of a file in the process, in addition to those of the kernel. A child inherits
that state: locks that a thread of its parent had at the fork are never released in the child, and
writes and checkpoints in the child would wait for them forever.
"""

from __future__ import annotations

import os
import threading
from itertools import count
from typing import Final

from oneiros.clock import Deadline

__all__ = ["GATE", "ForkGate"]

_LOOK_SECONDS: Final = 0.0005
_LONGEST_PAUSE_SECONDS: Final = 1.0  # limits the wait of a thread that forks inside its own read


class ForkGate:
    """Counts the threads inside SQLite, and admits none while a fork waits for them.

    There is no lock: a signal handler may use SQLite while the main thread is in here. Threads add and
    remove entries, which are atomic operations of the interpreter. A thread adds its entry before it
    checks for a waiting fork, and a fork announces itself before it checks for entries.
    """

    def __init__(self) -> None:
        self._inside: dict[int, int] = {}  # entry -> thread
        self._entries = count()
        self._fork_ended: threading.Event | None = None  # set by the waiting fork

    def enter(self) -> int:
        """Begin to use SQLite; return the entry for :meth:`leave`."""
        thread = threading.get_ident()
        entry = next(self._entries)
        self._inside[entry] = thread
        fork_ended = self._fork_ended
        if fork_ended is not None:
            del self._inside[entry]
            if thread not in [*self._inside.values()]:  # otherwise the fork waits for this thread
                fork_ended.wait(_LONGEST_PAUSE_SECONDS)
            self._inside[entry] = thread
        return entry

    def leave(self, entry: int) -> None:
        """Stop using SQLite; another thread may call this for the one that entered."""
        self._inside.pop(entry, None)  # a child has dropped the entries of its parent's threads

    def hold(self) -> None:
        """Before a fork: admit no thread, and wait at most a second for those inside."""
        self._fork_ended = threading.Event()
        this_thread = threading.get_ident()
        deadline = Deadline(_LONGEST_PAUSE_SECONDS)
        while deadline.left() and any(thread != this_thread for thread in [*self._inside.values()]):
            deadline.pause(_LOOK_SECONDS)

    def open(self) -> None:
        """After a fork, in the parent: admit threads again."""
        fork_ended, self._fork_ended = self._fork_ended, None
        if fork_ended is not None:
            fork_ended.set()

    def renew(self) -> None:
        """After a fork, in the child: keep only the entries of its single thread."""
        this_thread = threading.get_ident()
        self._inside = {
            entry: thread for entry, thread in self._inside.items() if thread == this_thread
        }
        self._fork_ended = None


GATE: Final = ForkGate()
"""The gate of all stores."""

os.register_at_fork(before=GATE.hold, after_in_parent=GATE.open, after_in_child=GATE.renew)
