"""The factors of every named profile in their order, under the names of DESIGN.md section 3.

A function takes (record, now, relevance, best relevance of the search); sources stand at each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.oracles import ciar, cognitive, house, mnemosyne, omega, reverie
from tests.oracles.records import Record, age_days, idle_days, value


@dataclass(frozen=True, slots=True)
class Part:
    """One factor's value, how it joins the score, and what retention_score multiplies."""

    name: str
    value: float
    operation: str = "multiply"
    base: float | None = None  # None: the value itself

    def joined(self, score: float) -> float:
        """Return the score after this factor."""
        return score * self.value if self.operation == "multiply" else score + self.value


Factors = Callable[[Record, float, float, float], tuple[Part, ...]]
"""(record, now, relevance, best relevance) -> the factors in their order."""


def reverie_factors(cap: float) -> Factors:
    """R4 to R8; R7's cap."""

    def factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
        decay = reverie.time_decay_boost(age_days(record, now, "updated_at", "created_at"))
        idle, stability = idle_days(record, now), value(record, "stability")
        return (
            Part("time_decay", decay),
            Part("strength", value(record, "strength")),
            Part("depth", reverie.depth_weight(value(record, "depth"))),
            Part("spread", reverie.spread_weight(value(record, "session_spread"), cap)),
            Part("stability", reverie.stability_boost(idle, stability)),
        )

    return factors


def cognitive_factors(beta_days: Sequence[float]) -> Factors:
    """C1, C6: R ** 0.3; retention_score is R itself."""

    def factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
        retention = cognitive.memory_retention(record, now, beta_days=beta_days)
        return (Part("retention", cognitive.retention_score(1.0, retention), base=retention),)

    return factors


def cognitive_keeps(record: Record, now: float) -> bool:
    """C7: what is no longer, or not yet, valid leaves before the cut; C4: superseded too."""
    is_valid = not (cognitive.is_expired(record, now) or cognitive.is_not_yet_valid(record, now))
    return is_valid and record.get("superseded_by") is None


def mnemosyne_3_factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
    """M8: M5 with the Weibull retention of the kind for its exponential; tiers; veracity."""
    return (
        Part("recency", mnemosyne.weibull_recency(record, now)),
        Part("tier", mnemosyne.tier(age_days(record, now, "created_at"))),
        Part("veracity", mnemosyne.VERACITY[value(record, "veracity")]),
    )


def omega_factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
    """O11 to O22, the query factors but the overlap at their neutral 1.

    The record holds the share of the query's words under "word_ratio", where there is a query.
    """
    quality = value(record, "consolidation_quality")
    overlap = omega.overlap_boost(record.get("word_ratio", 0.0), value(record, "feedback"), 1.0)
    return (
        Part("kind", omega.kind_weight(value(record, "kind"))),
        Part("feedback", omega.feedback_factor(value(record, "feedback"))),
        Part("priority", omega.priority_factor(value(record, "priority"))),
        Part("decay", omega.decay_of(record, now)),
        Part("thompson", 1.0),
        Part("consolidation", omega.consolidation_boost(quality)),
        Part("overlap", overlap),
        *(Part(name, 1.0) for name in ("preference", "context", "cluster", "temporal")),
        Part("rerank", 1.0),
    )


def loved(record: Record, now: float) -> bool:
    """O12 (H6 takes all of it): feedback of -3 and less leaves all results."""
    del now
    return not omega.leaves(value(record, "feedback"))


def bounded_factors(record: Record, now: float, relevance: float, best: float) -> tuple[Part, ...]:
    """O32: small bonuses near the best, a bonus of youth for all; both are added."""
    bonus = omega.near_best_bonus(
        value(record, "priority"),
        value(record, "access_count"),
        value(record, "consolidation_quality"),
    )
    youth = omega.age_bonus(age_days(record, now, "created_at"))
    near = omega.is_near_best(relevance, best)
    return (Part("tie_break", bonus if near else 0.0, "add"), Part("freshness", youth, "add"))


def ciar_factors(rate: float, reinforcement: float) -> Factors:
    """A1, unclamped (A10)."""

    def factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
        accesses = value(record, "access_count")
        return (
            Part("significance", ciar.significance_of(record)),
            Part("decay", ciar.decay(ciar.age_of(record, now), rate)),
            Part("reinforcement", ciar.reinforced(accesses, reinforcement)),
        )

    return factors


def shipped_factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
    """A12."""
    return (
        Part("significance", ciar.significance_of(record)),
        Part("decay", ciar.shipped_decay(ciar.age_of(record, now))),
        Part("reinforcement", ciar.shipped_reinforcement(value(record, "access_count"))),
    )


def house_factors(record: Record, now: float, *_: float) -> tuple[Part, ...]:
    """H6: each damped by its own; retention_score multiplies the undamped ones. H11: trust.

    No verdict has a question, so the last factor is 1. H19.
    """
    undamped = {
        "recency": house.recency(record, now),
        "strength": value(record, "strength"),
        "feedback": house.plain_feedback(value(record, "feedback")),
        "priority": omega.priority_factor(value(record, "priority")),
    }
    amounts = {"feedback": 0.4}
    damped = [
        Part(name, house.damp(base, amounts.get(name, house.AMOUNT)), base=base)
        for name, base in undamped.items()
    ]
    return (*damped, Part("trust", value(record, "trust")), Part("question_feedback", 1.0))
