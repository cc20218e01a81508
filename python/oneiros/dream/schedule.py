"""When dream cycles run by themselves. Source: docs/systems/reverie.md R18."""

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
    """When a cycle is due: after some time, some new memories, or the end of a session.

    Durations are seconds, or texts such as "90s", "30min", "4h" and "2d". Each cycle weakens what it
    weakens by the same share, however little time has passed (docs/systems/reverie.md R12): ``rate``
    of the profile's ``Downscale`` is per cycle, and a strength halves in 14 cycles at its 0.95.

    Raises:
        ValueError, TypeError: a field breaks its rule.
    """

    every: str | float | None = "4h"
    """Since the cycle before, > 0; None: time alone is no reason."""
    after_new: int | None = 10
    """Memories added since the cycle before, >= 1; None: they are no reason."""
    min_gap: str | float = "30min"
    """The least time from one cycle to the next, >= 0; what comes earlier waits."""
    on_session_end: bool = True
    """Whether ``end_session`` is a reason."""

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
        """Return whether a cycle is to run.

        Args:
            since_cycle: seconds since the cycle before; None: there was none.
            waited: seconds since the cycle before, or since the schedule began.
            new: memories added in that time.
            has_session_ended: in that time.
        """
        gap = duration_seconds("min_gap", self.min_gap)
        if since_cycle is not None and since_cycle < gap:
            return False
        is_time = self.every is not None and waited >= duration_seconds("every", self.every)
        are_enough = self.after_new is not None and new >= self.after_new
        return is_time or are_enough or (self.on_session_end and has_session_ended)


def duration_seconds(name: str, given: str | float, *, above_zero: bool = False) -> float:
    """Return the seconds of a duration, finite and >= 0.

    Args:
        name: of the argument, for messages.
        given: seconds, or a number and one of the units s, min, h and d.
        above_zero: 0 is none.

    Raises:
        ValueError, TypeError: it is none.
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
