"""Figures of merit of one ranking, with the definitions of trec_eval (linear gains).

A ranking is a sequence of ids, best first; an id that appears again counts at its first rank only.
Judgements map ids to grades; an id is relevant when its grade is above 0, and an id that is not
judged is not relevant.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

__all__ = ["mean", "ndcg_at", "recall_at", "reciprocal_rank"]

Id = TypeVar("Id", bound=Hashable)


def ndcg_at(ranking: Sequence[Id], judgements: Mapping[Id, float], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first ``k`` ranks.

    ``nDCG@k = DCG@k / ideal DCG@k`` with ``DCG@k = sum over ranks r <= k of gain_r / log2(r + 1)``;
    the gain is the grade itself (linear, as trec_eval's ``ndcg_cut``), the ideal order is the
    judged grades from high to low, cut at ``k`` too.

    Args:
        ranking: ids, best first.
        judgements: id -> grade; grades below 0 count as 0.
        k: depth, >= 1.

    Returns:
        A value in [0, 1]; 0 when nothing is relevant.

    Raises:
        ValueError: ``k`` < 1, or a grade that is not finite.
    """
    gains = {id: max(0.0, _finite(grade)) for id, grade in judgements.items()}
    ideal = _discounted(sorted(gains.values(), reverse=True)[: _depth(k)])
    if ideal == 0.0:
        return 0.0
    return _discounted([gains.get(id, 0.0) for id in _first(ranking, k)]) / ideal


def recall_at(ranking: Sequence[Id], judgements: Mapping[Id, float], k: int) -> float:
    """Return the share of the relevant ids found in the first ``k`` ranks.

    ``recall@k = |relevant among the first k| / |relevant|``

    Args:
        ranking: ids, best first.
        judgements: id -> grade; relevant when above 0.
        k: depth, >= 1.

    Returns:
        A value in [0, 1]; 0 when nothing is relevant.

    Raises:
        ValueError: ``k`` < 1.
    """
    found = {id for id in _first(ranking, _depth(k)) if judgements.get(id, 0) > 0}
    relevant = sum(grade > 0 for grade in judgements.values())
    return len(found) / relevant if relevant else 0.0


def reciprocal_rank(ranking: Sequence[Id], judgements: Mapping[Id, float]) -> float:
    """Return ``1 / rank`` of the first relevant id, ranks from 1.

    Averaged over queries this is the MRR.

    Args:
        ranking: ids, best first; its length is the depth (MRR@10: pass ten).
        judgements: id -> grade; relevant when above 0.

    Returns:
        A value in (0, 1]; 0 when the ranking holds nothing relevant.
    """
    for rank, id in enumerate(dict.fromkeys(ranking), start=1):
        if judgements.get(id, 0) > 0:
            return 1.0 / rank
    return 0.0


def mean(values: Iterable[float]) -> float:
    """Return the average over queries, summed exactly, so that their order does not matter.

    Raises:
        ValueError: no values (an average over nothing is not 0).
    """
    held = list(values)
    if not held:
        msg = "values: must not be empty"
        raise ValueError(msg)
    return math.fsum(held) / len(held)


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _first(ranking: Sequence[Id], k: int) -> list[Id]:
    return list(islice(dict.fromkeys(ranking), k))


def _depth(k: int) -> int:
    if k < 1:
        msg = f"k: must be >= 1, got {k!r}"
        raise ValueError(msg)
    return k


def _finite(grade: float) -> float:
    if not math.isfinite(grade):
        msg = f"judgements: a grade must be finite, got {grade!r}"
        raise ValueError(msg)
    return grade
