"""What a profile reads in a query: the words that count, and tables of words with weights."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from oneiros.model.validation import (
    require_int,
    require_number,
    settle,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import NamedTuple, dataclass, field
from oneiros.scoring.fusion import require_word
from oneiros.scoring.tables import Rows, require_rows, require_words

__all__ = [
    "DEFAULT_HINT",
    "INTENTS",
    "KEYWORD_SIGNS",
    "QueryCut",
    "QueryWords",
    "Situation",
    "Understanding",
    "Weights",
]


QueryCut: TypeAlias = Literal["runs", "white_space", "joined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """How a query is cut into the words that are looked for in texts.

    At most 1,024 words count. The lexical channel is not affected: the engine's analyzer cuts its
    terms.

    Source: docs/systems/omega.md O3, mnemosyne.md M8, house.md H7.
    """

    cut: QueryCut = "runs"
    """"runs": runs of letters, digits and underscores. "white_space": what white space separates,
    with its punctuation. "joined": runs as above that begin with a letter or digit, and several of
    them joined by any of ``_ . : / + -``."""

    least_characters: int = 3
    """A shorter word does not count, 1 to 64."""

    counts_each: bool = False
    """Count a word as often as it stands in the query, also one that consists of marks and is empty in
    canonical form, which every text holds. False: each word counts once, and such a word does not."""

    counts_numbers: bool = True
    """Whether words of digits alone count."""

    stop_words: tuple[str, ...] = ()
    """Words that do not count, in lower case."""

    def __post_init__(self) -> None:
        require_word("cut", self.cut, get_args(QueryCut))
        require_int("least_characters", self.least_characters, low=1, high=64)
        settle_flags(self, "counts_each", "counts_numbers")
        settle(self, "stop_words", require_words("stop_words", self.stop_words))


INTENTS: Final = ("navigational", "factual", "conceptual")
"""What a question may be after; one that is neither has no intent."""

KEYWORD_SIGNS: Final = (
    *("code", "path", "quoted", "camel_case", "snake_case", "memory_id", "version", "url", "hex"),
)
"""The signs of a keyword-like question (docs/systems/omega.md, Lists): backticks; a path; all of the
question in double quotes; a CamelCase or snake_case word; ``mem-`` and a hexadecimal number; a version
or a decimal number; ``http://`` or ``https://``; a word of 8 or more hexadecimal digits."""

DEFAULT_HINT: Final = "_default"


class Weights(NamedTuple):
    """How much each part counts; the columns of docs/systems/omega.md O8 and O9."""

    vector: float = 1.0
    text: float = 1.0
    word: float = 1.0
    """Of the factor ``overlap``."""
    context: float = 1.0
    """Of the factor ``context``."""
    graph: float = 1.0
    """Of the expansion ``graph``."""

    def times(self, other: Weights) -> Weights:
        """Return the products, part by part."""
        return Weights(*(mine * theirs for mine, theirs in zip(self, other, strict=True)))


class Situation(NamedTuple):
    """What holds while the caller does something; the columns of docs/systems/omega.md O16."""

    min_vec: float
    """The least cosine that the vector channel finds."""
    min_text: float
    """The least share of words that a hit by words must have."""
    min_composite: float
    """The least score that is returned."""
    context: float
    """What the weight of the factor ``context`` is multiplied by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """How a question is read. Phrases are lower case and match whole words.

    A table that is empty changes nothing. Weights multiply those of the fusion, where it has any,
    and of the factors ``overlap`` and ``context``.

    Source: docs/systems/omega.md O2, O6, O8 to O10, O16, O19.
    """

    hints: Rows = field(default_factory=lambda: Rows({}))
    """By hint: five weights, as :class:`Weights`; of another hint those of "_default", or all 1."""

    intents: Rows = field(default_factory=lambda: Rows({}))
    """By intent, navigational, factual or conceptual: five weights, as :class:`Weights`."""

    keyword_signs: tuple[str, ...] = ()
    """Signs, of :data:`KEYWORD_SIGNS`, one of which makes a question keyword-like: navigational."""

    factual: tuple[str, ...] = ()
    """Phrases that make a question factual."""

    conceptual: tuple[str, ...] = ()
    """Phrases that make a question conceptual."""

    skips_vectors: bool = False
    """Whether a keyword-like question leaves the vector channel out."""

    preference: tuple[str, ...] = ()
    """Phrases that ask for a preference."""

    conjunctions: tuple[str, ...] = ()
    """Phrases that split a question where they stand, tried in this order."""

    not_before: tuple[str, ...] = ()
    """Words that keep a conjunction right before them from splitting."""

    clause_marks: tuple[str, ...] = ()
    """Phrases that begin a clause. A question without a conjunction that splits it is split at its
    commas if each part begins with one."""

    quotes: tuple[str, ...] = ('"', "'")
    """Characters that keep a question whole where it holds ``least_quotes`` or more of one."""

    least_quotes: int = 2
    """1 to 1,000."""

    least_question_characters: int = 25
    """Of a question that is split, 1 to 1,000."""

    trailing_marks: tuple[str, ...] = ("?", ".", ",", ";", "!")
    """Characters that are cut off the end of a part, as blanks are."""

    most_parts: int = 4
    """Of one question, 1 to 16; 1: a question is never split. Further parts are dropped."""

    least_characters: int = 12
    """Of a part, 1 to 1,000; a shorter one is dropped."""

    least_words: int = 2
    """Of a part, apart by blanks, 1 to 100; one with fewer is dropped."""

    part_gain: float = 1.15
    """What each further part that finds a memory multiplies its score by, 1 to 1,000."""

    variant_weight: float = 0.8
    """What a reciprocal rank in the answer to an expansion counts, 0 to 1."""

    most_variants: int = 4
    """So many of what an expander gives are searched, 1 to 16."""

    expander_seconds: float = 5.0
    """How long an expander may take, > 0, before the search goes on without it; infinity: as long as
    it does."""

    situations: Rows = field(default_factory=lambda: Rows({}))
    """By what the caller does: four numbers, as :class:`Situation`."""

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
        seconds = require_number(
            "expander_seconds", self.expander_seconds, low=0.0, above_low=True, finite=False
        )
        settle(self, "expander_seconds", seconds)
        settle_numbers(self, part_gain=(1.0, 1e3, False), variant_weight=(0.0, 1.0, False))

    def weights_of(self, hint: str | None, intent: str | None) -> Weights:
        """Return the product of the hint's weights and the intent's."""
        held = self.hints.get(DEFAULT_HINT if hint is None or hint not in self.hints else hint)
        asked = None if intent is None else self.intents.get(intent)
        weights = Weights() if held is None else Weights(*held)
        return weights if asked is None else weights.times(Weights(*asked))

    def situation_of(self, name: str) -> Situation:
        """Return what holds there.

        Raises:
            ValueError: there is no such situation.
        """
        held = self.situations.get(name)
        if held is None:
            known = ", ".join(self.situations) or "none"
            msg = f"situation: must be one of {known}, got {name!r}"
            raise ValueError(msg)
        return Situation(*held)


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
