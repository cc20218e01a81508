"""Stages around ranking: cache, short circuits, reranking, duplicates, abstention, retry."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from oneiros.model.validation import (
    require_int,
    settle,
    settle_flags,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.fusion import WeightedMean
from oneiros.scoring.tables import POSITIVE_SHARE, SHARE, WEIGHT, require_words, settle_limits

if TYPE_CHECKING:
    from oneiros.scoring.profile import Profile

__all__ = [
    "ABSTENTIONS",
    "AbstentionDeclaration",
    "AdaptiveRetry",
    "ByBest",
    "Duplicates",
    "FastPath",
    "NewerFirst",
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
    """A cache of the responses to identical queries, valid until the next write.

    Source: docs/systems/omega.md O30.
    """

    most: int = 128
    """Number of responses kept, 1 to 100,000; the least recently used are dropped."""

    seconds: float = 60.0
    """Lifetime of a response by the engine's clock, 0 to 1e9."""

    confident_seconds: float = 300.0
    """Lifetime of a response of high confidence, 0 to 1e9."""

    above_confidence: float = 0.7
    """Confidence above this is high, 0 to 1. A response without one, as most profiles give
    (:attr:`oneiros.SearchResponse.confidence`), is kept for ``seconds``."""

    def __post_init__(self) -> None:
        require_int("most", self.most, low=1, high=100_000)
        settle_numbers(
            self,
            seconds=_LONGEST,
            confident_seconds=_LONGEST,
            above_confidence=SHARE,
        )

    def kept_for(self, confidence: float | None) -> float:
        """Return the lifetime of a response of this confidence, in seconds."""
        is_sure = confidence is not None and confidence > self.above_confidence
        return self.confident_seconds if is_sure else self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """Rescore the first results with the reranker, if there is one.

    With the factor "rerank" its scores multiply those of the results; without, they set the order.

    Source: docs/systems/cognitive.md C8, omega.md O25.
    """

    top: int = 20
    """Number of results that are reranked, 1 to 1,000."""

    after_links: bool = True
    """Rerank linked results too; else direct results only, before links are followed."""

    deadline_seconds: float = 5.0
    """Time limit, > 0; then the search continues without it. Infinity: no limit."""

    def __post_init__(self) -> None:
        require_int("top", self.top, low=1, high=1_000)
        settle_flags(self, "after_links")
        settle_limits(self, "deadline_seconds")


@lru_cache(maxsize=256)
def with_place(profile: Profile) -> Profile:
    """Return a profile with the stage ``rerank``: its own, else the default one."""
    return profile if profile.rerank is not None else profile.replace(rerank=Reranking())


@dataclass(frozen=True, slots=True, kw_only=True)
class FastPath:
    """Answer a keyword-like query with the text hits of almost the same characters.

    The similarity is the score; fusion, factors, links and the reranker are skipped. Not used in
    deep recall or if the query names a time.

    Source: docs/systems/omega.md O1.
    """

    reads_texts: ClassVar[bool] = True

    similarity: float = 0.60
    """Least Jaccard similarity of the character trigrams, above 0, at most 1."""

    characters: int = 200
    """Length to which texts are cut before they are put into canonical form (O26), 3 to 100,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, similarity=POSITIVE_SHARE)
        require_int("characters", self.characters, low=3, high=100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrongSignal:
    """Use only the hits of the text channel if the first is strong and well ahead of the second.

    Their relevance is the channel's own. Requires a lexical channel with a ``word_share``, so that
    the relevance is in [0, 1].

    Source: docs/systems/omega.md O5.
    """

    threshold: float = 0.85
    """Least relevance of the first hit, 0 to 1e6."""

    gap: float = 0.15
    """Least lead over the second hit, 0 to 1e6; a single hit is never strong."""

    skips: tuple[str, ...] = ("kind", "feedback", "priority", "decay", "thompson", "consolidation")
    """Names of the factors that are then skipped. The reranker is skipped too."""

    def __post_init__(self) -> None:
        settle_numbers(self, threshold=WEIGHT, gap=WEIGHT)
        settle(self, "skips", require_words("skips", self.skips))


def require_words_for(profile: Profile) -> None:
    """Check that the profile has what its short circuits need.

    Raises:
        ValueError: no lexical channel; for a strong signal, none with a ``word_share``, or an
            expansion that needs raw scores.
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
    """Return the profile that ranks after a strong signal of the text channel."""
    rule = profile.strong_signal
    assert rule is not None
    factors = tuple(factor for factor in profile.factors if factor.name not in rule.skips)
    return _text_only(profile, factors=factors)


@lru_cache(maxsize=512)
def answered_at_once(profile: Profile) -> Profile:
    """Return the profile that ranks on the fast path."""
    return _text_only(
        profile,
        statements=None,
        named_time=None,
        asked_time=None,
        factors=(),
        expansion=None,
        abstention=None,
        retry=None,
    )


