"""The analyzers a lexical index can be given, by name.

``"english"`` and the other languages that PyStemmer knows (``"german"``, ``"french"``, ...; the
whole list is :data:`NAMES`) leave out the language's stop words, find identifiers whole and in parts,
and take Snowball's stems. For code, and for languages without an analyzer of their own:

- ``"simple"``: words as they are: no stop words, no stems, no identifiers.
- ``"code"``: identifiers whole and in parts (snake_case, camelCase, paths, versions), every word as
  it is.
- ``"cjk"``: Chinese, Japanese and Korean by pairs of characters, one that stands alone by itself,
  other scripts by words as they are. Every analyzer takes these scripts so; this one has no stop
  words, stems or identifiers of another language.

What is done to a word, in order: lower case and compatibility forms; stop words; the stem; then
accents are taken off what is left. So a stem sees the accents that its rules go by (German "Häuser"
is told to be a form of "Haus" by its "ä"), and still a word is found without them where its stem is
the same: "Hauser" finds "Häuser", and "grun" finds "grün". Stop words are told with their accents:
German "für" is one, "fur" is a word. English and Porter have no rules for accents; there they are
taken off first ("résumé" is "resume" is "resum"). In Turkish, I is the capital of the dotless i,
and İ of i; after stemming both are i. A zero-width non-joiner inside an Arabic or Persian word is
seen by the stem, and is then gone.

19 languages have stop words: English, the house's own, and those of
:data:`oneiros.stop_words.LISTED`, from the package ``stop-words``
(``pip install 'oneiros[languages]'``). ``"porter"`` and ``"dutch_porter"`` have those of their
language. The others leave out nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core, stop_words
from oneiros.hashing import blake2b

__all__ = ["NAMES", "identity", "make"]

if TYPE_CHECKING:
    NAMES: Final[tuple[str, ...]] = ()
    """Every name that :func:`make` knows."""

_WORDS: Final = ("simple", "code", "cjk")

_OTHER_STEMS: Final = {"porter": "english", "dutch_porter": "dutch"}
"""Second stemmers of a language."""


def make(name: str) -> _core.Analyzer:
    """Return a new analyzer with an empty vocabulary.

    Args:
        name: one of :data:`NAMES`.

    Raises:
        ValueError: no analyzer has this name.
        ImportError: the language's stop words, or its stems, are in a package that is not
            installed; the message says what to install.
    """
    if name in _WORDS:
        is_code = name == "code"
        return _core.Analyzer(stop_words=[], identifiers=is_code, folding="full", stem=None)
    if name not in _languages(name):
        known = (*_WORDS, *_languages(name))
        msg = f"analyzer: must be one of {', '.join(map(repr, known))}, got {name!r}"
        raise ValueError(msg)
    language = _OTHER_STEMS.get(name, name)
    folding = {"english": "full", "turkish": "turkish_lower"}.get(language, "lower")
    return _core.Analyzer(
        stop_words=stop_words.of(language), identifiers=True, folding=folding, stem=_snowball(name)
    )


def identity(name: str) -> str:
    """Return what terms depend on beside the text: equal strings mean equal terms.

    Args:
        name: as for :func:`make`.
    """
    words = [] if name in _WORDS else stop_words.of(_OTHER_STEMS.get(name, name))
    digest = blake2b("\0".join(words).encode(), digest_size=8).hexdigest()
    stems = "none" if name in _WORDS else _stemmers(name).version()
    return f"{name}, stop words {digest}, stems {stems}, Unicode {_core.unicode_version}"


def __getattr__(name: str) -> tuple[str, ...]:
    if name == "NAMES":
        return (*_WORDS, *_languages("english"))
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def _languages(analyzer: str) -> list[str]:
    """Return the names of the analyzers that take stems, sorted."""
    return sorted(_stemmers(analyzer).algorithms())


def _stemmers(analyzer: str) -> Any:
    """Return PyStemmer's module, imported for the first analyzer that takes stems.

    On a free-threaded interpreter its import may turn the interpreter's lock on.

    Args:
        analyzer: named in the error.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module("Stemmer")
    except ModuleNotFoundError as error:
        if error.name != "Stemmer":
            raise
        msg = (
            f"analyzer: {analyzer!r} needs PyStemmer, which is not installed: pip install PyStemmer"
        )
        raise ImportError(msg, name="Stemmer") from error


def _snowball(algorithm: str) -> Callable[[list[str]], list[str]]:
    """Return the stems of a list of words by Snowball, callable from any thread."""
    # A Stemmer works in a buffer of its own, so each thread has one: no lock that a fork could leave
    # held. Each word is asked for once, the vocabulary keeps the answer: no cache here.
    local = threading.local()
    stemmers = _stemmers(algorithm)

    def stem(words: list[str]) -> list[str]:
        if not hasattr(local, "stemmer"):
            local.stemmer = stemmers.Stemmer(algorithm, maxCacheSize=0)
        stems: list[str] = local.stemmer.stemWords(words)
        return stems

    return stem
