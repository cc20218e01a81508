"""Fusion: one relevance from the ranked lists of the channels, as a profile declares it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, get_args

from oneiros.model.validation import (
    LARGEST_K,
    LARGEST_WEIGHT,
    require_int,
    require_number,
    require_numbers,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.tables import SHARE, WEIGHT

__all__ = [
    "FUSIONS",
    "Blend",
    "Fusion",
    "ReciprocalRankFusion",
    "RetentionWeightedUnion",
    "Terms",
    "WeightedMean",
    "WeightedSum",
    "added",
    "require_one_each",
    "require_word",
    "weights_of",
]


Terms: TypeAlias = tuple[tuple[str, int], ...]
"""Terms that a fusion adds to those of its channels, in order: names and registers."""

ScoreNormalisation = Literal["none", "max", "clamp", "minmax_floor"]
Scale = Literal["best", "coverage"]
Baseline = Literal["zero", "candidates"]
RankNormalisation = Literal["none", "channel"]

_PAIR_WINDOW: Final = 3


def added(values: Iterable[float]) -> float:
    """Return the sum, added in order. ``sum()`` rounds less since Python 3.12, to other bits."""
    total = 0.0
    for value in values:
        total += value
    return total


def weights_of(value: object) -> tuple[float, ...]:
    """Return weights, each 0 to 1e6, as a tuple of floats."""
    return require_numbers("weights", value, low=0.0, high=LARGEST_WEIGHT)


def require_word(field: str, value: object, known: Sequence[str]) -> None:
    """Check that ``value`` is one of the known words; ValueError otherwise."""
    if not isinstance(value, str) or value not in known:
        msg = f"{field}: must be one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


def require_one_each(field: str, values: Sequence[object], names: Sequence[str]) -> None:
    """Check that there is one value per channel; ValueError otherwise."""
    if len(values) != len(names):
        msg = f"fusion.{field}: one a channel ({len(names)}), got {tuple(values)!r}"
        raise ValueError(msg)


class _Fusion:
    """Defaults of all fusions."""

    __slots__ = ()

    name: ClassVar[str]
    needs_scores: ClassVar[bool] = False
    """Whether every candidate needs the raw score of every channel."""
    reads_scores: ClassVar[bool] = True
    """Whether the relevance depends on scores, not on ranks alone."""

    def is_without_scores(self, names: Sequence[str]) -> bool:
        """Whether the fusion is of raw scores, and none of these channels gives any."""
        return self.needs_scores and not {"lexical", "vector"} & {*names}

    def require_channels(self, names: Sequence[str]) -> None:
        """Check that the fusion fits the channels of a profile; ValueError otherwise."""
        if self.is_without_scores(names):
            msg = f"fusion: {self.name} needs lexical or vector, got {', '.join(names)}"
            raise ValueError(msg)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the core's plan."""
        return {}

    def emit(self, program: ProgramBuilder) -> Terms:
        """Write what the relevance gains beyond the fused value, and return its terms."""
        del program
        return ()


