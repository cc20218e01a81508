"""What people do with stores between dream cycles, and what the file must hold after it."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import oneiros
from oneiros.dream import history, undo_log
from oneiros.model.fields import ENUMS
from oneiros.scoring.phases import PHASES
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.write import reinforce
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_model import State, as_json, without_supersession
from tests.engine.dream_records import RECORDS
from tests.engine.test_dream_in_step import state
from tests.folders import IN_MEMORY

__all__ = ["Life"]

EVERY_PHASE = oneiros.profiles.get("reverie").replace(
    name="every-phase",
    phases=tuple(phase() for phase in PHASES),
    rails=SafetyRails(youngest_days=2.0, most_pruned=0.4, most_changed=0.7),
)
PROFILES = {
    name: oneiros.profiles.get(name) for name in ("oneiros", "reverie", "cognitive", "omega")
} | {"every-phase": EVERY_PHASE}
REINFORCED = {
    *("access_count", "last_accessed_at", "stability", "sessions", "session_spread"),
    *("core", "tier"),
}
OTHERS_OF_AN_ADD = {"duplicate_count", "stability"}
CONSOLIDATED, ARCHIVED = map(ENUMS["status"].index, ("consolidated", "archived"))
HOT, COLD = map(ENUMS["tier"].index, ("hot", "cold"))
VERDICTS = {"helpful": 1, "unhelpful": -1, "outdated": -2}
WHICH = st.integers(0, 1)
ONE = st.integers(0, 99)
CHANGES = st.sampled_from(["revise", "pin", "outdated", "delete", "restore", "relink", "note"])


def held(mind: oneiros.Engine) -> dict[str, dict[str, object]]:
    """Return what an engine's columns and sets hold; of those once cold some may be hot again."""
    left_out = {"in cold"}
    return {
        id: {name: value for name, value in row.items() if name not in left_out}
        for id, row in state(mind).items()
    }


def is_cold_alone(row: dict[str, Any]) -> bool:
    """Return whether a memory is cold, and nothing supersedes it."""
    return row["tier"] == COLD and row["superseded_by"] is None


def is_cooled_since_then(row: dict[str, Any]) -> bool:
    """Return whether a superseded memory was cooled since it was superseded (fields.md)."""
    began = json.loads(row["metadata"] or "{}").get("superseded_at", -math.inf)
    return row["tier"] == COLD and row["cold_since"] is not None and row["cold_since"] >= began


