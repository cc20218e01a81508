"""Dream cycles applied and undone: each one transaction, all of it or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from oneiros.store.embedding_bytes import encoded
from oneiros.write.background import whole_write
from oneiros.write.vectors import MadeVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.store.rows import Damaged
    from oneiros.write.sync import Sync

__all__ = ["CycleWriter"]


class CycleWriter:
    """Writes what a dream cycle planned, and takes it back."""

    def __init__(self, sync: Sync) -> None:
        self._sync = sync
        self.writer = sync.writer

    def apply_cycle(self, plan: DreamPlan, *, is_of_copy: bool = False) -> DreamReport:
        """Apply a plan; what changed since it was made stays as it is.

        Args:
            plan: of this engine.
            is_of_copy: it is of another engine, of whose store this one's is a copy: their rows are
                not the same.

        Raises:
            ValueError: it was applied already.
        """
        return self._apply_cycle(plan, self._blobs_of(plan), is_of_copy=is_of_copy)

    @whole_write
    def _apply_cycle(
        self, plan: DreamPlan, blobs: dict[int, bytes], *, is_of_copy: bool
    ) -> DreamReport:
        from oneiros.dream.apply import (  # noqa: PLC0415
            Applying,
            PlannedRows,
        )

        self._sync.write_events_now()
        associations = self._sync.links_to_follow() or self._sync.projections.associations
        owed = self._sync.reinforcing.owing()
        with self._sync.writing_columns() as (transaction, own):
            if transaction.cycles.dream_cycle(plan.id) is not None:
                msg = f"plan: must be applied once, {plan.id} was already"
                raise ValueError(msg)
            known = associations if associations.are_read else None
            # After a rebuild of the read model, rows have other numbers, as those of a copy have.
            is_moved = is_of_copy or not plan.draft.source.is_of(self._sync.lifecycle)
            rows = PlannedRows(plan, self._sync.lifecycle, is_of_copy=is_moved)
            row_of = cast("Mapping[str, int]", self._sync.lifecycle.row_of)
            return Applying(plan, transaction, known, rows, row_of, owed, blobs).run(own)

    def _blobs_of(self, plan: DreamPlan) -> dict[int, bytes]:
        """The embeddings of what a plan adds: given, or made of the text before anything is locked."""
        records = [added.record for added in plan.draft.added]
        made = MadeVectors(self._sync.vectors)
        if self._sync.vectors.is_present:
            made.make(str(one["text"]) for one in records if one.get("embedding") is None)
        blobs: dict[int, bytes] = {}
        blob: bytes | None
        for place, record in enumerate(records):
            vector: Any = record.get("embedding")
            if vector is not None:
                blob, width = encoded(vector), len(vector)
            else:
                blob, width = made.of(str(record["text"]))
            # After a reembed the sources count as changed, and the memory is not added at all.
            if blob is not None and self._sync.vectors.dimension in (None, width):
                blobs[place] = blob
        return blobs

    def require_undoable(self, id: str) -> None:
        """Refuse the id of a cycle that cannot be undone, as :meth:`undo_cycle` does."""
        from oneiros.dream.undo import undoable  # noqa: PLC0415 - few processes dream

        with self._sync.store.read() as reading:
            undoable(reading, id)

    @whole_write
    def undo_cycle(self, id: str, report: DreamReport) -> DreamReport:
        """Restore what a cycle changed, but for what changed since.

        Args:
            id: of the cycle.
            report: of this undoing, to be completed.

        Raises:
            ValueError: there is no such cycle, or it cannot be undone.
        """
        from oneiros.dream.undo import Undoing, undoable  # noqa: PLC0415 - few processes dream

        self._sync.write_events_now()
        associations = self._sync.links_to_follow() or self._sync.projections.associations
        with self._sync.writing_columns() as (transaction, own):
            cycle = undoable(transaction, id)
            known = associations if associations.are_read else None
            undoing = Undoing(cycle, transaction, self._sync.lifecycle, known, report)
            done = undoing.run(own)
        if undoing.has_erased:
            self._sync.snapshot.remove()
        return done

    @whole_write
    def purge(self, deleted_before: float) -> int:
        """Erase for good what was soft-deleted before a moment; returns how many.

        Not what is damaged: when it was deleted may be part of the damage.
        """
        with self._sync.writing() as transaction:
            damaged: list[Damaged] = []
            candidates = transaction.cycles.deleted_before(deleted_before)
            found = transaction.of_sequences(candidates, on_damage=damaged.append)
            ids = [memory.id for batch in found for memory in batch]
            for one in damaged:
                self._sync.note_damage(one)
            for memory_id in ids:
                transaction.erase(memory_id)
        if ids:
            self._sync.snapshot.remove()
            self._sync.store.checkpoint()
        return len(ids)
