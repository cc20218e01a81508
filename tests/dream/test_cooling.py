"""Memories at the floor of their retention go cold: docs/systems/cognitive.md C19."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.scoring.factors import Retention
from oneiros.scoring.phases.cognitive import Cooling
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.fading import MEMORIES, after_changes, drafted, fading, rows_of
from tests.dream.worlds import DAY, NOW, World, after
from tests.oracles import maintenance
from tests.oracles.cognitive import BETA_DAYS_0_5


@given(st.lists(MEMORIES, max_size=12))
def test_what_goes_cold_is_what_the_page_says(memories: list[dict[str, Any]]) -> None:
    world = World(memories)
    draft = drafted(world, Cooling())
    assert after_changes(draft) == maintenance.cooled(world.memories, NOW)
    assert after_changes(drafted(after(world, draft), Cooling())) == {}


@given(st.lists(MEMORIES, max_size=12))
def test_retention_is_that_of_the_profile(memories: list[dict[str, Any]]) -> None:
    world = World(memories)
    slower = Retention(beta_days=BETA_DAYS_0_5)
    told = maintenance.cooled(world.memories, NOW, BETA_DAYS_0_5)
    assert after_changes(drafted(world, Cooling(), factors=(slower,))) == told


def test_days_count_from_the_first_cycle_that_sees_it_at_its_floor() -> None:
    world = World([fading()])
    first = drafted(world, Cooling())
    assert after_changes(first) == {(0, "at_floor_since"): NOW}
    later = after(world, first)
    for days, tier in ((6.99, "hot"), (7.0, "cold")):
        later.memories[0]["at_floor_since"] = NOW - days * DAY
        assert after(later, drafted(World(later.memories), Cooling())).memories[0]["tier"] == tier


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ({"at_floor_since": NOW - 9 * DAY, "last_accessed_at": NOW}, {"at_floor_since": None}),
        ({"at_floor_since": NOW - 9 * DAY, "core": True}, {"at_floor_since": None}),
        (  # a search warmed it, and it has long been at its floor again
            {"at_floor_since": NOW - 3_000 * DAY, "last_accessed_at": NOW - 2_000 * DAY},
            {"at_floor_since": NOW},
        ),
        ({"cold_since": NOW - 9 * DAY, "last_accessed_at": NOW}, {"cold_since": None}),
        ({"tier": "cold"}, {"cold_since": NOW}),
        ({"superseded_by": "m1", "core": True}, {"tier": "cold", "cold_since": NOW}),
        ({"category": "procedural", "at_floor_since": NOW - DAY}, {"at_floor_since": None}),
    ],
    ids=["accessed", "core", "at its floor again", "warmed", "undated", "superseded", "no end"],
)
def test_tiers_and_times(memory: dict[str, Any], told: dict[str, Any]) -> None:
    draft = drafted([fading(**memory)], Cooling())
    assert after_changes(draft) == {(0, field): value for field, value in told.items()}


def test_no_core_memory_is_at_its_floor() -> None:
    low = Retention(floors=(0.02, 0.02, 0.02, 0.02))
    assert after_changes(drafted([fading(core=True)], Cooling(), factors=(low,))) == {}


def test_near_its_floor_is_at_it() -> None:
    def days(retention: float) -> float:
        return -45.0 * 2.0 * math.log(retention)  # C1: episodic, importance 0.5

    memories = [fading(last_accessed_at=NOW - days(near) * DAY) for near in (0.02099, 0.02101)]
    assert rows_of(drafted(memories, Cooling()), "at_floor_since") == [0]
    assert rows_of(drafted(memories, Cooling(within=0.01)), "at_floor_since") == [0, 1]


def test_superseded_ones_go_first_then_those_that_waited_longest() -> None:
    waiting = [fading(at_floor_since=NOW - days * DAY) for days in (8, 30, 9)]
    memories = [*waiting, fading(superseded_by="m0"), {}]
    for share, gone in ((1.0, [3, 1, 2, 0]), (0.4, [3, 1])):
        draft = drafted(memories, Cooling(), rails=SafetyRails(most_changed=share))
        assert rows_of(draft, "tier") == gone
        assert rows_of(draft, "cold_since") == gone


def test_numbers_are_checked() -> None:
    with pytest.raises(ValueError, match="within: must be >= 0 and <= 1, got 2"):
        Cooling(within=2)
    with pytest.raises(ValueError, match="days: must be >= 0"):
        Cooling(days=np.nan)
