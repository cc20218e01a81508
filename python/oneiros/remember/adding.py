"""Records added to the store, or to what it holds of them already: all in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from oneiros.errors import DuplicateId, UnknownMemory
from oneiros.memory import validate_changes
from oneiros.numpy_on_use import np
from oneiros.remember.associating import links_of, raise_alike
from oneiros.remember.batch import AddReport, Batch, Entry
from oneiros.remember.cycles import Cycles
from oneiros.remember.following import uncollected
from oneiros.remember.write_rules import Bounds, exists, keep_spread, restage, unknown
from oneiros.remember.writer_thread import whole_write
from oneiros.store.cells import cells_of
from oneiros.store.embedding_bytes import encoded

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.ranking.ingest import IngestAssociation
    from oneiros.ranking.initial_stability import InitialStability
    from oneiros.store import StoredMemory, Transaction

__all__ = ["Adding"]


class Adding(Cycles):
    """Takes records into the store."""

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

    @whole_write
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
                if name not in ("id", "learned_at") and value is not None
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
        if held.deleted_at is not None:
            changes["learned_at"] = now
        transaction.update(entry.id, changes)

    def _vector_of_changed(
        self, held: StoredMemory, changes: Mapping[str, object]
    ) -> npt.NDArray[np.float32] | None:
        title = changes.get("title", held.title)
        text = changes.get("text", held.text)
        return next(self.vectors.of([f"{title} {text}" if title else str(text)]))

    def _held(self, transaction: Transaction, memory_id: str) -> StoredMemory:
        held = transaction.load_stored([memory_id])[0]
        if held is None:
            raise UnknownMemory(unknown(memory_id))
        return held
