"""Texts and words as they are compared. Source: docs/systems/omega.md O3, O18, O26; house.md H7."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.ranking.query_words import QueryWords

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "canonical",
    "is_normalised_by_letter",
    "normalised",
    "stem_of",
    "stemmed",
    "words_of",
]

_MOST_WORDS: Final = 1_024
_LEAST_STEM: Final = 3
_compiled = cache(re.compile)  # once it is needed: most texts and queries need none of these
_WORD: Final = r"\w+"
_JOINED: Final = r"[^\W_]\w*(?:[_.:/+-]+[^\W_]\w*)*"
_PLAIN: Final = QueryWords()


def normalised(text: str) -> str:
    """Return the text in NFKC, then in lower case."""
    if text.isascii():
        return text.lower()
    import unicodedata  # noqa: PLC0415 - a library of its own, for texts beyond ASCII

    wide = unicodedata.normalize("NFKC", text)
    if "Σ" in wide and "`" in wide:
        # Sigma has another small letter at the end of a word. Python does not end a word at a
        # backtick, but the canonical form, which is derived from this text, has a blank there.
        return "`".join(part.lower() for part in wide.split("`"))
    return wide.lower()


def canonical(text: str) -> str:
    """Return the canonical form: no markdown, underscores, line ends or capitals. O26."""
    return _core.canonical_form(text=normalised(text))


def is_normalised_by_letter(text: str) -> bool:
    """Return whether cutting the text gives the same before and after it is normalised.

    Lower case changes the length of ``İ``, and turns ``Σ`` into one of two letters.
    """
    if text.isascii():
        return True
    import unicodedata  # noqa: PLC0415 - as above

    return unicodedata.is_normalized("NFKC", text) and "İ" not in text and "Σ" not in text


def words_of(query: str, rule: QueryWords | None = None) -> list[str]:
    """Return the words of a query that count, in order, at most 1,024.

    Args:
        query: the text.
        rule: how it is cut; None: into runs of letters, digits and underscores, of three characters
            or more, each once.

    Returns:
        Words that are normalised or become so by :func:`normalised`.
    """
    rule = _PLAIN if rule is None else rule
    if rule.cut == "white_space":
        found: Iterable[str] = query.split()
    elif rule.cut == "joined":
        found = _compiled(_JOINED).findall(query.lower())
    else:
        found = _compiled(_WORD).findall(normalised(query))
    if not rule.counts_each:
        found = dict.fromkeys(found)
    stop_words = frozenset(rule.stop_words)
    counted = (
        word
        for word in found
        if len(lower := word.lower()) >= rule.least_characters
        and lower not in stop_words
        and (rule.counts_numbers or not lower.isdigit())
    )
    return list(islice(counted, _MOST_WORDS))


def stem_of(word: str, suffixes: Sequence[str]) -> str:
    """Return the word without the first suffix that fits and leaves three characters. O18.

    If none does, return the word itself.
    """
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word


def stemmed(words: Iterable[str], suffixes: Sequence[str]) -> list[str]:
    """Return the words, each without the longest suffix that fits, once and in order. H7."""
    longest_first = sorted(suffixes, key=len, reverse=True)
    return list(dict.fromkeys(stem_of(word, longest_first) for word in words))
