"""Every named profile as a plain model: which channels, how they fuse, which factors, in order.

A model scores one memory at a time from its record (a dict, docs/systems/fields.md), the time, and
what the channels found. Names are those of DESIGN.md section 3; the sources stand at each model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles import ciar, cognitive, fusion, house, mnemosyne, omega, reverie
from tests.oracles.records import Record, age_days, idle_days, value

Channels = Mapping[str, fusion.Hits[Any]]
Raw = Mapping[Any, float]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A profile in plain Python."""

    depth: Mapping[str, int]
    vector_per_result: int | None = None
    relevance: Callable[[Channels, Raw, Raw], Mapping[Any, float]]
    factors: Factors
    own_part: Callable[[Record], float] = lambda _: 0.0
    keeps: Callable[[Record, float], bool] = lambda *_: True

    def vector_depth(self, k: int) -> int:
        """Return how many the vector channel gives for k results. C4: 3k."""
        if self.vector_per_result is not None:
            return self.vector_per_result * k
        return self.depth["vector"]


@dataclass(frozen=True, slots=True)
class Scored:
    """One memory with its score: relevance, then each factor in order."""

    id: Any
    relevance: float
    factors: tuple[Part, ...]
    score: float


def folded(relevance: float, parts: Sequence[Part]) -> float:
    """Return the score: relevance, then * or + each factor, in order."""
    score = relevance
    for part in parts:
        score = part.joined(score)
    return score


def rank(
    model: Model,
    records: Mapping[Any, Record],
    now: float,
    k: int,
    channels: Channels,
    bm25: Raw,
    cosine: Raw,
) -> list[Scored]:
    """Return the best k: higher score first, then the earlier in ``records``; NaN never."""
    place = {item: row for row, item in enumerate(records)}
    found = model.relevance(channels, bm25, cosine)
    relevance = {item: value + model.own_part(records[item]) for item, value in found.items()}
    best = max(relevance.values(), default=0.0)
    scored = []
    for item, value_of in relevance.items():
        if not model.keeps(records[item], now):
            continue
        parts = model.factors(records[item], now, value_of, best)
        score = folded(value_of, parts)
        if not math.isnan(score):
            scored.append(Scored(item, value_of, parts, score))
    return sorted(scored, key=lambda one: (-one.score, place[one.id]))[:k]


def rescored(model: Model, record: Record, now: float) -> Scored:
    """Return the score without a query: relevance 1 (Mnemosyne: vector and text 1)."""
    own = model.own_part(record)
    relevance = 1.0 if own == 0.0 else mnemosyne.VECTOR + mnemosyne.TEXT + own
    parts = model.factors(record, now, relevance, relevance)
    return Scored(record.get("id"), relevance, parts, folded(relevance, parts))


def both(channels: Channels) -> Channels:
    """Return the channels in the order lexical, vector."""
    return {name: channels[name] for name in ("lexical", "vector") if name in channels}


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
    """O11 to O22, the query factors at their neutral 1."""
    quality = value(record, "consolidation_quality")
    return (
        Part("kind", omega.kind_weight(value(record, "kind"))),
        Part("feedback", omega.feedback_factor(value(record, "feedback"))),
        Part("priority", omega.priority_factor(value(record, "priority"))),
        Part("decay", omega.decay_of(record, now)),
        Part("thompson", 1.0),
        Part("consolidation", omega.consolidation_boost(quality)),
        *(Part(name, 1.0) for name in ("overlap", "preference", "context", "cluster", "temporal")),
        Part("rerank", 1.0),
    )


def omega_keeps(record: Record, now: float) -> bool:
    """O12, O23: unloved, expired, superseded and infrastructure leave all results."""
    del now
    return not omega.leaves(value(record, "feedback")) and record.get("superseded_by") is None


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
    """H6: each factor damped by 0.15; retention_score multiplies the undamped ones."""
    spread = reverie.spread_weight(value(record, "session_spread"), house.SPREAD_CAP)
    undamped = {
        "recency": house.recency(record, now),
        "strength": value(record, "strength"),
        "spread": spread,
        "feedback": omega.feedback_factor(value(record, "feedback")),
        "priority": omega.priority_factor(value(record, "priority")),
    }
    return tuple(Part(name, house.damp(base), base=base) for name, base in undamped.items())


