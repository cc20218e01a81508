"""What a question is after. Source: docs/systems/omega.md O9.

All in time linear in the question's length: patterns are tried at most once a place, and none of
them can go back over what it has read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from oneiros.query.words import holds_any, spaced

if TYPE_CHECKING:
    from oneiros.ranking.understanding import Understanding

__all__ = ["intent_of", "is_keyword_like"]

# Without one of these nothing is keyword-like; most questions end here. Each begins with a set or a
# letter, which the engine of ``re`` skips to several times faster than to alternatives.
_MARK: Final = re.compile(r"[`\\/_#.\"'\u201c]").search
_CAMEL: Final = re.compile(r"[a-z][A-Z]").search
_DIGITS: Final = re.compile(r"[0-9a-fA-F]{8}").search
_NUMBERED: Final = re.compile(r"-\d").search
_RELEASE: Final = re.compile(r"v\d").search

_INSIDE: Final = re.compile(
    r"`"
    r"|(?<=[^\W_])_+(?=[^\W_])"  # snake_case
    r"|(?<!\S)__[^\W_]"  # __dunder__
    r"|[a-z][A-Z]"  # CamelCase
    r"|://|(?<!\S)www\."
    r"|(?<![^\W_])[0-9a-fA-F]{8,}(?![^\W_])"
)
_ID: Final = re.compile(r"#\d+|[A-Z][A-Z0-9]*-\d+")
_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}")
_DATE: Final = re.compile(
    r"\d{1,2}([./])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([./])\d{1,2}\2\d{1,2}"
)
_ROOTED: Final = re.compile(r"(?:~|\.{1,2})?/[\w.~-]|[A-Za-z]:\\")
_ENDING: Final = re.compile(r"[\w)\]-]\.([A-Za-z0-9]{1,12})$")
_QUOTES: Final = {'"': '"', "'": "'", "“": "”"}
_AROUND: Final = ".,;:!?()[]{}<>\"'“”"


def is_keyword_like(query: str, file_endings: Collection[str] = ()) -> bool:
    """Tell whether a question names a thing rather than asks about it.

    It does where all of it is quoted, or it holds backticks, a CamelCase or snake_case word, a URL,
    eight or more hexadecimal digits in a row, a path, a file's name, an id (``ERR-42``, ``#17``) or
    a version (``v2``, ``1.4.15``; ``3.11`` alone may be any number, and ``1.5.2025`` is a day).

    Args:
        query: the question.
        file_endings: what follows the last dot of a file's name, lower case.
    """
    sign = _MARK(query) or _CAMEL(query) or _DIGITS(query) or _NUMBERED(query) or _RELEASE(query)
    if sign is None:
        return False
    if _INSIDE.search(query) is not None:
        return True
    whole = query.strip()
    if len(whole) > 2 and _QUOTES.get(whole[0]) == whole[-1] and _is_one_quotation(whole):
        return True
    return any(_names_a_thing(word, file_endings) for word in query.split())


def _is_one_quotation(whole: str) -> bool:
    inner = whole[1:-1]
    return whole[0] not in inner and whole[-1] not in inner


def _names_a_thing(word: str, file_endings: Collection[str]) -> bool:
    if _ROOTED.match(word.lstrip("(\"'“[")) is not None:
        return True
    word = word.strip(_AROUND)
    if _DATE.fullmatch(word) is not None:
        return False
    if _ID.fullmatch(word) or _VERSION.fullmatch(word):
        return True
    slashes = word.count("/") + word.count("\\")
    ending = _ENDING.search(word[-16:])
    has_ending = ending is not None and ending[1].lower() in file_endings
    return has_ending or (slashes >= 2 and word.strip("/\\0123456789") != "")


def intent_of(query: str, understanding: Understanding, words: str | None = None) -> str | None:
    """Return what a question is after: "navigational", "factual", "conceptual" or None.

    The first that fits, in this order; phrases match whole words.

    Args:
        query: the question.
        understanding: whose lists are read.
        words: its words by :func:`oneiros.query.words.spaced`, where they are known already.
    """
    if is_keyword_like(query, understanding.file_endings):
        return "navigational"
    words = spaced(query) if words is None else words
    if holds_any(words, understanding.factual):
        return "factual"
    return "conceptual" if holds_any(words, understanding.conceptual) else None
