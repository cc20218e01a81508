"""What a plan has of one memory: its changes, and why the profile's rails keep it."""

from __future__ import annotations

import pytest

from oneiros import Engine, profiles
from oneiros.dream.report import HELD_WORDS, held_words
from oneiros.scoring.safety_limits import SafetyRails

DAY = 86_400.0
NOW = 1_750_000_000.0


@pytest.fixture
def engine() -> Engine:
    rails = SafetyRails(youngest_days=7, kept_importance=0.9, kept_priority=None)
    profile = profiles.get("oneiros").replace(name="careful", rails=rails)
    return Engine(":memory:", profile=profile, clock=lambda: NOW - 30 * DAY)


def test_reasons_are_those_of_the_rails(engine: Engine) -> None:
    engine.add("an old note", id="old")
    engine.add("an old rule", id="pinned", pinned=True)
    engine.add("said aloud", id="tagged", importance_tag="explicit")
    engine.add("an old decision", id="heavy", importance=1.0)
    engine.add("a new note", id="new", created_at=NOW - DAY)
    plan = engine.dream(NOW, dry_run=True)
    assert {id: plan.protections(id) for id in ("old", "pinned", "tagged", "heavy", "new")} == {
        "old": (),
        "pinned": ("protected",),
        "tagged": ("protected",),
        "heavy": ("important",),
        "new": ("young",),
    }
    for reason in ("protected", "important", "young"):
        assert held_words(reason) == HELD_WORDS[reason] != reason


def test_deleted_unknown_and_later_memories_have_none(engine: Engine) -> None:
    engine.add("gone", id="gone", pinned=True)
    engine.delete("gone")
    plan = engine.dream(NOW, dry_run=True)
    engine.add("later", id="later", pinned=True)
    assert [plan.protections(id) for id in ("gone", "later", "nobody's")] == [(), (), ()]
    with pytest.raises(TypeError, match="id: "):
        plan.protections(3)  # type: ignore[arg-type]


def test_the_changes_of_one_memory_are_those_of_all(engine: Engine) -> None:
    engine.add_many(
        {"id": f"m{number}", "text": f"tea {number % 7}", "session": f"s{number % 3}"}
        for number in range(30)
    )
    engine.supersede("m1", "m2")
    for name in ("reverie", "cognitive", "oneiros"):
        plan = engine.dream(NOW, dry_run=True, profile=name)
        every = list(plan.changes())
        assert {change.field for change in every} > {"strength"} or name == "cognitive"
        for id in (*(f"m{number}" for number in range(30)), "nobody"):
            assert list(plan.changes(id=id)) == [change for change in every if change.id == id]
            assert list(plan.changes(["status"], id=id)) == [
                change for change in every if change.id == id and change.field == "status"
            ]
    with pytest.raises(TypeError, match="id: "):
        plan.changes(id=3)  # type: ignore[arg-type]
