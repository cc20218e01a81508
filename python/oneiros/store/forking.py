"""A fork waits until no thread is inside SQLite.

SQLite keeps the locks of a file in the process, beside those of the kernel. A child inherits these
books: what a thread of its parent held at the fork, a read or a write, nobody in the child ever
lets go, and a write or a checkpoint of its own would wait for it in vain.
"""

from __future__ import annotations

import os
import threading
from itertools import count
from typing import Final

from oneiros.clock import Deadline

__all__ = ["GATE", "ForkGate"]

_LOOK_SECONDS: Final = 0.0005
_LONGEST_PAUSE_SECONDS: Final = 1.0  # a thread that forks inside a read of its own gets on, too


class ForkGate:
    """Counts the threads inside SQLite, and lets none in while a fork waits for them.

    There is no lock: a signal handler may use SQLite while the main thread is inside here. Threads
    put entries in and take them out, which are single operations of the interpreter; an entry is put
    in before it is looked whether a fork waits, and a fork says that it waits before it looks for
    entries.
    """

    def __init__(self) -> None:
        self._inside: dict[int, int] = {}  # entry -> thread
        self._entries = count()
        self._fork_ended: threading.Event | None = None  # of the fork that waits

    def enter(self) -> int:
        """Begin to use SQLite; returns what :meth:`leave` takes."""
        thread = threading.get_ident()
        entry = next(self._entries)
        self._inside[entry] = thread
        fork_ended = self._fork_ended
        if fork_ended is not None:
            del self._inside[entry]
            if thread not in [*self._inside.values()]:  # else the fork waits for its outer use
                fork_ended.wait(_LONGEST_PAUSE_SECONDS)
            self._inside[entry] = thread
        return entry

    def leave(self, entry: int) -> None:
        """Be done with it; another thread may do so for the one that entered."""
        self._inside.pop(entry, None)  # a child has forgotten its parent's threads

    def hold(self) -> None:
        """Before a fork: wait for all other threads, a second at most, and let none in."""
        self._fork_ended = threading.Event()
        own = threading.get_ident()
        deadline = Deadline(_LONGEST_PAUSE_SECONDS)
        while deadline.left() and any(thread != own for thread in [*self._inside.values()]):
            deadline.pause(_LOOK_SECONDS)

    def open(self) -> None:
        """After it, in the parent: go on."""
        fork_ended, self._fork_ended = self._fork_ended, None
        if fork_ended is not None:
            fork_ended.set()

    def renew(self) -> None:
        """After it, in the child, which has but one thread."""
        own = threading.get_ident()
        self._inside = {entry: thread for entry, thread in self._inside.items() if thread == own}
        self._fork_ended = None


GATE: Final = ForkGate()
"""Of all stores."""

os.register_at_fork(before=GATE.hold, after_in_parent=GATE.open, after_in_child=GATE.renew)
