"""A grammar of English times over tokens, tried once at each token with bounded lookahead.

dateutil parses absolute dates and computes with months and weekdays. This module decides which
words are a date at all, so that versions, prices, ids and "may" are not.
"""

from __future__ import annotations

import math
from calendar import isleap
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Final

from dateutil.parser import ParserError, parse
from dateutil.relativedelta import relativedelta

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.search.query.dates import MONTHS, SPANS, UNITS, WEEKDAYS, TimeRange, compiled

if TYPE_CHECKING:
    from oneiros.search.query.dates import Certainty

__all__ = ["first_range"]

# -- tokens ---------------------------------------------------------------------------------------

_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        (
            *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
            *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
            *("eighteen", "nineteen"),
        ),
        start=1,
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_COUNTS: Final = {"a": 1, "an": 1, "couple": 2, **_NUMBERS, **_TENS}
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 5}
_MOST_TOKENS: Final = 2_048
_TOKEN: Final = (
    r"\d+(?:st|nd|rd|th)(?![^\W_])|\d+(?:[-./:]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\w\s]|\w"
)
_YMD: Final = r"(?:19|20)\d\d([-/])\d{1,2}\1\d{1,2}"
_YM: Final = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])"
_DMY: Final = r"(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)"
_DAYS: Final = r"(\d{1,2})-(\d{1,2})"
_QUARTER: Final = r"Q[1-4]"
_BEFORE_IT: Final = frozenset("$#€£¥@+-./\\_*=~^&%")
_JOINS: Final = frozenset("-./:@_\\+")
_UNITS_OF_MONEY: Final = frozenset("%$€£¥°")


class _Tokens(NamedTuple):
    """Words and numbers in order, each with a letter for its class.

    ``M`` name of a month, ``m`` name of a month that is another word too, ``D`` number of a day,
    ``R`` two of them in order as in "3-7", ``Y`` year, ``N`` other number, ``I`` date in numbers,
    ``J`` year and month in numbers, ``o`` "of", ``,`` comma, ``x`` anything else, including tokens
    joined to other signs.
    """

    text: str
    words: tuple[str, ...]
    """Lower case."""
    spans: tuple[tuple[int, int], ...]
    """Start and end of each in the text."""
    classes: str


def _tokens_of(text: str) -> _Tokens:
    """Return the first 2,048 tokens of a text, in linear time."""
    words, spans, classes = [], [], []
    for found in islice(compiled(_TOKEN).finditer(text), _MOST_TOKENS):
        word = found[0].lower()
        words.append("" if word in _NEAR and _is_joined(text, *found.span()) else word)
        spans.append(found.span())
        classes.append(_class_of(text, found[0], word, *found.span()))
    return _Tokens(text, tuple(words), tuple(spans), "".join(classes))


def _class_of(text: str, written: str, word: str, start: int, end: int) -> str:
    if word == ",":
        return ","
    if not _stands_alone(text, start, end):
        return "x"
    if word == "of":
        return "o"
    if word in MONTHS:
        is_plain = len(word) > 3 and word != "march"
        return "M" if is_plain or written[0].isupper() else "m"
    if not word[0].isdecimal():  # "²" is a digit that no number has
        return "x"
    return _class_of_number(word)


def _class_of_number(word: str) -> str:
    if word.isdecimal():
        number = int(word) if len(word) <= 4 else -1
        if len(word) <= 2 and 1 <= number <= 31:
            return "D"
        return "Y" if 1900 <= number <= 2100 else "N"
    if word[-2:] in ("st", "nd", "rd", "th"):
        return "D" if len(word) <= 4 and 1 <= int(word[:-2]) <= 31 else "x"
    if compiled(_YMD).fullmatch(word) is not None:
        return "I"
    if compiled(_YM).fullmatch(word) is not None:
        return "J"
    days = compiled(_DAYS).fullmatch(word)
    if days is not None:
        return "R" if 1 <= int(days[1]) < int(days[2]) <= 31 else "x"
    found = compiled(_DMY).fullmatch(word)
    if found is None:
        return "x"
    first, sign, second, _ = found.groups()
    # 5/1/2025 is May 1 or January 5, depending on the country: not read as a date.
    is_clear = sign == "." or int(first) > 12 or int(second) > 12 or first == second
    return "I" if is_clear else "x"


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether the token is not part of an id, price, version, path or the like."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in _BEFORE_IT and not _is_range_sign(text, start - 1):
        return False
    if before.isalnum() or before == "_" or after in _UNITS_OF_MONEY:
        return False
    if after in "Tt" and after != "" and text[end + 1 : end + 2].isdigit():
        return True  # 2025-05-01T10:00
    if after.isalnum() or after == "_":
        return False
    return not (after in _JOINS and text[end + 1 : end + 2].isalnum())


