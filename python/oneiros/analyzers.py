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
    # A Stemmer works in a buffer of its own, so each thread has one: no lock that a fork could leave
    # held. Each word is asked for once, the vocabulary keeps the answer: no cache here.
    local = threading.local()

    def stem(words: list[str]) -> list[str]:
        if not hasattr(local, "stemmer"):
            local.stemmer = Stemmer.Stemmer(language, maxCacheSize=0)
        stems: list[str] = local.stemmer.stemWords(words)
        return stems

    return stem
