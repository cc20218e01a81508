"""What links bring to a search, against the plain models of tests/oracles."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine
from oneiros.errors import StoreCorrupt
from oneiros.ranking.expansion import AssociativeExpansion, GraphExpansion
from oneiros.store import StoredLink
from tests.engine.random_world import NOW, Store, random_question, random_store
from tests.engine.test_profiles_against_oracles import (
    K1,
    B,
    asked_of,
    engine_of,
    found_by_channels,
)
from tests.engine.test_profiles_against_oracles import raw_scores as raw_of
from tests.oracles import expansion as plain
from tests.oracles import profiles as models
from tests.oracles.associations import PlainLink, Weights, bridges, value_of
from tests.oracles.cognitive import is_not_yet_valid
from tests.oracles.expansion import Result
from tests.oracles.profiles import MODELS
from tests.oracles.records import DAY

FEW = settings(max_examples=2_000 if os.environ.get("ONEIROS_LONG") else 4, deadline=None)


@dataclass(frozen=True, slots=True)
class LinkedStore(Store):
    """Memories, of which some are hidden, and links between them."""

    links: dict[tuple[int, int], PlainLink]
    project: str | None
    hides_cold: bool

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
            and not is_not_yet_valid(one, NOW)
            and (self.project is None or one.get("project") == self.project)
        )

    def weights(self) -> Weights:
        found: Weights = {}
        for (a, b), link in self.links.items():
            left = link.left(NOW, 90.0)
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
    links = {}
    for _ in range(2 * size):
        a, b = sorted(random.choice(size, 2, replace=False).tolist())
        weight = float(random.choice([1.0, 0.5, 0.3, 0.25, random.uniform(0.1, 1)]))
        last = float(random.choice([math.nan, NOW - DAY * random.uniform(0, 90)]))
        links[a, b] = PlainLink(weight, 2, NOW - DAY, last)
    return LinkedStore(records, links, project, hides_cold)


def linked_engine(store: LinkedStore) -> Engine:
    mind = engine_of(store)
    with mind._shared.remember._writing() as transaction:
        for (a, b), link in store.links.items():
            last = None if math.isnan(link.last) else link.last
            transaction.set_link(
                StoredLink(f"m{a}", f"m{b}", link.kind, link.weight, link.created, last)
            )
    return mind


CASES = {
    "cognitive": oneiros.profiles.get("cognitive"),
    "oneiros": oneiros.profiles.get("oneiros"),
    "omega": oneiros.profiles.get("omega"),
    "omega, twice the graph": oneiros.profiles.get("omega").replace(
        expansion=GraphExpansion(weight=2.0)
    ),
    "cognitive, half": oneiros.profiles.get("cognitive").replace(
        expansion=AssociativeExpansion(quota=0.5)
    ),
}


@pytest.mark.parametrize("name", CASES)
@FEW
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([8, 25]),
    k=st.sampled_from([1, 2, 3, 5, 10]),
    asks=st.booleans() | st.just(True),
    project=st.sampled_from([None, "x"]),
)
def test_links_bring_what_the_page_says(
    name: str, seed: int, size: int, k: int, asks: bool, project: str | None
) -> None:
    profile = CASES[name]
    model = MODELS[profile.name]
    store = linked_store(seed, size, project, profile.selection.hide_cold)
    query, vector = random_question(seed)
    question = vector if asks else None
    asked: dict[str, Any] = {
        "embedding": question, "profile": profile, "explain": True, "reinforce": False,
        "where": None if project is None else oneiros.where(project=project),
    }  # fmt: skip
    with linked_engine(store) as mind:
        raw = raw_of(mind.search(query, k=300, **asked))
        told = mind.search(query, k=k, **asked)
        unlinked = profile.replace(expansion=None)
        alone = mind.search(query, k=k, **{**asked, "profile": unlinked})
    shown = {
        name: {id: score for id, score in told_of.items() if store.is_shown(id)}
        for name, told_of in raw.items()
    }
    channels, scores = found_by_channels(store, model, query, question, k, shown)
    lexical, cosine = scores["lexical"], scores["vector"]
    records = asked_of(model, store, query)
    ranked = models.rank(model, records, NOW, k, channels, lexical, cosine)
    rows = {id: row for row, id in enumerate(store.records)}
    direct = [Result(rows[one.id], one.score) for one in ranked]
    assert [rows[one.id] for one in alone] == [one.row for one in direct]
    everything = Store(store.records)
    words = dict(everything.lexical(query, size, K1, B)) | raw["lexical"]
    near = {**everything.cosines(vector), **raw["vector"]} if asks else {}
    best = channels["lexical"][:1]

    def own_scores(reached: list[int]) -> dict[int, float]:
        """Score rows as if both channels had found them, beside the best hit of the words."""
        ids = [f"m{row}" for row in reached]
        found = {"lexical": [*best, *((id, words.get(id, 0.0)) for id in ids)]}
        if asks:
            found["vector"] = [(id, near.get(id, math.nan)) for id in ids]
        relevance = model.relevance(found, words, near)
        scores = {}
        for row, id in zip(reached, ids, strict=True):
            record, own = store.records[id], relevance[id]
            if model.keeps(record, NOW):
                scores[row] = models.folded(own, model.factors(record, NOW, own, own))
        return scores

    weights = store.weights()
    allowed = [store.is_linked_to(f"m{row}") for row in range(size)]
    rule = profile.expansion
    if isinstance(rule, AssociativeExpansion):
        linked = plain.associated(direct, own_scores, weights, allowed)
        want = plain.merged(direct, linked, k, rule.quota)
    else:
        assert isinstance(rule, GraphExpansion)
        linked = plain.in_graph(
            direct,
            lambda row: model.keeps(store.records[f"m{row}"], NOW),
            weights,
            allowed,
            weight=rule.weight,
        )
        want = plain.merged(direct, linked, k)
    check(told, want, rows, weights)
    if isinstance(rule, AssociativeExpansion):
        check_bridges(told, direct, rows, weights, allowed)


def check(
    told: oneiros.SearchResponse, want: list[Result], rows: dict[str, int], weights: Weights
) -> None:
    assert [one.score for one in told] == pytest.approx(
        [one.score for one in want], rel=1e-9, abs=1e-15
    )
    for got, one in zip(told, want, strict=True):
        near = math.isclose(got.score, one.score, rel_tol=1e-12)
        same = rows[got.id] == one.row
        assert same or near
        if same:
            assert got.is_associative == bool(one.path)
            assert len(got.path) == len(one.path)
        if got.is_associative:
            assert got.path[-1] == got.id
            for a, b in itertools.pairwise(got.path):
                assert weights[rows[a]][rows[b]] > 0
        assert got.explanation is not None
        assert got.explanation.evaluate() == got.score


def check_bridges(
    told: oneiros.SearchResponse,
    direct: list[Result],
    rows: dict[str, int],
    weights: Weights,
    allowed: list[bool],
) -> None:
    ends = [one.row for one in direct[:3]]
    want = {one.row: one for one in bridges(weights, ends, least_link=0.3, allowed=allowed)}
    for one in told:
        bridge = want.get(rows[one.id])
        assert bool(one.bridge) == (bridge is not None)
        if bridge is not None:
            path = tuple(rows[id] for id in one.bridge)
            assert len(path) == len(bridge.path)
            assert value_of(weights, path, 1.0, 1.0) == pytest.approx(bridge.value, rel=1e-12)


@pytest.fixture
def mind() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW, profile="cognitive") as opened:
        opened.add("ant", id="ant", embedding=[1.0, 0.0, 0.0])
        opened.add("bee", id="bee", embedding=[0.6, 0.8, 0.0])
        opened.add("cat", id="cat", embedding=[0.0, 0.6, 0.8], tier="cold")
        opened.add("dog", id="dog", tier="cold")
        yield opened


def ask(mind: Engine, **options: Any) -> oneiros.SearchResponse:
    settled: dict[str, Any] = {"embedding": [1.0, 0.0, 0.0], "reinforce": False, "k": 3}
    return mind.search("ant", **{**settled, **options})


def test_a_store_without_links_has_no_such_stage(mind: Engine) -> None:
    assert [one.name for one in ask(mind).trace.stages][-1] == "scoring"
    mind.link("ant", "dog")
    stages = [one.name for one in ask(mind).trace.stages]
    assert stages[-2:] == ["associative_expansion", "graph_expansion"]
    omega = [one.name for one in ask(mind, profile="omega").trace.stages]
    assert omega[-1] == "graph_expansion"
    assert [one.name for one in ask(mind, profile="reverie").trace.stages][-1] == "scoring"


def test_a_cold_memory_without_embedding_comes_by_its_link_alone(mind: Engine) -> None:
    assert ask(mind).ids == ["ant", "bee"]
    assert mind.why_not("ant", "dog", embedding=[1.0, 0.0, 0.0]).hidden[0].reason == "cold"
    mind.link("bee", "dog", 0.8)
    told = ask(mind, explain=True)
    assert told.ids == ["ant", "bee", "dog"]
    dog = told.results[2]
    assert dog.is_associative
    assert dog.path == ("bee", "dog")
    assert dog.path_weight == 0.8
    assert dog.score == pytest.approx(0.1 * 0.8)
    assert dog.explanation is not None
    assert dog.explanation.evaluate() == dog.score
    assert dog.explanation.factors[-1].name == "association"
    assert [one.is_associative for one in told][:2] == [False, False]
    assert told.results[0].path == ()
    why = mind.why_not("ant", "dog", k=3, embedding=[1.0, 0.0, 0.0])
    assert why.is_returned
    assert why.linked_place == 3


def test_what_may_not_be_found_is_not_reached_nor_passed_through(mind: Engine) -> None:
    mind.link("ant", "cat", 0.9)
    mind.link("cat", "dog", 0.9)
    assert ask(mind).ids == ["ant", "bee", "dog"]  # 0.1 x 0.81 over 0 x 0.9
    assert ask(mind, where=oneiros.where(id=["ant", "dog"])).ids == ["ant"]
    mind.delete("cat")
    assert ask(mind).ids == ["ant", "bee"]
    mind.restore("cat")
    assert (
        "dog"
        not in mind.search(
            "ant -dog", syntax="query", embedding=[1.0, 0.0, 0.0], reinforce=False
        ).ids
    )


def test_a_place_kept_for_links_is_taken_from_the_last_direct_result(mind: Engine) -> None:
    mind.link("ant", "dog", 0.5)
    kept = mind._parts.profile.replace(expansion=AssociativeExpansion(quota=0.5))
    assert ask(mind, k=2).ids == ["ant", "bee"]
    assert ask(mind, k=2, profile=kept).ids == ["ant", "dog"]
    assert ask(mind, k=1, profile=kept).ids == ["ant"]
    asked: dict[str, Any] = {"k": 2, "embedding": [1.0, 0.0, 0.0], "profile": kept}
    why = mind.why_not("ant", "bee", **asked)
    assert why.is_displaced
    assert not why.is_returned
    assert why.kth_id == "dog"
    (many,) = mind.search_many(["ant"], 2, embeddings=[[1.0, 0.0, 0.0]], profile=kept)
    assert many.ids == ["ant", "dog"]


def test_damaged_links_stop_no_search(mind: Engine) -> None:
    mind.link("ant", "dog")
    with mind._shared.remember._writing() as transaction:
        transaction._run("UPDATE link SET weight = 7", ())
        transaction._has_changed = True
    mind._shared.projections.associations.drop()
    assert ask(mind).ids == ["ant", "bee"]
    assert ask(mind).ids == ["ant", "bee"]
    with pytest.raises(StoreCorrupt):
        mind.neighbours("ant")


def test_an_expansion_by_scores_needs_a_fusion_of_scores() -> None:
    with pytest.raises(ValueError, match="expansion: associative needs a fusion of raw scores"):
        oneiros.profiles.get("reverie").replace(expansion=AssociativeExpansion())
