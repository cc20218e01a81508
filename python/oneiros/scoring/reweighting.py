"""Profiles weighed by a question: the same scoring, other weights. Source: docs/systems/omega.md O8, O9."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from oneiros.model.validation import LARGEST_WEIGHT
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.fusion import ReciprocalRankFusion
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
    """Return the profile as it ranks one question. Equal arguments give the same object.

    Args:
        profile: as it was asked for.
        weights: multiply those of the fusion, where it has one a channel, and of the factors
            "overlap" and "context", and of what the graph brings.
        minimum: the least cosine that the vector channel finds; None: its own.
    """
    changes: dict[str, Any] = {}
    if weights != _NEUTRAL:
        fusion: Any = profile.fusion
        own = getattr(fusion, "weights", ())
        if own != ():
            by_channel = (1.0,) * len(profile.channels) if own is None else own
            scaled = [
                _scaled(weight, getattr(weights, _PART_OF.get(channel.name, ""), 1.0))
                for weight, channel in zip(by_channel, profile.channels, strict=True)
            ]
            changes["fusion"] = replace(fusion, weights=tuple(scaled))
        changes["factors"] = tuple(_weighed(factor, weights) for factor in profile.factors)
        if isinstance(profile.expansion, GraphExpansion):
            weight = _scaled(profile.expansion.weight, weights.graph)
            changes["expansion"] = replace(profile.expansion, weight=weight)
    if minimum is not None:
        changes["channels"] = tuple(channel.with_least(minimum) for channel in profile.channels)
    return profile.replace(**changes) if changes else profile


@lru_cache(maxsize=256)
def fused_by_shares(profile: Profile) -> Profile:
    """Return the profile with a fusion that adds the shares of the core (docs/systems/omega.md O6)."""
    from oneiros.scoring.fusion import WeightedSum  # noqa: PLC0415 - few questions need it

    channels, fusion = profile.channels, profile.fusion
    assert isinstance(fusion, ReciprocalRankFusion)
    weights = (1.0,) * len(channels) if fusion.weights is None else fusion.weights
    as_they_are: tuple[ScoreNormalisation, ...] = tuple("none" for _ in channels)
    return profile.replace(
        fusion=WeightedSum(weights=weights, importance=0.0, normalise=as_they_are)
    )


def _weighed(factor: Factor, weights: Weights) -> Factor:
    from oneiros.scoring.factors import ContextMatch, Overlap  # noqa: PLC0415 - few profiles have them

    if isinstance(factor, Overlap):
        return replace(factor, weight=_scaled(factor.weight, weights.word))
    if isinstance(factor, ContextMatch):
        return replace(factor, weight=_scaled(factor.weight, weights.context))
    return factor


def _scaled(weight: float, by: float) -> float:
    return min(weight * by, LARGEST_WEIGHT)
