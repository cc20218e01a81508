"""What is old, unused and weak is archived: docs/systems/omega.md O31."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.scoring.factors import KindWeight
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.scoring.tables import Table
from tests.dream.fading import MEMORIES, after_changes, drafted, rows_of
from tests.dream.worlds import DAY, NOW, World, after
from tests.oracles import maintenance

OLD = {"created_at": NOW - 400 * DAY}


@given(st.lists(MEMORIES, max_size=12))
def test_what_is_forgotten_is_what_the_page_says(memories: list[dict[str, Any]]) -> None:
    world = World(memories)
    draft = drafted(world, Forgetting())
    gone = maintenance.forgotten(world.memories, NOW)
    assert rows_of(draft, "status") == gone
    assert after_changes(draft) == {(row, "status"): "archived" for row in gone}
    assert not drafted(after(world, draft), Forgetting()).columns


@pytest.mark.parametrize(
    ("memory", "is_forgotten"),
    [
        ({"kind": "code_chunk"}, True),  # 0.1 x 1 x 0.15
        ({"kind": "note"}, False),  # 1 x 1 x 0.15
        ({"kind": "note", "feedback": -3}, False),  # 1 x 0.4 x 0.15 = 0.06
        ({"kind": "note", "feedback": -4}, True),  # 1 x 0.2 x 0.15 = 0.03
        ({"kind": "code_chunk", "access_count": 1}, False),
        ({"kind": "code_chunk", "access_count": 1, "feedback": -3}, True),  # 0.1 x 0.4 x 0.35
        ({"kind": "code_chunk", "created_at": NOW - 29 * DAY}, False),
        ({"kind": "test", "feedback": -4, "created_at": NOW - 30 * DAY}, True),  # 0.08 exp(-0.6)
        ({"kind": "error_pattern", "feedback": -9}, False),
    ],
)
def test_worked_values(memory: dict[str, Any], is_forgotten: bool) -> None:
    draft = drafted([{**OLD, **memory}], Forgetting())
    assert rows_of(draft, "status") == [0] * is_forgotten


def test_exempt_kinds_stay_whatever_they_weigh() -> None:
    kinds = ["user_preference", "error_pattern", "constraint", "reminder", "note"]
    memories = [{**OLD, "kind": kind} for kind in kinds]
    nothing = KindWeight(table=Table({}), otherwise=0.0)
    assert rows_of(drafted(memories, Forgetting(), factors=(nothing,)), "status") == [4]
    free = Forgetting(exempt=())
    assert rows_of(drafted(memories, free, factors=(nothing,)), "status") == [0, 1, 2, 3, 4]


def test_the_weakest_go_first() -> None:
    kinds = ["code_chunk", "file_summary", "coordination_snapshot", "file_summary"]
    memories = [{**OLD, "kind": kind} for kind in kinds]
    draft = drafted(memories, Forgetting(), rails=SafetyRails(most_pruned=0.75))
    assert rows_of(draft, "status") == [1, 3, 0]
    assert [(held.reason, held.rows) for held in draft.held] == [("prune budget", 1)]


def test_numbers_are_checked() -> None:
    with pytest.raises(ValueError, match=r"disliked_at: must be .* <= 0, got 1"):
        Forgetting(disliked_at=1)
    with pytest.raises(TypeError, match="exempt: expected a list of words, got str 'note'"):
        Forgetting(exempt="note")  # type: ignore[arg-type]