class Life(RuleBasedStateMachine):
    """Engines of one store; each rule is one call, and then the file holds what it promised."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = [
            # What searches leave is written when a rule says so, and neither by the clock nor for
            # being much.
            mock.patch.object(reinforce, "FLUSH_SECONDS", 3_600.0),
            mock.patch.object(reinforce, "FLUSH_EVENTS", reinforce.MOST_WAITING),
            # A check reads every cycle, and each step checks: of equal records once.
            *(
                mock.patch.object(module, name, lru_cache(256)(getattr(module, name)))
                for module, name in ((history, "_read"), (undo_log, "decoded"))
            ),
        ]
        for patch in self.patches:
            patch.start()
        self.folder = tempfile.TemporaryDirectory(prefix="oneiros-dreams-", dir=IN_MEMORY)
        self.now, self.count, self.places = NOW, 0, 0
        self.minds: list[oneiros.Engine] = []
        self.writer = 0
        """The place of the engine that acted last."""
        self.owed: dict[int, Counter[str]] = {}
        """By the place of an engine, how often its searches returned what, not written yet."""
        self.dreamt: list[tuple[str, str | None]] = []
        """Every cycle and, of an undoing, what it undid; the newest first."""
        self.listed: WeakKeyDictionary[oneiros.Engine, list[tuple[str, str | None]]]
        self.listed = WeakKeyDictionary()
        """The cycles that each engine has listed."""
        self.cut_off: str | None = None
        """The cycle that a crash ended, until the next one runs."""

    @initialize(
        profile=st.sampled_from([*PROFILES, "cognitive", "every-phase"]),
        records=st.lists(RECORDS, min_size=8, max_size=12),
    )
    def begin(self, profile: str, records: list[dict[str, Any]]) -> None:
        self.profile = PROFILES[profile]
        self.path = Path(self.folder.name) / "0.db"
        self.open()
        self.state = State({}, {})
        self.add(records, 0)

    def open(self) -> None:
        self.minds.append(oneiros.Engine(self.path, profile=self.profile, durability="normal"))

    def teardown(self) -> None:
        for mind in self.minds:
            mind.close()
        for patch in self.patches:
            patch.stop()
        self.folder.cleanup()

    def mind(self, which: int) -> oneiros.Engine:
        self.writer = which % len(self.minds)
        return self.minds[self.writer]

    def holds(
        self,
        promised: dict[str, dict[str, Any]],
        also: Collection[str] = (),
        *,
        gone: Collection[str] = (),
        are_links_same: bool = True,
    ) -> None:
        """Assert that the file holds what was promised and changed nothing else; that all agree."""
        self.takes_over(promised, also, gone=gone, are_links_same=are_links_same)
        self.all_agree()

    def takes_over(
        self,
        promised: dict[str, dict[str, Any]],
        also: Collection[str] = (),
        *,
        gone: Collection[str] = (),
        are_links_same: bool = True,
    ) -> None:
        """Assert that the file holds what was promised and changed nothing else; take it over."""
        now, was = State.of(self.path), self.state
        assert now.memories.keys() == (was.memories.keys() | promised.keys()) - set(gone)
        written = self._settled(now)
        if are_links_same and not written:
            there = now.memories.keys()
            assert now.links == {pair: link for pair, link in was.links.items() if pair <= there}
        for id, row in now.memories.items():
            wanted, before = promised.get(id, {}), was.memories.get(id, {})
            for name, value in row.items():
                if name in wanted:
                    assert value == wanted[name], (id, name)
                elif before and not (name in also or (id in written and name in REINFORCED)):
                    assert value == before[name], (id, name)
        self.state = now

    def _settled(self, now: State) -> set[str]:
        """Return the ids whose uses were written; who writes any of its own writes all of them."""
        owed = self.owed.get(self.writer, Counter())
        known = {id: count for id, count in owed.items() if id in now.memories}
        gained = {
            id: now.memories[id]["access_count"] - self.state.memories[id]["access_count"]
            for id in known
        }
        if not any(gained.values()):
            return set()
        assert gained == known
        owed.clear()
        return set(known)

    def all_agree(self) -> None:
        """Assert that every engine is sound, and holds what the file holds."""
        told = []
        for place, mind in enumerate(self.minds):
            assert mind.check() == []
            # Listing reads every report, as the check did: all of them where others may have come.
            most = 2 if self.listed.get(mind) == self.dreamt else 1_000
            assert [(one.id, one.undoes) for one in mind.dreams(limit=most)] == self.dreamt[:most]
            self.listed[mind] = self.dreamt.copy()
            begun = mind.interrupted_dream()
            assert (None if begun is None else begun.id) == self.cut_off
            if not self.owed.get(place):
                told.append(held(mind))
        assert all(one == told[0] for one in told)
        for id, row in self.state.memories.items():
            assert 0.0 <= row["strength"] <= 1.0, id

    # -- what people do ----------------------------------------------------------------------------

    @rule(records=st.lists(RECORDS, min_size=1, max_size=3), which=WHICH)
    def add(self, records: list[dict[str, Any]], which: int) -> None:
        given = []
        for record in records:
            self.count += 1
            one = {name: value for name, value in record.items() if name != "age"}
            created = self.now - record["age"] * DAY
            given.append(one | {"id": f"m{self.count}", "created_at": created})
        mind = self.mind(which)
        # As told at the time, or as an import of what is old.
        now = self.now if self.count % 4 == 0 else min(one["created_at"] for one in given)
        if len(given) == 1:
            mind.add(now=now, **given[0])
        else:
            mind.add_many(given, now=now)
        told = ("created_at", "text", "access_count", "session")
        promised = {one["id"]: {name: one[name] for name in told if name in one} for one in given}
        self.holds(promised, OTHERS_OF_AN_ADD, are_links_same=False)

    @rule(which=WHICH, text=st.sampled_from(["coffee", "a story"]), k=st.integers(1, 4))
    def search(self, which: int, text: str, k: int) -> None:
        mind = self.mind(which)
        found = mind.search(text, k, now=self.now, session="here", embedding=(0.8, 0.6)).ids
        self.owed.setdefault(self.writer, Counter()).update(found)
        self.holds({})

    @rule(which=WHICH)
    def flush(self, which: int) -> None:
        self.writes_uses(which)
        self.all_agree()

    def writes_uses(self, which: int) -> None:
        self.mind(which).flush()
        self.takes_over({}, are_links_same=False)
        assert not self.state.memories.keys() & self.owed.pop(self.writer, Counter()).keys()

    @rule(which=WHICH, one=ONE, what=CHANGES)
    def change(self, which: int, one: int, what: str) -> None:
        rows = self.state.memories if what == "restore" else self.state.live
        if rows:
            self.does(which, list(rows)[one % len(rows)], what)

    def does(self, which: int, id: str, what: str) -> None:
        mind, row = self.mind(which), self.state.memories[id]
        if what == "revise":
            mind.update(id, text="fresh coffee", now=self.now)
            own = {"text": "fresh coffee", "updated_at": self.now}
            own["revision_count"] = row["revision_count"] + 1
            if row["text"] != "fresh coffee":
                own["embedding"] = None  # no engine here has an embedder
                if is_cold_alone(row):  # cognitive.md C19
                    own |= {"tier": HOT, "cold_since": None, "at_floor_since": None}
            self.holds({id: own}, {"text_digest", "status", "cold_since"})
            left = self.state.memories[id]
            if left["cold_since"] != row["cold_since"] and "cold_since" not in own:
                assert left["cold_since"] is None  # H15: a new status ends it
                assert left["status"] != row["status"]
        elif what == "pin":
            mind.pin(id, not row["pinned"])
            self.holds({id: {"pinned": 1 - row["pinned"]}})
        elif what in VERDICTS:
            mind.feedback(id, what, now=self.now)
            self.holds({id: {"feedback": row["feedback"] + VERDICTS[what]}})
        elif what == "delete":
            mind.delete(id, now=self.now)
            self.holds({id: {"deleted_at": self.now}})
        elif what == "note":
            mind.update(id, metadata={"note": "seen"}, merge_metadata=True, now=self.now)
            own = {"updated_at": self.now, "revision_count": row["revision_count"] + 1}
            own["metadata"] = as_json(json.loads(row["metadata"] or "{}") | {"note": "seen"})
            self.holds({id: own})
        elif what == "relink":
            self.relinks(mind, id)
        else:
            self.restores(mind, id, row)

    def relinks(self, mind: oneiros.Engine, id: str) -> None:
        """Take a link of a memory away; where it has none, link it with another one."""
        others = self.state.live.keys() - {id}
        linked = {other for pair in self.state.links if id in pair for other in pair - {id}}
        if linked & others:
            gone = min(linked & others)
            mind.unlink(id, gone)
            self.holds({}, are_links_same=False)
            assert frozenset((id, gone)) not in self.state.links
        elif others:
            self.links(mind, (id, min(others)))

    def links(self, mind: oneiros.Engine, pair: tuple[str, str]) -> None:
        mind.link(*pair, weight=0.3, now=self.now)
        self.holds({}, are_links_same=False)
        assert self.state.links[frozenset(pair)]["weight"] == pytest.approx(0.3)

    def restores(self, mind: oneiros.Engine, id: str, row: dict[str, Any]) -> None:
        """What is away comes back as used now; of another nothing changes (reverie.md R19)."""
        mind.restore(id, now=self.now)
        own: dict[str, Any] = {"deleted_at": None}
        if row["status"] == ARCHIVED:
            own["status"] = CONSOLIDATED
            if row["tier"] == HOT:
                own["cold_since"] = None  # house.md H15
        # A use that waits is written first, and may warm it: cognitive.md C19.
        may_be_warm = is_cold_alone(row) and self.owed.get(self.writer, Counter())[id] > 0
        if is_cold_alone(row):
            own |= {"tier": HOT} if may_be_warm else {"tier": HOT, "cold_since": None}
        is_away = row["status"] == ARCHIVED or row["deleted_at"] is not None
        if is_away or (is_cold_alone(row) and not may_be_warm):
            own["last_accessed_at"] = self.now
        before = {one: each["cold_since"] for one, each in self.state.memories.items()}
        self.holds({id: own}, {"cold_since"} if may_be_warm else ())
        after = {one: each["cold_since"] for one, each in self.state.memories.items()}
        assert after.pop(id) in {None, before.pop(id)}
        assert after == before

    @rule(which=WHICH, one=ONE, other=ONE)
    def link(self, which: int, one: int, other: int) -> None:
        live = list(self.state.live)
        if len(live) < 2 or one % len(live) == other % len(live):
            return
        pair = live[one % len(live)], live[other % len(live)]
        self.links(self.mind(which), pair)

    @rule(which=WHICH, one=ONE)
    def forget(self, which: int, one: int) -> None:
        if len(self.state.memories) > 4:
            id = list(self.state.memories)[one % len(self.state.memories)]
            gone = self.with_derived(id)
            promised = self.relinked(gone)
            self.mind(which).forget(id)
            self.holds(promised, gone=gone)

    def with_derived(self, id: str) -> list[str]:
        """Return a memory and the summaries made of it, and of those."""
        gone = [id]
        for source in gone:
            for other, row in self.state.memories.items():
                if source in json.loads(row["derived_from"] or "[]") and other not in gone:
                    gone.append(other)
        return gone

    @rule(which=WHICH)
    def purge(self, which: int) -> None:
        limit = self.now - 30.0 * DAY
        rows = self.state.memories.items()
        gone = [
            id for id, row in rows if row["deleted_at"] is not None and row["deleted_at"] < limit
        ]
        assert self.mind(which).purge(30.0, now=self.now) == len(gone)
        self.holds(self.relinked(gone), gone=gone)

    def relinked(self, gone: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return what becomes of what erased memories superseded (docs/systems/fields.md)."""
        promised: dict[str, dict[str, Any]] = {}
        rows = self.state.memories
        for id, row in rows.items():
            by = row["superseded_by"]
            if by not in gone:
                continue
            while by in gone:
                by = rows[by]["superseded_by"]
            promised[id] = {"superseded_by": by if by in rows else None}
            if by not in rows:
                promised[id]["metadata"] = without_supersession(row["metadata"])
                if is_cooled_since_then(row):
                    promised[id].update(tier=HOT, cold_since=None)
        return promised

    @rule(which=WHICH, days=st.sampled_from([0.0, 0.5, 8.0, 100.0, 300.0]))
    def end_session(self, which: int, days: float) -> None:
        self.mind(which).end_session()  # no schedule runs: no reason for anything
        self.holds({})
        self.now += days * DAY

    def all_flushed(self) -> None:
        """Let every engine write what its searches left; what comes next asks whether all agree."""
        for place in range(len(self.minds)):
            self.writes_uses(place)