def _is_joined(text: str, start: int, end: int) -> bool:
    """Return whether a sign joins the token to another, as in "today.md"."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    return (before[-1:] in _JOINS and before[:1].isalnum()) or (
        after[:1] in _JOINS and after[1:].isalnum()
    )


def _is_range_sign(text: str, place: int) -> bool:
    """Return whether the sign is a "-" after a space or "mid", which joins nothing."""
    before = text[max(place - 3, 0) : place]
    return text[place] == "-" and (before[-1:].isspace() or before.lower() == "mid")


# -- spans of the calendar -------------------------------------------------------------------------

_DAY: Final = timedelta(days=1)
_LAST: Final = frozenset(("last", "past", "previous"))
_NEAR: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_YEARS: Final = {"last": -1, "this": 0, "next": 1}
_HALVES: Final = {
    "hour": ("minutes", 30),
    "day": ("hours", 12),
    "month": ("weeks", 2),
    "year": ("months", 6),
}
_MINUTES_AROUND: Final = 5
_WHOLES: Final = {"week": ("day",), "month": ("day",), "year": ("day", "week", "month", "quarter")}
"""The units of which one corresponds to the present one: "this month last year"."""

_Words = Callable[[int], str]
"""Return the word at a place; "" beyond the last."""


class _Span(NamedTuple):
    """A span of the calendar, and where its words end."""

    start: datetime
    end: datetime
    certainty: Certainty
    stop: int
    """Index after the last token."""
    lacks_year: bool = False


def _whole(
    start: datetime, length: relativedelta | timedelta, certainty: Certainty, stop: int
) -> _Span:
    """Return a span that begins with the day of ``start``."""
    first = _midnight(start)
    return _Span(first, first + length, certainty, stop)


def _midnight(moment: datetime) -> datetime:
    """Return the start of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _calendar(unit: str, moment: datetime) -> tuple[datetime, datetime]:
    """Return the calendar's hour, day, week, weekend, month, quarter or year around a moment."""
    day = _midnight(moment)
    monday = day - moment.weekday() * _DAY
    if unit == "hours":
        start = moment.replace(minute=0, second=0, microsecond=0)
        return start, start + timedelta(hours=1)
    if unit == "days":
        return day, day + _DAY
    if unit == "weeks":
        return monday, monday + 7 * _DAY
    if unit == "weekends":
        return monday + 5 * _DAY, monday + 7 * _DAY
    if unit == "months":
        start = day.replace(day=1)
        return start, start + relativedelta(months=1)
    if unit == "quarters":
        start = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        return start, start + relativedelta(months=3)
    start = day.replace(month=1, day=1)
    return start, start + relativedelta(years=1)


def _steps(unit: str, count: int) -> relativedelta:
    """Return ``count`` units as a time difference; a weekend counts as a week."""
    if unit == "quarters":
        return relativedelta(months=3 * count)
    return relativedelta(**{"weeks" if unit == "weekends" else unit: count})


_SECONDS: Final = {"minutes": 60, "hours": 3_600}


def _later(unit: str, count: float, moment: datetime, zone: tzinfo) -> datetime:
    """Return the moment that many units later; hours as they pass, also where clocks are set."""
    if unit not in _SECONDS:
        later: datetime = moment + _steps(unit, int(count))
        return later
    passed = moment.replace(tzinfo=zone).timestamp() + _SECONDS[unit] * count
    return datetime.fromtimestamp(passed, zone).replace(tzinfo=None)


def _latest(month: int, day: int, near: datetime) -> datetime:
    """Return the latest such day up to ``near``; of February 29, in a leap year."""
    year = near.year - ((month, day) > (near.month, near.day))
    while (month, day) == (2, 29) and not isleap(year):
        year -= 1
    return datetime(year, month, day)


