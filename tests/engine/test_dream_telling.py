"""What a cycle of an engine tells of the whole store."""

from __future__ import annotations

import json

import pytest

from oneiros.clock import VirtualClock
from oneiros.engine import Engine

DAY = 86_400.0
NOW = 1_750_000_000.0


def test_a_report_tells_distributions_and_drift_and_keeps_them() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW)) as mind:
        for name, age in (("old", 400), ("new", 2), ("newer", 1)):
            mind.add(f"about the {name} thing", id=name, now=NOW - age * DAY)
        first = mind.dream(profile="reverie")
        assert first.drift["churn"] is None
        told = {one.name: one for one in first.distributions}
        assert sum(told["age_days"].before) == first.live_before == 3
        assert sum(told["age_days"].after) == first.live_after == first.drift["live"]
        mind.undo_dream(first.id)
        mind.search("new thing", k=1)
        second = mind.dream(NOW + DAY, profile="reverie")
        assert second.drift["churn"] == 1.0
        assert len(second.drift["top"]) == 1
        assert mind.dreams(1) == [second]


def test_a_plan_tells_what_its_cycle_will() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW)) as mind:
        mind.add("stale", now=NOW - 400 * DAY)
        plan = mind.dream(profile="reverie", dry_run=True)
        assert plan.report.distributions
        done = plan.apply()
        assert (done.distributions, done.drift) == (plan.report.distributions, plan.report.drift)


def test_a_plan_tells_the_changes_of_some_fields_alone() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW)) as mind:
        for age in (400, 30, 2):
            mind.add(f"{age} days old", kind="bug", session="s", now=NOW - age * DAY)
        plan = mind.dream(profile="reverie", dry_run=True)
        every = list(plan.changes())
        assert {"deleted_at", "strength", "status", "link"} <= {one.field for one in every}
        for fields in (("deleted_at",), ("status", "link"), ()):
            assert list(plan.changes(fields)) == [one for one in every if one.field in fields]


def test_what_is_pruned_is_told_with_every_reason_that_holds() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        mind.add("stale", id="stale", now=NOW - 400 * DAY)
        mind.add("never used", id="both", now=NOW - 300 * DAY, strength=0.0)
        mind.add("never used lately", id="unused", now=NOW - 40 * DAY, strength=0.0)
        for name, days in (("first", 3), ("second", 2)):
            mind.add("said twice", id=name, now=NOW - days * DAY)
        plan = mind.dream(dry_run=True)
        told = {one.id: one.reason for one in plan.changes() if one.field == "deleted_at"}
        assert told == {
            "stale": "stale",
            "both": "stale, unused",
            "unused": "unused",
            "first": "repeated",
        }
        assert {one.reason for one in plan.changes() if one.field == "strength"} <= {None}
        assert {one.id: one.reason for one in plan.apply().named if one.reason} == told
        assert mind.dreams(1)[0].named == plan.report.named


def test_what_is_taken_away_is_named_before_all_the_links_that_a_cycle_makes() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        for number in range(50):  # all replayed, and of one session and topic: linked in pairs
            created = NOW - DAY + number
            mind.add(f"told {number}", session="s", topic="t", now=created)
        mind.add("stale", id="stale", now=NOW - 400 * DAY, status="consolidated")
        plan = mind.dream(dry_run=True)
        fields = [change.field for change in plan.report.named]
        assert fields.count("link") > 100
        assert (plan.report.named[0].id, fields[0]) == ("stale", "deleted_at")
        last_state = max(n for n, field in enumerate(fields) if field in {"deleted_at", "status"})
        assert last_state < fields.index("link") < fields.index("strength")


def test_links_are_not_counted_as_memories() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        for number in range(4):  # as strong as can be: replayed, only their links change
            mind.add(f"told {number}", session="s", now=NOW - DAY + number)
        report = mind.dream()
        assert (report.counts()["R11"], report.counts()["R12"]) == (0, 4)
        lines = ["  removed: none", "  replay: 0, links 6", "  weakening: 4"]
        assert str(report).splitlines()[1:4] == lines


