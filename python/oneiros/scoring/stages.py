"""Declarations of the stages after ranking: cache, reranking, short circuit, duplicates, abstention, retry."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_int,
    require_number,
    settle,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.tables import require_words

if TYPE_CHECKING:
    from oneiros.scoring.profile import Profile

__all__ = [
    "ABSTENTIONS",
    "AbstentionDeclaration",
    "AdaptiveRetry",
    "ByBest",
    "Duplicates",
    "FastPath",
    "Reranking",
    "ResponseCache",
    "StrongSignal",
    "Surfacing",
    "WeakBest",
    "answered_at_once",
    "decided_by_words",
    "eased",
    "require_words_for",
    "with_place",
]


_LONGEST = (0.0, 1e9, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCache:
    """The same question is given the same answer for a while, until a memory is written.

    Source: docs/systems/omega.md O30.
    """

    most: int = 128
    """Answers that are kept, those asked for last, 1 to 100,000."""

    seconds: float = 60.0
    """How long, by the engine's clock, 0 to 1e9."""

    confident_seconds: float = 300.0
    """How long an answer of high confidence is."""

    above_confidence: float = 0.7
    """Confidence is high above this, 0 to 1; a profile without a retry tells of none (O28)."""

    def __post_init__(self) -> None:
        require_int("most", self.most, low=1, high=100_000)
        settle_numbers(
            self,
            seconds=_LONGEST,
            confident_seconds=_LONGEST,
            above_confidence=(0.0, 1.0, False),
        )

    def kept_for(self, confidence: float | None) -> float:
        """Return for how many seconds an answer of this confidence is given again."""
        is_sure = confidence is not None and confidence > self.above_confidence
        return self.confident_seconds if is_sure else self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """The first results are judged again, where there is a reranker.

    With the factor "rerank" its scores multiply those of the results; without, they are the order.

    Source: docs/systems/cognitive.md C8, omega.md O25.
    """

    top: int = 20
    """So many of the first are judged, 1 to 1,000."""

    after_links: bool = True
    """Whether what links bring is judged, too; else direct results alone, and links follow them."""

    deadline_seconds: float = 5.0
    """How long it may take, > 0, before the search goes on without it; infinity: as long as it does."""

    def __post_init__(self) -> None:
        require_int("top", self.top, low=1, high=1_000)
        settle_flags(self, "after_links")
        seconds = require_number(
            "deadline_seconds", self.deadline_seconds, low=0.0, above_low=True, finite=False
        )
        settle(self, "deadline_seconds", seconds)


@lru_cache(maxsize=256)
def with_place(profile: Profile) -> Profile:
    """Return a profile with a place for a reranker: its own, else the default one."""
    return profile if profile.rerank is not None else profile.replace(rerank=Reranking())


_POSITIVE_SHARE = (0.0, 1.0, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class FastPath:
    """A keyword-like question is answered by what words found of almost the same characters.

    Their likeness is the score: no fusion, factor, link or reranker has a part in it. Not in deep
    recall, and not where a time is named.

    Source: docs/systems/omega.md O1.
    """

    reads_texts: ClassVar[bool] = True

    similarity: float = 0.60
    """Least share of character trigrams in common (Jaccard), above 0, at most 1."""

    characters: int = 200
    """Length to which each text is cut before it is put into canonical form (O26), 3 to 100,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, similarity=_POSITIVE_SHARE)
        require_int("characters", self.characters, low=3, high=100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrongSignal:
    """Where the text channel's first hit is strong and well ahead, its hits alone are the candidates.

    Their relevance is the channel's own. Needs a lexical channel with a ``word_share``, whose
    relevance lies in 0 to 1.

    Source: docs/systems/omega.md O5.
    """

    threshold: float = 0.85
    """Least relevance of the first, 0 to 1e6."""

    gap: float = 0.15
    """Least lead over the second, 0 to 1e6; without a second no hit is strong."""

    skips: tuple[str, ...] = ("kind", "feedback", "priority", "decay", "thompson", "consolidation")
    """Factors that then have no part in the score; nor has a reranker."""

    def __post_init__(self) -> None:
        settle_numbers(
            self, threshold=(0.0, LARGEST_WEIGHT, False), gap=(0.0, LARGEST_WEIGHT, False)
        )
        settle(self, "skips", require_words("skips", self.skips))


def require_words_for(profile: Profile) -> None:
    """Refuse short cuts that the profile's other parts do not allow.

    Raises:
        ValueError: no text channel, or none whose scores can be strong; an expansion by raw scores.
    """
    words = [channel for channel in profile.channels if channel.name == "lexical"]
    if profile.fast_path is not None and not words:
        msg = "fast_path: needs a lexical channel"
        raise ValueError(msg)
    if profile.strong_signal is None:
        return
    if not any(getattr(channel, "reads_texts", False) for channel in words):
        msg = "strong_signal: needs a lexical channel with a word_share"
        raise ValueError(msg)
    if profile.expansion is not None and profile.expansion.needs_scores:
        msg = f"strong_signal: the expansion {profile.expansion.name} needs a fusion of raw scores"
        raise ValueError(msg)


@lru_cache(maxsize=512)
def decided_by_words(profile: Profile) -> Profile:
    """Return the profile as it ranks where the text channel's signal is strong."""
    rule = profile.strong_signal
    assert rule is not None
    factors = tuple(factor for factor in profile.factors if factor.name not in rule.skips)
    return _of_words(profile, factors=factors)


@lru_cache(maxsize=512)
def answered_at_once(profile: Profile) -> Profile:
    """Return the profile as it ranks on the fast path."""
    return _of_words(
        profile,
        statements=None,
        named_time=None,
        factors=(),
        expansion=None,
        abstention=None,
        retry=None,
    )


def _of_words(profile: Profile, **changes: Any) -> Profile:
    """The profile with the text channel's own relevance, and without hot set, neighbours or a reranker."""
    from oneiros.scoring.fusion import WeightedMean  # noqa: PLC0415 - few profiles ask

    names = [channel.name for channel in profile.channels]
    weights = tuple(float(name == "lexical") for name in names)
    fusion = WeightedMean(weights=weights, normalise=tuple("clamp" for _ in names))
    return profile.replace(fusion=fusion, hot_set=None, neighbours=None, rerank=None, **changes)


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
