"""What somebody changes between a cycle's plan and its end, or after it, stays as they made it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import where
from oneiros.dream.phases import PHASES
from oneiros.dream.source import DraftSource
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import columns, filled_mind, links, memories

LATER = NOW + DAY
Change = Callable[[oneiros.Engine, str], object]


def searched(mind: oneiros.Engine, id: str) -> None:
    text = mind.get(id).text
    hits = mind.search(text, k=1, now=LATER, session="here")
    assert [hit.memory.id for hit in hits] == [id]


CHANGES: dict[str, Change] = {
    "update": lambda mind, id: mind.update(id, importance=0.125, now=LATER),
    "search": searched,
    "feedback": lambda mind, id: mind.feedback(id, "helpful", now=LATER),
    "pin": lambda mind, id: mind.pin(id, not mind.get(id).pinned),
    "delete": lambda mind, id: mind.delete(id, now=LATER),
}


@pytest.fixture
def mind(tmp_path: Path) -> oneiros.Engine:
    return filled_mind(tmp_path / "mind.db")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by_another", [False, True])
def test_what_changed_since_the_plan_stays(
    mind: oneiros.Engine, tmp_path: Path, change: str, by_another: bool
) -> None:
    path = tmp_path / "mind.db"
    with mind, oneiros.Engine(path) as other:
        plan = mind.dream(LATER, dry_run=True)
        id = _planned_own(plan, mind)
        who = other if by_another else mind
        CHANGES[change](who, id)
        who.flush()
        before = memories(path)[id]
        report = plan.apply()
        assert id in report.changed_since
        assert memories(path)[id] == before
        assert id not in {change.id for change in report.named}
        assert mind.check() == []


def test_what_a_search_strengthened_stays_though_it_waits_to_be_written(
    mind: oneiros.Engine,
) -> None:
    with mind:
        plan = mind.dream(LATER, dry_run=True)
        id = _planned_own(plan, mind)
        searched(mind, id)
        report = plan.apply()
        mind.flush()
        assert id in report.changed_since
        assert mind.get(id).strength == next(
            change.before
            for change in plan.changes()
            if (change.id, change.field) == (id, "strength")
        )


def _planned_own(plan: oneiros.dream.plan.DreamPlan, mind: oneiros.Engine) -> str:
    """Return the id of a memory with a text of its own that the plan changes and does not take."""
    changed = {change.id for change in plan.changes() if change.field == "strength"}
    fields = {"deleted_at", "tier", "text"}
    taken = {
        change.id
        for change in plan.changes()
        if change.field in fields or change.after == "archived"
    }
    return next(id for id in sorted(changed - taken) if "own" in mind.get(id).text)


@pytest.mark.parametrize("by_another", [False, True])
def test_what_was_forgotten_since_the_plan_is_left_alone(
    mind: oneiros.Engine, tmp_path: Path, by_another: bool
) -> None:
    path = tmp_path / "mind.db"
    with mind, oneiros.Engine(path) as other:
        plan = mind.dream(LATER, dry_run=True)
        id = _planned_own(plan, mind)
        (other if by_another else mind).forget(id)
        report = plan.apply()
        assert report.changed_since == ()  # nobody is named who is not there
        assert id not in {change.id for change in report.named}
        assert [one.memories for one in report.left_alone if one.reason == "changed since"] == [1]
        assert id not in memories(path)
        assert mind.check() == []


@pytest.mark.parametrize("profile", ["oneiros", "reverie"])
@pytest.mark.parametrize("erased", ["some", "all"])
def test_the_report_of_a_cycle_counts_no_memory_that_is_erased_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, erased: str, profile: str
) -> None:
    with filled_mind(tmp_path / "mind.db", profile) as mind:
        ids = [memory.id for memory in mind.list(where(status=["staged", "consolidated"]))]
        gone = ids if erased == "all" else ids[::2]
        scan = PHASES["scan"]

        def forgotten_before(draft: Any, phase: Any) -> None:
            mind.forget_many(gone)
            scan(draft, phase)

        monkeypatch.setitem(PHASES, "scan", forgotten_before)
        report = mind.dream(LATER)
        strengths = next(one.figures for one in report.phases if one.name == "downscale")
        assert all(0.0 <= strengths[name] <= 1.0 for name in ("before", "after"))
        assert set(report.drift["top"]) <= set(ids) - set(gone)
        half_lives = report.drift["half_life_days"].values()
        assert all(days is None or days >= 0.0 for days in half_lives)
        assert [dream.damage for dream in mind.dreams()] == [""]
        assert mind.check() == []


def alike(path: Path) -> oneiros.Engine:
    """Return an engine on five memories that fade and say the same, m0 the oldest."""
    mind = oneiros.Engine(path, profile="cognitive")
    told = {"category": "episodic", "embedding": (1.0, 0.0), "stability": 0.125, "importance": 0.0}
    mind.add_many(
        [{"id": f"m{n}", "text": f"story {n}", "created_at": NOW - (900 - n) * DAY} | told
         for n in range(5)],
        now=NOW - 900 * DAY,
        links=False,
    )  # fmt: skip
    return mind


def test_a_group_of_which_one_changed_since_is_not_half_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with alike(path) as mind:
        plan = mind.dream(LATER, dry_run=True)
        assert len(plan.draft.added) == 1
        mind.pin("m2")
        before = memories(path), links(path)
        report = plan.apply()
        assert (memories(path), links(path)) == before  # none is cold without a summary
        assert set(report.changed_since) == {f"m{n}" for n in range(5)}
        assert mind.check() == []


def test_a_group_of_which_one_is_forgotten_meanwhile_is_not_summarised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    with alike(path) as mind, oneiros.Engine(path) as other:
        read = DraftSource.records

        def forgotten_before(source: DraftSource, rows: Any) -> Any:
            other.forget("m2")
            monkeypatch.undo()
            return read(source, rows)

        monkeypatch.setattr(DraftSource, "records", forgotten_before)
        mind.dream(LATER)
        assert [memory.id for memory in mind.list()] == ["m0", "m1", "m3", "m4"]
        assert {memory.tier for memory in mind.list()} == {"hot"}
        assert mind.check() == []


def test_a_cycle_whose_texts_were_all_forgotten_since_is_applied(tmp_path: Path) -> None:
    with alike(tmp_path / "mind.db") as mind:
        plan = mind.dream(LATER, dry_run=True)
        for number in range(5):
            mind.forget(f"m{number}")
        assert plan.apply().named == ()
        assert (len(mind), mind.check()) == (0, [])


class Wide:
    """Vectors of three numbers."""

    name = "wide"

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(texts), 1))


def test_a_plan_from_before_all_vectors_were_made_anew_is_applied(tmp_path: Path) -> None:
    with alike(tmp_path / "mind.db") as mind:
        plan = mind.dream(LATER, dry_run=True)
        assert len(plan.draft.added) == 1
        mind.reembed(Wide())
        report = plan.apply()
        assert set(report.changed_since) == {f"m{n}" for n in range(5)}
        assert (report.change_count, len(mind), mind.check()) == (0, 5, [])


def test_an_id_given_again_since_the_plan_is_another_memory(mind: oneiros.Engine) -> None:
    with mind:
        plan = mind.dream(LATER, dry_run=True)
        id = _planned_own(plan, mind)
        mind.forget(id)
        mind.add("another", id=id, strength=0.75, now=NOW - 300 * DAY)
        before = mind.get(id)
        report = plan.apply()
        assert mind.get(id) == before
        assert id not in {change.id for change in report.named}
        assert mind.check() == []


def test_what_was_to_give_way_to_one_that_changed_since_stays(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with alike(path) as mind:
        mind.forget("m0")  # four are no group
        plan = mind.dream(LATER, dry_run=True, judge=lambda *_: "update")
        newest = next(one.after for one in plan.changes() if one.field == "superseded_by")
        waits = {one.id for one in plan.changes() if one.field == "superseded_by"}
        mind.pin(str(newest))
        before = memories(path)
        report = plan.apply()
        after = memories(path)
        assert set(report.changed_since) > {newest}
        for id in waits & set(report.changed_since):
            assert after[id] == before[id]
        for id, held in after.items():  # what went cold is replaced by what is there
            if held["tier"] != before[id]["tier"]:
                assert held["superseded_by"] in after
        assert mind.check() == []


def test_what_was_said_twice_stays_where_the_newer_is_gone_since(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        for number in range(3):
            mind.add("the same", id=f"m{number}", now=NOW - (3 - number) * DAY)
        plan = mind.dream(LATER, dry_run=True)
        assert {one.id for one in plan.changes() if one.field == "deleted_at"} == {"m0", "m1"}
        mind.update("m2", text="another", now=LATER)
        report = plan.apply()
        assert [one.id for one in mind.list()] == ["m0", "m1", "m2"]
        assert set(report.changed_since) == {"m0", "m1", "m2"}
        mind.dream(LATER)  # and now of the two the newer stays
        assert [one.id for one in mind.list()] == ["m1", "m2"]


def test_of_what_was_said_often_only_the_newest_is_asked_whether_it_changed(
    tmp_path: Path,
) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        for number in range(4):
            mind.add("the same", id=f"m{number}", now=NOW - (4 - number) * DAY)
        plan = mind.dream(LATER, dry_run=True)
        mind.update("m1", text="another", now=LATER)
        assert plan.apply().changed_since == ("m1",)
        assert [one.id for one in mind.list()] == ["m1", "m3"]


def test_a_plan_is_applied_once(mind: oneiros.Engine, tmp_path: Path) -> None:
    with mind:
        plan = mind.dream(LATER, dry_run=True)
        plan.apply()
        before = memories(tmp_path / "mind.db")
        with pytest.raises(ValueError, match="applied once"):
            plan.apply()
        assert memories(tmp_path / "mind.db") == before


def test_another_engine_and_a_new_one_see_the_cycle(mind: oneiros.Engine, tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with mind, oneiros.Engine(path) as other:
        other.search("story", reinforce=False, now=LATER)
        report = mind.dream(LATER)
        found = [hit.memory for hit in mind.search("story", reinforce=False, now=LATER)]
        assert [hit.memory for hit in other.search("story", reinforce=False, now=LATER)] == found
        assert columns(other) == columns(mind)
        held = columns(mind), memories(path), links(path)
        assert [one.id for one in other.dreams()] == [report.id]
        said = mind.dreams()
    for _ in range(2):  # the second time from a snapshot
        with oneiros.Engine(path) as again:
            assert [
                hit.memory for hit in again.search("story", reinforce=False, now=LATER)
            ] == found
            assert (columns(again), memories(path), links(path)) == held
            assert again.dreams() == said
            assert again.check() == []


def test_what_is_purged_leaves_no_text_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="reverie") as mind:
        for number in range(4):  # said alike: all but the newest are pruned
            created = NOW - (400 - number) * DAY
            mind.add("an unheard-of phrase", topic="t", now=created, id=f"m{number}")
        mind.add("a fresh story", id="fresh", now=LATER)
        mind.dream(LATER)
        gone = {id for id, held in memories(path).items() if held["deleted_at"] is not None}
        assert gone
        assert mind.purge(30.0, now=LATER + 30.0 * DAY) == 0  # not older than that
        assert mind.purgeable(30.0, now=LATER + 30.0 * DAY) == []
        assert set(mind.purgeable(30.0, now=LATER + 30.5 * DAY)) == gone
        assert [one and one.id for one in mind.get_deleted([*sorted(gone), "fresh", "?"])] == [
            *sorted(gone),
            None,
            None,
        ]
        assert mind.purge(30.0, now=LATER + 30.5 * DAY) == len(gone)
        assert memories(path).keys() == {"fresh", *(f"m{n}" for n in range(4))} - gone
        for id in memories(path).keys() - {"fresh"}:
            mind.forget(id)
        assert mind.verify_erased("unheard-of phrase")
        assert not mind.verify_erased("a fresh story")
        assert mind.check() == []
