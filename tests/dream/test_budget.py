"""The budget: the lowest worth is archived, and comes back: docs/systems/house.md H15."""

from __future__ import annotations

import asyncio
import itertools
import math
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
NAMES = ("oslo", "kettle", "granite", "été", "harbour", "ﬁle", "n_7", "we", "you", "東京都", "黒猫")

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
            "valid_until": NOW + chance.choice([-DAY, 0.0, DAY]),
            "ttl": chance.choice([0.0, 3000 * DAY]),
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


# -- what comes back ---------------------------------------------------------------------------------


def rows(*texts: str, days: float = 40.0, **fields: Any) -> World:
    return {
        f"m{n}": {"id": f"m{n}", "text": text, "created_at": NOW - days * DAY, **fields}
        for n, text in enumerate(texts)
    }


ROWS = rows(*(f"I saw {'granite ' * n}harbour{n}" for n in range(10)))


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_what_fits_again_comes_back_as_it_was(seed: int) -> None:
    with filled(random_world(seed)) as engine:
        before = known(engine)
        live = list(before)
        for one, other in itertools.pairwise(live):
            engine.link(one, other, 0.5, now=NOW - DAY)
        links = list(engine.links(now=NOW))
        before = known(engine)
        engine.dream(NOW, keep=1)
        assert len(shown(engine)) < len(wanted(before, share=1.0))
        engine.dream(NOW, keep=1.0)
        after = known(engine)
        assert list(engine.links(now=NOW)) == links
        for id, memory in after.items():
            status = {"status": memory["status"]}
            assert memory == before[id] | status
            assert (memory["status"] == "archived") == (before[id]["status"] == "archived")


def test_what_expired_makes_room_for_what_is_valid() -> None:
    world = rows("I saw the old harbour of granite", "the kettle", "")
    world["m0"]["ttl"] = DAY
    with filled(world) as engine:
        value = oracle.worth(known(engine), NOW, words)
        assert value["m0"] > max(value["m1"], value["m2"])
        engine.dream(NOW, keep=2)
        assert shown(engine) == {"m1", "m2"}


def test_what_fits_since_others_are_deleted_comes_back() -> None:
    with filled(ROWS) as engine:
        engine.dream(NOW, keep=3)
        kept = shown(engine)
        assert len(kept) == 3
        for id in kept:
            engine.delete(id, now=NOW)
        report = engine.dream(NOW, keep=3)
        assert len(shown(engine)) == 3
        assert not shown(engine) & kept
        assert report.removed == {}


def test_undoing_brings_back_what_went() -> None:
    with filled(random_world(1)) as engine:
        before = known(engine)
        report = engine.dream(NOW, keep=0.2)
        assert known(engine) != before
        engine.undo_dream(report.id, now=NOW)
        assert known(engine) == before


def test_a_plan_made_before_holds_what_was_named_when_it_is_applied() -> None:
    with filled(ROWS) as engine:
        engine.dream(NOW - 60.0, keep=9)
        plan = engine.dream(NOW, keep=2, dry_run=True)
        assert len(shown(engine)) == 9
        report = plan.apply()
        assert len(shown(engine)) == 2
        assert (report.taken_away, report.left_alone) == (7, ())


@pytest.mark.parametrize("by_hand", ["restored", "updated"])
def test_what_a_user_archives_does_not_come_back(by_hand: str) -> None:
    with filled(ROWS) as engine:
        engine.dream(NOW, keep=5)
        gone = sorted(set(ROWS) - shown(engine))
        engine.update(gone[0], status="archived", now=NOW)  # what the budget archived
        if by_hand == "restored":
            engine.restore(gone[1], now=NOW)
        else:
            engine.update(gone[1], status="consolidated", now=NOW)
        engine.update(gone[1], status="archived", now=NOW)
        engine.dream(NOW, keep=1.0)
        assert shown(engine) == set(ROWS) - set(gone[:2])


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"core": True},
        {"importance_tag": "explicit"},
        {"importance": 0.8},
        {"priority": 4},
        {"kind": "constraint"},
        {"days": 6.9},
    ],
)
def test_no_budget_takes_what_is_protected_important_or_young(fields: dict[str, Any]) -> None:
    with filled(rows("you", "you", trust=0.0, feedback=-2, **fields)) as engine:
        for limits in ({"count": 1}, {"size": 1}, {"share": 0.01}, {"least_value": 1e6}):
            engine.dream(NOW, keep=Budget(**limits))
            assert shown(engine) == {"m0", "m1"}


def test_a_budget_of_the_profile_holds_without_a_word() -> None:
    with filled(ROWS, HOUSE.replace(name="third", phases=(Budget(share=0.3),))) as engine:
        engine.dream(NOW)
        assert len(shown(engine)) == 3
        engine.dream(NOW, keep=5)
        assert len(shown(engine)) == 5


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_without_a_limit_the_phase_changes_nothing(seed: int) -> None:
    assert not Budget().has_limit
    without = tuple(phase for phase in HOUSE.phases if not isinstance(phase, Budget))
    with filled(random_world(seed), HOUSE) as engine:
        plans = [
            engine.dream(NOW, profile=HOUSE.replace(name="x", phases=phases), dry_run=True)
            for phases in (without, (*without, Budget()))
        ]
        one, other = ([*map(repr, plan.changes())] for plan in plans)
        assert one == other
        assert one
        assert len(engine.dream(NOW, profile=ONLY, dry_run=True)) == 0


