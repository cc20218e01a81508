"""CIAR, one fact at a time: docs/systems/ciar.md A1 to A12."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.oracles.ieee import clip, exp, has_nan, log1p, not_negative
from tests.oracles.records import Record, age_days, value

PRESETS = {  # rate, reinforcement, threshold. A8
    "customer_service": (0.1, 0.05, 0.7),
    "research_assistant": (0.01, 0.2, 0.5),
    "personal_assistant": (0.0231, 0.1, 0.6),
    "real_time_monitoring": (0.5, 0.01, 0.8),
    "knowledge_base": (0.005, 0.3, 0.4),
}


def decay(age_days: float, rate: float = 0.0231) -> float:
    """Return exp(-rate x days since creation). A1. NaN stays NaN (the rest of the README's rule)."""
    return math.nan if has_nan(age_days, rate) else exp(-rate * not_negative(age_days))


def reinforced(access_count: float, reinforcement: float = 0.1) -> float:
    """Return 1 + reinforcement x access_count. A1."""
    return 1 + reinforcement * access_count


def ciar(
    certainty: float,
    impact: float,
    age_days: float,
    access_count: float,
    rate: float = 0.0231,
    reinforcement: float = 0.1,
    clamp: bool = True,
) -> float:
    """Return certainty x impact x decay x reinforcement. A1; clamped to [0, 1]: A2; veto: A3."""
    if has_nan(certainty, impact, age_days, access_count, rate, reinforcement):
        return math.nan
    left = certainty * impact * decay(age_days, rate)
    if left == 0:  # A3: however often it was accessed; a veto, or nothing left after an age
        return 0.0
    raw = left * reinforced(access_count, reinforcement)
    return clip(raw, 0.0, 1.0) if clamp else raw


def ciar_shipped(certainty: float, impact: float, age_days: float, access_count: float) -> float:
    """Return base x max(0.1, exp(-0.1 min(d, 30))) x (1 + min(0.3, 0.05 ln(1 + n))). A12."""
    return certainty * impact * shipped_decay(age_days) * shipped_reinforcement(access_count)


def shipped_decay(age_days: float) -> float:
    """Return max(0.1, exp(-0.1 min(days, 30))). A12."""
    if math.isnan(age_days):
        return math.nan
    return max(0.1, exp(-0.1 * min(not_negative(age_days), 30.0)))


def shipped_reinforcement(access_count: float) -> float:
    """Return 1 + min(0.3, 0.05 ln(1 + accesses)). A12."""
    return math.nan if math.isnan(access_count) else 1 + min(0.3, 0.05 * log1p(access_count))


def should_promote(score: float, threshold: float = 0.6) -> bool:
    """Tell whether a score reaches the threshold. A4."""
    return score >= threshold


def half_life_days(rate: float = 0.0231) -> float:
    """Return ln 2 / rate. A7."""
    return math.log(2) / rate


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of one score. A5."""

    certainty: float
    impact: float
    base_significance: float
    time_decay: float
    reinforcement: float
    total_score: float


def components(
    certainty: float,
    impact: float,
    age_days: float,
    access_count: float,
    rate: float = 0.0231,
    reinforcement: float = 0.1,
) -> Components:
    """Return the parts of one score, the total clamped for storage. A5, A2."""
    return Components(
        certainty,
        impact,
        certainty * impact,
        decay(age_days, rate),
        reinforced(access_count, reinforcement),
        ciar(certainty, impact, age_days, access_count, rate, reinforcement),
    )


def significance_of(record: Record) -> float:
    """Return certainty x impact of a memory. A1."""
    return float(value(record, "certainty") * value(record, "impact"))


def age_of(record: Record, now: float) -> float:
    """Return days since creation. A1."""
    return age_days(record, now, "created_at")
