"""Apply a planned dream cycle to the store, within one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.conflicts.finding import DISTINCT, distinct_link
from oneiros.dream import undo_log
from oneiros.dream.changes import removed_counts
from oneiros.dream.plan import counted, memory_counts
from oneiros.dream.report import LeftAlone
from oneiros.graph.graph import strengthened
from oneiros.index.columns import ColumnWrite
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.store import KINDS, StoredLink
from oneiros.store.cycles import StoredContent, StoredCycle
from oneiros.store.rows import json_text
from oneiros.write.cycle_columns import changed_by_contents, long_numbers, write_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import ContentChange, LinkChange, Rows
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.dream.undo_log import State
    from oneiros.graph import Associations
    from oneiros.index.columns import Lifecycle
    from oneiros.store import Transaction
    from oneiros.write.cycle_columns import OwnWrites

    Mask = npt.NDArray[np.bool_]

__all__ = ["Applying", "ChangedLink", "PlannedRows", "after_changes", "keep_cycle", "link_state"]

_KEPT_CYCLES: Final = 30  # the number of latest cycles that can be undone
_LATER_KNOWN: Final = ("undone_by", "is_undoable")  # fields that later cycles change
_KEPT_REPORTS: Final = 1_000  # the number of latest cycles whose reports are kept
_TEXT_FIELDS: Final = ("text", "memory")  # their values are text of the user
_MOST_KEPT: Final = 1_000  # unchanged memories listed by id; the report counts all


class ChangedLink(NamedTuple):
    """A link before and after the cycle; None means no link."""

    one: str
    other: str
    before: StoredLink | None
    after: StoredLink | None


def after_changes(
    changes: Sequence[LinkChange],
    associations: Associations,
    row_of: Mapping[str, int],
    name: Callable[[int], str],
    now: float,
) -> list[ChangedLink]:
    """Return the links that changes affect, before and after.

    Args:
        changes: all of existing memories. For one pair, the last change that sets a weight wins;
            without one, the pair gains once.
        associations: the links, already read.
        row_of: the rows of their memories by id.
        name: returns the id of a row, or of an added memory.
        now: the cycle's clock.
    """
    gains: dict[tuple[int, int], LinkChange] = {}
    weights: dict[tuple[int, int], LinkChange] = {}
    for change in changes:
        ends = min(change.one, change.other), max(change.one, change.other)
        (gains if change.weight is None else weights)[ends] = change
    found = []
    for gain in dict.fromkeys(change.gain for change in gains.values()):
        named = [
            (name(change.one), name(change.other))
            for ends, change in gains.items()
            if change.gain == gain and ends not in weights
        ]
        links = associations.of_pairs([(row_of[one], row_of[other]) for one, other in named])
        stronger = strengthened(named, links, now=now, gain=gain)
        found += [
            ChangedLink(after.one, after.other, before, after)
            for before, after in zip(links, stronger, strict=True)
        ]
    for change in weights.values():
        one, other = name(change.one), name(change.other)
        before = after = None
        if change.one >= 0 and change.other >= 0:
            (before,) = associations.of_pairs([(row_of[one], row_of[other])])
        if change.weight and (kind := KINDS.index(change.kind)) == DISTINCT:
            after = distinct_link(one, other, before, now)
        elif change.weight:
            created_at = now if before is None else before.created_at
            after = StoredLink(one, other, kind, change.weight, created_at, None)
        if before is not None or after is not None:
            found.append(ChangedLink(one, other, before, after))
    return found


def link_state(link: StoredLink | None) -> State | None:
    """Return kind, weight, created_at and co_retrieved_at of a link; None for no link."""
    if link is None:
        return None
    return link.kind, link.weight, link.created_at, link.co_retrieved_at


class PlannedRows:
    """The rows of a plan in the engine that applies it.

    REQUIRES: the columns hold what the transaction sees.

    Args:
        plan: made by this engine, or by one whose store was copied to this engine's.
        lifecycle: of the engine that applies the plan.
        is_of_copy: the plan was made by another engine, with other row numbers.
    """

    def __init__(self, plan: DreamPlan, lifecycle: Lifecycle, *, is_of_copy: bool) -> None:
        draft = plan.draft
        self._lifecycle = lifecycle
        self._local: npt.NDArray[np.int64] | None = None
        self.sequences: npt.NDArray[np.int64] = draft.source.column("sequence")[
            : len(draft)
        ].astype(np.int64)
        """The store's number of each row's memory, shape (n,); 0 for an erased memory."""
        if is_of_copy:
            self._local = lifecycle.rows_of_sequences(self.sequences)
            self.sequences[self._local < 0] = 0
        else:
            self.sequences[[row for row in lifecycle.erased_rows if row < len(draft)]] = 0

    def localized(self, write: ColumnWrite) -> ColumnWrite:
        """Return a write with the row numbers of the engine that applies it."""
        if self._local is None:
            return write
        return write._replace(rows=self._local[write.rows].astype(np.uint32))

    def changed(self, sequences: Collection[int], ids: Collection[str]) -> Mask:
        """Return the mask of rows that changed since the plan was made, shape (n,).

        Args:
            sequences: numbers of changed memories.
            ids: more changed memories, in the engine that made the plan.
        """
        mask: Mask = self.sequences == 0
        if sequences:
            mask |= np.isin(self.sequences, np.fromiter(sequences, np.int64))
        row_of = self._lifecycle.row_of
        for id in ids if self._local is None else ():
            row = row_of.get(id)
            if row is not None and row < len(mask):
                mask[row] = True
        return mask


class Applying:
    """The application of one plan to the store.

    Args:
        plan: the plan.
        transaction: open; the read model holds what it sees.
        associations: the links; None: damaged, and left unchanged.
        rows: the plan's rows.
        row_of: the rows of the associations by id.
        reinforced: ids of memories that searches reinforced since; they are left unchanged.
        blobs: the encoded embeddings of added memories, by index in the draft's ``added``.
    """

    def __init__(
        self,
        plan: DreamPlan,
        transaction: Transaction,
        associations: Associations | None,
        rows: PlannedRows,
        row_of: Mapping[str, int],
        reinforced: frozenset[str],
        blobs: Mapping[int, bytes],
    ) -> None:
        self._plan = plan
        self._draft = plan.draft
        self._transaction = transaction
        self._associations = associations
        self._row_of = row_of
        self._blobs = blobs
        self._net = plan.net()
        self._rows = rows
        self._sequence_of = rows.sequences
        since = transaction.cycles.changed_since(plan.revision) | transaction.cycles.linked_since(
            plan.revision
        )
        changed = rows.changed(since, reinforced)
        self._stays = self._touched() & changed
        _add_dependents(self._stays, self._draft.rests)
        self._day = transaction.cycles.taken_in_day(plan.now)
        self._over = self._beyond_day_limit()
        if self._over.any():
            self._stays |= self._over
            _add_dependents(self._stays, self._draft.rests)
        self._dropped = {-1 - index for index in self._draft.unmade}
        self._contents: list[StoredContent] = []

    def run(self, own_writes: OwnWrites) -> DreamReport:
        """Write the cycle and its undo log, and return the report.

        Args:
            own_writes: collects the changes.
        """
        columns = self._write_columns()
        own_writes.columns += map(self._rows.localized, columns)
        # Before contents and links: those that name a memory which is not added are left out.
        added = self._add()
        for content in self._draft.contents:
            if not self._is_left(content.row, content.after):
                self._write_content(content)
        own_writes.sequences += changed_by_contents(self._contents)
        links = self._write_links()
        self._keep_replays()
        report = self._report(columns, added)
        kept = [
            undo_log.KeptColumn(
                write.field,
                self._sequence_of[write.rows],
                self._before(write),
                write.values,
                self._long.get(write.field),
            )
            for write in columns
        ]
        keep_cycle(self._transaction, report, kept, links, self._contents)
        self._transaction.cycles.forget_dream_changes(_KEPT_CYCLES)
        self._transaction.cycles.forget_old_cycles(_KEPT_REPORTS)
        return replace(report, is_undoable=True)

    def _touched(self) -> Mask:
        """Return the mask of rows that the plan changes or depends on."""
        draft = self._draft
        touched = np.zeros(len(draft), np.bool_)
        for rows, _, _ in self._net.values():
            touched[rows] = True
        for pair in draft.rests:
            touched[np.concatenate(pair)] = True
        for part in draft.links.parts:
            for ends in map(np.asarray, (part.ones, part.others)):
                touched[ends[ends >= 0]] = True
        touched[[content.row for content in draft.contents if content.row >= 0]] = True
        if draft.peer_counts is not None:
            touched[draft.candidates] = True
        return touched

    def _beyond_day_limit(self) -> Mask:
        """Return the mask of removals that exceed the day's limit because of other cycles."""
        over = np.zeros(len(self._draft), np.bool_)
        limit = self._draft.day_limit(self._day)
        if limit is not None:
            taken = self._draft.taken_rows()
            taken = taken[~self._stays[taken]]
            late = taken[max(0, limit - self._day.memories) :]
            over[late[~self._draft.is_asked[late]]] = True
        return over

    def _write_columns(self) -> list[ColumnWrite]:
        writes = []
        for field, (rows, _, after) in self._net.items():
            changes = ~self._stays[rows]
            if changes.any():
                writes.append(ColumnWrite(field, rows[changes], after[changes]))
        self._long = long_numbers(
            self._transaction,
            {write.field: self._before(write) for write in writes},
            {write.field: self._sequence_of[write.rows] for write in writes},
        )
        write_columns(self._transaction, writes, self._sequence_of)
        return writes

    def _before(self, write: ColumnWrite) -> npt.NDArray[Any]:
        rows, before, _ = self._net[write.field]
        return before[np.searchsorted(rows, write.rows)]

    def _add(self) -> int:
        for index, added in enumerate(self._draft.added):
            if -1 - index in self._dropped:
                continue
            if self._stays[added.sources].any():
                self._dropped.add(-1 - index)
                continue
            record: dict[str, Any] = {**added.record, "id": self._plan.name(-1 - index)}
            memory = Memory.from_record(Memory(**record), now=self._plan.now)
            sequence = self._transaction.insert(memory, embedding_blob=self._blobs.get(index))
            self._contents.append(StoredContent(sequence, "memory", added.rule, None, None))
        return len(self._draft.added) - len(self._dropped)

    def _is_left(self, *rows: object) -> bool:
        """Whether any of these is an unchanged row or a memory that is not added."""
        numbers = [row for row in rows if isinstance(row, int)]
        return any(
            number in self._dropped if number < 0 else bool(self._stays[number])
            for number in numbers
        )

    def _write_content(self, content: ContentChange) -> None:
        transaction, id = self._transaction, self._plan.name(content.row)
        stored = transaction.load_stored([id])[0]
        if stored is None:
            return
        changes: dict[str, tuple[object, object]] = {}
        if content.field == "text":
            transaction.set_text(id, str(content.after))
            changes["text"] = (stored.text, content.after)
        elif content.field == "embedding":
            transaction.update_columns([(id, {"embedding": None})])
            changes["embedding"] = (stored.embedding, None)
        else:
            after = content.after
            by = self._plan.name(after) if isinstance(after, int) else after
            metadata = stored.metadata | {
                "superseded_at": self._plan.now,
                "superseded_reason": content.rule,
            }
            transaction.update_columns([(id, {"superseded_by": by, "metadata": metadata})])
            changes["superseded_by"] = (stored.superseded_by, by)
            changes["metadata"] = (stored.metadata_json, json_text(metadata))
        self._contents += [
            StoredContent(stored.sequence, field, content.rule, before, after)
            for field, (before, after) in changes.items()
        ]

    def _write_links(self) -> list[undo_log.KeptLink]:
        if self._associations is None:
            return []
        changes = [link for link in self._draft.links if not self._is_left(link.one, link.other)]
        plan, row_of = self._plan, self._row_of
        found = after_changes(changes, self._associations, row_of, plan.name, plan.now)
        self._transaction.set_links(link.after for link in found if link.after is not None)
        for link in found:
            if link.after is None:
                self._transaction.remove_link(link.one, link.other)
        return self._kept_links(found)

    def _kept_links(self, found: list[ChangedLink]) -> list[undo_log.KeptLink]:
        ends = list(dict.fromkeys(id for link in found for id in (link.one, link.other)))
        known = self._transaction.sequences_of(ends)
        kept = []
        for link in found:
            one, other = known.get(link.one), known.get(link.other)
            if one is not None and other is not None:
                before, after = link_state(link.before), link_state(link.after)
                kept.append(undo_log.KeptLink(one, other, before, after))
        return kept

    def _keep_replays(self) -> None:
        draft = self._draft
        if draft.peer_counts is not None:
            replayed = draft.candidates[~self._stays[draft.candidates]]
            sequences = self._sequence_of[replayed].tolist()
            before = self._transaction.cycles.replays(sequences)
            self._transaction.cycles.keep_replays(sequences, draft.now)
            self._contents += [
                StoredContent(sequence, "replayed_at", "R11", earlier, draft.now)
                for sequence, earlier in zip(sequences, before, strict=True)
            ]

    def _report(self, columns: list[ColumnWrite], added: int) -> DreamReport:
        deleted = sum(len(write.rows) for write in columns if write.field == "deleted_at")
        report = self._plan.report
        taken = self._draft.taken_rows()
        taken = taken[~self._stays[taken]]
        left = np.flatnonzero(self._stays & ~self._over).tolist()
        changed_since = tuple(id for id in map(self._plan.name, left) if id)  # "": erased
        over = np.flatnonzero(self._over).tolist()
        stay = {*changed_since, *map(self._plan.name, over)}
        applied = self._planned_ids([change.id for change in report.named]) - stay
        left_alone = report.left_alone
        for reason, rows in (("changed since", left), ("prune budget", over)):
            if rows:
                left_alone += (LeftAlone(phase="", rule="R19", reason=reason, memories=len(rows)),)
        if left or over:
            report = self._counted(report)
        return replace(
            report,
            is_dry_run=False,
            live_after=report.live_before - deleted + added,
            taken_away=len(taken),
            taken_shown=self._draft.newly_hidden(taken),
            taken_before=self._day.memories,
            day_limit=self._draft.day_limit(self._day),
            left_alone=left_alone,
            changed_since=changed_since,
            named=tuple(change for change in report.named if change.id in applied),
            removed=removed_counts({write.field: (write.rows, write.values) for write in columns}),
        )

    def _counted(self, report: DreamReport) -> DreamReport:
        """Return the report with counts of the applied changes only."""
        counts = counted(self._draft, self._stays, self._is_left)
        memories = memory_counts(self._draft, self._stays, self._is_left)
        phases = (
            replace(
                phase,
                changes=counts.get(phase.name, {}),
                memories=memories.get(phase.name, {}),
            )
            for phase in report.phases
        )
        fields = (by_field for rules in counts.values() for by_field in rules.values())
        total = sum(count for by_field in fields for count in by_field.values())
        return replace(report, phases=tuple(phases), change_count=total)

    def _planned_ids(self, ids: list[str]) -> set[str]:
        """Return the ids that belong to memories of the plan, or to added ones.

        The id of an erased memory may be in use again.
        """
        last = self._sequence_of.max(initial=0)
        added = {self._plan.name(-1 - index) for index in range(len(self._draft.added))}
        known = self._transaction.sequences_of(ids)
        return {id for id, sequence in known.items() if sequence <= last or id in added}


