"""Intent of a query: navigational, factual or conceptual. Source: docs/systems/omega.md O9."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oneiros.scoring.understanding import Understanding

__all__ = ["holds_any", "intent_of", "is_keyword_like", "spaced"]


_CURLY, _STRAIGHT = "\u2019", "'"
_compiled = cache(re.compile)  # compiled on first use: most queries need none of these
_WORD = r"[^\W_]+(?:'[^\W_]+)*"


def spaced(text: str) -> str:
    """Return the words of ``text`` in lower case, each with one space on either side.

    A word consists of letters and digits, with apostrophes inside. Everything else separates words.
    """
    return f" {' '.join(_compiled(_WORD).findall(text.replace(_CURLY, _STRAIGHT).lower()))} "


def holds_any(words: str, phrases: tuple[str, ...]) -> bool:
    """Return whether one of the phrases occurs in the words.

    Args:
        words: words from :func:`spaced`.
        phrases: in lower case, with single spaces between words.
    """
    single, several = _sorted(phrases)
    if not single.isdisjoint(words.split(" ")):
        return True
    for phrase in several:  # noqa: SIM110 - a generator would take longer than the whole loop
        if phrase in words:
            return True
    return False


@lru_cache(maxsize=256)
def _sorted(phrases: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the phrases of one word, and the other phrases with a space on either side."""
    single = frozenset(phrase for phrase in phrases if " " not in phrase)
    return single, tuple(f" {phrase} " for phrase in phrases if " " in phrase)


_NAME: Final = r"\w+"
_MEMORY_ID: Final = r"(?<!\w)mem-[0-9a-f]{8,}+(?!\w)"
_VERSION: Final = r"(?<!\w)v?\d++\.\d++(?!\w)"
_HEX: Final = r"(?<!\w)[0-9a-f]{8,}+(?!\w)"
# Quick tests that most queries fail. They begin with a set, which ``re`` skips to fast.
_ASCII_HUMP: Final = r"[a-z][A-Z]"
_DIGITS: Final = r"[0-9a-f]{8}"
_ROOT: Final = r"(?:\.{1,2}|~|[A-Za-z]:)?/"
_OPENING: Final = "\"'([{<\u201c\u2018"
"""Signs that may precede the first character of a path."""


def is_keyword_like(query: str, signs: Iterable[str]) -> bool:
    """Return whether a query names a thing instead of being a question about it.

    Args:
        query: the query.
        signs: signs to look for, by name (``oneiros.scoring.understanding.KEYWORD_SIGNS``).
    """
    for sign in signs:  # noqa: SIM110 - a generator would take longer than most signs
        if _HAS_SIGN[sign](query):
            return True
    return False


def _has_code(query: str) -> bool:
    return "`" in query


def _has_path(query: str) -> bool:
    return "/" in query and any(_is_path(word) for word in query.split() if "/" in word)


def _is_path(word: str) -> bool:
    """Return whether a slash before a letter begins the word, or there are two or more slashes."""
    inner = word.lstrip(_OPENING)
    root = _compiled(_ROOT).match(inner)
    if root is not None and inner[root.end() : root.end() + 1].isalpha():
        return True
    _, *names = word.split("/")
    return len(names) >= 2 and any(name[:1].isalpha() for name in names)


def _is_quoted(query: str) -> bool:
    whole = query.strip()
    return len(whole) > 2 and whole[0] == whole[-1] == '"'


def _has_camel_case(query: str) -> bool:
    if query.isascii() and _compiled(_ASCII_HUMP).search(query) is None:
        return False
    names = _compiled(_NAME).findall(query)
    return any(name[0].isupper() and _has_hump(name) for name in names)


def _has_hump(name: str) -> bool:
    return any(second.isupper() and first.islower() for first, second in pairwise(name))


def _has_snake_case(query: str) -> bool:
    return "_" in query and any(_is_snake_case(name) for name in _compiled(_NAME).findall(query))


def _is_snake_case(name: str) -> bool:
    if name[0] == "_" or "_" not in name[:-1]:
        return False
    return all(character == "_" or character.islower() for character in name)


def _has_memory_id(query: str) -> bool:
    return "mem-" in query and _compiled(_MEMORY_ID).search(query) is not None


def _has_version(query: str) -> bool:
    return "." in query and _compiled(_VERSION).search(query) is not None


def _has_url(query: str) -> bool:
    return "://" in query and ("http://" in query or "https://" in query)


def _has_hex(query: str) -> bool:
    return (
        _compiled(_DIGITS).search(query) is not None and _compiled(_HEX).search(query) is not None
    )


_HAS_SIGN: Final[dict[str, Callable[[str], bool]]] = {
    "code": _has_code,
    "path": _has_path,
    "quoted": _is_quoted,
    "camel_case": _has_camel_case,
    "snake_case": _has_snake_case,
    "memory_id": _has_memory_id,
    "version": _has_version,
    "url": _has_url,
    "hex": _has_hex,
}


def intent_of(query: str, understanding: Understanding, words: str | None = None) -> str | None:
    """Return the intent of a query: "navigational", "factual", "conceptual" or None.

    The first that fits, in this order. Phrases match whole words.

    Args:
        query: the query.
        understanding: the profile's lists of signs and phrases.
        words: its words from :func:`spaced`; None: computed here.
    """
    if is_keyword_like(query, understanding.keyword_signs):
        return "navigational"
    words = spaced(query) if words is None else words
    if holds_any(words, understanding.factual):
        return "factual"
    return "conceptual" if holds_any(words, understanding.conceptual) else None
