"""The store against a dict, under any order of writes, reopenings and losses of a block."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.model.memory import Memory, validate_changes
from oneiros.store import Store
from oneiros.store.transaction import Transaction
from tests.folders import IN_MEMORY
from tests.store.samples import erased_of

IDS = st.sampled_from(["a", "b", "ü\0", "long " * 20, "e"])
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "text": WORDS,
        "importance": st.floats(0, 1),
        "tags": st.lists(WORDS, max_size=2),
        "metadata": st.dictionaries(WORDS, st.integers() | WORDS, max_size=2),
        "event_at": st.none() | st.floats(-1e12, 1e11),
        "status": st.sampled_from(["staged", "consolidated", "archived"]),
        "pinned": st.booleans(),
        "deleted_at": st.none() | st.floats(0, 1e10),
        "topic": st.none() | WORDS,
    },
)


class Forced(Exception):
    """Ends a block so that it is taken back."""


class StoreMachine(RuleBasedStateMachine):
    """Each rule is one commit on the store and one change of the model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=IN_MEMORY)
        self.path = Path(self.folder.name) / "mind.db"
        self.model: dict[str, Memory] = {}
        """In order of insertion."""
        self.revisions: dict[str, int] = {}
        self.erased: list[tuple[int, str]] = []
        self.settings: dict[str, str] = {}
        self.revision = 0
        self.now = 1_780_000_000.0

    @initialize(durability=st.sampled_from(["full", "normal"]))
    def open(self, durability: str) -> None:
        self.store = Store(self.path, durability=durability)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(durability=st.sampled_from(["full", "normal"]))
    def reopen(self, durability: str) -> None:
        self.store.close()
        self.open(durability)

    @rule()
    def checkpoint(self) -> None:
        self.store.checkpoint()

    @rule(ids=st.lists(IDS, min_size=1, max_size=3), text=WORDS)
    def add(self, ids: list[str], text: str) -> None:
        self.now += 1.0
        memories = [Memory.from_record({"id": id, "text": text}, now=self.now) for id in ids]
        is_duplicate = len(set(ids)) < len(ids) or any(id in self.model for id in ids)
        try:
            with self.store.write() as transaction:
                transaction.insert_many(memories)
        except DuplicateId:
            assert is_duplicate
        else:
            assert not is_duplicate
            self._changed({memory.id: memory for memory in memories})

    @rule(id=IDS, changes=CHANGES)
    def update(self, id: str, changes: dict[str, object]) -> None:
        values = validate_changes(changes)
        try:
            with self.store.write() as transaction:
                transaction.update(id, values)
        except UnknownMemory:
            assert id not in self.model
        else:
            memory = self.model[id]
            count = memory.revision_count + 1
            self._changed({id: replace(memory, **values, revision_count=count)})

    @rule(
        ids=st.lists(IDS, max_size=3), count=st.integers(-1, 3), sessions=st.sets(WORDS, max_size=2)
    )
    def reinforce(self, ids: list[str], count: int, sessions: set[str]) -> None:
        changed: dict[str, Memory] = {}
        with self.store.write() as transaction:
            transaction.increment([(id, {"access_count": count}) for id in ids])
            transaction.update_columns([(id, {"last_accessed_at": self.now}) for id in ids])
            transaction.add_sessions([(id, sessions) for id in ids])
        for id in ids:
            if id in self.model:
                memory = changed.get(id, self.model[id])
                seen = memory.sessions | sessions
                changed[id] = replace(
                    memory,
                    access_count=max(0, memory.access_count + count),
                    last_accessed_at=self.now,
                    sessions=seen,
                    session_spread=max(memory.session_spread, len(seen)),
                )
        self._changed(changed)

    @rule(id=IDS, verdict=st.sampled_from(["helpful", "unhelpful", "outdated"]))
    def feedback(self, id: str, verdict: str) -> None:
        value = {"helpful": 1, "unhelpful": -1, "outdated": -2}[verdict]
        try:
            with self.store.write() as transaction:
                transaction.feedback(id, verdict, self.now)
        except UnknownMemory:
            assert id not in self.model
        else:
            memory = self.model[id]
            self._changed({id: replace(memory, feedback=memory.feedback + value)})

    @rule(id=IDS)
    def erase(self, id: str) -> None:
        with self.store.write() as transaction:
            assert transaction.erase(id) == (id in self.model)
        if id in self.model:
            del self.model[id], self.revisions[id]
            self.revision += 1
            self.erased.append((self.revision, id))

    @rule(key=st.sampled_from(["x", "y"]), value=WORDS)
    def set_setting(self, key: str, value: str) -> None:
        with self.store.write() as transaction:
            transaction.set_setting(key, value)
        self.settings[key] = value
        self.revision += 1

    @rule(ids=st.lists(IDS, max_size=3))
    def give_up(self, ids: list[str]) -> None:
        """A block that ends with an exception leaves no trace."""
        try:
            with self.store.write() as transaction:
                self._wreak(transaction, ids)
                raise Forced
        except Forced:
            self.values()

    def _wreak(self, transaction: Transaction, ids: list[str]) -> None:
        for id in ids:
            transaction.erase(id)
            transaction.insert(Memory.from_record({"id": id, "text": "no"}, now=self.now))
        transaction.set_setting("x", "no")

    @precondition(lambda self: self.revision > 0)
    @rule(back=st.integers(0, 5))
    def follow(self, back: int) -> None:
        """A follower hears exactly of what it has not seen."""
        after = max(0, self.revision - back)
        heard = {row.id for part in self.store.changes(after, batch=2) for row in part}
        assert heard == {id for id, revision in self.revisions.items() if revision > after}
        wanted = [id for revision, id in self.erased if revision > after]
        known = [id for _, id in self.erased]
        assert erased_of(self.store, known, after) == wanted

    @invariant()
    def values(self) -> None:
        if not hasattr(self, "store"):
            return
        found = [row.memory() for part in self.store.changes(0) for row in part]
        assert found == list(self.model.values())
        assert self.store.revision() == self.revision
        assert self.store.settings() == self.settings

    def _changed(self, memories: dict[str, Memory]) -> None:
        if memories:
            self.revision += 1
            self.model |= memories
            self.revisions |= dict.fromkeys(memories, self.revision)


LONG = bool(os.environ.get("ONEIROS_LONG"))
TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=2000 if LONG else 100, stateful_step_count=50, deadline=None
)
