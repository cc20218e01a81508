"""How many threads a call of the core may use."""

from __future__ import annotations

import os

from oneiros.argument_checks import count

__all__ = ["checked_threads"]

_MOST_THREADS = 256


def checked_threads(threads: int | None) -> int:
    """Return how many threads to use: one a core unless told.

    Raises:
        TypeError: no int.
        ValueError: not in 1 to 256.
    """
    if threads is None:
        return min(os.cpu_count() or 1, _MOST_THREADS)
    if count("threads", threads, low=1) > _MOST_THREADS:
        msg = f"threads: must be in 1 to {_MOST_THREADS}, got {threads}"
        raise ValueError(msg)
    return threads
