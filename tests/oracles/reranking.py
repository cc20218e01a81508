"""What a reranker's scores do to a list, by definition: docs/systems/omega.md O25; cognitive.md C8."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.omega import rerank_boost


def _is_score(score: float | None) -> bool:
    return score is not None and math.isfinite(score)


def shares(scores: Sequence[float | None]) -> list[float]:
    """Return min-max in [0, 1]; equal ones say nothing: 0. What is no score stays NaN."""
    known = [Fraction(one) for one in scores if one is not None and _is_score(one)]
    span = max(known) - min(known)
    return [
        math.nan
        if one is None or not _is_score(one)
        else float((Fraction(one) - min(known)) / span)
        if span
        else 0.0
        for one in scores
    ]


def boosts(scores: Sequence[float | None]) -> list[float]:
    """O25: what multiplies the score of each of the first, by its rank from 1."""
    return [rerank_boost(rank, share) for rank, share in enumerate(shares(scores), start=1)]


def order(scores: Sequence[float | None]) -> list[int]:
    """C8: places by score, best first, ties as they stood; what has no score stays where it is."""
    scored = [place for place, one in enumerate(scores) if _is_score(one)]
    best_first = sorted(scored, key=lambda place: (-(scores[place] or 0.0), place))
    takes = iter(best_first)
    return [next(takes) if place in scored else place for place in range(len(scores))]
