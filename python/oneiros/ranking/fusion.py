"""How a profile makes one relevance of what its channels found: a declaration a way.

``needs_scores`` says whether every candidate needs the raw score of every channel, ``reads_scores``
whether a raw score makes a difference to the relevance. ``is_sum`` says whether the relevance is a
plain sum of what each channel adds: then explanations show each part.

The core's plan does it; ``oneiros.rrf`` and ``oneiros.kernels`` have the formulas on their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.ranking.declaration import LARGEST_K, require_number, settle, settle_numbers
from oneiros.ranking.fusion_checks import Terms, require_one_each, require_word, weights_of
from oneiros.ranking.program import ProgramBuilder

if TYPE_CHECKING:
    from oneiros.ranking.weighted_fusion import WeightedMean, WeightedSum

__all__ = [
    "Blend",
    "Fusion",
    "ReciprocalRankFusion",
    "RetentionWeightedUnion",
    "WeightedMean",
    "WeightedSum",
    "fusions",
    "is_fusion",
]

RankNormalisation = Literal["none", "channel"]

_SHARE = (0.0, 1.0, False)


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
    """Return the classes of all fusions, of which few profiles need the weighted ones."""
    from oneiros.ranking.weighted_fusion import WeightedMean, WeightedSum  # noqa: PLC0415

    return (ReciprocalRankFusion, WeightedSum, RetentionWeightedUnion, Blend, WeightedMean)


def __getattr__(name: str) -> object:
    if name not in ("WeightedMean", "WeightedSum"):
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from oneiros.ranking import weighted_fusion  # noqa: PLC0415 - few profiles need them

    value: object = getattr(weighted_fusion, name)
    return value
