"""Texts and words as they are compared: NFKC, lower case. Source: docs/systems/omega.md O3, O18."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LEAST_WORD", "normalised", "stemmed", "words_of"]

LEAST_WORD: Final = 3
"""Characters of the shortest word that counts."""
_MOST_WORDS: Final = 1_024
_LEAST_STEM: Final = 3
_WORD: Final = re.compile(r"\w+")


def normalised(text: str) -> str:
    """Return the text in NFKC, then in lower case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def words_of(query: str) -> list[str]:
    """Return the words of a question that count, normalised: each once, in order, at most 1,024.

    A word is a run of letters, digits and underscores, of three characters or more.
    """
    found = dict.fromkeys(_WORD.findall(normalised(query)))
    return [word for word in found if len(word) >= LEAST_WORD][:_MOST_WORDS]


def stemmed(words: Iterable[str], suffixes: tuple[str, ...]) -> list[str]:
    """Return the words without their endings, each once, in order.

    Of each word the longest of ``suffixes`` that it ends with is cut, where three characters stay.
    """
    longest_first = sorted(suffixes, key=len, reverse=True)
    return list(dict.fromkeys(_stem(word, longest_first) for word in words))


def _stem(word: str, longest_first: list[str]) -> str:
    for suffix in longest_first:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word
