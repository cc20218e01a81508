"""Measures of a ranking against judgements, by definition, as trec_eval computes them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any


def ndcg(ranking: Sequence[Hashable], judged: Mapping[Any, float], k: int) -> float:
    """Return DCG@k over the ideal DCG@k: gain / log2(rank + 1), linear gains (trec_eval ndcg_cut).

    Judgements below 0 gain nothing. Without any gain to be had, 0. docs/systems/house.md, table.
    """
    gains = [max(judged.get(item, 0.0), 0.0) for item in ranking[:k]]
    ideal = sorted((max(gain, 0.0) for gain in judged.values()), reverse=True)[:k]
    best = discounted(ideal)
    return discounted(gains) / best if best > 0 else 0.0


def discounted(gains: Sequence[float]) -> float:
    """Return the sum of gain / log2(rank + 1), rank from 1 (trec_eval). docs/systems/house.md."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranking: Sequence[Hashable], judged: Mapping[Any, float], k: int) -> float:
    """Return the share of the relevant (judged > 0) within the first k; 0 if none is relevant.

    trec_eval recall; docs/systems/house.md, R@10.
    """
    relevant = {item for item, gain in judged.items() if gain > 0}
    return len(relevant & set(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(
    ranking: Sequence[Hashable], judged: Mapping[Any, float], k: int | None = None
) -> float:
    """Return 1 / rank of the first relevant result within k, else 0 (trec_eval recip_rank).

    Ranks start at 1: docs/systems/README.md.
    """
    for place, item in enumerate(ranking[:k], start=1):
        if judged.get(item, 0.0) > 0:
            return 1 / place
    return 0.0
