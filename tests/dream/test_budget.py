"""What is worth least is archived, down to a budget, and comes back: docs/systems/house.md H15."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import analyzers
from oneiros.dream.cycles import begin_draft
from oneiros.dream.phases.house import worth
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.profile import Profile
from tests.dream.worlds import DAY, NOW
from tests.oracles import budget as oracle

HOUSE = oneiros.profiles.get("oneiros")
ONLY = HOUSE.replace(name="only", phases=(Budget(),))
UNRAILED = ONLY.replace(name="unrailed", rails=replace(HOUSE.rails, most_pruned=1.0))
ANALYZER = analyzers.make("simple")

PHRASES = (
    *("I moved to Oslo in May", "my sister and our cat", "you should boil your kettle"),
    *("Where did we meet?", "what about Ötzi? ", "the kettle", "", "Tea, tea, TEA", "ours; yours"),
)
KINDS = ("directive", "rule", "heuristic", "session", "fact", "preference", "decision")
NAMES = ("oslo", "kettle", "granite", "été", "harbour", "ﬁle", "n_7", "we", "you")

Record = dict[str, Any]
World = dict[str, Record]


def words(text: str) -> list[str]:
    return [word for word, _ in ANALYZER.tokens(text=text)]


SEEDS = range(6)


def random_world(seed: int, size: int = 40) -> World:
    """Return memories by id that differ in all that the rule reads, often at one of its limits."""
    chance = random.Random(seed)
    world = {"newer": {"id": "newer", "text": "newer", "created_at": NOW - 500 * DAY}}
    for row in range(size):
        age = chance.choice([1.0, 6.99, 7.0, 8.0, 40.0, 400.0, *[chance.uniform(7, 2000)] * 12])
        said = [chance.choice(PHRASES), *chance.choices(NAMES, k=chance.randrange(5))]
        if chance.random() < 0.2:
            said += [f"word{n}" for n in range(chance.randrange(40, 90))]
        often = {
            "session": chance.choice(["s", "t"]),
            "event_at": NOW - chance.choice([30.0, 60.0, chance.uniform(0, 900)]) * DAY,
            "title": chance.choice(["Kettle", "oslo trip"]),
            "tags": chance.sample(["harbour", "trip"], chance.randrange(3)),
            "kind": chance.choice(KINDS),
            "trust": chance.choice([0.0, 0.3, 0.9]),
            "feedback": chance.randrange(-4, 6),
            "importance": chance.choice([0.0, 0.3, 0.5, 0.6, 0.79, 0.8]),
            "updated_at": NOW - age * chance.random() * DAY,
            "embedding": chance.choice([(1.0, 0.0, 0.0), (0.6, 0.8, 0.0)]),
        }
        rarely = {
            "priority": chance.choice([1, 4, 5]),
            "pinned": True,
            "core": True,
            "importance_tag": chance.choice(["explicit", "schema_violation", "cross_session"]),
            "status": "archived",
            "is_superseded": True,
            "is_deleted": True,
        }
        memory: Record = {"id": f"m{row}", "text": " ".join(said), "created_at": NOW - age * DAY}
        memory |= {name: value for name, value in often.items() if chance.random() < 0.5}
        memory |= {name: value for name, value in rarely.items() if chance.random() < 0.08}
        world[memory["id"]] = memory
    return world


def random_limits(chance: random.Random) -> dict[str, Any]:
    given = {
        "share": chance.choice([0.01, 0.25, 0.5, 0.75, 1.0, chance.random()]),
        "count": chance.randrange(1, 40),
        "size": chance.randrange(1, 4000),
    }
    return {name: given[name] for name in chance.sample(sorted(given), chance.randrange(1, 4))}


def filled(world: Mapping[str, Record], profile: Profile = ONLY) -> oneiros.Engine:
    """Return an engine that holds a world, each memory stored when it was created."""
    engine = oneiros.Engine(":memory:", profile=profile, analyzer="simple", vector_index="flat")
    fill(engine, world)
    return engine


def fill(engine: oneiros.Engine, world: Mapping[str, Record]) -> None:
    records = [
        {name: value for name, value in memory.items() if not name.startswith("is_")}
        for memory in world.values()
    ]
    engine.add_many(records, now=min(memory["created_at"] for memory in world.values()))
    for id, memory in world.items():
        if memory.get("is_superseded"):
            engine.supersede(id, "newer", now=memory["created_at"])
        if memory.get("is_deleted"):
            engine.delete(id, now=memory["created_at"])


def known(engine: oneiros.Engine) -> World:
    """Return the memories that are not deleted, as the store returns them, in order of insertion."""
    ids = ["newer", *(f"m{row}" for row in range(40))]
    memories = [memory for memory in engine.get_many(ids) if memory is not None]
    return {one.id: one.to_record() for one in memories if one.deleted_at is None}


def shown(engine: oneiros.Engine) -> set[str]:
    """Return the ids of the memories that are neither deleted nor archived."""
    return {id for id, memory in known(engine).items() if memory["status"] != "archived"}


def wanted(world: World, now: float = NOW, **limits: Any) -> set[str]:
    return oracle.kept(world, now, words, **limits)


def stays_in(plan: Any, world: World) -> set[str]:
    """Return the ids that are not archived once a plan is applied."""
    status = {id: memory["status"] for id, memory in world.items()}
    status |= {change.id: change.after for change in plan.changes(["status"])}
    return {id for id, after in status.items() if after != "archived"}


# -- what stays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_what_stays_is_what_the_page_says(seed: int) -> None:
    chance = random.Random(seed)
    with filled(random_world(seed)) as engine:
        before = known(engine)
        for limits in [random_limits(chance) for _ in range(12)]:
            plan = engine.dream(NOW, keep=Budget(**limits), dry_run=True)
            assert stays_in(plan, before) == wanted(before, **limits), limits
        assert known(engine) == before  # a dry run changes nothing
        engine.dream(NOW, keep=Budget(**limits))
        assert shown(engine) == wanted(before, **limits)
        # What was archived is judged again, and what a user archived is left alone.
        changed = known(engine)
        for limits in [random_limits(chance) for _ in range(12)]:
            plan = engine.dream(NOW, keep=Budget(**limits), dry_run=True)
            assert stays_in(plan, changed) == wanted(changed, **limits), limits
            assert wanted(changed, **limits) == wanted(before, **limits)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_worth_is_what_the_page_says(seed: int) -> None:
    with filled(random_world(seed)) as engine:
        scope = engine._scope
        draft, _ = begin_draft(scope.services, ONLY, NOW)
        ids = draft.source.ids
        rows = np.array([row for row, id in enumerate(ids) if draft.live[row]], np.uint32)
        found = {
            ids[row]: value for row, value in zip(rows, worth(draft, Budget(), rows), strict=True)
        }
        for id, value in oracle.worth(known(engine), NOW, words).items():
            assert found[id] == pytest.approx(value, abs=1e-6), id


@pytest.mark.parametrize("seed", SEEDS)
def test_a_least_worth_holds_within_the_limit_of_a_day(seed: int) -> None:
    chance = random.Random(seed)
    with filled(random_world(seed)) as engine:
        before = known(engine)
        for least in (-4.0, -1.0, 0.0, 1.0, 9.0):
            for limits in ({}, {"count": 30}, random_limits(chance)):
                both = {**limits, "least_value": least}
                plan = engine.dream(NOW, keep=Budget(**both), dry_run=True)
                assert stays_in(plan, before) == wanted(before, **both), both
                plan = engine.dream(NOW, keep=Budget(**both), profile=UNRAILED, dry_run=True)
                assert stays_in(plan, before) == wanted(before, **both, day_limit=99), both
        engine.dream(NOW, keep=Budget(least_value=9.0))
        assert shown(engine) == wanted(before, least_value=9.0)
        again = engine.dream(NOW, keep=Budget(least_value=9.0))
        assert again.change_count == 0
        assert {held.reason for held in again.left_alone} == {"prune budget"}


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_the_result_does_not_depend_on_the_cycles_before(seed: int) -> None:
    chance = random.Random(seed)
    with filled(random_world(seed)) as engine, filled(random_world(seed)) as other:
        last = random_limits(chance)
        for day in range(4, 0, -1):
            engine.dream(NOW - day * DAY, keep=Budget(**random_limits(chance)))
        for one in (engine, other):
            one.dream(NOW, keep=Budget(**last))
        assert shown(engine) == shown(other)
        assert engine.dream(NOW, keep=Budget(**last)).change_count == 0
