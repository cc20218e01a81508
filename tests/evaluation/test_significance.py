"""The paired bootstrap: its bounds, what it calls significant, what it refuses."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from oneiros.evaluation.metrics import paired_gain


def test_the_bounds_are_those_of_the_normal_law_where_questions_are_many() -> None:
    generator = np.random.default_rng(7)
    before, after = generator.random(400).tolist(), generator.random(400).tolist()
    differences = [b - a for a, b in zip(before, after, strict=True)]
    error = statistics.stdev(differences) / math.sqrt(400)
    gain = paired_gain(before, after)
    assert gain.mean == pytest.approx(statistics.fmean(differences))
    assert gain.low == pytest.approx(gain.mean - 1.96 * error, abs=0.15 * error)
    assert gain.high == pytest.approx(gain.mean + 1.96 * error, abs=0.15 * error)
    narrow = paired_gain(before, after, confidence=0.5)
    assert gain.low < narrow.low < narrow.high < gain.high


def test_what_every_question_gains_is_sure_and_what_half_of_them_lose_is_not() -> None:
    sure = paired_gain([0.1, 0.3, 0.5], [0.2, 0.4, 0.6])
    assert (sure.low, sure.high) == pytest.approx((0.1, 0.1))
    assert (sure.is_significant, sure.is_loss) == (True, False)
    assert paired_gain([0.2, 0.4], [0.1, 0.3]).is_loss
    unsure = paired_gain([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    assert not unsure.is_significant
    assert not unsure.is_loss
    assert unsure.low < 0.0 < unsure.high
    assert not paired_gain([0.5], [0.5]).is_significant


def test_a_seed_gives_the_same_bounds_and_pairs_stay_together() -> None:
    generator = np.random.default_rng(1)
    before = generator.random(50)
    after = before + 0.01  # were they drawn apart, the bounds would be far wider
    gain = paired_gain(before.tolist(), after.tolist(), seed=3)
    assert gain == paired_gain(before.tolist(), after.tolist(), seed=3)
    assert (gain.low, gain.high) == pytest.approx((0.01, 0.01))


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        ([], [], {}, "after: expected one a question, at least one, got 0 for 0"),
        ([1.0], [1.0, 2.0], {}, "got 2 for 1"),
        ([1.0], [math.nan], {}, "every figure must be finite"),
        ([1.0], [1.0], {"confidence": 1.0}, "confidence: must be > 0 and < 1"),
        ([1.0], [1.0], {"draws": 0}, "draws: must be >= 1, got 0"),
    ],
)
def test_errors_name_the_rule(
    before: list[float], after: list[float], options: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        paired_gain(before, after, **options)  # type: ignore[arg-type]
