"""Calendar arithmetic of the date grammar: spans relative to a moment, computed with dateutil."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from dateutil.relativedelta import relativedelta

from oneiros.search.query.date_words import COUNTS, MONTHS, UNITS, WEEKDAYS

if TYPE_CHECKING:
    from oneiros.search.query.dates import Certainty

__all__ = ["DAY", "Span", "adjacent", "counted", "relative", "whole", "with_year_before"]

DAY: Final = timedelta(days=1)
_LAST: Final = frozenset(("last", "past", "previous"))
_NEAR: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_HALF_AN_HOUR: Final = timedelta(minutes=30)

Words = Callable[[int], str]
"""Return the word at a place; "" beyond the last."""


class Span(NamedTuple):
    """A span of the calendar, and where its words end."""

    start: datetime
    end: datetime
    certainty: Certainty
    stop: int
    """Index after the last token."""
    lacks_year: bool = False


def whole(
    start: datetime, length: relativedelta | timedelta, certainty: Certainty, stop: int
) -> Span:
    """Return a span that begins with the day of ``start``."""
    first = midnight(start)
    return Span(first, first + length, certainty, stop)


def midnight(moment: datetime) -> datetime:
    """Return the start of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def calendar(unit: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return the calendar's hour, day, week, weekend, month or year that contains a moment."""
    day = midnight(moment)
    monday = day - moment.weekday() * DAY
    if unit == "hours":
        start = moment.replace(minute=0, second=0, microsecond=0)
        return start, start + timedelta(hours=1)
    if unit == "days":
        return day, day + DAY
    if unit == "weeks":
        return monday, monday + 7 * DAY
    if unit == "weekends":
        return monday + 5 * DAY, monday + 7 * DAY
    if unit == "months":
        start = day.replace(day=1)
        return start, start + relativedelta(months=1)
    start = day.replace(month=1, day=1)
    return start, start + relativedelta(years=1)


def steps(unit: str, count: int) -> relativedelta:
    """Return ``count`` units as a time difference; a weekend counts as a week."""
    return relativedelta(**{"weeks" if unit == "weekends" else unit: count})


def around(unit: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return the span meant by "three weeks ago", given that moment: as exact as the unit.

    Hours and weeks are centred on the moment; other units are the calendar's.
    """
    if unit == "hours":
        return moment - _HALF_AN_HOUR, moment + _HALF_AN_HOUR
    if unit == "weeks":
        day = midnight(moment)
        return day - 3 * DAY, day + 4 * DAY
    return calendar(unit, moment)


def adjacent(unit: str, count: int | None, anchor: Span, sign: int) -> tuple[datetime, datetime]:
    """Return the span ``count`` units before (sign -1) or after an anchor; None: the next one."""
    edge = anchor.start if sign < 0 else anchor.end
    if count is not None:
        return around(unit, anchor.start + sign * steps(unit, count))
    if unit == "weekends":
        start, end = calendar(unit, edge + (sign * 7 - 1 if sign < 0 else 0) * DAY)
        while sign < 0 and end + 7 * DAY <= edge:
            start, end = start + 7 * DAY, end + 7 * DAY
        while sign > 0 and start < edge:
            start, end = start + 7 * DAY, end + 7 * DAY
        return start, end
    far = edge + sign * steps(unit, 1)
    return (far, edge) if sign < 0 else (edge, far)


def with_year_before(first: Span, last: Span) -> Span:
    """Return ``first``, if it lacks a year, in the latest year that is not after ``last``."""
    if not first.lacks_year:
        return first
    start = first.start + relativedelta(years=last.start.year - first.start.year)
    if start > last.start:
        start -= relativedelta(years=1)
    is_month = first.end - first.start > DAY
    return first._replace(start=start, end=start + (relativedelta(months=1) if is_month else DAY))


def counted(word: Words, place: int) -> tuple[int | None, bool, int]:
    """Read a count: the number or None, whether it is rough, and the next place."""
    written = word(place)
    is_rough = written in ("few", "several")
    if written == "a" and word(place + 1) in ("few", "couple"):
        place += 1
        written = word(place)
        is_rough = written == "few"
    number = 3 if is_rough else COUNTS.get(written)
    if number is None and written.isdigit() and len(written) <= 3:
        number = int(written)
    if number is None:
        return None, False, place
    place += 1
    return number, is_rough, place + 1 if word(place) == "of" else place


def relative(word: Words, place: int, now: datetime) -> Span | None:
    """Read a time relative to now."""
    first, second = word(place), word(place + 1)
    if first in _NEAR:
        return whole(now + _NEAR[first] * DAY, DAY, "inferred", place + 1)
    if first == "day" and (second, word(place + 2)) in (
        ("before", "yesterday"),
        ("after", "tomorrow"),
    ):
        days = -2 if second == "before" else 2
        return whole(now + days * DAY, DAY, "inferred", place + 3)
    if first == "last" and second == "night":
        return whole(now - DAY, DAY, "inferred", place + 2)
    if first == "this" and second in ("morning", "afternoon", "evening"):
        return whole(now, DAY, "inferred", place + 2)
    if first in _LAST or first in ("this", "current", "next", "coming"):
        return _led(word, place, now)
    number, is_rough, place = counted(word, place)
    unit = UNITS.get(word(place))
    if number is None or unit is None or word(place + 1) != "ago":
        return None
    certainty: Certainty = "soft" if is_rough else "inferred"
    return Span(*around(unit, now - steps(unit, number)), certainty, place + 2)


def _led(word: Words, place: int, now: datetime) -> Span | None:
    """Read a time that begins with "last", "this" or "next"."""
    lead, named = word(place), word(place + 1)
    sign = -1 if lead in _LAST else 0 if lead in ("this", "current") else 1
    if named in WEEKDAYS:
        return _weekday(WEEKDAYS[named], sign, now, place + 2)
    if named in MONTHS:
        return _month(MONTHS[named], sign, now, place + 2)
    unit = UNITS.get(named)
    if unit is not None and named == unit[:-1]:
        is_rolling = unit in ("hours", "days") or word(place - 1) == "the"  # "in the last year"
        if lead == "past" or (lead == "last" and is_rolling):
            return Span(now - steps(unit, 1), now, "inferred", place + 2)
        return Span(*calendar(unit, now + sign * steps(unit, 1)), "inferred", place + 2)
    number, is_rough, after = counted(word, place + 1)
    unit = UNITS.get(word(after))
    if number is None or unit is None or sign == 0:
        return None
    ends = sorted((now, now + sign * steps(unit, number)))
    return Span(ends[0], ends[1], "soft" if is_rough else "inferred", after + 1)


def _weekday(number: int, sign: int, now: datetime, stop: int) -> Span:
    """Return the last such weekday before today, the one of this week, or the next after today."""
    today = midnight(now)
    if sign == 0:
        day = today + (number - today.weekday()) * DAY
    elif sign < 0:
        day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
    else:
        day = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    return whole(day, DAY, "inferred", stop)


def _month(number: int, sign: int, now: datetime, stop: int) -> Span:
    """Return the last such month before this one, the one of this year, or the next one."""
    this = midnight(now).replace(day=1)
    start = this.replace(month=number)
    if sign < 0 and start >= this:
        start -= relativedelta(years=1)
    if sign > 0 and start <= this:
        start += relativedelta(years=1)
    return whole(start, relativedelta(months=1), "inferred", stop)
