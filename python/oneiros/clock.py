"""Clocks: callables that return seconds since the Unix epoch. Only this module reads the time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    Time = float | int | str | datetime

__all__ = ["LONGEST_WAIT_SECONDS", "Clock", "Deadline", "VirtualClock", "system_clock"]

LONGEST_WAIT_SECONDS: Final = 1e6
"""Upper limit of waits, since locks of the operating system take 32 bits of milliseconds."""

Clock = Callable[[], float]
"""Seconds since the Unix epoch, UTC."""


system_clock: Final[Clock] = time.time
"""The system time in seconds since the Unix epoch, UTC."""


class VirtualClock:
    """A clock that only :meth:`advance` moves. Thread-safe.

    >>> from oneiros.clock import VirtualClock
    >>> clock = VirtualClock(1_700_000_000)
    >>> clock.advance(86_400)
    1700086400.0
    """

    def __init__(self, start: float = 0.0) -> None:
        """Set the start time.

        Args:
            start: seconds since the Unix epoch, finite.

        Raises:
            ValueError: ``start`` is NaN or infinite.
        """
        self._lock = threading.RLock()  # reentrant, since a signal handler may move the clock
        self._now = _finite("start", start)

    def __call__(self) -> float:
        """Return the clock's time."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Move the clock and return its new time.

        Args:
            seconds: the step, finite; a negative step moves the clock back.

        Raises:
            ValueError: ``seconds`` is NaN or infinite.
        """
        step = _finite("seconds", seconds)
        with self._lock:
            self._now += step
            return self._now


class Deadline:
    """The time limit of a wait, by the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        """Start the time limit.

        Args:
            seconds: duration from now; 0 or less expires immediately.
        """
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the remaining seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep for ``seconds`` or until the deadline, whichever is sooner."""
        time.sleep(min(seconds, self.left()))


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        msg = f"{name}: must be finite, got {value!r}"
        raise ValueError(msg)
    return float(value)
