"""The schedule of background dream cycles. Source: docs/systems/reverie.md R18."""

from __future__ import annotations

import math
import re
import reprlib
from typing import Final

from oneiros.model.validation import as_float, require_int, settle_flags
from oneiros.runtime.dataclasses import dataclass

__all__ = ["DreamSchedule", "duration_seconds"]

_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d)", re.ASCII)
_MOST_NEW: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSchedule:
    """The conditions for a background cycle, see :meth:`oneiros.Engine.keep_dreaming`.

    A cycle is due after some time, after some new memories, or at the end of a session. Durations
    are seconds, or texts such as "90s", "30min", "4h" and "2d". Each cycle weakens strengths by the
    same share, however little time has passed (docs/systems/reverie.md R12): ``rate`` of the
    profile's ``Downscale`` is per cycle, and at 0.95 a strength halves in 14 cycles.

    Raises:
        ValueError, TypeError: a field is out of range or has another type.

    >>> schedule = DreamSchedule(every="4h", min_gap="30min")
    >>> schedule.is_due(since_cycle=14_400.0, waited=14_400.0, new=0, has_session_ended=False)
    True
    """

    every: str | float | None = "4h"
    """A cycle is due this long after the previous one, > 0; None: not by time."""
    after_new: int | None = 10
    """A cycle is due after this many new memories, >= 1; None: not by new memories."""
    min_gap: str | float = "30min"
    """Minimum time between two cycles, >= 0; a cycle that is due earlier waits."""
    on_session_end: bool = True
    """Whether a cycle is due when a session ends."""

    def __post_init__(self) -> None:
        if self.every is not None:
            duration_seconds("every", self.every, above_zero=True)
        if self.after_new is not None:
            require_int("after_new", self.after_new, low=1, high=_MOST_NEW)
        duration_seconds("min_gap", self.min_gap)
        settle_flags(self, "on_session_end")

    def is_due(
        self, *, since_cycle: float | None, waited: float, new: int, has_session_ended: bool
    ) -> bool:
        """Return whether a cycle is due.

        Args:
            since_cycle: seconds since the previous cycle; None: there was none.
            waited: seconds since the previous cycle, or since the schedule started.
            new: number of memories added in that time.
            has_session_ended: whether a session ended in that time.
        """
        gap = duration_seconds("min_gap", self.min_gap)
        if since_cycle is not None and since_cycle < gap:
            return False
        is_time = self.every is not None and waited >= duration_seconds("every", self.every)
        are_enough = self.after_new is not None and new >= self.after_new
        return is_time or are_enough or (self.on_session_end and has_session_ended)


def duration_seconds(name: str, given: str | float, *, above_zero: bool = False) -> float:
    """Return a duration in seconds, finite and >= 0.

    Args:
        name: the argument's name, for error messages.
        given: seconds, or a text of a number and a unit: s, min, h or d.
        above_zero: refuse 0.

    Raises:
        ValueError, TypeError: ``given`` is not a valid duration.
    """
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        msg = f"{name}: must be seconds or a text such as '4h', got {given!r}"
        raise TypeError(msg)
    if isinstance(given, str):
        written = _WRITTEN.fullmatch(given.strip())
        if written is None:
            msg = f"{name}: must be a number and one of s, min, h and d, got {given!r}"
            raise ValueError(msg)
        seconds = float(written[1]) * _UNITS[written[2]]
    else:
        seconds = as_float(given)
    if not 0 <= seconds < math.inf or (above_zero and not seconds):
        rule = "above 0" if above_zero else "at least 0"
        msg = f"{name}: must be {rule} and finite, got {reprlib.repr(given)}"
        raise ValueError(msg)
    return seconds
