"""The time that a question names: a range, and how surely it was named.

Source: docs/systems/omega.md O4, O22; docs/systems/house.md H1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from oneiros.field_checks import time as time_check
from oneiros.query.date_words import may_name_a_time

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt

    Time = float | int | str | datetime

__all__ = ["Certainty", "TimeRange", "given_range", "range_in"]

_check_start = time_check("date_range[0]")
_check_end = time_check("date_range[1]")

_CASES: Final = {"soft": 2, "explicit": 3, "inferred": 4}
Certainty: TypeAlias = Literal["soft", "explicit", "inferred"]


class TimeRange(NamedTuple):
    """From ``start`` to ``end``, seconds UTC; both belong to it, either may be endless."""

    start: float
    end: float
    certainty: Certainty
    """"explicit": by its date, month or year; "inferred": from ``now``, as "last week"; "soft": by a
    word that leaves room, as "around May 2024"."""
    words: str = ""
    """What the question says; empty where the range was given."""

    def __str__(self) -> str:
        from oneiros.display import moment  # noqa: PLC0415 - for those who look

        ends = ("" if math.isinf(end) else moment(end) for end in (self.start, self.end))
        said = f"{self.words!r}, {self.certainty}" if self.words else "given"
        return f"time {'/'.join(ends)} ({said})"

    def case_of(self, times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return 1 for times in the range, for others 2, 3 or 4: soft, explicit, inferred (O22)."""
        from oneiros.numpy_on_use import np  # noqa: PLC0415

        is_within = (times >= self.start) & (times <= self.end)
        return np.where(is_within, 1.0, float(_CASES[self.certainty]))


def range_in(query: str, now: float) -> TimeRange | None:
    """Return the time that a question names, or None.

    Days are those of UTC and weeks begin on Monday. Of several times the first explicit one counts,
    else the first. English.

    Args:
        query: the question.
        now: what "yesterday" is reckoned from, seconds.
    """
    if not may_name_a_time(query):
        return None
    from oneiros.query.date_grammar import first_range  # noqa: PLC0415 - few questions name a time

    return first_range(query, now)


def given_range(value: object) -> TimeRange:
    """Return a range that a caller gives: a pair of times, None for an open end.

    Raises:
        TypeError: no pair.
        ValueError: no time, two open ends, or an end before its start.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        msg = f"date_range: expected a pair (start, end) of times, got {value!r}"
        raise TypeError(msg)
    start = -math.inf if value[0] is None else _check_start(value[0])
    end = math.inf if value[1] is None else _check_end(value[1])
    if math.isinf(start) and math.isinf(end):
        msg = "date_range: at least one end must be a time, got (None, None)"
        raise ValueError(msg)
    if start > end:
        msg = f"date_range: must not end before it starts, got {value!r}"
        raise ValueError(msg)
    return TimeRange(start, end, "explicit")
