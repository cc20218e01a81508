"""A reranker's scores: taken in, brought to [0, 1], and turned into an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["checked_scores", "one_a_pair", "order_by", "shares_of"]


def checked_scores(scores: object, count: int) -> Array:
    """Return what a reranker gave as float64, NaN where a text has no finite score.

    Args:
        scores: its answer; None stands for no score.
        count: texts it was given.

    Raises:
        TypeError: no numbers.
        ValueError: another number of them.
    """
    given = np.asarray(scores)
    if given.dtype.kind == "O" and given.ndim == 1:
        given = np.asarray([np.nan if one is None else one for one in given.tolist()])
    if given.dtype.kind not in "fiub":
        msg = f"expected numbers, got dtype {given.dtype}"
        raise TypeError(msg)
    if given.shape != (count,):
        msg = f"expected {count} scores, one a text, got shape {given.shape}"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        values = given.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return values


def shares_of(scores: Array) -> Array:
    """Return scores by minimum and maximum in [0, 1]; all 0 where they are equal, NaN stays NaN.

    Of equal scores, or a single one, nothing can be said of one against another (ours).

    Source: docs/systems/omega.md O25.
    """
    halves = scores / 2.0  # the difference of the largest numbers there are is finite then
    low, high = float(np.nanmin(halves)), float(np.nanmax(halves))
    if low == high:
        return halves * 0.0
    return np.clip((halves - low) / (high - low), 0.0, 1.0)


def order_by(scores: Array) -> list[int]:
    """Return the places in the order of their scores, the best first; ties keep their order.

    What has no score keeps its place (ours).

    Source: docs/systems/cognitive.md C8.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    best_first = scored[np.argsort(-scores[scored], kind="stable")]
    order = np.arange(len(scores))
    order[scored] = best_first
    return [int(place) for place in order]


def one_a_pair(output: object, count: int) -> Array:
    """Return a model's output of shape (count,) or (count, 1) as (count,).

    Raises:
        ValueError: another shape, such as that of a classifier of several labels.
    """
    scores: Array = np.asarray(output, np.float64)
    if scores.shape == (count, 1):
        scores = scores[:, 0]
    if scores.shape != (count,):
        msg = f"model: expected one score a pair, shape ({count},), got {scores.shape}"
        raise ValueError(msg)
    return scores
