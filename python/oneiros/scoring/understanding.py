"""Query understanding: which words of a query count, its intent, and the weights that follow.

Source: docs/systems/omega.md O3, O8, O9.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_int,
    settle,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import NamedTuple, dataclass, field, replace
from oneiros.scoring import factors
from oneiros.scoring.fusion import ReciprocalRankFusion, WeightedSum, require_word
from oneiros.scoring.link_expansion import GraphExpansion
from oneiros.scoring.tables import SHARE, Rows, require_rows, require_words, settle_limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oneiros.scoring.factor import Factor
    from oneiros.scoring.fusion import ScoreNormalisation
    from oneiros.scoring.profile import Profile

__all__ = [
    "DEFAULT_HINT",
    "INTENTS",
    "KEYWORD_SIGNS",
    "QueryCut",
    "QueryWords",
    "Situation",
    "Understanding",
    "Weights",
    "fused_by_shares",
    "weighed",
]

QueryCut: TypeAlias = Literal["runs", "white_space", "joined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """Rules that split a query into the words that are matched against texts.

    At most 1,024 words count. The lexical channel is not affected: it uses the terms of the
    engine's analyzer.

    Source: docs/systems/omega.md O3, mnemosyne.md M8, house.md H7.
    """

    cut: QueryCut = "runs"
    """"runs": runs of letters, digits and underscores. "white_space": split at white space and keep
    punctuation. "joined": runs that begin with a letter or digit, also several of them joined by
    any of ``_ . : / + -``."""

    least_characters: int = 3
    """Shorter words do not count, 1 to 64."""

    counts_each: bool = False
    """Count every occurrence of a word in the query. Words of punctuation only, which are empty in
    canonical form and so occur in every text, count too. False: each distinct word counts once, and
    words of punctuation do not count."""

    counts_numbers: bool = True
    """Whether words that consist of digits count."""

    stop_words: tuple[str, ...] = ()
    """Words that do not count, in lower case."""

    def __post_init__(self) -> None:
        require_word("cut", self.cut, get_args(QueryCut))
        require_int("least_characters", self.least_characters, low=1, high=64)
        settle_flags(self, "counts_each", "counts_numbers")
        settle(self, "stop_words", require_words("stop_words", self.stop_words))


INTENTS: Final = ("navigational", "factual", "conceptual")
"""The intents of a query; a query may have none."""

KEYWORD_SIGNS: Final = (
    *("code", "path", "quoted", "camel_case", "snake_case", "memory_id", "version", "url", "hex"),
)
"""The signs of a keyword-like query (docs/systems/omega.md, Lists): backticks; a path; the whole
query in double quotes; a CamelCase or snake_case word; ``mem-`` and a hexadecimal number; a version
or a decimal number; ``http://`` or ``https://``; a word of 8 or more hexadecimal digits."""

DEFAULT_HINT: Final = "_default"


class Weights(NamedTuple):
    """Weights of the parts of a profile; the columns of docs/systems/omega.md O8 and O9."""

    vector: float = 1.0
    text: float = 1.0
    word: float = 1.0
    """Weight of the factor ``overlap``."""
    context: float = 1.0
    """Weight of the factor ``context``."""
    graph: float = 1.0
    """Weight of the expansion ``graph``."""

    def times(self, other: Weights) -> Weights:
        """Return the element-wise product."""
        return Weights(*(left * right for left, right in zip(self, other, strict=True)))


