"""Reverie, one memory at a time: docs/systems/reverie.md R3 to R9, R17, R20."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

DAY = 86_400.0
COUNTER_LIMIT = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What Reverie reads of a memory, with the defaults of docs/systems/fields.md."""

    created_at: float
    updated_at: float | None = None
    last_accessed_at: float | None = None
    strength: float = 1.0
    depth: int = 2
    stability: float = 1.0
    sessions: frozenset[str] = field(default_factory=frozenset)
    session_spread: int = 1
    access_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One result: fused x factors, multiplied in order, is the score (R3 to R8)."""

    id: Hashable
    fused: float
    factors: tuple[tuple[str, float], ...]
    score: float


def as_float32(value: float) -> float:
    """Return what a float32 column keeps of a value: docs/systems/fields.md, type float32."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def age_days(now: float, time: float | None) -> float:
    """Return the age in days, NaN without a time; docs/systems/README.md, NaN and "age" clocks.

    A time after ``now`` counts as age 0.
    """
    if time is None or math.isnan(time):
        return math.nan
    return not_negative((now - time) / DAY)


def not_negative(age: float) -> float:
    """Return 0 for an age below 0; NaN stays NaN. docs/systems/README.md, "age" clocks."""
    return 0.0 if age < 0 else age


def rrf(
    rankings: Sequence[Sequence[Hashable]],
    k: float = 60.0,
    weights: Sequence[float] | None = None,
    normalise: str = "none",
) -> list[tuple[Hashable, float]]:
    """Return (id, score), best first: sum of weight / (k + rank), rank from 1. R3, O7.

    An id repeated within one list keeps its best rank. ``normalise="channel"`` divides each channel
    by its best before the weights, and the sums by the best sum (O7). Ties: by first appearance.
    """
    weights = [1.0] * len(rankings) if weights is None else weights
    sums: dict[Hashable, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        channel: dict[Hashable, float] = {}
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


def time_decay_boost(age: float, boost: float = 0.3, tau_days: float = 30.0) -> float:
    """Return 1 + boost exp(-age_days / tau). R4. NaN age (no timestamp): 1; below 0: age 0."""
    if math.isnan(boost) or math.isnan(tau_days):
        return math.nan
    if math.isnan(age):
        return 1.0
    return 1.0 + boost * math.exp(-not_negative(age) / tau_days)


def depth_weight(depth: int, table: Sequence[float] = (0.8, 1.0, 1.2)) -> float:
    """Return the weight of a depth of 1, 2 or 3. R6."""
    return {1: table[0], 2: table[1], 3: table[2]}[depth]


def spread_weight(session_spread: float, cap: float = math.inf) -> float:
    """Return ln(1 + session_spread) / ln 2, at most ``cap``. R7 (published: no cap)."""
    if math.isnan(session_spread) or math.isnan(cap):
        return math.nan
    return min(math.log(1 + session_spread) / math.log(2), cap)


def stability_boost(
    age: float, stability: float, tau_days: float = 30.0, low: float = 0.1, high: float = 3.0
) -> float:
    """Return exp((t / tau)(1 - 1/S)) clamped to [low, high]. R8.

    S <= 0 gives ``low``; NaN age (no timestamp) 1; below 0 counts as 0; S = 1 gives 1 for every t.
    """
    if math.isnan(stability) or math.isnan(tau_days):
        return math.nan
    if math.isnan(age):
        return 1.0
    if stability <= 0:
        return low
    if stability == 1 or age <= 0:
        return min(max(1.0, low), high)  # where t or 1/S is infinite, 0 x inf would be NaN
    exponent = age / tau_days * (1 - 1 / stability)
    return min(max(math.exp(min(exponent, 700.0)), low), high)  # exp overflows above 709


def replay_delta(peer_count: float, age_hours: float, max_delta: float = 0.1) -> float:
    """Return clamp(max_delta / (1 + max(age_h, 0)) x ln(1 + peers), 0, max_delta). R11, R17."""
    if any(math.isnan(value) for value in (peer_count, age_hours, max_delta)):
        return math.nan
    raw = max_delta * (1 / (1 + not_negative(age_hours))) * math.log(1 + peer_count)
    return min(max(raw, 0.0), max_delta)


def factors_of(life: Life, now: float, *, lifecycle: bool = True) -> tuple[tuple[str, float], ...]:
    """Return the factors in the order of the table: R4, then R5 to R8 if ``lifecycle`` (R9)."""
    updated = life.created_at if life.updated_at is None else life.updated_at
    used = life.created_at if life.last_accessed_at is None else life.last_accessed_at
    live = (("time_decay", time_decay_boost(age_days(now, updated))),)
    if not lifecycle:
        return live
    stability = stability_boost(age_days(now, used), as_float32(life.stability))
    return (
        *live,
        ("strength", as_float32(life.strength)),
        ("depth", depth_weight(life.depth)),
        ("spread", spread_weight(life.session_spread)),
        ("stability", stability),
    )


def rank(
    memories: Mapping[Any, Life],
    rankings: Sequence[Sequence[Hashable]],
    now: float,
    k: int,
    *,
    lifecycle: bool = True,
) -> list[Ranked]:
    """Return the best ``k`` of R3 to R9; ``memories`` is in order of insertion, which breaks ties.

    ``rankings`` are the ids of each channel (R1, R2), best first. Ties: docs/systems/reverie.md
    takes the rule of the house, higher score first, then the earlier insertion.
    """
    place = {item: row for row, item in enumerate(memories)}
    results = []
    for item, fused in rrf(rankings, k=30.0):
        factors = factors_of(memories[item], now, lifecycle=lifecycle)
        score = fused
        for _, factor in factors:
            score *= factor
        results.append(Ranked(id=item, fused=fused, factors=factors, score=score))
    return sorted(results, key=lambda one: (-one.score, place[one.id]))[:k]


def reinforce(life: Life, now: float, session: str | None = None) -> Life:
    """Return the memory after it was returned by a search at ``now``. R20."""
    used = life.created_at if life.last_accessed_at is None else life.last_accessed_at
    days = age_days(now, used)
    sessions = life.sessions if session is None else life.sessions | {session}
    return replace(
        life,
        access_count=min(life.access_count + 1, COUNTER_LIMIT),
        last_accessed_at=now,
        sessions=sessions,
        session_spread=max(1, len(sessions)),
        stability=as_float32(
            min(10.0, as_float32(life.stability) * (1 + 0.1 * min(2.0, days / 7.0)))
        ),
    )
