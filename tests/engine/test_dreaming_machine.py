"""Lives of stores that dream: whatever comes between, a cycle does what it tells, and is undone.

``ONEIROS_LONG=1`` runs many more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from oneiros.dream.plan import DreamPlan
from oneiros.dream.report import DreamReport, FieldChange
from oneiros.store import cycles
from oneiros.write import sync
from tests.engine.dream_model import State, after_cycle, after_undoing, within_rails
from tests.engine.dream_stores import called, pages
from tests.engine.dreaming_life import CHANGES, ONE, WHICH, Life

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
LONG = bool(os.environ.get("ONEIROS_LONG"))


def joined(texts: Sequence[str]) -> str:
    return " and ".join(texts)


def judged(older: str, newer: str) -> str:
    return ("update", "duplicate", "distinct")[(len(older) + 2 * len(newer)) % 3]


def relinked(was: State, now: State) -> set[str]:
    """Return the memories with a link that is another now, or gone, and not with one that is gone."""
    pairs = was.links.keys() | now.links.keys()
    changed = (pair for pair in pairs if was.links.get(pair) != now.links.get(pair))
    return {id for pair in changed if pair <= now.memories.keys() for id in pair}


def beyond_the_day(changes: Collection[FieldChange], report: DreamReport, was: State) -> set[str]:
    """Return what a plan was to take away and left, since other cycles of the day took much (R19)."""
    planned = {one.id for one in changes if one.removal} & was.memories.keys()
    over = planned - {*report.changed_since} - {one.id for one in report.named if one.removal}
    left = [one for one in report.left_alone if not one.phase and one.reason == "prune budget"]
    assert len(over) == sum(one.memories for one in left)
    return over


PLACES: dict[str, type] = {
    "add_dream_cycle": cycles.CycleWriting,  # the last thing before the commit
    "_take_up": sync.Sync,  # the first after it
}
JUDGES = st.sampled_from([None, judged])


@dataclass
class Planned:
    """A plan, and what it was made on."""

    plan: DreamPlan
    state: State


class Dreaming(Life):
    """Cycles among what people do, processes that come and go, and crashes."""

    def __init__(self) -> None:
        super().__init__()
        self.plans: list[Planned] = []
        self.cycles: dict[str, tuple[State, State]] = {}
        """Of each, what it was applied to and what it left."""

    @rule(
        which=WHICH,
        judge=JUDGES,
        summarise=st.sampled_from([None, joined]),
    )
    def dream(self, which: int, judge: Any, summarise: Any) -> None:
        self.all_flushed()
        report = self.mind(which).dream(
            self.now, **called(self.profile, judge=judge, summarise=summarise)
        )
        self.has_dreamt(report)

    def has_dreamt(self, report: DreamReport) -> None:
        assert report.change_count == len(report.named)
        assert report.changed_since == ()
        before, after = self.state, State.of(self.path)
        after_cycle(before, after, report.named, report)
        within_rails(self.profile, self.now, before, report.named)
        self.note(report, before, after)

    def note(self, report: DreamReport, before: State, after: State) -> None:
        self.cycles[report.id] = before, after
        self.dreamt.insert(0, (report.id, report.undoes))
        self.cut_off = None
        self.state = after
        self.all_agree()

    @rule(which=WHICH, judge=JUDGES, later=st.booleans(), what=st.none() | CHANGES, one=ONE)
    def dry_run(self, which: int, judge: Any, later: bool, what: str | None, one: int) -> None:
        self.all_flushed()
        before = pages(self.path)
        plan = self.mind(which).dream(self.now, dry_run=True, **called(self.profile, judge=judge))
        list(plan.changes())
        assert pages(self.path) == before
        self.all_agree()
        planned = Planned(plan, self.state)
        if later:
            self.plans.append(planned)
        else:
            self.applies(planned, which, what, one)

    @precondition(lambda self: self.plans)
    @rule(which=WHICH, what=st.none() | CHANGES, one=ONE)
    def apply_a_plan(self, which: int, what: str | None, one: int) -> None:
        self.applies(self.plans.pop(one % len(self.plans)), which, what, one)

    def applies(self, planned: Planned, which: int, what: str | None, one: int) -> None:
        """Somebody may change one of the memories first that would give way to another."""
        changes = list(planned.plan.changes())
        wanted = {change.id for change in changes if change.field == "superseded_by"}
        self.disturb(which, wanted or {change.id for change in changes}, what, one)
        self.all_flushed()
        before, was = self.state.memories, planned.state.memories
        report = planned.plan.apply()
        after = State.of(self.path)
        over = beyond_the_day(changes, report, self.state)
        after_cycle(self.state, after, [one for one in changes if one.id not in over], report)
        touched = {id for id in was.keys() & before.keys() if was[id] != before[id]}
        touched |= relinked(planned.state, self.state)
        asked = {change.id for change in changes if change.field not in {"link", "memory"}}
        assert touched & asked <= set(report.changed_since) <= before.keys()
        self.note(report, self.state, after)
        with pytest.raises(ValueError, match="applied once"):
            planned.plan.apply()

    def disturb(self, which: int, ids: Collection[str], what: str | None, one: int) -> None:
        live = sorted(self.state.live.keys() & set(ids))
        if what and live:
            self.does(which, live[one % len(live)], what)

    @precondition(lambda self: self.cycles)
    @rule(which=WHICH, back=st.sampled_from([0, 0, 0, 1, 2]), what=st.none() | CHANGES, one=ONE)
    def undo(self, which: int, back: int, what: str | None, one: int) -> None:
        """Somebody may change one of the memories first that the cycle added or changed."""
        done = [id for id, undoes in self.dreamt if undoes is None]
        id = done[back % len(done)]
        was, left = (state.memories for state in self.cycles[id])
        changed = {one for one, row in left.items() if row != was.get(one)}
        self.disturb(which, left.keys() - was.keys() or changed, what, one)
        mind = self.mind(which)
        self.all_flushed()
        if id in {undoes for _, undoes in self.dreamt}:
            with pytest.raises(ValueError, match="was undone"):
                mind.undo_dream(id, now=self.now)
            self.holds({})  # a refusal clears no note of a cycle that was cut off
            return
        report = mind.undo_dream(id, now=self.now)
        after = State.of(self.path)
        after_undoing(self.cycles[id], self.state, after, report)
        self.note(report, self.state, after)

    # -- processes that come and go ----------------------------------------------------------------

    @precondition(lambda self: len(self.minds) == 1)
    @rule()
    def another_opens(self) -> None:
        self.open()
        self.all_agree()

    @rule()
    def all_close_and_one_opens(self) -> None:
        self.all_flushed()
        for mind in self.minds:
            mind.close()
        self.minds.clear()
        self.plans.clear()
        self.open()
        self.holds({})

    @rule(place=st.sampled_from([None, *PLACES]))
    def crash(self, place: str | None) -> None:
        """What was committed is there; what a search left to be written, and half a cycle, is not."""
        if place is None:
            self.go_on_with(self.copied())
            self.holds({})
            return
        self.all_flushed()
        copies: list[Path] = []
        own = getattr(PLACES[place], place)

        def copied_first(*given: Any) -> Any:
            copies.append(self.copied())
            return own(*given)

        with mock.patch.object(PLACES[place], place, copied_first):
            report = self.minds[0].dream(self.now, **called(self.profile, summarise=joined))
        self.go_on_with(copies[0])
        if place == "_take_up":
            self.has_dreamt(report)
        else:
            self.cut_off = report.id
            self.holds({})

    def copied(self) -> Path:
        """Return a copy of the store's files as they lie on the disk now."""
        self.places += 1
        copy = self.path.with_name(f"{self.places}.db")
        for end in ("", "-wal", "-dream"):
            # By another process: to close the file in this one would drop the engines' locks.
            if Path(f"{self.path}{end}").exists():
                subprocess.run(["cp", f"{self.path}{end}", f"{copy}{end}"], check=True)
        return copy

    def go_on_with(self, copy: Path) -> None:
        for mind in self.minds:
            mind.close()
        self.minds.clear()
        self.plans.clear()
        self.owed.clear()
        self.path = copy
        self.open()


TestDreaming = Dreaming.TestCase
TestDreaming.settings = settings(
    max_examples=1_000 if LONG else 15,
    stateful_step_count=60 if LONG else 25,
    deadline=None,
)
