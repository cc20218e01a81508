"""The kernels of CIAR. Source: docs/systems/ciar.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.model.validation import as_float, require_flag, require_threads
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factors import CiarDecay, CiarReinforcement
from oneiros.scoring.kernels.arguments import (
    FloatArray,
    Result,
    as_array,
    checked_out,
    has_nan,
    is_scalar,
    judged,
    run,
)
from oneiros.scoring.promotion import Promotion, promoted

__all__ = ["CIARComponents", "ciar", "explain_ciar", "should_promote"]

_DECAY = CiarDecay()
_REINFORCEMENT = CiarReinforcement()
_PROMOTION = Promotion()


@dataclass(frozen=True, slots=True, kw_only=True)
class CIARComponents:
    """The components of one CIAR score. ``str()`` is one line. Source: docs/systems/ciar.md A5."""

    certainty: float
    """The certainty, in [0, 1]."""

    impact: float
    """The impact, in [0, 1]."""

    base_significance: float
    """``certainty * impact``."""

    time_decay: float
    """``exp(-rate * age_days)``."""

    reinforcement: float
    """``1 + reinforcement * access_count``."""

    total_score: float
    """Their product, clamped to [0, 1] if ``clamp``."""

    unclamped_score: float
    """Their product, not clamped (A2)."""

    def __str__(self) -> str:
        return (
            f"CIAR={self.total_score:.3f} "
            f"[C={self.certainty:.2f} × I={self.impact:.2f} = {self.base_significance:.3f}] "
            f"× [Decay={self.time_decay:.3f}] × [Boost={self.reinforcement:.2f}]"
        )


def ciar(
    certainty: npt.ArrayLike,
    impact: npt.ArrayLike,
    age_days: npt.ArrayLike,
    access_count: npt.ArrayLike,
    rate: float = _DECAY.rate,
    reinforcement: float = _REINFORCEMENT.reinforcement,
    clamp: bool = True,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``certainty * impact * exp(-rate * age_days) * (1 + reinforcement * access_count)``.

    A certainty or an impact of 0 gives 0. Single numbers out of their range are refused (A6).
    Arrays are not checked, ages below 0 count as 0; ``oneiros.rescore`` checks tables.

    Args:
        certainty: in [0, 1]; NaN gives NaN, as for the arguments below.
        impact: in [0, 1].
        age_days: days since creation, >= 0.
        access_count: >= 0.
        rate: decay per day, between 0 and 1, both excluded.
        reinforcement: growth per access, 0 to 1, 1 excluded.
        clamp: whether to clamp the score to [0, 1]; False keeps the order of strong facts.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a single number out of its range.

    Source: docs/systems/ciar.md A1, A2, A3, A6.

    >>> from oneiros import kernels
    >>> round(kernels.ciar(0.9, 0.8, 10, 3), 4)
    0.7429
    """
    values = {
        "certainty": certainty,
        "impact": impact,
        "age_days": age_days,
        "access_count": access_count,
    }
    _require_valid(values)
    require_flag("clamp", clamp)
    by_age = judged(CiarDecay, rate=rate)
    by_use = judged(CiarReinforcement, reinforcement=reinforcement)
    parameters = None
    if by_age is not None and by_use is not None:
        parameters = by_age | by_use | {"clamp": float(clamp)}
    return run("ciar", values, parameters, out, threads)


def explain_ciar(
    certainty: float,
    impact: float,
    age_days: float,
    access_count: int,
    rate: float = _DECAY.rate,
    reinforcement: float = _REINFORCEMENT.reinforcement,
    clamp: bool = True,
) -> CIARComponents:
    """Return the components of one CIAR score.

    Args:
        certainty: in [0, 1].
        impact: in [0, 1].
        age_days: days since creation, >= 0.
        access_count: >= 0.
        rate: decay per day, between 0 and 1, both excluded.
        reinforcement: growth per access, 0 to 1, 1 excluded.
        clamp: whether to clamp ``total_score`` to [0, 1].

    Raises:
        TypeError: an argument is no number.
        ValueError: an argument is out of its range.

    Source: docs/systems/ciar.md A5, A6.

    >>> from oneiros import kernels
    >>> print(kernels.explain_ciar(0.9, 0.8, 10, 3))
    CIAR=0.743 [C=0.90 × I=0.80 = 0.720] × [Decay=0.794] × [Boost=1.30]
    """
    given = (certainty, impact, age_days, access_count)
    for name, value in zip(_RANGES, given, strict=True):
        if not is_scalar(value) or isinstance(value, bool):
            msg = f"{name}: expected a number, got {type(value).__name__} {value!r}"
            raise TypeError(msg)
    by_age = judged(CiarDecay, rate=rate)
    by_use = judged(CiarReinforcement, reinforcement=reinforcement)
    return CIARComponents(
        certainty=as_float(certainty),
        impact=as_float(impact),
        base_significance=run("multiply", {"a": certainty, "b": impact}, {}, None, 1),
        time_decay=run("ciar_decay", {"age_days": age_days}, by_age, None, 1),
        reinforcement=run("ciar_reinforcement", {"access_count": access_count}, by_use, None, 1),
        total_score=ciar(*given, rate, reinforcement, clamp),
        unclamped_score=ciar(*given, rate, reinforcement, clamp=False),
    )


def should_promote(
    score: npt.ArrayLike,
    threshold: float = _PROMOTION.threshold,
    *,
    out: npt.NDArray[np.bool_] | None = None,
    threads: int = 1,
) -> Any:
    """Return whether ``score >= threshold``.

    Args:
        score: CIAR scores; False for NaN.
        threshold: above 0 and at most 1; False for NaN.
        out: bool array for the result, of its shape.
        threads: 1 to 256; accepted for uniformity, since memory bandwidth is the limit.

    Returns:
        A bool for a number, a bool array for an array.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/ciar.md A4.

    >>> from oneiros import kernels
    >>> kernels.should_promote(0.7)
    True
    """
    least = None if has_nan(threshold) else Promotion(threshold=threshold).threshold
    require_threads(threads)
    scores = as_array("score", score)
    verdict = promoted(scores, least, checked_out(out, np.dtype(np.bool_), scores.shape))
    return verdict if out is not None or verdict.ndim > 0 else bool(verdict)


_RANGES: dict[str, tuple[float, str]] = {
    "certainty": (1.0, "in [0, 1]"),
    "impact": (1.0, "in [0, 1]"),
    "age_days": (np.inf, ">= 0 (a creation after now)"),
    "access_count": (np.inf, ">= 0"),
}


def _require_valid(values: dict[str, npt.ArrayLike]) -> None:
    """Refuse single numbers out of their range; NaN passes. Source: docs/systems/ciar.md A6."""
    for name, value in values.items():
        high, rule = _RANGES[name]
        if is_scalar(value) and (value < 0 or value > high):  # type: ignore[operator]
            msg = f"{name}: must be {rule}, got {value!r}"
            raise ValueError(msg)