class _NormalisedFusion(_Fusion):
    """A fusion with a weight and a normalisation per channel."""

    __slots__ = ()

    weights: tuple[float, ...]
    normalise: tuple[ScoreNormalisation, ...]
    low: float

    def require_channels(self, names: Sequence[str]) -> None:
        require_one_each("weights", self.weights, names)
        require_one_each("normalise", self.normalise, names)

    def parameters(self) -> dict[str, Any]:
        weights, normalise = list(self.weights), list(self.normalise)
        return {"weights": weights, "normalise": normalise, "low": self.low}

    def _check(self) -> None:
        settle(self, "weights", weights_of(self.weights))
        normalise: object = self.normalise
        if not isinstance(normalise, tuple | list) or not normalise:
            msg = f"normalise: expected a list of words, one a channel, got {normalise!r}"
            raise TypeError(msg)
        for index, word in enumerate(normalise):
            require_word(f"normalise[{index}]", word, get_args(ScoreNormalisation))
        settle(self, "normalise", tuple(normalise))
        settle_numbers(self, low=SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum(_NormalisedFusion):
    """Add the channels' normalised scores and the memory's importance.

    ``relevance = sum over channels of weight * normalised score + importance weight * importance``;
    a channel that is missing, or did not score the memory, contributes 0.

    Source: docs/systems/mnemosyne.md M1 to M4; published 0.5 vector, 0.3 text, 0.2 importance.
    """

    name: ClassVar[str] = "weighted_sum"
    is_sum: ClassVar[bool] = True

    weights: tuple[float, ...] = (0.5, 0.3)
    """One per channel, in the order of the profile, each 0 to 1e6."""

    importance: float = 0.2
    """Weight of the memory's importance, 0 to 1e6."""

    normalise: tuple[ScoreNormalisation, ...] = ("clamp", "max")
    """One per channel: "none"; "max", by the largest; "clamp" to [0, 1]; "minmax_floor" (O3)."""

    low: float = 0.1
    """Value of the worst score under "minmax_floor", 0 to 1."""

    def __post_init__(self) -> None:
        self._check()
        settle_numbers(self, importance=WEIGHT)

    def emit(self, program: ProgramBuilder) -> Terms:
        """Add the importance to the fused value; without a query, every channel counts 1."""
        fused = program.signal("relevance", added(self.weights))
        if self.importance == 0.0:
            program.relevance = fused
            return ()
        share = program.call(
            "scale", program.column("importance"), factor=self.importance, offset=0.0
        )
        program.relevance = program.call("add", fused, share)
        return (("importance", share),)

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, normalised to the sum 1.

        Args:
            weights: one per channel in the order of the profile, then that of the importance.
                All 0: the published weights.

        Source: docs/systems/mnemosyne.md M7.
        """
        count = len(self.normalise) + 1
        given = require_numbers("weights", weights, low=0.0, high=LARGEST_WEIGHT, count=count)
        total = added(given)
        if total == 0.0:
            default = type(self)()
            return replace(self, weights=default.weights, importance=default.importance)
        shares = [weight / total for weight in given]
        return replace(self, weights=tuple(shares[:-1]), importance=shares[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean(_NormalisedFusion):
    """Average the channels' relevances over the channels that returned anything.

    Each is normalised, then clamped to [0, 1]. A channel that returned something, but not the
    memory, counts 0. If no channel with a weight above 0 returned anything, the mean is 0.

    Source: docs/systems/omega.md O32, O3.
    """

    name: ClassVar[str] = "weighted_mean"
    is_sum: ClassVar[bool] = False

    weights: tuple[float, ...] = (1.0, 1.0)
    """One per channel, in the order of the profile, each 0 to 1e6."""

    normalise: tuple[ScoreNormalisation, ...] = ("minmax_floor", "clamp")
    """One per channel: "none"; "max", by the largest; "clamp" to [0, 1]; "minmax_floor" (O3)."""

    low: float = 0.1
    """Value of the worst score under "minmax_floor", 0 to 1."""

    def __post_init__(self) -> None:
        self._check()

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, one per channel in the order of the profile."""
        return replace(self, weights=weights_of(weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalRankFusion(_Fusion):
    """Fuse the channels by ranks alone.

    ``relevance = sum over channels of weight / (k + rank)``, ranks from 1. With
    ``normalise="channel"`` each channel is divided by its best and the sums by the best sum.

    Source: docs/systems/reverie.md R3, published k 30; docs/systems/omega.md O7.
    """

    name: ClassVar[str] = "reciprocal_rank"
    reads_scores: ClassVar[bool] = False

    k: float = 30.0
    """Rank offset, 0 to 1e9; the larger, the closer the values of the first ranks."""

    weights: tuple[float, ...] | None = None
    """One per channel, in the order of the profile, each 0 to 1e6; None: all 1."""

    normalise: RankNormalisation = "none"
    """"none" or "channel"."""

    def __post_init__(self) -> None:
        settle(self, "k", require_number("k", self.k, low=0.0, high=LARGEST_K))
        if self.weights is not None:
            settle(self, "weights", weights_of(self.weights))
        require_word("normalise", self.normalise, get_args(RankNormalisation))

    def require_channels(self, names: Sequence[str]) -> None:
        if self.weights is not None:
            require_one_each("weights", self.weights, names)

    @property
    def is_sum(self) -> bool:
        """Whether the relevance is the plain sum over the channels."""
        return self.normalise == "none"

    def parameters(self) -> dict[str, Any]:
        weights = None if self.weights is None else list(self.weights)
        return {"k": self.k, "weights": weights, "normalise": self.normalise}

    def reweighted(self, weights: object) -> Self:
        """Return the fusion with other weights, one per channel in the order of the profile."""
        return replace(self, weights=weights_of(weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionWeightedUnion(_Fusion):
    """Score the union of all channels' hits by their cosines.

    BM25 adds candidates, never a score. A candidate without an embedding counts 0.1. Without a
    vector channel the relevance is BM25 divided by the best (ours).

    Source: docs/systems/cognitive.md C5, C6, C9.
    """

    name: ClassVar[str] = "retention_weighted_union"
    needs_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend(_Fusion):
    """Score every candidate by both its exact BM25 and its exact cosine.

    ``relevance = weight * bm25 / scale + (1 - weight) * max(cosine, 0)``. If a channel is missing,
    the other has the whole weight. With ``baseline``, a cosine is taken as the share of the way from
    the baseline to 1. With ``spelling``, vectors of an embedder that knows words by their spelling
    alone have a part of ``1 - weight``, and BM25 the rest. With ``pairs``, a text that has words of
    the query near each other gains in BM25.

    Source: docs/systems/house.md H2, H3, H14.
    """

    name: ClassVar[str] = "blend"
    needs_scores: ClassVar[bool] = True
    is_sum: ClassVar[bool] = True
    unexplained: ClassVar[tuple[str, ...]] = ("temporal",)
    """Channels that add candidates and nothing to a relevance."""

    weight: float = 0.4
    """Weight of BM25, 0 to 1."""

    scale: Scale | None = None
    """``"coverage"``: the scale is the geometric mean of the best BM25 of the candidates and the
    greatest BM25 that the query's words allow, so that words count for less where no text has many
    of them. ``"best"`` or None: the best BM25."""

    baseline: Baseline | None = None
    """The cosine that counts as 0. ``"candidates"``: that of unrelated texts, estimated from the
    candidates, so that an embedder whose cosines all lie between 0.7 and 1 says as much as one whose
    cosines lie between 0 and 1; it is 0 where it would be below 0.35, and for fewer than 20
    candidates. ``"zero"`` or None: 0."""

    spelling: float | None = None
    """Least share, 0 to 1, of the vectors' weight that counts where the embedder knows words by
    their spelling alone, as the one in the box does. Of words that texts hold, such vectors say
    little beside BM25. The share is ``spelling + (1 - spelling) * u ** 2``, with u the share of
    the query's weight (idf) in words that no text has, 1 if no word has any. None or 1: the whole
    weight always."""

    pairs: float | None = None
    """Gain of a text in BM25 for each pair of words that stand near each other in it and in the
    query, as a share of the lesser idf of the two, 0 to 1. For queries in plain syntax without
    variants. None or 0: nothing."""

    pair_window: int | None = None
    """Largest distance of the words of a pair in a text, in positions, 1 to 64. None: 3."""

    def __post_init__(self) -> None:
        settle_numbers(self, weight=SHARE)
        if self.spelling is not None:
            settle_numbers(self, spelling=SHARE)
            settle(self, "spelling", None if self.spelling == 1.0 else self.spelling)
        if self.pairs is not None:
            settle_numbers(self, pairs=SHARE)
            settle(self, "pairs", self.pairs or None)
        if self.pair_window is not None:
            require_int("pair_window", self.pair_window, low=1, high=64)
        if self.scale is not None:
            require_word("scale", self.scale, get_args(Scale))
            settle(self, "scale", None if self.scale == "best" else self.scale)
        if self.baseline is not None:
            require_word("baseline", self.baseline, get_args(Baseline))
            settle(self, "baseline", None if self.baseline == "zero" else self.baseline)

    def require_channels(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in ("lexical", "vector", "temporal"):
                msg = f"fusion: blend takes the channels lexical, vector and temporal, got {name}"
                raise ValueError(msg)
        _Fusion.require_channels(self, names)

    def parameters(self) -> dict[str, Any]:
        return {"weight": self.weight, "scale": self.scale, "pairs": self.pairs}

    @property
    def has_baseline(self) -> bool:
        """Whether cosines count from a baseline of the candidates."""
        return self.baseline is not None

    @property
    def least_vector_share(self) -> float:
        """``spelling``, as a number."""
        return 1.0 if self.spelling is None else self.spelling

    @property
    def window(self) -> int:
        """The window of the core's plan; 0: pairs are not looked for."""
        return 0 if self.pairs is None else self.pair_window or _PAIR_WINDOW

    def emit(self, program: ProgramBuilder) -> Terms:
        """Name the term of the pairs, which the fused value includes."""
        return () if self.pairs is None else (("word_pairs", program.signal("word_pairs", 0.0)),)


Fusion: TypeAlias = (
    ReciprocalRankFusion | WeightedSum | RetentionWeightedUnion | Blend | WeightedMean
)
"""Any fusion that a profile can name."""

FUSIONS: tuple[type[Fusion], ...] = (
    ReciprocalRankFusion,
    WeightedSum,
    RetentionWeightedUnion,
    Blend,
    WeightedMean,
)
