"""The counts before and after a cycle are those of a plain count."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oneiros.dream.draft import Draft
from oneiros.dream.figures import KINDS, OTHER_KINDS, distributions
from oneiros.dream.report import Distribution
from tests.dream.worlds import DAY, NOW, World, after
from tests.oracles import dreams

BOUNDS = {
    "strength": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    "stability": [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0],
    "age_days": [0.0, 1.0, 7.0, 30.0, 90.0, 180.0, 365.0, 730.0],
}
MEMORY = st.fixed_dictionaries(
    {},
    optional={
        "strength": st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0]),
        "stability": st.sampled_from([0.0, 0.75, 1.0, 2.5, 9.0, 10.0, 40.0]),
        "kind": st.sampled_from(["note", "fact", "(others)"]),
        "status": st.sampled_from(["staged", "consolidated", "archived"]),
        "tier": st.sampled_from(["hot", "cold", "stub"]),
        "depth": st.integers(1, 3),
        "created_at": st.sampled_from([NOW + 9.0, NOW, NOW - DAY, NOW - 29 * DAY, NOW - 900 * DAY]),
        "deleted_at": st.sampled_from([None, NOW - 5.0]),
        "erased": st.booleans(),
    },
)


def counted(world: World, name: str, places: tuple[str, ...]) -> list[int]:
    live = [world.memories[row] for row in world.live_rows()]
    if name == "age_days":
        ages = [max(0.0, (NOW - memory["created_at"]) / DAY) for memory in live]
        return dreams.binned(ages, BOUNDS[name])
    values = [memory[name] for memory in live]
    if name in BOUNDS:
        return dreams.binned(values, BOUNDS[name])
    return [sum(str(value) == place for value in values) for place in places]


def drafted(memories: list[dict[str, Any]], chosen: list[int]) -> tuple[World, Draft]:
    """Return a world and a draft that changes the rows chosen of it, in many fields."""
    world = World(memories)
    draft = Draft(world, now=NOW)
    draft.begin("trial")
    rows = np.unique(np.array(chosen, np.uint32) % np.uint32(len(world)))
    rows = rows[draft.live[rows]]
    draft.downscale("X1", rows, 0.42)
    draft.change("X1", "depth", rows, 3)
    draft.change("X1", "tier", rows[:3], 1)
    draft.delete("X2", rows[::2])
    draft.add("X3", {"text": "a", "kind": "summary", "depth": 3}, rows)
    draft.add("X3", {"text": "b", "created_at": NOW - 10 * DAY, "status": "consolidated"}, rows)
    return world, draft


@given(st.lists(MEMORY, min_size=1, max_size=12), st.lists(st.integers(0, 11), min_size=1))
def test_the_counts_are_those_of_the_memories(
    memories: list[dict[str, Any]], chosen: list[int]
) -> None:
    world, draft = drafted(memories, chosen)
    told = {one.name: one for one in distributions(draft)}
    left = after(world, draft)
    assert list(told) == ["strength", "stability", "age_days", "kind", "status", "tier", "depth"]
    for name, one in told.items():
        assert list(one.before) == counted(world, name, one.places), name
        assert list(one.after) == counted(left, name, one.places), name
        assert sum(one.before) == len(world.live_rows())
        if name in BOUNDS:
            assert one.places == tuple(f"{bound:g}" for bound in BOUNDS[name])


def test_a_distribution_by_hand() -> None:
    memories: list[dict[str, Any]] = [
        {"strength": 1.0, "kind": "fact", "depth": 1},
        {"strength": 0.7, "created_at": NOW - 8 * DAY},
        {"strength": 0.05, "created_at": NOW - 8 * DAY, "status": "archived"},
    ]
    draft = Draft(World(memories), now=NOW)
    draft.begin("prune")
    draft.delete("R13", np.array([2], np.uint32))
    told = {one.name: one for one in distributions(draft)}
    assert told["strength"].before == (1, 0, 0, 0, 0, 0, 0, 1, 0, 1)
    assert told["strength"].after == (0, 0, 0, 0, 0, 0, 0, 1, 0, 1)
    assert told["age_days"].before == (1, 0, 2, 0, 0, 0, 0, 0)
    assert told["kind"] == Distribution(
        name="kind", places=("note", "fact"), before=(2, 1), after=(1, 1)
    )
    assert told["status"].after == (2, 0, 0)
    assert told["depth"].before == (1, 2, 0)


def test_kinds_beyond_the_thirtieth_are_counted_together() -> None:
    memories = [{"kind": f"k{number:02}"} for number in range(40) for _ in range(1 + (number < 5))]
    told = {one.name: one for one in distributions(Draft(World(memories), now=NOW))}["kind"]
    assert told.places[:5] == ("k00", "k01", "k02", "k03", "k04")
    assert (len(told.places), told.places[-1]) == (KINDS + 1, OTHER_KINDS)
    assert told.before[-1] == 10
    assert sum(told.before) == len(memories)


def test_an_empty_store_has_counts_of_nothing() -> None:
    assert all(sum(one.before + one.after) == 0 for one in distributions(Draft(World([]), now=NOW)))
