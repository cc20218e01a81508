"""What leaves the ranked candidates before they are returned: duplicates, and what is too far off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from oneiros.ranking.declaration import LARGEST_WEIGHT, require_int, settle, settle_numbers
from oneiros.ranking.tables import require_words

__all__ = ["ABSTENTIONS", "AbstentionDeclaration", "Duplicates", "Surfacing", "WeakBest"]

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
    """Two whose texts begin with the same so many normalised characters are alike, 1 to 100,000."""

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


AbstentionDeclaration: TypeAlias = Surfacing | WeakBest
ABSTENTIONS: tuple[type[AbstentionDeclaration], ...] = (Surfacing, WeakBest)
