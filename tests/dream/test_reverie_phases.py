"""Reverie's phases against their oracle, and what holds of every cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.dream.draft import Draft
from oneiros.dream.phases import run_phase
from oneiros.ranking.phases.phase import Phase
from oneiros.ranking.phases.reverie import PHASES, Consolidate, Downscale, Prune, Scan
from oneiros.ranking.rails import SafetyRails
from tests.dream.random_worlds import PREVIOUS, WORLDS
from tests.dream.worlds import DAY, HOUR, NOW, World, after
from tests.oracles import dreaming
from tests.oracles.ieee import as_float32

MANY = settings(max_examples=300, deadline=None)
FIELDS = ("status", "deleted_at", "depth", "canonical_layer", "replayed_at")
RAILS = st.builds(
    SafetyRails,
    youngest_days=st.sampled_from([0.0, 7.0, 30.0]),
    most_pruned=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    most_changed=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
CYCLE = tuple(kind() for kind in PHASES)
EVERYTHING = (replace(CYCLE[0], limit=None), *CYCLE[1:])


def dreamt(
    world: World,
    phases: Sequence[Phase] = CYCLE,
    *,
    rails: SafetyRails | None = None,
    previous: float | None = None,
) -> Draft:
    draft = Draft(world, now=NOW, previous=previous, rails=rails)
    for phase in phases:
        run_phase(draft, phase)
    return draft


def by_the_page(
    world: World,
    names: Sequence[str],
    *,
    rails: SafetyRails | None = None,
    previous: float | None = None,
    **scan: Any,
) -> dreaming.Cycle:
    rails = rails or SafetyRails()
    cycle = dreaming.Cycle(
        world.memories,
        now=NOW,
        previous=previous,
        youngest_days=rails.youngest_days,
        most_pruned=rails.most_pruned,
        most_changed=rails.most_changed,
    )
    for name in names:
        dreaming.PHASES[name](cycle, **(scan if name == "scan" else {}))
    return cycle


def assert_is(draft: Draft, world: World, cycle: dreaming.Cycle) -> None:
    """The draft leaves what the page leaves, in every field of every memory."""
    left = after(world, draft)
    for row, (got, want) in enumerate(zip(left.memories, cycle.memories, strict=True)):
        if row in cycle.candidates:
            want["replayed_at"] = NOW
        assert {name: got[name] for name in FIELDS} == {name: want[name] for name in FIELDS}, row
        assert got["strength"] == pytest.approx(want["strength"], rel=1e-6), row
    assert draft.candidates.tolist() == cycle.candidates
    assert sorted((min(one.one, one.other), max(one.one, one.other)) for one in draft.links) == (
        cycle.links
    )
    assert all(link.gain == 0.1 and link.weight is None for link in draft.links)
    if draft.peer_counts is not None:
        want_counts = [len(cycle.peers.get(row, ())) for row in range(len(world))]
        assert draft.peer_counts.tolist() == want_counts


@MANY
@given(world=WORLDS, previous=PREVIOUS, rails=RAILS, limit=st.none() | st.integers(1, 6))
def test_a_cycle_is_what_the_page_says(
    world: World, previous: float | None, rails: SafetyRails, limit: int | None
) -> None:
    phases = (Scan(limit=limit), *CYCLE[1:])
    names = [phase.name for phase in phases]
    draft = dreamt(world, phases, rails=rails, previous=previous)
    assert_is(draft, world, by_the_page(world, names, rails=rails, previous=previous, limit=limit))


@pytest.mark.parametrize("kind", PHASES)
@settings(max_examples=60, deadline=None)
@given(world=WORLDS, previous=PREVIOUS)
def test_each_phase_can_run_alone(kind: type[Phase], world: World, previous: float | None) -> None:
    draft = dreamt(world, [kind()], previous=previous)
    assert_is(draft, world, by_the_page(world, [kind.name], previous=previous))


@MANY
@given(world=WORLDS, compared=st.integers(0, 3), limit=st.integers(1, 5))
def test_only_the_most_urgent_are_asked_for_their_novelty(
    world: World, compared: int, limit: int
) -> None:
    phases = [Scan(compared=compared, limit=limit)]
    draft = dreamt(world, phases)
    want = by_the_page(world, ["scan"], compared=compared, limit=limit)
    assert draft.candidates.tolist() == want.candidates


@MANY
@given(world=WORLDS, previous=PREVIOUS, rails=RAILS)
def test_what_no_cycle_does(world: World, previous: float | None, rails: SafetyRails) -> None:
    draft = dreamt(world, rails=rails, previous=previous)
    left = after(world, draft)
    taken = changed = 0
    live = len(world.live_rows())
    for before, now in zip(world.memories, left.memories, strict=True):
        floor = as_float32(0.01)
        assert min(floor, before["strength"]) <= now["strength"] <= 1
        was_taken = now["deleted_at"] != before["deleted_at"]
        was_taken |= now["status"] == "archived" != before["status"]
        if was_taken:
            taken += 1
            assert not dreaming.is_protected(before)
            assert NOW - before["created_at"] >= rails.youngest_days * DAY
        changed += any(before[name] != now[name] for name in ("depth", "canonical_layer"))
        if before["deleted_at"] is not None or before["erased"]:
            assert {**now, "replayed_at": 0} == {**before, "replayed_at": 0}
    assert taken <= rails.most_pruned * live
    assert changed <= rails.most_changed * live


@MANY
@given(world=WORLDS, previous=PREVIOUS)
def test_a_second_cycle_at_once_only_downscales(world: World, previous: float | None) -> None:
    phases = [phase for phase in EVERYTHING if not isinstance(phase, Downscale)]
    first = after(world, dreamt(world, phases, previous=previous))
    again = dreamt(first, phases, previous=NOW)
    assert (again.columns, again.links, again.contents, again.added) == ([], [], [], [])
    whole = dreamt(first, EVERYTHING, previous=NOW)
    assert {change.field for change in whole.columns if change.phase == "downscale"} <= {"strength"}


def test_a_worked_cycle() -> None:
    """By hand: two fresh notes of a session, a stale bug, a repeated note, a well used one."""
    world = World(
        [
            {"text": "ada likes tea", "session": "s", "created_at": NOW - 2 * HOUR},
            {"text": "ada likes coffee", "session": "s", "created_at": NOW - 2 * HOUR},
            {
                "text": "crash",
                "kind": "bug",
                "status": "consolidated",
                "created_at": NOW - 61 * DAY,
            },
            {"text": "twice", "status": "consolidated", "created_at": NOW - 3 * DAY},
            {"text": "twice", "status": "consolidated", "created_at": NOW - 2 * DAY},
            {
                "text": "used",
                "status": "consolidated",
                "depth": 1,
                "created_at": NOW - 10 * DAY,
                "last_accessed_at": NOW,
                "access_count": 4,
                "session_spread": 2,
            },
            {"strength": 0.5, "created_at": NOW, "importance_tag": "cross_session"},
        ]
    )
    left = after(world, draft := dreamt(world))
    assert draft.candidates.tolist() == [0, 1]
    assert [(link.one, link.other) for link in draft.links] == [(0, 1)]
    statuses = [memory["status"] for memory in left.memories]
    assert statuses[:2] == ["consolidated", "consolidated"]  # a peer each
    assert statuses[6] == "staged"
    assert [row for row, one in enumerate(left.memories) if one["deleted_at"] == NOW] == [2, 3]
    strengths = [memory["strength"] for memory in left.memories]
    assert strengths == pytest.approx([0.95] * 6 + [0.4875], rel=1e-6)
    assert (left.memories[5]["depth"], left.memories[5]["canonical_layer"]) == (2, "intermediate")
    assert left.memories[4]["canonical_layer"] == "episodic"  # never accessed: no signal


def test_of_what_is_said_twice_the_newest_stays() -> None:
    def said(days: float, **fields: Any) -> dict[str, Any]:
        return {"text": "twice", "status": "consolidated", "created_at": NOW - days * DAY, **fields}

    worlds = {  # by hand: the rows that go
        (): [said(2), said(1, topic="a"), said(1, topic="b")],
        (0, 2): [said(3), said(1), said(2)],
        (0, 1): [said(1), said(1), said(1)],
        (1,): [said(5), said(9), said(1, status="archived")],
        (2,): [said(5), said(9, pinned=True), said(1, superseded_by="other")],
        (1, 2): [said(9), said(99, kind="bug"), said(5, superseded_by="other")],
        (0,): [said(99), said(61, kind="bug", pinned=True)],
        (0, 1, 3): [said(3), said(4), said(1), said(2)],
    }
    for gone, memories in worlds.items():
        left = after(world := World(memories), dreamt(world, [Prune()])).memories
        assert tuple(row for row, one in enumerate(left) if one["deleted_at"] == NOW) == gone


def test_a_replay_gives_what_its_peers_and_age_say() -> None:
    weak = {"strength": 0.5, "created_at": NOW - 2 * HOUR, "session": "s"}
    world = World([{**weak, "text": text} for text in ("one", "two", "three", "four")])
    left = after(world, dreamt(world, [Scan(), Consolidate()]))
    gain = 0.1 / 3 * np.log(4)  # two hours, three peers
    assert [one["strength"] for one in left.memories] == pytest.approx([0.5 + gain] * 4)


def test_many_of_a_session_are_linked_within_bounds() -> None:
    world = World(
        [{"text": f"w{row}", "session": "s", "created_at": NOW - 9 * DAY} for row in range(40)]
    )
    draft = dreamt(world, [Scan(), Consolidate()])
    assert draft.peer_counts is not None
    assert draft.peer_counts.tolist() == [39] * 40
    assert len(draft.links) == 32 * 31 // 2


def test_the_profiles_dream_as_the_pages_say() -> None:
    for name in ("reverie", "reverie-capped"):
        profile = profiles.get(name)
        assert profile.phases == CYCLE
        assert profile.rails is None
    house = profiles.get("oneiros")
    assert house.phases == CYCLE
    assert house.rails == SafetyRails(youngest_days=7.0, most_pruned=0.1)  # H8
