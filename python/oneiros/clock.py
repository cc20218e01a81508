"""The one place that reads time: a clock is any callable that returns seconds since the epoch."""

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
"""Longer waits are cut to this: locks of the system take no more than 32 bits of milliseconds."""

Clock = Callable[[], float]
"""Seconds since the Unix epoch, UTC."""


system_clock: Final[Clock] = time.time
"""The machine's time in seconds since the Unix epoch, UTC."""


class VirtualClock:
    """A clock that stands still until it is moved. Thread-safe."""

    def __init__(self, start: float = 0.0) -> None:
        """Start the clock.

        Args:
            start: seconds since the Unix epoch, finite.

        Raises:
            ValueError: ``start`` is NaN or infinite.
        """
        self._lock = threading.RLock()  # a signal handler may move it, too
        self._now = _finite("start", start)

    def __call__(self) -> float:
        """Return the clock's time."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Move the clock and return its new time.

        Args:
            seconds: how far, finite; negative moves it back, as machines' clocks do at times.

        Raises:
            ValueError: ``seconds`` is NaN or infinite.
        """
        step = _finite("seconds", seconds)
        with self._lock:
            self._now += step
            return self._now


class Deadline:
    """How long a wait may go on, measured by the clock that is never set back."""

    def __init__(self, seconds: float) -> None:
        """Start waiting.

        Args:
            seconds: from now; 0 or less is over at once.
        """
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, never below 0."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep for ``seconds``, or until the deadline if that is sooner."""
        time.sleep(min(seconds, self.left()))


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        msg = f"{name}: must be finite, got {value!r}"
        raise ValueError(msg)
    return float(value)
