"""Random stores of memories with links, some of them hidden, and what a search makes of both."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import Engine
from oneiros.scoring.link_expansion import AssociativeExpansion, GraphExpansion
from oneiros.scoring.profile import Profile
from oneiros.store import StoredLink
from tests.engine.random_world import NOW, Store, Vector, random_store
from tests.engine.test_profiles_against_oracles import (
    K1,
    B,
    Raw,
    asked_of,
    engine_of,
    found_by_channels,
)
from tests.oracles import expansion as plain
from tests.oracles import profiles as models
from tests.oracles.associations import PlainGraph, PlainLink, Weights
from tests.oracles.cognitive import is_not_yet_valid
from tests.oracles.expansion import Result
from tests.oracles.profiles import MODELS, Model
from tests.oracles.records import DAY


@dataclass(frozen=True, slots=True)
class LinkedStore(Store):
    """Memories, of which some are hidden, and links between them."""

    graph: PlainGraph
    project: str | None
    hides_cold: bool
    now: float = NOW

    def is_shown(self, id: str) -> bool:
        return self.is_linked_to(id) and not (
            self.hides_cold and self.records[id].get("tier", "hot") != "hot"
        )

    def is_linked_to(self, id: str) -> bool:
        """Tell whether links may lead to it: cold memories they may."""
        one = self.records[id]
        return (
            one.get("status") != "archived"
            and one.get("superseded_by") is None
            and not is_not_yet_valid(one, self.now)
            and (self.project is None or one.get("project") == self.project)
        )

    def reachable(self) -> list[bool]:
        return [self.is_linked_to(id) for id in self.records]

    def found(
        self, model: Model, query: str, question: Vector | None, k: int, raw: Raw
    ) -> tuple[dict[str, list[tuple[str, float]]], Raw]:
        """Return what the channels find, with the engine's raw scores of what is shown."""
        shown = {
            name: {id: score for id, score in told.items() if self.is_shown(id)}
            for name, told in raw.items()
        }
        return found_by_channels(self, model, query, question, k, shown)

    def weights(self) -> Weights:
        found: Weights = {}
        for (a, b), link in self.graph.links.items():
            left = link.left(self.now, 90.0)
            found.setdefault(a, {})[b] = found.setdefault(b, {})[a] = left
        return found


def linked_store(seed: int, size: int, project: str | None, hides_cold: bool) -> LinkedStore:
    random = np.random.default_rng([seed, 2])
    records = {id: dict(one) for id, one in random_store(seed, size).records.items()}
    for one in records.values():
        if random.random() < 0.2:
            one["tier"] = "cold"
        if random.random() < 0.1:
            one["superseded_by"] = f"m{random.integers(size)}"
        if random.random() < 0.1:
            one["valid_from"] = NOW + DAY
        one["project"] = str(random.choice(["x", "x", "y"]))
    graph = PlainGraph()
    for _ in range(2 * size):
        a, b = sorted(random.choice(size, 2, replace=False).tolist())
        weight = float(random.choice([1.0, 0.5, 0.3, 0.25, random.uniform(0.1, 1)]))
        last = float(random.choice([math.nan, NOW - DAY * random.uniform(0, 90)]))
        graph.set(a, b, PlainLink(weight, 2, NOW - DAY, last))
    return LinkedStore(records, graph, project, hides_cold)


def linked_engine(store: LinkedStore, **options: Any) -> Engine:
    mind = engine_of(store, **options)

    def link() -> None:
        with mind._scope.services.sync.writing() as transaction:
            for (a, b), link in store.graph.links.items():
                last = None if math.isnan(link.last) else link.last
                transaction.set_link(
                    StoredLink(f"m{a}", f"m{b}", link.kind, link.weight, link.created, last)
                )

    mind._scope.services.sync.writer.run(link)
    return mind


def direct_results(
    store: LinkedStore, profile: Profile, query: str, question: Vector | None, k: int, raw: Raw
) -> list[Result]:
    """Return the results without links, by the model of the profile."""
    model = MODELS[profile.name]
    channels, scores = store.found(model, query, question, k, raw)
    words, possible = Store(store.records).with_pairs(model.pairs, query, scores["lexical"])
    ranked = models.rank(
        model,
        asked_of(model, store, query),
        store.now,
        k,
        channels,
        words,
        scores["vector"],
        possible,
    )
    rows = {id: row for row, id in enumerate(store.records)}
    return [Result(rows[one.id], one.score) for one in ranked]


def with_links(
    store: LinkedStore,
    profile: Profile,
    query: str,
    question: Vector | None,
    k: int,
    raw: Raw,
    direct: list[Result],
) -> list[Result]:
    """Return the results with what links bring, by the plain models."""
    model, size = MODELS[profile.name], len(store.records)
    channels, _ = store.found(model, query, question, k, raw)
    everything = Store(store.records)
    words = dict(everything.lexical(query, size, K1, B)) | raw["lexical"]
    paired, possible = everything.with_pairs(model.pairs, query, words)
    near = {} if question is None else {**everything.cosines(question), **raw["vector"]}
    near = model.near(channels, near)
    best = channels["lexical"][:1]

    def own_scores(reached: list[int]) -> dict[int, float]:
        """Score rows as if both channels had found them, beside the best hit of the words."""
        ids = [f"m{row}" for row in reached]
        found = {"lexical": [*best, *((id, words.get(id, 0.0)) for id in ids)]}
        if question is not None:
            found["vector"] = [(id, near.get(id, math.nan)) for id in ids]
        relevance = model.relevance(found, paired, near, possible)
        scores = {}
        for row, id in zip(reached, ids, strict=True):
            record = store.records[id]
            own = model.judged(relevance[id], record)
            if model.keeps(record, store.now):
                scores[row] = models.folded(own, model.factors(record, store.now, own, own))
        return scores

    weights, allowed, rule = store.weights(), store.reachable(), profile.expansion
    if isinstance(rule, AssociativeExpansion):
        linked = plain.associated(direct, own_scores, weights, allowed)
        return plain.merged(direct, linked, k, rule.quota)
    assert isinstance(rule, GraphExpansion)
    stays = [model.keeps(one, store.now) for one in store.records.values()]
    linked = plain.in_graph(direct, stays.__getitem__, weights, allowed, weight=rule.weight)
    return plain.merged(direct, linked, k)


def row_of(id: str) -> int:
    return int(id.removeprefix("m"))


def check(
    told: oneiros.SearchResponse, want: list[Result], weights: Weights, near_by: float = 1e-12
) -> None:
    """Same results; two within ``near_by`` of one another may change places."""
    assert [one.score for one in told] == pytest.approx(
        [one.score for one in want], rel=max(near_by, 1e-9), abs=1e-15
    )
    for got, one in zip(told, want, strict=True):
        near = math.isclose(got.score, one.score, rel_tol=near_by)
        same = row_of(got.id) == one.row
        assert same or near
        if same:
            assert got.is_associative == bool(one.path)
            assert len(got.path) == len(one.path)
        if got.is_associative:
            assert got.path[-1] == got.id
            for a, b in itertools.pairwise(got.path):
                assert weights[row_of(a)][row_of(b)] > 0
        assert got.explanation is not None
        assert got.explanation.evaluate() == got.score
