"""How many threads FAISS may use.

OpenMP's pool of threads does not survive ``os.fork``: a child that waits for it hangs for ever, so
a child stays on one thread.
"""

from __future__ import annotations

import os

__all__ = ["most_threads"]

_is_child = False


def most_threads() -> int:
    """Return how many threads FAISS may use: the processors of this process; 1 after a fork."""
    if _is_child:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _note_child() -> None:
    global _is_child  # noqa: PLW0603 (a fact about the process)
    _is_child = True


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_note_child)
