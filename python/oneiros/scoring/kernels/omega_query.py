"""The kernels of OMEGA that depend on the query. Source: docs/systems/omega.md."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.scoring.array_arguments import FloatArray, Result, judged, run
from oneiros.scoring.factors import Cluster, ContextMatch, Overlap
from oneiros.scoring.fusion import WeightedMean
from oneiros.scoring.strict import numbers_of

__all__ = ["cluster_boost", "context_boost", "minmax_floor", "overlap_boost", "temporal_proximity"]

_MEAN = WeightedMean()
_CONTEXT = ContextMatch().parameters()
_OVERLAP = Overlap().parameters()
_CLUSTER = numbers_of(Cluster())


def minmax_floor(
    scores: npt.ArrayLike,
    low: float = _MEAN.low,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``low + (1 - low) * (score - worst) / (best - worst)`` over one list of scores.

    Args:
        scores: one list; where all are equal, or there is one, it gives 1. NaN gives NaN.
        low: what the worst gets, 0 to 1.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/omega.md O3.
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
    """Return 1 from ``start`` to ``end``, else ``1 / (1 + days away / days of the range)``.

    Both are whole days. Those of the range are rounded down and at least 1. Days away are rounded up
    before the start and down after the end. More days away than the range has give 0.

    Args:
        time: of the event, else of creation, seconds.
        start: of the range, seconds.
        end: of the range, seconds; before ``start`` it gives 0. NaN in any of the three gives NaN.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/omega.md O4.
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
        word_ratio: share of the query's words found in content and tags; NaN gives NaN, as in all.
        feedback: the sum of verdicts.
        weight: of words, as the query asks.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/omega.md O18.
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
    """Return ``1 + (0.1 * tag_overlap + 0.15 * project_match + 0.05 * min(content_match, 3)) * weight``.

    Args:
        tag_overlap: number of shared tags; NaN gives NaN, as in all.
        project_match: 0 or 1.
        content_match: number of the file's words found.
        weight: of context, as the query asks.
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/omega.md O20.
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
        out: an array of the result's shape and dtype, to hold it.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as every kernel.

    Source: docs/systems/omega.md O21.
    """
    return run("cluster_boost", {"c": c}, _CLUSTER, out, threads)
