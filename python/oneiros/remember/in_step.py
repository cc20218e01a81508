"""A store and its projections held in step: what is committed is followed, whoever wrote it."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from oneiros.errors import OneirosError, StoreCorrupt
from oneiros.projections.column_write import ColumnWrite
from oneiros.projections.snapshot import Snapshot
from oneiros.remember.column_writes import OwnWrites
from oneiros.remember.reinforcing import Reinforcing
from oneiros.remember.text_vectors import TextVectors
from oneiros.remember.verdicts import VerdictCounts
from oneiros.remember.write_rules import sessions_of

if TYPE_CHECKING:
    from oneiros.association import Associations
    from oneiros.embedders import Embedder
    from oneiros.projections import Projections
    from oneiros.remember.write_behind import ReinforcementEvent
    from oneiros.store import Reading, Store, StoredMemory, Transaction
    from oneiros.texts.memory_texts import MemoryTexts

__all__ = ["InStep", "uncollected"]

_TAKEN_UP_AT_ONCE: Final = 1_000


class InStep:
    """The one writer of the projections, which hold what the store holds.

    Args:
        store: the open store.
        projections: what searches read; this object alone writes to them.
        embedder: for texts that come without an embedding; or None.
    """

    def __init__(self, store: Store, projections: Projections, embedder: Embedder | None) -> None:
        self._store = store
        self._projections = projections
        # Guards the store's writer and the projections; held across a commit and its projection.
        self._lock = threading.RLock()
        self._lifecycle = projections.lifecycle
        self.reinforcing = Reinforcing(
            projections.lifecycle, projections.associations, self._write_events
        )
        self._revision = 0
        self._content_revision = 0
        self._damaged_links = -1  # the revision at which links could not be read
        self._is_behind = True  # a commit of our own may wait for its projection
        self._is_closed = False
        self._process = os.getpid()
        self.vectors = TextVectors(embedder, store.settings())
        self.verdicts = VerdictCounts(store)
        self._snapshot = Snapshot(store.path)
        self._read_all()
        _OPEN.add(self)

    # -- following the store -----------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The last commit that the projections hold."""
        return self._revision

    @property
    def content_revision(self) -> int:
        """Goes up with every commit that the projections take up, but for our own reinforcement."""
        return self._content_revision

    def follow(self) -> None:
        """Apply every commit since the last, whoever made it."""
        with self._lock, self._store.read() as reading:
            self._follow(reading)

    def _read_all(self) -> None:
        """Bring new projections to the store's state, from its snapshot where that holds."""
        with self._lock, uncollected(), self._store.read() as reading:
            self._revision = self._snapshot.load(reading, self._projections)
            self._follow(reading)

    def _follow(self, reading: Reading) -> None:
        last = reading.last_revision()
        if last == self._revision:
            self._is_behind = False
            return
        self.vectors.follow(reading.settings())
        for memory_id in reading.erased(self._revision):
            self.reinforcing.forget(memory_id)
            self._projections.erase(memory_id)
        for batch in reading.changes_of_memories(self._revision):
            self._apply(batch)
        for states in reading.changes_of_states(self._revision):
            rows = self.reinforcing.apply_states(states)
            self._projections.changed_count += len(rows)
            for name in ("status", "tier"):
                column = self._lifecycle.column(name)
                self._projections.apply_states(ColumnWrite(name, rows, column[rows]))
        self._follow_links(reading)
        self._revision = last
        self._content_revision += 1  # the last: an answer of before must not be given after
        self._is_behind = False

    def _follow_links(self, reading: Reading) -> None:
        associations = self._projections.associations
        if not associations.are_read:
            return
        try:
            for links in reading.links(self._revision):
                self.reinforcing.apply_links(links)
        except StoreCorrupt:  # whoever asks for links is told; all else goes on
            associations.drop()

    def associations(self) -> Associations:
        """Return the links of the memories, which are read when they are first asked for."""
        associations = self._projections.associations
        if not associations.are_read:
            with self._lock, uncollected(), self._store.read() as reading:
                self._follow(reading)
                self._read_links(reading)
        return associations

    def _read_links(self, reading: Reading) -> None:
        """Read the links, of which those of memories not known yet come again with these."""
        if not self._projections.associations.are_read:
            self.reinforcing.read_links(reading.links(0))

    def links_to_follow(self) -> Associations | None:
        """Return the links for a search to follow; None where there are none, or damaged ones."""
        associations = self._projections.associations
        if not associations.are_read:
            if self._damaged_links == self._revision:
                return None
            with self._lock, uncollected(), self._store.read() as reading:
                try:
                    self._read_links(reading)
                except StoreCorrupt:  # whoever asks for links is told; searches go on without
                    self._damaged_links = self._revision
                    return None
        return associations if len(associations) else None

    def texts(self) -> MemoryTexts:
        """Return the texts of the memories, which are read when they are first asked for.

        Those of memories not known yet come again with these.
        """
        texts = self._projections.texts
        if not texts.are_read:
            with self._lock, uncollected(), self._store.read() as reading:
                if not texts.are_read:
                    texts.read(reading.texts())
        return texts

    def _apply(self, batch: Sequence[StoredMemory]) -> None:
        self.reinforcing.apply_columns(batch)
        self._projections.apply_indexes(batch)

    @property
    def is_open_here(self) -> bool:
        """Whether it is open, and in the process that opened it."""
        return not self._is_closed and os.getpid() == self._process

    def follow_others(self, *, is_asked: bool) -> None:
        """Apply what was committed since; at once nothing when there is none or a write runs.

        Args:
            is_asked: look at other processes' commits too; else only at our own, where an interrupt
                came between a commit and its projection.
        """
        if not self._is_behind and not (is_asked and self._store.revision() != self._revision):
            return
        if not self._lock.acquire(blocking=False):
            return
        try:
            self.follow()
        finally:
            self._lock.release()

    @contextmanager
    def _writing(self, *, after_events_of: Sequence[str] = ()) -> Iterator[Transaction]:
        """Write, then follow.

        Args:
            after_events_of: memories about to be given new values. What searches left on them came
                before, and is written before, so that a history gives the same state whenever the
                queue is emptied.
        """
        with self._lock:
            if self.reinforcing.is_owing() and any(map(self.reinforcing.owes, after_events_of)):
                self._write_events()
            with self._store.write() as transaction:
                # What is checked inside is checked against what is there.
                if transaction.revision != self._revision + 1:
                    self._follow(transaction)
                self._is_behind = True
                yield transaction
            fresh = transaction.fresh_rows()
            if fresh is None:
                self.follow()
                return
            for batch in fresh:  # nobody else wrote in between, and how they read is known
                self._apply(batch)
            self._revision = transaction.revision
            self._content_revision += 1
            self._is_behind = False

    @contextmanager
    def _writing_columns(self) -> Iterator[tuple[Transaction, OwnWrites]]:
        """Write columns of many memories, then take up what is told of it, without reading it back.

        Yields the transaction, and what is to be told: every column write, and the ids of all
        memories that were changed otherwise, too.
        """
        with self._lock:
            own = OwnWrites()
            with self._store.write() as transaction:
                if transaction.revision != self._revision + 1:
                    self._follow(transaction)
                self._is_behind = True
                yield transaction, own
            self._take_up(own, transaction.revision)

    def _take_up(self, own: OwnWrites, revision: int) -> None:
        for write in own.columns:
            self.reinforcing.apply_values(write)
            self._projections.apply_states(write)
        self._projections.changed_count += max((len(w.rows) for w in own.columns), default=0)
        with self._store.read() as reading:
            for memory_id in reading.erased(self._revision):
                self.reinforcing.forget(memory_id)
                self._projections.erase(memory_id)
            ids = list(dict.fromkeys(own.ids))
            for start in range(0, len(ids), _TAKEN_UP_AT_ONCE):
                held = reading.load_stored(ids[start : start + _TAKEN_UP_AT_ONCE])
                self._apply([memory for memory in held if memory is not None])
            self._follow_links(reading)
        self._revision = revision
        self._content_revision += 1
        self._is_behind = False

    # -- reinforcement -----------------------------------------------------------------------------

    def write_events(self, *, is_told: bool = True) -> None:
        """Write the reinforcement that the store is owed.

        Args:
            is_told: raise what the last write in the background failed with, if it did and nothing
                was written since.
        """
        self._write_events()
        if is_told:
            self.reinforcing.raise_failure()

    def _write_events(self) -> None:
        with self._lock:
            if not self.reinforcing.is_owing():
                return
            events: list[ReinforcementEvent] = []
            revision = 0
            try:
                with self._store.write() as transaction:
                    self._follow(transaction)
                    if self.reinforcing.owes_links():
                        # Of damaged links none is written; whoever asks for links is told.
                        with contextlib.suppress(StoreCorrupt):
                            self._read_links(transaction)
                    owed, changes, links = self.reinforcing.owed()
                    transaction.update_columns(changes)
                    transaction.add_sessions(sessions_of(owed))
                    if links:
                        transaction.set_links(links)
                    revision = transaction.revision if changes or links else 0
                    events = owed
            except BaseException:
                # An interrupt may come when the commit was made and not yet noted here: what the
                # store knows must not be owed to it again.
                if revision and self._store.revision() == revision:
                    self.reinforcing.settle(events)
                raise
            self.reinforcing.settle(events)
            if revision:
                self._revision = revision  # the columns hold it already
                self._projections.changed_count += len(changes)

    # -- life --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what waits and stop. What cannot be written is raised, after all is closed.

        In a child of a fork, nothing: file, locks and threads are the parent's.
        """
        if os.getpid() != self._process or self._is_closed:
            return
        self._is_closed = True
        _OPEN.discard(self)
        self.reinforcing.close()
        try:
            self._write_events()
            with self.unchanging():
                if not (self._is_behind or self.reinforcing.is_owing()):
                    self._snapshot.save(self._store, self._projections, self._revision)
        finally:
            self._projections.close()
            self._store.close()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let nothing be written by this process while the block runs, nor anything followed."""
        with self._lock:
            yield

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Let the columns stay as they are while the block runs, whoever would change them."""
        with self._lock, self.reinforcing.steady():
            yield


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no cyclic garbage while a million objects are made that all stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_OPEN: weakref.WeakSet[InStep] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Lose nothing at a clean exit, even where an engine was let go without being closed."""
    for one in list(_OPEN):
        with contextlib.suppress(OneirosError):
            one.close()
