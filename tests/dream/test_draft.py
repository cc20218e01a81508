"""What a draft lets phases do, and what its rails keep them from."""

from __future__ import annotations

import tracemalloc

import numpy as np

from oneiros.dream.changes import LinkChange
from oneiros.dream.draft import Draft
from oneiros.scoring.factors import KindWeight, Retention
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.worlds import DAY, NOW, World, changes_of


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint32)


def draft_of(memories: list[dict[str, object]], **told: object) -> Draft:
    draft = Draft(World(memories), now=NOW, **told)  # type: ignore[arg-type]
    draft.begin("trial")
    return draft


def test_a_factor_is_the_profiles_own_or_as_published() -> None:
    mine = Retention(beta_days=(1.0, 2.0, 3.0, 4.0))
    draft = draft_of([{}], factors=(KindWeight(otherwise=2.0), mine))
    assert draft.factor(Retention) is mine
    assert draft.factor(KindWeight).otherwise == 2.0
    assert draft_of([{}]).factor(Retention) == Retention()


def test_what_is_changed_together_is_changed_whole_or_not() -> None:
    draft = draft_of([{}] * 10, rails=SafetyRails(most_changed=0.3))
    assert draft.changeable("X1", rows(0, 1, 2, 3), whole=True).tolist() == []
    assert draft.changeable("X1", rows(0, 1), whole=True).tolist() == [0, 1]
    assert draft.changeable("X1", rows(0, 1, 2, 3)).tolist() == [0, 1, 2]
    assert draft.changeable("X1", rows(1, 2), whole=True).tolist() == [1, 2]  # counted already
    assert [(held.reason, held.rows) for held in draft.held] == [
        ("change budget", 4),
        ("change budget", 1),
    ]


def test_a_stub_is_something_taken_away() -> None:
    memories: list[dict[str, object]] = [
        {"created_at": NOW - 9 * DAY},
        {"pinned": True, "created_at": NOW - 9 * DAY},
        {"created_at": NOW - DAY},
        {"tier": "stub", "created_at": NOW - 9 * DAY},
        {"tier": "cold", "created_at": NOW - 9 * DAY},
        {"created_at": NOW - 9 * DAY},
    ]
    rails = SafetyRails(youngest_days=7, most_pruned=0.4, most_changed=0.0)
    draft = draft_of(memories, rails=rails)
    assert draft.cut_to_stub("X1", rows(0, 1, 2, 3, 4, 5)).tolist() == [0, 4]
    assert changes_of(draft) == {(0, "tier"): ("hot", "stub"), (4, "tier"): ("cold", "stub")}
    assert [(held.reason, held.rows) for held in draft.held] == [
        ("protected", 1),
        ("young", 1),
        ("prune budget", 1),
    ]


def test_links_are_told_one_by_one_in_their_order() -> None:
    draft = draft_of([{}] * 6)
    draft.link("X1", rows(0, 1), rows(2, 3), gain=0.5)
    draft.link("X1", 4, 5, gain=0.5)
    draft.link("X1", rows(), rows(), gain=0.25)  # nothing
    draft.begin("another")
    draft.link("X2", -1, 5, weight=0.0, kind="summary")
    draft.link("X1", 1, 0, gain=0.5)
    assert list(draft.links) == [
        LinkChange("trial", "X1", 0, 2, 0.5, None, "co_retrieval"),
        LinkChange("trial", "X1", 1, 3, 0.5, None, "co_retrieval"),
        LinkChange("trial", "X1", 4, 5, 0.5, None, "co_retrieval"),
        LinkChange("another", "X2", -1, 5, 0.0, 0.0, "summary"),
        LinkChange("another", "X1", 1, 0, 0.5, None, "co_retrieval"),
    ]
    assert len(draft.links) == 5
    assert [len(part.ones) for part in draft.links.parts] == [3, 1, 1]


def test_a_million_links_take_the_room_of_their_numbers() -> None:
    draft = draft_of([{}] * 2)
    count = 200_000
    ends = np.zeros(count, np.uint32), np.ones(count, np.uint32)
    tracemalloc.start()
    try:
        draft.link("X1", *ends, gain=0.5)
        assert tracemalloc.get_traced_memory()[0] < 20 * count
    finally:
        tracemalloc.stop()
    assert len(draft.links) == count