def _around(unit: str, moment: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the span meant by "three weeks ago", given that moment: as exact as the unit.

    Hours, weeks and ten minutes are centred on the moment; other units are the calendar's.
    """
    if unit == "minutes":
        ends = (_later(unit, side * _MINUTES_AROUND, moment, zone) for side in (-1, 1))
        return next(ends), next(ends)
    if unit == "hours":
        return _later(unit, -0.5, moment, zone), _later(unit, 0.5, moment, zone)
    if unit == "weeks":
        day = _midnight(moment)
        return day - 3 * _DAY, day + 4 * _DAY
    return _calendar(unit, moment)


def _adjacent(
    unit: str, count: int | None, anchor: _Span, sign: int, zone: tzinfo
) -> tuple[datetime, datetime]:
    """Return the span ``count`` units before (sign -1) or after an anchor; None: the next one."""
    edge = anchor.start if sign < 0 else anchor.end
    if count is not None:
        return _around(unit, _later(unit, sign * count, anchor.start, zone), zone)
    if unit == "weekends":
        start, end = _calendar(unit, edge + (sign * 7 - 1 if sign < 0 else 0) * _DAY)
        while sign < 0 and end + 7 * _DAY <= edge:
            start, end = start + 7 * _DAY, end + 7 * _DAY
        while sign > 0 and start < edge:
            start, end = start + 7 * _DAY, end + 7 * _DAY
        return start, end
    far = edge + sign * _steps(unit, 1)
    return (far, edge) if sign < 0 else (edge, far)


def _with_year_before(first: _Span, last: _Span) -> _Span:
    """Return ``first``, if it lacks a year, in the latest year that is not after ``last``."""
    if not first.lacks_year:
        return first
    start = first.start + relativedelta(years=last.start.year - first.start.year)
    if start > last.start:
        start -= relativedelta(years=1)
    is_month = first.end - first.start > _DAY
    return first._replace(start=start, end=start + (relativedelta(months=1) if is_month else _DAY))


def _counted(word: _Words, place: int) -> tuple[int | None, bool, int]:
    """Read a count: the number or None, whether it is rough, and the next place."""
    written = word(place)
    is_rough = written in ("few", "several")
    if written == "a" and word(place + 1) in ("few", "couple"):
        place += 1
        written = word(place)
        is_rough = written == "few"
    number = 3 if is_rough else _COUNTS.get(written)
    if number is not None and written in _TENS:
        last = place + 1 + (word(place + 1) == "-")
        if _NUMBERS.get(word(last), 10) < 10:  # "twenty-one"
            number, place = number + _NUMBERS[word(last)], last
    if number is None and written.isdecimal() and len(written) <= 3:
        number = int(written)
    if number is None:
        return None, False, place
    place += 1
    return number, is_rough, place + 1 if word(place) == "of" else place


def _measured(name: str) -> tuple[str | None, int]:
    """Return the unit that a word names, and how many of it: "decade" is ten years."""
    return SPANS.get(name) or (UNITS.get(name), 1)


def _relative(word: _Words, place: int, now: datetime, zone: tzinfo) -> _Span | None:
    """Read a time relative to now."""
    first, second = word(place), word(place + 1)
    if first in _NEAR:
        return _whole(now + _NEAR[first] * _DAY, _DAY, "inferred", place + 1)
    if first == "day" and (second, word(place + 2)) in (
        ("before", "yesterday"),
        ("after", "tomorrow"),
    ):
        days = -2 if second == "before" else 2
        return _whole(now + days * _DAY, _DAY, "inferred", place + 3)
    if first == "last" and second == "night":
        return _whole(now - _DAY, _DAY, "inferred", place + 2)
    if first == "this" and second in ("morning", "afternoon", "evening"):
        return _whole(now, _DAY, "inferred", place + 2)
    if first in _LAST or first in ("this", "current", "next", "coming"):
        return _led(word, place, now, zone)
    if first == "half" and second in ("a", "an") and word(place + 3) == "ago":
        part, count = _HALVES.get(word(place + 2), ("", 0))
        if count:
            then = _later(part, -count, now, zone)
            return _Span(*_around(part, then, zone), "inferred", place + 4)
    before = word(place - 2)
    is_part = (
        word(place - 1) == "half"  # "half a year ago"
        or (word(place - 1) in ("and", ",") and before in UNITS)  # "a year and two months ago"
        or (word(place - 1) == "," and before.isdecimal())  # "1,000 days ago"
    )
    number, is_rough, place = _counted(word, place)
    unit, size = _measured(word(place))
    if number is None or unit is None or is_part:
        return None
    number *= size
    certainty: Certainty = "soft" if is_rough else "inferred"
    side, near = word(place + 1), word(place + 2)
    sign = 1 if side == "from" else -1
    if side in ("ago", "from") and near in _NEAR and unit not in _SECONDS:  # "a year ago today"
        day = _later(unit, sign * number, now + _NEAR[near] * _DAY, zone)
        return _whole(day, _DAY, certainty, place + 3)
    if side != "ago" and (side, near) != ("from", "now"):
        return None
    then = _later(unit, sign * number, now, zone)
    return _Span(*_around(unit, then, zone), certainty, place + (2 if side == "ago" else 3))


def _led(word: _Words, place: int, now: datetime, zone: tzinfo) -> _Span | None:
    """Read a time that begins with "last", "this" or "next"."""
    lead, named = word(place), word(place + 1)
    sign = -1 if lead in _LAST else 0 if lead in ("this", "current") else 1
    if named in WEEKDAYS:
        return _weekday(WEEKDAYS[named], sign, now, place + 2)
    if named in MONTHS:
        return _month(MONTHS[named], sign, now, place + 2)
    unit = UNITS.get(named)
    whole = word(place + 3)
    if sign == 0 and word(place + 2) in ("last", "next") and whole in _WHOLES:
        then = _later(f"{whole}s", _YEARS[word(place + 2)], now, zone)
        if named == "time":
            return _Span(*_around("weeks", then, zone), "soft", place + 4)
        if unit is not None and named in _WHOLES[whole]:  # "on this day last year"
            return _Span(*_calendar(unit, then), "inferred", place + 4)
    if unit == "weekends" and named == "weekend" and lead == "coming":
        return _Span(*_calendar(unit, now + 2 * _DAY), "inferred", place + 2)  # Friday's: tomorrow
    if named == "minute":
        return None  # "at the last minute"
    if unit is not None and named == unit[:-1]:
        is_rolling = unit in ("hours", "days") or word(place - 1) == "the"  # "in the last year"
        if unit != "weekends" and (lead == "past" or (lead == "last" and is_rolling)):
            return _Span(_later(unit, -1, now, zone), now, "inferred", place + 2)
        return _Span(*_calendar(unit, _later(unit, sign, now, zone)), "inferred", place + 2)
    number, is_rough, after = _counted(word, place + 1)
    unit, size = _measured(word(after))
    if number is None or unit is None or sign == 0:
        return None
    ends = (now, _later(unit, sign * number * size, now, zone))[::sign]
    return _Span(ends[0], ends[1], "soft" if is_rough else "inferred", after + 1)


def _weekday(number: int, sign: int, now: datetime, stop: int) -> _Span:
    """Return the last such weekday before today, the one of this week, or the next after today."""
    today = _midnight(now)
    if sign == 0:
        day = today + (number - today.weekday()) * _DAY
    elif sign < 0:
        day = today - ((today.weekday() - number - 1) % 7 + 1) * _DAY
    else:
        day = today + ((number - today.weekday() - 1) % 7 + 1) * _DAY
    return _whole(day, _DAY, "inferred", stop)


def _month(number: int, sign: int, now: datetime, stop: int) -> _Span:
    """Return the last such month before this one, the one of this year, or the next one."""
    this = _midnight(now).replace(day=1)
    start = this.replace(month=number)
    if sign < 0 and start >= this:
        start -= relativedelta(years=1)
    if sign > 0 and start <= this:
        start += relativedelta(years=1)
    return _whole(start, relativedelta(months=1), "inferred", stop)


# -- the grammar -----------------------------------------------------------------------------------

_SHAPES: Final = (  # longest first; M is a month, D a day, Y a year
    *("DoM,Y", "DoMoY", "DoMY", "DM,Y", "MD,Y", "DMoY", "DMY", "MDY", "YMD", "MoY", "M,Y", "MY"),
    *("DoM", "DM", "MD", "I"),
)
_LEADS: Final = frozenset(
    (
        *("in", "during", "throughout", "within", "of", "around", "about", "over", "since", "from"),
        *("between", "until", "till", "before", "after", "by"),
    )
)
"""Words that make a bare year or month after them a time."""
_DAY_LEADS: Final = _LEADS | {"on"}
"""Words that make a date of "may 5" or "march 5"."""

_ROUGHLY: Final = frozenset(("around", "about", "circa", "approximately", "roughly", "by"))
_JOINTS: Final = ("to", "until", "till", "through", "-", "\u2013")
_ENDS: Final = frozenset((".", "?", "!"))
_PARTS: Final = frozenset(("early", "mid", "late", "beginning", "middle", "end", "start"))
_DEADLINES: Final = frozenset(("by", "until", "till", "before"))
"""Words that make a weekday after them one to come."""
_OF_THE_PAST: Final = frozenset(
    (
        *("did", "was", "were", "had", "didn't", "wasn't", "weren't", "hadn't", "happened"),
        *("went", "said", "met", "saw", "came", "took", "gave", "bought"),
    )
)
"""Words with which a sentence speaks of the past."""
_AFTER_A_TIME: Final = frozenset(
    (*("i", "we", "you", "he", "she", "they", "it", "did", "was", "were"), *("and", "or", "with"))
)
"""Words that go on after "the week before last", where others would name what was last."""
_MOST_DAYS_AHEAD: Final = 31
"""A day or month without a year that begins within so many days is the one to come."""
_SENTENCE: Final = 32
"""Most words of it that are looked at before a date, and after."""
_LONGEST_SHAPE: Final = 6
_LONGEST_GAP: Final = 6
"""Most words from "three days before" to the date."""


def first_range(query: str, now: float, zone: tzinfo = UTC) -> TimeRange | None:
    """Return the first explicit time in a query, else the first time, else None."""
    try:
        moment = datetime.fromtimestamp(now, zone).replace(tzinfo=None)
        return _Reader(_tokens_of(query), moment, zone).first()
    except (OverflowError, ValueError, OSError):  # beyond the years 1 to 9999
        return None


class _Reader(NamedTuple):
    """A parser of one query."""

    tokens: _Tokens
    now: datetime
    """A naive datetime of the zone, like the dates that dateutil returns."""
    zone: tzinfo

    def first(self) -> TimeRange | None:
        found: TimeRange | None = None
        place, count = 0, len(self.tokens.words)
        while place < count:
            parsed = self._range_at(place)
            if parsed is None:
                place += 1
                continue
            time_range, place = parsed
            if time_range.certainty == "explicit":
                return time_range
            found = time_range if found is None else found
        return found

    # -- ranges ------------------------------------------------------------------------------------

    def _word(self, place: int) -> str:
        words = self.tokens.words
        return words[place] if 0 <= place < len(words) else ""

    def _class(self, place: int) -> str:
        return self.tokens.classes[place : place + 1]

    def _range_at(self, place: int) -> tuple[TimeRange, int] | None:
        word = self._word(place)
        if word in ("between", "from"):
            found = self._pair(place + 1, ("and",) if word == "between" else _JOINTS)
            if found is not None:
                return self._time_range(place, found.start, found.end, found)
        if word in ("since", "after", "until", "till", "before"):
            span = self._span(place + 1)
            if span is not None:
                return self._open_ended(place, word, span)
        days = self._days(place, _JOINTS)
        if days is not None:
            return self._time_range(place, days.start, days.end, days)
        span = self._anchored(place) or self._span(place, is_bare=True)
        if span is None:
            return None
        if self._word(span.stop) in _JOINTS:
            later = self._span(span.stop + 1, is_bare=True)
            if later is not None and later.certainty == "explicit":
                start = _with_year_before(span, later).start
                if start < later.end:
                    return self._time_range(place, start, later.end, later)
        return self._time_range(place, span.start, span.end, span)

    def _time_range(
        self, place: int, start: datetime | None, end: datetime | None, span: _Span
    ) -> tuple[TimeRange, int]:
        certainty = span.certainty
        before = self._word(place - 1)
        if before in _ROUGHLY or (before == "of" and self._word(place - 2) == "as"):
            certainty = "soft"
        spans = self.tokens.spans
        words = self.tokens.text[spans[place][0] : spans[span.stop - 1][1]]
        first = -math.inf if start is None else start.replace(tzinfo=self.zone).timestamp()
        last = math.inf if end is None else end.replace(tzinfo=self.zone).timestamp()
        return TimeRange(first, last, certainty, words), span.stop

    def _open_ended(self, place: int, word: str, span: _Span) -> tuple[TimeRange, int]:
        if word == "since":
            end = self.now if span.start <= self.now else None
            return self._time_range(place, span.start, end, span)
        if word == "after":
            end = self.now if span.end <= self.now else None
            return self._time_range(place, span.end, end, span)
        end = span.start if word == "before" else span.end
        return self._time_range(place, None, end, span)

    def _pair(self, place: int, joint: tuple[str, ...]) -> _Span | None:
        """Read "X and Y". Either may lack the year if the other has it."""
        days = self._days(place, joint)
        if days is not None:
            return days
        first = self._span(place)
        if first is None or self._word(first.stop) not in joint:
            return None
        last = self._span(first.stop + 1)
        if last is None and self._word(first.stop + 1) == "now" and first.start <= self.now:
            return first._replace(end=self.now, stop=first.stop + 2)
        if last is None:
            return None
        start = _with_year_before(first, last).start
        if last.end <= start:
            return None
        certainty = last.certainty if first.certainty == "explicit" else first.certainty
        return _Span(start, last.end, certainty, last.stop)

    def _days(self, place: int, joint: tuple[str, ...]) -> _Span | None:
        """Read days of a month that is named once: "3 to 7 May 2025", "May 3-7, 2025"."""
        place += self._word(place) == "the"
        is_after = self._class(place) in ("D", "R")  # the month is
        at = place if is_after else place + 1
        if self._class(at) == "R":
            first, last = map(int, self._word(at).split("-"))
            stop = at + 1
        elif self._class(at) == "D" and self._word(at + 1) in joint:
            stop = at + 2 + (self._word(at + 2) == "the")
            if self._class(stop) != "D":
                return None
            first, last = (int(self._word(day).rstrip("stndrh")) for day in (at, stop))
            stop += 1
        else:
            return None
        if is_after:
            stop += self._class(stop) == "o"
        named = stop if is_after else place
        if self._class(named) not in ("M", "m") or first > last:
            return None
        stop += is_after
        if not is_after and (self._class(stop) in ("M", "m", "o") or self._word(stop) in UNITS):
            return None  # "May 3 to 7 June", "May 3 to 7 days later"
        if not is_after and self._class(place) == "m" and self._word(place - 1) not in _DAY_LEADS:
            return None  # "may 3 to 7 people come"
        month = parse(self._word(named), default=datetime(2000, 1, 1)).month
        at = stop + (self._class(stop) == ",")
        try:
            year, after = self._year_beside(place, stop)
            if self._class(at) == "Y":
                year, after = int(self._word(at)), at + 1
            start = (
                self._near(month, first, named) if year is None else datetime(year, month, first)
            )
            return _Span(start, start.replace(day=last) + _DAY, "explicit", after)
        except ValueError:  # no month has that day
            return None

    def _span(self, place: int, *, is_bare: bool = False) -> _Span | None:
        """Read a date, month, year, relative time, or a part of one.

        ``is_bare``: no word before it marks a time.
        """
        place += self._word(place) == "the"
        word = self._word(place)
        if word in _ORDINALS and self._word(place + 1) == "week" and self._class(place + 2) == "o":
            found = self._week_of(place)
            if found is not None:
                return found
        found = self._simple(place, is_bare=is_bare)
        if found is None and word in _PARTS:
            return self._part_of(place)
        if found is None and word in ("week", "weekend") and self._class(place + 1) == "o":
            return self._around_day(place)
        return found

    def _around_day(self, place: int) -> _Span | None:
        """Read "the week of May 4", "the weekend of 7 March": the calendar's."""
        after = place + 2 + (self._word(place + 2) == "the")
        day = self._simple(after)
        if day is None or day.end - day.start != _DAY:
            return None
        start, end = _calendar(UNITS[self._word(place)], day.start)
        return day._replace(start=start, end=end, lacks_year=False)

    def _simple(self, place: int, *, is_bare: bool = False) -> _Span | None:
        found = self._absolute(place) or _relative(self._word, place, self.now, self.zone)
        if found is not None:
            return found
        is_led = not is_bare or self._word(place - 1) in _LEADS
        if is_led and self._class(place) in ("M", "m"):
            return self._month(place)
        if is_led and self._class(place) in ("Y", "J"):
            return self._plain(place, place + 1)
        if self._word(place) == "q":
            return self._quarter(place)
        if self._word(place) in WEEKDAYS:
            return self._weekday(place, is_bare=is_bare)
        return None

    def _weekday(self, place: int, *, is_bare: bool) -> _Span | None:
        """Read a weekday: the latest, the next after "by", or that of a week that follows it."""
        number = WEEKDAYS[self._word(place)]
        stop = place + 1
        for _ in range(6):  # the other days of a week
            if self._word(stop) in (*_JOINTS, "and", "or") and self._word(stop + 1) in WEEKDAYS:
                stop += 2
        after = stop + (self._word(stop) in ("of", "morning", "afternoon", "evening", "night"))
        week = _relative(self._word, after, self.now, self.zone)
        if week is not None and week.end - week.start == 7 * _DAY:
            if stop > place + 1:
                return week  # "Monday and Tuesday last week"
            day = week.start + (number - week.start.weekday()) % 7 * _DAY
            return _whole(day, _DAY, week.certainty, week.stop)
        if is_bare and self._word(place - 1) not in ("on", "by"):
            return None
        beside = place + 1 + (self._word(place + 1) == "the")
        if self._class(beside) == "D" and not self._word(beside).isdecimal():
            return None  # "Friday the 13th": of which month?
        days = -((self.now.weekday() - number) % 7)
        if self._word(place - 1) in _DEADLINES and not self._is_of_the_past(place):
            days %= 7
        return _whole(self.now + days * _DAY, _DAY, "inferred", place + 1)

    def _anchored(self, place: int) -> _Span | None:
        """Read "three days before the release on 2025-05-01", "the week after May 3"."""
        place += self._word(place) == "the"
        place += self._word(place) in ("last", "previous", "next", "following", "first")
        number, is_rough, after = _counted(self._word, place)
        unit = UNITS.get(self._word(after))
        side = self._word(after + 1)
        if unit is None or side not in ("before", "after", "prior", "following"):
            return None
        then = self._word(after + 3)
        is_second = (side, self._word(after + 2)) in (("before", "last"), ("after", "next"))
        if number is None and is_second and (not then.isalpha() or then in _AFTER_A_TIME):
            day = _later(unit, -2 if side == "before" else 2, self.now, self.zone)
            return _Span(*_calendar(unit, day), "inferred", after + 3)
        for anchor_place in range(after + 2, after + 2 + _LONGEST_GAP):
            anchor = self._simple(anchor_place, is_bare=True)
            if anchor is None:
                continue
            sign = -1 if side in ("before", "prior") else 1
            certainty: Certainty = "soft" if is_rough else anchor.certainty
            return _Span(*_adjacent(unit, number, anchor, sign, self.zone), certainty, anchor.stop)
        return None

    # -- dates -------------------------------------------------------------------------------------

    def _absolute(self, place: int) -> _Span | None:
        """Read a date with a month and a day or year."""
        classes = self.tokens.classes[place : place + _LONGEST_SHAPE]
        if classes[:1] not in ("D", "M", "m", "Y", "I"):
            return None
        for shape in _SHAPES:
            if classes.replace("m", "M").startswith(shape):
                if shape == "MD" and classes[0] == "m" and self._word(place - 1) not in _DAY_LEADS:
                    return None  # "may 5 people come"
                return self._read(place, place + len(shape), shape)
        return None

    def _read(self, place: int, stop: int, shape: str) -> _Span | None:
        spans, text = self.tokens.spans, self.tokens.text
        written = text[spans[place][0] : spans[stop - 1][1]].replace(" of ", " ")
        is_year_first = shape == "I" and written[:4].isdecimal()  # not so: "12.5.2025"
        lacks_year = "Y" not in shape and shape != "I"
        # Of a day without a year, month and day are read: in a leap year, since any may be named.
        base = datetime(2000, 1, 1) if lacks_year else self.now.replace(day=1)
        try:
            found = parse(
                written,
                default=_midnight(base),
                yearfirst=is_year_first,
                dayfirst="." in written and not is_year_first,
                ignoretz=True,
            )
        except (ParserError, OverflowError):
            return None
        if "Y" in shape and "D" not in shape:
            return _whole(found.replace(day=1), relativedelta(months=1), "explicit", stop)
        if lacks_year:
            year, stop = self._year_beside(place, stop)
            lacks_year = year is None
            try:
                found = (
                    found.replace(year=year) if year else self._near(found.month, found.day, place)
                )
            except ValueError:  # "February 29 last year": it has none
                return None
        return _whole(found, _DAY, "explicit", stop)._replace(lacks_year=lacks_year)

    def _month(self, place: int) -> _Span | None:
        """Read a month without a year."""
        if self._class(place) == "m" and self._word(place + 1) in ("on", "in", "to", "for", "be"):
            return None
        named = parse(self._word(place), default=datetime(2000, 1, 1)).month
        year, stop = self._year_beside(place, place + 1)
        start = self._near(named, 1, place) if year is None else datetime(year, named, 1)
        found = _whole(start, relativedelta(months=1), "explicit", stop)
        return found._replace(lacks_year=year is None)

    def _quarter(self, place: int) -> _Span | None:
        """Read "Q3", "Q3 2024", "Q3 of last year"."""
        text, (begin, _) = self.tokens.text, self.tokens.spans[place]
        written = compiled(_QUARTER).match(text, begin)
        if written is None or not _stands_alone(text, *written.span()):
            return None
        month, stop = 3 * int(written[0][1]) - 2, place + 2
        at = stop + (self._word(stop) in ("of", ","))
        year: int | None
        if self._class(at) == "Y":
            year, stop = int(self._word(at)), at + 1
        else:
            year, stop = self._year_beside(place, stop)
        start = self._near(month, 1, place) if year is None else datetime(year, month, 1)
        found = _whole(start, relativedelta(months=3), "explicit", stop)
        return found._replace(lacks_year=year is None)

    def _near(self, month: int, day: int, place: int) -> datetime:
        """Return the day that a month and a day mean: the latest that has begun, or one to come.

        The one to come begins within 31 days, and the sentence does not speak of the past.
        """
        latest = _latest(month, day, self.now)
        if (month, day) == (2, 29):
            return latest
        coming = latest.replace(year=latest.year + 1)
        is_soon = (coming - self.now).days < _MOST_DAYS_AHEAD
        return coming if is_soon and not self._is_of_the_past(place) else latest

    def _is_of_the_past(self, place: int) -> bool:
        """Return whether the sentence around a place speaks of the past, or of the time since then."""
        before = place - 1 - (self._word(place - 1) == "the")
        if self._word(before) == "since":
            return True
        first, last = place, place
        while first > max(0, place - _SENTENCE) and self._word(first - 1) not in _ENDS:
            first -= 1
        most = min(len(self.tokens.words), place + _SENTENCE)
        while last < most and self._word(last) not in _ENDS:
            last += 1
        words = (word.replace("\u2019", "'") for word in self.tokens.words[first:last])
        return not _OF_THE_PAST.isdisjoint(words)

    def _year_beside(self, place: int, stop: int) -> tuple[int | None, int]:
        """Read "last year" after a day or month, or "last year in" before it.

        Returns:
            The year, or None, and the place after it.
        """
        after = stop + (self._word(stop) in ("of", ","))
        if self._word(after) in _YEARS and self._word(after + 1) == "year":
            return self.now.year + _YEARS[self._word(after)], after + 2
        before = place - 1 - (self._word(place - 1) == "the")
        lead = self._word(before - 2)
        is_led = self._word(before) in ("in", "on") and self._word(before - 1) == "year"
        return (self.now.year + _YEARS[lead] if is_led and lead in _YEARS else None), stop

    def _plain(self, place: int, stop: int) -> _Span:
        """Read a year, or a year and a month in numbers."""
        year, _, month = self._word(place).partition("-")
        if month:
            start = datetime(int(year), int(month), 1)
            return _whole(start, relativedelta(months=1), "explicit", stop)
        return _whole(datetime(int(year), 1, 1), relativedelta(years=1), "explicit", stop)

    def _part_of(self, place: int) -> _Span | None:
        """Read "early March", "mid-August 2023", "end of 2023": a third of the span."""
        word, after = self._word(place), place + 1
        has_sign = self._word(after) in ("-", "of")
        if word not in ("early", "mid", "late") and not has_sign:
            return None  # "start one year ago"
        after += has_sign
        if self._word(after) == "the":
            after += 1
        span = self._simple(after)
        if span is None or span.end - span.start < timedelta(days=27):
            return None
        third = (span.end - span.start) / 3
        if word in ("early", "beginning", "start"):
            return span._replace(end=span.start + third)
        if word in ("mid", "middle"):
            return span._replace(start=span.start + third, end=span.end - third)
        return span._replace(start=span.end - third)

    def _week_of(self, place: int) -> _Span | None:
        """Read "the second week of November 2023": days 8 to 14. The last week: the last 7."""
        span = self._simple(place + 3)
        if span is None or not 27 <= (span.end - span.start).days <= 31:
            return None
        number = _ORDINALS[self._word(place)]
        start = span.end - 7 * _DAY if number == 5 else span.start + (number - 1) * 7 * _DAY
        return span._replace(start=start, end=start + 7 * _DAY)
