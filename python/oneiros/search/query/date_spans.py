"""Stretches of the calendar reckoned from a moment; the arithmetic is dateutil's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from dateutil.relativedelta import relativedelta

from oneiros.search.query.date_words import COUNTS, MONTHS, UNITS, WEEKDAYS

if TYPE_CHECKING:
    from oneiros.search.query.dates import Certainty

__all__ = ["DAY", "Span", "around", "beside", "brought_before", "counted", "relative", "whole"]

DAY: Final = timedelta(days=1)
_LAST: Final = frozenset(("last", "past", "previous"))
_NEAR: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_HALF_AN_HOUR: Final = timedelta(minutes=30)

Words = Callable[[int], str]
"""The word at a place; empty beyond the last."""


class Span(NamedTuple):
    """A stretch of the calendar and where the words that say it end."""

    start: datetime
    end: datetime
    certainty: Certainty
    stop: int
    """The token after the last one."""
    lacks_year: bool = False


def whole(
    start: datetime, length: relativedelta | timedelta, certainty: Certainty, stop: int
) -> Span:
    """Return a stretch that begins with the day of ``start``."""
    first = midnight(start)
    return Span(first, first + length, certainty, stop)


def midnight(moment: datetime) -> datetime:
    """Return the beginning of its day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def calendar(unit: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return the hour, day, week, weekend, month or year of the calendar that holds a moment."""
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
    """Return so many units; of weekends, weeks."""
    return relativedelta(**{"weeks" if unit == "weekends" else unit: count})


def around(unit: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return what "three weeks ago" means by a moment of then: as exact as the unit is.

    An hour or a week has the moment in its middle; days, months and years are the calendar's.
    """
    if unit == "hours":
        return moment - _HALF_AN_HOUR, moment + _HALF_AN_HOUR
    if unit == "weeks":
        day = midnight(moment)
        return day - 3 * DAY, day + 4 * DAY
    return calendar(unit, moment)


def beside(unit: str, count: int | None, anchor: Span, sign: int) -> tuple[datetime, datetime]:
    """Return the time ``count`` units before (sign -1) or after an anchor; None: the unit beside it."""
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


def brought_before(first: Span, last: Span) -> Span:
    """Return ``first``, said without its year, in the latest year that is not after ``last``."""
    if not first.lacks_year:
        return first
    start = first.start + relativedelta(years=last.start.year - first.start.year)
    if start > last.start:
        start -= relativedelta(years=1)
    is_month = first.end - first.start > DAY
    return first._replace(start=start, end=start + (relativedelta(months=1) if is_month else DAY))


def counted(word: Words, place: int) -> tuple[int | None, bool, int]:
    """Read how many: the number or None, whether it is meant roughly, and the next place."""
    said = word(place)
    is_rough = said in ("few", "several")
    if said == "a" and word(place + 1) in ("few", "couple"):
        place += 1
        said = word(place)
        is_rough = said == "few"
    number = 3 if is_rough else COUNTS.get(said)
    if number is None and said.isdigit() and len(said) <= 3:
        number = int(said)
    if number is None:
        return None, False, place
    place += 1
    return number, is_rough, place + 1 if word(place) == "of" else place


def relative(word: Words, place: int, now: datetime) -> Span | None:
    """Read a time that is reckoned from now."""
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
    """Read what follows "last", "this" or "next"."""
    led, named = word(place), word(place + 1)
    sign = -1 if led in _LAST else 0 if led in ("this", "current") else 1
    if named in WEEKDAYS:
        return _weekday(WEEKDAYS[named], sign, now, place + 2)
    if named in MONTHS:
        return _month(MONTHS[named], sign, now, place + 2)
    unit = UNITS.get(named)
    if unit is not None and named == unit[:-1]:
        is_rolling = unit in ("hours", "days") or word(place - 1) == "the"  # "in the last year"
        if led == "past" or (led == "last" and is_rolling):
            return Span(now - steps(unit, 1), now, "inferred", place + 2)
        return Span(*calendar(unit, now + sign * steps(unit, 1)), "inferred", place + 2)
    number, is_rough, after = counted(word, place + 1)
    unit = UNITS.get(word(after))
    if number is None or unit is None or sign == 0:
        return None
    ends = sorted((now, now + sign * steps(unit, number)))
    return Span(ends[0], ends[1], "soft" if is_rough else "inferred", after + 1)


def _weekday(number: int, sign: int, now: datetime, stop: int) -> Span:
    """Return the day of that name last before today, within this week, or next after today."""
    today = midnight(now)
    if sign == 0:
        day = today + (number - today.weekday()) * DAY
    elif sign < 0:
        day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
    else:
        day = today + ((number - today.weekday() - 1) % 7 + 1) * DAY
    return whole(day, DAY, "inferred", stop)


def _month(number: int, sign: int, now: datetime, stop: int) -> Span:
    """Return the month of that name last before this one, within this year, or next after it."""
    this = midnight(now).replace(day=1)
    start = this.replace(month=number)
    if sign < 0 and start >= this:
        start -= relativedelta(years=1)
    if sign > 0 and start <= this:
        start += relativedelta(years=1)
    return whole(start, relativedelta(months=1), "inferred", stop)