class Situation(NamedTuple):
    """Thresholds for an activity of the caller; the columns of docs/systems/omega.md O16."""

    min_vec: float
    """Least cosine of a hit of the vector channel."""
    min_text: float
    """Least share of query words that a text hit must contain."""
    min_composite: float
    """Least score of a result."""
    context: float
    """Multiplier of the weight of the factor ``context``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """Rules that classify, split and expand a query, and the weights that follow.

    Phrases are lower case and match whole words. An empty table changes nothing. Weights multiply
    those of the fusion, if it has any, and of the factors ``overlap`` and ``context``.

    Source: docs/systems/omega.md O2, O6, O8 to O10, O16, O19.
    """

    hints: Mapping[str, Sequence[float]] = field(default_factory=lambda: Rows({}))
    """Five weights per hint, as :class:`Weights`; other hints use "_default", or 1 throughout."""

    intents: Mapping[str, Sequence[float]] = field(default_factory=lambda: Rows({}))
    """Five weights, as :class:`Weights`, per intent: navigational, factual or conceptual."""

    keyword_signs: tuple[str, ...] = ()
    """Signs, of :data:`KEYWORD_SIGNS`. A query with one of them is keyword-like: navigational."""

    factual: tuple[str, ...] = ()
    """Phrases that make a query factual."""

    conceptual: tuple[str, ...] = ()
    """Phrases that make a query conceptual."""

    skips_vectors: bool = False
    """Whether a keyword-like query skips the vector channel."""

    preference: tuple[str, ...] = ()
    """Phrases that make a query one for a preference."""

    conjunctions: tuple[str, ...] = ()
    """Phrases at which a query is split, tried in this order."""

    not_before: tuple[str, ...] = ()
    """A conjunction directly before one of these words does not split the query."""

    clause_marks: tuple[str, ...] = ()
    """Phrases that begin a clause. A query that no conjunction splits is split at its commas if
    every part begins with one of them."""

    quotes: tuple[str, ...] = ('"', "'")
    """A query with ``least_quotes`` or more of one of these characters is not split."""

    least_quotes: int = 2
    """Number of quote characters that prevent a split, 1 to 1,000."""

    least_question_characters: int = 25
    """Shorter queries are not split, 1 to 1,000 characters."""

    trailing_marks: tuple[str, ...] = ("?", ".", ",", ";", "!")
    """Characters that, like spaces, are stripped from the end of a part."""

    most_parts: int = 4
    """Most parts of a query, 1 to 16; further parts are dropped. 1: queries are not split."""

    least_characters: int = 12
    """Shorter parts are dropped, 1 to 1,000 characters."""

    least_words: int = 2
    """Parts of fewer words, separated by spaces, are dropped, 1 to 100."""

    part_gain: float = 1.15
    """Multiplier of a memory's score for each further part that finds it, 1 to 1,000."""

    variant_weight: float = 0.8
    """Weight of a reciprocal rank in the results of an expanded query, 0 to 1."""

    most_variants: int = 4
    """Most expanded queries that are searched, 1 to 16."""

    expander_seconds: float = 5.0
    """Time limit of an expander, > 0; then the search continues without it. Infinity: no limit."""

    situations: Mapping[str, Sequence[float]] = field(default_factory=lambda: Rows({}))
    """Four numbers, as :class:`Situation`, per activity of the caller."""

    def __post_init__(self) -> None:
        for name, row in (("hints", Weights), ("intents", Weights), ("situations", Situation)):
            count = len(row._fields)
            rows = require_rows(name, getattr(self, name), count=count, low=0.0, high=1e3)
            settle(self, name, rows)
        for intent in self.intents:
            if intent not in INTENTS:
                msg = f"intents: must be among {', '.join(INTENTS)}, got {intent!r}"
                raise ValueError(msg)
        settle(self, "keyword_signs", _signs("keyword_signs", self.keyword_signs))
        for name in _PHRASES:
            settle(self, name, _phrases(name, getattr(self, name)))
        for name in ("quotes", "trailing_marks"):
            settle(self, name, _characters(name, getattr(self, name)))
        settle_flags(self, "skips_vectors")
        require_int("most_parts", self.most_parts, low=1, high=16)
        for name in ("least_quotes", "least_question_characters", "least_characters"):
            require_int(name, getattr(self, name), low=1, high=1_000)
        require_int("least_words", self.least_words, low=1, high=100)
        require_int("most_variants", self.most_variants, low=1, high=16)
        settle_limits(self, "expander_seconds")
        settle_numbers(self, part_gain=(1.0, 1e3, False), variant_weight=SHARE)

    def weights_of(self, hint: str | None, intent: str | None) -> Weights:
        """Return the product of the hint's weights and the intent's."""
        by_hint = self.hints.get(DEFAULT_HINT if hint is None or hint not in self.hints else hint)
        by_intent = None if intent is None else self.intents.get(intent)
        weights = Weights() if by_hint is None else Weights(*by_hint)
        return weights if by_intent is None else weights.times(Weights(*by_intent))

    def situation_of(self, name: str) -> Situation:
        """Return the situation of this name.

        Raises:
            ValueError: there is no such situation.
        """
        row = self.situations.get(name)
        if row is None:
            known = ", ".join(self.situations) or "none"
            msg = f"situation: must be one of {known}, got {name!r}"
            raise ValueError(msg)
        return Situation(*row)


