"""The remember path: record -> store (durable) -> columns, lexical index, vector index."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.memory import Memory, validate_changes
from oneiros.remember.batch import AddReport, Batch, Entry, embedded_text
from oneiros.remember.reinforcing import Reinforcing
from oneiros.remember.text_vectors import TextVectors
from oneiros.store.embedding_bytes import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.embedders import Embedder
    from oneiros.projections import Projections
    from oneiros.remember.write_behind import ReinforcementEvent
    from oneiros.store import Reading, Store, StoredMemory, Transaction

    Record = Mapping[str, object] | Memory
    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["Remember", "unknown"]


class Remember:
    """Writes to the store and keeps the projections in step, one writer at a time.

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
        self.reinforcing = Reinforcing(projections.lifecycle, self._write_events)
        self._revision = 0
        self.vectors = TextVectors(embedder, store.settings())
        self.follow()

    # -- following the store -----------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The last commit that the projections hold."""
        return self._revision

    def follow(self) -> None:
        """Apply every commit since the last, whoever made it."""
        with self._lock, self._store.read() as reading:
            self._follow(reading)

    def _follow(self, reading: Reading) -> None:
        last = reading.last_revision()
        if last == self._revision:
            return
        self.vectors.follow(reading.settings())
        for memory_id in reading.erased(self._revision):
            self._projections.erase(memory_id)
        for batch in reading.changes(self._revision):
            self.reinforcing.apply_columns(batch)
            self._projections.apply_indexes(batch)
        self._revision = last

    def follow_others(self) -> None:
        """Apply other processes' commits; at once nothing when there are none or a write runs."""
        if self._store.revision() == self._revision or not self._lock.acquire(blocking=False):
            return
        try:
            self.follow()
        finally:
            self._lock.release()

    # -- adding ------------------------------------------------------------------------------------

    def add(
        self,
        records: Iterable[Record],
        *,
        now: float,
        on_conflict: str,
        on_error: str,
        seen: Seen,
    ) -> AddReport:
        """Add records in one transaction: all (less those refused, as ``on_error`` says) or none."""
        batch = Batch(on_conflict=on_conflict, on_error=on_error)
        batch.read(records, self.vectors, now)
        fresh: list[Entry] = []
        updated: list[str] = []
        ids = [entry.memory.id for entry in batch.entries]
        with self._writing(after_events_of=ids) as transaction:
            self._follow(transaction)  # before any write of our own; now every id is known here
            self._lifecycle.require_kinds(entry.memory.kind for entry in batch.entries)
            self._record_width(transaction, batch.entries)
            for entry in batch.entries:
                memory_id = entry.memory.id
                if memory_id not in self._lifecycle.row_of:
                    fresh.append(entry)
                    continue
                held = self._held(transaction, memory_id)
                if on_conflict != "update" or not seen(held):
                    batch.refuse(entry.place, DuplicateId(_exists(held, is_seen=seen(held))))
                else:
                    self._update_existing(transaction, entry, now)
                    updated.append(memory_id)
            sequences = transaction.insert_many(
                [entry.memory for entry in fresh],
                embedding_blobs=[entry.blob for entry in fresh],
            )
            transaction.count_duplicates(sequences)
        return batch.report({entry.memory.id for entry in fresh}.union(updated), updated)

    def _record_width(self, transaction: Transaction, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.blob is not None:
                is_made_here = entry.memory.embedding is None
                self.vectors.record(transaction, entry.width, is_made_here=is_made_here)
                return

    def _update_existing(self, transaction: Transaction, entry: Entry, now: float) -> None:
        changes = validate_changes(
            {
                name: value
                for name, value in entry.given.items()
                if name != "id" and value is not None
            }
        )
        if entry.blob is not None:
            changes["embedding"] = entry.blob
        if "updated_at" not in changes:
            changes["updated_at"] = now
        changes["deleted_at"] = None  # an id that comes again is wanted again
        transaction.update(entry.memory.id, changes)

    # -- changing ----------------------------------------------------------------------------------

    def update(
        self, memory_id: str, given: Mapping[str, object], *, now: float, seen: Seen
    ) -> None:
        """Change fields of one memory; a new text is embedded anew where there is an embedder."""
        changes = validate_changes(given)
        vector = self.vectors.accept(changes.get("embedding"))
        with self._writing(after_events_of=[memory_id]) as transaction:
            held = self._live(transaction, memory_id, seen)
            self._lifecycle.require_kinds([changes.get("kind")])
            if (
                "embedding" not in changes
                and self.vectors.is_present
                and _is_rewritten(held, changes)
            ):
                vector = self._vector_of_changed(held, changes)
                changes["embedding"] = vector
            if vector is not None:
                changes["embedding"] = encoded(vector)
                self.vectors.record(transaction, len(vector), is_made_here="embedding" not in given)
            changes.setdefault("updated_at", now)
            transaction.update(memory_id, changes)

    def _vector_of_changed(
        self, held: StoredMemory, changes: Mapping[str, object]
    ) -> npt.NDArray[np.float32] | None:
        title = changes.get("title", held.title)
        text = changes.get("text", held.text)
        return next(self.vectors.of([f"{title} {text}" if title else str(text)]))

    def delete(self, ids: Sequence[str], *, now: float, seen: Seen) -> int:
        """Soft-delete memories; all or, when one is unknown, none."""
        with self._writing() as transaction:
            for memory_id in ids:
                self._live(transaction, memory_id, seen)
            rows = [(memory_id, {"deleted_at": now}) for memory_id in ids]
            return transaction.update_columns(rows)

    def restore(self, memory_id: str, *, seen: Seen) -> None:
        """Take a soft delete back; of a live memory, nothing."""
        with self._writing() as transaction:
            held = self._known(transaction, memory_id, seen)
            if held.deleted_at is not None:
                transaction.update_columns([(memory_id, {"deleted_at": None})])

    def forget(self, memory_id: str, *, seen: Seen) -> None:
        """Erase a memory for good, out of the log too."""
        with self._writing() as transaction:
            self._known(transaction, memory_id, seen)
            transaction.erase(memory_id)
        self._store.checkpoint()

    def reembed(self, embedder: Embedder) -> int:
        """Replace every vector by the embedder's, in one transaction; returns how many."""
        with self._lock:
            made = TextVectors(embedder, {})
            count = 0
            with self._writing() as transaction:
                for batch in transaction.changes(0, batch=1_000):
                    texts = [embedded_text(memory) for memory in batch]
                    for memory, vector in zip(batch, made.of(texts), strict=True):
                        blob = None
                        if vector is not None:
                            made.dimension = made.dimension or len(vector)
                            blob = encoded(vector)
                        transaction.update_columns([(memory.id, {"embedding": blob})])
                        count += 1
                fresh = TextVectors(embedder, {})
                if made.dimension is not None:
                    fresh.record(transaction, made.dimension, is_made_here=True)
            self.vectors = TextVectors(embedder, self._store.settings())
            return count

    # -- reinforcement -----------------------------------------------------------------------------

    def write_events(self) -> None:
        """Write the reinforcement that the store is owed.

        Raises:
            What an earlier write in the background failed with, if it did.
        """
        self.reinforcing.raise_failure()
        self._write_events()

    def _write_events(self) -> None:
        with self._lock:
            if not self.reinforcing.is_owing():
                return
            with self._store.write() as transaction:
                self._follow(transaction)
                events, changes = self.reinforcing.owed()
                transaction.update_columns(changes)
                transaction.add_sessions(_sessions_of(events))
                revision = transaction.revision
            self.reinforcing.settle(events)
            if changes:
                self._revision = revision  # the columns hold it already

    # -- life --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what waits and stop. What cannot be written is raised, after all is closed."""
        self.reinforcing.close()
        try:
            self._write_events()
        finally:
            self._projections.close()
            self._store.close()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let nothing be written by this process while the block runs, nor anything followed."""
        with self._lock:
            yield

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
                yield transaction
            self.follow()

    def _known(self, transaction: Transaction, memory_id: str, seen: Seen) -> StoredMemory:
        held = self._held(transaction, memory_id)
        if not seen(held):
            raise UnknownMemory(unknown(memory_id))
        return held

    def _held(self, transaction: Transaction, memory_id: str) -> StoredMemory:
        held = transaction.load_stored([memory_id])[0]
        if held is None:
            raise UnknownMemory(unknown(memory_id))
        return held

    def _live(self, transaction: Transaction, memory_id: str, seen: Seen) -> StoredMemory:
        held = self._known(transaction, memory_id, seen)
        if held.deleted_at is not None:
            raise UnknownMemory(unknown(memory_id))
        return held


def unknown(memory_id: str) -> str:
    """The words of an UnknownMemory, the same whether it is absent, deleted or out of scope."""
    return f"id: no memory {memory_id!r}"


def _exists(held: StoredMemory, *, is_seen: bool) -> str:
    if not is_seen:  # of what lies outside a scope, nothing is told
        return f"id: {held.id!r} is taken"
    state = "exists, soft-deleted" if held.deleted_at is not None else "exists"
    return f"id: {held.id!r} {state}; pass on_conflict='update' to change it"


def _is_rewritten(held: StoredMemory, changes: Mapping[str, object]) -> bool:
    return any(
        name in changes and changes[name] != getattr(held, name) for name in ("text", "title")
    )


def _sessions_of(events: Sequence[ReinforcementEvent]) -> list[tuple[str, set[str]]]:
    sessions: dict[str, set[str]] = {}
    for event in events:
        if event.session is not None:
            for memory_id in event.ids:
                sessions.setdefault(memory_id, set()).add(event.session)
    return list(sessions.items())
