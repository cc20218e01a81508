"""Query understanding by a profile: intent, hint, weights, time, context and words to match.

Source: docs/systems/omega.md O3, O9, O18, O23; docs/systems/mnemosyne.md M8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from oneiros import filters
from oneiros.index.texts import canonical, normalised, stem_of, words_of
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring import factors as published
from oneiros.scoring.understanding import Weights, weighed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.filters import Where
    from oneiros.index.texts import MemoryTexts
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.understanding import QueryWords, Situation, Understanding
    from oneiros.search.query.context import Surroundings
    from oneiros.search.query.dates import TimeRange

__all__ = [
    "PLAIN",
    "TextMatcher",
    "Understood",
    "asks_times",
    "holds_any",
    "intent_of",
    "is_keyword_like",
    "kind_asked_for",
    "names_kinds",
    "ranked_by",
    "spaced",
    "understand",
]

KEYWORD_LIKE: Final = "skipped: the query is keyword-like"


class Understood(NamedTuple):
    """Everything that a profile reads in a query."""

    intent: str | None = None
    hint: str | None = None
    """Row of the profile's hints that sets the weights; None: "_default"."""
    weights: Weights = Weights()
    """Weights of hint and intent together."""
    asks_preference: bool = False
    """Whether the query has a word of preference."""
    skips_vectors: str = ""
    """Why the vector channel is skipped; empty if it is not."""
    time: TimeRange | None = None
    """The time that the query names, if the profile reads times."""
    asks_time: bool = False
    """Whether the query asks for a time, if the profile reads that."""
    asks_by_time: bool = False
    """Whether the query has no word of content but those that name the time, if the profile reads that."""
    leaves_time: bool = False
    """Whether the query names a time that a retry leaves out."""
    surroundings: Surroundings | None = None
    """The caller's context, if the profile reads it."""
    situation: Situation | None = None
    """Weights and thresholds of the caller's situation."""
    unused: tuple[str, ...] = ()
    """Notes on arguments that the profile does not use."""

    @property
    def note(self) -> str:
        """The line in the trace; empty if nothing was read."""
        parts = [] if self.intent is None else [f"intent {self.intent}"]
        parts += [] if self.hint is None else [f"hint {self.hint}"]
        parts += [] if self.time is None else [str(self.time)]
        parts += ["asks for a time"] if self.asks_time else []
        parts += ["asks by the time alone"] if self.asks_by_time else []
        return ", ".join((*parts, *self.unused))


NEUTRAL: Final = Weights()
PLAIN: Final = Understood()
"""For a profile that reads nothing in the query."""


@lru_cache(maxsize=256)
def asks_times(profile: Profile) -> bool:
    """Return whether a time named by the query makes a difference to the profile."""
    parts = (*profile.channels, *profile.factors)
    return profile.named_time is not None or any(part.name == "temporal" for part in parts)


def understand(
    query: str, profile: Profile, hint: str | None, where: Where | None, time: TimeRange | None
) -> Understood:
    """Read a query by the tables and lists of a profile.

    Without a hint, the kind that ``where`` lets through alone sets the weights.
    """
    reader = profile.understanding
    if reader is None:
        return PLAIN if time is None else Understood(time=time)
    words = spaced(query)
    intent = intent_of(query, reader, words)
    chosen = kind_asked_for(where) if hint is None else hint
    skips = reader.skips_vectors and intent == "navigational"
    return Understood(
        intent=intent,
        hint=chosen if chosen in reader.hints else None,
        weights=_weights(profile, chosen, intent),
        asks_preference=holds_any(words, reader.preference),
        skips_vectors=KEYWORD_LIKE if skips else "",
        time=time,
    )


@lru_cache(maxsize=512)
def _weights(profile: Profile, hint: str | None, intent: str | None) -> Weights:
    reader = profile.understanding
    return Weights() if reader is None else reader.weights_of(hint, intent)


