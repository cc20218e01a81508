"""What becomes of the ranked candidates before they are returned: what leaves, and what is done."""

from __future__ import annotations

from typing import ClassVar, Self, TypeAlias

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.ranking.declaration import LARGEST_WEIGHT, require_int, settle, settle_numbers
from oneiros.ranking.tables import require_words

__all__ = [
    "ABSTENTIONS",
    "AbstentionDeclaration",
    "AdaptiveRetry",
    "ByBest",
    "Duplicates",
    "Surfacing",
    "WeakBest",
    "eased",
]

_SHARE = (0.0, 1.0, False)
_COSINE = (-1.0, 1.0, False)
_MOST_CHARACTERS = 100_000
_MOST_MISSES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Of two alike, the better stays; the other is listed in the trace.

    Source: docs/systems/omega.md O26.
    """

    reads_texts: ClassVar[bool] = True

    characters: int = 150
    """Number of leading characters of the canonical form that make two texts alike, 1 to 100,000."""

    cosine: float = 0.92
    """Two whose embeddings have at least this cosine are alike, above 0, at most 1."""

    def __post_init__(self) -> None:
        require_int("characters", self.characters, low=1, high=_MOST_CHARACTERS)
        settle_numbers(self, cosine=(0.0, 1.0, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfacing:
    """Each result must be near enough by itself; where none is, nothing is returned.

    What the vector channel found needs ``least_cosine`` or ``least_overlap``, what only words found
    ``least_overlap``; whatever stays, a score of ``least_score``.

    Source: docs/systems/omega.md O27, O16.
    """

    name: ClassVar[str] = "surfacing"
    reads_texts: ClassVar[bool] = True

    least_cosine: float = 0.5
    """-1 to 1."""

    least_overlap: float = 0.35
    """Share of the question's words found in text and tags, 0 to 1."""

    least_score: float = 0.10
    """0 to 1e6."""

    misses: int = 3
    """How many of the nearest are told where nothing is returned, 0 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            least_cosine=_COSINE,
            least_overlap=_SHARE,
            least_score=(0.0, LARGEST_WEIGHT, False),
        )
        require_int("misses", self.misses, low=0, high=_MOST_MISSES)

    def eased(self, rule: AdaptiveRetry) -> Self:
        """Return what a second search asks."""
        return replace(
            self,
            least_cosine=eased(self.least_cosine, rule.relaxation),
            least_overlap=self.least_overlap * rule.relaxation,
            least_score=self.least_score * rule.score_relaxation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakBest:
    """Nothing is returned where even the best cosine is low and most words are found nowhere.

    Source: docs/systems/house.md H7.
    """

    name: ClassVar[str] = "weak_best"
    reads_texts: ClassVar[bool] = False

    cosine: float = 0.25
    """The best must be at least this, -1 to 1; without a vector channel it is not asked."""

    words: float = 0.5
    """Or this share of the question's words must be found in what the search found, 0 to 1."""

    suffixes: tuple[str, ...] = ("ing", "ed", "es", "s", "ly")
    """Endings that are cut off a word of the question, the longest that leaves three characters."""

    misses: int = 3
    """How many of the nearest are told where nothing is returned, 0 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, cosine=_COSINE, words=_SHARE)
        settle(self, "suffixes", require_words("suffixes", self.suffixes))
        require_int("misses", self.misses, low=0, high=_MOST_MISSES)

    def eased(self, rule: AdaptiveRetry) -> Self:
        """Return what a second search asks."""
        return replace(
            self,
            cosine=eased(self.cosine, rule.relaxation),
            words=self.words * rule.relaxation,
        )


AbstentionDeclaration: TypeAlias = Surfacing | WeakBest
ABSTENTIONS: tuple[type[AbstentionDeclaration], ...] = (Surfacing, WeakBest)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveRetry:
    """Once more, with less asked of a result and no time, where the results are far from the question.

    ``confidence = mean over the first results of max(cosine in [0, 1], share of words)``, one that
    is missing counting 0. The second answer stands where its confidence is higher.

    Source: docs/systems/omega.md O28.
    """

    reads_texts: ClassVar[bool] = True

    least_confidence: float = 0.3
    """Below it the search is made once more, 0 to 1."""

    relaxation: float = 0.6
    """What then is left of the least cosine and the least share of words, 0 to 1."""

    score_relaxation: float = 0.5
    """What then is left of the least score, 0 to 1."""

    results: int = 3
    """So many of the first results are looked at, or as many as are asked for, 1 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, least_confidence=_SHARE, relaxation=_SHARE, score_relaxation=_SHARE)
        require_int("results", self.results, low=1, high=_MOST_MISSES)


def eased(cosine: float, by: float) -> float:
    """Return a least cosine that asks less; one below 0 asks next to nothing, and stays."""
    return min(cosine, cosine * by)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByBest:
    """Scores are divided by the best of the results, at the very end; ``raw_score`` is that before.

    Where the best is not above 0, they stay as they are.

    Source: docs/systems/omega.md O29.
    """

    name: ClassVar[str] = "best"
