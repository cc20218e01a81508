"""Times in queries and texts: ranges with their certainty, and queries that ask for a time.

Source: docs/systems/omega.md O4, O22; docs/systems/house.md H1, H10, H13.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from oneiros import _core, display
from oneiros.model.validation import require_flag, shown
from oneiros.model.validation import time as time_check
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    Time = float | int | str | datetime

__all__ = [
    "MONTHS",
    "SPANS",
    "UNITS",
    "WEEKDAYS",
    "Certainty",
    "TimeRange",
    "asks_by_time_alone",
    "asks_for_time",
    "compiled",
    "given_range",
    "may_name_a_time",
    "range_in",
    "time_names",
]

_check_start = time_check("date_range[0]")
_check_end = time_check("date_range[1]")

_CASES: Final = {"soft": 2, "explicit": 3, "inferred": 4}
Certainty: TypeAlias = Literal["soft", "explicit", "inferred"]


class TimeRange(NamedTuple):
    """The time from ``start`` to ``end``, both included, seconds UTC; infinity for an open end."""

    start: float
    end: float
    certainty: Certainty
    """Certainty by H10. "explicit": named by a date, month or year, or given by the caller.
    "inferred": relative to ``now``, such as "last week". "soft": with a vague word, such as "around
    May 2024", or given as soft."""
    words: str = ""
    """The words in the query; empty if the caller gave the range."""

    @property
    def is_soft(self) -> bool:
        """Whether the range is soft by O22: read from the query, or given as soft."""
        return self.words != "" or self.certainty == "soft"

    def __str__(self) -> str:
        moment = display.tables.moment
        ends = ("" if math.isinf(end) else moment(end) for end in (self.start, self.end))
        is_plain = self.words == "" and self.certainty == "explicit"
        certainty = "" if is_plain else f", {self.certainty}"
        return f"time {'/'.join(ends)} ({repr(self.words) if self.words else 'given'}{certainty})"

    @property
    def case(self) -> float:
        """Signal of H10 for times outside the range: 2 if it is soft, 3 explicit, 4 inferred."""
        return float(_CASES[self.certainty])


MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
WEEKDAYS: Final = {
    name: number
    for number, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}
