"""The read model kept in step with the store, whoever wrote to it."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import weakref
from collections import defaultdict
from collections.abc import Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from oneiros._lazy import np
from oneiros.errors import OneirosError, StoreCorrupt
from oneiros.index.columns import ColumnWrite
from oneiros.index.snapshot import SnapshotFile
from oneiros.store.columns import StoredColumns
from oneiros.store.connections import MEMORY
from oneiros.store.index_checking import index_damage, is_rebuildable
from oneiros.store.rows import Damaged
from oneiros.write.background import WriterThread, note_outcome
from oneiros.write.reinforce import OF_USE, Reinforcing
from oneiros.write.vectors import TextVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oneiros.graph import Associations
    from oneiros.index import Projections
    from oneiros.index.texts import MemoryTexts
    from oneiros.models.embedders import Embedder
    from oneiros.scoring.factors.thompson import Verdicts
    from oneiros.store import Reading, Store, Transaction
    from oneiros.store.columns import StoredBatch
    from oneiros.store.rows import Cells
    from oneiros.write.cycle_columns import OwnWrites
    from oneiros.write.reinforce import OwedWrites, ReinforcementEvent

__all__ = ["Sync", "Uncollected", "VerdictCounts"]


_MOST_BOUNDS = 256
_Counts: TypeAlias = "dict[tuple[tuple[str, str], ...], Verdicts]"


class VerdictCounts:
    """Counts the store's verdicts, and again when some were given or forgotten since.

    Safe to use from many threads: a count that two of them make at once is made twice.

    Args:
        store: the open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # The revision it is known to hold at, the state of the verdicts, and what was counted: one
        # object, so that no thread sees half of it changed.
        self._counted: tuple[int, tuple[int, int], _Counts] = (-1, (-1, -1), {})

    def within(self, bounds: Mapping[str, str], revision: int) -> Verdicts:
        """Return good and bad verdicts by kind, on memories within bounds.

        Args:
            bounds: field to value; empty for all memories.
            revision: of the store, as the caller knows it: what was counted at it is not asked again.

        Good are the helpful, bad the unhelpful and outdated. Source: docs/systems/omega.md O15.
        """
        key = tuple(sorted(bounds.items()))
        known, then, held = self._counted
        if known == revision and (at_once := held.get(key)) is not None:
            return at_once
        with self._store.read() as reading:
            now = reading.verdict_state()
            if now != then or len(held) >= _MOST_BOUNDS:
                held = {}
            found = held.get(key)
            if found is None:
                found = _by_kind(reading.verdict_counts(bounds))
                held = {**held, key: found}
            self._counted = (revision, now, held)
        return found


def _by_kind(counts: list[tuple[str, str, int]]) -> Verdicts:
    good: defaultdict[str, int] = defaultdict(int)
    bad: defaultdict[str, int] = defaultdict(int)
    for kind, verdict, count in counts:
        (good if verdict == "helpful" else bad)[kind] += count
    return {kind: (good[kind], bad[kind]) for kind in {**good, **bad}}


_APPLY_SECONDS: Final = 0.002
"""How long a new memory may wait for others that come into the projections together with it."""
_MOST_UNAPPLIED: Final = 1_000


