"""Fusion: one relevance from the ranked lists of the channels, as a profile declares it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from oneiros.model.validation import (
    LARGEST_K,
    LARGEST_WEIGHT,
    require_number,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.program import ProgramBuilder

__all__ = [
    "Blend",
    "Fusion",
    "ReciprocalRankFusion",
    "RetentionWeightedUnion",
    "Terms",
    "WeightedMean",
    "WeightedSum",
    "fusions",
    "is_fusion",
    "require_one_each",
    "require_word",
    "weights_of",
]


Terms: TypeAlias = tuple[tuple[str, int], ...]
"""What a fusion adds to the relevance beyond its channels, in order: names and registers."""


def weights_of(value: object) -> tuple[float, ...]:
    """Return weights as they are kept, each 0 to 1e6."""
    return require_numbers("weights", value, low=0.0, high=LARGEST_WEIGHT)


def require_word(field: str, value: object, known: Sequence[str]) -> None:
    """Refuse what is none of the known words."""
    if not isinstance(value, str) or value not in known:
        msg = f"{field}: must be one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


def require_one_each(field: str, values: Sequence[object], names: Sequence[str]) -> None:
    """Refuse values that are not one a channel."""
    if len(values) != len(names):
        msg = f"fusion.{field}: one a channel ({len(names)}), got {tuple(values)!r}"
        raise ValueError(msg)


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


RankNormalisation = Literal["none", "channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalRankFusion:
    """Score what several channels ranked, by ranks alone.

    ``relevance = sum over channels of weight / (k + rank)``, ranks from 1. With
    ``normalise="channel"`` each channel is divided by its best and the sums by the best sum.

    Source: docs/systems/reverie.md R3, published k 30; docs/systems/omega.md O7.
    """

    name: ClassVar[str] = "reciprocal_rank"
    needs_scores: ClassVar[bool] = False
    reads_scores: ClassVar[bool] = False

    k: float = 30.0
    """How little the first ranks stand out, 0 to 1e9."""

    weights: tuple[float, ...] | None = None
    """One a channel of the profile, in its order, each 0 to 1e6; None: all 1."""

    normalise: RankNormalisation = "none"
    """"none" or "channel"."""

    def __post_init__(self) -> None:
        settle(self, "k", require_number("k", self.k, low=0.0, high=LARGEST_K))
        if self.weights is not None:
            settle(self, "weights", weights_of(self.weights))
        require_word("normalise", self.normalise, get_args(RankNormalisation))

    def require_channels(self, names: Sequence[str]) -> None:
        """Refuse channels that the weights do not fit."""
        if self.weights is not None:
            require_one_each("weights", self.weights, names)

    @property
    def is_sum(self) -> bool:
        """Whether nothing is divided by a best."""
        return self.normalise == "none"

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of the core's plan."""
        weights = None if self.weights is None else list(self.weights)
        return {"k": self.k, "weights": weights, "normalise": self.normalise}

    def emit(self, _program: ProgramBuilder) -> Terms:
        """Leave the relevance as it was fused."""
        return ()

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, one a channel in the order of the profile."""
        return replace(self, weights=weights_of(weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionWeightedUnion:
    """Take what any channel found, each at its own cosine.

    BM25 brings candidates and never a score. A candidate without embedding counts 0.1; without a
    vector channel the relevance is BM25 over the best (ours).

    Source: docs/systems/cognitive.md C5, C6, C9.
    """

    name: ClassVar[str] = "retention_weighted_union"
    needs_scores: ClassVar[bool] = True
    reads_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = False

    def require_channels(self, names: Sequence[str]) -> None:
        """Take any channels."""

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of the core's plan: none."""
        return {}

    def emit(self, _program: ProgramBuilder) -> Terms:
        """Leave the relevance as it was fused."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Score every candidate by both its exact BM25 and its exact cosine.

    ``relevance = weight * bm25 / best bm25 + (1 - weight) * max(cosine, 0)``; a missing channel
    leaves the other its whole weight.

    Source: docs/systems/house.md H2, H3.
    """

    name: ClassVar[str] = "blend"
    needs_scores: ClassVar[bool] = True
    reads_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = True
    silent: ClassVar[tuple[str, ...]] = ("temporal",)
    """Channels that bring candidates and add nothing to a relevance."""

    weight: float = 0.4
    """Of the words, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, weight=_SHARE)

    def require_channels(self, names: Sequence[str]) -> None:
        """Refuse any channel but "lexical", "vector" and "temporal", which brings candidates alone."""
        for name in names:
            if name not in ("lexical", "vector", "temporal"):
                msg = f"fusion: blend takes the channels lexical, vector and temporal, got {name}"
                raise ValueError(msg)

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of the core's plan."""
        return {"weight": self.weight}

    def emit(self, _program: ProgramBuilder) -> Terms:
        """Leave the relevance as it was fused."""
        return ()


Fusion: TypeAlias = (
    "ReciprocalRankFusion | WeightedSum | RetentionWeightedUnion | Blend | WeightedMean"
)
"""Any fusion a profile can name."""


def is_fusion(value: object) -> bool:
    """Return whether it is one that stands in this file."""
    return isinstance(value, ReciprocalRankFusion | RetentionWeightedUnion | Blend)


def fusions() -> tuple[type[Fusion], ...]:
    """Return the classes of all fusions."""
    return (ReciprocalRankFusion, WeightedSum, RetentionWeightedUnion, Blend, WeightedMean)
