"""Every named profile as a plain model: which channels, how they fuse, which factors, in order.

A model scores one memory at a time from its record (a dict, docs/systems/fields.md), the time, and
what the channels found. Names are those of DESIGN.md section 3; the sources stand at each model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles import ciar, cognitive, fusion, house, mnemosyne, omega
from tests.oracles.ieee import as_float32
from tests.oracles.profile_factors import (
    Factors,
    Part,
    bounded_factors,
    ciar_factors,
    cognitive_factors,
    cognitive_keeps,
    house_factors,
    loved,
    mnemosyne_3_factors,
    omega_factors,
    reverie_factors,
    shipped_factors,
)
from tests.oracles.records import Record, value

Channels = Mapping[str, fusion.Hits[Any]]
Raw = Mapping[Any, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A profile in plain Python."""

    depth: Mapping[str, int]
    vector_per_result: int | None = None
    relevance: Callable[[Channels, Raw, Raw, float | None], Mapping[Any, float]]
    """From what the channels found, both raw scores of all, and the bm25 that is possible (H3)."""
    factors: Factors
    has_baseline: bool = False
    """H3: cosines count from what unrelated texts have."""
    own_part: Callable[[Record], float] | None = None
    keeps: Callable[[Record, float], bool] = lambda *_: True
    judged: Callable[[float, Record], float] = lambda relevance, _: relevance
    """A relevance, once the memory's text is looked at: H9."""
    has_cluster: bool = False
    abstains: str = ""
    """"weak_best" (H7), or "surfacing", which leaves out duplicates, too (O26, O27)."""
    puts_newer_first: bool = False
    """H12: of two results that conflict the newer leads."""
    has_text_relevance: bool = False
    """O3: the text channel ranks by its own relevance, and not by BM25."""
    has_gate: bool = False
    """M8: what shares too few of the query's words, and is not near to it either, leaves."""
    expiring: Collection[str] = ()
    """C7: the kinds that expire; none: every kind does."""
    pairs: float = 0.0
    """H14: the share of a text's pairs that is added to its bm25."""
    reads_overlap: bool = False
    """O18: the records are ranked with the share of the query's words they hold."""

    def near(self, channels: Channels, cosine: Raw) -> Raw:
        """Return the cosines of all as the relevance counts them, where channels found candidates."""
        if not self.has_baseline:
            return cosine
        found = {item for hits in channels.values() for item, _ in hits}
        known = (cosine[item] for item in found if item in cosine)
        base = house.baseline(known) if "vector" in channels else 0.0
        return {item: house.above(value, base) for item, value in cosine.items()}

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
    possible: float | None = None,
) -> list[Scored]:
    """Return the best k: higher score first, then the earlier in ``records``; NaN never."""
    place = {item: row for row, item in enumerate(records)}
    found = model.relevance(channels, bm25, model.near(channels, cosine), possible)
    own = model.own_part or (lambda _: 0.0)
    relevance = {
        item: model.judged(value + own(records[item]), records[item])
        for item, value in found.items()
    }
    best = max(relevance.values(), default=0.0)
    scored = []
    all_parts = {
        item: model.factors(records[item], now, value_of, best)
        for item, value_of in relevance.items()
        if model.keeps(records[item], now)
    }
    if model.has_cluster:
        all_parts = clustered(all_parts, relevance, records)
    for item, parts in all_parts.items():
        value_of = relevance[item]
        score = folded(value_of, parts)
        if not math.isnan(score):
            scored.append(Scored(item, value_of, parts, score))
    return sorted(scored, key=lambda one: (-one.score, place[one.id]))[:k]


def clustered(
    all_parts: Mapping[Any, tuple[Part, ...]], relevance: Raw, records: Mapping[Any, Record]
) -> dict[Any, tuple[Part, ...]]:
    """Return O21: the cosine to the mean embedding of the ten best by the factors before it."""
    place = {item: row for row, item in enumerate(records)}
    before = {}
    for item, parts in all_parts.items():
        (at,) = (number for number, part in enumerate(parts) if part.name == "cluster")
        before[item] = folded(relevance[item], parts[:at])
    ten = sorted(before, key=lambda item: (-before[item], place[item]))[:10]
    units = [unit(records[item]["embedding"]) for item in ten if "embedding" in records[item]]
    centre = [math.fsum(column) for column in zip(*units, strict=True)]
    found = {}
    for item, parts in all_parts.items():
        cosine = 0.0
        if any(centre) and "embedding" in records[item]:
            pairs = zip(unit(records[item]["embedding"]), unit(centre), strict=True)
            cosine = math.fsum(mine * theirs for mine, theirs in pairs)
        found[item] = tuple(
            Part("cluster", omega.cluster_boost(cosine)) if part.name == "cluster" else part
            for part in parts
        )
    return found