class Sync:
    """Keeps the read model at what the store holds, whoever writes to that.

    Args:
        store: the open store.
        projections: what searches read; this object alone writes to them.
        embedder: for texts that come without an embedding; or None.
    """

    def __init__(self, store: Store, projections: Projections, embedder: Embedder | None) -> None:
        self.store = store
        self._asks = None if store.path == MEMORY else store.watcher.revision
        self.projections = projections
        self.lifecycle = projections.lifecycle
        self.reinforcing = reinforcing = Reinforcing(
            projections.lifecycle, projections.associations, self.write_events_now
        )
        self.vectors: TextVectors = TextVectors(embedder, store.settings())
        """The engine's embedder; follows which one the store names."""
        self.successor: TextVectors | None = None
        """Replaces :attr:`vectors` once the store's vectors are those of its embedder."""
        # Everything that changes the store or the projections runs on it, one thing at a time.
        self.writer: WriterThread = WriterThread(self._begin_job, reinforcing.end_job, self._idle)
        # Memories that are stored and not in the projections yet, in the order of their commits.
        self._unapplied: list[Cells] = []
        self._apply_at: float | None = None
        self._revision = 0
        self._content_revision = 0
        self._damaged_links = -1  # the revision at which links could not be read
        self._is_behind = True  # a commit of our own may wait for its projection
        self.snapshot = SnapshotFile(store.path)
        self.damaged: dict[int, Damaged] = {}
        """By their numbers in the store, the memories that were found damaged."""
        self.has_dropped_vectors = False
        """Whether texts of the user's own vectors changed, and no embedder made other vectors."""
        self.has_warned = False  # of that
        self._unhidden: list[int] = []  # those of them that searches may still find
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
        self.writer.run(self._catch_up)

    def _catch_up(self) -> None:
        with Uncollected(), self.store.read() as reading:
            self._follow(reading)

    def _read_all(self) -> None:
        """Bring new projections to the store's state, from its snapshot where that holds."""
        with Uncollected(), self.store.read() as reading:
            # The snapshot may be newer than the settings that were read before.
            self.vectors.follow(reading.settings())
            self._revision = self.snapshot.load(
                reading, self.store, self.projections, on_damage=self.note_damage
            )
            # The snapshot brought columns of its own.
            links = self.projections.associations
            self.reinforcing.take_over(self.reinforcing.move_to(self.lifecycle, links))
            self._follow(reading)

    def numbers_of(self, ids: Sequence[str]) -> list[int | None]:
        """Return the store's numbers of memories, as the read model knows them; None: it does not."""
        row_of, columns = self.lifecycle.row_of, self.lifecycle.columns
        rows = [row_of.get(id) for id in ids]
        known = [row for row in rows if row is not None]
        numbers = iter(columns.values_at(name="sequence", rows=known))
        return [None if row is None else int(next(numbers)) for row in rows]

    def note_damage(self, damaged: Damaged) -> None:
        """Take note of a memory that cannot be read: it is hidden from the next search or write on.

        Not of one that a damaged index keeps from being found: its row is whole.
        """
        if not damaged.sequence:
            return
        if damaged.sequence not in self.damaged:
            import logging  # noqa: PLC0415 - as a rule nothing is damaged

            logging.getLogger(__name__).warning(
                "%s: %s; it is left out", self.store.path, damaged.error()
            )
            self._unhidden.append(damaged.sequence)
        self.damaged[damaged.sequence] = damaged

    @contextmanager
    def noting_damage(self) -> Iterator[None]:
        """Take note of a damaged memory that an error out of the block names."""
        try:
            yield
        except StoreCorrupt as error:
            self.note_damage_of(error)
            raise

    def note_damage_of(self, error: StoreCorrupt) -> None:
        """Take note of the damaged memory that an error names, if it names one."""
        if error.memory_id is not None:
            self.note_damage(Damaged(error.sequence, error.memory_id, error.reason))

    def _hide_damaged(self) -> None:
        """Drop what cannot be read from the projections; the store keeps it."""
        while self._unhidden:
            sequence = self._unhidden[-1]
            (row,) = self.lifecycle.rows_of_sequences(np.array([sequence], np.int64)).tolist()
            if row >= 0 and (memory_id := self.lifecycle.ids[row]):
                self.reinforcing.forget(memory_id)
                self.projections.erase(memory_id)
            self._unhidden.remove(sequence)

    def _follow(self, reading: Reading) -> None:
        self._hide_damaged()
        last = reading.last_revision()
        if last == self._revision:
            self._is_behind = False
            return
        settings = reading.settings()
        indexes = self.projections.indexes
        are_replaced = self.vectors.are_replaced(settings)
        if are_replaced:
            indexes.begin_replacement()
        self._follow_erased(reading)
        followed = self._follow_cycles(reading)
        for batch in reading.changes_of_memories(followed, on_damage=self.note_damage):
            self._apply(batch)
        self._follow_states(reading, followed)
        self._hide_damaged()
        self._follow_links(reading)
        successor = self.successor
        if are_replaced:
            indexes.end_replacement()
            if successor is not None and successor.is_recorded_in(settings):
                self.vectors, self.successor = successor, None
        self.vectors.follow(settings)
        self._revision = last
        self._content_revision += 1  # the last: an answer of before must not be given after
        self._is_behind = False

    def _follow_states(self, reading: Reading, revision: int) -> None:
        try:
            for states in reading.changes_of_states(revision):
                rows = self.reinforcing.apply_states(states)
                self.projections.changed_count += len(rows)
                for name in ("status", "tier"):
                    column = self.lifecycle.column(name)
                    self.projections.apply_states(ColumnWrite(name, rows, column[rows]))
        except StoreCorrupt:  # read whole, the damaged are told from the others
            for batch in reading.changes(revision, on_damage=self.note_damage):
                self._apply(batch)

    def _follow_cycles(self, reading: Reading) -> int:
        """Take up the dream cycles that are the next commits; returns the last commit held then.

        A cycle changes most memories, in a few columns: what it noted of them for an undo is read in
        a tenth of the time that the memories take.
        """
        revision = self._revision
        if not revision:
            return 0  # all memories are to be read
        while (cycle := reading.cycles.cycle_of_commit(revision + 1)) is not None:
            from oneiros.write.cycle_columns import changed_by  # noqa: PLC0415 - few processes dream

            own = changed_by(cycle, reading, self.lifecycle)
            if own is None:
                break
            self._take_columns(own)
            self._take_memories(own, reading)
            revision += 1
        return revision

    def _take_columns(self, own: OwnWrites) -> None:
        """Take up the columns of a write, and what they say of being deleted, or in which state."""
        for write in own.columns:
            self.reinforcing.apply_values(write)
            self.projections.apply_states(write if write.field != "deleted_at" else _gone(write))
        most = max((len(write.rows) for write in own.columns), default=0)
        self.projections.changed_count += most

    def _take_memories(self, own: OwnWrites, reading: Reading) -> None:
        """Take up the rest, which is read: what came back, of which the columns are there, and more."""
        held = self.lifecycle.column("sequence")
        for write in own.columns:
            if write.field == "deleted_at":
                back = held[write.rows[np.isnan(write.values)]].astype(np.int64)
                for batch in reading.of_sequences(back.tolist(), on_damage=self.note_damage):
                    self.projections.apply_indexes(batch)
        for batch in reading.of_sequences(own.sequences, on_damage=self.note_damage):
            self._apply(batch)

    def _follow_erased(self, reading: Reading) -> None:
        """Drop what was erased.

        An id may have been given again since, and an interrupt may have come when that was taken up
        already: it keeps its row.
        """
        ids = reading.erased(self._revision)
        if not ids:  # as a rule
            return
        known = [number or 0 for number in self.numbers_of(ids)]
        for memory_id, held_id in zip(ids, reading.cycles.ids(known), strict=True):
            if memory_id != held_id:
                self.reinforcing.forget(memory_id)
                self.projections.erase(memory_id)
        if self.damaged:
            numbers = list(self.damaged)
            for sequence, id in zip(numbers, reading.cycles.ids(numbers), strict=True):
                if id is None:
                    del self.damaged[sequence]

    def _follow_links(self, reading: Reading) -> None:
        associations = self.projections.associations
        if not associations.are_read:
            return
        try:
            for links in reading.links(self._revision):
                self.reinforcing.apply_links(links)
        except StoreCorrupt:  # whoever asks for links is told; all else goes on
            self.reinforcing.drop_links()

    def associations(self) -> Associations:
        """Return the links of the memories; the first call reads them.

        Raises:
            StoreCorrupt: links are damaged.
        """
        associations = self.projections.associations
        if not associations.are_read:

            def read() -> None:
                self._catch_up()
                self._read_links_now()

            self.writer.run(read)
        return associations

    def links_to_follow(self) -> Associations | None:
        """Return the links for a search to follow; None where there are none, or damaged ones."""
        associations = self.projections.associations
        if associations.graph is None:
            if self._damaged_links == self._revision:
                return None
            try:
                self.writer.run(self._read_links_now)
            except StoreCorrupt:  # reported by whatever lists links; searches go on without
                self._damaged_links = self._revision
                return None
        return associations if associations.graph else None  # None: dropped meanwhile

    def _read_links_now(self) -> None:
        with Uncollected(), self.store.read() as reading:
            self._read_links(reading)

    def _read_links(self, reading: Reading) -> None:
        """Read the links; of memories not known yet, they come again with these."""
        if not self.projections.associations.are_read:
            self.reinforcing.read_links(reading.links(0))

    def texts(self) -> MemoryTexts:
        """Return the texts of the memories; the first call reads them.

        Those of memories not known yet come again with these.
        """
        texts = self.projections.texts
        if not texts.are_read:
            self.writer.run(self._read_texts)
        return texts

    def _read_texts(self) -> None:
        texts = self.projections.texts
        with Uncollected(), self.store.read() as reading:
            if not texts.are_read:
                texts.read(reading.texts(on_damage=self.note_damage))

    def _apply(self, batch: StoredBatch) -> None:
        memories = StoredColumns.of(batch)
        self.reinforcing.apply_columns(memories)
        self.projections.apply_indexes(memories)

    def reinforce(self, event: ReinforcementEvent) -> None:
        """Strengthen what a search returned: before the next read of this engine."""
        if self.reinforcing.take(event):
            self.writer.nudge()

    def settle(self) -> None:
        """Have what earlier searches returned strengthened in the columns.

        It returns at once while a write runs, which strengthens them after its end.
        """
        if self.reinforcing.returned and not self.writer.is_writing:
            self.writer.run(_nothing)  # what was returned is applied before any job

    def follow_others(self, *, is_asked: bool) -> None:
        """Apply what was committed since; returns at once when nothing was, or while a write runs.

        Args:
            is_asked: look for commits of other processes, too; else only for our own.
        """
        if self.reinforcing.returned:
            self.settle()
        self.apply_own()
        is_behind = self._is_behind or bool(self._unhidden)
        asks = self._asks if is_asked else None
        if not is_behind and (asks is None or asks() == self._revision):
            return
        if not self.writer.is_writing:
            self.follow()

    # -- one new memory ----------------------------------------------------------------------------

    def insert_one(self, cells: Cells, last_revision: int) -> bool:
        """Store a new memory at once, on whichever thread, if nothing else is to be written.

        It comes into the projections a little later, before the next read or write of this engine.

        Args:
            cells: see ``Store.insert_one``.
            last_revision: :attr:`revision` when it was checked what they need.

        Returns:
            Whether it was stored; if not, nothing was, and a transaction has to.
        """
        if self.writer.is_writing or len(self._unapplied) >= _MOST_UNAPPLIED:
            return False
        try:
            if not self.store.insert_one(cells, last_revision, self._unapplied):
                return False
            if self._apply_at is None:
                self._apply_at = monotonic() + _APPLY_SECONDS
                self.writer.look()
        except BaseException as error:
            if not isinstance(error, Exception):
                note_outcome(error, has_committed="sequence" in cells)
            raise
        return True

    def apply_own(self) -> None:
        """Have what :meth:`insert_one` stored in the projections."""
        if self._unapplied:
            self.writer.run(_nothing)  # it is applied before any job

    def _begin_job(self) -> None:
        self.reinforcing.begin_job()
        self._apply_inserted()

    def _idle(self) -> float | None:
        seconds = self.reinforcing.write_due()
        if self._apply_at is None:
            return seconds
        left = self._apply_at - monotonic()
        if left > 0:
            return left if seconds is None else min(left, seconds)
        self._apply_inserted()
        return seconds

    def _apply_inserted(self) -> None:
        self._apply_at = None
        count = len(self._unapplied)
        if not count:
            return
        from oneiros.store.rows import joined_cells  # noqa: PLC0415 - many processes only search
        from oneiros.store.single_insert import INSERTED_CELLS  # noqa: PLC0415 - as above

        # Those that were read from the store meanwhile are applied already.
        fresh = [one for one in self._unapplied[:count] if one["revision"] > self._revision]
        try:
            if fresh and fresh[0]["revision"] == self._revision + 1:
                self._apply(StoredColumns(len(fresh), joined_cells(fresh), {}, INSERTED_CELLS))
                self._revision = fresh[-1]["revision"]
                self._content_revision += 1
            elif fresh:
                self._is_behind = True
        except Exception:  # noqa: BLE001 - whoever follows the store meets it again
            self._is_behind = True
        finally:
            del self._unapplied[:count]

    # -- writing -----------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, after_events_of: Sequence[str] = ()) -> Iterator[Transaction]:
        """Write, then follow. REQUIRES: the thread that writes.

        Args:
            after_events_of: memories about to be given new values. What searches left on them came
                before, and is written before, so that a history gives the same state whenever the
                queue is emptied.
        """
        if self.reinforcing.is_owing() and self.reinforcing.owes_any(after_events_of):
            self.write_events_now()
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
            with self.store.write() as transaction:
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
    def writing_columns(self) -> Iterator[tuple[Transaction, OwnWrites]]:
        """Write columns of many memories, then take up what is told of it, without reading it back.

        REQUIRES: the thread that writes. Yields the transaction, and what is to be told: every column write, and the numbers of all
        memories that were added or changed otherwise, too.
        """
        from oneiros.write.cycle_columns import OwnWrites  # noqa: PLC0415 - few processes dream

        own = OwnWrites()
        with self._committing() as transaction:
            yield transaction, own
        self._take_up(own, transaction.revision)

    def _take_up(self, own: OwnWrites, revision: int) -> None:
        self._take_columns(own)
        with Uncollected(), self.store.read() as reading:
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
        before, revision = self.projections, self._revision
        fresh = before.emptied()
        former = self.reinforcing.move_to(fresh.lifecycle, fresh.associations)
        self._use(fresh, 0)
        try:
            with Uncollected(), self.store.read() as reading:
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
        from oneiros.index.comparison import StoreComparison  # noqa: PLC0415 - few compare

        with contextlib.suppress(OneirosError):
            self.write_events_now()
        with Uncollected(), self.store.read() as reading:
            self._follow(reading)
            without = OF_USE if self.reinforcing.is_owing() else ()
            comparison = StoreComparison(self.projections, without=without)
            for batch in reading.changes(0, on_damage=self.note_damage):
                comparison.add(batch)
            self._hide_damaged()
            return comparison.problems()

    def mend_indexes(self) -> list[str]:
        """Rebuild the store's indexes that differ from their tables; return what was wrong.

        REQUIRES: the thread that writes, and a file whose pages are sound.
        """
        with self.store.read() as reading:
            found = index_damage(reading)
            is_possible = all(is_rebuildable(reading, one) for one in found)
        if not found:
            return []
        outcome = "not rebuilt, since rows of its table are damaged or lost; salvage the store"
        if is_possible:
            outcome = "rebuilt from its table"
            try:
                with self.store.write() as transaction:
                    for damage in found:
                        transaction.rebuild_index(damage.name)
            except OneirosError as error:
                outcome = f"not rebuilt ({error})"
        return [f"{damage.words}; {outcome}" for damage in found]

    def _use(self, projections: Projections, revision: int) -> None:
        self.projections, self.lifecycle = projections, projections.lifecycle
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
        self.write_events_now()
        self.writer.note_commit()

    def write_events_now(self) -> None:
        """Write the reinforcement that the store is owed. REQUIRES: the thread that writes."""
        if not self.reinforcing.is_owing():
            return
        owed: OwedWrites | None = None
        revision = 0
        try:
            with self.store.write() as transaction:
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
            if owed and revision and self.store.revision() == revision:
                self.reinforcing.note_written(owed.event_count)
            raise
        self.reinforcing.note_written(owed.event_count)
        if revision:
            self._revision = revision  # the columns hold it already
            self.projections.changed_count += owed.memory_count

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
            self.write_events_now()
            # Of a snapshot without the damaged memories nothing would tell that they are.
            if not (self._is_behind or self.damaged or self.reinforcing.is_owing()):
                self.snapshot.save(self.store, self.projections, self._revision)
        finally:
            self._is_closed = True
            _OPEN.discard(self)
            self.projections.close()
            self.store.close()


def _nothing() -> None:
    pass


def _gone(write: ColumnWrite) -> ColumnWrite:
    """What is deleted, of a write of ``deleted_at``."""
    is_gone = ~np.isnan(write.values)
    return ColumnWrite(write.field, write.rows[is_gone], write.values[is_gone])


class Uncollected:
    """A block in which no cyclic garbage is looked for: a million objects may be made that all stay.

    It would be looked for among all of them, half a second in which no search goes on.
    """

    __slots__ = ("_was_enabled",)

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_enabled:
            gc.enable()


_OPEN: weakref.WeakSet[Sync] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Lose nothing at a clean exit, even where an engine was let go without being closed."""
    for one in list(_OPEN):
        with contextlib.suppress(OneirosError):
            one.close()
