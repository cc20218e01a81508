"""What a cycle would change, change by change; applied, or not."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from oneiros._lazy import np
from oneiros.dream.counting import removals
from oneiros.dream.report import REMOVALS, FieldChange
from oneiros.dream.words import said
from oneiros.model.validation import texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import ColumnChange, Rows
    from oneiros.dream.draft import Draft
    from oneiros.dream.impact import Impact
    from oneiros.dream.report import DreamReport

    Net = Mapping[str, tuple[Rows, npt.NDArray[Any], npt.NDArray[Any]]]

__all__ = ["Applier", "DreamPlan"]


_STATES: Final = (*(field for field, _ in REMOVALS), "depth", "canonical_layer")
"""The columns whose changes are named before others, those that remove a memory first."""
_MADE: Final = ("link", "memory")
"""What a cycle changes that is no field of a memory."""
_MOST_READ: Final = 1_000
"""Memories of one change whose texts are read for a page: no report names more."""


class Applier(Protocol):
    """Who can apply a plan, or try it: the engine that it was made for."""

    def apply(self, plan: DreamPlan) -> DreamReport:
        """Apply it."""

    def impact(self, plan: DreamPlan, queries: Sequence[str], k: int) -> Impact:
        """Ask questions of copies of the store, before and after it."""


class DreamPlan:
    """A cycle that was planned: what it would change, and by which rule.

    Made by ``Engine.dream(dry_run=True)``. Planning changed nothing.

    Attributes:
        report: what the cycle would do.
        revision: of the store, that it was planned on.
    """

    def __init__(self, draft: Draft, report: DreamReport, revision: int, applier: Applier) -> None:
        self.draft = draft
        self.report = report
        self.revision = revision
        self._applier = applier

    @property
    def id(self) -> str:
        """By which the cycle can be undone, once it is applied."""
        return self.report.id

    @property
    def now(self) -> float:
        """The cycle's clock, seconds UTC."""
        return self.draft.now

    def __len__(self) -> int:
        """Return how many changes of single fields it holds, those of memories forgotten since too."""
        draft = self.draft
        columns = sum(len(change.rows) for change in draft.columns)
        return columns + len(draft.contents) + len(draft.links) + len(draft.added)

    def changes(self, fields: Collection[str] | None = None) -> Iterator[FieldChange]:
        """Yield every change of a field, in the order in which the rules made them.

        A memory that is added is one change of the field "memory", with its text; a link is one of
        the field "link" of both its memories. What was forgotten since the plan was made is left
        out, and with it what would have been made of it: none of that will be applied.

        Args:
            fields: only of these; default: of all. A cycle changes the strength of all memories, and
                takes away a few.

        Raises:
            TypeError: ``fields`` is no collection of str.
            ValueError: a memory has no such field.
        """
        return self._changes(None if fields is None else _fields(fields))

    def _changes(self, fields: Collection[str] | None) -> Iterator[FieldChange]:
        for change in self.draft.columns:
            if fields is None or change.field in fields:
                yield from self._column_changes(change, len(change.rows))
        for other in self._other_changes():
            if fields is None or other.field in fields:
                yield other

    def named(self, most: int) -> tuple[FieldChange, ...]:
        """Return the first changes to tell by name: those that take away or move a memory first.

        Args:
            most: how many.
        """
        columns = self.draft.columns
        states = [change for field in _STATES for change in columns if change.field == field]
        removing, moving = [], []
        for change in states:
            removes = removals(change.field, change.after)
            removing.append(_of_rows(change, removes))
            moving.append(_of_rows(change, ~removes))
        rest = [change for change in columns if change.field not in _STATES]
        found: list[FieldChange] = []
        for change in (*removing, *moving):
            found += self._column_changes(change, max(0, most - len(found)))
        found += islice(self._other_changes(), max(0, most - len(found)))
        for change in rest:
            found += self._column_changes(change, max(0, most - len(found)))
        return tuple(found)

    def _column_changes(self, change: ColumnChange, most: int) -> Iterator[FieldChange]:
        ids = self.draft.source.ids
        change = _of_rows(change, slice(most))
        reasons = self.draft.reasons.get(change.rule, {})
        for row, was, becomes, because in zip(
            change.rows.tolist(),
            said(change.field, change.before),
            said(change.field, change.after),
            self._because(change),
            strict=True,
        ):
            if id := ids[row]:  # "": forgotten
                yield FieldChange(
                    id=id,
                    field=change.field,
                    before=was,
                    after=becomes,
                    phase=change.phase,
                    rule=change.rule,
                    reason=", ".join(why for why, mask in reasons.items() if mask[row]) or None,
                    because=because,
                )

    def _because(self, change: ColumnChange) -> list[str | None]:
        """Why each row of a change is removed, in words; None for those that are not."""
        found: list[str | None] = [None] * len(change.rows)
        places = np.flatnonzero(removals(change.field, change.after))
        worded = self.draft.because.get(change.rule)
        if len(places) and worded is not None:
            texts = worded(change.rows[places])
            for place, text in zip(places.tolist(), texts, strict=True):
                found[place] = text
        return found

    def name(self, row: int) -> str:
        """Return the id of a row; of a number below 0, that of the memory that is added."""
        return self.draft.source.ids[row] if row >= 0 else f"{self.id}+{-row}"

    def _is_forgotten(self, row: object) -> bool:
        """Whether a row was forgotten since, or a memory would be made of one that was."""
        if not isinstance(row, int):
            return False
        ids = self.draft.source.ids
        if row >= 0:
            return not ids[row]
        return not all(ids[one] for one in self.draft.added[-1 - row].sources.tolist())

    def _other_changes(self) -> Iterator[FieldChange]:
        name, draft, is_forgotten = self.name, self.draft, self._is_forgotten
        for place, added in enumerate(draft.added, start=1):
            if is_forgotten(-place):
                continue
            yield FieldChange(
                id=name(-place),
                field="memory",
                before=None,
                after=added.record.get("text"),
                phase=added.phase,
                rule=added.rule,
            )
        for content in draft.contents:
            after = content.after
            if is_forgotten(content.row):
                continue
            if content.field == "superseded_by" and isinstance(after, int):
                if is_forgotten(after):
                    continue
                after = name(after)
            yield FieldChange(
                id=name(content.row),
                field=content.field,
                before=content.before,
                after=after,
                phase=content.phase,
                rule=content.rule,
            )
        for link in draft.links:
            if is_forgotten(link.one) or is_forgotten(link.other):
                continue
            yield FieldChange(
                id=name(link.one),
                field="link",
                before=None,
                after={"to": name(link.other), "gain": link.gain, "weight": link.weight},
                phase=link.phase,
                rule=link.rule,
            )

    def net(self, only: Collection[str] | None = None) -> Net:
        """Return by field what the cycle as a whole changes: rows, rising, before and after.

        Args:
            only: these fields; None: all.
        """
        found: dict[str, tuple[Rows, npt.NDArray[Any], npt.NDArray[Any]]] = {}
        fields = dict.fromkeys(
            change.field for change in self.draft.columns if only is None or change.field in only
        )
        for field in fields:
            changes = [change for change in self.draft.columns if change.field == field]
            touched = np.zeros(len(self.draft), np.bool_)
            before = np.empty(len(self.draft), changes[0].before.dtype)
            for change in reversed(changes):  # the first to come has the last word
                before[change.rows] = change.before
                touched[change.rows] = True
            rows = np.flatnonzero(touched).astype(np.uint32)
            was, becomes = before[rows], self.draft.column(field)[rows]
            differs = (was != becomes) & ~((was != was) & (becomes != becomes))  # noqa: PLR0124
            found[field] = rows[differs], was[differs], becomes[differs]
        return {field: held for field, held in found.items() if len(held[0])}

    def apply(self) -> DreamReport:
        """Apply the plan in one transaction, all of it or nothing.

        A memory that was changed, linked or unlinked after the plan was made stays as it is, as
        does what was to give way to it or be merged with it; they are named in the report's
        ``changed_since``.

        Raises:
            ValueError: it was applied already.
            EngineClosed: the engine is closed.
            DreamBusy: another cycle runs on this store.
            StoreBusy: another process kept the store locked for too long.
            OSError: the lock beside the store cannot be written.
        """
        return self._applier.apply(self)

    def impact(self, queries: Sequence[str], k: int = 10) -> Impact:
        """Rank a set of questions before and after the plan, without applying it to this store.

        The plan is applied to a copy of the store, and each question searched before and after, with
        the engine's profile at the cycle's ``now`` and without reinforcement. Where an answer
        changed, the plan is applied once more for each of its rules, without that rule, to find the
        rules that the change depends on: :func:`oneiros.dream.impact.impact_of` has the definition.
        Two copies of the store exist at a time.

        Args:
            queries: the questions, as :meth:`oneiros.Engine.search` takes them.
            k: how many results count as answers, at least 1.

        Returns:
            :class:`oneiros.dream.impact.Impact`: overlap, shifts and lost answers of each question,
            and the rules that they depend on.

        Raises:
            TypeError, ValueError: a query that is no text or too large, or another ``k``; or the
                plan was applied already.
            EngineClosed: the engine is closed.
            OSError: the copy cannot be written.
        """
        return self._applier.impact(self, queries, k)

    def html(self, *, impact: Impact | None = None, earlier: Sequence[DreamReport] = ()) -> str:
        """Return the plan as :meth:`DreamReport.html` does, with the texts of removed memories.

        Args:
            impact: what :meth:`impact` returned, for a section of its own.
            earlier: reports of cycles before it, the newest first.

        Raises:
            ImportError: matplotlib is not installed (``oneiros[plots]``).
            TypeError: ``impact`` or ``earlier`` is something else.
            EngineClosed: the engine is closed, and the texts cannot be read.
        """
        from oneiros.dream.page import page, require_plots  # noqa: PLC0415 - few look at it

        require_plots()
        return page(self.report, texts=self._texts_of_gone(), impact=impact, earlier=earlier)

    def _texts_of_gone(self) -> dict[str, str]:
        """Return the texts of the memories that the report names as removed, by id."""
        gone = {change.id for change in self.report.named if change.removal}
        ids = self.draft.source.ids
        held = (
            change.rows[:_MOST_READ] for change in self.draft.columns if change.field in _STATES
        )
        rows = [row for some in held for row in some.tolist() if ids[row] in gone]
        texts = self.draft.source.texts(np.array(rows, np.uint32))
        return {ids[row]: text for row, text in zip(rows, texts, strict=True)}

    def __repr__(self) -> str:
        return repr(self.report)

    def __str__(self) -> str:
        return str(self.report)


def _fields(given: Collection[str]) -> set[str]:
    """Return the fields that were asked for."""
    from oneiros.model.fields import FIELDS  # noqa: PLC0415 - few ask for some alone

    known = {*FIELDS, *_MADE}
    wanted = set(texts("fields", given))
    if unknown := sorted(wanted - known):
        msg = f"fields: must be of a memory, or one of {', '.join(_MADE)}, got {unknown[0]!r}"
        raise ValueError(msg)
    return wanted


def _of_rows(change: ColumnChange, places: slice | npt.NDArray[np.bool_]) -> ColumnChange:
    """Return a change of some of its rows."""
    rows, before, after = change.rows[places], change.before[places], change.after[places]
    return change._replace(rows=rows, before=before, after=after)