def unit(vector: Sequence[float]) -> list[float]:
    """Return the vector of length 1 in the same direction."""
    length = math.hypot(*vector)
    return [number / length for number in vector]


def rescored(model: Model, record: Record, now: float) -> Scored:
    """Return the score without a query: relevance 1 (Mnemosyne: vector and text 1)."""
    relevance = 1.0
    if model.own_part is not None:
        relevance = mnemosyne.VECTOR + mnemosyne.TEXT + model.own_part(record)
    parts = model.factors(record, now, relevance, relevance)
    return Scored(record.get("id"), relevance, parts, folded(relevance, parts))


def both(channels: Channels) -> Channels:
    """Return the channels in the order lexical, vector."""
    return {name: channels[name] for name in ("lexical", "vector") if name in channels}


def by_rrf(k: float, normalise: str = "none") -> Callable[[Channels, Raw, Raw, float | None], Raw]:
    """R3, A10, O7 with all weights 1 but the temporal channel's 1.2."""
    weights = omega.channel_weights() if normalise == "channel" else None
    return lambda channels, *_: fusion.reciprocal_rank(both(channels), weights, k, normalise)


def by_mnemosyne(channels: Channels, *_: Raw | float | None) -> dict[Hashable, float]:
    """M1, M2, M4: half the cosine, 0.3 of the words; importance is the memory's own part."""
    order = {name: channels[name] for name in ("vector", "lexical") if name in channels}
    weights = {"vector": mnemosyne.VECTOR, "lexical": mnemosyne.TEXT}
    return fusion.weighted_sum(order, weights, {"vector": "clamp", "lexical": "max"})


def by_bounded(channels: Channels, *_: Raw | float | None) -> dict[Hashable, float]:
    """O32 over O3's normalised words and the cosine clamped to [0, 1]."""
    normalise = {"lexical": "clamp", "vector": "clamp"}
    return fusion.weighted_mean(both(channels), omega.channel_weights(), normalise)


def by_house(
    channels: Channels, bm25: Raw, cosine: Raw, possible: float | None
) -> dict[Hashable, float]:
    """H3 as the profile has it: w = 0.55, by coverage."""
    return fusion.blend(channels, bm25, cosine, 0.55, possible)


def importance_part(record: Record) -> float:
    """M4: 0.2 importance."""
    return float(mnemosyne.IMPORTANCE * value(record, "importance"))


def house_judged(relevance: float, record: Record) -> float:
    """H9, ``asks`` as a float32."""
    return house.as_statement(relevance, as_float32(house.asking_share(record["text"])))


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
        relevance=lambda channels, _, cosine, *__: fusion.retention_weighted_union(
            channels, cosine
        ),
        factors=cognitive_factors(beta_days),
        keeps=cognitive_keeps,
        expiring=cognitive.EXPIRING,
    )


MODELS: dict[str, Model] = {
    "oneiros": Model(
        depth=HUNDRED,
        relevance=by_house,
        has_baseline=True,
        judged=house_judged,
        pairs=0.15,
        puts_newer_first=True,
        factors=house_factors,
        keeps=loved,
        abstains="weak_best",
    ),
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
        has_gate=True,
    ),
    "omega": Model(
        depth=HUNDRED,
        relevance=by_rrf(60.0, "channel"),
        factors=omega_factors,
        keeps=loved,
        has_cluster=True,
        abstains="surfacing",
        has_text_relevance=True,
        reads_overlap=True,
    ),
    "omega-bounded": Model(
        depth=HUNDRED,
        relevance=by_bounded,
        factors=bounded_factors,
        keeps=loved,
        abstains="surfacing",
        has_text_relevance=True,
    ),
    "ciar": ciar_model(*ciar.PRESETS["personal_assistant"][:2]),
    "ciar-shipped": Model(depth=HUNDRED, relevance=by_rrf(60.0), factors=shipped_factors),
}
PRESETS = {name: ciar_model(rate, gain) for name, (rate, gain, _) in ciar.PRESETS.items()}
