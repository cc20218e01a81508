"""A store and its projections held in step: what is written comes into both."""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oneiros.errors import OneirosError, StoreCorrupt
from oneiros.remember.following import Following, Uncollected
from oneiros.remember.reinforcing import OF_USE, Reinforcing
from oneiros.remember.text_vectors import TextVectors
from oneiros.remember.verdicts import VerdictCounts
from oneiros.store.index_checking import index_damage, is_rebuildable

if TYPE_CHECKING:
    from oneiros.embedders import Embedder
    from oneiros.projections import Projections
    from oneiros.remember.column_writes import OwnWrites
    from oneiros.remember.reinforcing import OwedWrites
    from oneiros.store import Store, Transaction

__all__ = ["InStep"]


class InStep(Following):
    """The one writer of the projections, which hold what the store holds.

    Args:
        store: the open store.
        projections: what searches read; this object alone writes to them.
        embedder: for texts that come without an embedding; or None.
    """

    def __init__(self, store: Store, projections: Projections, embedder: Embedder | None) -> None:
        reinforcing = Reinforcing(
            projections.lifecycle, projections.associations, self._write_events
        )
        vectors = TextVectors(embedder, store.settings())
        super().__init__(store, projections, reinforcing, vectors)
        writer = weakref.ref(self.writer)  # the store's connection is not searched for cycles

        def is_unwanted() -> bool:
            running = writer()
            return running is not None and running.is_unwanted()

        store.interrupt_writes_when(is_unwanted)
        self._is_closed = False
        self._process = os.getpid()
        self.open_in: int | None = self._process
        """The process that opened it; None once it closes."""
        self.verdicts = VerdictCounts(store)
        self._read_all()
        _OPEN.add(self)

    @property
    def is_open_here(self) -> bool:
        """Whether it is open, and in the process that opened it."""
        return os.getpid() == self.open_in

    # -- writing -----------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, *, after_events_of: Sequence[str] = ()) -> Iterator[Transaction]:
        """Write, then follow. REQUIRES: the thread that writes.

        Args:
            after_events_of: memories about to be given new values. What searches left on them came
                before, and is written before, so that a history gives the same state whenever the
                queue is emptied.
        """
        if self.reinforcing.is_owing() and self.reinforcing.owes_any(after_events_of):
            self._write_events()
        settings = None
        with self._committing() as transaction:
            yield transaction
            if transaction.has_set:
                settings = transaction.settings()
        fresh = transaction.fresh_columns()
        if fresh is None:
            self._catch_up()
            return
        for memories in fresh:  # nobody else wrote in between, and how they read is known
            self._apply(memories)
        if settings is not None:
            self.vectors.follow(settings)
        self._revision = transaction.revision
        self._content_revision += 1
        self._is_behind = False

    @contextmanager
    def _committing(self) -> Iterator[Transaction]:
        """Write one transaction, which is rolled back where the caller was interrupted."""
        try:
            with self._store.write() as transaction:
                # What is checked inside is checked against what is there.
                if transaction.revision != self._revision + 1:
                    self._follow(transaction)
                transaction.known = self.numbers_of
                self._is_behind = True
                yield transaction
                self.writer.require_wanted()
        except StoreCorrupt as error:
            self.note_damage_of(error)
            raise
        self.writer.note_commit()

    @contextmanager
    def _writing_columns(self) -> Iterator[tuple[Transaction, OwnWrites]]:
        """Write columns of many memories, then take up what is told of it, without reading it back.

        REQUIRES: the thread that writes. Yields the transaction, and what is to be told: every column write, and the numbers of all
        memories that were added or changed otherwise, too.
        """
        from oneiros.remember.column_writes import OwnWrites  # noqa: PLC0415 - few processes dream

        own = OwnWrites()
        with self._committing() as transaction:
            yield transaction, own
        self._take_up(own, transaction.revision)

    def _take_up(self, own: OwnWrites, revision: int) -> None:
        self._take_columns(own)
        with Uncollected(), self._store.read() as reading:
            if reading.last_revision() != revision:
                self._follow(reading)  # somebody wrote since, perhaps of these very ids
                return
            self._follow_erased(reading)
            self._take_memories(own, reading)
            self._follow_links(reading)
        self._revision = revision
        self._content_revision += 1
        self._is_behind = False

    def rebuild(self) -> Projections:
        """Make the projections again from the store alone, and return them.

        REQUIRES: the thread that writes. Searches that run meanwhile end on the old ones.
        """
        before, revision = self._projections, self._revision
        fresh = before.emptied()
        former = self.reinforcing.move_to(fresh.lifecycle, fresh.associations)
        self._use(fresh, 0)
        try:
            with Uncollected(), self._store.read() as reading:
                self._follow(reading)
            self.reinforcing.take_over(former)
        except BaseException:
            self.reinforcing.move_back(former)
            self._use(before, revision)
            raise
        return fresh

    def differences(self) -> list[str]:
        """Return in what the projections differ from the store. REQUIRES: the thread that writes.

        What searches strengthened is written first. Where that fails, the columns that hold it are not
        compared.
        """
        from oneiros.projections.comparing import Comparison  # noqa: PLC0415 - few compare

        with contextlib.suppress(OneirosError):
            self._write_events()
        with Uncollected(), self._store.read() as reading:
            self._follow(reading)
            without = OF_USE if self.reinforcing.is_owing() else ()
            comparison = Comparison(self._projections, without=without)
            for batch in reading.changes(0, on_damage=self.note_damage):
                comparison.add(batch)
            self._hide_damaged()
            return comparison.problems()

    def mend_indexes(self) -> list[str]:
        """Rebuild the store's indexes that differ from their tables; return what was wrong.

        REQUIRES: the thread that writes, and a file whose pages are sound.
        """
        with self._store.read() as reading:
            found = index_damage(reading)
            is_possible = all(is_rebuildable(reading, one) for one in found)
        if not found:
            return []
        outcome = "not rebuilt, since rows of its table are damaged or lost; salvage the store"
        if is_possible:
            outcome = "rebuilt from its table"
            try:
                with self._store.write() as transaction:
                    for damage in found:
                        transaction.rebuild_index(damage.name)
            except OneirosError as error:
                outcome = f"not rebuilt ({error})"
        return [f"{damage.words}; {outcome}" for damage in found]

    def _use(self, projections: Projections, revision: int) -> None:
        self._projections, self._lifecycle = projections, projections.lifecycle
        self._revision = revision
        self._damaged_links = -1

    # -- reinforcement -----------------------------------------------------------------------------

    def write_events(self, *, is_told: bool = True) -> None:
        """Write the reinforcement that the store is owed.

        Args:
            is_told: raise what the last write in the background failed with, if it did and nothing
                was written since.
        """
        self.writer.run(self._flush, is_write=True)
        if is_told:
            self.reinforcing.raise_failure()

    def _flush(self) -> None:
        self._write_events()
        self.writer.note_commit()

    def _write_events(self) -> None:
        if not self.reinforcing.is_owing():
            return
        owed: OwedWrites | None = None
        revision = 0
        try:
            with self._store.write() as transaction:
                with self.reinforcing.closed():
                    self._follow(transaction)
                    transaction.known = self.numbers_of
                    if self.reinforcing.owes_links():
                        # Of damaged links none is written; whatever lists links reports them.
                        with contextlib.suppress(StoreCorrupt):
                            self._read_links(transaction)
                    owed = self.reinforcing.owed()
                for numbers, values in owed.states:
                    transaction.write_lifecycle(numbers, values)
                transaction.add_sessions(owed.sessions.items())
                transaction.set_numbered_links(owed.links)
                revision = transaction.revision if owed.states or owed.links else 0
        except BaseException:
            # The commit may have been made all the same: what the store holds must not be written
            # to it a second time.
            if owed and revision and self._store.revision() == revision:
                self.reinforcing.note_written(owed.event_count)
            raise
        self.reinforcing.note_written(owed.event_count)
        if revision:
            self._revision = revision  # the columns hold it already
            self._projections.changed_count += owed.memory_count

    # -- life --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what waits and stop. What cannot be written is raised, after all is closed.

        A call that is interrupted goes on behind; another waits for its end. In a child of a fork,
        nothing: file, locks and threads are the parent's.
        """
        if os.getpid() != self._process or self._is_closed:
            return
        self.open_in = None
        try:
            self.writer.run(self._close, is_kept=True)
        finally:
            self.writer.stop()

    def _close(self) -> None:
        if self._is_closed:
            return
        try:
            self._write_events()
            # Of a snapshot without the damaged memories nothing would tell that they are.
            if not (self._is_behind or self.damaged or self.reinforcing.is_owing()):
                self._snapshot.save(self._store, self._projections, self._revision)
        finally:
            self._is_closed = True
            _OPEN.discard(self)
            self._projections.close()
            self._store.close()


_OPEN: weakref.WeakSet[InStep] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Lose nothing at a clean exit, even where an engine was let go without being closed."""
    for one in list(_OPEN):
        with contextlib.suppress(OneirosError):
            one.close()
