"""Locks that survive ``os.fork``.

A child process gets copies of its parent's locks, but not the threads that would release them. So
every lock is acquired before a fork and released after it in both processes. The data it guards is
consistent in the child.

The locks are reentrant: a signal handler may search while the main thread is inside a search. The
data that a lock guards must therefore be consistent between any two lines of its block.
"""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["fork_safe_lock"]


def fork_safe_lock() -> threading.RLock:
    """Return a lock that no fork leaves acquired. Do not hold two of them, nor fork inside one.

    It is a plain ``RLock``, so no interrupt can occur between its acquisition by ``with`` and the
    block that releases it.
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


_forking: threading.Lock = threading.Lock()  # one fork at a time
_locks: weakref.WeakSet[threading.RLock] = weakref.WeakSet()
_acquired: list[threading.Lock | threading.RLock] = []


def _known_locks() -> list[threading.RLock]:
    while True:
        try:
            return list(_locks)
        except RuntimeError:  # another thread added a lock during the iteration
            continue


def _before() -> None:
    _forking.acquire()
    for lock in sorted(_known_locks(), key=id):
        lock.acquire()
        _acquired.append(lock)


def _after() -> None:
    while _acquired:
        _acquired.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
