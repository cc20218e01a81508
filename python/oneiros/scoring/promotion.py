"""Promotion of staged memories by score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros._lazy import np
from oneiros.model.validation import require_number, settle
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.scoring.profile import Profile

__all__ = ["Promotion", "promoted", "threshold_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """Promote memories that score at least ``threshold`` from staged to consolidated.

    Source: docs/systems/ciar.md A4; published threshold 0.6.
    """

    threshold: float = 0.6
    """Least score of a promoted memory, above 0, at most 1."""

    def __post_init__(self) -> None:
        threshold = require_number("threshold", self.threshold, low=0.0, high=1.0, above_low=True)
        settle(self, "threshold", threshold)


def threshold_of(profile: Profile, threshold: float | None) -> float:
    """Return the given threshold, or the profile's if it is None.

    Raises:
        TypeError: not a number.
        ValueError: out of its range, or None and the profile has no threshold.
    """
    if threshold is not None:
        return Promotion(threshold=threshold).threshold
    if profile.promotion is None:
        msg = f"threshold: profile {profile.name!r} has none, so one must be given"
        raise ValueError(msg)
    return profile.promotion.threshold


def promoted(
    scores: npt.NDArray[Any], threshold: float | None, out: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Return a mask of the scores that reach the threshold; NaN does not.

    Args:
        scores: any shape; float32 scores are compared with the threshold rounded to float32.
        threshold: above 0, at most 1; None: nothing is promoted.
        out: an array of the same shape for the result.

    Source: docs/systems/ciar.md A4.
    """
    real = np.dtype(np.float64) if scores.dtype.kind != "f" else scores.dtype
    zero = real.type(0.0)
    least = real.type(np.nan if threshold is None else threshold)
    if least == zero:  # above 0, but rounded to 0 in float32
        least = np.nextafter(zero, real.type(1.0))
    reached: npt.NDArray[np.bool_] = np.greater_equal(scores, least, out=out)
    return reached
