"""The check of a ``threads`` argument."""

from __future__ import annotations

import os

from oneiros.model.validation import plain, require_int

__all__ = ["checked_threads", "require_threads"]

_MOST_THREADS = 256


def require_threads(threads: object) -> int:
    """Return a number of threads, 1 to 256.

    Raises:
        TypeError: ``threads`` is no int.
        ValueError: out of range.
    """
    return require_int("threads", plain(threads), low=1, high=_MOST_THREADS)


def checked_threads(threads: int | None) -> int:
    """Return the number of threads to use; one per core for None.

    Raises:
        TypeError, ValueError: as :func:`require_threads`.
    """
    return min(os.cpu_count() or 1, _MOST_THREADS) if threads is None else require_threads(threads)