def by_rrf(k: float, normalise: str = "none") -> Callable[[Channels, Raw, Raw], Raw]:
    """R3, A10, O7 with all weights 1 but the temporal channel's 1.2."""
    weights = omega.channel_weights() if normalise == "channel" else None
    return lambda channels, *_: fusion.reciprocal_rank(both(channels), weights, k, normalise)


def by_mnemosyne(channels: Channels, *_: Raw) -> dict[Hashable, float]:
    """M1, M2, M4: half the cosine, 0.3 of the words; importance is the memory's own part."""
    order = {name: channels[name] for name in ("vector", "lexical") if name in channels}
    weights = {"vector": mnemosyne.VECTOR, "lexical": mnemosyne.TEXT}
    return fusion.weighted_sum(order, weights, {"vector": "clamp", "lexical": "max"})


def by_bounded(channels: Channels, *_: Raw) -> dict[Hashable, float]:
    """O32 over O3's normalised words and the cosine clamped to [0, 1]."""
    normalise = {"lexical": "minmax_floor", "vector": "clamp"}
    return fusion.weighted_mean(both(channels), omega.channel_weights(), normalise)


def importance_part(record: Record) -> float:
    """M4: 0.2 importance."""
    return float(mnemosyne.IMPORTANCE * value(record, "importance"))


HUNDRED = {"lexical": 100, "vector": 100}  # R1, R2, H1


def ciar_model(rate: float, reinforcement: float) -> Model:
    """A10: RRF of k 60 x CIAR, unclamped."""
    factors = ciar_factors(rate, reinforcement)
    return Model(depth=HUNDRED, relevance=by_rrf(60.0), factors=factors)


def cognitive_model(beta_days: Sequence[float]) -> Model:
    """C4 to C7."""
    return Model(
        depth={"lexical": 30},
        vector_per_result=3,
        relevance=lambda channels, _, cosine: fusion.retention_weighted_union(channels, cosine),
        factors=cognitive_factors(beta_days),
        keeps=cognitive_keeps,
    )


MODELS: dict[str, Model] = {
    "oneiros": Model(depth=HUNDRED, relevance=fusion.blend, factors=house_factors),
    "reverie": Model(depth=HUNDRED, relevance=by_rrf(30.0), factors=reverie_factors(math.inf)),
    "reverie-capped": Model(depth=HUNDRED, relevance=by_rrf(30.0), factors=reverie_factors(3.0)),
    "cognitive": cognitive_model(cognitive.BETA_DAYS),
    "cognitive-0.5": cognitive_model(cognitive.BETA_DAYS_0_5),
    "mnemosyne": Model(
        depth=HUNDRED,
        relevance=by_mnemosyne,
        factors=lambda record, now, *_: (Part("recency", mnemosyne.recency(record, now)),),
        own_part=importance_part,
    ),
    "mnemosyne-3": Model(
        depth=HUNDRED,
        relevance=by_mnemosyne,
        factors=mnemosyne_3_factors,
        own_part=importance_part,
    ),
    "omega": Model(
        depth=HUNDRED,
        relevance=by_rrf(60.0, "channel"),
        factors=omega_factors,
        keeps=omega_keeps,
    ),
    "omega-bounded": Model(depth=HUNDRED, relevance=by_bounded, factors=bounded_factors),
    "ciar": ciar_model(*ciar.PRESETS["personal_assistant"][:2]),
    "ciar-shipped": Model(depth=HUNDRED, relevance=by_rrf(60.0), factors=shipped_factors),
}
PRESETS = {name: ciar_model(rate, gain) for name, (rate, gain, _) in ciar.PRESETS.items()}
