"""Keeps the read model in step with the store, including commits of other processes."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import weakref
from collections import defaultdict
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final, TypeAlias

from oneiros import index, write
from oneiros._lazy import logging, np
from oneiros.errors import OneirosError, StoreBusy, StoreCorrupt, StoreFull, StorePoisoned
from oneiros.index.columns import ColumnWrite
from oneiros.index.snapshot import SnapshotFile
from oneiros.index.stored_rows import rows_of
from oneiros.store.columns import StoredColumns
from oneiros.store.connections import MEMORY
from oneiros.store.history import KEEP_SETTING
from oneiros.store.rows import INSERTED_CELLS, Damaged, joined_cells
from oneiros.write.background import WriterThread, do_nothing, note_outcome
from oneiros.write.reinforce import OF_USE, Reinforcing
from oneiros.write.saving import Saving
from oneiros.write.vectors import TextVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oneiros.graph import Associations
    from oneiros.index import ReadModel
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
    """Counts of the store's verdicts, cached until a verdict is given or forgotten.

    Thread-safe; two threads may make the same count twice.

    Args:
        store: the open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # The revision at which the counts are known to hold, the state of the verdicts, and the
        # counts: one tuple, so that no thread sees a half-updated state.
        self._counted: tuple[int, tuple[int, int], _Counts] = (-1, (-1, -1), {})

    def within(self, bounds: Mapping[str, str], revision: int) -> Verdicts:
        """Return good and bad verdicts by kind, on memories within bounds.

        Args:
            bounds: field to value; empty for all memories.
            revision: of the store, as the caller knows it; counts made at it are reused.

        Helpful verdicts are good, unhelpful and outdated ones bad. Source: docs/systems/omega.md O15.
        """
        key = tuple(sorted(bounds.items()))
        known, then, counts = self._counted
        if known == revision and (cached := counts.get(key)) is not None:
            return cached
        with self._store.read() as reading:
            now = reading.verdict_state()
            if now != then or len(counts) >= _MOST_BOUNDS:
                counts = {}
            found = counts.get(key)
            if found is None:
                found = _by_kind(reading.verdict_counts(bounds))
                counts = {**counts, key: found}
            self._counted = (revision, now, counts)
        return found


def _by_kind(counts: list[tuple[str, str, int]]) -> Verdicts:
    good: defaultdict[str, int] = defaultdict(int)
    bad: defaultdict[str, int] = defaultdict(int)
    for kind, verdict, count in counts:
        (good if verdict == "helpful" else bad)[kind] += count
    return {kind: (good[kind], bad[kind]) for kind in {**good, **bad}}


_APPLY_SECONDS: Final = 0.002
"""The longest wait of a new memory, so that several enter the read model together."""
_ASK_AGAIN_SECONDS: Final = 0.05
_MOST_UNAPPLIED: Final = 1_000
_PAUSE_SECONDS: Final = 0.0002
_MOST_PAUSES: Final = 250


