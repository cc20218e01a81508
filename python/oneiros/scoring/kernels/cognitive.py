"""The kernels of cognitive-memory. Source: docs/systems/cognitive.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy.typing as npt

from oneiros.model.fields import CATEGORIES
from oneiros.scoring.factors import Retention
from oneiros.scoring.factors.cognitive import MODELS, Model
from oneiros.scoring.kernels.arguments import FloatArray, Result, coded, judged, run
from oneiros.scoring.link_expansion import AssociationDecay
from oneiros.scoring.reinforcement import SpacedReinforcement

__all__ = [
    "association_decay",
    "reinforce_stability",
    "retention",
    "retention_score",
    "spacing_factor",
]

_RETENTION = Retention()
_SPACING = SpacedReinforcement()
_ASSOCIATION = AssociationDecay()
_CODES: Final = {word: code for code, word in enumerate((*CATEGORIES, "core"))}


def retention(
    days: npt.ArrayLike,
    stability: npt.ArrayLike,
    importance: npt.ArrayLike,
    category: npt.ArrayLike | str | Sequence[str],
    model: Model = _RETENTION.model,
    beta_days: Sequence[float] = _RETENTION.beta_days,
    floors: Sequence[float] = _RETENTION.floors,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return the retention ``max(floor, exp(-days / (S * B * beta)))``.

    ``S = max(stability, 0.01)``, ``B = min(1 + 2 * importance, 3)``; beta and floor by category.
    With ``model="power"``: ``max(floor, (1 + days / (S * B * beta)) ** -1.4427)``.

    Args:
        days: days since the last access; < 0 counts as 0, NaN (no timestamp) gives the floor.
        stability: >= 0; NaN gives NaN, as for the arguments below.
        importance: in [0, 1].
        category: "episodic", "semantic", "procedural", "core", their codes 0 to 3, or arrays.
        model: "exponential" or "power".
        beta_days: time constants by category, days, > 0; infinity: no decay.
        floors: lower bounds by category, 0 to 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; an unknown category or model.

    Source: docs/systems/cognitive.md C1, C2.

    >>> from oneiros import kernels
    >>> round(kernels.retention(30, 0.5, 0.5, "semantic"), 4)
    0.7788
    """
    values = {
        "days": days,
        "stability": stability,
        "importance": importance,
        "category": coded("category", category, _CODES),
    }
    parameters = judged(Retention, model=model, beta_days=beta_days, floors=floors)
    if parameters is not None:
        parameters["model"] = float(MODELS.index(model))
    return run("retention", values, parameters, out, threads)


def retention_score(
    similarity: npt.ArrayLike,
    retention: npt.ArrayLike,
    alpha: float = _RETENTION.alpha,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``similarity * retention ** alpha``.

    Args:
        similarity: the cosine; NaN gives NaN.
        retention: in [0, 1]; NaN gives NaN.
        alpha: exponent of the retention, 0 (no effect) to 100.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/cognitive.md C6.

    >>> from oneiros import kernels
    >>> round(kernels.retention_score(0.8, 0.5), 4)
    0.6498
    """
    values = {"similarity": similarity, "retention": retention}
    return run("retention_score", values, judged(Retention, alpha=alpha), out, threads)


def spacing_factor(
    days: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``min(2, days / 7)``, the gain of a recall, which grows with the time since the last.

    Args:
        days: days since the last access; < 0 counts as 0, NaN (no timestamp) gives 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/cognitive.md C11.

    >>> from oneiros import kernels
    >>> kernels.spacing_factor(3.5)
    0.5
    """
    parameters = judged(SpacedReinforcement, span_days=_SPACING.span_days, most=_SPACING.most)
    return run("spacing_factor", {"days": days}, parameters, out, threads)


def reinforce_stability(
    stability: npt.ArrayLike,
    days: npt.ArrayLike,
    gain: float = _SPACING.gain,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``min(1, stability + gain * min(2, days / 7))``.

    Args:
        stability: stability before the recall; NaN gives NaN.
        days: days since the previous access; < 0 counts as 0, NaN (no timestamp) as 7.
        gain: gain at 7 days, 0 to 1e6.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/cognitive.md C11.

    >>> from oneiros import kernels
    >>> kernels.reinforce_stability(0.5, 7)
    0.6
    """
    parameters = judged(
        SpacedReinforcement,
        gain=gain,
        span_days=_SPACING.span_days,
        most=_SPACING.most,
        limit=_SPACING.limit,
    )
    values = {"stability": stability, "days": days}
    return run("reinforce_stability", values, parameters, out, threads)


def association_decay(
    weight: npt.ArrayLike,
    days: npt.ArrayLike,
    tau_days: float = _ASSOCIATION.tau_days,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``weight * exp(-days / tau_days)``, the decayed weight of a link between two memories.

    Args:
        weight: weight when the two were last retrieved together; NaN gives NaN.
        days: days since then; < 0 counts as 0, NaN (no timestamp) leaves the weight unchanged.
        tau_days: time constant, days, > 0.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/cognitive.md C16.

    >>> from oneiros import kernels
    >>> round(kernels.association_decay(1.0, 30), 4)
    0.7165
    """
    values = {"weight": weight, "days": days}
    parameters = judged(AssociationDecay, tau_days=tau_days)
    return run("association_decay", values, parameters, out, threads)