_PHRASES: Final = (
    *("factual", "conceptual", "preference"),
    *("conjunctions", "not_before", "clause_marks"),
)


def _signs(field: str, value: object) -> tuple[str, ...]:
    signs = require_words(field, value)
    for sign in signs:
        if sign not in KEYWORD_SIGNS:
            msg = f"{field}: must be among {', '.join(KEYWORD_SIGNS)}, got {sign!r}"
            raise ValueError(msg)
    return signs


def _characters(field: str, value: object) -> tuple[str, ...]:
    characters = require_words(field, value)
    for character in characters:
        if len(character) != 1:
            msg = f"{field}: must be single characters, got {character!r}"
            raise ValueError(msg)
    return characters


def _phrases(field: str, value: object) -> tuple[str, ...]:
    phrases = require_words(field, value)
    for phrase in phrases:
        if phrase != " ".join(phrase.lower().split()):
            msg = f"{field}: must be lower case, single spaces between words, got {phrase!r}"
            raise ValueError(msg)
    return phrases


_NEUTRAL: Final = Weights()
_PART_OF: Final = {"vector": "vector", "lexical": "text"}


@lru_cache(maxsize=512)
def weighed(profile: Profile, weights: Weights, minimum: float | None = None) -> Profile:
    """Return the profile with weights for one query. Equal arguments return the same object.

    Args:
        profile: the profile of the search.
        weights: multipliers of the weights of the fusion, if it has one per channel, of the
            factors "overlap" and "context", and of the expansion "graph".
        minimum: the least cosine of a hit of the vector channel; None: the channel's.
    """
    changes: dict[str, Any] = {}
    if weights != _NEUTRAL:
        fusion: Any = profile.fusion
        existing = getattr(fusion, "weights", ())
        if existing != ():
            by_channel = (1.0,) * len(profile.channels) if existing is None else existing
            scaled = [
                _scaled(weight, getattr(weights, _PART_OF.get(channel.name, ""), 1.0))
                for weight, channel in zip(by_channel, profile.channels, strict=True)
            ]
            changes["fusion"] = replace(fusion, weights=tuple(scaled))
        changes["factors"] = tuple(_reweighted(factor, weights) for factor in profile.factors)
        if isinstance(profile.expansion, GraphExpansion):
            weight = _scaled(profile.expansion.weight, weights.graph)
            changes["expansion"] = replace(profile.expansion, weight=weight)
    if minimum is not None:
        changes["channels"] = tuple(channel.with_least(minimum) for channel in profile.channels)
    return profile.replace(**changes) if changes else profile


@lru_cache(maxsize=256)
def fused_by_shares(profile: Profile) -> Profile:
    """Return the profile with a fusion that adds the core's shares (docs/systems/omega.md O6)."""
    channels, fusion = profile.channels, profile.fusion
    assert isinstance(fusion, ReciprocalRankFusion)
    weights = (1.0,) * len(channels) if fusion.weights is None else fusion.weights
    normalise: tuple[ScoreNormalisation, ...] = tuple("none" for _ in channels)
    return profile.replace(fusion=WeightedSum(weights=weights, importance=0.0, normalise=normalise))


def _reweighted(factor: Factor, weights: Weights) -> Factor:
    # The names first: searches whose profile has neither do not load the classes.
    if factor.name == "overlap" and isinstance(factor, factors.Overlap):
        return replace(factor, weight=_scaled(factor.weight, weights.word))
    if factor.name == "context" and isinstance(factor, factors.ContextMatch):
        return replace(factor, weight=_scaled(factor.weight, weights.context))
    return factor


def _scaled(weight: float, by: float) -> float:
    return min(weight * by, LARGEST_WEIGHT)
