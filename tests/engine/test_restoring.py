"""What cycles took away, and ``restore`` brings back. Source: docs/systems/reverie.md R13, R14, R19."""

from __future__ import annotations

from pathlib import Path

import pytest

import oneiros
from oneiros.model.fields import ENUMS
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import PROFILES, filled_mind, memories, tables

LATER = NOW + DAY
COUNT = 60
TAKE_AWAY = {"oneiros", "reverie", "omega"}
"""The profiles with a phase that archives or prunes (docs/systems: H8, R13, R14, O31)."""
STAGED, CONSOLIDATED, ARCHIVED = range(ENUMS["status"].index("quarantined"))
HOT = ENUMS["tier"].index("hot")


def found(mind: oneiros.Engine, profile: str) -> set[str]:
    """Return the ids of all that a search for the word that only they have finds."""
    given = {"now": LATER, "reinforce": False, "profile": profile}
    hits = (mind.search(f"w{n}", **given).ids for n in range(COUNT))
    return {id for n, ids in enumerate(hits) for id in ids if id == f"m{n}"}


@pytest.mark.parametrize("profile", PROFILES)
def test_what_cycles_took_away_is_found_again(tmp_path: Path, profile: str) -> None:
    path = tmp_path / "mind.db"
    with filled_mind(path, profile, COUNT) as mind:
        # What OMEGA takes away it hid before, by kind and verdicts; reverie hides by state alone.
        were_found = {name: found(mind, name) for name in {profile, "reverie"}}
        for days in (0, 60, 120):
            mind.dream(LATER + days * DAY)
        left = memories(path)
        taken = {
            id
            for id, held in left.items()
            if held["deleted_at"] is not None or held["status"] == ARCHIVED
        }
        assert bool(taken) == (profile in TAKE_AWAY)
        assert not taken & found(mind, "reverie")
        for id in taken:
            assert mind.restore(id, now=LATER)
        for id, held in memories(path).items():
            status = CONSOLIDATED if left[id]["status"] == ARCHIVED else left[id]["status"]
            used = {"last_accessed_at": LATER} if id in taken else {}
            assert held == left[id] | {"deleted_at": None, "status": status} | used
        shown = {
            id for id in taken if left[id]["superseded_by"] is None and left[id]["tier"] == HOT
        }
        for name, ids in were_found.items():
            assert shown & ids <= found(mind, name)
        # The default profile takes away only what is superseded or said twice, which no search found.
        assert bool(shown & were_found["reverie"]) == (bool(taken) and profile != "oneiros")
        assert mind.check() == []
        before = tables(path)
        for id in taken:
            assert not mind.restore(id, now=LATER + DAY)  # once more: nothing
        assert tables(path) == before
        assert not taken - {one.id for one in mind.list(limit=1000)}


