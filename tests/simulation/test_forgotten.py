"""What dreams took away, by kind and rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oneiros.dream.report import FieldChange
from oneiros.model.memory import Memory
from oneiros.simulation.figures import Forgotten, Takings
from oneiros.simulation.run import simulate
from oneiros.simulation.workload import Workload

WORLD = Workload(days=200.0, memories=200, seed=3).world()


def change(id: str, field: str, rule: str, reason: str | None = None) -> FieldChange:
    return FieldChange(
        id=id, field=field, before=None, after=None, phase="any", rule=rule, reason=reason
    )


def memory(id: str, **fields: object) -> Memory:
    return Memory.from_record({"id": id, "text": id, **fields}, now=0.0)


def test_the_last_rule_that_moved_it_took_it_away() -> None:
    kinds = {"a": "bug", "b": "note", "c": "bug", "d": "bug", "e": "note", "f": "fact"}
    takings = Takings()
    takings.note([change("a", "status", "R14"), change("c", "status", "R14")])
    takings.note(
        [change("a", "deleted_at", "R13", "stale, superseded"), change("b", "tier", "C19")]
    )
    takings.note([change("b", "tier", "C20"), change("e", "status", "R14")])
    memories = [
        *(None, memory("b", tier="stub"), memory("c", status="archived"), memory("d")),
        *(memory("e", status="consolidated"), memory("f", tier="hot")),
    ]
    assert takings.by_kind(kinds, memories) == [
        Forgotten("bug", 3, {"R13 stale": 1, "R14": 1}),
        Forgotten("note", 2, {"C20": 1}),
        Forgotten("fact", 1, {}),
    ]


@pytest.mark.parametrize("name", ["oneiros", "reverie"])
def test_every_memory_that_is_away_was_taken_by_a_rule(name: str) -> None:
    course = simulate(WORLD, name, dream_every_days=10.0)
    last = course.last
    assert sum(one.memories for one in course.forgotten) == last.memories == 200
    taken = sum(sum(one.taken.values()) for one in course.forgotten)
    assert taken == last.archived + last.deleted > 0
    rules = {rule.partition(" ")[0] for one in course.forgotten for rule in one.taken}
    assert "R13" in rules <= {"R13", "R14"}


def test_who_never_dreams_forgets_nothing() -> None:
    course = simulate(replace(WORLD, days=40.0), "oneiros", dream_every_days=None)
    assert all(one.taken == {} for one in course.forgotten)
