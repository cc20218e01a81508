"""Queries that ask for a time, and texts that name one.

Source: docs/systems/house.md H13.
"""

from __future__ import annotations

from typing import Final

from oneiros.search.query.dates import MONTHS, WEEKDAYS, compiled

__all__ = ["asks_for_time", "names_time"]

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
_WITH_A_CAPITAL: Final = r"\b(?:May|March)\b"
_WORDS: Final = r"[a-z]+"
_YEAR: Final = r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])"
_ROOTS_OF_TEXTS: Final = (
    *("day", "week", "month", "year", "tonight", "morrow", "ago", "since", "recent"),
    *("jan", "feb", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
)
"""Every word of ``_ALWAYS`` has one of them, so that most texts need no words."""


def asks_for_time(query: str) -> bool:
    """Return whether an English query asks for a time: "when did we move", "what year was it".

    A sentence of it must begin so: with "when" before a verb ("when did", "when's") or before a
    question mark, with "what" or "which" and date, day, month, year or time, or with "how long
    ago". "In which year" and "and when" ask, too. Takes time linear in the length of the query.
    """
    lower = query.lower()
    if not any(root in lower for root in _ROOTS_OF_QUERIES):
        return False
    return compiled(_QUESTION).search(lower) is not None


def names_time(text: str) -> bool:
    """Return whether an English text names a time, absolute ("in May 2024") or not ("last week").

    It does so with one of the words yesterday, today, tonight, tomorrow, ago, since, recently,
    week, weekend, month, year (also in the plural), a weekday, a month (``May`` and ``March`` with
    a capital; Jan, Feb, Apr ... too), or a year from 1900 to 2099. Takes time linear in the length
    of the text.
    """
    lower = text.lower()
    if any(root in lower for root in _ROOTS_OF_TEXTS) and not _ALWAYS.isdisjoint(
        compiled(_WORDS).findall(lower)
    ):
        return True
    if ("19" in text or "20" in text) and compiled(_YEAR).search(text) is not None:
        return True
    return ("May" in text or "March" in text) and compiled(_WITH_A_CAPITAL).search(text) is not None