def test_what_was_archived_and_then_pruned_comes_back_at_once(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        mind.add("an old story", id="old", now=NOW - 100 * DAY, strength=0.1, status="consolidated")
        mind.dream(NOW)
        assert mind.get("old").status == "archived"
        mind.dream(NOW + 100 * DAY)
        assert mind.list() == []
        mind.restore("old")
        assert [one.status for one in mind.list()] == ["consolidated"]
        assert mind.search("story", now=NOW, reinforce=False).ids == ["old"]


@pytest.mark.parametrize("status", ["staged", "consolidated"])
def test_what_was_pruned_keeps_its_status(tmp_path: Path, status: str) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        for number in range(2):  # said twice: the older goes
            mind.add("a story", id=f"m{number}", now=NOW - (2 - number) * 60.0, status=status)
        report = mind.dream(NOW)
        assert [one.id for one in report.named if one.field == "deleted_at"] == ["m0"]
        mind.restore("m0")
        assert mind.get("m0").status == status
        assert set(mind.search("story", now=NOW, reinforce=False).ids) == {"m0", "m1"}


# -- what a user took back stays (docs/systems/reverie.md R13, R14, R19; omega.md O31) ---------------


def taken_then_restored(mind: oneiros.Engine, **fields: object) -> None:
    """Add a memory of 400 days that the cycle takes away, and take it back a day later."""
    mind.add("an old story", **{"id": "old", "now": NOW - 400 * DAY} | fields)
    mind.dream(NOW)
    assert mind.list() == [] or mind.get("old").status == "archived"
    mind.restore("old", now=NOW + DAY)
    assert [(one.id, one.access_count) for one in mind.list()] == [("old", 0)]


def is_there(mind: oneiros.Engine) -> bool:
    return [one.id for one in mind.list() if one.status != "archived"] == ["old"]


@pytest.mark.parametrize(
    ("kind", "limit_days"), [("note", 180), ("config", 90), ("bug", 60), ("session", 30)]
)
def test_a_stale_memory_that_was_restored_is_stale_again_at_its_limit(
    kind: str, limit_days: float
) -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        taken_then_restored(mind, kind=kind)
        for day in (1, 2, limit_days):
            mind.dream(NOW + day * DAY)
            assert is_there(mind)
        mind.dream(NOW + (limit_days + 1) * DAY)
        assert not is_there(mind)


def test_a_faded_memory_that_was_restored_fades_again_at_half_its_limit() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        told = {"strength": 0.1, "status": "consolidated", "now": NOW - 100 * DAY}
        taken_then_restored(mind, **told)
        mind.dream(NOW + 90 * DAY)
        assert is_there(mind)
        mind.dream(NOW + 91 * DAY)
        assert not is_there(mind)


def test_a_weak_memory_that_was_restored_is_unused_no_more() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        taken_then_restored(mind, strength=0.01, kind="preference")  # never stale
        mind.dream(NOW + 4_000 * DAY)
        assert is_there(mind)


@pytest.mark.parametrize(("feedback", "stays"), [(0, True), (-2, True), (-3, False)])
def test_what_omega_archived_goes_again_only_where_it_is_disliked(
    feedback: int, stays: bool
) -> None:
    with oneiros.Engine(":memory:", profile="omega") as mind:
        taken_then_restored(mind, kind="code_chunk", feedback=feedback)
        mind.dream(NOW + 2 * DAY)  # of -3 now 0.1 x 0.4 x 0.98
        assert is_there(mind) == stays


@pytest.mark.parametrize("is_pinned", [False, True])
def test_what_is_superseded_or_repeats_another_goes_again_unless_it_is_pinned(
    is_pinned: bool,
) -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        for id in ("first", "again", "outdated"):
            mind.add("a story" if id != "outdated" else "a tale", id=id, now=NOW - 2 * DAY)
        mind.supersede("outdated", "again", now=NOW)
        mind.dream(NOW)
        for id in ("first", "outdated"):
            mind.restore(id, now=NOW)
            mind.pin(id, is_pinned)
        mind.dream(NOW)
        assert len(mind.list()) == (3 if is_pinned else 1)


def test_an_undoing_is_no_use_and_passes_over_what_was_restored(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="reverie") as mind:
        for id in ("one", "other"):
            mind.add(f"a story of {id}", id=id, now=NOW - 400 * DAY)
        before = memories(path)
        report = mind.dream(NOW)
        mind.restore("one", now=NOW + DAY)
        undone = mind.undo_dream(report.id, now=NOW + 2 * DAY)
        assert [(one.id, one.field) for one in undone.not_restored] == [("one", "deleted_at")]
        before["one"]["last_accessed_at"] = NOW + DAY
        assert memories(path) == before


def test_a_scope_restores_its_own_by_the_clock_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path, clock=lambda: NOW) as other:
        mind.add("a story", id="a", project="x", now=NOW - DAY)
        for clock, given in ((NOW, {}), (LATER, {"now": LATER})):
            other.delete("a")
            other.scope(project="x").restore("a", **given)
            assert mind.get("a").last_accessed_at == other.get("a").last_accessed_at == clock


# A deleted id that is added again

PRIVATE = {
    "text": "secret plan",
    "title": "Zephyr",
    "metadata": {"ssn": "123"},
    "tags": ["x"],
    "topic": "t",
    "project": "p",
    "session": "s",
    "kind": "decision",
    "category": "episodic",
    "importance": 0.9,
    "priority": 5,
    "veracity": "tool",
    "embedding": (0.0, 1.0),
    "valid_from": NOW - DAY,
    "event_at": NOW - DAY,
    "superseded_by": "newer",
}


def deleted_after_a_life(mind: oneiros.Engine) -> None:
    """Leave a deleted memory "s" of which everything that a memory can have was used."""
    mind.add("another", id="other", embedding=(1.0, 0.0), now=NOW)
    mind.add("newer", id="newer", now=NOW)
    mind.add(id="s", now=NOW, **PRIVATE)
    mind.update("s", importance=0.8, now=NOW)
    mind.link("s", "other", now=NOW)
    mind.feedback("s", "outdated", now=NOW)
    mind.pin("s")
    mind.update("s", superseded_by=None, now=NOW)
    mind.search("secret plan", session="seen", now=NOW)
    mind.dream(NOW + DAY)
    mind.delete("s", now=NOW + DAY)