def _add_dependents(stays: Mask, rests: Sequence[tuple[Rows, Rows]]) -> None:
    """Extend a mask of unchanged rows by the rows whose changes depend on them."""
    if not rests:
        return
    rows, others = (np.concatenate(parts) for parts in zip(*rests, strict=True))
    while (dependent := stays[others] & ~stays[rows]).any():
        stays[rows[dependent]] = True


def keep_cycle(
    transaction: Transaction,
    report: DreamReport,
    columns: Sequence[undo_log.KeptColumn],
    links: Sequence[undo_log.KeptLink],
    contents: Sequence[StoredContent],
) -> None:
    """Add a cycle, or an undo, to the store: its report and all that it changed."""
    transaction.cycles.add_dream_cycle(
        StoredCycle(
            number=0,
            id=report.id,
            revision=0,
            dreamed_at=report.now,
            undoes=report.undoes,
            report=_kept_report(report),
            changes=undo_log.encoded(columns, links, revision=transaction.revision),
        ),
        contents,
    )


def _kept_report(report: DreamReport) -> str:
    """Return the JSON of a report for the store: without texts, and of bounded length."""
    named = tuple(
        replace(change, before=None, after=None) if change.field in _TEXT_FIELDS else change
        for change in report.named
        if change.field != "embedding"
    )
    kept = replace(
        report,
        named=named,
        changed_since=report.changed_since[:_MOST_KEPT],
        not_restored=report.not_restored[:_MOST_KEPT],
    )
    record = kept.record()
    for name in _LATER_KNOWN:
        del record[name]
    return json.dumps(record, separators=(",", ":"))
