"""What searches leave on memories and their links, against the plain models of tests/oracles."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine, Link
from oneiros.clock import VirtualClock
from oneiros.scoring.reinforcement import SpacedReinforcement
from tests.engine.linked_world import (
    LinkedStore,
    check,
    direct_results,
    linked_engine,
    linked_store,
    with_links,
)
from tests.engine.random_world import NOW, random_question
from tests.engine.test_profiles_against_oracles import raw_scores
from tests.oracles.records import DAY, value
from tests.oracles.remembering import HOUSE, Rule, World

FEW = settings(max_examples=500 if os.environ.get("ONEIROS_LONG") else 3, deadline=None)
RULES = {
    "cognitive": Rule(),
    "cognitive-0.5": Rule(associative=0.05, sessions=2),
    "oneiros": HOUSE,
}
WRITTEN = ("access_count", "stability", "session_spread", "core", "tier")


@pytest.mark.parametrize("name", RULES)
@FEW
@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from([2, 4, 10]),
            st.sampled_from([0.0, 0.5, 7.0, 60.0]),
            st.sampled_from([None, "s1", "s2", "s3"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_a_history_of_searches_leaves_what_the_page_says(
    name: str, seed: int, steps: list[tuple[int, int, float, str | None, bool]]
) -> None:
    profile = oneiros.profiles.get(name).replace(abstention=None)
    hides_cold = profile.selection.hide_cold
    base = linked_store(seed, 14, None, hides_cold)
    world = World(base.records, base.graph)
    world.sessions = {id: set() for id in base.records}
    now = NOW
    with linked_engine(base) as mind:
        for number, k, days, session, flushes in steps:
            now += days * DAY
            store = LinkedStore(world.records, world.graph, None, hides_cold, now)
            query, vector = random_question(seed + number)
            asked: dict[str, Any] = {"embedding": vector, "profile": profile, "now": now}
            raw = raw_scores(mind.search(query, k=300, explain=True, **asked))
            told = mind.search(query, k=k, session=session, explain=True, reinforce=True, **asked)
            direct = direct_results(store, profile, query, vector, k, raw)
            want = with_links(store, profile, query, vector, k, raw, direct)
            check(told, want, store.weights())
            world.found(
                RULES[name],
                list(told.direct_ids or told.ids),
                [(one.id, one.is_associative) for one in told],
                now,
                session,
            )
            if flushes:
                mind.flush()
            check_state(mind, world)


def check_state(mind: Engine, world: World) -> None:
    ids = list(world.records)
    for memory in mind.get_many(ids):
        assert memory is not None
        record = world.records[memory.id]
        assert memory.last_accessed_at == record.get("last_accessed_at")
        for field in WRITTEN:
            got, want = getattr(memory, field), value(record, field)
            slack = 1e-6 if field == "stability" else 0.0
            same = got == want or abs(got - want) <= slack * want
            assert same, (memory.id, field, got, want)
    assert len(mind._scope.services.read_model.associations) == len(world.graph.links)
    for row, id in enumerate(ids):
        found = mind._scope.services.read_model.associations
        for other, link in world.graph.neighbours(row).items():
            (held,) = found.of_pairs([(row, other)])
            assert held is not None
            assert (held.one, held.other) == (id, ids[other])
            assert held.weight == pytest.approx(link.weight, rel=1e-12)
            assert held.kind == link.kind


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


def test_what_is_found_together_is_linked_and_stays_so(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=clock, profile="cognitive") as mind:
        a, b, c = (mind.add(text) for text in ("ant bee", "ant cat", "dog"))
        mind.search("ant")
        clock.advance(90 * DAY)
        mind.search("ant")
        weight = 0.1 * np.exp(-1) + 0.1
        (link,) = mind.neighbours(a)
        assert link == Link(b, pytest.approx(weight), "co_retrieval", NOW, NOW + 90 * DAY)
        assert mind.neighbours(c) == []
        mind.flush()
        mind.search("ant")
        mind.unlink(a, b)
        assert mind.neighbours(a) == []
        mind.search("ant")
    with Engine(path, clock=clock, profile="cognitive") as mind:
        (link,) = mind.neighbours(b)
        assert link.weight == pytest.approx(0.1)


def test_a_link_that_is_set_keeps_what_came_before_out(clock: VirtualClock) -> None:
    with Engine(":memory:", clock=clock, profile="cognitive") as mind:
        a, b = mind.add("ant bee"), mind.add("ant cat")
        mind.search("ant")
        mind.link(a, b, 0.5)
        mind.flush()
        assert mind.neighbours(a)[0].weight == 0.5
        mind.search("ant")
        assert mind.neighbours(a)[0].weight == pytest.approx(0.6)


def test_what_is_forgotten_is_linked_no_more(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=clock, profile="cognitive") as mind:
        a, b, c = (mind.add(f"ant {text}") for text in ("bee", "cat", "dog"))
        mind.search("ant")
        mind.forget(b)
        mind.flush()
        assert [link.id for link in mind.neighbours(a)] == [c]
        assert mind.stats()["links"] == 1
    with Engine(path, clock=clock) as mind:
        assert mind.neighbours(a) != []
        assert mind.stats()["links"] == 1


def test_two_engines_add_up_their_links(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "mind.db"
    options: dict[str, Any] = {"clock": clock, "profile": "cognitive"}
    with Engine(path, **options) as one, Engine(path, **options) as two:
        a, b = one.add("ant bee"), one.add("ant cat")
        two.refresh()
        for number in range(4):
            one.search("ant")
            two.search("ant")
            if number % 2:
                one.flush()
        one.flush()
        two.flush()
        one.refresh()
        for mind in (one, two):
            assert mind.neighbours(a)[0].weight == pytest.approx(0.8)
            assert mind.get(b).access_count == 8
    with Engine(path, **options) as again:
        assert again.neighbours(a)[0].weight == pytest.approx(0.8)


def test_a_memory_becomes_core_and_a_cold_one_hot(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=clock, profile="cognitive") as mind:
        id = mind.add("ant", stability=0.9, access_count=8)
        cold = mind.add("bee", tier="cold")
        mind.link(id, cold, 0.9)
        for session in ("s1", "s2"):
            assert mind.search("ant", session=session).ids == [id, cold]
            assert not mind.get(id).core
        assert mind.get(cold).tier == "hot"
        assert mind.search("bee", reinforce=False).ids[0] == cold
        mind.search("ant", session="s3")
        assert mind.get(id).core
        mind.update(id, core=False)
        assert not mind.get(id).core
        mind.search("ant", session="s3")
    with Engine(path, clock=clock, profile="cognitive") as mind:
        assert mind.get(id).core
        assert mind.get(cold).tier == "hot"
        assert mind.search("bee", reinforce=False).ids[0] == cold


@pytest.mark.parametrize("name", ["cognitive", "oneiros"])
def test_counts_and_links_are_exact_after_many_threads(tmp_path: Path, name: str) -> None:
    """Eight threads search while one writes; nothing is lost, nothing counted twice."""
    path = tmp_path / "mind.db"
    searches = 40
    with Engine(path, clock=lambda: NOW, profile=name) as mind:
        ids = [mind.add(f"ant {text}") for text in ("bee", "cat", "dog")]
        bare = SpacedReinforcement(link_gain=1 / 1024)
        rule = mind._scope.services.profile.reinforcement if name == "oneiros" else bare
        slow = mind._scope.services.profile.replace(reinforcement=rule)
        done = threading.Event()
        failures: list[BaseException] = []

        def search(session: str) -> None:
            try:
                for number in range(searches):
                    mind.search("ant", profile=slow, session=f"{session} {number % 4}")
            except BaseException as error:  # noqa: BLE001 - told below
                failures.append(error)

        def write() -> None:
            number = 0
            while not done.is_set():
                mind.update(ids[number % 3], importance=(number % 10) / 10)
                mind.add(f"eel {number}")
                mind.flush()
                number += 1

        threads = [threading.Thread(target=search, args=(f"s{n}",)) for n in range(8)]
        writer = threading.Thread(target=write)
        for thread in (writer, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        writer.join()
        assert not failures
        # At one moment a link whose rest counts gains once, whoever asks.
        weight = 0.05 if name == "oneiros" else 8 * searches / 1024
        check_exact(mind, ids, 8 * searches, weight)
    with Engine(path, clock=lambda: NOW) as again:
        check_exact(again, ids, 8 * searches, weight)


def check_exact(mind: Engine, ids: list[str], count: int, weight: float) -> None:
    for id in ids:
        memory = mind.get(id)
        assert memory.access_count == count
        assert memory.session_spread == len(memory.sessions) == 32
        assert [link.weight for link in mind.neighbours(id, now=NOW)] == [weight] * 2
