"""The figures that cycles are followed by: against plain counts, and by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.dream.draft import Draft
from oneiros.dream.figures import TOP, access_gini, drift_of, half_life_days
from oneiros.scoring.phases.reverie import Prune
from oneiros.scoring.tables import Table
from tests.dream.worlds import DAY, NOW, World
from tests.oracles import dreams

MEMORY = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["note", "session", "fact"]),
        "access_count": st.integers(0, 4),
        "last_accessed_at": st.sampled_from([None, NOW - DAY, NOW - 40 * DAY]),
        "created_at": st.sampled_from([NOW + 5.0, NOW - 3 * DAY, NOW - 50 * DAY, NOW - 400 * DAY]),
        "deleted_at": st.sampled_from([None, None, NOW - 2 * DAY, NOW - DAY]),
        "erased": st.booleans(),
    },
)


def drafted(memories: list[dict[str, Any]]) -> Draft:
    draft = Draft(World(memories), now=NOW)
    draft.begin("prune")
    return draft


@given(st.lists(MEMORY, max_size=14))
def test_the_figures_are_those_of_plain_counts(memories: list[dict[str, Any]]) -> None:
    world = World(memories)
    told = drift_of(Draft(world, now=NOW))
    live = [world.memories[row] for row in world.live_rows()]
    assert told["live"] == len(live)
    assert told["access_gini"] == pytest.approx(dreams.gini([m["access_count"] for m in live]))
    assert told["top"] == dreams.most_recalled(live, TOP)
    lives: dict[str, list[tuple[float, bool]]] = {}
    for memory in world.memories:
        if not memory["erased"]:
            died = memory["deleted_at"] is not None
            end = memory["deleted_at"] if died else NOW
            days = max(0.0, (end - memory["created_at"]) / DAY)
            lives.setdefault(memory["kind"], []).append((days, died))
    assert told["half_life_days"] == {kind: dreams.half_life(of) for kind, of in lives.items()}
    assert json.loads(json.dumps(told)) == told


def test_what_has_not_been_used_for_its_kinds_limit_is_stale() -> None:
    memories = [
        {"created_at": NOW - 200 * DAY},
        {"created_at": NOW - 200 * DAY, "last_accessed_at": NOW - 9 * DAY},
        {"created_at": NOW - 30 * DAY},
        {"created_at": NOW - 30 * DAY},
    ]
    draft = drafted(memories)
    draft.delete("R13", np.array([3], np.uint32))
    assert drift_of(draft)["stale_share"] == 1 / 3
    strict = Prune(limits_days=Table({"note": 20.0}), other_limit_days=20.0)
    assert drift_of(draft, strict)["stale_share"] == 2 / 3
    patient = Prune(limits_days=strict.limits_days, other_limit_days=20.0, least_staleness=2.0)
    assert drift_of(draft, patient)["stale_share"] == 1 / 3


def test_what_the_cycle_does_counts_at_once() -> None:
    memories = [{"id": name, "created_at": NOW - 10 * DAY, "access_count": 1} for name in "abc"]
    draft = drafted(memories)
    draft.delete("R13", np.array([0, 2], np.uint32))
    draft.add("X", {"text": "new", "access_count": 9}, np.array([0], np.uint32))
    told = drift_of(draft, before=["a", "b"])
    assert (told["live"], told["top"], told["churn"]) == (2, ["b"], 0.5)
    assert told["half_life_days"] == {"note": 10.0}


@pytest.mark.parametrize(
    ("before", "churn"), [(None, None), ([], 1.0), (["m0"], 0.0), (["x"], 1.0)]
)
def test_churn_is_what_differs_of_both_tops(before: list[str] | None, churn: float | None) -> None:
    assert drift_of(drafted([{"access_count": 2}]), before=before)["churn"] == churn


def test_without_memories_nothing_drifts() -> None:
    assert drift_of(drafted([]), before=[]) == {
        "live": 0, "stale_share": 0.0, "half_life_days": {}, "access_gini": 0.0, "top": [],
        "churn": 0.0,
    }  # fmt: skip


def test_of_many_the_fifty_recalled_most_are_noted() -> None:
    counts = [1 + number % 3 for number in range(3 * TOP)]
    world = World([{"access_count": count} for count in counts])
    told = drift_of(Draft(world, now=NOW))["top"]
    assert told == dreams.most_recalled(world.memories, TOP)
    assert len(told) == TOP


def test_gini_by_hand() -> None:
    assert access_gini(np.array([3, 3, 3], np.uint32)) == 0.0
    assert access_gini(np.array([0, 0, 0, 8], np.uint32)) == 0.75
    assert access_gini(np.array([1, 3], np.uint32)) == 0.25
    assert access_gini(np.array([], np.uint32)) == 0.0


@given(st.lists(st.tuples(st.integers(0, 6).map(float), st.booleans()), max_size=20))
def test_the_half_life_is_the_median_of_the_plain_curve(lives: list[tuple[float, bool]]) -> None:
    days = np.array([lived for lived, _ in lives], np.float64)
    died = np.array([dead for _, dead in lives], np.bool_)
    assert half_life_days(days, died) == dreams.half_life(lives)


def test_half_lives_by_hand() -> None:
    # At 2 days 4 are there and 1 goes: 3/4. One is live since 3 days. At 5, 1 of 2 goes: 3/8.
    days = np.array([2.0, 3.0, 5.0, 7.0])
    assert half_life_days(days, np.array([True, False, True, False])) == 5.0
    assert half_life_days(days, np.array([True, False, False, False])) is None