def fresh(**fields: object) -> oneiros.Memory:
    """Return what a store that never had the id holds of "s"."""
    with oneiros.Engine(":memory:") as mind:
        mind.add("harmless", id="s", now=LATER, **fields)
        return mind.get("s")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_deleted_id_added_again_is_another_memory(tmp_path: Path, profile: str) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile=profile) as mind, oneiros.Engine(path) as other:
        deleted_after_a_life(mind)
        assert other.get("other").text == "another"
        report = mind.add_many([{"text": "harmless", "id": "s"}], on_conflict="update", now=LATER)
        assert (report.ids, report.updated) == (["s"], [])
        stability = mind.get("s").stability  # where the profile has a rule for new memories
        for one in (mind, other):
            assert one.get("s") == fresh(stability=stability)
            assert one.neighbours("s", now=LATER) == []
            assert one.search("Zephyr", reinforce=False, now=LATER).ids == []
            found = one.search("", embedding=(0.0, 1.0), reinforce=False, now=LATER).ids
            assert "s" not in found
            assert [memory.id for memory in one.list()][-1] == "s"
            assert one.count(oneiros.where(tags="x")) == one.count(oneiros.where(project="p")) == 0
            assert one.check() == []
        assert not mind.restore("s")
        assert tables(path)["feedback_event"] == []
        assert not any("s" in one.ids for one in mind.search_many(["plan", "secret"]))
    with oneiros.Engine(path) as again:
        assert again.get("s") == fresh(stability=stability)


def test_a_cycle_undone_gives_an_added_id_nothing_back(tmp_path: Path) -> None:
    with filled_mind(tmp_path / "mind.db", "oneiros", COUNT) as mind:
        before = {memory.id for memory in mind.list(limit=COUNT)}
        report = mind.dream(LATER)
        (gone, *_) = sorted(before - {memory.id for memory in mind.list(limit=COUNT)})
        mind.add("harmless", id=gone, on_conflict="update", now=LATER)
        added = mind.get(gone)
        mind.undo_dream(report.id, now=LATER)
        assert mind.get(gone) == added
        plan = mind.dream(LATER, dry_run=True)
        assert plan.report is not None
        assert mind.check() == []


def test_what_a_deleted_memory_superseded_comes_back_when_another_takes_its_id(
    tmp_path: Path,
) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as mind:
        mind.add("old", id="old")
        mind.add("new", id="new")
        mind.supersede("old", "new")
        mind.delete("new")
        mind.add("newest", id="new", on_conflict="update")
        assert mind.get("old").superseded_by is None
        assert mind.check() == []


def test_a_scope_replaces_only_what_it_sees(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as mind:
        mind.add("theirs", id="theirs", project="p")
        mind.add("ours", id="ours", project="q", title="T")
        mind.delete("theirs")
        mind.delete("ours")
        scope = mind.scope(project="q")
        with pytest.raises(oneiros.DuplicateId, match="is taken"):
            scope.add("z", id="theirs", on_conflict="update")
        scope.add("z", id="ours", on_conflict="update")
        assert (scope.get("ours").title, scope.get("ours").project) == ("", "q")
        assert mind.restore("theirs")
        mind.delete("ours")
        words = "soft-deleted; restore it, or pass on_conflict='update' to replace it for good"
        with pytest.raises(oneiros.DuplicateId, match=f"{words}$"):
            mind.add("z", id="ours")
        with pytest.raises(oneiros.DuplicateId, match=words) as raised:
            mind.add_many([{"text": "y"}, {"text": "z", "id": "ours"}])
        assert raised.value.__notes__ == ["record 1 of the batch"]


@pytest.mark.parametrize("way", ["restore", "update", "add"])
def test_a_cold_memory_is_found_again(way: str) -> None:
    now = NOW
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: now) as mind:
        mind.add("Ada lives in Oslo", id="home", category="episodic")
        for days in (200, 10):  # at its floor, and still after more than a week
            now += days * DAY
            mind.dream()
        assert mind.get("home").tier == "cold"
        assert mind.search("Ada", reinforce=False).ids == []
        if way == "restore":
            assert mind.restore("home")
            assert not mind.restore("home")
        elif way == "update":
            mind.update("home", importance=0.4)
            assert mind.get("home").tier == "cold"  # only what it says makes it current
            mind.update("home", text="Ada lives in Rome")
        else:
            mind.add("Ada lives in Rome", id="home", on_conflict="update")
        mind.dream()
        assert (mind.get("home").tier, mind.get("home").cold_since) == ("hot", None)
        assert mind.search("Ada", reinforce=False).ids == ["home"]


def test_a_superseded_memory_stays_cold() -> None:
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: NOW) as mind:
        mind.add("Ada lives in Oslo", id="old")
        mind.add("Ada lives in Rome", id="new")
        mind.supersede("old", "new")
        mind.dream()
        assert mind.get("old").tier == "cold"
        assert not mind.restore("old")
        mind.update("old", text="Ada lived in Oslo")
        assert mind.get("old").tier == "cold"