def test_a_rule_that_deletes_and_archives_counts_the_memories_of_both() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        for number in range(5):
            kind = "session" if number < 2 else "note"
            mind.add(f"stale {number}", id=f"m{number}", kind=kind, now=NOW - 400 * DAY)
        plan = mind.dream(dry_run=True)
        mind.update("m0", text="in use again")
        mind.update("m4", text="in use again, too")
        for report, deleted, archived in ((plan.report, 3, 2), (plan.apply(), 2, 1)):
            (prune,) = [phase for phase in report.phases if phase.name == "prune"]
            assert prune.memories == {"R13": deleted + archived}
            assert report.counts()["R13"] == deleted + archived
            assert report.removed == {"deleted": deleted, "archived": archived}
            assert report.removals() == f"{deleted} deleted, {archived} archived"
        kept = mind.dreams(1)[0]
        assert (kept.removed, kept.counts()) == (report.removed, report.counts())


def test_removals_are_named_before_other_changes_of_the_same_fields() -> None:
    """More memories go cold than a report names; the one that is cut to a stub is the first."""
    with Engine(":memory:", clock=VirtualClock(NOW), profile="cognitive") as mind:
        fading = {"stability": 0.1, "created_at": NOW - 900 * DAY, "at_floor_since": NOW - 9 * DAY}
        mind.add_many([{"text": f"fading {n}", **fading} for n in range(1_100)])
        cold = {"tier": "cold", "cold_since": NOW - 400 * DAY, "created_at": NOW - 900 * DAY}
        mind.add("a long story", id="cut", **cold, now=NOW - 500 * DAY)
        report = mind.dream(dry_run=True).report
    assert len(report.named) == 1_000
    assert [(one.id, one.removal, one.because) for one in report.named[:2]] == [
        ("cut", "cut to a stub", "cold for 400 days"),
        (report.named[1].id, None, None),
    ]
    assert report.removed == {"cut to a stub": 1}


def test_what_is_forgotten_for_its_little_weight_says_so() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="omega") as mind:
        old = NOW - 400 * DAY
        mind.add("never used", id="unused", kind="code_chunk", now=old)
        mind.add("disliked", id="disliked", kind="code_chunk", access_count=1, feedback=-3, now=old)
        named = mind.dream(dry_run=True).report.named
    because = {one.id: one.because for one in named if one.removal == "archived"}
    assert because == {  # the weights of tests/dream/test_forgetting.py
        "unused": "never used, 400 days old, and of little weight (0.015)",
        "disliked": "feedback -3, 400 days old, and of little weight (0.014)",
    }


def test_a_report_and_a_plan_show_themselves_on_a_line() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        mind.add("stale", now=NOW - 400 * DAY)
        plan = mind.dream(dry_run=True)
        assert repr(plan) == f"<dream {plan.id} (reverie): would change 2 fields, 1 -> 0 memories>"
        done, again = plan.apply(), mind.dream()
        undone = mind.undo_dream(done.id)
        assert str(undone) == f"dream {done.id} undone by {undone.id}: 2 fields restored"
        assert repr(again).startswith(f"<dream {again.id} (reverie): changed 0 fields")


def test_what_is_told_to_a_terminal_is_not_obeyed() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        mind.add("stale", id="\x1b[2J", kind="\x1b[31m", now=NOW - 400 * DAY)
        plan = mind.dream(dry_run=True)
        told = str(plan.impact(["stale"]))
        plan.apply()
        assert "\x1b" not in told + str(mind.drift())
        assert "␛[2J (pruning)" in told
        assert "␛[31m 400 days" in str(mind.drift())


def test_a_vector_that_goes_is_told_as_json_can_hold_it() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="cognitive") as mind:
        cold = {"tier": "cold", "cold_since": NOW - 400 * DAY, "now": NOW - 900 * DAY}
        mind.add("a long story", embedding=(0.5, -0.5), **cold)
        plan = mind.dream(dry_run=True)
        for report in (plan.report, plan.apply()):
            told = json.loads(json.dumps(report.record(), allow_nan=False))
            (gone,) = [one for one in told["named"] if one["field"] == "embedding"]
            assert gone["before"] == pytest.approx([0.5**0.5, -(0.5**0.5)])
            assert gone["after"] is None
