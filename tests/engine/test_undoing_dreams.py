"""A cycle taken back: what nobody changed since, and nothing else."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

import oneiros
from oneiros.index import ReadModel
from oneiros.scoring.phases.house import ChangedFacts
from oneiros.store import StoredMemory
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import PROFILES, called, filled_mind, links, memories

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
LATER = NOW + DAY


@pytest.fixture
def mind(tmp_path: Path) -> oneiros.Engine:
    return filled_mind(tmp_path / "mind.db")


def test_an_undoing_leaves_what_changed_since_and_tells(
    mind: oneiros.Engine, tmp_path: Path
) -> None:
    path = tmp_path / "mind.db"
    with mind:
        before = memories(path)
        report = mind.dream(LATER)
        ids = [id for id, was in before.items() if mind_holds(mind, id, was["strength"])][:2]
        mind.update(ids[0], strength=0.75, now=LATER)
        mind.update(ids[1], title="another", now=LATER)  # a field that the cycle left
        undone = mind.undo_dream(report.id, now=LATER)
        told = {(change.id, change.field): change for change in undone.not_restored}
        assert told.keys() == {(ids[0], "strength")}
        assert told[ids[0], "strength"].before == 0.75
        assert told[ids[0], "strength"].after == before[ids[0]]["strength"]
        after = memories(path)
        assert after[ids[0]]["strength"] == 0.75
        assert after[ids[1]]["strength"] == before[ids[1]]["strength"]
        assert after[ids[1]]["title"] == "another"
        assert {id: after[id] for id in before if id not in ids} == {
            id: was for id, was in before.items() if id not in ids
        }


def mind_holds(mind: oneiros.Engine, id: str, strength: float) -> bool:
    """Tell whether a memory is live and another strength than this is held."""
    return any(one.id == id and one.strength != strength for one in mind.list(limit=1000))


def test_no_garbage_is_looked_for_while_many_come_back(
    mind: oneiros.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among the objects of a million memories that takes half a second, in which nobody searches."""
    looked: list[bool] = []
    apply = ReadModel.apply_indexes

    def watched(self: ReadModel, batch: Sequence[StoredMemory]) -> None:
        looked.append(gc.isenabled())
        apply(self, batch)

    with mind, oneiros.Engine(tmp_path / "mind.db", auto_refresh=False) as other:
        report = mind.dream(LATER)
        assert any(change.field == "deleted_at" for change in report.named)
        other.refresh()
        monkeypatch.setattr(ReadModel, "apply_indexes", watched)
        mind.undo_dream(report.id, now=LATER)
        other.refresh()
    assert set(looked) == {False}
    assert gc.isenabled()


def stubbed(**options: Any) -> tuple[oneiros.Engine, str]:
    """A memory without its vector and without the end of its text, and the cycle that cut them."""
    mind = oneiros.Engine(":memory:", profile="cognitive", **options)
    faded = {"category": "episodic", "stability": 0.125, "importance": 0.0}
    mind.add("harbour " * 40, id="m", embedding=(1.0, 0.0), now=NOW, **faded)
    for days in (900.0, 910.0):
        mind.dream(NOW + days * DAY)
    report = mind.dream(NOW + 1_100.0 * DAY)
    assert (mind.get("m").tier, mind.get("m").embedding) == ("stub", None)
    return mind, report.id


@pytest.mark.parametrize("change", [{"text": "my cat is called Bo"}, {"title": "a cat"}])
@pytest.mark.parametrize("history", ["content", "all", "off"])
def test_no_vector_of_other_words_comes_back(change: Any, history: str) -> None:
    mind, cycle = stubbed(history=history)
    with mind:
        mind.update("m", **change)
        undone = mind.undo_dream(cycle)
        assert mind.get("m").embedding is None
        assert ("m", "embedding") in {(left.id, left.field) for left in undone.not_restored}


def test_a_vector_comes_back_though_something_else_changed() -> None:
    mind, cycle = stubbed()
    with mind:
        mind.update("m", importance=0.9)
        mind.search("harbour", deep_recall=True)
        assert mind.undo_dream(cycle).not_restored == ()
        assert mind.get("m").embedding is not None


def test_an_undone_supersession_leaves_no_time_and_reason_in_changed_metadata() -> None:
    settling = oneiros.profiles.get("oneiros").replace(phases=(ChangedFacts(),))
    with oneiros.Engine(":memory:", profile=settling, clock=lambda: NOW) as mind:
        mind.add("My rent is 900 euros a month", id="old", created_at=NOW - 2 * DAY)
        mind.add("My rent went up to 950 euros now", id="new", created_at=NOW - DAY)
        report = mind.dream(judge=lambda *_: "update")
        assert mind.get("old").metadata == {"superseded_at": NOW, "superseded_reason": "H16"}
        mind.update("old", metadata={"seen": True}, merge_metadata=True)
        undone = mind.undo_dream(report.id)
        assert mind.get("old").superseded_by is None
        assert mind.get("old").metadata == {"seen": True}
        assert [(change.id, change.field) for change in undone.not_restored] == [
            ("old", "metadata")
        ]


