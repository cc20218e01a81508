"""The kernels of OMEGA. Source: docs/systems/omega.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.model.validation import LARGEST_WEIGHT, require_numbers
from oneiros.scoring.factors import (
    Cluster,
    Consolidation,
    ContextMatch,
    Feedback,
    FlooredDecay,
    KindWeight,
    Overlap,
    Priority,
    Thompson,
)
from oneiros.scoring.fusion import WeightedMean
from oneiros.scoring.kernels.arguments import FloatArray, Result, judged, listed, run
from oneiros.scoring.program import Parameter
from oneiros.scoring.tables import require_table

__all__ = [
    "cluster_boost",
    "consolidation_boost",
    "context_boost",
    "decision_rate",
    "feedback_factor",
    "floored_decay",
    "kind_weight",
    "minmax_floor",
    "overlap_boost",
    "priority_factor",
    "temporal_proximity",
    "thompson_boost",
]

_KIND = KindWeight()
_DECAY = FlooredDecay()
_CONSOLIDATION = Consolidation().parameters()
_FEEDBACK = Feedback().parameters()
_PRIORITY = Priority().parameters()
_THOMPSON = Thompson().parameters()


def kind_weight(
    kind: npt.ArrayLike | str | Sequence[str],
    table: Mapping[str, float] | Sequence[float] = _KIND.table,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return the weight of a kind, 1 for kinds that the table does not list.

    Args:
        kind: one, a list or an array of words (looked up in a mapping) or codes (looked up in a
            sequence). A code that is NaN gives NaN.
        table: weights by word or by code, each 0 to 1e6; default: OMEGA's.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; words with a sequence, or codes with a mapping.

    Source: docs/systems/omega.md O11.

    >>> from oneiros import kernels
    >>> kernels.kind_weight(["decision", "note"])
    array([2., 1.])
    """
    codes, weights = _kind_codes(kind, table)
    parameters: dict[str, Parameter] = {"otherwise": _KIND.otherwise, "table": weights}
    return run("kind_weight", {"kind": codes}, parameters, out, threads)


def feedback_factor(
    f: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + 0.15 * min(f, 10)`` above 0, ``max(0.2, 1 + 0.2 * f)`` below, 1 at 0.

    Args:
        f: sum of verdicts (helpful 1, unhelpful -1, outdated -2); NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O12.

    >>> from oneiros import kernels
    >>> kernels.feedback_factor(2)
    1.3
    """
    return run("feedback_factor", {"f": f}, _FEEDBACK, out, threads)


def priority_factor(
    p: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``0.7 + 0.08 * p``.

    Args:
        p: priority, clamped to 1 to 5; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O13.

    >>> from oneiros import kernels
    >>> kernels.priority_factor(5)
    1.1
    """
    return run("priority_factor", {"p": p}, _PRIORITY, out, threads)


def floored_decay(
    age_days: npt.ArrayLike,
    rate: npt.ArrayLike,
    floor: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``max(floor, exp(-rate * age_days))``.

    Args:
        age_days: days since the last access; < 0 counts as 0, NaN (no timestamp) gives 1.
        rate: decay per day; 0: no decay; NaN gives NaN.
        floor: lower bound; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O14.

    >>> from oneiros import kernels
    >>> round(kernels.floored_decay(30, 0.02, 0.35), 4)
    0.5488
    """
    values = {"age_days": age_days, "rate": rate, "floor": floor}
    return run("floored_decay", values, {}, out, threads)


def decision_rate(
    rate: npt.ArrayLike,
    access_count: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``max(0.002, rate * 0.85 ** min(access_count, 10))``.

    Args:
        rate: decay per day of a decision without accesses; NaN gives NaN.
        access_count: >= 0; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O14.

    >>> from oneiros import kernels
    >>> round(kernels.decision_rate(0.015, 2), 6)
    0.010837
    """
    parameters = judged(FlooredDecay, base=_DECAY.base, most=_DECAY.most, least=_DECAY.least)
    values = {"rate": rate, "access_count": access_count}
    return run("decision_rate", values, parameters, out, threads)


def thompson_boost(
    good: npt.ArrayLike,
    bad: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``0.8 + 0.4 * (1 + good) / (2 + good + bad)``, 1 below 10 observations.

    Args:
        good: number of helpful verdicts, >= 0; NaN gives NaN.
        bad: number of unhelpful and outdated verdicts, >= 0; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a count below 0 or infinite.

    Source: docs/systems/omega.md O15 (ours).

    >>> from oneiros import kernels
    >>> round(kernels.thompson_boost(8, 2), 4)
    1.1
    """
    return run("thompson_boost", {"good": good, "bad": bad}, _THOMPSON, out, threads)


def consolidation_boost(
    cq: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + 0.1 * min(cq, 3)``, 1 at or below 0.

    Args:
        cq: consolidation quality; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/omega.md O17.

    >>> from oneiros import kernels
    >>> kernels.consolidation_boost(2)
    1.2
    """
    return run("consolidation_boost", {"cq": cq}, _CONSOLIDATION, out, threads)


def _kind_codes(kind: Any, table: Mapping[str, float] | Sequence[float]) -> tuple[Any, list[float]]:
    """Return codes and weights by code, from words and a mapping or from codes and a sequence."""
    array = listed("kind", [kind] if isinstance(kind, str) else kind)
    if array.size and array.dtype.kind not in "UOT":
        if isinstance(table, Mapping):
            msg = "table: expected a list of weights by code for codes of kinds, got a mapping"
            raise TypeError(msg)
        return kind, list(require_numbers("table", table, low=0.0, high=LARGEST_WEIGHT))
    words = array.ravel().tolist()
    by_word = require_table("table", table, low=0.0, high=LARGEST_WEIGHT)
    places: dict[str, int] = {}
    for word in words:
        if not isinstance(word, str):
            msg = f"kind: expected words or codes, got {type(word).__name__} {word!r}"
            raise TypeError(msg)
        places.setdefault(word, len(places))
    weights = [by_word.get(word, _KIND.otherwise) for word in places]
    if isinstance(kind, str):
        return 0, weights
    codes = np.array([places[word] for word in words], np.uint32)
    return codes.reshape(array.shape), weights


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
