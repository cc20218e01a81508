"""Adds records to the store in one transaction, with links. Source: docs/systems/cognitive.md C17, C18."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeGuard, TypeVar

from oneiros import filters
from oneiros._lazy import np
from oneiros.errors import DuplicateId
from oneiros.index.indexes import AnalysisAhead
from oneiros.model.fields import ENUMS
from oneiros.model.memory import repeatable, validate_changes
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store import KINDS, StoredLink
from oneiros.store.columns import INSERTED_AT_ONCE
from oneiros.store.rows import cells_of, decoded_embeddings, encoded_embedding
from oneiros.write.background import whole_write
from oneiros.write.batch import AddBatch, columns_of
from oneiros.write.rules import (
    drops_own_vector,
    exists,
    held_in,
    is_rewritten,
    keep_spread,
    merge_metadata,
    replacing,
    require_no_circle,
    restage,
    settle_status,
    warm,
)
from oneiros.write.sync import Uncollected
from oneiros.write.vectors import MadeVectors, titled

if TYPE_CHECKING:
    from oneiros.index import ReadModel
    from oneiros.scoring.ingest import IngestAssociation
    from oneiros.store import StoredMemory, Transaction
    from oneiros.store.rows import Cells
    from oneiros.write.batch import AddReport, Entry, RecordColumns
    from oneiros.write.embed import Embedding
    from oneiros.write.rules import AddRules
    from oneiros.write.sync import Sync

__all__ = ["AddedOne", "Adding"]


_QUARANTINED: Final = ENUMS["status"].index("quarantined")
_INGEST: Final = KINDS.index("ingest")
_MOST_RAISED: Final = 100  # memories raised per new memory: the nearest


def _links_within(fresh: RecordColumns, rule: IngestAssociation, now: float) -> list[StoredLink]:
    """Return the links between new memories of one session, without quarantined ones."""
    sessions: dict[str | None, list[tuple[str, bytes]]] = {}
    for memory_id, session, blob in zip(
        fresh["id"], fresh["session"], _consulted_vectors(fresh), strict=True
    ):
        if blob is not None:
            sessions.setdefault(session, []).append((memory_id, blob))
    links = []
    for members in sessions.values():
        for start in range(0, len(members), rule.together):
            ids, blobs = zip(*members[start : start + rule.together], strict=True)
            matrix = decoded_embeddings(blobs).astype(np.float64)
            weights = np.triu(rule.weights(matrix @ matrix.T), 1)
            links += [
                StoredLink(
                    ids[first], ids[second], _INGEST, float(weights[first, second]), now, None
                )
                for first, second in np.argwhere(weights > 0).tolist()
            ]
    return links


def _consulted_vectors(fresh: RecordColumns) -> Sequence[bytes | None]:
    """Return the encoded vectors of new memories, None for a quarantined one."""
    return [
        None if status == _QUARANTINED else blob
        for status, blob in zip(fresh["status"], fresh["embedding"], strict=True)
    ]


def _to_count(sequences: range, bringing_counts: Sequence[bool]) -> Iterator[range]:
    """Yield the runs of new memories that are counted where they repeat older ones."""
    start = 0
    for brings, run in groupby(bringing_counts):
        end = start + sum(1 for _ in run)
        if not brings:
            yield sequences[start:end]
        start = end


def _raise_alike(
    transaction: Transaction,
    read_model: ReadModel,
    blobs: Sequence[bytes | None],
    rule: IngestAssociation,
    within: Mapping[str, str],
) -> None:
    """Raise the stability of existing memories that are similar to new ones.

    Args:
        transaction: not yet applied to the read model, which holds only the existing memories.
        read_model: the indexes to search.
        blobs: the embeddings of the new memories, encoded.
        rule: decides which memories are similar, and by how much to raise them.
        within: the fields of the caller's scope; memories outside it are not changed.
    """
    index = read_model.indexes.vectors
    found = [blob for blob in blobs if blob is not None]
    if not index or not found or not rule.raised_by:
        return
    allowed = None
    if within or read_model.row_sets.has_quarantined:
        rows = read_model.row_sets.consulted(filters.where(**within))  # type: ignore[arg-type]
        allowed = filters.allowed_bits(rows, len(read_model.lifecycle.ids))
    near: Counter[int] = Counter()
    for hits in index.search_many(decoded_embeddings(found), _MOST_RAISED, allowed, threads=1):
        near.update(hits.rows[hits.scores > rule.above_cosine].tolist())
    ids = read_model.lifecycle.ids
    times = {id: count for row, count in near.items() if (id := ids[row])}
    # Raised from the stored values; reinforcement that waits to be written comes on top later.
    changes = []
    for memory in transaction.load_stored(list(times)):
        if memory is not None:
            raised = float(np.float32(rule.raised(memory.stability, times[memory.id])))
            if raised != memory.stability:
                changes.append((memory.id, {"stability": raised}))
    if changes:
        transaction.update_columns(changes)


Item = TypeVar("Item")

_BETWEEN_LOOKS: Final = 2_000
_FEWEST_AHEAD: Final = 1_000  # new memories from which analysing texts on a thread pays off


class AddedOne(NamedTuple):
    """The outcome of adding one record."""

    id: str
    revision: int
    """The store's revision that was committed."""
    is_new: bool = True
    """False: an existing memory was updated or replaced."""


