"""What Reverie's phases make of worlds that are small enough to be done by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from oneiros import profiles
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.phases.reverie import LIMITS_DAYS, Consolidate, Place, Promote, Prune, Scan
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.scoring.tables import Table
from tests.dream.dreaming import CYCLE, dreamt
from tests.dream.worlds import DAY, HOUR, NOW, World, after


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

    worlds = [  # by hand: the rows that go
        ((), [said(2), said(1, topic="a"), said(1, topic="b")]),
        ((), [said(2), said(1, project="p"), said(1, project="q")]),
        ((0,), [said(2, project="p"), said(1, project="p"), said(1)]),
        ((0, 2), [said(3), said(1), said(2)]),
        ((0, 1), [said(1), said(1), said(1)]),
        ((1,), [said(5), said(9), said(1, status="archived")]),
        ((2,), [said(5), said(9, pinned=True), said(1, superseded_by="other")]),
        ((1, 2), [said(9), said(99, kind="bug"), said(5, superseded_by="other")]),
        ((0,), [said(99), said(61, kind="bug", pinned=True)]),
        ((1,), [said(99, kind="bug", last_accessed_at=NOW), said(61, kind="bug")]),
        ((0, 1, 3), [said(3), said(4), said(1), said(2)]),
        ((1,), [said(3, title="a"), said(2), said(1)]),
        ((), [said(3), said(1, ttl=4 * DAY)]),
        ((), [said(3, event_at=NOW - 9 * DAY), said(2), said(1, event_at=NOW - DAY)]),
        ((0,), [said(3, event_at=NOW - DAY), said(2), said(1, event_at=NOW - DAY)]),
        ((), [said(3), said(1, valid_from=NOW + DAY)]),
        ((1,), [said(3), said(2, valid_until=NOW), said(1, valid_until=NOW)]),
        ((0, 2), [said(4), said(2), said(3), said(1, valid_until=NOW - DAY)]),
        ((0,), [said(3, ttl=9 * DAY), said(1, ttl=7 * DAY), said(1, ttl=9 * DAY)]),
    ]
    for gone, memories in worlds:
        left = after(world := World(memories), dreamt(world, [Prune()])).memories
        assert tuple(row for row, one in enumerate(left) if one["deleted_at"] == NOW) == gone


def test_a_scan_looks_at_what_is_live_and_older_than_an_hour() -> None:
    hour, older = {"created_at": NOW - HOUR}, {"created_at": NOW - HOUR - 1.0}
    world = World(
        [
            {"text": "ada likes tea", **older},
            {"text": "something else", "importance": 0.9, **older},
            {"text": "too young", **hour},
            {"text": "something else", **older, "deleted_at": NOW},
        ]
    )
    assert dreamt(world, [Scan()]).candidates.tolist() == [1, 0]
    said_before = World([*world.memories[:3], {"text": "something else", **hour}])
    assert dreamt(said_before, [Scan()]).candidates.tolist() == [0, 1]


def test_peers_of_a_session_and_a_topic_count_once() -> None:
    fields = {"created_at": NOW - DAY}
    both = {"session": "s", "topic": "t"}
    world = World(
        [{**fields, **both}, {**fields, **both}, {**fields, "topic": "t"}, fields, fields]
    )
    draft = dreamt(world, [Scan(), Consolidate()])
    assert draft.peer_counts is not None
    assert draft.peer_counts.tolist() == [2, 2, 2, 0, 0]
    assert sorted((link.one, link.other) for link in draft.links) == [(0, 1), (0, 2), (1, 2)]


def test_what_a_budget_kept_from_its_strength_was_not_replayed() -> None:
    weak = {"strength": 0.5, "session": "s", "created_at": NOW - 2 * HOUR}
    world = World([weak, {**weak, "text": "newer", "importance": 0.9}, weak])
    draft = dreamt(world, [Scan(), Consolidate()], rails=SafetyRails(most_changed=0.7))
    assert draft.candidates.tolist() == [1, 0]
    assert [(link.one, link.other) for link in draft.links] == [(1, 0)]
    assert draft.peer_counts is not None
    assert draft.peer_counts.tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    ("depth", "fields", "rises_to"),
    [
        (1, {"session_spread": 2, "access_count": 3}, 2),
        (1, {"session_spread": 2, "access_count": 2}, 1),
        (1, {"session_spread": 1, "access_count": 3}, 1),
        (1, {"session_spread": 9, "access_count": 9}, 2),  # one step a cycle
        (2, {"session_spread": 5}, 3),
        (2, {"session_spread": 4}, 2),
        (2, {"session_spread": 5, "created_at": NOW - 180 * DAY}, 2),  # as stale as can be
        (2, {"session_spread": 5, "created_at": NOW - 179 * DAY}, 3),
        (3, {"created_at": NOW - 360 * DAY}, 2),
        (3, {"created_at": NOW - 359 * DAY}, 3),
        (3, {"created_at": NOW - 900 * DAY, "kind": "preference"}, 3),
        (1, {"created_at": NOW - 900 * DAY}, 1),
    ],
)
def test_depth_follows_use(depth: int, fields: dict[str, Any], rises_to: int) -> None:
    world = World([{"depth": depth, **fields}])
    assert after(world, dreamt(world, [Promote()])).memories[0]["depth"] == rises_to


def test_each_two_missed_limits_cost_a_depth_once() -> None:
    world = World([{"depth": 3, "created_at": NOW - 740 * DAY}])
    for since, depth in ((0.0, 3), (10.0, 3), (21.0, 2), (400.0, 2)):  # staleness 4 since 20 days
        draft = dreamt(world, [Promote()], previous=NOW - since * DAY)
        assert after(world, draft).memories[0]["depth"] == depth


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
    lasting = ("fact", "lesson", "skill", "entity", "profile", "relationship")
    days = Table(
        {
            **LIMITS_DAYS,
            "session": 75.0,
            "bug": 120.0,
            "config": 180.0,
            **dict.fromkeys(lasting, math.inf),
        }
    )
    never = Table({})
    assert house.phases == (
        *CYCLE[:3],
        Prune(limits_days=never, other_limit_days=math.inf, strength_floor=0.0),
        Place(limits_days=never, other_limit_days=math.inf, below_strength=0.0),
        Promote(limits_days=days),
        Budget(),
    )
    assert house.rails == SafetyRails(  # H8
        youngest_days=7.0,
        most_pruned=0.1,
        activity_times=("updated_at", "learned_at"),
        kept_importance=0.8,
        kept_priority=4,
    )


def test_the_house_takes_nothing_away_for_age_or_for_being_weak() -> None:
    """By hand: what goes is superseded or said twice, however old and weak the rest is."""
    weak = {"strength": 0.01, "status": "consolidated"}
    kinds = ("preference", "decision", "session", "bug", "config", "fact", "other")
    world = World(
        [
            {**weak, "text": f"of {kind}", "kind": kind, "created_at": NOW - 4_000 * DAY}
            for kind in kinds
        ]
        + [
            {**weak, "text": "said twice", "created_at": NOW - days * DAY}
            for days in (300.0, 200.0)
        ]
    )
    left = after(world, dreamt(world, profiles.get("oneiros").phases)).memories
    for memory, kind in zip(left, kinds, strict=False):
        assert memory["deleted_at"] is None, kind
        assert memory["status"] == "consolidated", kind
    assert [memory["deleted_at"] for memory in left[len(kinds) :]] == [NOW, None]
