"""The kernels of OMEGA that depend on the query. Source: docs/systems/omega.md."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.scoring.array_arguments import FloatArray, Result, judged, run
from oneiros.scoring.factors import Cluster, ContextMatch, Overlap
from oneiros.scoring.fusion import WeightedMean

__all__ = ["cluster_boost", "context_boost", "minmax_floor", "overlap_boost", "temporal_proximity"]

_MEAN = WeightedMean()
_CONTEXT = ContextMatch().parameters()
_OVERLAP = Overlap().parameters()
_CLUSTER = Cluster().parameters()


def minmax_floor(
    scores: npt.ArrayLike,
    low: float = _MEAN.low,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``low + (1 - low) * (score - worst) / (best - worst)`` over one list of scores.

    Args:
        scores: one list; 1 if all are equal or there is only one. NaN gives NaN.
        low: value of the worst, 0 to 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O3.

    >>> from oneiros import kernels
    >>> kernels.minmax_floor([3.0, 2.0, 1.0], 0.5)
    array([1.  , 0.75, 0.5 ])
    """
    return run("minmax_floor", {"scores": scores}, judged(WeightedMean, low=low), out, threads)


def temporal_proximity(
    time: npt.ArrayLike,
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return 1 from ``start`` to ``end``, else ``1 / (1 + distance / length)`` in days.

    Length and distance are whole days. The length is rounded down and at least 1. The distance is
    rounded up before the start and down after the end. A distance above the length gives 0.

    Args:
        time: time of the event, else of creation, seconds.
        start: start of the range, seconds.
        end: end of the range, seconds; before ``start`` it gives 0. NaN in any argument gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O4.

    >>> from oneiros import kernels
    >>> kernels.temporal_proximity(3 * 86_400, 0, 2 * 86_400)
    0.6666666666666666
    """
    values = {"time": time, "start": start, "end": end}
    return run("temporal_proximity", values, {}, out, threads)


def overlap_boost(
    word_ratio: npt.ArrayLike,
    feedback: npt.ArrayLike,
    weight: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + 0.5 * word_ratio * weight``, half the boost where the feedback is below 0.

    Args:
        word_ratio: share of the query's words in content and tags. NaN in any argument gives NaN.
        feedback: sum of verdicts.
        weight: weight of shared words for this query.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O18.

    >>> from oneiros import kernels
    >>> kernels.overlap_boost(0.5, 0, 1.0)
    1.25
    """
    values = {"word_ratio": word_ratio, "feedback": feedback, "weight": weight}
    return run("overlap_boost", values, _OVERLAP, out, threads)


def context_boost(
    tag_overlap: npt.ArrayLike,
    project_match: npt.ArrayLike,
    content_match: npt.ArrayLike,
    weight: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return the boost of memories that match the caller's context.

    ``1 + (0.1 * tag_overlap + 0.15 * project_match + 0.05 * min(content_match, 3)) * weight``.

    Args:
        tag_overlap: number of shared tags. NaN in any argument gives NaN.
        project_match: 0 or 1.
        content_match: number of words of the caller's file found in the text.
        weight: weight of context for this query.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O20.

    >>> from oneiros import kernels
    >>> kernels.context_boost(1, 0, 2, 1.0)
    1.2
    """
    values = {
        "tag_overlap": tag_overlap,
        "project_match": project_match,
        "content_match": content_match,
        "weight": weight,
    }
    return run("context_boost", values, _CONTEXT, out, threads)


def cluster_boost(
    c: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + min(0.33 * (c - 0.5), 0.15)`` above 0.5, else 1.

    Args:
        c: cosine to the centre of the best results; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O21.

    >>> from oneiros import kernels
    >>> round(kernels.cluster_boost(0.8), 4)
    1.099
    """
    return run("cluster_boost", {"c": c}, _CLUSTER, out, threads)
