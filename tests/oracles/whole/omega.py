"""OMEGA's search as far as its scores: channels, fusion and multipliers, O2 to O23 and O32."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracles import fusion, omega, texts
from tests.oracles.finishing import cosine_of
from tests.oracles.omega_tables import HIDDEN_KINDS, TEMPORAL_WEIGHT
from tests.oracles.profile_factors import Part, bounded_factors
from tests.oracles.profiles import folded
from tests.oracles.records import time_of, value
from tests.oracles.whole.asked import Understood
from tests.oracles.whole.asking import Question, is_visible
from tests.oracles.whole.doubt import ordered, reaches
from tests.oracles.whole.finding import bm25f, cosines, first, in_time, unit
from tests.oracles.whole.scoring import penalty
from tests.oracles.whole.world import World

__all__ = ["OmegaSearch"]

DEPTH = 100
CLUSTER = 10  # O21
HOT = 50  # O1


@dataclass
class OmegaSearch:
    """What one question finds in a world under OMEGA, step by step."""

    world: World
    question: Question
    says: Understood
    is_bounded: bool
    hides_kinds: bool
    """O23's kinds of infrastructure."""
    skips: frozenset[str] = frozenset()
    """O5: multipliers that have no part in it."""
    shown: list[str] = field(init=False)
    cosine: dict[str, float] = field(init=False)
    channels: dict[str, list[tuple[str, float]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        records, asked = self.world.records, self.question
        self.shown = [id for id, one in records.items() if self.may_show(one)]
        self.cosine = {} if asked.vector is None else cosines(records, asked.vector)
        self.channels["lexical"] = self._text_hits()
        holds_vectors = any("embedding" in records[id] for id in self.world.live())
        if asked.vector is not None and holds_vectors and not self.says.is_navigational:
            self.channels["vector"] = self._near_hits()
        if asked.date_range is not None:
            near = in_time(records, asked.now, *asked.date_range)
            self.channels["temporal"] = first(near, self.shown, self.world.place, DEPTH)

    def may_show(self, record: Mapping[str, Any]) -> bool:
        """O23: what may come back at all."""
        asks_kind = any(name == "kind" for name, _ in self.question.wanted)
        hidden = self.hides_kinds and not asks_kind and value(record, "kind") in HIDDEN_KINDS
        return is_visible(record, self.question) and not hidden

    def _text_hits(self) -> list[tuple[str, float]]:
        """O3: the order is that of the relevance."""
        place, words = self.world.place, self.question.words
        hits = first(bm25f(self.world.records, words, 1.2, 0.75), self.shown, place, DEPTH)
        held = [texts.word_ratio(words, self.world.records[id]["text"]) for id, _ in hits]
        relevance = omega.text_relevance([score for _, score in hits], held)
        told = {id: score for (id, _), score in zip(hits, relevance, strict=True)}
        return first(told, self.shown, place, DEPTH)

    def _near_hits(self) -> list[tuple[str, float]]:
        """O2: what is at least as near as the situation asks."""
        least = self.says.vector_minimum
        near = {
            id: score for id, score in self.cosine.items() if least is None or reaches(score, least)
        }
        return first(near, self.shown, self.world.place, DEPTH)

    def relevance(self) -> dict[str, float]:
        """O7; O32's weighted mean."""
        weights = {
            "lexical": self.says.text,
            "vector": self.says.vector,
            "temporal": TEMPORAL_WEIGHT,
        }
        if self.is_bounded:
            clamped = dict.fromkeys(self.channels, "clamp")
            return fusion.weighted_mean(self.channels, weights, clamped)
        return fusion.reciprocal_rank(self.channels, weights, 60.0, "channel")

    def with_hot(self, relevance: Mapping[str, float]) -> dict[str, float]:
        """O1: the fifty most accessed, at 0.8 of their overlap, joined by the maximum."""
        records, place = self.world.records, self.world.place
        accesses = {id: int(value(records[id], "access_count")) for id in self.shown}
        recalled = [id for id in self.shown if accesses[id] > 0]
        joined = dict(relevance)
        for id in sorted(recalled, key=lambda id: (-accesses[id], place[id]))[:HOT]:
            record = records[id]
            held = texts.overlap(self.question.words, record["text"], record.get("tags", ()))
            if held >= 0.4:
                joined[id] = max(joined.get(id, 0.0), 0.8 * held)
        return joined

    def scores(self, relevance: Mapping[str, float]) -> dict[str, float]:
        """Return relevance x the multipliers, of what stays."""
        records, now = self.world.records, self.question.now
        best = max(relevance.values(), default=0.0)
        kept = {
            id: own
            for id, own in relevance.items()
            if not omega.leaves(value(records[id], "feedback"))
        }
        if self.is_bounded:
            parts = {id: bounded_factors(records[id], now, own, best) for id, own in kept.items()}
            scored = {id: folded(own, parts[id]) for id, own in kept.items()}
        else:
            scored = self._multiplied(kept)
        return {id: score * penalty(records[id], self.question) for id, score in scored.items()}

    def _multiplied(self, relevance: Mapping[str, float]) -> dict[str, float]:
        """O11 to O20, then the cluster of the ten best by these, then O22."""
        before = {id: folded(own, self._before(id)) for id, own in relevance.items()}
        centre = self._centre(before)
        return {
            id: score * self._cluster(id, centre) * self._in_range(id)
            for id, score in before.items()
        }

    def _before(self, id: str) -> tuple[Part, ...]:
        record, now = self.world.records[id], self.question.now
        kind, feedback = value(record, "kind"), value(record, "feedback")
        ratio = texts.overlap(self.question.words, record["text"], record.get("tags", ()))
        parts = (
            Part("kind", omega.kind_weight(kind)),
            Part("feedback", omega.feedback_factor(feedback)),
            Part("priority", omega.priority_factor(value(record, "priority"))),
            Part("decay", omega.decay_of(record, now)),
            Part("thompson", self._thompson(kind)),
            Part(
                "consolidation", omega.consolidation_boost(value(record, "consolidation_quality"))
            ),
            Part("overlap", omega.overlap_boost(ratio, feedback, self.says.word)),
            Part("preference", omega.preference_boost(kind, self.says.asks_preference)),
            Part("context", self._context(record)),
        )
        return tuple(part for part in parts if part.name not in self.skips)

    def _thompson(self, kind: str) -> float:
        """O15: from all verdicts on memories of a kind that are still there."""
        said = [
            verdict
            for id, verdicts in self.world.verdicts.items()
            if value(self.world.records[id], "kind") == kind
            for verdict in verdicts
        ]
        good = said.count("helpful")
        return omega.thompson_boost(good, len(said) - good)

    def _context(self, record: Mapping[str, Any]) -> float:
        """O20."""
        around = self.question.around
        if around is None:
            return 1.0
        matches = omega.context_matches(around.file, around.tags, around.project, record)
        return omega.context_boost(*matches, self.says.context)

    def _centre(self, before: Mapping[str, float]) -> list[float] | None:
        """O21: the mean direction of the ten best that have one."""
        ten = ordered(before, self.world.place)[:CLUSTER]
        held = [self.world.records[id].get("embedding") for id in ten]
        units = [unit(vector) for vector in held if vector is not None]
        centre = [math.fsum(column) for column in zip(*units, strict=True)]
        return centre if any(centre) else None

    def _cluster(self, id: str, centre: Collection[float] | None) -> float:
        held = self.world.records[id].get("embedding")
        if held is None or centre is None:
            return 1.0
        return omega.cluster_boost(cosine_of(unit(held), list(centre)))

    def _in_range(self, id: str) -> float:
        """O22: a range that is given is hard unless it is given as soft."""
        if self.question.date_range is None:
            return 1.0
        start, end = self.question.date_range
        record, now = self.world.records[id], self.question.now
        is_within = start <= time_of(record, now, "event_at", "created_at") <= end
        has_own_date = record.get("event_at") is not None
        return omega.temporal_factor(is_within, has_own_date, is_soft=self.question.is_soft)
