"""The words of a question, and phrases found among them: whole words, never parts of one."""

from __future__ import annotations

import re
from functools import cache, lru_cache

__all__ = ["holds_any", "spaced"]

_CURLY, _STRAIGHT = "\u2019", "'"
_compiled = cache(re.compile)  # once it is needed: most texts and queries need none of these
_WORD = r"[^\W_]+(?:'[^\W_]+)*"


def spaced(text: str) -> str:
    """Return the words of ``text``, lower case, each with one space on either side.

    A word is letters and digits, with apostrophes inside; all else parts words.
    """
    return f" {' '.join(_compiled(_WORD).findall(text.replace(_CURLY, _STRAIGHT).lower()))} "


def holds_any(words: str, phrases: tuple[str, ...]) -> bool:
    """Tell whether one of the phrases stands among the words.

    Args:
        words: as :func:`spaced` returns them.
        phrases: lower case, words apart by single spaces.
    """
    single, several = _sorted(phrases)
    if not single.isdisjoint(words.split(" ")):
        return True
    for phrase in several:  # noqa: SIM110 - a generator would take longer than all of them
        if phrase in words:
            return True
    return False


@lru_cache(maxsize=256)
def _sorted(phrases: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the phrases of one word, and the others with a space on either side."""
    single = frozenset(phrase for phrase in phrases if " " not in phrase)
    return single, tuple(f" {phrase} " for phrase in phrases if " " in phrase)
