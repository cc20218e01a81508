"""Locks that survive ``os.fork``.

A child gets the locks of its parent as they stand, but none of the threads that would release them.
So every lock is acquired before a fork and released after it on both sides: what it guards is whole
in the child.

A thread may acquire one again that it holds: a signal handler may search while the main thread is
inside a search. What a lock guards must therefore be whole between any two lines of its block.
"""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["fork_safe_lock"]


def fork_safe_lock() -> threading.RLock:
    """Return a lock that no fork leaves acquired. Do not hold two of them, nor fork inside one.

    It is the interpreter's own lock: no interrupt comes between acquiring it by ``with`` and the
    block that releases it.
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


_forking: threading.Lock = threading.Lock()  # one fork at a time
_locks: weakref.WeakSet[threading.RLock] = weakref.WeakSet()
_held: list[threading.Lock | threading.RLock] = []


def _known_locks() -> list[threading.RLock]:
    while True:
        try:
            return list(_locks)
        except RuntimeError:  # another thread made a lock meanwhile
            continue


def _before() -> None:
    _forking.acquire()
    for lock in sorted(_known_locks(), key=id):
        lock.acquire()
        _held.append(lock)


def _after() -> None:
    while _held:
        _held.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
