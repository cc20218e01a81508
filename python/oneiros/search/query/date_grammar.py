"""A grammar of English times over tokens, tried once at each token with bounded lookahead.

dateutil parses absolute dates and computes with months and weekdays. This module decides which
words are a date at all, so that versions, prices, ids and "may" are not.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from dateutil.parser import ParserError, parse
from dateutil.relativedelta import relativedelta

from oneiros.runtime.dataclasses import dataclass
from oneiros.search.query.date_spans import (
    DAY,
    Span,
    adjacent,
    counted,
    relative,
    whole,
    with_year_before,
)
from oneiros.search.query.date_words import ORDINALS, UNITS, WEEKDAYS, Tokens, tokens_of
from oneiros.search.query.dates import TimeRange

if TYPE_CHECKING:
    from oneiros.search.query.dates import Certainty

__all__ = ["first_range"]

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

_ROUGHLY: Final = frozenset(("around", "about", "circa", "approximately", "roughly", "by"))
_PARTS: Final = frozenset(("early", "mid", "late", "beginning", "middle", "end", "start"))
_LONGEST_SHAPE: Final = 6
_LONGEST_GAP: Final = 6
"""Most words from "three days before" to the date."""


def first_range(query: str, now: float) -> TimeRange | None:
    """Return the first explicit time in a query, else the first time, else None."""
    try:
        moment = datetime.fromtimestamp(now, UTC).replace(tzinfo=None)
        return _Reader(tokens_of(query), moment).first()
    except (OverflowError, ValueError, OSError):  # beyond the years 1 to 9999
        return None


@dataclass(frozen=True, slots=True)
class _Reader:
    """A parser of one query."""

    tokens: Tokens
    now: datetime
    """UTC as a naive datetime, like the dates that dateutil returns."""

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
            joint = ("and",) if word == "between" else ("to", "until", "till", "through", "-")
            found = self._pair(place + 1, joint)
            if found is not None:
                return self._time_range(place, found.start, found.end, found)
        if word in ("since", "after", "until", "till", "before"):
            span = self._span(place + 1)
            if span is not None:
                return self._open_ended(place, word, span)
        span = self._anchored(place) or self._span(place, is_bare=True)
        if span is None:
            return None
        if self._word(span.stop) in ("to", "-", "\u2013", "until", "through"):
            later = self._span(span.stop + 1, is_bare=True)
            if later is not None and later.certainty == "explicit":
                start = with_year_before(span, later).start
                if start < later.end:
                    return self._time_range(place, start, later.end, later)
        return self._time_range(place, span.start, span.end, span)

    def _time_range(
        self, place: int, start: datetime | None, end: datetime | None, span: Span
    ) -> tuple[TimeRange, int]:
        certainty = span.certainty
        before = self._word(place - 1)
        if before in _ROUGHLY or (before == "of" and self._word(place - 2) == "as"):
            certainty = "soft"
        spans = self.tokens.spans
        words = self.tokens.text[spans[place][0] : spans[span.stop - 1][1]]
        first = -math.inf if start is None else _seconds(start)
        last = math.inf if end is None else _seconds(end)
        return TimeRange(first, last, certainty, words), span.stop

    def _open_ended(self, place: int, word: str, span: Span) -> tuple[TimeRange, int]:
        if word == "since":
            end = self.now if span.start <= self.now else None
            return self._time_range(place, span.start, end, span)
        if word == "after":
            end = self.now if span.end <= self.now else None
            return self._time_range(place, span.end, end, span)
        end = span.start if word == "before" else span.end
        return self._time_range(place, None, end, span)

    def _pair(self, place: int, joint: tuple[str, ...]) -> Span | None:
        """Read "X and Y". Either may lack the year if the other has it."""
        first = self._span(place)
        if first is None and self._class(place) == "D" and self._word(place + 1) in joint:
            last = self._span(place + 2)  # between 11 and 15 August 2023
            if last is None or last.end - last.start != DAY:
                return None
            number = int(self._word(place).rstrip("stndrh"))
            return last._replace(start=last.start.replace(day=number)) if number else None
        if first is None or self._word(first.stop) not in joint:
            return None
        last = self._span(first.stop + 1)
        if last is None:
            return None
        start = with_year_before(first, last).start
        if last.end <= start:
            return None
        certainty = last.certainty if first.certainty == "explicit" else first.certainty
        return Span(start, last.end, certainty, last.stop)

    def _span(self, place: int, *, is_bare: bool = False) -> Span | None:
        """Read a date, month, year, relative time, or a part of one.

        Args:
            place: index of the first word.
            is_bare: whether no word before it marks a time.
        """
        place += self._word(place) == "the"
        found = self._simple(place, is_bare=is_bare)
        if found is not None:
            return found
        word = self._word(place)
        if word in _PARTS:
            return self._part_of(place)
        if word in ORDINALS and self._word(place + 1) == "week" and self._class(place + 2) == "o":
            return self._week_of(place)
        return None

    def _simple(self, place: int, *, is_bare: bool = False) -> Span | None:
        found = self._absolute(place, self.now) or relative(self._word, place, self.now)
        if found is not None:
            return found
        is_led = not is_bare or self._word(place - 1) in _LEADS
        if is_led and self._class(place) in ("M", "m"):
            return self._month(place)
        if is_led and self._class(place) in ("Y", "J"):
            return self._plain(place, place + 1)
        word = self._word(place)
        if word in WEEKDAYS and (not is_bare or self._word(place - 1) in ("on", "by")):
            days = (self.now.weekday() - WEEKDAYS[word]) % 7
            return whole(self.now - days * DAY, DAY, "inferred", place + 1)
        return None

    def _anchored(self, place: int) -> Span | None:
        """Read "three days before the release on 2025-05-01", "the week after May 3"."""
        place += self._word(place) == "the"
        place += self._word(place) in ("last", "previous", "next", "following", "first")
        number, is_rough, after = counted(self._word, place)
        unit = UNITS.get(self._word(after))
        side = self._word(after + 1)
        if unit is None or side not in ("before", "after", "prior", "following"):
            return None
        for anchor_place in range(after + 2, after + 2 + _LONGEST_GAP):
            anchor = self._simple(anchor_place, is_bare=True)
            if anchor is None:
                continue
            sign = -1 if side in ("before", "prior") else 1
            certainty: Certainty = "soft" if is_rough else anchor.certainty
            return Span(*adjacent(unit, number, anchor, sign), certainty, anchor.stop)
        return None

    # -- dates -------------------------------------------------------------------------------------

    def _absolute(self, place: int, near: datetime) -> Span | None:
        """Read a date with a month and a day or year; without a year, the latest up to ``near``."""
        classes = self.tokens.classes[place : place + _LONGEST_SHAPE]
        if classes[:1] not in ("D", "M", "m", "Y", "I"):
            return None
        for shape in _SHAPES:
            if classes.replace("m", "M").startswith(shape):
                if shape == "MD" and classes[0] == "m" and self._word(place - 1) not in _LEADS:
                    return None  # "may 5 people come"
                return self._read(place, place + len(shape), shape, near)
        return None

    def _read(self, place: int, stop: int, shape: str, near: datetime) -> Span | None:
        spans, text = self.tokens.spans, self.tokens.text
        written = text[spans[place][0] : spans[stop - 1][1]].replace(" of ", " ")
        is_year_first = shape == "I" and written[4:5] in "-/."
        base = near.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        try:
            found = parse(
                written,
                default=base,
                yearfirst=is_year_first,
                dayfirst="." in written and not is_year_first,
                ignoretz=True,
            )
        except (ParserError, OverflowError):
            return None
        if "Y" in shape and "D" not in shape:
            return whole(found.replace(day=1), relativedelta(months=1), "explicit", stop)
        if "Y" in shape or shape == "I":
            return whole(found, relativedelta(days=1), "explicit", stop)
        if found > near:
            found -= relativedelta(years=1)
        return whole(found, relativedelta(days=1), "explicit", stop)._replace(lacks_year=True)

    def _month(self, place: int) -> Span | None:
        """Read a month without a year: the latest that has begun."""
        if self._class(place) == "m" and self._word(place + 1) in ("on", "in", "to", "for", "be"):
            return None
        named = parse(self._word(place), default=datetime(2000, 1, 1)).month
        start = datetime(self.now.year, named, 1)
        if start > self.now:
            start -= relativedelta(years=1)
        found = whole(start, relativedelta(months=1), "explicit", place + 1)
        return found._replace(lacks_year=True)

    def _plain(self, place: int, stop: int) -> Span:
        """Read a year, or a year and a month in numbers."""
        year, _, month = self._word(place).partition("-")
        if month:
            start = datetime(int(year), int(month), 1)
            return whole(start, relativedelta(months=1), "explicit", stop)
        return whole(datetime(int(year), 1, 1), relativedelta(years=1), "explicit", stop)

    def _part_of(self, place: int) -> Span | None:
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

    def _week_of(self, place: int) -> Span | None:
        """Read "the second week of November 2023": days 8 to 14. The last week: the last 7."""
        span = self._simple(place + 3)
        if span is None or not 27 <= (span.end - span.start).days <= 31:
            return None
        number = ORDINALS[self._word(place)]
        start = span.end - 7 * DAY if number == 5 else span.start + (number - 1) * 7 * DAY
        return span._replace(start=start, end=start + 7 * DAY)


def _seconds(moment: datetime) -> float:
    return moment.replace(tzinfo=UTC).timestamp()
