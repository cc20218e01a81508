"""Applies and undoes dream cycles, each in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from oneiros import dream
from oneiros.store.rows import encoded_embedding
from oneiros.write.background import whole_write
from oneiros.write.vectors import MadeVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.graph import Associations
    from oneiros.write.sync import Sync

__all__ = ["CycleWriter"]


class CycleWriter:
    """Applies a planned dream cycle, and undoes one."""

    def __init__(self, sync: Sync) -> None:
        self._sync = sync
        self.writer = sync.writer

    def apply_cycle(
        self, plan: DreamPlan, *, is_of_copy: bool = False, changed: list[str] | None = None
    ) -> DreamReport:
        """Apply a plan, except to memories that changed since it was made.

        Args:
            plan: of this engine.
            is_of_copy: the plan is of another engine, whose store was copied to this one's, so that
                rows differ.
            changed: a list to append the ids of the changed memories to.

        Raises:
            ValueError: the plan was applied already.
        """
        blobs = self._blobs_of(plan)
        return self._apply_cycle(plan, blobs, changed, is_of_copy=is_of_copy)

    @whole_write
    def _apply_cycle(
        self,
        plan: DreamPlan,
        blobs: dict[int, bytes],
        changed: list[str] | None,
        *,
        is_of_copy: bool,
    ) -> DreamReport:
        associations = self._associations()
        owed = self._sync.reinforcing.owing()
        with self._sync.writing_columns() as (transaction, own):
            if transaction.cycles.dream_cycle(plan.id) is not None:
                msg = f"plan: must be applied once, {plan.id} was already"
                raise ValueError(msg)
            # After a rebuild of the read model, as in a copy, rows have other numbers.
            is_moved = is_of_copy or not plan.draft.source.is_of(self._sync.lifecycle)
            rows = dream.apply.PlannedRows(plan, self._sync.lifecycle, is_of_copy=is_moved)
            row_of = cast("Mapping[str, int]", self._sync.lifecycle.row_of)
            known = associations if associations.are_read else None
            report = dream.apply.Applying(plan, transaction, known, rows, row_of, owed, blobs).run(
                own
            )
            if changed is not None:
                changed += transaction.changed_ids()
            return report

    def _associations(self) -> Associations:
        """Write what waits, and return the links, which are read unless they are damaged."""
        self._sync.write_events_now()
        read_model = self._sync.read_model
        return self._sync.links_to_follow(read_model, is_bounded=False) or read_model.associations

    def _blobs_of(self, plan: DreamPlan) -> dict[int, bytes]:
        """Return the embeddings of memories that a plan adds, made before any lock is taken."""
        records = [added.record for added in plan.draft.added]
        made = MadeVectors(self._sync.vectors)
        if self._sync.vectors.is_present:
            made.make(str(record["text"]) for record in records if record.get("embedding") is None)
        blobs: dict[int, bytes] = {}
        blob: bytes | None
        for place, record in enumerate(records):
            vector: Any = record.get("embedding")
            if vector is not None:
                blob, width = encoded_embedding(vector), len(vector)
            else:
                blob, width = made.of(str(record["text"]))
            # After a reembed the sources count as changed, so the memory is not added.
            if blob is not None and self._sync.vectors.dimension in (None, width):
                blobs[place] = blob
        return blobs

    def require_undoable(self, id: str) -> None:
        """Raise as :meth:`undo_cycle` does if a cycle cannot be undone."""
        with self._sync.store.read() as reading:
            dream.undo.undoable(reading, id)

    @whole_write
    def undo_cycle(
        self, id: str, report: DreamReport, changed: list[str] | None = None
    ) -> DreamReport:
        """Restore everything that a cycle changed, except what changed since.

        Args:
            id: of the cycle.
            report: of the undoing, to be completed.
            changed: a list to append the ids of the changed memories to.

        Raises:
            ValueError: there is no such cycle, or it cannot be undone.
        """
        associations = self._associations()
        with self._sync.writing_columns() as (transaction, own):
            cycle = dream.undo.undoable(transaction, id)
            known = associations if associations.are_read else None
            undoing = dream.undo.Undoing(cycle, transaction, self._sync.lifecycle, known, report)
            done = undoing.run(own)
            if changed is not None:
                changed += transaction.changed_ids()
        if undoing.has_erased:
            self._sync.snapshot.remove()
        return done
