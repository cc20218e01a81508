"""Ranking metrics as in trec_eval (linear gains), and the paired bootstrap over queries."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from oneiros.model.validation import count, require_number
from oneiros.runtime.dataclasses import dataclass

__all__ = ["Gain", "mean", "ndcg_at", "paired_gain", "recall_at", "reciprocal_rank"]


Id = TypeVar("Id", bound=Hashable)


def ndcg_at(ranking: Sequence[Id], judgements: Mapping[Id, float], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first ``k`` ranks.

    ``nDCG@k = DCG@k / ideal DCG@k`` with ``DCG@k = sum over ranks r <= k of gain_r / log2(r + 1)``;
    the gain is the grade itself (linear, as trec_eval's ``ndcg_cut``), the ideal order is the
    judged grades from high to low, cut at ``k`` too.

    Args:
        ranking: ids, best first.
        judgements: id -> grade; grades below 0 count as 0.
        k: depth, >= 1.

    Returns:
        A value in [0, 1]; 0 if nothing is relevant.

    Raises:
        ValueError: ``k`` < 1, or a grade that is not finite.
    """
    gains = {id: max(0.0, _finite(grade)) for id, grade in judgements.items()}
    ideal = _discounted(sorted(gains.values(), reverse=True)[: _depth(k)])
    if ideal == 0.0:
        return 0.0
    return _discounted([gains.get(id, 0.0) for id in _first(ranking, k)]) / ideal


def recall_at(ranking: Sequence[Id], judgements: Mapping[Id, float], k: int) -> float:
    """Return the share of the relevant ids found in the first ``k`` ranks.

    ``recall@k = |relevant among the first k| / |relevant|``

    Args:
        ranking: ids, best first.
        judgements: id -> grade; relevant if above 0.
        k: depth, >= 1.

    Returns:
        A value in [0, 1]; 0 if nothing is relevant.

    Raises:
        ValueError: ``k`` < 1.
    """
    found = {id for id in _first(ranking, _depth(k)) if judgements.get(id, 0) > 0}
    relevant = sum(grade > 0 for grade in judgements.values())
    return len(found) / relevant if relevant else 0.0


def reciprocal_rank(ranking: Sequence[Id], judgements: Mapping[Id, float]) -> float:
    """Return ``1 / rank`` of the first relevant id, ranks from 1.

    The mean over queries is the MRR.

    Args:
        ranking: ids, best first; its length is the depth (MRR@10: pass ten).
        judgements: id -> grade; relevant if above 0.

    Returns:
        A value in (0, 1]; 0 if nothing in the ranking is relevant.
    """
    for rank, id in enumerate(dict.fromkeys(ranking), start=1):
        if judgements.get(id, 0) > 0:
            return 1.0 / rank
    return 0.0


def mean(values: Iterable[float]) -> float:
    """Return the mean, summed exactly so that the order of values does not matter.

    Raises:
        ValueError: no values.
    """
    numbers = list(values)
    if not numbers:
        msg = "values: must not be empty"
        raise ValueError(msg)
    return math.fsum(numbers) / len(numbers)


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _first(ranking: Sequence[Id], k: int) -> list[Id]:
    return list(islice(dict.fromkeys(ranking), k))


def _depth(k: int) -> int:
    if k < 1:
        msg = f"k: must be >= 1, got {k!r}"
        raise ValueError(msg)
    return k


def _finite(grade: float) -> float:
    if not math.isfinite(grade):
        msg = f"judgements: a grade must be finite, got {grade!r}"
        raise ValueError(msg)
    return grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """A mean difference with its confidence interval."""

    mean: float
    low: float
    high: float
    confidence: float
    """Probability that the interval covers the true difference."""

    @property
    def is_significant(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.low > 0.0

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.high < 0.0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


def paired_gain(
    before: Sequence[float],
    after: Sequence[float],
    *,
    confidence: float = 0.95,
    draws: int = 2_000,
    seed: int = 0,
) -> Gain:
    """Return the mean difference ``after - before`` per question, with a bootstrap interval.

    Questions are resampled with replacement ``draws`` times. The bounds are the percentiles of the
    resampled means that leave ``(1 - confidence) / 2`` on either side.

    Args:
        before: a figure per question, at least one, finite.
        after: the figures of the same questions, in the same order.
        confidence: in (0, 1).
        draws: number of resamples, >= 1.
        seed: the same seed gives the same bounds.

    Raises:
        ValueError: no questions, different lengths, or a value out of range.
    """
    require_number("confidence", confidence, low=0.0, high=1.0, above_low=True, below_high=True)
    if count("draws", draws) < 1:
        msg = f"draws: must be >= 1, got {draws}"
        raise ValueError(msg)
    if len(before) != len(after) or not before:
        msg = f"after: expected one a question, at least one, got {len(after)} for {len(before)}"
        raise ValueError(msg)
    differences = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    if not np.isfinite(differences).all():
        msg = "before, after: every figure must be finite"
        raise ValueError(msg)
    # A draw is a count per question, so that its mean is one dot product.
    size = len(differences)
    generator = np.random.default_rng(seed)
    means = [
        float(generator.multinomial(size, np.full(size, 1 / size)) @ differences) / size
        for _ in range(draws)
    ]
    beyond = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [beyond, 1.0 - beyond])
    return Gain(
        mean=float(differences.mean()), low=float(low), high=float(high), confidence=confidence
    )
