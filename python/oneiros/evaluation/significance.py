"""How sure a gain is: the paired bootstrap over questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oneiros.argument_checks import count
from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_number

__all__ = ["Gain", "paired_gain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """A mean difference, and between which bounds it lies."""

    mean: float
    low: float
    high: float
    confidence: float
    """How often such bounds hold the true difference."""

    @property
    def is_significant(self) -> bool:
        """Whether it is above 0 beyond chance."""
        return self.low > 0.0

    @property
    def is_loss(self) -> bool:
        """Whether it is below 0 beyond chance."""
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
    """Return what ``after`` has beyond ``before``, question by question.

    Questions are drawn anew with replacement, ``draws`` times; the bounds are the percentiles of the
    mean difference of those draws that leave out ``(1 - confidence) / 2`` on either side.

    Args:
        before: a figure a question, at least one, finite.
        after: the same of the same questions, in the same order.
        confidence: above 0 and below 1.
        draws: how many, >= 1.
        seed: the same seed gives the same bounds.

    Raises:
        ValueError: no questions, two counts of them, or a value out of its range.
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
    # A draw is how often each question comes: its mean is one product.
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
