"""The kernels of Mnemosyne. Source: docs/systems/mnemosyne.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from oneiros.model.validation import LARGEST_WEIGHT, is_scalar_array, require_numbers
from oneiros.scoring.array_arguments import FloatArray, Result, has_nan, judged, run
from oneiros.scoring.factors import RecencyBlend
from oneiros.scoring.program import Parameter

__all__ = ["recency_blend", "weibull_retention", "weighted_sum"]

_RECENCY = RecencyBlend()


def recency_blend(
    age_hours: npt.ArrayLike,
    tau_hours: float = _RECENCY.tau_hours,
    weight: float = _RECENCY.weight,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 - weight + weight * exp(-age_hours / tau_hours)``.

    Args:
        age_hours: since creation; below 0 counts as 0, NaN (no timestamp) counts 0.5 for the
            exponential.
        tau_hours: hours after which the exponential has fallen to 1/e, > 0.
        weight: the share that age can take, 0 to 1.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/mnemosyne.md M5.
    """
    parameters = judged(RecencyBlend, tau_hours=tau_hours, weight=weight)
    return run("recency_blend", {"age_hours": age_hours}, parameters, out, threads)


def weibull_retention(
    age_hours: npt.ArrayLike,
    shape: npt.ArrayLike,
    eta_hours: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``exp(-(age_hours / eta_hours) ** shape)``.

    Args:
        age_hours: since creation; below 0 counts as 0, NaN gives NaN, as in all that follow.
        shape: > 0; below 1 the decay slows with age, above it speeds up.
        eta_hours: hours after which 1/e is left, > 0.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel; an eta that is not > 0.

    Source: docs/systems/mnemosyne.md M8.
    """
    values = {"age_hours": age_hours, "shape": shape, "eta_hours": eta_hours}
    return run("weibull_retention", values, {}, out, threads)


def weighted_sum(
    scores: npt.ArrayLike | Sequence[npt.ArrayLike],
    weights: Sequence[float] | FloatArray,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return the sum over channels of ``weight * score``.

    Args:
        scores: shape (channels, n), or a list of one array or number a channel; 0 where a channel
            is missing; NaN gives NaN.
        weights: one a channel, each 0 to 1e6.
        out: an array of shape (n,) and the result's dtype, to hold it.
        threads: 1 to 256.

    Returns:
        Shape (n,).

    Raises:
        TypeError, ValueError: as every kernel; weights that are not one a channel.

    Source: docs/systems/mnemosyne.md M4.
    """
    listed = scores if isinstance(scores, list | tuple) else np.asarray(scores)
    if is_scalar_array(listed):
        msg = f"scores: expected one array or number a channel, got {type(scores).__name__}"
        raise TypeError(msg)
    rows = list(listed)
    parameters: dict[str, Parameter] | None = None
    if not has_nan(weights):
        checked = require_numbers("weights", weights, low=0.0, high=LARGEST_WEIGHT, count=len(rows))
        parameters = {"weights": list(checked)}
    values = {f"scores[{channel}]": row for channel, row in enumerate(rows)}
    return run("weighted_sum", values, parameters, out, threads)