# -- searches ----------------------------------------------------------------------------------------


def test_archived_memories_are_found_where_their_status_is_asked_for() -> None:
    with filled(ROWS) as engine:
        engine.dream(NOW, keep=4)
        kept, every = shown(engine), set(ROWS)
        assert {hit.id for hit in engine.search("harbour0 saw", k=20, now=NOW)} == kept
        found = engine.search("saw", k=20, status=["archived"], now=NOW)
        assert {hit.id for hit in found} == every - kept


def test_an_archived_memory_does_not_stand_between_its_neighbours() -> None:
    """Three turns lie between a question and its answer: too far, until two are archived."""
    texts = ("granite harbour?", "so", "well", "quite", "eleven ships", "elsewhere", "granite")
    world = rows(*texts, session="s")
    for place, memory in enumerate(world.values()):
        memory["event_at"] = NOW - (50 - place) * DAY
    world["m5"]["session"] = world["m6"]["session"] = "t"

    def found(engine: oneiros.Engine, **options: Any) -> set[str]:
        return {hit.id for hit in engine.search("harbour", k=9, now=NOW, **options)}

    with filled(world) as engine:
        assert "m4" not in found(engine)
        for id in ("m1", "m2"):
            engine.update(id, status="archived", now=NOW)
        assert "m4" in found(engine)
        statuses = ["staged", "consolidated", "archived"]
        assert "m4" not in found(engine, status=statuses)
        assert {"m1", "m2"} <= found(engine, status=statuses)


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "kind", "message"),
    [
        (True, TypeError, "keep: expected a share as a float"),
        ("half", TypeError, "keep: expected a share as a float"),
        ([0.5], TypeError, "keep: expected a share as a float"),
        (0, ValueError, "keep: must be"),
        (-1, ValueError, "keep: must be"),
        (2**63, ValueError, "keep: must be"),
        (0.0, ValueError, "keep: must be"),
        (-0.5, ValueError, "keep: must be"),
        (1.5, ValueError, "keep: must be"),
        (math.nan, ValueError, "keep: must be"),
        (math.inf, ValueError, "keep: must be"),
    ],
)
def test_what_is_no_budget_is_refused(keep: Any, kind: type[Exception], message: str) -> None:
    with filled(ROWS) as engine:
        before = known(engine)
        with pytest.raises(kind, match=message):
            engine.dream(NOW, keep=keep)
        assert known(engine) == before


@pytest.mark.parametrize(
    ("keep", "same"), [(np.int64(2), 2), (np.float32(0.5), 0.5), (np.float64(0.5), 0.5)]
)
def test_a_number_of_numpy_is_a_budget(keep: Any, same: float) -> None:
    with filled(ROWS) as engine, filled(ROWS) as other:
        engine.dream(NOW, keep=keep)
        other.dream(NOW, keep=same)
        assert shown(engine) == shown(other) != set(ROWS)


def test_a_profile_without_the_phase_keeps_to_no_budget() -> None:
    with filled(ROWS) as engine:
        with pytest.raises(ValueError, match="no phase of the profile 'reverie' keeps to a budget"):
            engine.dream(NOW, keep=0.5, profile="reverie")
        assert shown(engine) == set(ROWS)


@pytest.mark.parametrize(
    "fields",
    [
        {"share": 0.0},
        {"share": 1.1},
        {"count": 0},
        {"size": -1},
        {"least_value": math.nan},
        {"half_information": 0.0},
        {"age": -1.0},
        {"kind_weights": {"fact": 0.0}},
    ],
)
def test_a_budget_out_of_range_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(fields))}.*must be"):
        Budget(**fields)


@pytest.mark.parametrize(
    "phase",
    [
        Budget(),
        Budget(share=0.5),
        Budget(count=10, size=2**40, least_value=-1.5),
        Budget(person=0.0, kind_weights={"fact": 2.0}),  # type: ignore[arg-type]
    ],
)
def test_a_profile_with_a_budget_goes_through_toml(phase: Budget) -> None:
    profile = HOUSE.replace(name="budgeted", phases=(*HOUSE.phases[:-1], phase))
    again = Profile.from_toml(profile.to_toml())
    assert again == profile
    assert again.hash == profile.hash
    assert again.phases[-1] == phase


def test_async_engines_keep_to_a_budget_too() -> None:
    async def kept() -> tuple[int, int]:
        async with oneiros.AsyncEngine(":memory:", profile=ONLY) as engine:
            await engine.add_many(list(ROWS.values()), now=NOW - 40 * DAY)
            plan = await engine.dream(NOW, keep=4, dry_run=True)
            report = await engine.dream(NOW, keep=4)
            return plan.report.taken_away, report.taken_away

    assert asyncio.run(kept()) == (6, 6)
