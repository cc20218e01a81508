"""After a cycle the columns and sets are what a new reading of the store gives, for whoever looks."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.write import reinforce

DAY = 86_400.0
KINDS = ("note", "session", "bug", "config", "preference")


def world(path: Path | str, profile: str) -> tuple[oneiros.Engine, VirtualClock]:
    clock = VirtualClock(1.7e9)
    mind = oneiros.Engine(path, profile=profile, clock=clock)
    rng = np.random.default_rng(3)
    mind.add_many(
        {
            "id": f"m{n}",
            "text": f"memory {n % 17} of thing {n % 5}",
            "session": f"s{n // 7}",
            "topic": f"t{n % 4}",
            "kind": KINDS[n % len(KINDS)],
            "importance": float(rng.random()),
            "embedding": rng.normal(size=4),
        }
        for n in range(120)
    )
    mind.forget("m11")  # from here on a row is nobody's
    mind.supersede("m20", "m21")
    clock.advance(40 * DAY)
    mind.search("thing 3", k=5, session="later")
    mind.flush()
    clock.advance(200 * DAY)
    return mind, clock


def state(mind: oneiros.Engine) -> dict[str, dict[str, object]]:
    """Every column of every memory, and the sets it is in, by id."""
    mind._scope.services.sync.settle()
    mind._scope.services.sync.apply_own()
    read_model = mind._scope.services.read_model
    lifecycle, sets = read_model.lifecycle, read_model.row_sets.states()
    kinds = lifecycle.kinds
    names = [name for name in lifecycle.names if not name.endswith("_code")]
    columns = [lifecycle.column(name).tolist() for name in names]
    found = {}
    for row, id in enumerate(lifecycle.ids):
        if id:
            held = {name: values[row] for name, values in zip(names, columns, strict=True)}
            held["kind"] = kinds[held["kind"]]
            found[id] = {
                n: None if isinstance(v, float) and isnan(v) else v for n, v in held.items()
            } | {f"in {name}": row in rows for name, rows in sets.items()}
    return found


@pytest.mark.parametrize("profile", ["reverie", "oneiros", "cognitive", "omega"])
def test_who_dreamed_holds_what_others_read(profile: str, tmp_path: Path) -> None:
    mind, clock = world(tmp_path / "agent.db", profile)
    with mind, oneiros.Engine(tmp_path / "agent.db", profile=profile, clock=clock) as other:
        report = mind.dream()
        dreamed = state(mind)
        other.refresh()
        assert state(other) == dreamed
        with oneiros.Engine(tmp_path / "agent.db", profile=profile, clock=clock) as fresh:
            assert state(fresh) == dreamed
        assert mind.check() == other.check() == []
        mind.undo_dream(report.id)
        other.refresh()
        undone = state(mind)
        assert state(other) == undone
        with oneiros.Engine(tmp_path / "agent.db", profile=profile, clock=clock) as fresh:
            assert state(fresh) == undone
        assert mind.check() == []


@pytest.mark.parametrize("profile", ["reverie", "cognitive"])
def test_an_impact_is_of_the_same_memories_though_rows_differ(profile: str) -> None:
    mind, _ = world(":memory:", profile)
    with mind:
        plan = mind.dream(dry_run=True)
        assert len(plan) > 0
        asked = ["thing 3", "memory 12"]
        impact = plan.impact(asked, k=5)
        plan.apply()
        answers = [tuple(mind.search(one, 5, reinforce=False).ids) for one in asked]
        assert [one.after for one in impact.queries] == answers


@pytest.mark.parametrize("is_reopened", [False, True])
def test_what_a_cycle_took_away_is_found_by_nothing(tmp_path: Path, is_reopened: bool) -> None:
    mind, clock = world(tmp_path / "agent.db", "reverie")
    mind.update("m30", tags=["blue", "green"], metadata={"url": "a"})
    mind.update("m40", tags=["blue"], metadata={"url": "b", "n": 1})
    if is_reopened:  # the attributes are read from the snapshot then
        mind.close()
        mind = oneiros.Engine(tmp_path / "agent.db", profile="reverie", clock=clock)
        mind.update("m40", tags=["blue", "red"])
    clock.advance(200 * DAY)
    with mind:
        report = mind.dream()
        gone = {id for id, held in state(mind).items() if held["deleted_at"] is not None}
        assert {"m30", "m40"} <= gone
        read_model = mind._scope.services.read_model
        rows = {read_model.lifecycle.row_of[id] for id in gone}
        index = read_model.row_sets.attributes.index
        for sets in index.places().values():
            for value, held in sets.items():
                assert rows.isdisjoint([held] if isinstance(held, int) else held), value
        mind.undo_dream(report.id)
        blue = mind.search("memory", k=200, where=oneiros.where(tags=["blue"]), reinforce=False)
        assert {"m30", "m40"} == set(blue.ids)


@pytest.mark.parametrize("is_followed", [False, True])
def test_a_plan_passes_over_what_was_erased_since(tmp_path: Path, is_followed: bool) -> None:
    mind, clock = world(tmp_path / "agent.db", "reverie")
    with mind, oneiros.Engine(tmp_path / "agent.db", profile="reverie", clock=clock) as other:
        plan = mind.dream(dry_run=True)
        taken = {change.id for change in plan.changes() if change.field == "deleted_at"}
        gone = {min(taken), max(taken), "m1"}
        for id in gone:
            other.forget(id)
        if is_followed:
            mind.refresh()
        plan.impact(["thing 3"], k=5)
        plan.apply()
        other.refresh()
        held = state(mind)
        assert held == state(other)
        assert gone.isdisjoint(held)
        assert taken - gone == {id for id in taken & held.keys() if held[id]["deleted_at"]}
        assert mind.check() == other.check() == []


def test_what_is_purged_counts_in_no_half_life(tmp_path: Path) -> None:
    mind, clock = world(tmp_path / "agent.db", "reverie")
    with mind:
        mind.dream()
        clock.advance(40 * DAY)
        assert mind.dream(dry_run=True).report.drift["half_life_days"]["note"] is not None
        assert mind.purge(older_than_days=30.0) > 0
        assert "note" not in mind.dream(dry_run=True).report.drift["half_life_days"]


def test_who_follows_a_cycle_keeps_what_its_own_searches_strengthened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)  # nothing is written yet
    mind, clock = world(tmp_path / "agent.db", "reverie")
    with mind, oneiros.Engine(tmp_path / "agent.db", profile="reverie", clock=clock) as other:
        mind.dream()
        found = other.search("thing 3", k=5, session="own").ids
        other.refresh()
        for id, held in state(other).items():
            dreamt = state(mind)[id]
            assert held["strength"] == dreamt["strength"]
            gained = held["access_count"] - dreamt["access_count"]  # type: ignore[operator]
            assert gained == (id in found), id
        assert found
        other.flush()
        mind.refresh()
        assert state(mind) == state(other)


def test_undoing_gives_back_the_number_that_was_given() -> None:
    """0.3 is no float32; the store holds it as it was said, and does so again."""
    clock = VirtualClock(1.7e9)
    with oneiros.Engine(":memory:", profile="reverie", clock=clock) as mind:
        mind.add("weak", id="a", strength=0.3)
        clock.advance(2 * DAY)
        report = mind.dream()
        assert mind.get("a").strength == pytest.approx(0.285, rel=1e-6)
        mind.undo_dream(report.id)
        assert mind.get("a").strength == 0.3


def test_undoing_gives_back_when_memories_were_replayed_before() -> None:
    clock = VirtualClock(1.7e9)
    with oneiros.Engine(":memory:", profile="reverie", clock=clock) as mind:
        mind.add_many({"id": name, "text": name, "session": "s"} for name in ("a", "b"))

        def replayed() -> dict[int, float]:
            with mind._scope.services.store.read() as reading:
                return reading.cycles.replayed_at()

        clock.advance(0.25 * DAY)
        mind.dream()
        first = replayed()
        assert first == dict.fromkeys((1, 2), clock())
        clock.advance(60.0)
        mind.update("a", text="a, revised")
        mind.update("a", status="staged")
        clock.advance(0.25 * DAY)
        report = mind.dream()
        assert replayed() == first | {1: clock()}
        mind.undo_dream(report.id)
        assert replayed() == first


def test_an_id_given_again_before_a_cycle_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows stand in order of insertion, whoever wrote between a cycle's commit and what follows."""
    mind, clock = world(tmp_path / "agent.db", "reverie")
    with mind, oneiros.Engine(tmp_path / "agent.db", profile="reverie", clock=clock) as other:
        report = mind.dream()
        taken = {change.id for change in report.named if change.field == "deleted_at"}
        again = min(taken)
        take_up = mind._scope.services.sync._take_up

        def later(*given: Any) -> None:
            other.add("memory 200", id="m200")
            other.forget(again)
            other.add("memory of it, again", id=again)
            take_up(*given)

        monkeypatch.setattr(mind._scope.services.sync, "_take_up", later)
        mind.undo_dream(report.id)
        mind.refresh()
        assert state(mind) == state(other)
        clock.advance(2 * DAY)
        other.dream()
        mind.refresh()
        assert state(mind) == state(other)
        assert mind.check() == []
