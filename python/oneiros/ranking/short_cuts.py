"""When what the words found decides alone, and what then is left out. Source: docs/systems/omega.md O1, O5."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import LARGEST_WEIGHT, require_int, settle, settle_numbers
from oneiros.ranking.tables import require_words

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = ["FastPath", "StrongSignal", "answered_at_once", "decided_by_words", "require_words_for"]

_SHARE = (0.0, 1.0, True)


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
        settle_numbers(self, similarity=_SHARE)
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
    from oneiros.ranking.fusion import WeightedMean  # noqa: PLC0415 - few profiles ask

    names = [channel.name for channel in profile.channels]
    weights = tuple(float(name == "lexical") for name in names)
    fusion = WeightedMean(weights=weights, normalise=tuple("clamp" for _ in names))
    return profile.replace(fusion=fusion, hot_set=None, neighbours=None, rerank=None, **changes)
