"""A planned cycle: its changes one by one and counted, ready to be applied."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from oneiros import display
from oneiros._lazy import np
from oneiros.display.pages import require
from oneiros.dream.changes import removals, rows_of, same_values
from oneiros.dream.impact import impact_of
from oneiros.dream.lock import Begun
from oneiros.dream.page import page
from oneiros.dream.report import REMOVALS, FieldChange
from oneiros.index.columns import said
from oneiros.model.fields import FIELDS
from oneiros.model.validation import count, require_utf8, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from oneiros.dream.changes import ColumnChange, Rows
    from oneiros.dream.draft import Draft, Mask
    from oneiros.dream.impact import Impact
    from oneiros.dream.report import DreamReport
    from oneiros.engine.scope import EngineServices

    Net = Mapping[str, tuple[Rows, npt.NDArray[Any], npt.NDArray[Any]]]

__all__ = [
    "Counts",
    "DreamPlan",
    "counted",
    "memory_counts",
]


_STATES: Final = (*(field for field, _ in REMOVALS), "depth", "canonical_layer")
"""The columns whose changes are named first, those that remove a memory before others."""
_MADE: Final = ("link", "memory")
"""Changes that are not of a memory's field."""
_MOST_READ: Final = 1_000
"""Memories of one change whose texts are read for a page: a report does not name more."""


