"""The remember path: record -> store (durable) -> columns, lexical index, vector index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.fields import ENUMS
from oneiros.memory import validate_changes
from oneiros.numpy_on_use import np
from oneiros.remember.associating import links_of, raise_alike
from oneiros.remember.batch import AddReport, Batch, Entry, embedded_text
from oneiros.remember.cycles import Cycles
from oneiros.remember.in_step import uncollected
from oneiros.remember.text_vectors import TextVectors
from oneiros.remember.write_rules import (
    Bounds,
    exists,
    is_rewritten,
    is_superseded_by,
    keep_spread,
    restage,
    unknown,
)
from oneiros.store.cells import cells_of
from oneiros.store.embedding_bytes import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.embedders import Embedder
    from oneiros.memory import Memory
    from oneiros.ranking.ingest import IngestAssociation
    from oneiros.ranking.initial_stability import InitialStability
    from oneiros.scopes import Where
    from oneiros.store import StoredLink, StoredMemory, Transaction

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["Remember"]

_ARCHIVED: Final = ENUMS["status"].index("archived")


class Remember(Cycles):
    """Writes to the store and keeps the projections in step, one writer at a time."""

    # -- adding ------------------------------------------------------------------------------------

    def add(
        self,
        records: Iterable[object],
        *,
        now: float,
        on_conflict: str,
        on_error: str,
        bounds: Bounds,
        initial_stability: InitialStability | None = None,
        ingest: IngestAssociation | None = None,
        links: bool | None = None,
    ) -> AddReport:
        """Add records in one transaction: all (less those refused, as ``on_error`` says) or none.

        Args:
            records: mappings or memories.
            now: for what they leave out.
            on_conflict: "raise" or "update".
            on_error: "raise", "skip" or "collect".
            bounds: what the caller may touch.
            initial_stability: of what comes without one; None: the field's default.
            ingest: how new memories are linked and raise others; None: not at all.
            links: False: not at all; True: also in batches that are larger than the rule's.
        """
        batch = Batch(
            on_conflict=on_conflict, on_error=on_error, initial_stability=initial_stability
        )
        with uncollected():
            batch.read(records, self.vectors, now, bounds.inside)
            is_small = ingest is not None and len(batch.entries) <= ingest.most_records
            rule = ingest if links or (links is None and is_small) else None
            return self._add(batch, now=now, on_conflict=on_conflict, bounds=bounds, ingest=rule)

    def _add(
        self,
        batch: Batch,
        *,
        now: float,
        on_conflict: str,
        bounds: Bounds,
        ingest: IngestAssociation | None,
    ) -> AddReport:
        seen = bounds.seen
        fresh: list[Entry] = []
        updated: list[str] = []
        ids = [entry.id for entry in batch.entries]
        with self._writing(after_events_of=ids) as transaction:
            batch.refuse_what_no_longer_fits(self.vectors)
            self._lifecycle.require_kinds(
                {entry.values.get("kind", "note") for entry in batch.entries}
            )
            self._record_width(transaction, batch.entries)
            for entry in batch.entries:
                memory_id = entry.id
                if memory_id not in self._lifecycle.row_of:
                    fresh.append(entry)
                    continue
                held = self._held(transaction, memory_id)
                if on_conflict != "update" or not seen(held):
                    batch.refuse(entry.place, DuplicateId(exists(held, is_seen=seen(held))))
                else:
                    self._update_existing(transaction, entry, held, now)
                    updated.append(memory_id)
            sequences = transaction.insert_cells(
                [cells_of(entry.values) for entry in fresh], [entry.blob for entry in fresh]
            )
            transaction.count_duplicates(sequences, within=bounds.fields)
            if ingest is not None:
                made = links_of(fresh, ingest, now)
                if made:
                    transaction.set_links(made)
                raise_alike(transaction, self._projections, fresh, ingest, bounds.fields)
        return batch.report({entry.id for entry in fresh}.union(updated), updated)

    def _record_width(self, transaction: Transaction, entries: Sequence[Entry]) -> None:
        widths = {entry.width for entry in entries if entry.width}
        if widths:
            is_made_here = any(entry.is_made_here for entry in entries)
            self.vectors.record(transaction, widths.pop(), is_made_here=is_made_here)

    def _update_existing(
        self, transaction: Transaction, entry: Entry, held: StoredMemory, now: float
    ) -> None:
        changes = validate_changes(
            {
                name: value
                for name, value in entry.given.items()
                if name != "id" and value is not None
            }
        )
        if entry.is_made_here and held.title and "title" not in changes:
            vector = self._vector_of_changed(held, changes)  # the title stays, and speaks too
            changes["embedding"] = None if vector is None else encoded(vector)
        elif entry.blob is not None:
            changes["embedding"] = entry.blob
        keep_spread(held, changes)
        restage(held, changes)
        changes.setdefault("updated_at", now)
        changes["deleted_at"] = None  # an id that comes again is wanted again
        transaction.update(entry.id, changes)

    # -- changing ----------------------------------------------------------------------------------

    def update(
        self, memory_id: str, given: Mapping[str, object], *, now: float, seen: Seen
    ) -> None:
        """Change fields of one memory; a new text is embedded anew where there is an embedder."""
        changes = validate_changes(given)
        with self._writing(after_events_of=[memory_id]) as transaction:
            vector = self.vectors.accept(changes.get("embedding"))
            held = self._live(transaction, memory_id, seen)
            keep_spread(held, changes)
            restage(held, changes)
            self._lifecycle.require_kinds([changes.get("kind")])
            if (
                "embedding" not in changes
                and self.vectors.is_present
                and is_rewritten(held, changes)
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

    def feedback(self, memory_id: str, verdict: str, *, now: float, seen: Seen) -> None:
        """Record a verdict on a memory, and add it to its ``feedback``."""
        with self._writing() as transaction:
            self._live(transaction, memory_id, seen)
            transaction.feedback(memory_id, verdict, now)

    def supersede(self, old: str, new: str, reason: str, *, now: float, seen: Seen) -> None:
        """Mark a memory as superseded by another, when and why."""
        with self._writing() as transaction:
            held = self._live(transaction, old, seen)
            if is_superseded_by(transaction, self._live(transaction, new, seen), old):
                msg = f"new: must not be superseded by old, {old!r}, itself, got {new!r}"
                raise ValueError(msg)
            metadata = held.metadata | {"superseded_at": now}
            metadata.pop("superseded_reason", None)
            if reason:
                metadata["superseded_reason"] = reason
            changes = validate_changes({"superseded_by": new, "metadata": metadata})
            transaction.update_columns([(old, changes)])

    def pin(self, memory_id: str, *, pinned: bool, seen: Seen) -> None:
        """Pin a memory or let it go; of one that is so already, nothing."""
        with self._writing() as transaction:
            if self._live(transaction, memory_id, seen).pinned != pinned:
                transaction.update_columns([(memory_id, {"pinned": pinned})])

    def link(self, links: Sequence[StoredLink], *, seen: Seen) -> None:
        """Link pairs of memories, or make the link of the two what it says: all or none."""
        ids = list(dict.fromkeys(id for link in links for id in (link.one, link.other)))
        with self._writing(after_events_of=ids) as transaction:
            for memory_id in ids:
                self._live(transaction, memory_id, seen)
            transaction.set_links(links)

    def unlink(self, one: str, other: str, *, seen: Seen) -> bool:
        """Take the link of two memories away; returns whether there was one."""
        with self._writing(after_events_of=(one, other)) as transaction:
            for memory_id in (one, other):
                self._live(transaction, memory_id, seen)
            return transaction.remove_link(one, other)

    def delete(self, memory_id: str, *, now: float, seen: Seen) -> None:
        """Soft-delete a memory."""
        with self._writing() as transaction:
            self._live(transaction, memory_id, seen)
            transaction.update_columns([(memory_id, {"deleted_at": now})])

    def delete_matching(self, where: Where | None, *, now: float) -> int:
        """Soft-delete all that match now, whoever wrote it; returns how many."""
        with self._writing() as transaction:
            ids = self._lifecycle.ids
            rows = self._projections.row_sets.matching(where)
            return transaction.update_columns([(ids[row], {"deleted_at": now}) for row in rows])

    def set_columns(self, changes: Callable[[], Iterable[tuple[str, Mapping[str, object]]]]) -> int:
        """Set fields as they are given, in one transaction; returns of how many memories.

        Args:
            changes: called inside it, when all that others wrote is in the columns; gives id and
                values as a memory holds them.
        """
        with self._writing() as transaction:
            return transaction.update_columns(changes())

    def restore(self, memory_id: str, *, seen: Seen) -> None:
        """Take a soft delete back, and an archiving; of another live memory, nothing."""
        with self._writing() as transaction:
            held = self._known(transaction, memory_id, seen)
            changes: dict[str, object] = {}
            if held.deleted_at is not None:
                changes["deleted_at"] = None
            if held.status == _ARCHIVED:
                changes["status"] = "consolidated"
            if changes:
                transaction.update_columns([(memory_id, changes)])

    def forget(self, memory_id: str, *, seen: Seen) -> None:
        """Erase a memory for good, out of the log too."""
        with self._writing() as transaction:
            self._known(transaction, memory_id, seen)
            transaction.erase(memory_id)
        self._snapshot.remove()
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
                made.record_anew(transaction)
            self.vectors = TextVectors(embedder, self._store.settings())
            return count

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