def kind_asked_for(where: Where | None) -> str | None:
    """Return the kind if a filter lets only one kind through, as ``where(kind=...)``; else None."""
    if where is None:
        return None
    conditions = filters.conditions
    parts: Any = where.parts if isinstance(where, conditions.And) else (where,)
    for part in parts:
        if isinstance(part, conditions.AnyOf) and part.name == "kind" and len(part.values) == 1:
            kind: str = part.values[0]
            return kind
        if isinstance(part, conditions.And):
            found = kind_asked_for(part)
            if found is not None:
                return found
    return None


def names_kinds(where: Where | None) -> bool:
    """Return whether a filter names kinds, so that no kind is hidden. O23."""
    if where is None:
        return False
    conditions = filters.conditions
    if isinstance(where, (conditions.And, conditions.Or)):
        return any(map(names_kinds, where.parts))
    return isinstance(where, conditions.AnyOf) and where.name == "kind"


def ranked_by(profile: Profile, understood: Understood) -> Profile:
    """Return the profile with the weights of the query and the caller's situation."""
    situation = understood.situation
    if understood.weights == NEUTRAL and situation is None:
        return profile

    minimum = None if situation is None else situation.min_vec
    return weighed(profile, understood.weights, minimum)


# -- intent: navigational, factual or conceptual (O9) -----------------------------------------------

_CURLY, _STRAIGHT = "\u2019", "'"
_compiled = cache(re.compile)  # compiled on first use: most queries need none of these
_WORD = r"[^\W_]+(?:'[^\W_]+)*"


def spaced(text: str) -> str:
    """Return the words of ``text`` in lower case, each with one space on either side.

    A word consists of letters and digits, with apostrophes inside. Everything else separates words.
    """
    return f" {' '.join(_compiled(_WORD).findall(text.replace(_CURLY, _STRAIGHT).lower()))} "


def holds_any(words: str, phrases: tuple[str, ...]) -> bool:
    """Return whether one of the phrases occurs in the words from :func:`spaced`.

    Phrases are in lower case, with single spaces between words.
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

    ``signs`` are names in ``oneiros.scoring.understanding.KEYWORD_SIGNS``.
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

    The first that fits, in this order. Phrases match whole words. ``words`` are those from
    :func:`spaced`, computed if None.
    """
    if is_keyword_like(query, understanding.keyword_signs):
        return "navigational"
    words = spaced(query) if words is None else words
    if holds_any(words, understanding.factual):
        return "factual"
    return "conceptual" if holds_any(words, understanding.conceptual) else None


class TextMatcher:
    """The words of one query, and the texts to match them with. REQUIRES: the texts were read."""

    def __init__(self, texts: MemoryTexts, query: str, rule: QueryWords | None = None) -> None:
        self.texts = texts
        self.column = texts.column
        self._query = query
        self._counts_each = rule is not None and rule.counts_each
        self._words = words_of(query, rule)

    @cached_property
    def words(self) -> list[str]:
        """The words that count, normalised."""
        return list(map(normalised, self._words))

    def overlap_words(self, factors: Sequence[Factor]) -> tuple[list[str], list[str], int]:
        """Return the words in canonical form, their stems ("" if equal) and their count.

        Unless the profile counts repetitions, each word counts once and empty ones do not. The
        endings are those of the factor "overlap". Source: docs/systems/omega.md O18.
        """
        forms = map(canonical, self._words)
        words = list(forms if self._counts_each else dict.fromkeys(filter(None, forms)))
        overlaps = (factor for factor in factors if isinstance(factor, published.Overlap))
        suffixes = next(overlaps, published.Overlap()).suffixes
        stems = ["" if (stem := stem_of(word, suffixes)) == word else stem for word in words]
        return words, stems, len(words)

    def start(self, characters: int) -> str:
        """Return the canonical form of the query's first characters. O1."""
        return canonical(self._query[:characters])