class Adding:
    """Adds records to the store."""

    def __init__(self, sync: Sync, embedding: Embedding) -> None:
        self._sync = sync
        self._embedding = embedding
        self.writer = sync.writer

    def add_one(self, record: Mapping[str, object], rules: AddRules) -> AddedOne:
        """Add one record.

        A new memory that affects no other one is stored by one call of the core, in its transaction.
        """
        if rules.takes_existing:
            self._sync.apply_own()  # so that all existing memories are known
        record = repeatable(record)
        vectors = self._sync.vectors
        made = MadeVectors(vectors) if vectors.is_present else None
        found = self._add_at_once(record, rules, made)
        if found is not None:
            return AddedOne(found["id"], found["revision"])
        report = self.add((record,), rules, made, names_records=False)
        return AddedOne(report.ids[0], self.writer.committed, not report.updated)

    def _add_at_once(
        self, record: Mapping[str, object], rules: AddRules, made: MadeVectors | None
    ) -> Cells | None:
        """Return the cells of the memory stored, or None, with nothing stored and no error raised."""
        sync = self._sync
        try:
            values, _ = rules.checked(record)
        except (ValueError, TypeError):
            return None
        memory_id: str = values["id"]
        if (
            "superseded_by" in values
            or not sync.lifecycle.has_kind(values.get("kind", "note"))
            or memory_id in sync.lifecycle.row_of  # a damaged index may not find it
        ):
            return None
        embedding = values.get("embedding")
        blob, width, maker = None, 0, None
        if embedding is not None:
            blob, width = encoded_embedding(embedding), len(embedding)
        elif made is not None:
            text = titled(values.get("title", ""), values["text"])
            made.make([text])
            (blob, width), maker = made.of(text), made
        last_revision = sync.revision  # the commit that the checks below refer to
        if width and (rules.ingest is not None or not sync.vectors.are_recorded_by(maker, width)):
            return None
        cells = cells_of(values)
        if blob is not None:
            cells["embedding"] = blob
        return cells if sync.insert_one(cells, last_revision) else None

    def add(
        self,
        records: Iterable[object],
        rules: AddRules,
        made: MadeVectors | None = None,
        *,
        names_records: bool = True,
    ) -> AddReport:
        """Add all records (less those that ``on_error`` refuses) in one transaction, or none.

        Args:
            records: mappings or memories.
            rules: of the call.
            made: vectors of some of the texts.
            names_records: whether errors get a note with the position of their record.
        """
        batch = AddBatch(rules, self._sync.vectors, names_records=names_records)
        with Uncollected():
            batch.read(records)
        is_small = rules.ingest is not None and len(batch) <= rules.ingest.most_records
        if not (is_small if rules.links is None else rules.links):
            rules = rules._replace(ingest=None)

        def write(made: MadeVectors) -> AddReport:
            with Uncollected():
                return self._add(batch, made, rules)

        return self._embedding.written(self._texts_of(batch, rules), write, made)

    def _texts_of(self, batch: AddBatch, rules: AddRules) -> list[str]:
        """Return the texts to embed that are known before the transaction."""
        if not self._sync.vectors.is_present:
            return []
        if batch.columns is not None and batch.columns.width:
            return []  # every record has a vector
        batch.read_by_row()
        existing: dict[str, StoredMemory] = {}
        if rules.takes_existing:
            self._sync.apply_own()
        if rules.on_conflict == "update":
            bare = [entry.id for entry in batch.entries if entry.blob is None]
            with self._sync.store.read() as reading:
                ids = [id for id in bare if id in self._sync.lifecycle.row_of]
                known = reading.load_stored(ids, self._sync.numbers_of(ids))
            existing = {memory.id: memory for memory in known if memory is not None}
        texts = (_text_to_embed(entry, existing.get(entry.id)) for entry in batch.entries)
        return [text for text in texts if text is not None]

    @whole_write
    def _add(self, batch: AddBatch, made: MadeVectors, rules: AddRules) -> AddReport:
        try:
            report = self._stored(batch, made, rules)
        except BaseException:
            self._end_analysis(is_stored=False)
            raise
        self._end_analysis(is_stored=True)
        return report

    def _stored(self, batch: AddBatch, made: MadeVectors, rules: AddRules) -> AddReport:
        sync = self._sync
        updated: list[str] = []
        has_dropped = False
        with sync.writing(after_events_of=batch.ids) as transaction:
            fresh: RecordColumns | None
            if self._are_new(batch.columns):
                fresh = batch.columns
                sync.lifecycle.require_kinds(set(fresh["kind"]))
                if fresh.width:
                    sync.vectors.record(transaction, fresh.width, is_made_here=False)
            else:
                batch.read_by_row()
                fresh, updated, has_dropped = self._settle(batch, transaction, made, rules)
            if fresh is not None:
                if len(fresh) >= _FEWEST_AHEAD:
                    indexes = sync.read_model.indexes
                    indexes.analysis_ahead = AnalysisAhead(indexes.lexical, fresh, INSERTED_AT_ONCE)
                sequences = transaction.insert_columns(fresh.varying, fresh.shared)
                for run in _to_count(sequences, fresh.bringing_counts):
                    transaction.count_duplicates(run, within=rules.bounds.fields)
                if rules.ingest is not None:
                    if new_links := _links_within(fresh, rules.ingest, rules.now):
                        transaction.set_links(new_links)
                    _raise_alike(
                        transaction,
                        sync.read_model,
                        _consulted_vectors(fresh),
                        rules.ingest,
                        rules.bounds.fields,
                    )
        sync.has_dropped_vectors |= has_dropped
        return batch.report([] if fresh is None else fresh["id"], updated)

    def _end_analysis(self, *, is_stored: bool) -> None:
        indexes = self._sync.read_model.indexes
        ahead, indexes.analysis_ahead = indexes.analysis_ahead, None
        if ahead is not None:
            ahead.end()
            if not is_stored:
                indexes.has_erased = True  # the snapshot must not hold words that were never stored

    def _are_new(self, columns: RecordColumns | None) -> TypeGuard[RecordColumns]:
        """Return whether all records can be inserted without changes."""
        if columns is None or (self._sync.vectors.is_present and not columns.width):
            return False
        if columns.width and self._sync.vectors.dimension not in (None, columns.width):
            return False
        return not any(
            map(self._sync.lifecycle.row_of.__contains__, self._while_wanted(columns["id"]))
        )

    def _settle(
        self, batch: AddBatch, transaction: Transaction, made: MadeVectors, rules: AddRules
    ) -> tuple[RecordColumns | None, list[str], bool]:
        """Update the existing memories of a batch.

        Returns:
            The new memories, None for none; the ids of the updated ones; and whether a vector given
            by the user was dropped.
        """
        seen = rules.bounds.seen
        ids = batch.ids
        row_of = self._sync.lifecycle.row_of
        known = {
            memory_id: held_in(transaction, memory_id)
            for memory_id in self._while_wanted(ids)
            if memory_id in row_of
        }
        wanted: list[str | None] = [None] * len(ids)
        if self._sync.vectors.is_present:
            unchanged = known if rules.on_conflict == "update" else {}
            wanted = [
                _text_to_embed(entry, unchanged.get(entry.id))
                for entry in self._while_wanted(batch.entries)
            ]
            made.require((text for text in wanted if text is not None), self._sync.vectors)
        batch.place_vectors(wanted, made, self._sync.vectors.dimension)
        self._sync.lifecycle.require_kinds(
            {entry.values.get("kind", "note") for entry in batch.entries}
        )
        self._record_width(transaction, batch.entries)
        fresh: list[Entry] = []
        changed: list[tuple[Entry, StoredMemory]] = []
        for entry in self._while_wanted(batch.entries):
            memory_id = entry.id
            existing = known.get(memory_id)
            if existing is None:
                fresh.append(entry)
            elif not rules.takes_existing or not seen(existing):
                batch.refuse(entry.place, DuplicateId(exists(existing, is_seen=seen(existing))))
            elif existing.deleted_at is not None:
                # Only restore() brings a deleted memory back; this one is a new memory that
                # supersedes nothing.
                transaction.erase(memory_id)
                fresh.append(entry)
            else:
                changed.append((entry, existing))
        changed = self._without_circles(batch, transaction, changed, rules)
        has_dropped = False
        for entry, existing in changed:  # last, as they may name a memory that was erased above
            if rules.on_conflict == "replace":
                changes = replacing(entry.values) | {"embedding": entry.blob}
                transaction.update(entry.id, changes)
            else:
                has_dropped |= self._update_existing(transaction, entry, existing, rules)
        found = columns_of(list(self._while_wanted(fresh)))
        return found, [entry.id for entry, _ in changed], has_dropped

    def _without_circles(
        self,
        batch: AddBatch,
        transaction: Transaction,
        changed: Sequence[tuple[Entry, StoredMemory]],
        rules: AddRules,
    ) -> list[tuple[Entry, StoredMemory]]:
        """Refuse the updates by which a memory would supersede itself; return the others."""
        keeps = rules.on_conflict == "update"  # the successor, where the record names none
        named: dict[str, str | None] = {
            entry.id: entry.values.get("superseded_by") for entry in batch.entries
        }
        for entry, existing in changed if keeps else ():
            if named[entry.id] is None:
                named[entry.id] = existing.superseded_by
        left = []
        for entry, existing in self._while_wanted(changed):
            try:
                require_no_circle(transaction, existing, named[entry.id], named)
            except ValueError as error:
                named[entry.id] = existing.superseded_by
                batch.refuse(entry.place, error)
                continue
            left.append((entry, existing))
        return left

    def _while_wanted(self, items: Sequence[Item]) -> Iterable[Item]:
        """Yield items in turn, and end the write if its caller was interrupted meanwhile."""
        if len(items) > _BETWEEN_LOOKS:
            return self._looking(items)
        self.writer.require_wanted()
        return items

    def _looking(self, items: Sequence[Item]) -> Iterator[Item]:
        for start in range(0, len(items), _BETWEEN_LOOKS):
            self.writer.require_wanted()
            yield from items[start : start + _BETWEEN_LOOKS]

    def _record_width(self, transaction: Transaction, entries: Sequence[Entry]) -> None:
        widths = {entry.width for entry in entries if entry.width}
        if widths:
            is_made_here = any(entry.is_made_here for entry in entries)
            self._sync.vectors.record(transaction, widths.pop(), is_made_here=is_made_here)

    def _update_existing(
        self, transaction: Transaction, entry: Entry, existing: StoredMemory, rules: AddRules
    ) -> bool:
        """Update a memory; return whether that dropped a vector given by the user."""
        changes = validate_changes(
            {
                name: value
                for name, value in entry.given.items()
                if name not in ("id", "learned_at") and value is not None
            }
        )
        if changes.get("namespace") == rules.bounds.fields.get("namespace"):
            changes.pop("namespace", None)  # the scope's own: a memory below it stays there
        is_dropped = False
        if entry.blob is not None:
            changes["embedding"] = entry.blob
        elif is_rewritten(existing, changes):
            changes["embedding"] = None  # the old vector belongs to the old text
            is_dropped = drops_own_vector(existing, self._sync.vectors.recorded_name)
        if rules.merges_metadata:
            merge_metadata(existing, changes)
        warm(existing, changes)
        keep_spread(existing, changes)
        restage(existing, changes)
        settle_status(existing, changes)
        changes.setdefault("updated_at", rules.now)
        transaction.update(entry.id, changes)
        return is_dropped


def _text_to_embed(entry: Entry, existing: StoredMemory | None) -> str | None:
    """Return the text whose vector a record needs.

    Args:
        entry: of the batch.
        existing: the memory with its id, to be updated unless deleted; None if there is none.

    Returns:
        None if the record has a vector, or leaves the text of a memory with a vector unchanged.
    """
    if entry.values.get("embedding") is not None:
        return None
    text: str = entry.values["text"]
    if existing is None or existing.deleted_at is not None:
        return titled(entry.values.get("title", ""), text)
    given = entry.given.get("title")
    title = existing.title if given is None else str(given)
    changes = {"text": text, "title": title}
    return (
        titled(title, text)
        if existing.embedding is None or is_rewritten(existing, changes)
        else None
    )
