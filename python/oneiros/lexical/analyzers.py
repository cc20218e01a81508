"""The analyzers of a lexical index, by name.

``"simple"`` and ``"cjk"`` (the same) split text into words, ``"code"`` splits identifiers too. The
others are named after a Snowball stemmer (``"english"``, ``"german"``, ...): they split
identifiers, drop stop words and stem.

    >>> from oneiros import analyzers
    >>> [name for name in analyzers.NAMES if name in ("simple", "code", "english")]
    ['simple', 'code', 'english']
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import needed
from oneiros.runtime.hashing import blake2b

__all__ = ["FUNCTION_WORDS", "LISTED", "NAMES", "TIME_WORDS", "identity", "make", "of"]


ENGLISH: Final = (
    *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is"),
    *("it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there"),
    *("these", "they", "this", "to", "was", "will", "with", "i", "e.g", "i.e"),
)
"""The 33 words in wide use since Lucene's first English analyzer, plus "i", "e.g" and "i.e", which
word breaks of at least two letters would drop."""

LISTED: Final = (
    *("arabic", "catalan", "czech", "danish", "dutch", "finnish", "french", "german", "hindi"),
    *("hungarian", "indonesian", "italian", "norwegian", "polish", "portuguese", "russian"),
    *("spanish", "swedish"),
)
"""Languages whose list in the package ``stop-words`` is used. Left out: ancient Greek, Turkish and
Romanian (spelled without their letters) and Persian (contains nouns, verbs and digits)."""


def of(language: str) -> list[str]:
    """Return the stop words of a language; empty if there is no good list.

    Raises:
        ImportError: the list needs a package that is not installed; the message names it.
    """
    if language == "english":
        return list(ENGLISH)
    if language not in LISTED:
        return []
    words: list[str] = needed("stop_words", "languages").get_stop_words(language)
    return words


FUNCTION_WORDS: Final = (
    # pronouns, but "us" and "mine", which are also a country and a pit
    *("me", "my", "myself", "we", "our", "ours", "ourselves", "you", "your", "yours", "yourself"),
    *("yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "its"),
    *("itself", "them", "theirs", "themselves"),
    # question words
    *("what", "which", "who", "whom", "whose", "when", "where", "why", "how", "whether"),
    # auxiliary verbs, but "may", which is also a month
    *("am", "were", "been", "being", "do", "does", "did", "doing", "done", "have", "has", "had"),
    *("having", "can", "cannot", "could", "would", "shall", "should", "might", "must"),
    *("don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "weren't", "haven't", "hasn't"),
    *("hadn't", "can't", "couldn't", "won't", "wouldn't", "shouldn't", "mustn't"),
    *("you're", "you've", "you'd", "you'll", "he'd", "he'll", "she'd", "she'll", "we're", "we've"),
    *("we'd", "we'll", "let's"),
    # determiners
    *("some", "any", "all", "both", "each", "either", "neither", "every", "none", "another"),
    *("other", "others", "much", "many", "more", "most", "few", "several", "same", "own"),
    # conjunctions
    *("nor", "so", "yet", "because", "while", "although", "though", "unless", "whereas"),
    # adverbs of degree, place and time
    *("very", "too", "also", "just", "only", "even", "here", "now", "again", "once", "ever"),
    *("never", "still", "already", "quite", "rather", "almost", "perhaps", "maybe"),
)
"""English words that hold a sentence together and say little of what it is about; stop words
excepted. They are indexed, and a profile may let them weigh less in a query
(``LexicalChannel.function_words``). Source: docs/systems/house.md H17."""

TIME_WORDS: Final = (
    *("january", "february", "march", "april", "june", "july", "august", "september", "sept"),
    *("october", "november", "december"),
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("minute", "minutes", "quarter", "quarters", "fortnight", "decade", "decades"),
    *("hour", "hours", "days", "week", "weeks", "weekend", "weekends", "month", "months"),
    *("year", "years", "yesterday", "today", "tonight", "tomorrow", "morning", "afternoon"),
    *("evening", "night", "last", "past", "previous", "current", "next", "coming", "following"),
    *("since", "until", "till", "before", "after", "during", "throughout", "within", "between"),
    *("around", "about", "early", "late", "middle", "beginning", "first", "second", "third"),
    *("fourth", "couple", "four", "five", "seven", "eight", "nine", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
)
"""English words of four letters or more that times are named by. None is taken for a typing error, as
"last Friday" is not asked for what was lost. Source: docs/systems/house.md H20."""

if TYPE_CHECKING:
    NAMES: Final[tuple[str, ...]] = ()
    """Every name that :func:`make` accepts."""

_WORDS: Final = ("simple", "code", "cjk")

_OTHER_STEMS: Final = {"porter": "english", "dutch_porter": "dutch"}
"""Alternative stemmers, with their language."""


def make(name: str) -> _core.Analyzer:
    """Return a new analyzer with an empty vocabulary.

    Args:
        name: one of :data:`NAMES`.

    Raises:
        ValueError: no analyzer has this name.
        ImportError: the stop words or the stemmer need a package that is not installed; the
            message says what to install.
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
    is_english = language == "english"
    return _core.Analyzer(
        stop_words=of(language),
        identifiers=True,
        folding=folding,
        stem=_snowball(name),
        function_words=list(FUNCTION_WORDS) if is_english else [],
        known_words=list(TIME_WORDS) if is_english else [],
    )


def identity(name: str) -> str:
    """Return an identity of the analyzer: equal strings mean that equal texts give equal terms.

    Args:
        name: as for :func:`make`.
    """
    words = [] if name in _WORDS else of(_OTHER_STEMS.get(name, name))
    digest = blake2b("\0".join(words).encode(), digest_size=8).hexdigest()
    stems = "none" if name in _WORDS else _stemmers(name).version()
    unicode, rules = _core.unicode_version, _core.analysis_version
    return f"{name}, stop words {digest}, stems {stems}, Unicode {unicode}, rules {rules}"


def __getattr__(name: str) -> tuple[str, ...]:
    if name == "NAMES":
        return (*_WORDS, *_languages("english"))
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def _languages(analyzer: str) -> list[str]:
    """Return the names of the analyzers that stem, sorted."""
    return sorted(_stemmers(analyzer).algorithms())


def _stemmers(analyzer: str) -> Any:
    """Import PyStemmer.

    Not at the top: on a free-threaded interpreter the import may enable the GIL.

    Args:
        analyzer: name for the error message.

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
    """Return a function that stems a list of words by Snowball, callable from any thread."""
    # A Stemmer is not thread-safe. One per thread needs no lock, which a fork could leave acquired.
    # The vocabulary keeps the stem of each word, so no cache is needed here.
    local = threading.local()
    stemmers = _stemmers(algorithm)

    def stem(words: list[str]) -> list[str]:
        if not hasattr(local, "stemmer"):
            local.stemmer = stemmers.Stemmer(algorithm, maxCacheSize=0)
        stems: list[str] = local.stemmer.stemWords(words)
        return stems

    return stem
