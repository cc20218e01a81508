"""Locks that survive ``os.fork``.

A child gets the locks of its parent as they stand, but none of the threads that would let them go.
So every lock is taken before a fork and let go after it on both sides: what it guards is whole in
the child.
"""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["ForkSafeLock"]


class ForkSafeLock:
    """A mutex that no fork leaves locked. Do not take two of them at once, nor fork inside."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()
_held: list[ForkSafeLock] = []


def _before() -> None:
    _held.extend(sorted(_locks, key=id))
    for lock in _held:
        lock.__enter__()


def _after() -> None:
    while _held:
        _held.pop().__exit__()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
