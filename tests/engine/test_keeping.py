"""What dream cycles may not take away: imported history, more than a tenth a day, what is important.

Source: docs/systems/house.md H8, docs/systems/reverie.md R13 and R19, docs/systems/fields.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.scoring.phases.cognitive import Cooling
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.phases.reverie import LIMITS_DAYS, Place, Prune
from oneiros.scoring.profile import Profile
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.store import checksums
from tests.collections_on_disk import folder_of

NOW = 1_750_000_000.0
DAY = 86_400.0
HALF_HOUR = 1_800.0
LIMITS = {
    **LIMITS_DAYS,
    "session": 75.0,
    "bug": 120.0,
    "config": 180.0,
    **dict.fromkeys(("fact", "lesson", "skill", "entity", "profile", "relationship"), float("inf")),
}
DEFAULT = oneiros.profiles.get("oneiros")
# The default profile with rules of age, so that its rails have something to hold back.
HOUSE = DEFAULT.replace(
    phases=tuple(
        replace(phase, limits_days=LIMITS, other_limit_days=180.0)
        if isinstance(phase, (Prune, Place))
        else phase
        for phase in DEFAULT.phases
    )
)
TENTH = oneiros.profiles.get("reverie").replace(
    name="tenth", phases=(Prune(),), rails=SafetyRails(most_pruned=0.1)
)


def engine(path: Path | str = ":memory:", profile: Profile | str = HOUSE) -> oneiros.Engine:
    return oneiros.Engine(path, profile=profile, clock=lambda: NOW)


def stale(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"id": f"old{n}", "text": f"note {n} of long ago", **fields} for n in range(count)]


def gone(mind: oneiros.Engine, ids: Iterable[str]) -> list[str]:
    held = zip(ids, mind.get_deleted(ids := list(ids)), strict=True)
    return [id for id, one in held if one is not None]


# -- the moment of learning --------------------------------------------------------------------------


def test_a_store_learns_of_a_memory_when_it_is_added() -> None:
    with engine() as mind:
        mind.add("told", id="told", now=NOW - DAY)
        mind.add("imported", id="imported", created_at=NOW - 900 * DAY, learned_at=NOW - 800 * DAY)
        assert mind.get("told").learned_at == mind.get("told").created_at == NOW - DAY
        held = mind.get("imported")
        assert (held.created_at, held.learned_at) == (NOW - 900 * DAY, NOW)


def test_what_happens_later_leaves_the_moment_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with engine(path, "reverie") as mind:
        mind.add("told", id="a", now=NOW - 400 * DAY)
        mind.update("a", text="told in other words", now=NOW - 399 * DAY)
        mind.add("told again", id="a", on_conflict="update", now=NOW - 398 * DAY)
        mind.delete("a", now=NOW)
        mind.restore("a", now=NOW)
        mind.add("b", id="b", now=NOW - 400 * DAY)
        mind.undo_dream(mind.dream(NOW).id, now=NOW)
        mind.backup(tmp_path / "copy.db")
    for file in (path, tmp_path / "copy.db"):
        with engine(file) as mind:
            assert [mind.get(id).learned_at for id in "ab"] == [NOW - 400 * DAY] * 2


def test_what_was_deleted_and_comes_again_is_learned_anew() -> None:
    with engine() as mind:
        mind.add("told", id="a", now=NOW - 400 * DAY)
        mind.delete("a", now=NOW - DAY)
        mind.add("told", id="a", on_conflict="update", now=NOW)
        assert mind.get("a").learned_at == NOW


def test_an_import_begins_anew(tmp_path: Path) -> None:
    with engine() as mind:
        mind.add("told", id="a", now=NOW - 400 * DAY)
        before = mind.get("a")
        mind.export(tmp_path / "out.jsonl")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert records[0]["learned_at"] == NOW - 400 * DAY
    with engine() as other:
        other.add_many(records)
        assert other.get("a") == replace(before, learned_at=NOW)
        other.add_many([before], on_conflict="update", now=NOW + DAY)
        assert other.get("a").learned_at == NOW


def test_the_moment_cannot_be_changed() -> None:
    with engine() as mind:
        mind.add("told", id="a")
        with pytest.raises(ValueError, match=r"learned_at: cannot be changed, got 5\.0"):
            mind.update("a", learned_at=5.0)
        with pytest.raises(ValueError, match="learned_at: must be seconds since 1970"):
            mind.add("late", learned_at=1e12)


def test_the_moment_can_be_filtered_by() -> None:
    with engine() as mind:
        mind.add("tea early", id="early", now=NOW - 9 * DAY)
        mind.add("tea late", id="late", created_at=NOW - 99 * DAY)
        lately = oneiros.where(learned_at=(NOW - DAY, None))
        assert mind.search("tea", where=lately, reinforce=False).ids == ["late"]


def test_a_summary_was_learned_of_as_lately_as_its_sources() -> None:
    fading = {"category": "episodic", "embedding": (1.0, 0.0), "importance": 0.0}
    with engine(profile="cognitive") as mind:
        for n in range(5):
            mind.add(f"story {n}", stability=0.1, **fading, now=NOW - (900 + n) * DAY)
        (summary,) = [one.id for one in mind.dream(NOW).named if one.field == "memory"]
        held = mind.get(summary)
        assert (held.created_at, held.learned_at) == (NOW - 900 * DAY, NOW - 900 * DAY)


def test_a_snapshot_brings_the_moments_back(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    records = [
        {"id": f"m{n}", "text": f"text {n}", "created_at": NOW - n * DAY} for n in range(2_500)
    ]
    with engine(path) as mind:
        mind.add_many(records, now=NOW - 7.5 * DAY)
    assert (tmp_path / "mind.db-snapshot").is_file()
    with engine(path) as mind:
        column = mind._scope.services.read_model.lifecycle.column("learned_at")
        assert set(column.tolist()) == {NOW - 7.5 * DAY}


# -- imported history --------------------------------------------------------------------------------


def dream_for(mind: oneiros.Engine, days: float, check: Callable[[float], None]) -> None:
    for step in range(int(days * DAY / HALF_HOUR)):
        now = NOW + step * HALF_HOUR
        mind.dream(now)
        check(now)


def a_week_after_an_import(records: Sequence[dict[str, Any]]) -> None:
    """Cycles every half hour for eight days: nothing young is gone, and at most a tenth a day."""
    long_known = stale(100)
    with engine() as mind:
        mind.add_many(long_known, now=NOW - 400 * DAY)
        mind.add_many(records, now=NOW)
        imported = [str(one["id"]) for one in records]
        live = {NOW: len(mind)}

        def check(now: float) -> None:
            live[now + HALF_HOUR] = len(mind)
            day_before = max(NOW, now + HALF_HOUR - DAY)
            assert live[day_before] - len(mind) <= live[day_before] // 10

        dream_for(mind, 8, check)
        assert gone(mind, imported) == []
        assert all(one.status != "archived" for one in mind.list(limit=10_000))
        assert len(mind) == len(imported)  # what was known for long is all gone by then


def test_imported_history_survives_its_first_week() -> None:
    records = [
        {
            "id": f"m{n}",
            "text": f"message {n} about topic {n % 97}",
            "created_at": NOW - 900 * DAY + n,
        }
        for n in range(300)
    ]
    a_week_after_an_import(records)


def test_imported_conversations_survive_their_first_week() -> None:
    path = folder_of("locomo-dev") / "corpus.jsonl"
    most = None if os.environ.get("ONEIROS_LONG") else 800
    told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:most]]
    records = [
        {
            "id": one["_id"],
            "text": one["text"],
            "session": f"{one['metadata']['group']} {one['metadata']['session']}",
            "topic": one["_id"],  # people repeat themselves: that is no matter of age
            "created_at": datetime.fromisoformat(one["timestamp"]).replace(tzinfo=UTC),
        }
        for one in told
    ]
    assert all(one["created_at"].year < 2025 for one in records)
    a_week_after_an_import(records)


def one_rule(name: str, phase: Any, **given: Any) -> Profile:
    return oneiros.profiles.get(name).replace(name="one-rule", phases=(phase,), **given)


FADED = {"strength": 0.1, "stability": 0.1, "importance": 0.0, "category": "episodic"}
RULES: dict[str, tuple[Profile, dict[str, Any], str, float]] = {
    "pruned (R13)": (one_rule("reverie", Prune()), {}, "deleted_at", 180.0),
    "archived (R14)": (
        one_rule("reverie", Place()),
        {"status": "consolidated", "strength": 0.1},
        "status",
        90.0,
    ),
    "forgotten (O31)": (one_rule("omega", Forgetting()), {"kind": "code_chunk"}, "status", 61.0),
    "cold (C19)": (one_rule("cognitive", Cooling(days=0.0)), FADED, "tier", 18.0),
    "forgotten, bounded": (
        one_rule("omega-bounded", Forgetting()),
        {"kind": "code_chunk"},
        "status",
        61.0,
    ),
}


def fate(mind: oneiros.Engine) -> dict[str, object]:
    held = mind.get_deleted(["a"])[0] or mind.get("a")
    return {name: getattr(held, name) for name in ("deleted_at", "status", "tier")}


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_that_takes_away_counts_from_the_moment_of_learning(rule: str) -> None:
    profile, fields, field, days = RULES[rule]
    with engine(profile=profile) as mind:
        mind.add("an old story", id="a", created_at=NOW - 900 * DAY, **fields)
        before = fate(mind)
        mind.dream(NOW + (days - 31 if days > 31 else 0.0) * DAY)
        assert fate(mind) == before
        mind.dream(NOW + (days + 1) * DAY)
        assert fate(mind)[field] != before[field]


@pytest.mark.parametrize("rule", RULES)
def test_a_profile_may_count_as_its_source_does(rule: str) -> None:
    profile, fields, field, _ = RULES[rule]
    exact = profile.replace(name="exact", rails=SafetyRails(activity_times=()))
    with engine(profile=exact) as mind:
        mind.add("an old story", id="a", created_at=NOW - 900 * DAY, **fields)
        before = fate(mind)
        mind.dream(NOW)
        assert fate(mind)[field] != before[field]


def test_the_house_counts_from_the_last_update_too() -> None:
    for name, is_kept in (("oneiros", True), ("reverie", False)):
        with engine(profile=name) as mind:
            mind.add_many(stale(30), now=NOW - 400 * DAY)
            mind.update("old0", importance=0.4, now=NOW - 10 * DAY)  # a revision, and R13 knows it
            mind.add("set right", id="a", now=NOW - 400 * DAY, updated_at=NOW - 10 * DAY)
            mind.dream(NOW)
            assert (gone(mind, ["a"]) == []) is is_kept


def test_nothing_is_taken_away_that_was_learned_of_lately() -> None:
    young = HOUSE.replace(
        name="young", rails=SafetyRails(youngest_days=7.0, most_pruned=1.0, activity_times=())
    )
    with engine(profile=young) as mind:
        mind.add_many(stale(3), now=NOW - 6 * DAY)
        mind.add_many([{"id": "b", "text": "b", "created_at": NOW - 900 * DAY}], now=NOW - 6 * DAY)
        report = mind.dream(NOW)
        assert gone(mind, ["b"]) == []
        assert [(one.reason, one.memories) for one in report.left_alone] == [("young", 1)]
        mind.dream(NOW + DAY)
        assert gone(mind, ["b"]) == ["b"]


# -- a tenth a day -----------------------------------------------------------------------------------


def test_at_most_a_tenth_goes_in_a_day() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        reports = [mind.dream(NOW + step * HALF_HOUR) for step in range(48)]
        assert [one.taken_away for one in reports] == [10] + [0] * 47
        assert [one.taken_before for one in reports] == [0] + [10] * 47
        assert {one.day_limit for one in reports} == {10}
        held = [(one.reason, one.memories) for one in reports[1].left_alone]
        assert held == [("prune budget", 90)]
        # The first cycle is a day old: a tenth of what was live at the second.
        later = mind.dream(NOW + 48 * HALF_HOUR)
        assert (later.taken_away, later.taken_before, later.day_limit) == (9, 0, 9)


def test_a_dry_run_reports_the_limit_of_the_day() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(15), now=NOW - 400 * DAY)
        mind.add_many([{"text": f"fresh {n}"} for n in range(85)], now=NOW)
        mind.dream(NOW)
        plan = mind.dream(NOW + HALF_HOUR, dry_run=True).report
        assert (plan.taken_away, plan.taken_before, plan.day_limit) == (0, 10, 10)
        held = [(one.reason, one.memories) for one in plan.left_alone]
        assert held == [("prune budget", 5)]


def test_what_comes_meanwhile_raises_no_limit_and_what_goes_by_hand_lowers_it() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        mind.dream(NOW)
        mind.add_many([{"text": f"fresh {n}"} for n in range(900)], now=NOW)
        assert mind.dream(NOW + HALF_HOUR).day_limit == 10
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(1), now=NOW - 400 * DAY)
        mind.add_many([{"id": f"f{n}", "text": f"fresh {n}"} for n in range(99)], now=NOW)
        mind.dream(NOW)
        for n in range(49):
            mind.delete(f"f{n}", now=NOW)
        assert mind.dream(NOW + HALF_HOUR).day_limit == 5  # of the 50 left and the one taken


def test_a_profile_without_a_limit_takes_what_it_finds() -> None:
    with engine(profile=one_rule("reverie", Prune())) as mind:
        mind.add("stale", id="first", now=NOW - 400 * DAY)
        mind.dream(NOW)
        mind.add_many(stale(30), now=NOW - 400 * DAY)
        report = mind.dream(NOW + HALF_HOUR)
        assert (report.taken_away, report.taken_before, report.day_limit) == (30, 1, None)


def test_cycles_of_other_processes_count(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with engine(path, TENTH) as one, engine(path, TENTH) as other:
        one.add_many(stale(100), now=NOW - 400 * DAY)
        assert one.dream(NOW).taken_away == 10
        assert other.dream(NOW + HALF_HOUR).taken_away == 0
        assert other.dream(NOW - HALF_HOUR).taken_away == 0  # its clock is behind


def test_cycles_that_were_undone_do_not_count() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        mind.undo_dream(mind.dream(NOW).id, now=NOW)
        assert len(mind) == 100
        report = mind.dream(NOW + HALF_HOUR)
        assert (report.taken_away, report.taken_before, report.day_limit) == (10, 0, 10)


def test_what_an_undoing_does_not_bring_back_counts() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(1_000), now=NOW - 400 * DAY)
        for step in range(5):
            report = mind.dream(NOW + step * 60)
            mind.purge(0.0, now=NOW + step * 60 + 1)
            undone = mind.undo_dream(report.id, now=NOW + step * 60 + 2)
            assert undone.brought_back == 0
        assert len(mind) == 900
        assert mind.dream(NOW + HALF_HOUR).taken_before == 100


def test_only_what_an_undoing_brings_back_can_be_taken_again() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        report = mind.dream(NOW)
        away = [one.id for one in report.named]
        for id in away[:4]:
            mind.forget(id)
        mind.restore(away[4], now=NOW)  # which is not the undoing's doing
        undone = mind.undo_dream(report.id, now=NOW)
        assert (undone.brought_back, undone.brought_back_shown) == (5, 5)
        again = mind.dream(NOW + HALF_HOUR)
        assert (again.taken_away, again.taken_before, again.day_limit) == (5, 5, 10)
        assert mind.dreams(limit=2)[1].brought_back == 5  # as the store keeps it


def test_archived_memories_that_are_deleted_raise_no_limit() -> None:
    with engine(profile=TENTH) as mind:
        mind.add_many(
            [{"text": f"away {n}", "status": "archived"} for n in range(500)], now=NOW - 700 * DAY
        )
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        limits = []
        for step in range(4):
            report = mind.dream(NOW + step * 60)
            limits.append((report.day_limit, report.taken_away + report.taken_before))
        assert limits == [(10, 10)] * 4


def test_what_is_archived_counts_and_is_counted_once() -> None:
    sessions = one_rule("reverie", Prune(), rails=SafetyRails(most_pruned=0.1))
    with engine(profile=sessions) as mind:
        mind.add_many(stale(100, kind="session"), now=NOW - 400 * DAY)
        assert mind.dream(NOW).taken_away == 10
        assert mind.dream(NOW + HALF_HOUR).taken_away == 0
        archived = mind.count(where=oneiros.where(status="archived"))
        assert archived == 10


def test_reports_that_no_longer_name_memories_still_count(tmp_path: Path) -> None:
    """Reports of more than thirty cycles ago count what changed, and name nothing."""
    with engine(tmp_path / "mind.db", TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        for step in range(47):
            mind.dream(NOW + step * 60.0)
        assert mind.dreams(100)[-1].named == ()
        assert mind.dreams(100)[-1].taken_away == 10
        assert len(mind) == 90
        for step in range(120):  # so many that are a day old end the search
            mind.dream(NOW + 2 * DAY + step * 60.0)
        assert len(mind) == 81


DAMAGE = {
    "no JSON": "report = '{'",
    "no UTF-8": "report = CAST(x'7b22ff' AS TEXT)",
    "another type": "report = '[1]'",
    "a number that is none": "report = json_set(report, '$.live_before', 'much')",
    "no clock": "dreamed_at = -1e300",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_report_is_passed_over(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "mind.db"
    with engine(path, TENTH) as mind:
        mind.add_many(stale(200), now=NOW - 400 * DAY)
        mind.dream(NOW)
        mind.dream(NOW + HALF_HOUR)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"UPDATE dream_cycle SET {DAMAGE[damage]} WHERE number = 1")
    with engine(path, TENTH) as mind:
        report = mind.dream(NOW + 2 * HALF_HOUR)
        assert (report.taken_before, report.day_limit) == (0, 18)  # of the 180 at the second
        assert report.taken_away == 18


def test_reports_of_an_older_version_count_what_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with engine(path, TENTH) as mind:
        mind.add_many(stale(100), now=NOW - 400 * DAY)
        mind.dream(NOW)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(
            "UPDATE dream_cycle SET report = "
            "json_remove(report, '$.taken_away', '$.taken_before', '$.day_limit')"
        )
        checksums.register(connection)
        cells = {name: name for name in checksums.COVERED["dream_cycle"]}
        connection.execute(f"UPDATE dream_cycle SET checksum = {checksums.checksum(cells)}")
    with engine(path, TENTH) as mind:
        assert mind.dreams()[0].damage == ""
        assert mind.dream(NOW + HALF_HOUR).taken_before == 10


def test_two_plans_of_one_moment_keep_to_the_limit_together() -> None:
    notes = TENTH.replace(name="notes", phases=(Prune(limits_days={"bug": 1e6}),))
    bugs = TENTH.replace(name="bugs", phases=(Prune(limits_days={"note": 1e6}),))
    with engine(profile=TENTH) as mind:
        mind.add_many(stale(50), now=NOW - 400 * DAY)
        mind.add_many(
            [{"id": f"b{n}", "text": f"bug {n}", "kind": "bug"} for n in range(50)],
            now=NOW - 400 * DAY,
        )
        one = mind.dream(NOW, dry_run=True, profile=notes)
        other = mind.dream(NOW, dry_run=True, profile=bugs)
        assert (one.report.taken_away, other.report.taken_away) == (10, 10)
        assert one.apply().taken_away == 10
        report = other.apply()
        assert (report.taken_away, report.taken_before, len(mind)) == (0, 10, 90)
        assert report.changed_since == ()
        assert [(held.reason, held.memories) for held in report.left_alone if not held.phase] == [
            ("prune budget", 10)
        ]
        assert not [one for one in report.named if one.field == "deleted_at"]
        assert mind.check() == []


# -- importance --------------------------------------------------------------------------------------

FILLERS = [{"text": f"filler {n}"} for n in range(200)]


@pytest.mark.parametrize(
    ("fields", "is_kept"),
    [
        ({"importance": 0.8}, True),
        ({"importance": 0.79}, False),
        ({"priority": 4}, True),
        ({"priority": 3}, False),
        ({"kind": "decision"}, True),  # its priority is 4
        ({"kind": "decision", "priority": 3}, False),
        ({"kind": "session", "importance": 1.0}, True),
        *[
            ({"kind": kind, "priority": 1}, True)
            for kind in ("fact", "lesson", "learning", "skill")
        ],
        *[({"kind": kind, "priority": 1}, True) for kind in ("preference", "user_preference")],
        *[({"kind": kind, "priority": 1}, True) for kind in ("profile", "entity", "relationship")],
        *[({"kind": kind, "priority": 1}, True) for kind in ("rule", "instruction", "reference")],
        ({"kind": "issue"}, False),
    ],
)
def test_the_house_takes_nothing_important_away_for_its_age(
    fields: dict[str, Any], is_kept: bool
) -> None:
    with engine() as mind:
        mind.add_many(FILLERS, now=NOW)
        mind.add("of old", id="a", now=NOW - 400 * DAY, **fields)
        report = mind.dream(NOW)
        assert (gone(mind, ["a"]) == [] and mind.get("a").status != "archived") is is_kept
        told = {one.reason: one.memories for one in report.left_alone if one.rule == "R13"}
        is_stale = fields.get("kind", "note") in ("note", "decision", "session")
        assert told.get("important", 0) == (is_kept and is_stale)


@pytest.mark.parametrize("profile", ["oneiros", "reverie"])
def test_what_is_trusted_less_takes_nothing_away_by_repeating_it(profile: str) -> None:
    said = {"text": "I am vegetarian", "topic": "food"}
    with engine(profile=profile) as mind:
        mind.add_many(stale(60), now=NOW - 20 * DAY)
        own = {"kind": "preference", "tags": ["diet"]}
        mind.add(**said, **own, id="first", trust=0.9, now=NOW - 50 * DAY)
        mind.add(**said, id="page", trust=0.3, now=NOW - 45 * DAY)
        mind.add(**said, **own, id="own", trust=0.9, now=NOW - 40 * DAY)
        mind.add(**said, id="tool", trust=0.3, now=NOW - 30 * DAY)
        mind.add(**said, id="web", trust=0.2, now=NOW - 29 * DAY)
        mind.dream()
        # The newest of those that are trusted as much, or more.
        assert gone(mind, ["first", "page", "own", "tool", "web"]) == ["first", "page"]
        kept = mind.get("own")
        assert (kept.kind, kept.tags) == ("preference", ["diet"])
        assert [mind.get(id).trust for id in ("own", "tool", "web")] == pytest.approx(
            [0.9, 0.3, 0.2]
        )
        assert mind.search("vegetarian", least_trust=0.5).ids == ["own"]


def test_what_is_important_still_gives_way_to_what_supersedes_or_repeats_it() -> None:
    with engine() as mind:
        mind.add_many(FILLERS, now=NOW)
        for id in ("a", "b"):
            mind.add("the same", id=id, importance=1.0, now=NOW - 400 * DAY)
        mind.add("old", id="c", importance=1.0, now=NOW - 400 * DAY)
        mind.add("new", id="d", now=NOW)
        mind.supersede("c", "d")
        report = mind.dream(NOW)
        assert gone(mind, ["a", "b", "c"]) == ["a", "c"]
        reasons = {one.id: one.reason for one in report.named if one.field == "deleted_at"}
        assert reasons == {"a": "repeated", "c": "superseded"}
        assert [one.memories for one in report.left_alone if one.reason == "important"] == [1]


@pytest.mark.parametrize("rule", ["archived (R14)", "forgotten (O31)"])
def test_importance_protects_from_every_rule_of_age(rule: str) -> None:
    profile, fields, field, days = RULES[rule]
    keeping = profile.replace(name="keeping", rails=SafetyRails(kept_importance=0.8))
    with engine(profile=keeping) as mind:
        mind.add("an old story", id="a", importance=0.9, now=NOW - 900 * DAY, **fields)
        mind.add("another", id="b", importance=0.7, now=NOW - 900 * DAY, **fields)
        report = mind.dream(NOW + days * DAY)
        assert {one.id for one in report.named if one.field == field} == {"b"}
        assert [(one.reason, one.memories) for one in report.left_alone] == [("important", 1)]


def test_other_profiles_have_no_such_bounds() -> None:
    for name in oneiros.profiles.names():
        if name != "oneiros":
            assert oneiros.profiles.get(name).rails is None
    rails = HOUSE.rails
    assert rails is not None
    assert (rails.kept_importance, rails.kept_priority) == (0.8, 4)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"kept_importance": 1.5}, ValueError, r"kept_importance: must be >= 0 and <= 1, got 1.5"),
        ({"kept_importance": "high"}, TypeError, "kept_importance: expected a number"),
        ({"kept_priority": 6}, ValueError, "kept_priority: must be in 1 to 5, got 6"),
        ({"kept_priority": 4.0}, TypeError, "kept_priority: expected an integer"),
        ({"kept_priority": True}, TypeError, "kept_priority: expected an integer"),
        ({"activity_times": "learned_at"}, TypeError, "activity_times: expected a list of words"),
        (
            {"activity_times": ("created_at",)},
            ValueError,
            "activity_times: must be among updated_at, learned_at, got 'created_at'",
        ),
    ],
)
def test_rails_are_checked(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        SafetyRails(**wrong)


@pytest.mark.parametrize(
    "rails",
    [
        SafetyRails(),
        SafetyRails(activity_times=(), kept_importance=0.0, kept_priority=1),
        SafetyRails(activity_times=("learned_at", "updated_at"), kept_importance=1.0),
    ],
)
def test_rails_survive_toml(rails: SafetyRails) -> None:
    profile = HOUSE.replace(name="railed", rails=rails)
    assert Profile.from_toml(profile.to_toml()) == profile


def test_the_order_of_times_makes_no_difference() -> None:
    one = SafetyRails(activity_times=("learned_at", "updated_at"))
    assert one == SafetyRails(activity_times=("updated_at", "learned_at"))


def test_archived_memories_are_no_part_of_the_tenth() -> None:
    """They are removed already: 100 others beside 900 of them lose 10 a day."""
    now = [NOW]
    with oneiros.Engine(":memory:", profile=HOUSE, clock=lambda: now[0]) as mind:
        mind.add_many([{"text": f"talk {n} of {n}", "kind": "session"} for n in range(300)])
        mind.add_many([{"text": f"note {n} of {n}"} for n in range(100)], now=NOW + 60 * DAY)
        now[0] = NOW + 76 * DAY
        for _ in range(60):
            mind.dream()
            now[0] += DAY
        assert sum(memory.status == "archived" for memory in mind.list(limit=1_000)) == 300
        now[0] = NOW + 260 * DAY
        report = mind.dream()
        assert (report.taken_away, report.day_limit) == (10, 10)
