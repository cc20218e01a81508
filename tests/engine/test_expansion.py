"""What links bring to a search, against the plain models of tests/oracles."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine
from oneiros.errors import StoreCorrupt
from oneiros.scoring.link_expansion import AssociativeExpansion, GraphExpansion
from tests.engine.linked_world import (
    check,
    direct_results,
    linked_engine,
    linked_store,
    row_of,
    with_links,
)
from tests.engine.random_world import NOW, random_question
from tests.engine.test_profiles_against_oracles import of_all_kinds
from tests.engine.test_profiles_against_oracles import raw_scores as raw_of
from tests.oracles.associations import Weights, bridges, value_of
from tests.oracles.expansion import Result
from tests.oracles.profiles import MODELS

FEW = settings(max_examples=2_000 if os.environ.get("ONEIROS_LONG") else 4, deadline=None)


# Whatever is near or alike: search/test_results_left_out.py says what else leaves, and
# texts/test_hot_set.py what is hot.
OMEGA = of_all_kinds(oneiros.profiles.get("omega")).replace(
    hot_set=None,
    fast_path=None,
    strong_signal=None,
    abstention=None,
    duplicates=None,
    retry=None,
    normalisation=None,
)
CASES = {
    "cognitive": oneiros.profiles.get("cognitive"),
    "oneiros": oneiros.profiles.get("oneiros").replace(abstention=None),
    "omega": OMEGA,
    "omega, twice the graph": OMEGA.replace(expansion=GraphExpansion(weight=2.0)),
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
@example(seed=1116022, size=25, k=10, asks=True, project=None)  # two alike that links bring
@example(seed=980, size=25, k=2, asks=True, project="x")  # the second result is often accessed
def test_links_bring_what_the_page_says(
    name: str, seed: int, size: int, k: int, asks: bool, project: str | None
) -> None:
    profile = CASES[name]
    store = linked_store(seed, size, project, profile.selection.hide_cold)
    query, vector = random_question(seed)
    question = vector if asks else None
    asked: dict[str, Any] = {
        "embedding": question, "profile": profile, "explain": True, "reinforce": False,
        "where": None if project is None else oneiros.where(project=project),
    }  # fmt: skip
    by_channels = {**asked, "profile": profile.replace(expansion=None)}
    with linked_engine(store) as mind:
        raw = raw_of(mind.search(query, k=300, **asked))
        # What links gave a better score tells of no channel.
        for channel, scores in raw_of(mind.search(query, k=300, **by_channels)).items():
            raw[channel] |= scores
        told = mind.search(query, k=k, **asked)
        alone = mind.search(query, k=k, **by_channels)
    direct = direct_results(store, profile, query, question, k, raw)
    assert alone.ids == [f"m{one.row}" for one in direct]
    assert [f"m{one.row}" for one in direct] == list(told.direct_ids or told.ids)
    weights = store.weights()
    near_by = 1e-6 if MODELS[profile.name].has_cluster else 1e-12  # cosines of float32
    followed = direct
    if isinstance(profile.expansion, GraphExpansion):  # five, however many are asked for
        followed = direct_results(store, profile, query, question, max(k, 5), raw)
    check(told, with_links(store, profile, query, question, k, raw, followed), weights, near_by)
    if isinstance(profile.expansion, AssociativeExpansion):
        check_bridges(told, direct, weights, store.reachable())


def check_bridges(
    told: oneiros.SearchResponse,
    direct: list[Result],
    weights: Weights,
    allowed: list[bool],
) -> None:
    ends = [one.row for one in direct[:3]]
    want = {one.row: one for one in bridges(weights, ends, least_link=0.3, allowed=allowed)}
    for one in told:
        bridge = want.get(row_of(one.id))
        assert bool(one.bridge) == (bridge is not None)
        if bridge is not None:
            path = tuple(map(row_of, one.bridge))
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
    assert [one.name for one in ask(mind).trace.stages][-2:] == ["scoring", "rerank"]
    mind.link("ant", "dog")
    stages = [one.name for one in ask(mind).trace.stages]  # C8 to C10
    assert stages[-3:] == ["rerank", "associative_expansion", "graph_expansion"]
    omega = [one.name for one in ask(mind, profile="omega").trace.stages]  # O24 to O27
    assert omega[-5:] == [
        *("graph_expansion", "rerank", "duplicates", "abstention", "adaptive_retry")
    ]
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
    assert why.lacked == ""


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
    kept = mind._scope.services.profile.replace(expansion=AssociativeExpansion(quota=0.5))
    assert ask(mind, k=2).ids == ["ant", "bee"]
    assert ask(mind, k=2, profile=kept).ids == ["ant", "dog"]
    assert ask(mind, k=1, profile=kept).ids == ["ant"]
    asked: dict[str, Any] = {"k": 2, "embedding": [1.0, 0.0, 0.0], "profile": kept}
    why = mind.why_not("ant", "bee", **asked)
    assert why.is_displaced
    assert why.lacked == "a memory that links found took its place"
    assert not why.is_returned
    assert why.kth_id == "dog"
    (many,) = mind.search_many(["ant"], 2, embeddings=[[1.0, 0.0, 0.0]], profile=kept)
    assert many.ids == ["ant", "dog"]


def test_links_that_bring_a_candidate_are_no_rerankers_order() -> None:
    kept = oneiros.profiles.get("cognitive").replace(expansion=AssociativeExpansion(quota=0.5))
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "profile": kept}
    with Engine(":memory:", clock=lambda: NOW) as mind:
        slopes = {"ant": 0.1, "bee": 0.2, "cat": 0.5, "dog": 0.7, "elk": 2.0, "fox": 3.0}
        for id, slope in slopes.items():
            mind.add(f"a {id}", id=id, embedding=[1.0, slope])
        mind.link("ant", "elk", 0.4)
        response = mind.search("beasts", 2, reinforce=False, **asked)
        assert response.ids == ["ant", "elk"]  # which its own score leaves in place 5
        assert response.linked_ids == {"elk"}
        ids = ("bee", "cat", "dog", "fox")
        places = {id: mind.why_not("beasts", id, k=2, **asked) for id in ids}
        assert [why.place for why in places.values()] == [2, 3, 4, 6]
        assert places["bee"].lacked == "a memory that links found took its place"
        assert places["cat"].lacked == "place 2 is left to what links bring"
        assert not any(why.is_reordered for why in places.values())


def test_links_that_bring_what_is_too_far_take_no_place_from_it() -> None:
    with Engine(":memory:", profile="omega", clock=lambda: NOW) as mind:
        mind.add("ant bee cat dog", id="near")
        mind.add("ant bee dog elk", id="next")
        mind.add("fox dog", id="far", kind="constraint")
        mind.link("near", "far", 1.0)
        assert mind.search("ant bee cat dog", 2, reinforce=False).ids == ["near", "next"]
        why = mind.why_not("ant bee cat dog", "far", k=2)
        assert (why.place, why.is_displaced, why.candidate_count) == (None, False, 2)
        assert why.lacked == "not near enough: overlap 0.25000 below 0.35"
        (*_, last) = mind.search("ant bee cat dog", 3, reinforce=False)
        assert (last.id, last.path) == ("far", ("near", "far"))
        why = mind.why_not("ant bee cat dog", "far", k=3)
        assert (why.linked_place, why.hidden, why.is_returned) == (3, (), True)
        why = mind.why_not("ant bee cat dog", "far", k=1, offset=3)
        assert [exclusion.reason for exclusion in why.hidden] == ["offset"]


def test_why_not_beside_what_links_scored_in_their_own_way() -> None:
    profile = oneiros.profiles.get("omega").replace(expansion=GraphExpansion(weight=9.0))
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "profile": profile, "k": 1}
    with Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add("an ant hill", id="ant", embedding=[1.0, 0.0])
        mind.add("a bee hive", id="bee", embedding=[0.8, 0.6])
        mind.add("a dog", id="dog")
        mind.link("ant", "dog", 1.0)
        (first,) = mind.search("ant", explain=True, **asked)
        assert (first.id, first.path) == ("dog", ("ant", "dog"))
        for id in ("ant", "bee"):
            why = mind.why_not("ant", id, **asked)
            assert why.verdict in str(why)
            told = {part: values for part, *values in why.table().rows}
            assert told["score"] == [why.score, first.score]
            assert told["graph"] == [None, 9.0]
            assert told["vector score"][0] == why.channels[1].score


def test_the_links_of_an_infinite_score_are_not_followed() -> None:
    omega = oneiros.profiles.get("omega")
    endless = oneiros.Expression("1 / access_count", name="endless")  # 0: never accessed
    profile = omega.replace(name="endless", factors=(*omega.factors, endless))
    with Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add("an ant hill", id="ant", embedding=[1.0, 0.0], access_count=1)
        mind.add("an ant", id="bee", embedding=[0.8, 0.6])
        mind.add("a cat", id="cat")
        mind.add("a dog", id="dog", access_count=1)
        mind.link("bee", "cat", 1.0)
        mind.link("ant", "dog", 1.0)
        found = mind.search("ant hill", embedding=[1.0, 0.0], profile=profile, reinforce=False)
        assert found.ids == ["bee", "ant", "dog"]
        assert found.results[0].score == math.inf


@pytest.mark.parametrize(("k", "offset"), [(3, 0), (1, 1), (1, 2), (0, 2)])
def test_places_count_the_better_results_that_links_found(k: int, offset: int) -> None:
    profile = oneiros.profiles.get("omega").replace(expansion=GraphExpansion(weight=9.0))
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "profile": profile}
    with Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add("an ant hill", id="ant", embedding=[1.0, 0.0])
        mind.add("an ant", id="bee", embedding=[0.8, 0.6])
        mind.add("a dog", id="dog")
        mind.link("ant", "dog", 1.0)
        assert mind.search("ant hill", **asked).ids == ["dog", "ant", "bee"]
        found = mind.search("ant hill", k, offset=offset, **asked).ids
        for place, id in enumerate(("ant", "bee"), start=2):
            why = mind.why_not("ant hill", id, k=k, offset=offset, **asked)
            assert why.is_returned == (id in found)
            assert bool(why.lacked) != why.is_returned
            if why.is_returned:
                assert why.verdict == f"returned, in place {place}"


def test_damaged_links_stop_no_search(mind: Engine) -> None:
    mind.link("ant", "dog")

    def damage() -> None:
        with mind._scope.services.sync.writing() as transaction:
            transaction.run("UPDATE link SET weight = 7", ())
            transaction.note_change()

    mind._scope.services.sync.writer.run(damage)
    mind._scope.services.read_model.associations.drop()
    assert ask(mind).ids == ["ant", "bee"]
    assert ask(mind).ids == ["ant", "bee"]
    with pytest.raises(StoreCorrupt):
        mind.neighbours("ant")


def test_an_expansion_by_scores_needs_a_fusion_of_scores() -> None:
    with pytest.raises(ValueError, match="expansion: associative needs a fusion of raw scores"):
        oneiros.profiles.get("reverie").replace(expansion=AssociativeExpansion())