UNITS: Final = {
    **dict.fromkeys(("minute", "minutes"), "minutes"),
    **dict.fromkeys(("hour", "hours"), "hours"),
    **dict.fromkeys(("day", "days"), "days"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict.fromkeys(("month", "months"), "months"),
    **dict.fromkeys(("quarter", "quarters"), "quarters"),
    **dict.fromkeys(("year", "years"), "years"),
    **dict.fromkeys(("weekend", "weekends"), "weekends"),
}
SPANS: Final = {
    **dict.fromkeys(("fortnight", "fortnights"), ("weeks", 2)),
    **dict.fromkeys(("decade", "decades"), ("years", 10)),
}
"""Names of several units."""
_ROOTS: Final = (
    *("day", "week", "month", "year", "hour", "night", "morning", "noon", "evening", "morrow"),
    *("minute", "decade", "quarter", "q1", "q2", "q3", "q4"),
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
)
_ALONE: Final = frozenset(
    (
        *MONTHS,
        *WEEKDAYS,
        *UNITS,
        *SPANS,
        "q",
        *("yesterday", "today", "tomorrow", "tonight"),
        *("morning", "afternoon", "evening", "night"),
    )
)
compiled = cache(re.compile)  # compiled on first use: most queries need none of these
_LETTERS: Final = r"[a-z]+"
_YEAR: Final = re.compile(r"[12][09]\d\d")  # begins with a set, which ``re`` skips to fast
_YEAR_ALONE: Final = r"(?<!\w)(?:19|20)\d\d(?![^\WTt])"


def may_name_a_time(query: str) -> bool:
    """Return, within a microsecond or two, whether the query may name a time."""
    if _YEAR.search(query) is not None and compiled(_YEAR_ALONE).search(query) is not None:
        return True
    lower = query.lower()
    for root in _ROOTS:
        if root in lower:
            return not _ALONE.isdisjoint(compiled(_LETTERS).findall(lower))
    return False


def range_in(query: str, now: float, zone: tzinfo | None = None) -> TimeRange | None:
    """Return the time that an English query names, or None.

    Weeks begin on Monday. If there are several times, the first explicit one counts, else the
    first.

    Args:
        query: the query.
        now: reference of "yesterday", seconds UTC.
        zone: whose days and hours are named; None: UTC.
    """
    if not may_name_a_time(query):
        return None
    from oneiros.search.query.date_grammar import first_range  # noqa: PLC0415 - loads dateutil

    return first_range(query, now) if zone is None else first_range(query, now, zone)


def given_range(value: object, is_soft: bool) -> TimeRange | None:
    """Check a pair of times from the caller; None in it is an open end. None for None.

    Raises:
        TypeError: no pair, or ``is_soft`` is no bool.
        ValueError: no time, two open ends, an end before the start, or soft without a range.
    """
    require_flag("soft_range", is_soft)
    if value is None:
        if is_soft:
            msg = "soft_range: needs a date_range, got True without one"
            raise ValueError(msg)
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        msg = f"date_range: expected a pair (start, end) of times, got {shown(value)}"
        raise TypeError(msg)
    start = -math.inf if value[0] is None else _check_start(value[0])
    end = math.inf if value[1] is None else _check_end(value[1])
    if math.isinf(start) and math.isinf(end):
        msg = "date_range: at least one end must be a time, got (None, None)"
        raise ValueError(msg)
    if start > end:
        msg = f"date_range: must not end before it starts, got {shown(value)}"
        raise ValueError(msg)
    return TimeRange(start, end, "soft" if is_soft else "explicit")


_ROOTS_OF_QUERIES: Final = ("when", "what", "which", "how")
_VERBS: Final = (
    "am|are|is|was|were|do|does|did|has|have|had|will|would|shall|should|can|could|may|might|must"
)
_QUESTION: Final = (
    r"(?:^|[.!?…]\s+|\n)\s*(?:(?:and|but|so|then|also),?\s+)*"
    r"(?:(?:(?:at|by|in|on|since|until)\s+)?"
    rf"(?:when(?:['’]s|\s+(?:{_VERBS}))\b|when\b[^.!?\n]*\?"  # noqa: RUF001
    r"|(?:what|which)\s+(?:date|day|month|year|time)\b)"
    r"|how\s+long\s+ago\b)"
)
_ALWAYS: Final = frozenset(
    (
        *(set(MONTHS) - {"may", "march", "mar"}),
        *WEEKDAYS,
        *("yesterday", "today", "tonight", "tomorrow", "ago", "since", "recently"),
        *("week", "weeks", "weekend", "weekends", "month", "months", "year", "years"),
    )
)
_WITH_A_CAPITAL: Final = ("May", "March")
_WORD: Final = r"[^\W_]+(?:'[^\W_]+)*"


def asks_for_time(query: str) -> bool:
    """Return whether an English query asks for a time: "when did we move", "what year was it".

    A sentence of it must begin so: with "when" before a verb ("when did", "when's") or before a
    question mark, with "what" or "which" and date, day, month, year or time, or with "how long
    ago". "In which year" and "and when" ask, too. Takes time linear in the length of the query.
    """
    lower = query.lower()
    for root in _ROOTS_OF_QUERIES:
        if root in lower:
            return compiled(_QUESTION).search(lower) is not None
    return False


_OF_ANYTHING: Final = frozenset(
    (
        *("happen", "happens", "happened", "happening", "going", "went", "up", "on", "out", "over"),
        *("anything", "something", "everything", "nothing", "thing", "things", "stuff", "us"),
        *("say", "said", "tell", "mention", "mentioned", "talk", "talked", "about", "discuss"),
        *("discussed", "remember", "know", "show", "list", "give", "find", "day", "days", "please"),
        *("plan", "plans", "planned", "schedule", "scheduled", "event", "events", "memory"),
        *("memories", "notes", "note", "new", "next", "last", "time"),
    )
)
"""Words that ask for whatever there is."""


@cache
def _words_aside() -> frozenset[str]:
    """Return the words that say nothing of what is asked for."""
    from oneiros.lexical import analyzers  # noqa: PLC0415 - only of queries that name a time

    return _OF_ANYTHING.union(analyzers.ENGLISH, analyzers.FUNCTION_WORDS)


def asks_by_time_alone(query: str, words: str) -> bool:
    """Return whether an English query asks for what was at a time, whatever it was.

    So it does if all its words outside of those that name the time are stop words, function words or
    such as ask for anything: "what did I do yesterday?", "anything planned for next week?".

    Args:
        query: the query.
        words: those that name the time, as :func:`range_in` returns them.

    Source: docs/systems/house.md H21.
    """
    place = query.find(words)
    rest = f"{query[:place]} {query[place + len(words) :]}" if place >= 0 else query
    known = _words_aside()
    return all(
        word in known or word.removesuffix("'s") in known  # "what's"
        for word in compiled(_WORD).findall(rest.lower().replace("\u2019", "'"))
    )


@cache
def time_names() -> _core.TimeNames:
    """Return what finds the texts that name a time; any number of threads may use it.

    An English text names one, absolute ("in May 2024") or not ("last week"), with one of the words
    yesterday, today, tonight, tomorrow, ago, since, recently, week, weekend, month, year (also in the
    plural), a weekday, a month (``May`` and ``March`` with a capital; Jan, Feb, Apr ... too), or a
    year from 1900 to 2099.

    Source: docs/systems/house.md H13.
    """
    return _core.TimeNames(words=sorted(_ALWAYS), capitalised=list(_WITH_A_CAPITAL))
