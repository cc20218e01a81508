"""A second cycle at the same moment does nothing but downscale: docs/systems/reverie.md R12, R19."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.dream import apply
from oneiros.dream.report import FieldChange
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.fading import MEMORIES
from tests.dream.random_worlds import WORLDS
from tests.dream.worlds import DAY, HOUR, NOW, World
from tests.engine.dream_stores import called, random_mind
from tests.oracles.ieee import as_float32

HOUSE = oneiros.profiles.get("oneiros")
UNBOUNDED = SafetyRails(youngest_days=7.0)
PROFILES = {
    "oneiros": HOUSE.replace(rails=UNBOUNDED),
    **{name: oneiros.profiles.get(name) for name in ("reverie", "cognitive", "omega")},
}
EVERY_WORLD = WORLDS | st.lists(MEMORIES, max_size=24).map(World)
SOME = settings(max_examples=25, deadline=None)
FLOOR, WEAK = as_float32(0.01), as_float32(0.2)  # R13, R14


def distinct(_older: str, _newer: str) -> str:
    return "distinct"


def weakened(changes: Iterable[FieldChange]) -> dict[str, tuple[float, float]]:
    """Return what downscaling made of strengths, by memory."""
    return {
        one.id: (as_float32(one.before), as_float32(one.after))
        for one in changes
        if one.rule == "R12"
    }


def unexplained(
    mind: oneiros.Engine, changes: list[FieldChange], first_id: str
) -> list[FieldChange]:
    """Return the changes that no weaker strength brings, nor a summary of the first cycle."""
    weaker = weakened(changes)

    def is_explained(one: FieldChange) -> bool:
        before, after = weaker.get(one.id, (0.0, 0.0))
        if one.rule == "R13":  # never accessed, and at the floor only now
            return mind.get(one.id).access_count == 0 and after <= FLOOR < before
        if one.rule == "R14":
            return one.after == "archived" and after < WEAK <= before
        if one.rule == "C19":  # what did not exist when the first cycle looked
            return one.field == "at_floor_since" and one.id.startswith(f"{first_id}+")
        return one.rule == "R12"

    return [one for one in changes if not is_explained(one)]


@pytest.mark.parametrize("profile", PROFILES)
@given(world=EVERY_WORLD, judge=st.sampled_from([None, distinct]))
@SOME
def test_a_second_cycle_at_once_only_downscales(
    profile: str, world: World, judge: Callable[[str, str], str] | None
) -> None:
    with random_mind(":memory:", world, PROFILES[profile]) as mind:
        judges = called(PROFILES[profile], judge=judge)
        first = mind.dream(NOW, **judges)
        again = mind.dream(NOW, dry_run=True, **judges)
        assert unexplained(mind, list(again.changes()), first.id) == []
        again.apply()
        third = list(mind.dream(NOW, dry_run=True, **judges).changes())
        assert unexplained(mind, third, "") == []  # and summaries are dated once


def taken(changes: Iterable[FieldChange]) -> set[str]:
    return {one.id for one in changes if one.field == "deleted_at" or one.after == "archived"}


@given(world=WORLDS)
@SOME
def test_what_a_budget_left_is_taken_by_the_next(world: World) -> None:
    with random_mind(":memory:", world, "oneiros") as mind:
        every = taken(mind.dream(NOW, dry_run=True, profile=PROFILES["oneiros"]).changes())
        first = taken(mind.dream(NOW).named)
        again = list(mind.dream(NOW, dry_run=True).changes())
        rest = unexplained(mind, again, "")
        assert first <= every
        assert taken(rest) == {one.id for one in rest}
        assert taken(rest) <= every - first


def replayed(mind: oneiros.Engine) -> set[str]:
    plan: Any = mind.dream(NOW, dry_run=True)
    ids = {plan.name(row) for row in plan.draft.candidates.tolist()}
    plan.apply()
    return ids


def test_what_the_scan_left_is_replayed_by_the_next() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        mind.add_many(
            {"id": f"m{n}", "text": f"story {n}", "created_at": NOW - 2 * HOUR} for n in range(60)
        )
        first, second = replayed(mind), replayed(mind)
        assert (len(first), len(second)) == (50, 10)
        assert first | second == {f"m{n}" for n in range(60)}
        assert replayed(mind) == set()


def test_the_cycle_after_dates_a_summary_at_its_floor_and_no_other_does() -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as mind:
        told = {"category": "episodic", "embedding": (1.0, 0.0), "stability": 0.125}
        mind.add_many(
            ({"id": f"m{n}", "text": f"story {n}"} | told for n in range(5)), now=NOW - 900 * DAY
        )
        first = mind.dream(NOW)
        (summary,) = [one.id for one in first.named if one.field == "memory"]
        (dated,) = mind.dream(NOW).named
        assert (dated.id, dated.field, dated.after) == (summary, "at_floor_since", NOW)
        assert mind.dream(NOW).change_count == 0


def test_the_reports_of_the_last_cycles_alone_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "_KEPT_CYCLES", 2)
    monkeypatch.setattr(apply, "_KEPT_REPORTS", 4)
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        engine.add_many([{"text": f"text {number}"} for number in range(5)])
        ids = [engine.dream(NOW + day * 86_400.0).id for day in range(9)]
        assert [report.id for report in engine.dreams(20)] == ids[:4:-1]
        engine.undo_dream(ids[-1])
        assert engine.check(deep=True) == []
        for day in range(9, 14):
            engine.dream(NOW + day * 86_400.0)
        assert len(engine.dreams(20)) == 4
        assert engine.check(deep=True) == []
