"""The analyzers a lexical index can be given, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable

import Stemmer

from oneiros import _core

__all__ = ["NAMES", "make"]

NAMES = ("english", "simple")


def make(name: str) -> _core.Analyzer:
    """Return a new analyzer with an empty vocabulary.

    Args:
        name: ``"english"`` leaves out the English stop words, finds identifiers whole and in parts,
            and takes Snowball's English stems. ``"simple"`` is words only: no stop words, no stems,
            no identifiers.

    Raises:
        ValueError: no analyzer has this name.
    """
    if name == "english":
        return _core.Analyzer(stop_words=True, identifiers=True, stem=_snowball("english"))
    if name == "simple":
        return _core.Analyzer(stop_words=False, identifiers=False, stem=None)
    msg = f"analyzer: must be one of {', '.join(map(repr, NAMES))}, got {name!r}"
    raise ValueError(msg)


def _snowball(language: str) -> Callable[[list[str]], list[str]]:
    """Return the stems of a list of words by Snowball, callable from any thread."""
    # Each word is asked for once, the vocabulary keeps the answer: a cache here would double it.
    stemmer = Stemmer.Stemmer(language, maxCacheSize=0)
    lock = threading.Lock()  # a Stemmer works in a buffer of its own

    def stem(words: list[str]) -> list[str]:
        with lock:
            stems: list[str] = stemmer.stemWords(words)
        return stems

    return stem
