"""Profiles reweighted for one query. Source: docs/systems/omega.md O8, O9."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from oneiros.model.validation import LARGEST_WEIGHT
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.fusion import ReciprocalRankFusion, WeightedSum
from oneiros.scoring.link_expansion import GraphExpansion
from oneiros.scoring.understanding import Weights

if TYPE_CHECKING:
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.fusion import ScoreNormalisation
    from oneiros.scoring.profile import Profile

__all__ = ["fused_by_shares", "weighed"]

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
    # Searches whose profile has neither do not load them.
    from oneiros.scoring.factors import ContextMatch, Overlap  # noqa: PLC0415

    if isinstance(factor, Overlap):
        return replace(factor, weight=_scaled(factor.weight, weights.word))
    if isinstance(factor, ContextMatch):
        return replace(factor, weight=_scaled(factor.weight, weights.context))
    return factor


def _scaled(weight: float, by: float) -> float:
    return min(weight * by, LARGEST_WEIGHT)