class Sync:
    """Keeps the read model in step with the store, including commits of other processes.

    Args:
        store: the open store.
        read_model: the read model; only this object writes to it.
        embedder: embeds texts that come without a vector; or None.
    """

    def __init__(self, store: Store, read_model: ReadModel, embedder: Embedder | None) -> None:
        self.store = store
        self._read_commits = None if store.path == MEMORY else store.watcher.commits
        self.read_model = read_model
        self.lifecycle = read_model.lifecycle
        self.reinforcing = reinforcing = Reinforcing(
            read_model.lifecycle, read_model.associations, self.write_events_now
        )
        self.vectors: TextVectors = TextVectors(embedder, store.settings())
        """The engine's embedder; follows the embedder that the store's settings name."""
        self.successor: TextVectors | None = None
        """Replaces :attr:`vectors` once the store's vectors are those of its embedder."""
        # All changes of the store and the read model run on this thread, one at a time.
        self.writer: WriterThread = WriterThread(self._begin_job, reinforcing.end_job, self._idle)
        # Memories that are stored but not in the read model yet, in commit order.
        self._unapplied: list[Cells] = []
        self._apply_at: float | None = None
        self._revision = 0
        self._shown_revision = 0  # the same for other threads, also while all is read again
        self._content_revision = 0
        self._vector_changes = 0  # odd while the vectors and their embedder are being replaced
        self._is_rebuilding = False
        self._is_comparing = False
        self._inserting: set[object] = set()  # one item for each call of insert_one
        self._damaged_links = -1  # the revision at which links could not be read
        self._is_behind = True  # a commit of this engine may not be in the read model yet
        # When the writer thread was asked to apply uses of other processes; None: it has looked since.
        self._asked_to_follow_at: float | None = None
        self.snapshot = SnapshotFile(store.path)
        self._saving = Saving()
        self.damaged: dict[int, Damaged] = {}
        """The memories found to be damaged, by sequence number."""
        self.has_dropped_vectors = False
        """Whether texts with vectors given by the user changed without an embedder to replace them."""
        self.has_warned = False  # of dropped vectors
        self._unhidden: list[int] = []  # damaged memories that searches may still find
        writer = weakref.ref(self.writer)  # a strong one would make a cycle through the connection

        def is_unwanted() -> bool:
            running = writer()
            return running is not None and running.is_unwanted()

        store.interrupt_writes_when(is_unwanted)
        self._is_closed = False
        self._process = os.getpid()
        self.open_in: int | None = self._process
        """Id of the process that opened it; None once it closes."""
        self.verdicts = VerdictCounts(store)
        self._keeps_history = True  # at the revision of the read model
        self._read_all()
        _OPEN.add(self)
        if self._is_snapshot_due:
            self.writer.look()

    @property
    def is_open_here(self) -> bool:
        """Whether it is open, and this is the process that opened it."""
        return os.getpid() == self.open_in

    @property
    def revision(self) -> int:
        """The last commit that the read model holds."""
        return self._shown_revision

    def vector_changes(self) -> int:
        """Return how often all vectors were replaced; waits while they are.

        Vectors made since, by :attr:`vectors`, can be compared with those of the read model for as
        long as this returns the same number.
        """
        for _ in range(_MOST_PAUSES):  # bounded: the writer thread may wait for the caller
            if self._vector_changes % 2 == 0:
                break
            sleep(_PAUSE_SECONDS)
        return self._vector_changes

    @property
    def content_revision(self) -> int:
        """Goes up with every commit that the read model applies, except this engine's reinforcement."""
        return self._content_revision

    def follow(self) -> None:
        """Apply every commit since the last one applied, of any process."""
        self.writer.run(self._catch_up)

    def _catch_up(self) -> None:
        with Uncollected(), self.store.read() as reading:
            self._follow(reading)

    def _read_all(self) -> None:
        """Fill a new read model from the store, using its snapshot where that is valid."""
        with Uncollected(), self.store.read() as reading:
            has_traces = bool(reading.traces())
            # The snapshot may be newer than the settings that were read before.
            self._follow_settings(reading.settings())
            self._revision = self._shown_revision = self.snapshot.load(
                reading, self.store, self.read_model, on_damage=self.note_damage
            )
            # Loading the snapshot replaced the columns.
            links = self.read_model.associations
            self.reinforcing.take_over(self.reinforcing.move_to(self.lifecycle, links))
            self.read_model.questions.follow(reading, are_dropped=False)
            self._follow(reading)
        if has_traces and not self.store.is_read_only:
            # An erasing process was killed, or readers kept it from emptying the log. While that is
            # not possible, the setting stays, and the next opening or erasure tries again.
            with contextlib.suppress(OneirosError):
                self.remove_traces(waits=False)

    def numbers_of(self, ids: Sequence[str]) -> list[int | None]:
        """Return the sequence numbers of memories; None for ids that the read model does not know."""
        lifecycle = self.lifecycle  # once: that of a rebuilt read model has other rows
        rows = rows_of(lifecycle.row_of, ids)
        known = [row for row in rows if row is not None]
        found = lifecycle.columns.values_at(name="sequence", rows=known)
        numbers: list[int | None] = list(map(int, found))
        if len(known) == len(rows):
            return numbers
        known_numbers = iter(numbers)
        return [None if row is None else next(known_numbers) for row in rows]

    def note_damage(self, damaged: Damaged) -> None:
        """Record a memory that cannot be read; the next search or write hides it.

        A damaged index (``sequence`` 0) hides nothing: the row itself is whole.
        """
        if not damaged.sequence:
            return
        if damaged.sequence not in self.damaged:
            logging.getLogger(__name__).warning(
                "%s: %s; it is left out", self.store.path, damaged.error()
            )
            self._unhidden.append(damaged.sequence)
        self.damaged[damaged.sequence] = damaged

    @contextmanager
    def noting_damage(self) -> Iterator[None]:
        """Record the damaged memory that an error raised in the block names."""
        try:
            yield
        except StoreCorrupt as error:
            self.note_damage_of(error)
            raise

    def note_damage_of(self, error: StoreCorrupt) -> None:
        """Record the damaged memory that an error names, if any."""
        if error.memory_id is not None:
            self.note_damage(Damaged(error.sequence, error.memory_id, error.reason))

    def _hide_damaged(self) -> None:
        """Remove damaged memories from the read model; the store keeps them."""
        while self._unhidden:
            sequence = self._unhidden[-1]
            (row,) = self.lifecycle.rows_of([sequence])
            if row >= 0 and (memory_id := self.lifecycle.ids[row]):
                self._drop([memory_id])
            self._unhidden.remove(sequence)

    def _drop(self, ids: Sequence[str]) -> None:
        with self.reinforcing.closed():  # no use comes between, of a memory that is gone
            self.reinforcing.forget(ids)
            self.read_model.erase(ids)

    def _read_torn(self, reading: Reading) -> None:
        """Read again the memories that failed reinforcement may have left half changed."""
        torn = self.reinforcing.torn
        if not torn:
            return
        ids = list(torn)  # searches may add more meanwhile
        numbers = [number for number in self.numbers_of(ids) if number is not None]
        self.reinforcing.drop_links()
        for batch in reading.of_sequences(numbers, on_damage=self.note_damage):
            self._apply(batch)
        for _ in ids:
            torn.popleft()

    def _follow(self, reading: Reading) -> None:
        self._hide_damaged()
        self._read_torn(reading)
        last = reading.last_revision()
        if last == self._revision:
            self._is_behind = False
            return
        settings = reading.settings()
        indexes = self.read_model.indexes
        are_replaced = self.vectors.are_replaced(settings)
        if are_replaced:
            indexes.begin_replacement()
        self._follow_erased(reading)
        followed = self._follow_cycles(reading)
        for batch in reading.changes_of_memories(followed, on_damage=self.note_damage):
            self._apply(batch)
        self._follow_states(reading, followed)
        self._hide_damaged()
        # After all memories: a link is dropped if one of its ends has no row yet.
        self._follow_links(reading)
        self.read_model.questions.follow(reading, are_dropped=are_replaced)
        if are_replaced:
            self._end_replacement(settings)
        else:
            self._follow_settings(settings)
        self._note_applied(last)

    def _end_replacement(self, settings: Mapping[str, str]) -> None:
        """Replace the vectors and their embedder, together for :meth:`vector_changes`."""
        successor = self.successor
        self._vector_changes += 1
        try:
            former = self.read_model.indexes.end_replacement()
            if successor is not None and successor.is_recorded_in(settings):
                self.vectors, self.successor = successor, None
            self._follow_settings(settings)
        finally:
            self._vector_changes += 1
        if former is not None:
            former.close()

    def _follow_settings(self, settings: Mapping[str, str]) -> None:
        self._keeps_history = settings.get(KEEP_SETTING) != "off"
        self.vectors.follow(settings)

    def _note_applied(self, revision: int) -> None:
        self._revision = self._shown_revision = revision
        self._content_revision += 1  # last, so that no result cached before is returned afterwards
        self._is_behind = False

    def _follow_states(self, reading: Reading, revision: int) -> None:
        try:
            for states in reading.changes_of_states(revision):
                rows, values = self.reinforcing.apply_states(states)
                self.read_model.changed_count += len(rows)
                for name in ("status", "tier"):
                    self.read_model.row_sets.apply_states(name, rows, values[name])
        except StoreCorrupt:  # read whole rows, which separates damaged memories from sound ones
            for batch in reading.changes(revision, on_damage=self.note_damage):
                self._apply(batch)

    def _follow_cycles(self, reading: Reading) -> int:
        """Apply the dream cycles that are the next commits; return the last revision applied then.

        A cycle changes a few columns of most memories. Reading the changes it recorded for undo
        takes a tenth of the time of reading the memories.
        """
        revision = self._revision
        if not revision:
            return 0  # all memories must be read
        while (cycle := reading.cycles.cycle_of_commit(revision + 1)) is not None:
            own = write.cycle_columns.changed_by(cycle, reading, self.lifecycle)
            if own is None:
                break
            self._take_columns(own)
            self._take_memories(own, reading)
            revision += 1
        return revision

    def _take_columns(self, own: OwnWrites) -> None:
        """Apply the column writes of a cycle, deletions and states included."""
        for column in own.columns:
            self.reinforcing.apply_values(column)
            self.read_model.apply_states(column if column.field != "deleted_at" else _gone(column))
        most = max((len(column.rows) for column in own.columns), default=0)
        self.read_model.changed_count += most

    def _take_memories(self, own: OwnWrites, reading: Reading) -> None:
        """Read and apply the memories that a write changed in more than its columns.

        Restored memories have their columns already and need only be indexed.
        """
        numbers = self.lifecycle.column("sequence")
        for column in own.columns:
            if column.field == "deleted_at":
                back = numbers[column.rows[np.isnan(column.values)]].astype(np.int64)
                for batch in reading.of_sequences(back.tolist(), on_damage=self.note_damage):
                    self.read_model.apply_indexes(batch)
        for batch in reading.of_sequences(own.sequences, on_damage=self.note_damage):
            self._apply(batch)

    def _follow_erased(self, reading: Reading) -> None:
        """Remove erased memories.

        An id that was given to a new memory since keeps its row: an interrupted call may have
        applied that memory already.
        """
        if not reading.has_erased(self._revision):  # the common case
            return
        lifecycle = self.lifecycle
        known = lifecycle.column("sequence")[: len(lifecycle.ids)]
        if reading.lists_erased(self._revision):
            gone = [erased.sequence for erased in reading.erased(self._revision)]
            is_gone = np.isin(known, gone)
        else:
            is_gone = ~np.isin(known, reading.sequences())
        ids = [lifecycle.ids[row] for row in np.flatnonzero(is_gone & (known > 0)).tolist()]
        self._drop([id for id in ids if id])  # "": dropped before
        if self.damaged:
            numbers = list(self.damaged)
            for sequence, id in zip(numbers, reading.cycles.ids(numbers), strict=True):
                if id is None:
                    del self.damaged[sequence]

    def _follow_links(self, reading: Reading) -> None:
        associations = self.read_model.associations
        if not associations.are_read:
            return
        try:
            for links in reading.numbered_links(self._revision):
                self.reinforcing.apply_links(links)
        except StoreCorrupt:  # reading the links later raises this; everything else goes on
            self.reinforcing.drop_links()

    def associations(self, read_model: ReadModel) -> Associations:
        """Return the links of the memories; the first call reads them.

        Args:
            read_model: numbers the rows.

        Raises:
            StoreCorrupt: links are damaged.
        """
        associations = read_model.associations
        if not associations.are_read:

            def read() -> None:
                self._catch_up()
                self._read_links_now(read_model)

            self.writer.run(read)
        return associations

    def links_to_follow(self, read_model: ReadModel, *, is_bounded: bool) -> Associations | None:
        """Return the links for a search of a read model to follow; None if they are damaged.

        Also None if the store has none and the search is not bounded: the trace of a scope must not
        tell whether memories outside have links.
        """
        associations = read_model.associations
        if associations.graph is None:
            if self._damaged_links == self._shown_revision:
                return None
            try:
                self.writer.run(partial(self._read_links_now, read_model))
            except StoreCorrupt:  # reported by the calls that list links; searches do without
                self._damaged_links = self._shown_revision
                return None
        graph = associations.graph  # it may have been dropped
        return associations if graph or (is_bounded and graph is not None) else None

    def _read_links_now(self, read_model: ReadModel) -> None:
        with Uncollected(), self.store.read() as reading:
            if read_model is self.read_model:
                self._read_links(reading)
            elif not read_model.associations.are_read:  # replaced, while a call still uses it
                read_model.associations.read(reading.numbered_links(0))

    def _read_links(self, reading: Reading) -> None:
        """Read all links. Links of memories not known yet come again with those memories."""
        if not self.read_model.associations.are_read:
            self.reinforcing.read_links(reading.numbered_links(0))

    def texts(self, read_model: ReadModel) -> MemoryTexts:
        """Return the texts of the memories of a read model; the first call reads them.

        Texts of memories not known yet come again with those memories.
        """
        texts = read_model.texts
        if not texts.are_read:
            self.writer.run(partial(self._read_texts, texts))
        return texts

    def _read_texts(self, texts: MemoryTexts) -> None:
        with Uncollected(), self.store.read() as reading:
            if not texts.are_read:
                texts.read(reading.texts(on_damage=self.note_damage))

    def _apply(self, batch: StoredBatch) -> None:
        memories = StoredColumns.of(batch)
        self.reinforcing.apply_columns(memories)
        self.read_model.apply_indexes(memories)

    def reinforce(self, event: ReinforcementEvent) -> None:
        """Reinforce the memories that a search returned, before this engine's next read."""
        if self.reinforcing.take(event):
            self.writer.nudge()

    def settle(self) -> None:
        """Apply the reinforcement of earlier searches to the columns.

        Returns at once while a write or a rebuild runs; the writer applies it afterwards.
        """
        if self._is_busy or not self.reinforcing.returned:
            return
        if not self.writer.is_here:
            self.reinforcing.wait_for_opening()
        if self.reinforcing.returned:
            self.writer.run(do_nothing)  # every job applies returned events first

    @property
    def _is_busy(self) -> bool:
        """Whether something runs or waits on the writer thread that no search waits for."""
        return self.writer.is_writing or self._is_rebuilding or self._is_comparing

    def follow_others(self, *, is_asked: bool) -> None:
        """Apply commits made since; return at once if there are none or the writer is busy.

        Commits that only record uses, of other processes or just made by this one, are applied soon
        after: applying them may have to wait until another process has written its own.

        Args:
            is_asked: look for commits of other processes too, not only of this engine.
        """
        if self.reinforcing.returned:
            self.settle()
        self.apply_own()
        is_behind = self._is_behind or bool(self._unhidden)
        if not is_behind:
            if not is_asked or self._read_commits is None:
                return
            commits = self._read_commits()
            if commits.last == self._shown_revision:
                return
            if commits.settled <= self._shown_revision < commits.last:
                now, asked_at = monotonic(), self._asked_to_follow_at
                # Again after a time: a search may be interrupted before the thread is woken.
                if asked_at is None or now - asked_at > _ASK_AGAIN_SECONDS:
                    self._asked_to_follow_at = now
                    self.writer.look()
                return
        if not self._is_busy:
            self.follow()

    # -- one new memory ----------------------------------------------------------------------------

    def insert_one(self, cells: Cells, last_revision: int) -> bool:
        """Store a new memory on the calling thread, if nothing else is to be written.

        It enters the read model shortly after, before this engine's next read or write.

        Args:
            cells: see ``Store.insert_one``.
            last_revision: :attr:`revision` when the requirements of ``cells`` were checked.

        Returns:
            Whether it was stored; if not, nothing was written and a transaction is needed.
        """
        inserting = object()
        try:
            self._inserting.add(inserting)
            if self._is_busy or len(self._unapplied) >= _MOST_UNAPPLIED:
                return False
            is_timed = self._keeps_history
            if not self.store.insert_one(cells, last_revision, self._unapplied, is_timed=is_timed):
                return False
            if self._apply_at is None:
                self._apply_at = monotonic() + _APPLY_SECONDS
                self.writer.look()
        except BaseException as error:
            if not isinstance(error, Exception):
                note_outcome(error, has_committed="sequence" in cells)
            raise
        finally:
            self._inserting.discard(inserting)
        return True

    def apply_own(self) -> None:
        """Apply memories stored by :meth:`insert_one` to the read model."""
        if self._unapplied:
            self.writer.run(do_nothing)  # every job applies inserted memories first

    def _begin_job(self) -> None:
        self.reinforcing.begin_job()
        self._apply_inserted()

    def _idle(self) -> float | None:
        if self._asked_to_follow_at is not None:
            self._asked_to_follow_at = None
            try:
                self._catch_up()
            except Exception:  # noqa: BLE001 - the next search tries again, and raises it
                self._is_behind = True
        waits = [self.reinforcing.write_due()]
        if self._apply_at is not None:
            left = self._apply_at - monotonic()
            if left > 0:
                waits.append(left)
            else:
                self._apply_inserted()
        waits.append(self._save_if_due())
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _apply_inserted(self) -> None:
        # Other threads append meanwhile. A memory that is appended after the count finds the time
        # cleared and sets another one, so the time is cleared first, and only counted ones are dropped.
        self._apply_at = None
        count = len(self._unapplied)
        if not count:
            return
        self._saving.note_write()
        # Memories read from the store in the meantime are applied already.
        fresh = [cells for cells in self._unapplied[:count] if cells["revision"] > self._revision]
        try:
            if fresh and fresh[0]["revision"] == self._revision + 1:
                self._apply(StoredColumns(len(fresh), joined_cells(fresh), {}, INSERTED_CELLS))
                self._revision = self._shown_revision = fresh[-1]["revision"]
                self._content_revision += 1
            elif fresh:
                self._is_behind = True
        except Exception:  # noqa: BLE001 - the next catch-up raises it again
            self._is_behind = True
        finally:
            del self._unapplied[:count]

    # -- the snapshot ------------------------------------------------------------------------------

    @property
    def _is_snapshot_due(self) -> bool:
        # A snapshot without the damaged memories would not record that they are damaged.
        is_possible = not (self.store.is_read_only or self.damaged)
        return is_possible and self.snapshot.is_due(self.read_model)

    def _save_if_due(self) -> float | None:
        """Write the snapshot if it is time; return the seconds until then, None: after the next job.

        REQUIRES: the writer thread.
        """
        if not self._is_snapshot_due:
            return None
        left = self._saving.wait(is_building=self.read_model.indexes.is_building_graph)
        if left != 0.0:
            return left
        began, is_done = monotonic(), False
        self._is_comparing = True  # first, so that no search begins to wait for this thread
        try:
            if self.writer.is_awaited:
                return 0.0  # after what searches wait for already
            is_done = self._save()
        except Exception as error:  # noqa: BLE001 - a later look tries again
            logging.getLogger(__name__).info("%s: not written: %s", self.snapshot.path, error)
        finally:
            self._is_comparing = False
        self._saving.note_saved(began, is_done=is_done)
        return None

    def _save(self) -> bool:
        """Write the snapshot; return whether there is one now.

        REQUIRES: the writer thread, :attr:`_is_comparing`. Searches do not wait for it, but for one
        that reads the links or texts first.
        """
        with self.reinforcing.closed():  # the columns then hold what the store does
            self.write_events_now()
            with self.comparing() as reading:
                self.snapshot.follow(reading, self.read_model)
                if not self._is_snapshot_due:
                    return True
                if self._is_behind or self.reinforcing.is_owing():
                    return False
            # Outside of the read: a fork would wait for its end, and `forget` of another process.
            with Uncollected():
                is_done = self.snapshot.write(self.store, self.read_model, self._revision)
        self._catch_up()  # with the setting that names the file
        return is_done

    # -- writing -----------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, after_events_of: Sequence[str] = ()) -> Iterator[Transaction]:
        """Yield a transaction, commit it, then apply it. REQUIRES: the writer thread.

        Args:
            after_events_of: ids of memories about to get new values. Reinforcement that waits for
                them is written first, so that the state does not depend on when the queue is
                flushed.
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
        for memories in fresh:  # no other commit came between, so nothing needs to be read
            self._apply(memories)
        if settings is not None:
            self._follow_settings(settings)
        self._note_applied(transaction.revision)

    @contextmanager
    def _committing(self) -> Iterator[Transaction]:
        """Yield one transaction, rolled back if the caller was interrupted."""
        self._saving.note_write()
        try:
            with self.store.write() as transaction:
                # Checks made inside the block must see the store's current state.
                if transaction.revision != self._revision + 1:
                    self._follow(transaction)
                transaction.known = self.numbers_of
                self._is_behind = True
                yield transaction
                self.writer.require_wanted()
        except StoreCorrupt as error:
            self.note_damage_of(error)
            raise
        self.writer.note_commit(transaction.revision)

    @contextmanager
    def writing_columns(self) -> Iterator[tuple[Transaction, OwnWrites]]:
        """Write columns of many memories, then apply them without reading them back.

        REQUIRES: the writer thread. Yields the transaction and an object to fill in: every column
        write, and the sequence numbers of all memories added or otherwise changed.
        """
        own = write.cycle_columns.OwnWrites()
        with self._committing() as transaction:
            yield transaction, own
        self._take_up(own, transaction.revision)

    def _take_up(self, own: OwnWrites, revision: int) -> None:
        self._take_columns(own)
        with Uncollected(), self.store.read() as reading:
            if reading.last_revision() != revision:
                self._follow(reading)  # another commit came since, perhaps to the same ids
                return
            self._follow_erased(reading)
            self._take_memories(own, reading)
            self._follow_links(reading)
            self.read_model.questions.follow(reading, are_dropped=False)
        self._note_applied(revision)

    def rebuild(self) -> ReadModel:
        """Rebuild the read model from the store alone, and return it.

        REQUIRES: the writer thread. Running searches finish on the old read model.
        """
        self._is_rebuilding = True
        try:
            with Uncollected(), self.store.read() as reading:
                # First, so that both hold one state: the embedder is that of the vectors of both.
                self._follow(reading)
                return self._rebuilt(reading)
        finally:
            self._is_rebuilding = False

    def _rebuilt(self, reading: Reading) -> ReadModel:
        before, revision = self.read_model, self._revision
        fresh = before.emptied()
        former = self.reinforcing.move_to(fresh.lifecycle, fresh.associations)
        self._use(fresh, 0)
        try:
            self._follow(reading)
            self.reinforcing.take_over(former)
        except BaseException:
            self.reinforcing.move_back(former)
            self._use(before, revision)
            raise
        return fresh

    @contextmanager
    def comparing(self) -> Iterator[Reading]:
        """Bring the read model up to date; yield the state of the store that it then holds.

        REQUIRES: the writer thread. Searches do not wait for the block.
        """
        was_comparing, self._is_comparing = self._is_comparing, True
        try:
            # Of memories inserted later, searches would wait for the end of the block.
            for _ in range(_MOST_PAUSES):
                if not self._inserting:
                    break
                sleep(_PAUSE_SECONDS)
            self._apply_inserted()
            with Uncollected(), self.store.read() as reading:
                self._follow(reading)
                yield reading
        finally:
            self._is_comparing = was_comparing

    def differences(self) -> list[str]:
        """Return how the read model differs from the store. REQUIRES: the writer thread.

        Waiting reinforcement is written first. If that fails, the columns it changes are not
        compared.
        """
        with contextlib.suppress(OneirosError):
            self.write_events_now()
        with self.comparing() as reading:
            without = OF_USE if self.reinforcing.is_owing() else ()
            comparison = index.comparison.StoreComparison(self.read_model, without=without)
            for batch in reading.changes(0, on_damage=self.note_damage):
                comparison.add(batch)
            self._hide_damaged()
            return comparison.problems()

    def _use(self, read_model: ReadModel, revision: int) -> None:
        self.read_model, self.lifecycle = read_model, read_model.lifecycle
        self._revision = revision
        self._damaged_links = -1

    # -- reinforcement -----------------------------------------------------------------------------

    def write_events(self) -> None:
        """Write the waiting reinforcement to the store.

        Raises:
            Exception: the error of the last background write, if it failed and nothing was written
                since.
        """
        self.writer.run(self._flush, is_write=True)
        self.reinforcing.raise_failure()

    def write_events_before_reading(self) -> None:
        """Write the waiting reinforcement, so that a read of the store has it.

        If the store takes no writes, or others hold its lock for too long, the read goes on without.
        """
        with contextlib.suppress(StoreBusy, StoreFull, StorePoisoned):
            self.writer.run(self._flush, is_write=True)

    def _flush(self) -> None:
        self.write_events_now()
        self.writer.note_commit()

    def write_events_now(self) -> None:
        """Write the waiting reinforcement to the store. REQUIRES: the writer thread."""
        if not self.reinforcing.is_owing():
            return
        if self.store.revision() != self._revision:
            self._catch_up()  # before it holds the lock, for which other processes wait
        owed: OwedWrites | None = None
        revision = 0
        try:
            with self.store.write() as transaction:
                self._follow(transaction)
                transaction.known = self.numbers_of
                with self.reinforcing.closed():
                    if self.reinforcing.owes_links():
                        # Damaged links are not written; the calls that list links report them.
                        with contextlib.suppress(StoreCorrupt):
                            self._read_links(transaction)
                    owed = self.reinforcing.owed()
                for numbers, values in owed.states:
                    transaction.write_lifecycle(numbers, values)
                transaction.add_sessions(owed.sessions.items())
                transaction.set_numbered_links(owed.links)
                revision = transaction.revision if owed.states or owed.links else 0
                if revision:
                    transaction.record_uses()
        except BaseException:
            # The commit may have succeeded even so; its events must not be written a second time.
            if owed and revision and self.store.revision() == revision:
                self.reinforcing.note_written(owed.event_count)
            raise
        self.reinforcing.note_written(owed.event_count)
        if revision:
            # The columns hold these values already.
            self._revision = self._shown_revision = revision
            self.read_model.changed_count += owed.memory_count

    # -- erasing -----------------------------------------------------------------------------------

    def remove_traces(self, *, waits: bool = True) -> None:
        """Remove what commits erased from the snapshot, the log and the unused bytes of the file.

        REQUIRES: the writer thread.

        Args:
            waits: False: raise ``StoreBusy`` at once if a reader uses the log.

        Raises:
            StoreBusy, StoreIOError, StorePoisoned: traces are left; the next opening removes them.
        """
        self.snapshot.remove()
        self.store.remove_traces(waits=waits)

    # -- life --------------------------------------------------------------------------------------

    def require_no_write(self) -> None:
        """Raise RuntimeError inside a write of this thread, such as in a clock that it calls."""
        if self.writer.is_here:
            self.store.require_no_write()

    def close(self) -> None:
        """Write what waits and stop. Errors are raised once everything is closed.

        An interrupted call finishes in the background; a second call waits for it. In a forked
        child this does nothing: file, locks and threads belong to the parent.
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
            if self.store.is_read_only:
                return
            self.write_events_now()
            # A snapshot without the damaged memories would not record that they are damaged.
            if not (self._is_behind or self.damaged or self.reinforcing.is_owing()):
                self.snapshot.save(self.store, self.read_model, self._revision)
        finally:
            self._is_closed = True
            _OPEN.discard(self)
            self.read_model.close()
            self.store.close()
            self.reinforcing.release()
            self.writer.release()  # no reference cycle: the columns' address space is free at once


def _gone(write: ColumnWrite) -> ColumnWrite:
    """Return the rows of a ``deleted_at`` write that it deletes."""
    is_gone = ~np.isnan(write.values)
    return ColumnWrite(write.field, write.rows[is_gone], write.values[is_gone])


class Uncollected:
    """A context manager that pauses garbage collection while many lasting objects are made.

    Otherwise the collector would traverse all of them, which stalls searches for half a second. A
    child that is forked meanwhile collects.
    """

    __slots__ = ("_was_enabled",)

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        if self._was_enabled:
            _PAUSES.add(self)
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_enabled:
            gc.enable()
            _PAUSES.discard(self)


_PAUSES: Final[set[Uncollected]] = set()  # those that have ended collecting


def _collect_in_child() -> None:
    """After a fork, in the child: collect, as it may never reach the end of a pause."""
    if _PAUSES:
        _PAUSES.clear()
        gc.enable()


os.register_at_fork(after_in_child=_collect_in_child)


_OPEN: weakref.WeakSet[Sync] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close engines left open at a clean exit, so that nothing is lost."""
    for sync in list(_OPEN):
        with contextlib.suppress(OneirosError):
            sync.close()