class DreamPlan:
    """A planned cycle: its changes, each with the rule that made it.

    Returned by ``Engine.dream(dry_run=True)``, which changes nothing in the store.

    Attributes:
        report: the report of the cycle, as a dry run.
        revision: the store's revision that the plan was made on.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     plan = engine.dream(dry_run=True)
    ...     changes = len(plan)
    ...     report = plan.apply()
    >>> changes, report.change_count, report.is_dry_run
    (0, 0, False)
    """

    def __init__(
        self, draft: Draft, report: DreamReport, revision: int, services: EngineServices
    ) -> None:
        self._services = services  # first: to pickle it says why that is refused
        self.draft = draft
        self.report = report
        self.revision = revision

    @property
    def id(self) -> str:
        """The id to undo the cycle by, once it is applied."""
        return self.report.id

    @property
    def now(self) -> float:
        """The cycle's clock, seconds UTC."""
        return self.draft.now

    def __len__(self) -> int:
        """Return the number of changes of single fields, including those of memories erased since."""
        draft = self.draft
        columns = sum(len(change.rows) for change in draft.columns)
        return columns + len(draft.contents) + len(draft.links) + len(draft.added)

    def changes(
        self, fields: Collection[str] | None = None, *, id: str | None = None
    ) -> Iterator[FieldChange]:
        """Yield all changes, in the order in which the rules made them.

        An added memory is one change of the field "memory", with its text; a link is one change of
        the field "link" of its first memory. Changes that will not be applied are left out: those of
        memories erased since the plan was made, and of memories added from those.

        Args:
            fields: yield changes of these fields only; None: all fields.
            id: yield changes of this memory only; None: of all.

        Raises:
            TypeError: ``fields`` is not a collection of str, or ``id`` not a text.
            ValueError: a memory has no such field.
        """
        if id is not None:
            require_utf8("id", id)
        return self._changes(None if fields is None else _fields(fields), id)

    def _changes(self, fields: Collection[str] | None, id: str | None) -> Iterator[FieldChange]:
        row = None if id is None else self.draft.source.row_of(id)
        for change in self.draft.columns if id is None or row is not None else ():
            if fields is None or change.field in fields:
                found = change if row is None else _of_rows(change, change.rows == row)
                yield from self._column_changes(found, len(found.rows))
        for other in self._other_changes():
            if (fields is None or other.field in fields) and (id is None or other.id == id):
                yield other

    def named(self, most: int) -> tuple[FieldChange, ...]:
        """Return up to ``most`` changes, those that remove or move a memory first."""
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
        for row, before, after, because in zip(
            change.rows.tolist(),
            said(change.field, change.before),
            said(change.field, change.after),
            self._because(change),
            strict=True,
        ):
            if id := ids[row]:  # "": erased
                yield FieldChange(
                    id=id,
                    field=change.field,
                    before=before,
                    after=after,
                    phase=change.phase,
                    rule=change.rule,
                    reason=", ".join(why for why, mask in reasons.items() if mask[row]) or None,
                    because=because,
                )

    def _because(self, change: ColumnChange) -> list[str | None]:
        """Return the reason for each removed row of a change as text; None for the other rows."""
        found: list[str | None] = [None] * len(change.rows)
        places = np.flatnonzero(removals(change.field, change.after))
        reasons_of = self.draft.because.get(change.rule)
        if len(places) and reasons_of is not None:
            reasons = reasons_of(self.draft, change.rows[places])
            for place, text in zip(places.tolist(), reasons, strict=True):
                found[place] = text
        return found

    def protections(self, id: str) -> tuple[str, ...]:
        """Return why the profile's rails keep a memory, whatever the rules of removal find.

        Args:
            id: the memory's id.

        Returns:
            Reasons, which :func:`oneiros.dream.report.held_words` puts into words: "protected",
            "important" (no rule of age removes it), "young". Empty if none holds, or if the memory
            is deleted, unknown or newer than the plan.

        Raises:
            TypeError, ValueError: the id is not a text.

        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada is allergic to nuts", pinned=True)
        ...     engine.dream(dry_run=True).protections(id)
        ('protected', 'young')
        """
        require_utf8("id", id)
        draft = self.draft
        row = draft.source.row_of(id)
        if row is None or row >= len(draft) or row not in draft.source.live_rows():
            return ()
        masks = {
            "protected": draft.protected,
            "important": draft.kept_for_worth,
            "young": draft.young,
        }
        return tuple(reason for reason, mask in masks.items() if mask[row])

    def name(self, row: int) -> str:
        """Return the id of a row; a negative number stands for an added memory."""
        return self.draft.source.ids[row] if row >= 0 else f"{self.id}+{-row}"

    def _is_erased(self, row: object) -> bool:
        """Whether a row, or a source of an added memory, was erased since the plan was made."""
        if not isinstance(row, int):
            return False
        ids = self.draft.source.ids
        if row >= 0:
            return not ids[row]
        return not all(ids[source] for source in self.draft.added[-1 - row].sources.tolist())

    def _other_changes(self) -> Iterator[FieldChange]:
        name, draft, is_erased = self.name, self.draft, self._is_erased
        for number, added in enumerate(draft.added, start=1):
            if is_erased(-number):
                continue
            yield FieldChange(
                id=name(-number),
                field="memory",
                before=None,
                after=added.record.get("text"),
                phase=added.phase,
                rule=added.rule,
            )
        for content in draft.contents:
            after = content.after
            if is_erased(content.row):
                continue
            if content.field == "superseded_by" and isinstance(after, int):
                if is_erased(after):
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
            if is_erased(link.one) or is_erased(link.other):
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
        """Return the net change of each field: ascending rows, their values before and after.

        Args:
            only: restrict to these fields; None: all.
        """
        found: dict[str, tuple[Rows, npt.NDArray[Any], npt.NDArray[Any]]] = {}
        fields = dict.fromkeys(
            change.field for change in self.draft.columns if only is None or change.field in only
        )
        for field in fields:
            changes = [change for change in self.draft.columns if change.field == field]
            touched = np.zeros(len(self.draft), np.bool_)
            before = np.empty(len(self.draft), changes[0].before.dtype)
            for change in reversed(changes):  # the first change holds the original value
                before[change.rows] = change.before
                touched[change.rows] = True
            rows = rows_of(touched)
            old, new = before[rows], self.draft.column(field)[rows]
            differs = ~same_values(old, new)
            if differs.any():
                found[field] = rows[differs], old[differs], new[differs]
        return found

    def apply(self) -> DreamReport:
        """Apply the plan in one transaction, completely or not at all.

        A memory that was changed, linked or unlinked after the plan was made is left unchanged, as
        are memories that it was to supersede or be summarised with. The report's ``changed_since``
        lists them.

        Returns:
            The report of the applied cycle.

        Raises:
            ValueError: the plan was applied already.
            EngineClosed: the engine is closed.
            DreamBusy: another cycle runs on this store.
            StoreBusy: another process kept the store locked for too long.
            StoreFull: the disk is full. Nothing was changed.
            OSError: the lock file next to the store cannot be written.
        """
        calls = self._services.calls
        if calls is None:
            return self._apply()
        with calls.around("apply") as report:
            applied = self._apply()
            report(applied)
            return applied

    def _apply(self) -> DreamReport:
        services = self._services
        services.require_open()
        services.require_writable("apply")
        changed: list[str] | None = [] if services.observers else None
        with services.cycles.held(Begun(self.id, self.now)):
            report = services.remember.cycles.apply_cycle(self, changed=changed)
        if changed is not None:
            services.publish("dream", "apply", changed, time=report.now)
        return report

    def impact(self, queries: Sequence[str], k: int = 10) -> Impact:
        """Rank queries before and after the plan, without applying it to this store.

        The plan is applied to a copy of the store. Each query is searched before and after, with
        the engine's profile, at the cycle's ``now`` and without reinforcement. If a result changed,
        the plan is applied once more for each of its rules, without that rule, to find the rules
        responsible: see :func:`oneiros.dream.impact.impact_of`. Two copies exist at a time, in the
        folder for temporary files.

        Args:
            queries: texts, as for :meth:`oneiros.Engine.search`.
            k: number of results to compare, at least 1.

        Returns:
            :class:`oneiros.dream.impact.Impact`: overlap, shifts and lost results of each query, and
            the rules responsible.

        Raises:
            TypeError, ValueError: a query is no text or too large, ``k`` is out of range, or the
                plan was applied already.
            EngineClosed: the engine is closed.
            OSError: the copy cannot be written.
        """
        most = count("k", k, low=1)
        checked = list(texts("queries", queries))
        for place, query in enumerate(checked):
            require_utf8(f"queries[{place}]", query)
        with self._services.trials(self._services, self.now) as trials:
            return impact_of(self, checked, most, trials)

    def html(self, *, impact: Impact | None = None, earlier: Sequence[DreamReport] = ()) -> str:
        """Return the report as an HTML page, with the texts of removed memories.

        See :meth:`oneiros.dream.report.DreamReport.html`.

        Args:
            impact: the result of :meth:`impact`, for its own section.
            earlier: reports of earlier cycles, the newest first.

        Raises:
            ImportError: matplotlib or Jinja2 is not installed (``oneiros[plots]``).
            TypeError: ``impact`` or ``earlier`` has another type.
            EngineClosed: the engine is closed, so the texts cannot be read.
        """
        require()
        return page(self.report, texts=self._texts_of_gone(), impact=impact, earlier=earlier)

    def _texts_of_gone(self) -> dict[str, str]:
        """Return by id the texts of the memories that the report names as removed."""
        gone = {change.id for change in self.report.named if change.removal}
        ids = self.draft.source.ids
        changes = (change for change in self.draft.columns if change.field in _STATES)
        rows = [
            row
            for change in changes
            for row in change.rows[:_MOST_READ].tolist()
            if ids[row] in gone
        ]
        texts = self.draft.source.texts(np.array(rows, np.uint32))
        return {ids[row]: text for row, text in zip(rows, texts, strict=True)}

    def to_frame(self) -> pd.DataFrame:
        """Return the named changes of the report; see :meth:`DreamReport.to_frame`."""
        return self.report.to_frame()

    def _repr_html_(self) -> str:
        return display.notebook.report_html(self.report, self._texts_of_gone())

    def __repr__(self) -> str:
        return repr(self.report)

    def __str__(self) -> str:
        return str(self.report)