def test_an_undone_supersession_gives_the_metadata_of_before_back() -> None:
    settling = oneiros.profiles.get("oneiros").replace(phases=(ChangedFacts(),))
    with oneiros.Engine(":memory:", profile=settling, clock=lambda: NOW) as mind:
        own = {"superseded_at": "a key of the caller"}
        mind.add("My rent is 900 euros a month", id="old", metadata=own, created_at=NOW - 2 * DAY)
        mind.add("My rent went up to 950 euros now", id="new", created_at=NOW - DAY)
        mind.undo_dream(mind.dream(judge=lambda *_: "update").id)
        assert mind.get("old").metadata == own


def test_what_cannot_be_undone_is_refused(mind: oneiros.Engine) -> None:
    with mind:
        report = mind.dream(LATER)
        with pytest.raises(ValueError, match="no dream cycle"):
            mind.undo_dream("unheard")
        undoing = mind.undo_dream(report.id, now=LATER)
        with pytest.raises(ValueError, match="was undone"):
            mind.undo_dream(report.id)
        with pytest.raises(ValueError, match="undid one"):
            mind.undo_dream(undoing.id)
        planned = mind.dream(LATER, dry_run=True)
        with pytest.raises(ValueError, match="no dream cycle"):
            mind.undo_dream(planned.id)
        assert [one.id for one in mind.dreams()] == [undoing.id, report.id]


class Wide:
    """Vectors of three numbers; none of a story."""

    name = "wide"

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0, 0, 0] if "story" in text else [0, 0, 1] for text in texts], np.float32)


