"""Reverie's phases against their oracle, and what holds of every cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros.dream.draft import Draft
from oneiros.scoring.phases import Phase
from oneiros.scoring.phases.reverie import (
    PHASES,
    Downscale,
    Scan,
)
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.store.cycles import DayTaken
from tests.dream.dreaming import CYCLE, dreamt
from tests.dream.random_worlds import PREVIOUS, WORLDS
from tests.dream.worlds import DAY, NOW, World, after
from tests.oracles import dreaming
from tests.oracles.ieee import as_float32

MANY = settings(max_examples=300, deadline=None)
FIELDS = ("status", "deleted_at", "depth", "canonical_layer", "replayed_at")
RAILS = st.builds(
    SafetyRails,
    youngest_days=st.sampled_from([0.0, 7.0, 30.0]),
    most_pruned=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    most_changed=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    activity_times=st.lists(st.sampled_from(["updated_at", "learned_at"]), max_size=2),
    kept_importance=st.sampled_from([None, 0.0, 0.5, 0.8]),
    kept_priority=st.sampled_from([None, None, 1, 4]),
)
DAYS = st.builds(
    lambda removed, shown: DayTaken(removed, shown, taken_shown=removed),
    st.integers(0, 3),
    st.none() | st.integers(0, 20),
)
EVERYTHING = (Scan(limit=None), *CYCLE[1:])


def by_the_page(
    world: World,
    names: Sequence[str],
    *,
    rails: SafetyRails | None = None,
    previous: float | None = None,
    day: DayTaken | None = None,
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
        activity_times=rails.activity_times,
        kept_importance=rails.kept_importance,
        kept_priority=rails.kept_priority,
        taken_before=0 if day is None else day.memories,
        live_at_first=None if day is None else day.shown,
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
@given(
    world=WORLDS,
    previous=PREVIOUS,
    rails=RAILS,
    day=st.none() | DAYS,
    limit=st.none() | st.integers(1, 6),
)
def test_a_cycle_is_what_the_page_says(
    world: World,
    previous: float | None,
    rails: SafetyRails,
    day: DayTaken | None,
    limit: int | None,
) -> None:
    phases = (Scan(limit=limit), *CYCLE[1:])
    names = [phase.name for phase in phases]
    draft = dreamt(world, phases, rails=rails, previous=previous, day=day)
    cycle = by_the_page(world, names, rails=rails, previous=previous, day=day, limit=limit)
    assert_is(draft, world, cycle)
    assert len(draft.taken_rows()) == len(cycle.pruned)


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
            known = max(before["created_at"], before["learned_at"] or before["created_at"])
            assert max(NOW - known, 0.0) >= rails.youngest_days * DAY
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
    assert (again.columns, list(again.links), again.contents, again.added) == ([], [], [], [])
    whole = dreamt(first, EVERYTHING, previous=NOW)
    assert {change.field for change in whole.columns if change.phase == "downscale"} <= {"strength"}
