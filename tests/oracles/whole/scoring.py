"""From candidates to scores: fusion, session neighbours, factors, the penalty of deep recall.

cognitive.md C4 to C7, mnemosyne.md M1 to M8, ciar.md A10, reverie.md R1 to R9, house.md H1 to H6, H9, H10, H14.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracles import neighbours
from tests.oracles.house import OUTSIDE
from tests.oracles.mnemosyne import gate_words, lexical_share, passes_gate
from tests.oracles.profiles import Model, folded
from tests.oracles.records import time_of, value
from tests.oracles.whole.asking import (
    Question,
    is_found,
    is_lapsed,
    is_superseded,
    is_visible,
)
from tests.oracles.whole.doubt import none_near
from tests.oracles.whole.finding import (
    TITLE,
    allowed_by_words,
    bm25f,
    cosines,
    first,
    in_time,
    lengths,
    pairs,
)
from tests.oracles.whole.world import World

__all__ = ["Lending", "Search", "is_back", "penalty"]

TEMPORAL_DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Lending:
    """H4 as the house profile has it."""

    share: float = 0.6
    decay: float = 0.5
    reach: int = 2
    seeds: int = 10
    above_mean: bool = True
    above_session: bool = True
    from_better: bool = True
    session_share: float = 0.17
    whole_length: float = 30.0


@dataclass
class Search:
    """What one question finds in a world, step by step."""

    world: World
    question: Question
    model: Model
    k1: float
    b: float
    half_length: float = 0.0
    title: tuple[float, float] = TITLE
    typos: float = 0.0
    hides_cold: bool = False
    has_time: bool = False
    damps_outside: bool = False
    bm25: dict[str, float] = field(init=False)
    words: dict[str, float] = field(init=False)
    """bm25 with the share of pairs. H14."""
    possible: float = field(init=False)
    cosine: dict[str, float] = field(init=False)
    channels: dict[str, list[tuple[str, float]]] = field(init=False)
    near: Mapping[str, float] = field(init=False)
    """The cosines as the relevance counts them. H3."""
    brought_by: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        records, asked = self.world.records, self.question
        self.bm25 = bm25f(
            records, asked.words, self.k1, self.b, self.half_length, self.title, self.typos
        )
        paired, all_pairs = pairs(records, asked.words, self.typos)
        share = self.model.pairs
        self.words = {id: score + share * paired[id] for id, score in self.bm25.items()}
        possible = allowed_by_words(records, asked.words, self.typos)
        self.possible = possible + share * all_pairs
        self.cosine = {} if asked.vector is None else cosines(records, asked.vector)
        shown = [
            id
            for id, one in records.items()
            if is_found(one, asked, self.model.expiring, hides_cold=self.hides_cold)
        ]
        place = self.world.place
        self.channels = {"lexical": first(self.bm25, shown, place, self.model.depth["lexical"])}
        # A store that holds no vector has no such channel.
        if asked.vector is not None and any("embedding" in records[id] for id in self.world.live()):
            depth = self.model.vector_depth(asked.k)
            self.channels["vector"] = first(self.cosine, shown, place, depth)
        if self.has_time and asked.date_range is not None:
            near = in_time(records, asked.now, *asked.date_range)
            self.channels["temporal"] = first(near, shown, place, TEMPORAL_DEPTH)
        self.near = self.model.near(self.channels, self.cosine)

    def relevance(self, lending: Lending | None = None) -> dict[str, float]:
        """Return what fusion makes of each candidate, and what its neighbours lend it."""
        own = self.model.own_part or (lambda _: 0.0)
        fused = self.model.relevance(self.channels, self.words, self.near, self.possible)
        found = {id: score + own(self.world.records[id]) for id, score in fused.items()}
        return found if lending is None else self._lent(found, lending)

    def _lent(self, found: Mapping[str, float], lending: Lending) -> dict[str, float]:
        """H4: everyone's own f, as if a candidate, is what it has before it is lent anything."""
        records, place = self.world.records, self.world.place
        visible = {
            id for id, one in records.items() if is_visible(one, self.question, self.model.expiring)
        }
        standing = {
            id: one
            for id, one in records.items()
            if self.question.status or value(one, "status") != "archived"
        }
        alone = {id: found.get(id, 0.0) for id in records}
        top = sorted(found.values(), reverse=True)[: lending.seeds + 1]
        none_near(top)
        rest = [id for id in visible if id not in found]
        alone |= self.as_candidates(rest)
        everyone = neighbours.lent(
            neighbours.sequences(standing),
            alone,
            list(found),
            visible,
            place,
            share=lending.share,
            decay=lending.decay,
            reach=lending.reach,
            seeds=lending.seeds,
            above_mean=lending.above_mean,
            above_session=lending.above_session,
            from_better=lending.from_better,
            session_share=lending.session_share,
            whole_length=lending.whole_length,
            lengths=lengths(records, self.title),
        )
        self.brought_by = everyone.brought_by
        return everyone.relevance

    def as_candidates(self, ids: Sequence[str]) -> dict[str, float]:
        """Return what fusion would make of memories no channel found, beside the best hit."""
        own = self.model.own_part or (lambda _: 0.0)
        channels: dict[str, list[tuple[str, float]]] = {
            "lexical": [
                *self.channels["lexical"][:1],
                *((id, self.bm25.get(id, 0.0)) for id in ids),
            ]
        }
        if "vector" in self.channels:
            channels["vector"] = [(id, self.cosine.get(id, 0.0)) for id in ids]
        fused = self.model.relevance(channels, self.words, self.near, self.possible)
        return {id: fused[id] + own(self.world.records[id]) for id in ids}

    def stays(self, id: str) -> bool:
        """Tell whether a profile's own rules keep a memory. O12, M8."""
        record = self.world.records[id]
        if self.model.has_gate:
            words = gate_words(self.question.words)
            share = lexical_share(self.question.words, record["text"])
            if words and not passes_gate(share, len(words), self.cosine.get(id, 0.0)):
                return False
        return self.model.keeps(record, self.question.now)

    def _judged(self, relevance: float, record: dict[str, Any]) -> float:
        """Return the relevance by what the memory tells, and when. H9, H10."""
        judged, asked = self.model.judged(relevance, record), self.question
        if not self.damps_outside or asked.date_range is None:
            return judged
        moment = time_of(record, asked.now, "event_at", "created_at")
        start, end = asked.date_range
        outside = OUTSIDE["soft" if asked.is_soft else "explicit"]
        return judged * (1.0 if start <= moment <= end else outside)

    def scores(self, relevance: Mapping[str, float]) -> dict[str, float]:
        """Return relevance x factors, x the penalty of what only deep recall returns."""
        best = max(relevance.values(), default=0.0)
        found = {}
        for id, fused in relevance.items():
            if self.stays(id):
                record: dict[str, Any] = self.world.records[id]
                own = self._judged(fused, record)
                parts = self.model.factors(record, self.question.now, own, best)
                by = penalty(record, self.question, self.model.expiring)
                found[id] = folded(own, parts) * by
        return found


def is_late(record: Mapping[str, Any], question: Question, expiring: Collection[str] = ()) -> bool:
    """Tell whether a memory is past its validity, and not kept whole for that. C7."""
    return is_lapsed(record, question, expiring) and not question.include_expired


def is_back(record: Mapping[str, Any], question: Question, expiring: Collection[str] = ()) -> bool:
    """Tell whether only deep recall returns a memory. C6, C7."""
    return is_superseded(record) or is_late(record, question, expiring)


def penalty(record: Mapping[str, Any], question: Question, expiring: Collection[str] = ()) -> float:
    """Return x 0.5 for what is superseded, x 0.5 for what is past its validity. C6, C7."""
    factor = 0.5 if is_superseded(record) else 1.0
    return factor * (0.5 if is_late(record, question, expiring) else 1.0)
