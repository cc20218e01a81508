"""Fusion of normalised raw scores: their weighted sum, their weighted mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self, get_args

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.ranking.declaration import (
    LARGEST_WEIGHT,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.ranking.fusion_checks import Terms, require_one_each, require_word, weights_of
from oneiros.ranking.program import ProgramBuilder

__all__ = ["WeightedMean", "WeightedSum"]

ScoreNormalisation = Literal["none", "max", "clamp", "minmax_floor"]

_SHARE = (0.0, 1.0, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum:
    """Add the channels' normalised scores and the memory's importance.

    ``relevance = sum over channels of weight * normalised score + importance weight * importance``;
    a channel that is missing, or does not hold the memory, contributes 0.

    Source: docs/systems/mnemosyne.md M1 to M4; published 0.5 vector, 0.3 text, 0.2 importance.
    """

    name: ClassVar[str] = "weighted_sum"
    needs_scores: ClassVar[bool] = False
    reads_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = True

    weights: tuple[float, ...] = (0.5, 0.3)
    """One a channel of the profile, in its order, each 0 to 1e6."""

    importance: float = 0.2
    """The weight of the memory's importance, 0 to 1e6."""

    normalise: tuple[ScoreNormalisation, ...] = ("clamp", "max")
    """One a channel: "none"; "max", by the largest; "clamp" to [0, 1]; "minmax_floor" (O3)."""

    low: float = 0.1
    """What "minmax_floor" gives the worst, 0 to 1."""

    def __post_init__(self) -> None:
        settle(self, "weights", weights_of(self.weights))
        settle(self, "normalise", _normalisations_of(self.normalise))
        settle_numbers(self, importance=(0.0, LARGEST_WEIGHT, False), low=_SHARE)

    def require_channels(self, names: Sequence[str]) -> None:
        """Refuse channels that weights and normalisations do not fit."""
        require_one_each("weights", self.weights, names)
        require_one_each("normalise", self.normalise, names)

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of the core's plan."""
        weights, normalise = list(self.weights), list(self.normalise)
        return {"weights": weights, "normalise": normalise, "low": self.low}

    def emit(self, program: ProgramBuilder) -> Terms:
        """Add the importance to what was fused; where nothing was asked, every channel counts 1."""
        fused = program.signal("relevance", sum(self.weights))
        if self.importance == 0.0:
            program.relevance = fused
            return ()
        share = program.call(
            "scale", program.column("importance"), factor=self.importance, offset=0.0
        )
        program.relevance = program.call("add", fused, share)
        return (("importance", share),)

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, brought to the sum 1.

        Args:
            weights: one a channel in the order of the profile, then that of the importance. All 0:
                the published weights.

        Source: docs/systems/mnemosyne.md M7.
        """
        count = len(self.normalise) + 1
        given = require_numbers("weights", weights, low=0.0, high=LARGEST_WEIGHT, count=count)
        total = sum(given)
        if total == 0.0:
            default = type(self)()
            return replace(self, weights=default.weights, importance=default.importance)
        shares = [weight / total for weight in given]
        return replace(self, weights=tuple(shares[:-1]), importance=shares[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean:
    """Average the channels' relevances over the channels that returned anything.

    Each is normalised, then clamped to [0, 1]. A channel that returned something, but not the
    memory, counts 0. Where no channel with a weight above 0 returned anything, the mean is 0.

    Source: docs/systems/omega.md O32, O3.
    """

    name: ClassVar[str] = "weighted_mean"
    needs_scores: ClassVar[bool] = False
    reads_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = False

    weights: tuple[float, ...] = (1.0, 1.0)
    """One a channel of the profile, in its order, each 0 to 1e6."""

    normalise: tuple[ScoreNormalisation, ...] = ("minmax_floor", "clamp")
    """One a channel: "none"; "max", by the largest; "clamp" to [0, 1]; "minmax_floor" (O3)."""

    low: float = 0.1
    """What "minmax_floor" gives the worst, 0 to 1."""

    def __post_init__(self) -> None:
        settle(self, "weights", weights_of(self.weights))
        settle(self, "normalise", _normalisations_of(self.normalise))
        settle_numbers(self, low=_SHARE)

    def require_channels(self, names: Sequence[str]) -> None:
        """Refuse channels that weights and normalisations do not fit."""
        require_one_each("weights", self.weights, names)
        require_one_each("normalise", self.normalise, names)

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of the core's plan."""
        weights, normalise = list(self.weights), list(self.normalise)
        return {"weights": weights, "normalise": normalise, "low": self.low}

    def emit(self, _program: ProgramBuilder) -> Terms:
        """Leave the relevance as it was fused."""
        return ()

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, one a channel in the order of the profile."""
        return replace(self, weights=weights_of(weights))


def _normalisations_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, tuple | list) or not value:
        msg = f"normalise: expected a list of words, one a channel, got {value!r}"
        raise TypeError(msg)
    for index, word in enumerate(value):
        require_word(f"normalise[{index}]", word, get_args(ScoreNormalisation))
    return tuple(value)
