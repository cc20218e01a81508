"""Who follows a dream cycle of another process by its notes holds what a new reading gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.dream import undo_log
from oneiros.store import Reading
from oneiros.write import reinforce
from tests.engine.dream_stores import called
from tests.engine.test_dream_in_step import DAY, state, world

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
PROFILES = ("reverie", "oneiros", "cognitive", "omega")


@contextmanager
def two(path: Path, profile: str = "reverie") -> Iterator[tuple[Any, Any, VirtualClock]]:
    """Two engines on one store, as two processes have them."""
    mind, clock = world(path, profile)
    options: dict[str, Any] = {"profile": profile, "clock": clock, "auto_refresh": False}
    with mind, oneiros.Engine(path, **options) as other:
        yield mind, other, clock


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is read of the states of memories: how many, each time."""
    counts: list[int] = []
    whole = Reading.changes_of_states

    def counting(self: Reading, after: int) -> Iterator[Any]:
        for states in whole(self, after):
            counts.append(len(states.sequences))
            yield states

    monkeypatch.setattr(Reading, "changes_of_states", counting)
    return counts


def agree(mind: oneiros.Engine, other: oneiros.Engine, path: Path) -> None:
    """Hold both against each other and against a new reading of the store."""
    assert state(other) == state(mind)
    with oneiros.Engine(path, clock=lambda: 2e9) as fresh:
        assert state(fresh) == state(other)
    assert mind.check() == other.check() == []


@pytest.mark.parametrize("profile", PROFILES)
def test_a_cycle_is_followed_by_its_notes(profile: str, tmp_path: Path, read: list[int]) -> None:
    with two(tmp_path / "a.db", profile) as (mind, other, clock):
        for _ in range(2):
            mind.dream()
            clock.advance(9 * DAY)
        other.refresh()
        assert read == []
        agree(mind, other, tmp_path / "a.db")
        asked = {"k": 100, "reinforce": False}
        assert other.search("thing 3", **asked).ids == mind.search("thing 3", **asked).ids


def test_what_came_after_the_cycle_has_the_last_word(tmp_path: Path, read: list[int]) -> None:
    with two(tmp_path / "a.db") as (mind, other, clock):
        report = mind.dream()
        taken = [one.id for one in report.named if one.field == "deleted_at"]
        mind.restore(taken[0])
        mind.forget(taken[1])
        kept = mind.list(limit=1)[0].id
        mind.update(kept, strength=0.77, text="another text")
        clock.advance(DAY)
        mind.search("thing 2", k=3, session="after")
        mind.flush()
        other.refresh()
        assert sum(read) <= 4
        agree(mind, other, tmp_path / "a.db")


def test_after_a_commit_that_was_not_seen_memories_are_read(
    tmp_path: Path, read: list[int]
) -> None:
    with two(tmp_path / "a.db") as (mind, other, _):
        mind.search("thing 3", k=5, session="before")  # what this changes the cycle covers
        mind.flush()
        mind.dream()
        other.refresh()
        assert sum(read) > 40
        agree(mind, other, tmp_path / "a.db")


@pytest.mark.parametrize("profile", PROFILES)
def test_an_undoing_is_followed_by_its_notes(profile: str, tmp_path: Path, read: list[int]) -> None:
    with two(tmp_path / "a.db", profile) as (mind, other, clock):
        report = mind.dream(**called(profile, summarise=" and ".join))
        other.refresh()
        live = mind.list(limit=1)[0].id
        mind.update(live, strength=0.77)
        other.refresh()
        read.clear()
        mind.undo_dream(report.id)
        other.refresh()
        assert read == []
        agree(mind, other, tmp_path / "a.db")
        clock.advance(DAY)
        mind.dream()
        report = mind.dream()
        other.refresh()
        mind.undo_dream(report.id)
        other.refresh()
        assert read == []
        agree(mind, other, tmp_path / "a.db")


def test_a_cycle_that_was_undone_is_followed_with_its_undoing(
    tmp_path: Path, read: list[int]
) -> None:
    with two(tmp_path / "a.db") as (mind, other, _):
        mind.undo_dream(mind.dream().id)
        other.refresh()
        assert read == []
        agree(mind, other, tmp_path / "a.db")


def test_summaries_and_conflicts_are_followed(tmp_path: Path, read: list[int]) -> None:
    def judge(older: str, newer: str) -> str:
        return "update" if len(older) <= len(newer) else "distinct"

    def told(texts: Sequence[str]) -> str:
        return f"{len(texts)} memories: {texts[0]}"

    with two(tmp_path / "a.db", "cognitive") as (mind, other, clock):
        changed = set()
        for _ in range(4):
            changed |= {
                change.field
                for change in mind.dream(summarise=told, judge=judge, dry_run=True).changes()
            }
            mind.dream(summarise=told, judge=judge)
            clock.advance(200 * DAY)
            other.refresh()
        assert {"memory", "superseded_by", "embedding", "link"} <= changed
        assert read == []
        agree(mind, other, tmp_path / "a.db")
        assert list(other.links()) == list(mind.links())


def test_waiting_strength_of_ones_own_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)  # nothing is written yet
    with two(tmp_path / "a.db") as (mind, other, _):
        found = other.search("thing 3", k=5, session="own").ids
        before = state(other)
        mind.dream()
        other.refresh()
        for id in found:
            held = state(other)[id]
            assert held["access_count"] == before[id]["access_count"]
            assert held["strength"] == state(mind)[id]["strength"]


@pytest.mark.parametrize("revision", [lambda r: r + 1, lambda r: r - 1, lambda _: 0])
def test_notes_that_say_they_are_of_another_commit_are_not_gone_by(
    tmp_path: Path, read: list[int], revision: Callable[[int], int]
) -> None:
    path = tmp_path / "a.db"
    with two(path) as (mind, other, _):
        mind.dream()
        with closing(apsw.Connection(str(path))) as connection:
            ((held, blob),) = connection.execute("SELECT revision, changes FROM dream_cycle")
            columns, links = undo_log.decoded(blob)
            altered = undo_log.encoded(columns[:1], links, revision=revision(held))
            connection.execute("UPDATE dream_cycle SET changes = ?", (altered,))
        other.refresh()
        assert sum(read) > 40
        assert state(other) == state(mind)


def test_damaged_notes_are_not_gone_by(tmp_path: Path, read: list[int]) -> None:
    path = tmp_path / "a.db"
    with two(path) as (mind, other, _):
        mind.dream()
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute(
                "UPDATE dream_cycle SET changes = substr(changes, 1, length(changes) - 1)"
            )
        other.refresh()
        assert sum(read) > 40
        assert state(other) == state(mind)
