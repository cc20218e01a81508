"""The kernels of the house profile. Source: docs/systems/house.md."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.model.validation import require_number
from oneiros.scoring.array_arguments import FloatArray, Result, has_nan, judged, run
from oneiros.scoring.factors import HalfLifeRecency
from oneiros.scoring.fusion import Blend
from oneiros.scoring.program import Parameter
from oneiros.scoring.relevance_adjustments import Neighbours

__all__ = ["blend", "damp", "spread_neighbours"]

_RECENCY = HalfLifeRecency()
_BLEND = Blend()
_NEIGHBOURS = Neighbours()


def damp(
    factor: npt.ArrayLike,
    amount: float = _RECENCY.damping,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 - amount + amount * factor``.

    Args:
        factor: NaN gives NaN.
        amount: how much of the factor counts, 0 to 1.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/house.md H6.
    """
    parameters: dict[str, Parameter] | None = None
    if not has_nan(amount):
        parameters = {"amount": require_number("amount", amount, low=0.0, high=1.0)}
    return run("damp", {"factor": factor}, parameters, out, threads)


def blend(
    bm25: npt.ArrayLike | None,
    cosine: npt.ArrayLike | None,
    weight: float = _BLEND.weight,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``weight * bm25 / best + (1 - weight) * max(cosine, 0)``, best the greatest BM25 given.

    Args:
        bm25: the candidates' raw scores, one list; None where there is no such channel: the cosines
            have the whole weight. Where no score is above 0, their part is 0.
        cosine: the candidates' cosines; None where there is no such channel.
        weight: of the words, 0 to 1.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Returns:
        The shape of the arguments; NaN where a score is NaN.

    Raises:
        TypeError: as every kernel; both channels are None.
        ValueError: as every kernel.

    Source: docs/systems/house.md H3.
    """
    parameters = judged(Blend, weight=weight)
    if bm25 is None and cosine is None:
        msg = "bm25, cosine: at least one must be given"
        raise TypeError(msg)
    if bm25 is None:
        parameters = {"weight": 0.0}
    elif cosine is None:
        parameters = {"weight": 1.0}
    values = {"bm25": 0.0 if bm25 is None else bm25, "cosine": 0.0 if cosine is None else cosine}
    return run("blend", values, parameters, out, threads)


def spread_neighbours(
    scores: npt.ArrayLike,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    share: float = _NEIGHBOURS.share,
    decay: float = _NEIGHBOURS.decay,
    reach: int = _NEIGHBOURS.reach,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return each score with a share of its neighbours' scores.

    ``score_i + share * (score_(i-1) + score_(i+1)) + share * decay * (score_(i-2) + score_(i+2))``
    and so on up to ``reach``; a neighbour's neighbour is found through the same links.

    Args:
        scores: one a memory, shape (n,); 0 for what is no candidate.
        left: the place in ``scores`` of the memory just before in time in its session, -1 for none,
            integers of shape (n,).
        right: of the memory just after, likewise.
        share: of a neighbour's score, 0 to 1e6.
        decay: what a step farther leaves of the share, 0 to 1.
        reach: steps to either side, 0 to 64.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel; a place that is none of ``scores``.

    Source: docs/systems/house.md H4.
    """
    parameters = judged(Neighbours, share=share, decay=decay, reach=reach)
    values = {"scores": scores, "left": left, "right": right}
    return run("spread_neighbours", values, parameters, out, threads)
