"""Undo a dream cycle within one transaction: restore all values that did not change since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros import _core
from oneiros._lazy import np
from oneiros.dream import undo_log
from oneiros.dream.apply import keep_cycle, link_state
from oneiros.dream.changes import ARCHIVED, removals, same_values
from oneiros.dream.report import FieldChange, LeftAlone
from oneiros.errors import HistoryUnavailable, StoreCorrupt
from oneiros.index.columns import ColumnWrite, LongNumbers, said
from oneiros.runtime.dataclasses import replace
from oneiros.store.cycles import StoredCycle
from oneiros.store.links import StoredLink
from oneiros.store.rows import metadata_of
from oneiros.write.cycle_columns import changed_by_contents, write_columns
from oneiros.write.rules import end_supersession
from oneiros.write.vectors import DIMENSION_SETTING, REEMBEDDED_SETTING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.report import DreamReport
    from oneiros.graph import Associations
    from oneiros.index.columns import Lifecycle
    from oneiros.store import Reading, StoredMemory, Transaction
    from oneiros.store.cycles import StoredContent
    from oneiros.write.cycle_columns import OwnWrites

__all__ = ["Undoing", "undoable"]

_PHASE = "undo"
_RULE = "R19"


def _selected(long: LongNumbers, places: npt.NDArray[np.int64]) -> LongNumbers:
    """Return the long numbers of distinct places, renumbered by position among them."""
    positions = np.flatnonzero(np.isin(places, long.places))
    return LongNumbers(positions, long.values[np.searchsorted(long.places, places[positions])])


def _are_shown(
    states: Mapping[str, npt.NDArray[Any]], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return the mask of rows that are neither deleted nor archived."""
    shown: npt.NDArray[np.bool_] = np.isnan(states["deleted_at"][rows])
    shown &= states["status"][rows] != ARCHIVED
    return shown


def undoable(reading: Reading, id: str) -> StoredCycle:
    """Return the cycle with an id.

    Raises:
        ValueError: there is none, it was undone, it is itself an undo, or its undo log is no longer
            kept.
    """
    cycle = reading.cycles.dream_cycle(id)
    if cycle is None:
        msg = f"id: no dream cycle has the id {id!r}"
    elif cycle.undoes is not None:
        msg = f"id: must be of a cycle, {id!r} undid one"
    elif reading.cycles.undone_by(id) is not None:
        msg = f"id: must be of a cycle that stands, {id!r} was undone"
    elif cycle.changes is None:
        msg = f"id: {id!r} is too old: what it changed is no longer kept"
    else:
        return cycle
    raise ValueError(msg)


