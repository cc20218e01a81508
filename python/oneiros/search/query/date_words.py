"""Tokens of a query for the date grammar: words and numbers with their classes."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Final

from oneiros.runtime.dataclasses import dataclass

__all__ = [
    "COUNTS",
    "MONTHS",
    "ORDINALS",
    "UNITS",
    "WEEKDAYS",
    "Tokens",
    "may_name_a_time",
    "tokens_of",
]

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
    **dict.fromkeys(("hour", "hours"), "hours"),
    **dict.fromkeys(("day", "days"), "days"),
    **dict.fromkeys(("week", "weeks"), "weeks"),
    **dict.fromkeys(("month", "months"), "months"),
    **dict.fromkeys(("year", "years"), "years"),
    **dict.fromkeys(("weekend", "weekends"), "weekends"),
}
COUNTS: Final = {
    "a": 1,
    "an": 1,
    "couple": 2,
    **{
        word: number
        for number, word in enumerate(
            ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
        )
    },
    "eleven": 11,
    "twelve": 12,
}
ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 5}

_ROOTS: Final = (
    *("day", "week", "month", "year", "hour", "night", "morrow"),
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
)
_ALONE: Final = frozenset(
    (
        *MONTHS,
        *WEEKDAYS,
        *UNITS,
        *("yesterday", "today", "tomorrow", "tonight", "night"),
    )
)
_compiled = cache(re.compile)  # compiled on first use: most queries need none of these
_LETTERS: Final = r"[a-z]+"
_YEAR: Final = re.compile(r"[12][09]\d\d")  # begins with a set, which ``re`` skips to fast
_YEAR_ALONE: Final = r"(?<!\w)(?:19|20)\d\d(?![^\WTt])"


def may_name_a_time(query: str) -> bool:
    """Return, within a microsecond or two, whether the query may name a time."""
    if _YEAR.search(query) is not None and _compiled(_YEAR_ALONE).search(query) is not None:
        return True
    lower = query.lower()
    for root in _ROOTS:
        if root in lower:
            return not _ALONE.isdisjoint(_compiled(_LETTERS).findall(lower))
    return False


_MOST_TOKENS: Final = 2_048
_TOKEN: Final = (
    r"\d+(?:st|nd|rd|th)(?![^\W_])|\d+(?:[-./:]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\w\s]|\w"
)
_YMD: Final = r"(?:19|20)\d\d([-/])\d{1,2}\1\d{1,2}"
_YM: Final = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])"
_DMY: Final = r"(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)"
_BEFORE_IT: Final = frozenset("$#€£¥@+-./\\_*=~^&%")
_JOINS: Final = frozenset("-./:@_\\+")
_UNITS_OF_MONEY: Final = frozenset("%$€£¥°")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words and numbers in order, each with a letter for its class.

    ``M`` name of a month, ``m`` name of a month that is another word too, ``D`` number of a day,
    ``Y`` year, ``N`` other number, ``I`` date in numbers, ``J`` year and month in numbers, ``o``
    "of", ``,`` comma, ``x`` anything else, including tokens joined to other signs.
    """

    text: str
    words: tuple[str, ...]
    """Lower case."""
    spans: tuple[tuple[int, int], ...]
    """Start and end of each in the text."""
    classes: str


def tokens_of(text: str) -> Tokens:
    """Return the first 2,048 tokens of a text, in linear time."""
    words, spans, classes = [], [], []
    for found in islice(_compiled(_TOKEN).finditer(text), _MOST_TOKENS):
        word = found[0].lower()
        words.append(word)
        spans.append(found.span())
        classes.append(_class_of(text, found[0], word, *found.span()))
    return Tokens(text, tuple(words), tuple(spans), "".join(classes))


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
    if not word[0].isdigit():
        return "x"
    return _class_of_number(word)


def _class_of_number(word: str) -> str:
    if word.isdigit():
        number = int(word) if len(word) <= 4 else -1
        if len(word) <= 2 and 1 <= number <= 31:
            return "D"
        return "Y" if 1900 <= number <= 2100 else "N"
    if word[-2:] in ("st", "nd", "rd", "th"):
        return "D" if len(word) <= 4 and 1 <= int(word[:-2]) <= 31 else "x"
    if _compiled(_YMD).fullmatch(word) is not None:
        return "I"
    if _compiled(_YM).fullmatch(word) is not None:
        return "J"
    found = _compiled(_DMY).fullmatch(word)
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


def _is_range_sign(text: str, place: int) -> bool:
    """Return whether the sign is a "-" after a space or "mid", which joins nothing."""
    before = text[max(place - 3, 0) : place]
    return text[place] == "-" and (before[-1:].isspace() or before.lower() == "mid")
