"""cognitive-memory, one memory at a time: docs/systems/cognitive.md C1 to C21."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.oracles.ieee import clip, divide, exp, has_nan, not_negative, power
from tests.oracles.records import DAY, Record, idle_days, time_of, value

EPISODIC, SEMANTIC, PROCEDURAL, CORE = range(4)
CATEGORIES = ("episodic", "semantic", "procedural", "core")
BETA_DAYS = (45.0, 120.0, math.inf, 120.0)
BETA_DAYS_0_5 = (45.0, 240.0, math.inf, 120.0)
FLOORS = (0.02, 0.02, 0.02, 0.60)
EXPIRING = {"plan", "transient_state"}


def retention(
    days: float,
    stability: float,
    importance: float,
    category: float,
    model: str = "exponential",
    beta_days: Sequence[float] = BETA_DAYS,
    floors: Sequence[float] = FLOORS,
) -> float:
    """Return R = max(floor, exp(-d / (S' B beta))). C1; ``model="power"``: C2.

    S' = max(stability, 0.01), B = min(1 + 2 importance, 3). No timestamp (NaN): the floor, for
    procedural too; below 0 counts as 0; an endless beta never forgets.
    """
    if has_nan(stability, importance, category, *beta_days, *floors):
        return math.nan
    floor, beta = floors[int(category)], beta_days[int(category)]
    if math.isnan(days):
        return floor
    days = not_negative(days)
    if beta == math.inf or days == 0:
        return max(floor, 1.0)
    span = max(stability, 0.01) * min(1 + 2 * importance, 3.0) * beta
    if days == math.inf and span == math.inf:
        return max(floor, 1.0)  # what never forgets, however long: as an endless beta
    spent = divide(days, span)
    return max(floor, exp(-spent) if model == "exponential" else power(1 + spent, -1.4427))


def initial_stability(importance: float) -> float:
    """Return 0.1 + 0.3 importance. C3."""
    return 0.1 + 0.3 * importance


def retention_score(similarity: float, retention: float, alpha: float = 0.3) -> float:
    """Return similarity x R ** alpha. C6."""
    if has_nan(similarity, retention, alpha):
        return math.nan
    return similarity * power(retention, alpha)


def spacing_factor(days: float) -> float:
    """Return min(2, d / 7); 1 without a timestamp; below 0 counts as 0. C11."""
    return 1.0 if math.isnan(days) else min(2.0, not_negative(days) / 7)


def reinforce_stability(stability: float, days: float, gain: float = 0.1) -> float:
    """Return min(1, S + gain f), f the spacing factor (1 without a timestamp). C11."""
    if has_nan(stability, gain):
        return math.nan
    return min(1.0, stability + gain * spacing_factor(days))


def association_decay(weight: float, days: float, tau_days: float = 90.0) -> float:
    """Return w exp(-days since co-retrieval / tau); without a timestamp the weight. C16."""
    if has_nan(weight, tau_days):
        return math.nan
    return weight if math.isnan(days) else weight * exp(-not_negative(days) / tau_days)


def strengthened_link(decayed_weight: float) -> float:
    """Return min(1, w + 0.1), w as decayed at now. C13."""
    return min(1.0, decayed_weight + 0.1)


def ingest_link(cosine: float) -> float:
    """Return min(0.5, 0.2 + 0.5 (cos - 0.4)) from a cosine of 0.4 on, else no link (0). C17."""
    return min(0.5, 0.2 + 0.5 * (cosine - 0.4)) if cosine >= 0.4 else 0.0


def raised_by_neighbour(stability: float, cosine: float) -> float:
    """Return the stability after a new memory of this cosine came in: + 0.05 above 0.75. C18."""
    return min(1.0, stability + 0.05) if cosine > 0.75 else stability


def summary_quality(size: int) -> float:
    """Return min(3, 1 + 0.3 (size - 5)), never under 1. C21."""
    return max(1.0, min(3.0, 1 + 0.3 * (size - 5)))


def associative_score(cosine: float | None, retention: float, path: Sequence[float]) -> float:
    """Return cosine x R^0.3 x the product of the weights along the path. C9, C10.

    A target without embedding counts cosine 0.1.
    """
    near = 0.1 if cosine is None else cosine
    return retention_score(near, retention) * math.prod(path)


def memory_retention(
    record: Record,
    now: float,
    model: str = "exponential",
    beta_days: Sequence[float] = BETA_DAYS,
    floors: Sequence[float] = FLOORS,
) -> float:
    """Return R of a memory: the better of core and its own category; a stub 0. C1, C12."""
    if value(record, "tier") == "stub":
        return 0.0
    stability, importance = value(record, "stability"), value(record, "importance")
    codes = [CATEGORIES.index(value(record, "category"))] + [CORE] * bool(value(record, "core"))
    days = idle_days(record, now)
    return max(
        retention(days, stability, importance, code, model, beta_days, floors) for code in codes
    )


def is_expired(record: Record, now: float) -> bool:
    """Tell whether a plan or transient state is past valid_until or created + ttl (strict). C7."""
    if value(record, "kind") not in EXPIRING:
        return False
    end, ttl = record.get("valid_until"), record.get("ttl")
    born = time_of(record, now, "created_at")
    return (end is not None and now > end) or (ttl is not None and now > born + ttl)


def is_not_yet_valid(record: Record, now: float) -> bool:
    """Tell whether valid_from lies ahead. C7 (ours)."""
    start = record.get("valid_from")
    return start is not None and start > now


def penalty(record: Record, now: float, *, deep_recall: bool = False, by: float = 0.5) -> float:
    """Return x deep_recall_penalty for superseded, and again for expired, in deep recall. C6, C7."""
    factor = 1.0
    if deep_recall and record.get("superseded_by") is not None:
        factor *= by
    if deep_recall and is_expired(record, now):
        factor *= by
    return factor


def becomes_core(access_count: int, stability: float, sessions: int, needed: int = 3) -> bool:
    """Tell whether a memory is promoted to core. C12 (cognitive-0.5: 2 sessions)."""
    return access_count >= 10 and stability >= 0.85 and sessions >= needed


def to_cold(retention: float, floor: float, days_at_floor: float) -> bool:
    """Tell whether a non-core memory goes cold: within 0.001 of its floor for 7 days. C19."""
    return clip(retention - floor, 0.0, 1.0) <= 0.001 and days_at_floor >= 7


def to_stub(cold_days: float) -> bool:
    """Tell whether a cold memory becomes a stub: 180 days. C20."""
    return cold_days >= 180


def days_since(now: float, time: float) -> float:
    """Return days since a time; one after ``now`` counts as 0."""
    return not_negative((now - time) / DAY)