def test_a_vector_that_no_longer_fits_is_not_brought_back(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive") as mind:
        cold = {"tier": "cold", "cold_since": NOW - 400 * DAY, "now": NOW - 900 * DAY}
        mind.add("a long story " * 50, embedding=(0.5, -0.5), id="cold", **cold)
        report = mind.dream(NOW)
        mind.add("another", id="other", embedding=(1.0, 0.0), now=NOW)
        mind.reembed(Wide())
        undone = mind.undo_dream(report.id, now=NOW)
        assert [(one.id, one.field) for one in undone.not_restored] == [("cold", "embedding")]
        assert mind.get("cold").text == "a long story " * 50
        assert mind.check() == []
    with oneiros.Engine(tmp_path / "mind.db", embedder=Wide()) as again:
        assert again.search("another", reinforce=False).ids[0] == "other"


def test_the_last_thirty_can_be_undone(mind: oneiros.Engine) -> None:
    with mind:
        first, *others = [mind.dream(LATER + number).id for number in range(31)]
        with pytest.raises(ValueError, match="too old"):
            mind.undo_dream(first)
        mind.undo_dream(others[0], now=LATER)
        assert len(mind.dreams(limit=100)) == 32


def test_a_report_says_whether_its_cycle_can_be_undone(
    mind: oneiros.Engine, tmp_path: Path
) -> None:
    with mind:
        plan = mind.dream(LATER, dry_run=True)
        assert not plan.report.is_undoable
        first, *others = [mind.dream(LATER + number) for number in range(31)]
        assert first.is_undoable  # at that moment
        assert first.undone_by is None
        undo = mind.undo_dream(others[3].id, now=LATER)
        assert not undo.is_undoable
        with closing(apsw.Connection(str(tmp_path / "mind.db"))) as connection:
            connection.execute("UPDATE dream_cycle SET report = '{' WHERE number = 9")
        listed = {report.id: report for report in mind.dreams(100)}
        assert len(listed) == 32
        for id, report in listed.items():
            assert report.is_undoable == (id not in (first.id, others[3].id, undo.id))
            assert report.undone_by == (undo.id if id == others[3].id else None)
            if not report.is_undoable:
                with pytest.raises(ValueError, match=r"^id: "):
                    mind.undo_dream(id, now=LATER)
        assert any(report.damage and report.is_undoable for report in listed.values())
        for id, report in listed.items():
            if report.is_undoable:
                assert mind.undo_dream(id, now=LATER).undoes == id


def test_older_cycles_are_counted_and_name_nothing(mind: oneiros.Engine, tmp_path: Path) -> None:
    with mind:
        mind.add("told today", id="today", now=LATER)
        first, *others = [mind.dream(LATER + number) for number in range(30)]
        mind.update("today", strength=0.75, now=LATER)
        undone = mind.undo_dream(others[-1].id, now=LATER)
        assert undone.not_restored
        bare = {"named": (), "changed_since": (), "not_restored": (), "is_undoable": False}
        mind.dream(LATER + 30)
        assert mind.dreams(40)[-1] == replace(first, **bare)
        assert [report.id for report in mind.dreams(40) if not report.named] == [
            *(undone.id, first.id)
        ]
        with closing(apsw.Connection(str(tmp_path / "mind.db"))) as connection:
            connection.execute("UPDATE dream_cycle SET report = '{' WHERE number = 2")
        for number in range(31, 62):
            mind.dream(LATER + number)
        *_, third, damaged, _ = mind.dreams(80)
        assert third == replace(others[1], **bare)
        assert "damage" in str(damaged)
        (kept,) = [report for report in mind.dreams(80) if report.undoes]
        assert kept == replace(undone, **bare)


def test_an_undoing_takes_no_place_among_the_last_thirty(mind: oneiros.Engine) -> None:
    with mind:
        first, *others = [mind.dream(LATER + number).id for number in range(30)]
        for id in others[-5:]:
            mind.undo_dream(id, now=LATER)
        mind.dream(LATER + 30)
        with pytest.raises(ValueError, match="too old"):
            mind.undo_dream(first, now=LATER)
        assert mind.undo_dream(others[0], now=LATER).undoes == others[0]


def test_the_store_keeps_a_thousand_of_what_is_not_restored(tmp_path: Path) -> None:
    count = 1_100
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        mind.add_many([{"text": f"story {n}"} for n in range(count)], now=NOW)
        plan = mind.dream(NOW, dry_run=True)
        first = mind.dream(NOW)  # weakens all alike, as does the next
        mind.dream(NOW)
        late = plan.apply()
        undone = mind.undo_dream(first.id, now=NOW)
        for report in (late, undone):
            assert [one.memories for one in report.left_alone] == [count]
        assert (len(late.changed_since), len(undone.not_restored)) == (count, count)
        kept_undone, kept = mind.dreams(2)
        assert kept.changed_since == late.changed_since[:1_000]
        assert kept_undone.not_restored == undone.not_restored[:1_000]
        assert kept_undone.left_alone == undone.left_alone


# Bit for bit

LONG = {"strength": 1 / 3, "stability": 10 / 7, "consolidation_quality": 0.1 + 0.2}
"""Numbers that no float32 holds."""
UNDONE_ELSEWHERE = """
import sys, oneiros
path, profile, id, now = sys.argv[1:]
with oneiros.Engine(path, profile=profile) as mind:
    mind.undo_dream(id, now=float(now))
"""


def long_mind(path: Path, profile: str) -> oneiros.Engine:
    """Return an engine whose memories and links hold numbers that float32 cannot."""
    mind = filled_mind(path, profile)
    with mind._scope.services.store.write() as transaction:
        for number in range(60):
            share = 1.0 - number / 61.0
            held = {name: value * share for name, value in LONG.items()}
            times = {"created_at": NOW - (number * 37 % 900) * DAY + 1 / 3, "event_at": 1e9 / 7}
            wide = {"importance": share / 7, "certainty": share / 3, "impact": share / 9}
            long = {"metadata": {"share": share, "deep": [1e-7 * share, "é"]}, **wide}
            transaction.update_columns([(f"m{number}", {**held, **times, **long})])
    for number in range(0, 50, 7):
        mind.link(f"m{number}", f"m{number + 3}", weight=(number + 1) / 87, now=NOW - DAY / 7)
    return mind


def exported(mind: oneiros.Engine, folder: Path) -> bytes:
    mind.export(folder / "out.jsonl")
    return (folder / "out.jsonl").read_bytes()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("where", ["here", "after reopening", "another process"])
def test_what_was_stored_comes_back_bit_for_bit(tmp_path: Path, profile: str, where: str) -> None:
    path = tmp_path / "mind.db"
    with long_mind(path, profile) as mind, oneiros.Engine(path, profile=profile) as other:
        before = memories(path), links(path), exported(mind, tmp_path)
        assert exported(other, tmp_path) == before[2]
        report = mind.dream(LATER, **called(profile, summarise=" and ".join))
        changes = oneiros.profiles.get(profile).phases
        assert (exported(mind, tmp_path) != before[2]) == bool(changes)
        assert exported(other, tmp_path) == exported(mind, tmp_path)
        if where == "here":
            mind.undo_dream(report.id, now=LATER)
        elif where == "another process":
            told = [sys.executable, "-c", UNDONE_ELSEWHERE, str(path), profile, report.id]
            subprocess.run([*told, str(LATER)], check=True, timeout=60)
        else:
            with oneiros.Engine(path, profile=profile) as again:
                again.undo_dream(report.id, now=LATER)
        for one in (mind, other):
            assert exported(one, tmp_path) == before[2]
        assert (memories(path), links(path)) == before[:2]
        assert mind.check() == []
    with oneiros.Engine(path, profile=profile) as again:
        assert exported(again, tmp_path) == before[2]


def test_of_many_some_are_long(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    count = 20_500  # more than are looked up one by one
    with oneiros.Engine(path, profile="reverie", durability="normal") as mind:
        records = [{"text": f"w{n}", "id": f"m{n}", "created_at": NOW} for n in range(count)]
        for number in range(0, count, 997):
            records[number]["strength"] = 1 / (3 + number)
        mind.add_many(records, now=NOW)
        mind.forget("m500")
        before = memories(path)
        report = mind.dream(LATER)
        kept = [f"m{number}" for number in range(0, count, 997)][:5]
        for id in kept[:2]:
            mind.update(id, strength=0.75)
        mind.undo_dream(report.id)
        after = memories(path)
        changed = {id for id, held in before.items() if after[id]["strength"] != held["strength"]}
        assert changed == set(kept[:2])
