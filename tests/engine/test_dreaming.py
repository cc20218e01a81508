"""A dream cycle on a store: what is planned is done, nothing else, and undone it was never there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from tests.dream.random_worlds import WORLDS
from tests.dream.worlds import DAY, NOW, World
from tests.engine.dream_stores import (
    PROFILES,
    as_held,
    called,
    columns,
    filled_mind,
    links,
    memories,
    random_mind,
    tables,
)
from tests.folders import IN_MEMORY
from tests.oracles.ieee import as_float32

SOME = settings(max_examples=500 if os.environ.get("ONEIROS_LONG") else 20, deadline=None)
DREAMING = tuple(name for name in PROFILES if oneiros.profiles.get(name).phases)
LATER = NOW + DAY


def joined(texts: Any) -> str:
    return " and ".join(texts)


@pytest.mark.parametrize("profile", DREAMING)
@given(world=WORLDS, summarise=st.sampled_from([None, joined]))
@SOME
def test_a_cycle_undone_was_never_there(
    profile: str, world: World, summarise: Callable[[Any], str] | None
) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        path = Path(folder) / "mind.db"
        with random_mind(path, world, profile) as mind:
            mind.dream(NOW - 1.0)  # leaves links and stubs for the next one
            before = memories(path), links(path), columns(mind)
            report = mind.dream(LATER, **called(profile, summarise=summarise))
            undone = mind.undo_dream(report.id, now=LATER)
            assert undone.not_restored == ()
            assert memories(path) == before[0]
            assert links(path) == before[1]
            assert _as_far_as(before[2], columns(mind)) == before[2]
            # The worlds name a successor that they do not hold.
            assert [one for one in mind.check() if "not in this store" not in one] == []


def _as_far_as(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, bytes]:
    return {name: after[name][: len(held)] for name, held in before.items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_dry_run_changes_nothing(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with filled_mind(path, profile) as mind:
        mind.search("story", now=NOW)
        mind.flush()
        before = tables(path), columns(mind)
        plan = mind.dream(LATER, dry_run=True)
        list(plan.changes())
        assert (tables(path), columns(mind)) == before
        assert mind.dreams() == []
        assert plan.report.is_dry_run
        assert bool(len(plan)) == bool(oneiros.profiles.get(profile).phases)


@pytest.mark.parametrize("profile", DREAMING)
@given(world=WORLDS)
@SOME
def test_what_the_plan_tells_is_what_is_done(profile: str, world: World) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        path = Path(folder) / "mind.db"
        with random_mind(path, world, profile) as mind:
            before = memories(path)
            plan = mind.dream(LATER, dry_run=True)
            report = plan.apply()
            assert report.changed_since == ()
            told = {(change.id, change.field) for change in plan.changes()}
            after = memories(path)
            added = {id for id, field in told if field == "memory"}
            assert after.keys() - before.keys() == added
            for id, was in before.items():
                is_now = after[id]
                changed = {name for name in was if was[name] != is_now[name]}
                allowed = {field for of, field in told if of == id}
                allowed |= {"text_digest"} if "text" in allowed else set()
                allowed |= {"metadata"} if "superseded_by" in allowed else set()
                assert changed <= allowed, id
            last: dict[tuple[str, str], Any] = {}
            for change in plan.changes():
                last[change.id, change.field] = change.after
            for (id, field), value in last.items():
                if field in {"strength", "deleted_at", "text", "superseded_by", "stability"}:
                    assert as_held(field, after[id][field]) == as_held(field, value), (id, field)


@pytest.mark.parametrize("profile", DREAMING)
@given(world=WORLDS)
@SOME
def test_strengths_stay_in_bounds_and_the_protected_stays(profile: str, world: World) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        path = Path(folder) / "mind.db"
        with random_mind(path, world, profile) as mind:
            before = memories(path)
            for days in (0, 1, 100, 1000):
                mind.dream(NOW + days * DAY)
            after = memories(path)
            for id, was in before.items():
                assert min(_floor(profile), was["strength"]) <= after[id]["strength"] <= 1.0
            for memory in world.memories:
                tagged = memory["importance_tag"] in {"explicit", "schema_violation"}
                if not memory["erased"] and (memory["pinned"] or memory["core"] or tagged):
                    was, is_now = before[memory["id"]], after[memory["id"]]
                    assert is_now["deleted_at"] == was["deleted_at"]
                    for field in ("status", "tier"):
                        taken = {"status": "archived", "tier": "stub"}[field]
                        code = oneiros.model.fields.ENUMS[field].index(taken)
                        assert is_now[field] != code or was[field] == code


def _floor(profile: str) -> float:
    phases = oneiros.profiles.get(profile).phases
    floors = [phase.floor for phase in phases if hasattr(phase, "floor")]
    return as_float32(min(floors, default=0.0))
