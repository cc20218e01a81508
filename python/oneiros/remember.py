"""The remember path: record -> store (durable) -> columns, lexical index, vector index."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.embedding import TextVectors, encoded
from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.memory import Memory, validate_changes
from oneiros.write_behind import ReinforcementEvent, WriteBehind

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.embedders import Embedder
    from oneiros.projections import Projections
    from oneiros.store import Reading, Store, StoredMemory, Transaction

    Record = Mapping[str, object] | Memory
    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["AddReport", "Remember"]

_REINFORCED = ("access_count", "last_accessed_at", "stability")


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of a batch."""

    ids: list[str]
    """Ids now in the store, in the order of the records; refused ones left out."""
    updated: list[str] = field(default_factory=list)
    """Those of ``ids`` that existed and were updated (``on_conflict="update"``)."""
    repeated: list[str] = field(default_factory=list)
    """Ids that came more than once in the batch; the last of each won."""
    skipped: list[int] = field(default_factory=list)
    """Places in the batch of the records refused (``on_error="skip"`` or ``"collect"``)."""
    failures: list[tuple[int, Exception]] = field(default_factory=list)
    """The place and the error of each of ``skipped`` (``on_error="collect"``)."""


@dataclass(slots=True)
class _Entry:
    """One record on its way in."""

    place: int
    memory: Memory
    given: Mapping[str, object]
    """The fields the caller named: what an update changes."""
    blob: bytes | None = None
    """The embedding, encoded."""
    width: int = 0
    """Its components; 0: there is none."""


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
        # Guards columns and waiting events against each other: an event must never be counted
        # twice or lost when a row is read anew from the store.
        self._event_lock = threading.Lock()
        self._behind = WriteBehind(self.write_events)
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
            with self._event_lock:
                self._projections.apply_columns(batch)
                self._replay({memory.id for memory in batch})
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
        failures: list[tuple[int, Exception]] = []
        entries = self._checked(records, now, on_error, failures)
        entries, repeated = _one_of_each(entries, on_conflict, on_error, failures)
        entries = self._embedded(entries, on_error, failures)
        updated: list[str] = []
        with self._writing() as transaction:
            self._record_width(transaction, entries)
            stored = transaction.load_stored([entry.memory.id for entry in entries])
            fresh = []
            for entry, held in zip(entries, stored, strict=True):
                if held is None:
                    fresh.append(entry)
                elif on_conflict != "update" or not seen(held):
                    error = DuplicateId(_exists(held, is_seen=seen(held)))
                    _refuse(entry.place, error, on_error, failures)
                else:
                    self._update_existing(transaction, entry, now)
                    updated.append(entry.memory.id)
            transaction.insert_many(
                [entry.memory for entry in fresh],
                embedding_blobs=[entry.blob for entry in fresh],
            )
            transaction.count_duplicates([entry.memory.id for entry in fresh])
        stored_ids = {entry.memory.id for entry in fresh}.union(updated)
        return AddReport(
            ids=[entry.memory.id for entry in entries if entry.memory.id in stored_ids],
            updated=updated,
            repeated=repeated,
            skipped=sorted(place for place, _ in failures),
            failures=sorted(failures, key=_place) if on_error == "collect" else [],
        )

    def _checked(
        self,
        records: Iterable[Record],
        now: float,
        on_error: str,
        failures: list[tuple[int, Exception]],
    ) -> list[_Entry]:
        entries = []
        for place, record in enumerate(records):
            try:
                memory = Memory.from_record(record, now=now)
                self.vectors.accept(memory.embedding)
            except (ValueError, TypeError) as error:
                _refuse(place, error, on_error, failures)
                continue
            given = record if isinstance(record, Mapping) else memory.to_record()
            entries.append(_Entry(place, memory, given))
        return entries

    def _embedded(
        self, entries: list[_Entry], on_error: str, failures: list[tuple[int, Exception]]
    ) -> list[_Entry]:
        """Give entries without an embedding one, and every embedding its encoded form."""
        vectors = [entry.memory.embedding for entry in entries]
        if self.vectors.is_present:
            bare = [place for place, vector in enumerate(vectors) if vector is None]
            texts = [_embedded_text(entries[place].memory) for place in bare]
            for place, made in zip(bare, self.vectors.of(texts), strict=True):
                vectors[place] = made
        width = self.vectors.dimension
        kept = []
        for entry, vector in zip(entries, vectors, strict=True):
            if vector is not None:
                width = width or len(vector)
                if len(vector) != width:
                    msg = f"embedding: expected {width} values, as in the same batch, got {len(vector)}"
                    _refuse(entry.place, ValueError(msg), on_error, failures)
                    continue
                entry.blob, entry.width = encoded(vector), width
            kept.append(entry)
        return kept

    def _record_width(self, transaction: Transaction, entries: Sequence[_Entry]) -> None:
        for entry in entries:
            if entry.blob is not None:
                is_made_here = entry.memory.embedding is None
                self.vectors.record(transaction, entry.width, is_made_here=is_made_here)
                return

    def _update_existing(self, transaction: Transaction, entry: _Entry, now: float) -> None:
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
        with self._writing() as transaction:
            held = self._live(transaction, memory_id, seen)
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
                    texts = [_embedded_text(memory) for memory in batch]
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

    def reinforce(self, event: ReinforcementEvent) -> None:
        """Strengthen what a search returned: in the columns now, in the store a little later."""
        with self._event_lock:
            self._strengthen(event, event.ids)
            self._behind.put(event)

    def write_events(self) -> None:
        """Write the waiting reinforcement to the store."""
        with self._lock:
            if not self._behind.waiting():
                return
            with self._store.write() as transaction:
                self._follow(transaction)
                with self._event_lock:
                    events = self._behind.waiting()
                    changes = self._reinforced(events)
                transaction.update_columns(changes)
                transaction.add_sessions(_sessions_of(events))
                revision = transaction.revision
            self._behind.forget_written(len(events))
            if changes:
                self._revision = revision  # the columns hold it already

    def as_reinforced(self, memories: list[Memory | None]) -> list[Memory | None]:
        """Bring what the store holds of memories up to what waits to be written to it."""
        waiting = {memory_id for event in self._behind.waiting() for memory_id in event.ids}
        return [
            self._up_to_date(memory) if memory is not None and memory.id in waiting else memory
            for memory in memories
        ]

    def _up_to_date(self, memory: Memory) -> Memory:
        projections = self._projections
        row = projections.row_of.get(memory.id)
        if row is None:
            return memory
        with self._event_lock:
            columns = projections.columns
            values: dict[str, Any] = {
                name: columns.view(name=name)[row].item()
                for name in (*_REINFORCED, "session_spread")
            }
            return replace(memory, sessions=projections.sessions_of(row), **values)

    def _reinforced(
        self, events: Sequence[ReinforcementEvent]
    ) -> list[tuple[str, dict[str, object]]]:
        columns, row_of = self._projections.columns, self._projections.row_of
        ids = [i for i in dict.fromkeys(i for event in events for i in event.ids) if i in row_of]
        rows = np.array([row_of[memory_id] for memory_id in ids], np.uint32)
        values = [columns.view(name=name)[rows].tolist() for name in _REINFORCED]
        return [
            (memory_id, dict(zip(_REINFORCED, row, strict=True)))
            for memory_id, row in zip(ids, zip(*values, strict=True), strict=True)
        ]

    def _replay(self, ids: set[str]) -> None:
        """Reinforce again what was just read from a store that does not know it yet."""
        for event in self._behind.waiting():
            again = [memory_id for memory_id in event.ids if memory_id in ids]
            if again:
                self._strengthen(event, again)

    def _strengthen(self, event: ReinforcementEvent, ids: Sequence[str]) -> None:
        projections = self._projections
        rows = [row for i in ids if (row := projections.row_of.get(i)) is not None]
        if not rows:
            return
        numbers = np.array(rows, np.uint32)
        spread = projections.columns.view(name="session_spread")[numbers]
        if event.session is not None:
            sizes = [projections.remember_session(row, event.session) for row in rows]
            spread = np.maximum(spread, np.array(sizes, np.uint32))
        projections.columns.reinforce(
            rows=numbers,
            now_seconds=event.now,
            session_spread=spread,
            gain=event.rule.gain,
            span_days=event.rule.span_days,
            limit=event.rule.limit,
        )

    # -- life --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what waits and stop. What cannot be written is raised, after all is closed."""
        self._behind.close()
        try:
            self.write_events()
        finally:
            self._projections.close()
            self._store.close()

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let nothing be written by this process while the block runs, nor anything followed."""
        with self._lock:
            yield

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self._lock:
            with self._store.write() as transaction:
                yield transaction
            self.follow()

    def _known(self, transaction: Transaction, memory_id: str, seen: Seen) -> StoredMemory:
        held: StoredMemory | None = transaction.load_stored([memory_id])[0]
        if held is None or not seen(held):
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


def _place(failure: tuple[int, Exception]) -> int:
    return failure[0]


def _refuse(
    place: int, error: Exception, on_error: str, failures: list[tuple[int, Exception]]
) -> None:
    error.add_note(f"record {place} of the batch")
    if on_error == "raise":
        raise error
    failures.append((place, error))


def _one_of_each(
    entries: list[_Entry],
    on_conflict: str,
    on_error: str,
    failures: list[tuple[int, Exception]],
) -> tuple[list[_Entry], list[str]]:
    """Keep one entry an id: the last when updating, else the first, the others refused."""
    kept: dict[str, _Entry] = {}
    repeated: list[str] = []
    for entry in entries:
        memory_id = entry.memory.id
        first = kept.get(memory_id)
        if first is not None and on_conflict != "update":
            msg = f"id: {memory_id!r} comes twice in the batch (records {first.place}"
            _refuse(entry.place, DuplicateId(f"{msg} and {entry.place})"), on_error, failures)
            continue
        if first is not None:
            repeated.append(memory_id)
        kept[memory_id] = entry
    return list(kept.values()), list(dict.fromkeys(repeated))


def _embedded_text(memory: Memory | StoredMemory) -> str:
    return f"{memory.title} {memory.text}" if memory.title else memory.text


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


def everything(_memory: Any) -> bool:
    """The scope that sees all."""
    return True
