"""Times in metadata: texts in ISO 8601."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from oneiros.model.validation import FIRST_MOMENT, LAST_MOMENT, wrong

__all__ = ["read_time", "seconds_of", "time_text"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DATE: Final = len("2025-03-01")


def seconds_of(text: str) -> float | None:
    """Return the seconds since 1970 of a text that is a time, else None.

    A time is ISO 8601 in the form ``2025-03-01T08:00:00+02:00``, with an offset or ``Z``. A date
    alone is midnight in UTC.
    """
    if text[4:5] != "-" or text[7:8] != "-":
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if found.tzinfo is None:
        if len(text) != _DATE:
            return None
        found = found.replace(tzinfo=UTC)
    return found.timestamp()


def read_time(name: str, bound: object) -> float:
    """Return the seconds since 1970 of a bound: a text as above, a date or an aware datetime.

    Raises:
        TypeError: of another type.
        ValueError: a text that is no time, a time without a time zone, or one outside of the years 1
            to 9999 in UTC.
    """
    if isinstance(bound, datetime):
        if bound.utcoffset() is None:
            raise ValueError(wrong(name, "aware (it has no time zone)", bound))
        seconds = bound.timestamp()
    elif isinstance(bound, date):
        seconds = datetime(bound.year, bound.month, bound.day, tzinfo=UTC).timestamp()
    elif isinstance(bound, str):
        seconds = _read_text(name, bound)
    else:
        raise TypeError(wrong(name, "a number or a time", bound))
    if not FIRST_MOMENT <= seconds <= LAST_MOMENT:  # float64 rounds the last microsecond up
        raise ValueError(wrong(name, "in the years 1 to 9999, in UTC", bound))
    return seconds


def _read_text(name: str, bound: str) -> float:
    seconds = seconds_of(bound)
    if seconds is not None:
        return seconds
    try:
        is_naive = datetime.fromisoformat(bound).tzinfo is None
    except ValueError:
        is_naive = False
    rule = "a number or a time in ISO 8601 with an offset"
    raise ValueError(wrong(name, "aware (it has no time zone)" if is_naive else rule, bound))


def time_text(seconds: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC, which :func:`read_time` reads as the same."""
    if seconds >= LAST_MOMENT:
        return f"{datetime.max.isoformat()}Z"
    return (_EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
