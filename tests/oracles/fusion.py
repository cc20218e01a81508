"""How what the channels found becomes one relevance a memory, by definition, over plain lists.

A channel is a list of (id, raw score), best first; a channel that is absent is not in the mapping,
one that found nothing is an empty list. An id repeated within one list keeps its best rank, that is
its first place (docs/systems/README.md). All results are in order of first appearance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from tests.oracles.ieee import clip, divide, has_nan

Id = TypeVar("Id", bound=Hashable)
Hits = Sequence[tuple[Id, float]]
NO_EMBEDDING = 0.1  # docs/systems/cognitive.md C9, taken for C5's candidates without one


def union(channels: Mapping[str, Hits[Id]]) -> list[Id]:
    """Return every id once, in order of first appearance over the channels in their order."""
    return list(dict.fromkeys(item for hits in channels.values() for item, _ in hits))


def best_of(hits: Hits[Id]) -> dict[Id, float]:
    """Return the raw score of each id's first place in the list."""
    found: dict[Id, float] = {}
    for item, score in hits:
        found.setdefault(item, score)
    return found


def rrf(
    rankings: Sequence[Sequence[Id]],
    k: float = 60.0,
    weights: Sequence[float] | None = None,
    normalise: str = "none",
) -> list[tuple[Id, float]]:
    """Return (id, score), best first: sum of weight / (k + rank), rank from 1. R3, O7.

    An id repeated within one list keeps its best rank. ``normalise="channel"`` divides each channel
    by its best before the weights, and the sums by the best sum (O7). Ties: by first appearance.
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    sums: dict[Id, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        channel: dict[Id, float] = {}
        for rank, item in enumerate(ranking, start=1):
            channel[item] = max(channel.get(item, 0.0), 1.0 / (k + rank))
        best = max(channel.values(), default=1.0)
        for item, part in channel.items():
            value = part / best if normalise == "channel" else part
            sums[item] = sums.get(item, 0.0) + weight * value
    if normalise == "channel":
        best_sum = max(sums.values(), default=0.0)
        if best_sum > 0:  # all weights 0: nothing to divide by
            sums = {item: value / best_sum for item, value in sums.items()}
    return sorted(sums.items(), key=lambda pair: -pair[1])  # stable: first appearance


def reciprocal_rank(
    channels: Mapping[str, Hits[Id]],
    weights: Mapping[str, float] | None = None,
    k: float = 60.0,
    normalise: str = "none",
) -> dict[Id, float]:
    """Return the relevance of each candidate by reciprocal ranks; the raw scores do not count."""
    rankings = [[item for item, _ in hits] for hits in channels.values()]
    by_channel = None if weights is None else [weights[name] for name in channels]
    fused = dict(rrf(rankings, k, by_channel, normalise))
    return {item: fused[item] for item in union(channels)}


def minmax_floor(scores: Sequence[float], low: float = 0.1) -> list[float]:
    """Return low + (1 - low)(s - worst) / (best - worst); all equal or single: 1. O3."""
    if has_nan(*scores, low):
        return [math.nan] * len(scores)
    best, worst = max(scores, default=0.0), min(scores, default=0.0)
    if best == worst:
        return [1.0] * len(scores)
    return [low + (1 - low) * ((score - worst) / (best - worst)) for score in scores]


def normalised(scores: Sequence[float], how: str, low: float = 0.1) -> list[float]:
    """Return one channel's raw scores as relevances: M1 "clamp", M2 "max", O3 "minmax_floor"."""
    if how == "none":
        return list(scores)
    if how == "clamp":
        return [clip(score, 0.0, 1.0) for score in scores]
    if how == "max":
        best = max(scores, default=0.0)
        return [clip(divide(score, best), 0.0, 1.0) if best > 0 else 0.0 for score in scores]
    if how == "minmax_floor":
        return minmax_floor(scores, low)
    msg = f"normalise: unknown {how!r}"
    raise ValueError(msg)


def relevances(hits: Hits[Id], how: str, low: float = 0.1) -> dict[Id, float]:
    """Return each id's normalised score within one channel; M6: a repeated id keeps its best."""
    found = best_of(hits)
    return dict(zip(found, normalised(list(found.values()), how, low), strict=True))


def weighted_sum(
    channels: Mapping[str, Hits[Id]],
    weights: Mapping[str, float],
    normalise: Mapping[str, str],
    low: float = 0.1,
) -> dict[Id, float]:
    """Return the sum of weight x normalised score; a missing channel contributes 0. M4."""
    parts = {name: relevances(hits, normalise[name], low) for name, hits in channels.items()}
    return {
        item: sum(weights[name] * part[item] for name, part in parts.items() if item in part)
        for item in union(channels)
    }


def retention_weighted_union(
    channels: Mapping[str, Hits[Id]], cosine: Mapping[Id, float]
) -> dict[Id, float]:
    """Return each candidate's own cosine, wherever it came from. C5, C6.

    BM25 brings candidates and never a score. Without an embedding: 0.1 (C9's value); without a
    vector channel: bm25 over the best bm25 (ours).
    """
    if "vector" not in channels:
        return relevances(channels.get("lexical", ()), "max")
    return {item: cosine.get(item, NO_EMBEDDING) for item in union(channels)}


def blend(
    channels: Mapping[str, Hits[Id]],
    bm25: Mapping[Id, float],
    cosine: Mapping[Id, float],
    weight: float = 0.4,
    possible: float | None = None,
) -> dict[Id, float]:
    """Return w bm25 / scale + (1 - w) max(cosine, 0) over both raw scores of all. H2, H3.

    The scale is the best bm25 of the candidates, or √(best · possible) where it is given.
    A missing channel leaves the other its whole weight; a candidate without a word of the question
    has bm25 0, one without an embedding cosine 0.
    """
    candidates = union(channels)
    weight = {(True, False): 1.0, (False, True): 0.0}.get(
        ("lexical" in channels, "vector" in channels), weight
    )
    best = max((bm25.get(item, 0.0) for item in candidates), default=0.0)
    scale = best if possible is None else math.sqrt(best * possible)
    return {
        item: weight * (bm25.get(item, 0.0) / scale if best > 0 else 0.0)
        + (1 - weight) * max(cosine.get(item, 0.0), 0.0)
        for item in candidates
    }


def weighted_mean(
    channels: Mapping[str, Hits[Id]],
    weights: Mapping[str, float],
    normalise: Mapping[str, str],
    low: float = 0.1,
) -> dict[Id, float]:
    """Return the weighted mean of relevances clamped to [0, 1] over what returned anything. O32.

    A channel that returned something, but not the memory, counts 0; one that returned nothing is
    left out. Where none has a weight above 0: 0.
    """
    parts = {name: relevances(hits, normalise[name], low) for name, hits in channels.items()}
    total = sum(weights[name] for name, part in parts.items() if part)
    fused = {}
    for item in union(channels):
        held = [name for name, part in parts.items() if item in part]
        value = sum(weights[name] * clip(parts[name][item], 0.0, 1.0) for name in held)
        fused[item] = value / total if total > 0 else 0.0
    return fused


def weighted_scores(scores: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """Return sum over channels of weight x score, one value a row; the kernel of M4 on arrays."""
    return [
        sum((weight * score for weight, score in zip(weights, row, strict=True)), 0.0)
        for row in zip(*scores, strict=True)
    ]
