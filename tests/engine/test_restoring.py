"""What cycles took away, and ``restore`` brings back. Source: docs/systems/reverie.md R13, R14, R19."""

from __future__ import annotations

from pathlib import Path

import pytest

import oneiros
from oneiros.fields import ENUMS
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import PROFILES, filled_mind, memories

LATER = NOW + DAY
COUNT = 60
TAKE_AWAY = {"oneiros", "reverie", "omega"}
"""The profiles with a phase that archives or prunes (docs/systems: H8, R13, R14, O31)."""
STAGED, CONSOLIDATED, ARCHIVED = range(len(ENUMS["status"]))
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
            mind.restore(id)
        for id, held in memories(path).items():
            status = CONSOLIDATED if left[id]["status"] == ARCHIVED else left[id]["status"]
            assert held == left[id] | {"deleted_at": None, "status": status}
        shown = {
            id for id in taken if left[id]["superseded_by"] is None and left[id]["tier"] == HOT
        }
        for name, ids in were_found.items():
            assert shown & ids <= found(mind, name)
        assert bool(shown & were_found["reverie"]) == bool(taken)
        assert mind.check() == []
        for id in taken:
            mind.restore(id)  # once more: nothing
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
