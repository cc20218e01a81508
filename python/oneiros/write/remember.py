"""Writes a record to the store (durable), then to the columns, lexical index and vector index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from oneiros import write
from oneiros.errors import UnknownMemory
from oneiros.model.fields import ENUMS
from oneiros.model.memory import validate_changes
from oneiros.store.rows import WARM, encoded_embedding
from oneiros.write.add import Adding
from oneiros.write.background import whole_write
from oneiros.write.cycles import CycleWriter
from oneiros.write.embed import Embedding
from oneiros.write.rules import (
    drops_own_vector,
    end_supersession,
    held_in,
    is_rewritten,
    keep_spread,
    leads_to,
    merge_metadata,
    require_no_circle,
    restage,
    settle_status,
    unknown,
    warm,
)
from oneiros.write.sync import Sync
from oneiros.write.vectors import titled

if TYPE_CHECKING:
    from collections.abc import Callable

    from oneiros.filters import Where
    from oneiros.model.memory import Memory
    from oneiros.scoring.selection import Selection
    from oneiros.store import StoredLink, StoredMemory, Transaction
    from oneiros.write.erase import Erasing
    from oneiros.write.vectors import MadeVectors

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["Remember"]

_ARCHIVED: Final = ENUMS["status"].index("archived")
_COLD: Final = ENUMS["tier"].index("cold")


class Remember:
    """Writes to the store and keeps the read model in sync, one writer at a time."""

    def __init__(self, sync: Sync) -> None:
        self.sync = sync
        self.writer = sync.writer
        self.embedding = Embedding(sync)
        self.adding = Adding(sync, self.embedding)
        self.cycles = CycleWriter(sync)

    @property
    def erasing(self) -> Erasing:
        """Erases memories for good."""
        return write.erase.Erasing(self.sync)

    def update(
        self,
        memory_id: str,
        given: Mapping[str, object],
        *,
        now: float,
        seen: Seen,
        merges_metadata: bool = False,
    ) -> None:
        """Change fields of a memory; a changed text gets a new vector, or none without embedder."""
        changes = validate_changes(given)
        texts: list[str] = []
        if self.sync.vectors.is_present and not changes.keys().isdisjoint(("text", "title")):
            with self.sync.store.read() as reading:
                (memory,) = reading.load_stored([memory_id], self.sync.numbers_of([memory_id]))
            if memory is not None and (text := _text_to_embed(memory, changes)) is not None:
                texts.append(text)

        def write(made: MadeVectors) -> None:
            self._update(
                memory_id,
                dict(changes),
                made,
                now=now,
                seen=seen,
                merges_metadata=merges_metadata,
            )

        self.embedding.written(texts, write)

    @whole_write
    def _update(
        self,
        memory_id: str,
        changes: dict[str, object],
        made: MadeVectors,
        *,
        now: float,
        seen: Seen,
        merges_metadata: bool,
    ) -> None:
        with self.sync.writing(after_events_of=[memory_id]) as transaction:
            is_dropped = False
            vector = self.sync.vectors.accept(changes.get("embedding"))
            memory = self._live(transaction, memory_id, seen)
            text = _text_to_embed(memory, changes)
            if vector is not None:
                changes["embedding"] = encoded_embedding(vector)
                self.sync.vectors.record(transaction, len(vector), is_made_here=False)
            elif text is not None:
                changes["embedding"] = None  # the old vector belongs to the old text
                if not self.sync.vectors.is_present:
                    is_dropped = drops_own_vector(memory, self.sync.vectors.recorded_name)
                else:
                    made.require([text], self.sync.vectors)
                    changes["embedding"], width = made.of(text)
                    if width:
                        self.sync.vectors.require_width(width)
                        self.sync.vectors.record(transaction, width, is_made_here=True)
            require_no_circle(transaction, memory, changes.get("superseded_by"))
            end_supersession(memory, changes, merges_metadata=merges_metadata)
            warm(memory, changes)
            if merges_metadata:
                merge_metadata(memory, changes)
            keep_spread(memory, changes)
            restage(memory, changes)
            settle_status(memory, changes)
            self.sync.lifecycle.require_kinds([changes.get("kind")])
            changes.setdefault("updated_at", now)
            transaction.update(memory_id, changes)
        self.sync.has_dropped_vectors |= is_dropped

    @whole_write
    def merge_metadata_matching(
        self, where: Where | None, patch: Mapping[str, object], *, now: float
    ) -> list[str]:
        """Merge metadata into that of all memories that match now; return their ids."""
        (checked,) = validate_changes({"metadata": patch}).values()
        with self.sync.writing() as transaction:
            rows = self.sync.read_model.row_sets.matching(where)
            ids = [self.sync.lifecycle.ids[row] for row in rows]
            for id in ids:
                changes: dict[str, object] = {"metadata": checked, "updated_at": now}
                merge_metadata(held_in(transaction, id), changes)
                transaction.update(id, changes)
            return ids

    def feedback(
        self,
        memory_id: str,
        verdict: str,
        question: Callable[[], bytes | None] | None,
        *,
        now: float,
        seen: Seen,
    ) -> None:
        """Record a verdict on a memory, and add it to its ``feedback``.

        Args:
            memory_id: the memory.
            verdict: the verdict.
            question: returns the stored form of its question; called before the write, and again if
                the store's vectors are another embedder's by then. None: it has no question.
            now: the time of the verdict.
            seen: whether the caller may see a memory.
        """
        while True:
            vectors = self._vectors_now()
            if self._feedback(
                memory_id, verdict, question and question(), vectors, now=now, seen=seen
            ):
                return

    @whole_write
    def _feedback(
        self,
        memory_id: str,
        verdict: str,
        question: bytes | None,
        vectors: tuple[object, ...],
        *,
        now: float,
        seen: Seen,
    ) -> bool:
        with self.sync.writing() as transaction:
            self._live(transaction, memory_id, seen)
            is_current = question is None or self._vectors_now() == vectors
            if is_current:
                transaction.feedback(memory_id, verdict, now, question=question)
        return is_current

    def _vectors_now(self) -> tuple[object, ...]:
        """Return what is equal for vectors that can be compared."""
        vectors = self.sync.vectors
        return vectors, vectors.recorded_name, vectors.dimension

    @whole_write
    def supersede(self, old: str, new: str, reason: str, *, now: float, seen: Seen) -> None:
        """Mark a memory as superseded by another, with time and reason."""
        with self.sync.writing() as transaction:
            memory = self._live(transaction, old, seen)
            if leads_to(transaction, self._live(transaction, new, seen).id, old):
                msg = f"new: must not be superseded by old, {old!r}, itself, got {new!r}"
                raise ValueError(msg)
            metadata = memory.metadata | {"superseded_at": now}
            metadata.pop("superseded_reason", None)
            if reason:
                metadata["superseded_reason"] = reason
            changes = validate_changes({"superseded_by": new, "metadata": metadata})
            transaction.update_columns([(old, changes)])

    @whole_write
    def pin(self, memory_id: str, *, pinned: bool, seen: Seen) -> bool:
        """Pin or unpin a memory; return whether that changed it."""
        with self.sync.writing() as transaction:
            is_changed = bool(self._live(transaction, memory_id, seen).pinned) is not pinned
            if is_changed:
                transaction.update_columns([(memory_id, {"pinned": pinned})])
            return is_changed

    @whole_write
    def touch(
        self, ends: Mapping[str, float | None], *, seen: Seen, is_strict: bool = True
    ) -> list[str]:
        """Set when memories expire, None: never; return those that this changed. Not a revision.

        Args:
            ends: by id.
            seen: as everywhere.
            is_strict: raise UnknownMemory for an unknown id, which is left out otherwise.
        """
        changes: list[tuple[str, dict[str, object]]] = []
        with self.sync.writing() as transaction:
            for memory_id, end in ends.items():
                try:
                    memory = self._live(transaction, memory_id, seen)
                except UnknownMemory:
                    if is_strict:
                        raise
                    continue
                if (memory.valid_until, memory.ttl) != (end, None):
                    changes.append((memory_id, {"valid_until": end, "ttl": None}))
            transaction.update_columns(changes)
        return [memory_id for memory_id, _ in changes]

    @whole_write
    def link(self, links: Sequence[StoredLink], *, seen: Seen) -> None:
        """Create or replace links between memories, all or none."""
        ids = list(dict.fromkeys(id for link in links for id in (link.one, link.other)))
        with self.sync.writing(after_events_of=ids) as transaction:
            for memory_id in ids:
                self._live(transaction, memory_id, seen)
            transaction.set_links(links)

    @whole_write
    def settle_distinct(self, link: StoredLink, *, seen: Seen) -> list[str]:
        """Record that two memories both hold; return the ids of those that the other superseded."""
        ended = []
        with self.sync.writing(after_events_of=link[:2]) as transaction:
            for id, other in (link[:2], link[1::-1]):
                memory = self._live(transaction, id, seen)
                if memory.superseded_by == other:
                    changes: dict[str, object] = {"superseded_by": None}
                    end_supersession(memory, changes, merges_metadata=False)
                    warm(memory, changes)
                    transaction.update_columns([(id, changes)])
                    ended.append(id)
            transaction.set_links([link])
        return ended

    @whole_write
    def unlink(self, one: str, other: str, *, seen: Seen) -> bool:
        """Remove the link of two memories; return whether it existed."""
        with self.sync.writing(after_events_of=(one, other)) as transaction:
            for memory_id in (one, other):
                self._live(transaction, memory_id, seen)
            return transaction.remove_link(one, other)

    @whole_write
    def delete(self, memory_id: str, *, now: float, seen: Seen) -> None:
        """Soft-delete a memory."""
        with self.sync.writing() as transaction:
            self._live(transaction, memory_id, seen)
            transaction.update_columns([(memory_id, {"deleted_at": now})])

    @whole_write
    def delete_matching(self, where: Where | None, *, now: float) -> list[str]:
        """Soft-delete all memories that match now; return their ids."""
        with self.sync.writing() as transaction:
            rows = self.sync.read_model.row_sets.matching(where)
            return self._delete(transaction, rows, now)

    @whole_write
    def delete_expired(self, where: Where | None, selection: Selection, *, now: float) -> list[str]:
        """Soft-delete all memories that match and have expired; return their ids."""
        with self.sync.writing() as transaction:
            row_sets = self.sync.read_model.row_sets
            rows = row_sets.matching(where) & row_sets.out_of_time(now, selection)[0]
            return self._delete(transaction, rows, now)

    def _delete(self, transaction: Transaction, rows: Iterable[int], now: float) -> list[str]:
        ids = [self.sync.lifecycle.ids[row] for row in rows]
        transaction.update_columns([(id, {"deleted_at": now}) for id in ids])
        return ids

    @whole_write
    def set_columns(self, changes: Callable[[], Iterable[tuple[str, Mapping[str, object]]]]) -> int:
        """Set fields to given values in one transaction; return the number of memories changed.

        Args:
            changes: called inside the transaction, when all earlier commits are in the columns;
                returns (id, values as in a memory).
        """
        with self.sync.writing() as transaction:
            return transaction.update_columns(changes())

    @whole_write
    def restore(self, memory_id: str, *, now: float, seen: Seen) -> bool:
        """Undo a soft delete, archiving or cooling, which counts as a use; return whether there was one."""
        with self.sync.writing(after_events_of=[memory_id]) as transaction:
            memory = self._known(transaction, memory_id, seen)
            changes: dict[str, object] = {}
            if memory.deleted_at is not None:
                changes["deleted_at"] = None
            if memory.status == _ARCHIVED:
                changes["status"] = "consolidated"
                settle_status(memory, changes)
            if memory.tier == _COLD and memory.superseded_by is None:
                changes |= WARM
            if changes:
                changes["last_accessed_at"] = now
                transaction.update_columns([(memory_id, changes)])
            return bool(changes)

    def _known(self, transaction: Transaction, memory_id: str, seen: Seen) -> StoredMemory:
        memory = held_in(transaction, memory_id)
        if not seen(memory):
            raise UnknownMemory(unknown(memory_id))
        return memory

    def _live(self, transaction: Transaction, memory_id: str, seen: Seen) -> StoredMemory:
        memory = self._known(transaction, memory_id, seen)
        if memory.deleted_at is not None:
            raise UnknownMemory(unknown(memory_id))
        return memory


def _text_to_embed(memory: StoredMemory, changes: Mapping[str, object]) -> str | None:
    """Return the text to embed for a change; None: the vector stays, or is given."""
    if "embedding" in changes or not is_rewritten(memory, changes):
        return None
    title, text = (changes.get(name, getattr(memory, name)) for name in ("title", "text"))
    return titled(str(title), str(text))
