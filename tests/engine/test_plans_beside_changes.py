"""What a plan tells, and what its cycle counts, once somebody changed or forgot what it was made for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import oneiros
from oneiros.dream.report import FieldChange
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import PROFILES, called, filled_mind, memories

LATER = NOW + DAY


@pytest.mark.parametrize("profile", PROFILES)
def test_a_plan_leaves_out_who_was_forgotten_since(tmp_path: Path, profile: str) -> None:
    with filled_mind(tmp_path / "mind.db", profile) as mind:
        plan = mind.dream(LATER, dry_run=True, **called(profile, summarise=" and ".join))
        before = list(plan.changes())
        fields = ("strength", "status", "text", "superseded_by", "link")
        gone = {_first(before, field) for field in fields} & memories(tmp_path / "mind.db").keys()
        for id in gone:
            mind.forget(id)
        # A summary of one who was forgotten goes with them.
        sources = ((one.after, one.id) for one in before if one.field == "superseded_by")
        not_made = {by for by, of in sources if of in gone and str(by).startswith(plan.id)}
        absent = gone | not_made
        wanted = [one for one in before if not absent & set(map(str, _named_by(one)))]
        assert list(plan.changes()) == wanted
        assert len(wanted) < len(before) or not before  # a profile without phases plans nothing


def _first(changes: list[FieldChange], field: str) -> str:
    """Return the id of the first memory that a field of is changed; "" where there is none."""
    return next((change.id for change in changes if change.field == field), "")


def _named_by(change: FieldChange) -> list[object]:
    """Return the ids that a change names."""
    if change.field == "link":
        return [change.id, change.after["to"]]
    return [change.id, change.after] if change.field == "superseded_by" else [change.id]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_stays_is_not_counted_as_changed(tmp_path: Path, profile: str) -> None:
    with filled_mind(tmp_path / "mind.db", profile) as mind:
        plan = mind.dream(LATER, dry_run=True, **called(profile, summarise=" and ".join))
        first = next((one.id for one in plan.changes() if one.field != "memory"), None)
        if first is not None:
            mind.pin(first, not mind.get(first).pinned)
        report = plan.apply()
        # Of what was planned, that of the others: a thousand are named, and here there are fewer.
        told = [(one.phase, one.rule, one.field) for one in _made(plan, set(report.changed_since))]
        assert report.change_count == len(told)
        assert {
            (phase.name, rule, field): count
            for phase in report.phases
            for rule, fields in phase.changes.items()
            for field, count in fields.items()
        } == Counter(told)
        assert mind.dreams(1)[0].phases == report.phases


def _made(plan: oneiros.dream.plan.DreamPlan, stays: set[str]) -> list[FieldChange]:
    """Return the changes of a plan that name none of these, nor a summary of one."""
    of = [one for one in plan.changes() if one.field == "superseded_by"]
    absent = stays | {str(one.after) for one in of if one.id in stays}
    return [one for one in plan.changes() if not absent & set(map(str, _named_by(one)))]


def test_no_duplicate_is_counted_where_the_older_stays(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive") as mind:
        for number in range(2):
            mind.add(f"told {number}", id=f"m{number}", embedding=(1.0, 0.0), now=NOW + number)
        plan = mind.dream(LATER, dry_run=True, judge=lambda *_: "duplicate")
        assert [one.id for one in plan.changes(["duplicate_count"])] == ["m1"]
        mind.pin("m0")
        assert set(plan.apply().changed_since) == {"m0", "m1"}
        assert mind.get("m1").duplicate_count == 0
