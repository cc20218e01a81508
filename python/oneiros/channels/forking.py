"""Locks and threads that survive ``os.fork``.

A child gets the locks of its parent as they stand, but none of the threads that would let them go.
So every lock is taken before a fork and let go after it on both sides: what it guards is whole in
the child. And OpenMP's pool of threads does not survive at all: a child that waits for it hangs
for ever, so a child stays on one thread.
"""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["ForkSafeLock", "most_threads"]


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
_is_child = False


def most_threads() -> int:
    """Return how many threads FAISS may use: the processors of this process; 1 after a fork."""
    if _is_child:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _before() -> None:
    _held.extend(sorted(_locks, key=id))
    for lock in _held:
        lock.__enter__()


def _after() -> None:
    while _held:
        _held.pop().__exit__()


def _after_in_child() -> None:
    global _is_child  # noqa: PLW0603 (a fact about the process)
    _is_child = True
    _after()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
