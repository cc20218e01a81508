"""Words too common in a language to tell texts apart."""

from __future__ import annotations

from typing import Final

from oneiros.optional import needed

__all__ = ["LISTED", "of"]

ENGLISH: Final = (
    *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is"),
    *("it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there"),
    *("these", "they", "this", "to", "was", "will", "with", "i", "e.g", "i.e"),
)
"""The 33 words in wide use since Lucene's first English analyzer, and three that word breaks of at
least two letters would drop: "i", "e.g", "i.e"."""

LISTED: Final = (
    *("arabic", "catalan", "czech", "danish", "dutch", "finnish", "french", "german", "hindi"),
    *("hungarian", "indonesian", "italian", "norwegian", "polish", "portuguese", "russian"),
    *("spanish", "swedish"),
)
"""Languages whose list in the package ``stop-words`` is taken. Not so its ancient Greek, its Turkish
and Romanian without their letters, nor its Persian, which holds nouns, verbs and digits."""


def of(language: str) -> list[str]:
    """Return the stop words of a language; none where no good list is known.

    Raises:
        ImportError: the list is in a package that is not installed; the message says which.
    """
    if language == "english":
        return list(ENGLISH)
    if language not in LISTED:
        return []
    words: list[str] = needed("stop_words", "languages").get_stop_words(language)
    return words