def _text_only(profile: Profile, **changes: Any) -> Profile:
    """Return the profile with the text channel's relevance, no hot set, neighbours or reranker."""
    names = [channel.name for channel in profile.channels]
    weights = tuple(float(name == "lexical") for name in names)
    fusion = WeightedMean(weights=weights, normalise=tuple("clamp" for _ in names))
    return profile.replace(fusion=fusion, hot_set=None, neighbours=None, rerank=None, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerFirst:
    """Put the newer of two results that state different values of one fact before the older.

    The newer result's score is raised to just above the older one's, by a factor that explanations
    call ``newer_first``. Results are compared within one project, user, agent and namespace.

    Source: docs/systems/house.md H12.
    """

    depth: int = 30
    """Number of first results compared with each other, 2 to 1,000."""

    least_confidence: float = 0.15
    """Least confidence that two results conflict, above 0, at most 1."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=2, high=1_000)
        settle_numbers(self, least_confidence=POSITIVE_SHARE)


_COSINE = (-1.0, 1.0, False)
_MOST_CHARACTERS = 100_000
_MOST_MISSES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Remove near duplicates: the better one is kept, the trace lists the other.

    Source: docs/systems/omega.md O26.
    """

    reads_texts: ClassVar[bool] = True

    characters: int = 150
    """Texts whose canonical forms share this many leading characters are alike, 1 to 100,000."""

    cosine: float = 0.92
    """Embeddings with at least this cosine are alike, above 0, at most 1."""

    def __post_init__(self) -> None:
        require_int("characters", self.characters, low=1, high=_MOST_CHARACTERS)
        settle_numbers(self, cosine=POSITIVE_SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfacing:
    """Remove each result that is too far from the query; abstain if none is left.

    A hit of the vector channel needs ``least_cosine`` or ``least_overlap``, a hit of words only
    ``least_overlap``. Both need ``least_score``.

    Source: docs/systems/omega.md O27, O16.
    """

    name: ClassVar[str] = "surfacing"
    reads_texts: ClassVar[bool] = True

    least_cosine: float = 0.5
    """Least cosine, -1 to 1."""

    least_overlap: float = 0.35
    """Least share of query words found in text and tags, 0 to 1."""

    least_score: float = 0.10
    """Least score, 0 to 1e6."""

    misses: int = 3
    """Number of nearest misses reported if nothing is returned, 0 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            least_cosine=_COSINE,
            least_overlap=SHARE,
            least_score=WEIGHT,
        )
        require_int("misses", self.misses, low=0, high=_MOST_MISSES)

    def eased(self, rule: AdaptiveRetry) -> Self:
        """Return the rule with the lower thresholds of a retry."""
        return replace(
            self,
            least_cosine=eased(self.least_cosine, rule.relaxation),
            least_overlap=self.least_overlap * rule.relaxation,
            least_score=self.least_score * rule.score_relaxation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakBest:
    """Abstain if even the best cosine is low and few query words are found.

    Source: docs/systems/house.md H7.
    """

    name: ClassVar[str] = "weak_best"
    reads_texts: ClassVar[bool] = False

    cosine: float = 0.25
    """Least best cosine, -1 to 1; not checked without a vector channel."""

    words: float = 0.5
    """Otherwise the least share of query words that occur in the candidates, 0 to 1."""

    suffixes: tuple[str, ...] = ("ing", "ed", "es", "s", "ly")
    """Endings removed from a query word, the longest that leaves three characters."""

    misses: int = 3
    """Number of nearest misses reported if nothing is returned, 0 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, cosine=_COSINE, words=SHARE)
        settle(self, "suffixes", require_words("suffixes", self.suffixes))
        require_int("misses", self.misses, low=0, high=_MOST_MISSES)

    def eased(self, rule: AdaptiveRetry) -> Self:
        """Return the rule with the lower thresholds of a retry."""
        return replace(
            self,
            cosine=eased(self.cosine, rule.relaxation),
            words=self.words * rule.relaxation,
        )


AbstentionDeclaration: TypeAlias = Surfacing | WeakBest
ABSTENTIONS: tuple[type[AbstentionDeclaration], ...] = (Surfacing, WeakBest)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveRetry:
    """Search again, with lower thresholds and no time range, if the results are far off.

    ``confidence = mean over the first results of max(cosine in [0, 1], share of words)``, where
    missing results count 0. The second response is used if its confidence is higher.

    Source: docs/systems/omega.md O28.
    """

    reads_texts: ClassVar[bool] = True

    least_confidence: float = 0.3
    """A lower confidence triggers the retry, 0 to 1."""

    relaxation: float = 0.6
    """Multiplier of the least cosine and the least share of words in the retry, 0 to 1."""

    score_relaxation: float = 0.5
    """Multiplier of the least score in the retry, 0 to 1."""

    results: int = 3
    """Number of first results in the confidence, at most the number requested, 1 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, least_confidence=SHARE, relaxation=SHARE, score_relaxation=SHARE)
        require_int("results", self.results, low=1, high=_MOST_MISSES)


def eased(cosine: float, by: float) -> float:
    """Return the relaxed least cosine; one below 0 is unchanged."""
    return min(cosine, cosine * by)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByBest:
    """Divide the final scores by the best one; ``raw_score`` is the score before that.

    If the best is not above 0, scores are unchanged.

    Source: docs/systems/omega.md O29.
    """

    name: ClassVar[str] = "best"