def _fields(given: Collection[str]) -> set[str]:
    """Return the fields to yield, validated."""
    known = {*FIELDS, *_MADE}
    wanted = set(texts("fields", given))
    if unknown := sorted(wanted - known):
        msg = f"fields: must be of a memory, or one of {', '.join(_MADE)}, got {unknown[0]!r}"
        raise ValueError(msg)
    return wanted


def _of_rows(change: ColumnChange, places: slice | npt.NDArray[np.bool_]) -> ColumnChange:
    """Return a change restricted to some of its rows."""
    rows, before, after = change.rows[places], change.before[places], change.after[places]
    return change._replace(rows=rows, before=before, after=after)


Counts: TypeAlias = dict[str, dict[str, dict[str, int]]]
"""By phase, then rule, then field; "link" counts links, "memory" added memories."""


def counted(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> Counts:
    """Count the changes of a draft.

    Args:
        draft: after all phases.
        stays: mask of rows that are left unchanged; None: no row.
        is_left: whether any of its arguments is such a row, or a memory that is not added; None:
            never.
    """
    found: Counts = {}

    def add(phase: str, rule: str, field: str, count: int) -> None:
        if count:
            fields = found.setdefault(phase, {}).setdefault(rule, {})
            fields[field] = fields.get(field, 0) + count

    for change in draft.columns:
        left = 0 if stays is None else int(np.count_nonzero(stays[change.rows]))
        add(change.phase, change.rule, change.field, len(change.rows) - left)
    for part in draft.links.parts:
        ends = zip(part.ones, part.others, strict=True)
        left = 0 if is_left is None else sum(is_left(*pair) for pair in ends)
        add(part.phase, part.rule, "link", len(part.ones) - left)
    for content in draft.contents:
        is_changed = is_left is None or not is_left(content.row, content.after)
        add(content.phase, content.rule, content.field, int(is_changed))
    for index, added in enumerate(draft.added):
        is_added = is_left is None or not is_left(-1 - index)
        add(added.phase, added.rule, "memory", int(is_added))
    return found


def memory_counts(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> dict[str, dict[str, int]]:
    """Count the memories that each rule changes, by phase, each memory once; links do not count.

    The arguments are those of :func:`counted`.
    """
    changed: dict[tuple[str, str], Mask] = {}
    created: dict[tuple[str, str], int] = {}

    def rows_of(phase: str, rule: str) -> Mask:
        return changed.setdefault((phase, rule), np.zeros(len(draft), np.bool_))

    for change in draft.columns:
        rows_of(change.phase, change.rule)[change.rows] = True
    for content in draft.contents:
        if content.row >= 0 and (is_left is None or not is_left(content.row, content.after)):
            rows_of(content.phase, content.rule)[content.row] = True
    for index, added in enumerate(draft.added):
        key = added.phase, added.rule
        created[key] = created.get(key, 0) + int(is_left is None or not is_left(-1 - index))
    found: dict[str, dict[str, int]] = {}
    for phase, rule in (*changed, *(key for key in created if key not in changed)):
        rows = changed.get((phase, rule), np.zeros(0, np.bool_))
        count = int(np.count_nonzero(rows if stays is None else rows & ~stays[: len(rows)]))
        found.setdefault(phase, {})[rule] = count + created.get((phase, rule), 0)
    return found
