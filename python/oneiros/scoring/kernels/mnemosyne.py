"""The kernels of Mnemosyne. Source: docs/systems/mnemosyne.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from oneiros.model.validation import LARGEST_WEIGHT, is_scalar_array, require_numbers
from oneiros.scoring.factors import RecencyBlend
from oneiros.scoring.kernels.arguments import FloatArray, Result, has_nan, judged, run
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
        age_hours: hours since creation; < 0 counts as 0, NaN (no timestamp) replaces the
            exponential by 0.5.
        tau_hours: time constant, hours, > 0.
        weight: the share that age can remove, 0 to 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/mnemosyne.md M5.

    >>> from oneiros import kernels
    >>> round(kernels.recency_blend(168), 4)
    0.8104
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
        age_hours: hours since creation; < 0 counts as 0, NaN gives NaN, as for the arguments below.
        shape: > 0; the decay slows down with age below 1 and speeds up above.
        eta_hours: time constant, hours, > 0.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; an eta that is not > 0.

    Source: docs/systems/mnemosyne.md M8.

    >>> from oneiros import kernels
    >>> round(kernels.weibull_retention(336, 1.2, 168), 4)
    0.1005
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
        scores: shape (channels, n), or a list with an array or number per channel; 0 for a missing
            channel; NaN gives NaN.
        weights: one per channel, each 0 to 1e6.
        out: array for the result, of shape (n,) and its dtype.
        threads: 1 to 256.

    Returns:
        Shape (n,).

    Raises:
        TypeError, ValueError: as for all kernels; another number of weights than of channels.

    Source: docs/systems/mnemosyne.md M4.

    >>> from oneiros import kernels
    >>> kernels.weighted_sum([[1.0, 0.0], [0.5, 0.5]], [0.5, 0.25])
    array([0.625, 0.125])
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
