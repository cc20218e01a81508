"""The confidence that the first result of a search is relevant.

The core computes it (cpp/search/confidence.h) from two leads of the first result over the tenth hit:

- in words: (BM25 of the result - BM25 of the tenth hit) / the greatest BM25 that the query allows
- in meaning: (cosine of the result - cosine of the tenth hit) / (1 - cosine of the tenth hit)

``confidence = 1 / (1 + exp(-(constant + words sqrt(lead in words) + meaning sqrt(lead in meaning))))``

Source: docs/confidence.md, which has the fit, its reliability and how to choose a threshold.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring import profiles

if TYPE_CHECKING:
    from oneiros.scoring.profile import Profile

__all__ = ["CALIBRATED", "CALIBRATED_PARTS", "ConfidenceModel", "confidence_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceModel:
    """A logistic model of two leads, each in [0, 1]. Confidence never falls as a lead grows."""

    constant: float
    words: float
    """Coefficient of the root of the lead in words, >= 0."""
    meaning: float
    """Coefficient of the root of the lead in meaning, >= 0."""

    def for_core(self) -> tuple[float, float, float]:
        """Return the coefficients in the order of the core."""
        return self.constant, self.words, self.meaning


CALIBRATED: Final = ConfidenceModel(constant=-1.93, words=2.70, meaning=1.64)
"""Fitted by ``python -m bench.recall.confidence``; see docs/confidence.md."""

CALIBRATED_PARTS: Final = (
    "channels",
    "fusion",
    "neighbours",
    "statements",
    "named_time",
    "asked_time",
    "understanding",
    "hot_set",
    "fast_path",
    "strong_signal",
    "normalisation",
    "retry",
)
"""The parts that decide what is relevant. A profile that has them from ``oneiros`` is calibrated."""


@lru_cache(maxsize=64)
def confidence_model(profile: Profile) -> ConfidenceModel | None:
    """Return the model for a profile; None if its relevance is not that of ``oneiros``.

    Lifecycle factors, links, abstention, reinforcement and dreams may differ: they change which
    memory comes first, not what the leads of that memory mean.
    """
    default = profiles.get("oneiros")
    is_alike = all(getattr(profile, part) == getattr(default, part) for part in CALIBRATED_PARTS)
    return CALIBRATED if is_alike else None
