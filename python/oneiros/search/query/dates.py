"""The time that a question names: a range, and how surely it was named.

Source: docs/systems/omega.md O4, O22; docs/systems/house.md H1, H10.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from oneiros.model.validation import require_flag
from oneiros.model.validation import time as time_check
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.search.query.date_words import may_name_a_time

if TYPE_CHECKING:
    from datetime import datetime

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
    """How surely the question names it, as H10 reads it. "explicit": by its date, month or year, or
    given by the caller; "inferred": from ``now``, as "last week"; "soft": by a word that leaves room,
    as "around May 2024", or given so."""
    words: str = ""
    """What the question says; empty where the range was given."""

    @property
    def is_soft(self) -> bool:
        """Whether O22 takes it as soft: read from the question's words, or given so."""
        return self.words != "" or self.certainty == "soft"

    def __str__(self) -> str:
        from oneiros.display.tables import moment  # noqa: PLC0415 - for those who look

        ends = ("" if math.isinf(end) else moment(end) for end in (self.start, self.end))
        is_plain = self.words == "" and self.certainty == "explicit"
        certainty = "" if is_plain else f", {self.certainty}"
        return f"time {'/'.join(ends)} ({repr(self.words) if self.words else 'given'}{certainty})"

    @property
    def case(self) -> float:
        """The signal of H10 for what lies outside: 2 where the range is soft, 3 explicit, 4 inferred."""
        return float(_CASES[self.certainty])


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
    from oneiros.search.query.date_grammar import first_range  # noqa: PLC0415 - few questions name a time

    return first_range(query, now)


def given_range(value: object, is_soft: bool) -> TimeRange | None:
    """Return a range that a caller gives: a pair of times, None for an open end; None of None.

    Args:
        value: the caller's ``date_range``.
        is_soft: the caller's ``soft_range``.

    Raises:
        TypeError: no pair, or no flag.
        ValueError: no time, two open ends, an end before its start, or a soft range that is none.
    """
    require_flag("soft_range", is_soft)
    if value is None:
        if is_soft:
            msg = "soft_range: needs a date_range, got True without one"
            raise ValueError(msg)
        return None
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
    return TimeRange(start, end, "soft" if is_soft else "explicit")
