"""Reverie, one memory at a time: docs/systems/reverie.md R3 to R20."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.oracles.fusion import rrf
from tests.oracles.ieee import as_float32, clip, divide, exp, has_nan, log1p, not_negative
from tests.oracles.kinds import entry

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


def age_days(now: float, time: float | None) -> float:
    """Return the age in days, NaN without a time; docs/systems/README.md, NaN and "age" clocks.

    A time after ``now`` counts as age 0.
    """
    if time is None or math.isnan(time):
        return math.nan
    return not_negative((now - time) / DAY)


def time_decay_boost(age_days: float, boost: float = 0.3, tau_days: float = 30.0) -> float:
    """Return 1 + boost exp(-age_days / tau). R4. NaN age (no timestamp): 1; below 0: age 0."""
    if has_nan(boost, tau_days):
        return math.nan
    if math.isnan(age_days):
        return 1.0
    return 1.0 + boost * exp(-not_negative(age_days) / tau_days)


def depth_weight(depth: float, table: Sequence[float] = (0.8, 1.0, 1.2)) -> float:
    """Return the weight of a depth of 1, 2 or 3. R6."""
    return math.nan if math.isnan(depth) else {1: table[0], 2: table[1], 3: table[2]}[int(depth)]


def spread_weight(session_spread: float, cap: float = math.inf) -> float:
    """Return ln(1 + session_spread) / ln 2, at most ``cap``. R7 (published: no cap)."""
    if has_nan(session_spread, cap):
        return math.nan
    return min(log1p(session_spread) / math.log(2), cap)


def stability_boost(
    age_days: float, stability: float, tau_days: float = 30.0, low: float = 0.1, high: float = 3.0
) -> float:
    """Return exp((t / tau)(1 - 1/S)) clamped to [low, high]. R8.

    S <= 0 gives ``low``; NaN age (no timestamp) 1; below 0 counts as 0; S = 1 gives 1 for every t.
    """
    if has_nan(stability, tau_days, low, high):
        return math.nan
    if math.isnan(age_days):
        return 1.0
    if stability <= 0:
        return low
    spans = not_negative(age_days) / tau_days
    if stability == 1 or spans == 0:
        return clip(1.0, low, high)  # where t or 1/S is infinite, 0 x inf would be NaN
    if 0.5 <= stability <= 2:  # in floats, what 1/S is rounded by could be all of the difference
        growth = float(1 - 1 / Fraction(stability))
    else:
        growth = 1 - divide(1, stability)
    return clip(exp(spans * growth), low, high)


def replay_delta(peer_count: float, age_hours: float, max_delta: float = 0.1) -> float:
    """Return clamp(max_delta / (1 + max(age_h, 0)) x ln(1 + peers), 0, max_delta). R11, R17."""
    if has_nan(peer_count, age_hours, max_delta):
        return math.nan
    recency = 1 / (1 + not_negative(age_hours))
    return clip(max_delta * recency * log1p(peer_count), 0.0, max_delta)


def scan_priority(
    age_hours: float,
    uses: float,
    importance: float,
    overlap: float,
    half_life_hours: float = 168.0,
    access_floor: float = 0.1,
) -> float:
    """Return recency x access x importance x novelty of a staged memory. R10.

    ``uses`` are revisions and duplicates, ``overlap`` the largest word Jaccard.
    """
    if has_nan(age_hours, uses, importance, overlap, half_life_hours, access_floor):
        return math.nan
    recency = math.exp2(-not_negative(age_hours) / half_life_hours)
    return recency * max(access_floor, log1p(uses)) * importance * (1 - overlap)


def downscale(strength: float, rate: float = 0.95, floor: float = 0.01) -> float:
    """Return strength x rate, floor ``floor``; below it strength stays. R12."""
    if has_nan(strength, rate, floor):
        return math.nan
    return max(strength * rate, min(strength, floor))


STALENESS_LIMIT_DAYS = {
    "session": 30,
    "bug": 60,
    "config": 90,
    "decision": 180,
    **dict.fromkeys(("reference", "heuristic", "directive", "preference"), math.inf),
}
SIGNAL_WEIGHT = {
    "directive": 1.5, "preference": 1.3, "decision": 1.2, "heuristic": 1.1, "session": 0.7,
}  # fmt: skip


def limit_days(kind: str) -> float:
    """Return after how many days without use a memory of this kind is stale. R13."""
    return entry(STALENESS_LIMIT_DAYS, kind, 180)


def staleness(idle_days: float, limit_days: float) -> float:
    """Return days since access (creation if never) over the limit of its kind; never stale: 0. R13."""
    if has_nan(idle_days, limit_days):
        return math.nan
    return 0.0 if limit_days == math.inf else not_negative(idle_days) / limit_days


def signal(
    access_count: float, age_days: float, revision_count: float, weight: float = 1.0
) -> float:
    """Return accesses a day since creation x (1 + revisions) x kind weight; of none of it 0. R16."""
    if has_nan(access_count, age_days, revision_count, weight):
        return math.nan
    uses = access_count * (1 + revision_count) * weight
    return divide(uses, not_negative(age_days)) if uses else 0.0


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