class Undoing:
    """The undo of one cycle.

    Args:
        cycle: returned by :func:`undoable`.
        transaction: open; the read model holds what it sees.
        lifecycle: rows and columns.
        associations: the links; None: damaged, and left unchanged.
        report: of this undo, to be completed.
    """

    def __init__(
        self,
        cycle: StoredCycle,
        transaction: Transaction,
        lifecycle: Lifecycle,
        associations: Associations | None,
        report: DreamReport,
    ) -> None:
        self._cycle = cycle
        self._transaction = transaction
        self._lifecycle = lifecycle
        self._associations = associations
        self._report = report
        self._not_restored: list[FieldChange] = []
        self._left_metadata: set[int] = set()  # sequence numbers
        self._rewritten: frozenset[int] = frozenset()  # sequence numbers
        self._restored = 0
        self._removed: list[npt.NDArray[np.int64]] = []  # rows that the cycle removed, by column
        self._stuck: list[npt.NDArray[np.int64]] = []  # removed rows that changed since
        self._kept: list[undo_log.KeptColumn] = []
        self.has_erased = False
        """Whether a memory that the cycle added was erased."""

    def run(self, own_writes: OwnWrites) -> DreamReport:
        """Restore all values that did not change since, and note the undo as a cycle.

        Args:
            own_writes: collects the changes.

        Raises:
            StoreCorrupt: the undo log is damaged; nothing was written.
        """
        columns, links = undo_log.decoded(self._cycle.changes or b"")
        contents = self._transaction.cycles.dream_contents(self._cycle.number)
        undo_log.require_contents(contents)
        self._rewritten = frozenset(self._rewritten_since(contents))
        self._restore_columns(columns, own_writes)
        self._restore_links(links)
        for content in reversed(contents):
            self._restore_content(content)
        own_writes.sequences += changed_by_contents(contents) + self._transaction.relinked
        count = len({change.id for change in self._not_restored})
        left_alone = LeftAlone(phase=_PHASE, rule=_RULE, reason="changed since", memories=count)
        report = replace(
            self._report,
            undoes=self._cycle.id,
            brought_back=self._brought_back,
            brought_back_shown=self._brought_back_shown,
            change_count=self._restored,
            left_alone=(left_alone,) if count else (),
            not_restored=tuple(self._not_restored),
        )
        keep_cycle(self._transaction, report, self._kept, [], ())
        return report

    def _restore_columns(
        self, columns: Sequence[undo_log.KeptColumn], own_writes: OwnWrites
    ) -> None:
        sequence_of = np.zeros(len(self._lifecycle.ids), np.int64)
        writes = []
        for column in columns:
            rows = self._lifecycle.rows_of_sequences(column.sequences)
            known = np.flatnonzero(rows >= 0)
            rows, after, before = rows[known], column.after[known], column.before[known]
            sequence_of[rows] = column.sequences[known]
            current = self._lifecycle.column(column.field)[rows]
            same = same_values(current, after)
            removed = removals(column.field, after)
            self._removed.append(rows[removed])
            self._stuck.append(rows[removed & ~same])
            for row, value, old in zip(
                rows[~same].tolist(),
                said(column.field, current[~same]),
                said(column.field, before[~same]),
                strict=True,
            ):
                self._leave(self._lifecycle.ids[row], column.field, value, old)
            if same.any():
                order = np.flatnonzero(same)[np.argsort(rows[same], kind="stable")]
                restored, values = rows[order].astype(np.uint32), before[order]
                long = None if column.long is None else _selected(column.long, known[order])
                writes.append(ColumnWrite(column.field, restored, values, long))
                self._kept.append(
                    undo_log.KeptColumn(column.field, sequence_of[restored], after[order], values)
                )
                self._restored += len(restored)
        self._count_brought_back(writes)
        write_columns(self._transaction, writes, sequence_of)
        own_writes.columns += writes

    def _count_brought_back(self, writes: Sequence[ColumnWrite]) -> None:
        """Count the memories that the cycle removed and that these writes restore."""
        nothing = np.empty(0, np.int64)
        rows = np.unique(np.concatenate([nothing, *self._removed]))
        rows = np.setdiff1d(rows, np.concatenate([nothing, *self._stuck]))
        states = {name: self._lifecycle.column(name).copy() for name in ("deleted_at", "status")}
        was_shown = _are_shown(states, rows)
        for write in writes:
            if write.field in states:
                states[write.field][write.rows] = write.values
        self._brought_back = len(rows)
        self._brought_back_shown = int(np.count_nonzero(_are_shown(states, rows) & ~was_shown))

    def _leave(self, id: str, field: str, current: object, before: object) -> None:
        """Note a field that is not restored, because it changed after the cycle."""
        self._not_restored.append(
            FieldChange(id=id, field=field, before=current, after=before, phase=_PHASE, rule=_RULE)
        )

    def _restore_links(self, links: Sequence[undo_log.KeptLink]) -> None:
        if self._associations is None or not links:
            return
        ends = list(dict.fromkeys(end for link in links for end in (link.first, link.second)))
        id_of = dict(zip(ends, self._transaction.cycles.ids(ends), strict=True))
        row_of = self._lifecycle.row_of
        for link in links:
            one, other = id_of[link.first], id_of[link.second]
            if one is None or other is None:
                continue
            (current,) = self._associations.of_pairs([(row_of[one], row_of[other])])
            if link_state(current) != link.after:
                self._leave(one, "link", other, None)
            elif link.before is None:
                self._transaction.remove_link(one, other)
                self._restored += 1
            else:
                self._transaction.set_links([StoredLink(one, other, *link.before)])
                self._restored += 1

    def _restore_content(self, content: StoredContent) -> None:
        (id,) = self._transaction.cycles.ids([content.sequence])
        if id is None:
            return
        if content.field == "replayed_at":
            self._restore_replay(content)
            return
        try:
            (stored,) = self._transaction.load_stored([id])
        except StoreCorrupt:  # damaged memories are left unchanged
            self._leave(id, content.field, None, None)
            return
        if stored is None:
            return
        if content.field == "memory":
            self._remove_added(stored)
            return
        attribute = "metadata_json" if content.field == "metadata" else content.field
        if getattr(stored, attribute) != content.after or not self._fits(content):
            self._leave(id, content.field, None, None)
            if content.field == "metadata":
                self._left_metadata.add(content.sequence)
            return
        before: Any = content.before
        if content.field == "text":
            self._transaction.set_text(id, before)
        else:
            if content.field == "metadata":
                before = {} if before is None else metadata_of(before)
            changes = {content.field: before}
            # Metadata come first, see ``run``: those left have the supersession that ends here.
            if content.sequence in self._left_metadata:
                end_supersession(stored, changes, merges_metadata=False)
            self._transaction.update_columns([(id, changes)])
        self._restored += 1

    def _rewritten_since(self, contents: Sequence[StoredContent]) -> Iterator[int]:
        """Yield the memories that lost a vector in the cycle and may have another title or text."""
        sequences = [each.sequence for each in contents if each.field == "embedding"]
        transaction = self._transaction
        for sequence, id in zip(sequences, transaction.cycles.ids(sequences), strict=True):
            if id is None:
                continue
            try:
                (now,) = transaction.load_stored([id])
                then = transaction.history.row_at(id, self._cycle.revision)
            except (StoreCorrupt, HistoryUnavailable):
                now = then = None
            if now is None or then is None or (now.title, now.text) != (then.title, then.text):
                yield sequence

    def _fits(self, content: StoredContent) -> bool:
        """Whether a content that is a vector is of the memory's words and the current embedder."""
        if content.field != "embedding" or content.before is None:
            return True
        if content.sequence in self._rewritten:
            return False
        settings = self._transaction.settings()
        replaced_at = settings.get(REEMBEDDED_SETTING) or "0"
        if not replaced_at.isdecimal() or self._cycle.revision < int(replaced_at):
            return False
        width = _core.embedding_dimension(blob=content.before)
        return settings.get(DIMENSION_SETTING) == str(width)

    def _restore_replay(self, content: StoredContent) -> None:
        """Restore the time of a memory's replay, unless another cycle replayed it since."""
        if self._transaction.cycles.replays([content.sequence]) == [content.after]:
            if content.before is None:
                self._transaction.cycles.forget_replay(content.sequence)
            else:
                self._transaction.cycles.keep_replays([content.sequence], content.before)

    def _remove_added(self, stored: StoredMemory) -> None:
        """Erase a memory that the cycle added, or soft-delete it if it was used or changed since."""
        if not stored.id.startswith(f"{self._cycle.id}+"):  # see ``DreamPlan.name``
            msg = f"the store holds damaged changes of a dream cycle ({stored.id!r} is not of it)"
            raise StoreCorrupt(msg)
        if stored.revision == self._cycle.revision:
            self._transaction.erase(stored.id)
            self.has_erased = True
        else:
            self._transaction.update_columns([(stored.id, {"deleted_at": self._report.now})])
            self._leave(stored.id, "memory", None, None)
        self._restored += 1
