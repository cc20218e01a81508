"""The kernels of the default profile. Source: docs/systems/house.md."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.model.validation import require_number
from oneiros.scoring.factors import HalfLifeRecency
from oneiros.scoring.fusion import Blend
from oneiros.scoring.kernels.arguments import FloatArray, Result, has_nan, judged, run
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
        amount: weight of the factor, 0 (no effect) to 1 (full effect).
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/house.md H6.

    >>> from oneiros import kernels
    >>> kernels.damp(0.5, 0.2)
    0.9
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
    """Return ``weight * bm25 / max(bm25) + (1 - weight) * max(cosine, 0)``.

    Args:
        bm25: raw scores of the candidates; None without a word channel, which gives the cosines the
            whole weight. If no score is above 0, the BM25 term is 0.
        cosine: cosines of the candidates; None without a vector channel.
        weight: weight of BM25, 0 to 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Returns:
        The shape of the arguments; NaN where a score is NaN.

    Raises:
        TypeError: as for all kernels; both channels are None.
        ValueError: as for all kernels.

    Source: docs/systems/house.md H3.

    >>> from oneiros import kernels
    >>> kernels.blend([4.0, 2.0], [0.5, 0.9], 0.5)
    array([0.75, 0.7 ])
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
    """Return each score plus a share of the scores of adjacent memories of its session.

    ``score_i + share * (score_(i-1) + score_(i+1)) + share * decay * (score_(i-2) + score_(i+2))``
    and so on up to ``reach``. Neighbours of neighbours are found through the same links.

    Args:
        scores: one per memory, shape (n,); 0 for memories that are no candidates.
        left: index in ``scores`` of the previous memory of the session, -1 for none, integers of
            shape (n,).
        right: index of the next memory, likewise.
        share: share of a neighbour's score, 0 to 1e6.
        decay: factor on the share per further step, 0 to 1.
        reach: steps to either side, 0 to 64.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; an index outside ``scores``.

    Source: docs/systems/house.md H4.

    >>> from oneiros import kernels
    >>> kernels.spread_neighbours([1.0, 0.0], [-1, 0], [1, -1], 0.3)
    array([1. , 0.3])
    """
    parameters = judged(Neighbours, share=share, decay=decay, reach=reach)
    values = {"scores": scores, "left": left, "right": right}
    return run("spread_neighbours", values, parameters, out, threads)
