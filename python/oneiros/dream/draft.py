"""A working copy of the store for one dream cycle. Phases read and change only this draft."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from oneiros._lazy import np
from oneiros.dream.changes import (
    ARCHIVED,
    CONSOLIDATED,
    HOT,
    STUB,
    AddedMemory,
    ChangedLinks,
    ColumnChange,
    ContentChange,
    Held,
    removals,
    same_values,
)
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.store.cycles import DayTaken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.source import DraftSource
    from oneiros.scoring.factor import Factor

    Column = npt.NDArray[Any]
    Days = npt.NDArray[np.float64]
    Judge = Callable[[str, str], str]
    Summarise = Callable[[Sequence[str]], str]
    Mask = npt.NDArray[np.bool_]

__all__ = ["Draft"]

_DAY: Final = 86_400.0
_RESISTANT_TAGS: Final = tuple(
    ENUMS["importance_tag"].index(tag) for tag in ("explicit", "schema_violation")
)

Kind = TypeVar("Kind")


class Draft:
    """The memories as a cycle sees them, with all changes made so far.

    Phases change the draft in turn, and each sees the changes of the previous ones. Rows are those
    of the process's columns, including deleted and erased memories: :attr:`live` is the mask of the
    others. A memory is removed if it is soft-deleted, archived or cut to a stub.

    Args:
        source: the store.
        now: the cycle's clock, seconds UTC.
        previous: ``now`` of the previous cycle, or None.
        rails: limits on removals and changes; None: only pinned, core and resistant memories
            (by importance tag) are protected.
        day: memories that cycles removed within 24 hours; None: none.
        summarise: writes one text from several; None: no summariser.
        judge: compares two texts, the older first, and returns "contradiction", "update",
            "duplicate" or "distinct"; None: no judge.
        factors: the profile's factors, see :meth:`factor`.
        embeds: whether a memory added without a vector gets one from its text.
        expiring_kinds: kinds that expire in the profile; empty: all kinds.
    """

    def __init__(
        self,
        source: DraftSource,
        *,
        now: float,
        previous: float | None = None,
        rails: SafetyRails | None = None,
        day: DayTaken | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
        factors: Sequence[Factor] = (),
        embeds: bool = False,
        expiring_kinds: Sequence[str] = (),
    ) -> None:
        self.source = source
        self.summarise = summarise
        self.judge = judge
        self.embeds = embeds
        self._factors = factors
        self._expiring_kinds = expiring_kinds
        self.now = now
        self.previous = previous
        self.rails = rails or SafetyRails()
        self.day = day or DayTaken(0, None)
        self.candidates: Rows = np.empty(0, np.uint32)
        """The rows that the scan found, the most urgent first; empty before the scan."""
        self.peer_counts: npt.NDArray[np.int64] | None = None
        """Per row, the number of memories it was replayed with; None before the replay."""
        self.columns: list[ColumnChange] = []
        self.contents: list[ContentChange] = []
        self.links = ChangedLinks()
        self.added: list[AddedMemory] = []
        self.held: list[Held] = []
        self.rests: list[tuple[Rows, Rows]] = []
        """Pairs of rows: changes of the first apply only while the second is unchanged."""
        self.figures: dict[str, dict[str, float]] = {}
        """Counts noted by each phase besides its changes, by phase name."""
        self.reasons: dict[str, Mapping[str, Mask]] = {}
        """By rule, for rules with several reasons: each reason and the mask of its rows."""
        self.because: dict[str, Callable[[Draft, Rows], list[str]]] = {}
        """By rule, a function that returns the reason for each removed row as text."""
        self.unmade: frozenset[int] = frozenset()
        """Indexes in ``added`` of memories that are not created."""
        self._drafted: dict[str, Column] = {}
        self._phase = ""
        self.live: Mask = np.zeros(len(source.column("deleted_at")), np.bool_)
        """Mask of the rows that are not deleted in the draft; read-only."""
        self.live[source.live_rows()] = True
        self._live_count = int(np.count_nonzero(self.live))
        # The share that may be removed is of the memories still shown: without archived ones.
        self._shown: Mask = self.live & (source.column("status")[: len(self.live)] != ARCHIVED)
        self.shown_count = int(np.count_nonzero(self._shown))
        """Number of memories that were neither deleted nor archived before the cycle."""
        self._pruned = np.zeros(len(self.live), np.bool_)
        self.is_asked: Mask = np.zeros(len(self.live), np.bool_)
        """Mask of the removed rows that no limit of a day holds back."""
        self._changed = np.zeros(len(self.live), np.bool_)

    def begin(self, phase: str) -> None:
        """Set the phase that makes the following changes."""
        self._phase = phase

    def factor(self, kind: type[Kind]) -> Kind:
        """Return the profile's factor of a class, or one with the published defaults."""
        return (
            next((factor for factor in self._factors if isinstance(factor, kind)), None) or kind()
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.live)

    def column(self, name: str) -> Column:
        """Return a column with the draft's changes, one value per row; read-only."""
        drafted = self._drafted.get(name)
        return self.source.column(name)[: len(self)] if drafted is None else drafted

    def taken_rows(self) -> Rows:
        """Return the rows removed so far, each once, in the order of removal."""
        found = [change.rows[removals(change.field, change.after)] for change in self.columns]
        rows = np.concatenate([self.candidates[:0], *found])
        _, first = np.unique(rows, return_index=True)
        return rows[np.sort(first)]

    def newly_hidden(self, rows: Rows) -> int:
        """Count the rows that were neither deleted nor archived before the cycle, but are now."""
        rows = rows[self._shown[rows]]
        is_hidden = ~self.live[rows] | (self.column("status")[rows] == ARCHIVED)
        return int(np.count_nonzero(is_hidden))

    def day_limit(self, day: DayTaken) -> int | None:
        """Return how many memories the cycles of 24 hours may remove; None: no limit.

        Args:
            day: the removals before this cycle.
        """
        share = self.rails.most_pruned
        if share == 1.0:
            return None
        count = self.shown_count
        return int(
            share * (count if day.shown is None else min(day.shown, count + day.taken_shown))
        )

    def age_days(self, name: str) -> Days:
        """Return the days since a time field: 0 for a time in the future, NaN for no time."""
        return self._days_since(self.column(name))

    def idle_days(self) -> Days:
        """Return the days since each row's last access, or since its creation if never accessed."""
        return self._days_since_use(self.column, None)

    def staleness_days(self, now: float | None = None) -> Days:
        """Return the idle days that rules of removal use.

        As :meth:`idle_days`, but counted from the latest of the rails' ``activity_times`` if that
        is later.

        Args:
            now: reference time, seconds; None: the cycle's clock.
        """
        return self._days_since_use(self.activity, now)

    def settled_days(self) -> Days:
        """Return the age in days that rules of removal use.

        Counted from creation, or from the latest of the rails' ``activity_times`` if that is later.
        """
        return self._days_since(self.activity("created_at"))

    def _days_since_use(self, times: Callable[[str], Column], now: float | None) -> Days:
        accessed = times("last_accessed_at")
        return self._days_since(np.where(np.isnan(accessed), times("created_at"), accessed), now)

    def _days_since(self, times: Column, now: float | None = None) -> Days:
        """Return the days since each time, at least 0; NaN stays NaN."""
        days: Days = ((self.now if now is None else now) - times) / _DAY
        return np.maximum(days, 0.0)

    def activity(self, name: str) -> Column:
        """Return a time field, raised to the latest of the rails' ``activity_times``.

        NaN (no such time) stays NaN.
        """
        times = self.column(name)
        latest = times
        for other in self.rails.activity_times:
            latest = np.fmax(latest, self.column(other))
        return np.where(np.isnan(times), times, latest)

    @property
    def kept_for_worth(self) -> Mask:
        """Mask of the rows that no age rule removes: those of high importance or priority."""
        mask: Mask = np.zeros(len(self), np.bool_)
        if self.rails.kept_importance is not None:
            mask |= self.column("importance") >= np.float32(self.rails.kept_importance)
        if self.rails.kept_priority is not None:
            mask |= self.column("priority") >= self.rails.kept_priority
        return mask

    def without_kept(self, rule: str, mask: Mask) -> Mask:
        """Return the part of a mask that an age rule may remove, and count the rest as held.

        Protected rows stay in the mask: :meth:`removable` counts them.
        """
        kept = mask & self.kept_for_worth & ~self.protected
        self._note_held(rule, "important", kept)
        free: Mask = mask & ~kept
        return free

    @property
    def protected(self) -> Mask:
        """Mask of the rows that no phase removes. Source: docs/systems/reverie.md R13."""
        tags = self.column("importance_tag")
        resists = np.isin(tags, _RESISTANT_TAGS)
        mask: Mask = resists | (self.column("pinned") != 0) | (self.column("core") != 0)
        return mask

    @property
    def young(self) -> Mask:
        """Mask of the rows that are too young to be removed."""
        learned = np.fmax(self.column("created_at"), self.column("learned_at"))
        mask: Mask = self._days_since(learned) < self.rails.youngest_days
        return mask

    @property
    def valid_from(self) -> Column:
        """The start of each row's validity, seconds UTC; minus infinity: none."""
        starts: Column = np.nan_to_num(self.column("valid_from"), nan=-np.inf)
        return starts

    @property
    def valid_until(self) -> Column:
        """The end of each row's validity, seconds UTC; infinity: none, as of kinds that do not expire.

        Source: docs/systems/cognitive.md C7.
        """
        expires_at = self.column("created_at") + self.column("ttl")
        ends: Column = np.fmin(self.column("valid_until"), expires_at)
        is_endless = np.isnan(ends)
        if self._expiring_kinds:
            kinds = self.source.kinds
            codes = [kinds.index(kind) for kind in self._expiring_kinds if kind in kinds]
            is_endless |= ~np.isin(self.column("kind"), codes)
        return np.where(is_endless, np.inf, ends)

    def change(self, rule: str, field: str, rows: Rows, values: npt.ArrayLike) -> Rows:
        """Set a column of rows, within the budget of changes.

        Args:
            rule: its code in docs/systems, such as "R12".
            field: the column's name; use :meth:`delete` for ``deleted_at``.
            rows: each once, in order of priority: a short budget goes to the first.
            values: a single value, or one per row.

        Returns:
            The rows whose value changed.
        """
        rows, values = self._differing(field, rows, values)
        allowed = self._within_changes(rule, rows)
        return self._write(rule, field, rows[allowed], values[allowed])

    def changeable(self, rule: str, rows: Rows, *, whole: bool = False) -> Rows:
        """Return the rows that the budget allows to change, and count them as changed.

        Args:
            rule: its code in docs/systems.
            rows: each once, in order of priority.
            whole: allow all of them or none.
        """
        return rows[self._within_changes(rule, rows, whole=whole)]

    def downscale(self, rule: str, rows: Rows, values: npt.ArrayLike) -> Rows:
        """Set the strength of rows, without a budget: downscaling changes all rows by design."""
        return self._write(rule, "strength", *self._differing("strength", rows, values))

    def lower_trust(self, rule: str, kept: npt.ArrayLike, merged: Rows) -> None:
        """Lower the trust of rows to that of the rows merged into them, whatever the budget.

        Applies only while the merged rows are unchanged.

        Args:
            rule: its code in docs/systems.
            kept: for each merged row, the row that is kept; it may come several times.
            merged: each once.
        """
        rows = np.asarray(kept, np.uint32)
        trust = self.column("trust").copy()
        np.minimum.at(trust, rows, trust[merged])
        lowered = np.unique(rows)
        if len(self._write(rule, "trust", *self._differing("trust", lowered, trust[lowered]))):
            self.rest(rows, merged)

    def delete(self, rule: str, rows: Rows) -> Rows:
        """Soft-delete rows within the rails, in order of priority; returns the deleted rows."""
        taken = self.removable(rule, rows)
        self._write(rule, "deleted_at", taken, np.full(len(taken), self.now))
        self.live[taken] = False
        return taken

    def archive(self, rule: str, rows: Rows) -> Rows:
        """Archive rows within the rails, in order of priority; returns the archived rows."""
        rows = rows[self.column("status")[rows] != ARCHIVED]
        taken = self.removable(rule, rows)
        return self._write(rule, "status", taken, np.full(len(taken), ARCHIVED, np.uint8))

    def set_aside(self, rule: str, rows: Rows, *, is_asked: bool) -> Rows:
        """Archive rows so that :meth:`bring_back` finds them; returns the archived rows.

        Args:
            rule: its code in docs/systems.
            rows: live rows that are not archived, each once, in order of priority.
            is_asked: whether a user named the number that stays; then the limit of a day does not
                hold.
        """
        taken = self.removable(rule, rows, is_asked=is_asked)
        self._write(rule, "status", taken, np.full(len(taken), ARCHIVED, np.uint8))
        self._write(rule, "cold_since", *self._differing("cold_since", taken, self.now))
        return taken

    @property
    def set_aside_rows(self) -> Mask:
        """Mask of the live rows that :meth:`set_aside` archived, in this cycle or before."""
        mask: Mask = self.live & (self.column("status") == ARCHIVED)
        mask &= (self.column("tier") == HOT) & ~np.isnan(self.column("cold_since"))
        return mask

    def bring_back(self, rule: str, rows: Rows) -> Rows:
        """Consolidate rows that were set aside, within the budget of changes; returns them."""
        back = self.changeable(rule, rows)
        self._write(rule, "status", back, np.full(len(back), CONSOLIDATED, np.uint8))
        self._write(rule, "cold_since", back, np.full(len(back), np.nan))
        return back

    def cut_to_stub(self, rule: str, rows: Rows) -> Rows:
        """Move rows to the tier "stub" within the rails; returns the moved rows.

        The caller cuts their texts, vectors and links.
        """
        rows = rows[self.column("tier")[rows] != STUB]
        taken = self.removable(rule, rows)
        return self._write(rule, "tier", taken, np.full(len(taken), STUB, np.uint8))

    def removable(self, rule: str, rows: Rows, *, is_asked: bool = False) -> Rows:
        """Return the rows that the rails allow to remove, and count them as removed.

        Args:
            rule: its code in docs/systems.
            rows: live rows, each once, in order of priority.
            is_asked: whether the limit of a day does not hold.
        """
        rows = rows[self.live[rows]]
        kept = self.protected[rows]
        self._note_held(rule, "protected", kept)
        rows = rows[~kept]
        young = self.young[rows]
        self._note_held(rule, "young", young)
        rows = rows[~young]
        fresh = ~self._pruned[rows]
        limit = None if is_asked else self.day_limit(self.day)
        over = np.zeros(len(rows), np.bool_)
        if limit is not None:
            left = limit - self.day.memories - int(self._pruned.sum())
            over = fresh & (np.cumsum(fresh) > left)
        self._note_held(rule, "prune budget", over)
        rows = rows[~over]
        self._pruned[rows] = True
        if is_asked:
            self.is_asked[rows] = True
        return rows

    def set_content(self, rule: str, field: str, row: int, before: object, after: object) -> None:
        """Change a field of one memory that is not in a column: "text" or "embedding"."""
        self.contents.append(ContentChange(self._phase, rule, field, row, before, after))

    def supersede(self, rule: str, row: int, by: int) -> None:
        """Mark a row as superseded by another memory; a negative ``by`` is an added memory."""
        self.contents.append(ContentChange(self._phase, rule, "superseded_by", row, None, by))
        if "superseded" not in self._drafted:
            self._drafted["superseded"] = self.column("superseded").copy()
        self._drafted["superseded"][row] = 1
        if by >= 0:
            self.rest([row], [by])

    def rest(self, rows: npt.ArrayLike, others: npt.ArrayLike) -> None:
        """Make changes of rows depend on ``others``, one per row: apply only if unchanged."""
        self.rests.append((np.asarray(rows, np.uint32), np.asarray(others, np.uint32)))

    def add(self, rule: str, record: Mapping[str, object], sources: Rows) -> int:
        """Add a memory; returns the negative number that stands for it in this cycle.

        Its sources depend on each other: if one changes before the plan is applied, none is merged.
        """
        self.rest(sources, np.roll(sources, 1))
        self.added.append(AddedMemory(self._phase, rule, dict(record), sources))
        return -len(self.added)

    def link(
        self,
        rule: str,
        ones: npt.ArrayLike,
        others: npt.ArrayLike,
        *,
        gain: float = 0.0,
        weight: float | None = None,
        kind: str = "co_retrieval",
    ) -> None:
        """Strengthen or set the link of one pair, or of each of many pairs.

        :class:`oneiros.dream.changes.LinkChange` describes the arguments.
        """
        self.links.add(self._phase, rule, ones, others, gain=gain, weight=weight, kind=kind)

    def count(self, **figures: float) -> None:
        """Note counts of the running phase for the report."""
        self.figures.setdefault(self._phase, {}).update(figures)

    def rules(self) -> tuple[str, ...]:
        """Return the rules that made changes, each once."""
        kinds = (self.columns, self.contents, self.links.parts, self.added)
        return tuple(dict.fromkeys(change.rule for changes in kinds for change in changes))

    def without(self, rule: str) -> Self:
        """Return a copy without the changes of one rule.

        Nothing is planned again: the other rules change the same rows. A later change that built on
        a value of the removed rule is rebased: a share (a float32 such as the strength) is
        multiplied by the same ratio, any other field gets its planned value.

        Args:
            rule: its code in docs/systems, such as "R12".
        """
        rest = copy(self)
        rest.columns, rest._drafted = self._columns_without(rule)
        rest.contents = [content for content in self.contents if content.rule != rule]
        rest.links = self.links.without(rule)
        rest.unmade = self.unmade | {
            place for place, added in enumerate(self.added) if added.rule == rule
        }
        superseded = [
            content.row
            for content in rest.contents
            if content.field == "superseded_by" and content.row >= 0
        ]
        if superseded:
            rest._drafted["superseded"] = self.source.column("superseded")[: len(self)].copy()
            rest._drafted["superseded"][superseded] = 1
        rest.live = np.zeros(len(self), np.bool_)
        rest.live[self.source.live_rows()] = True
        for change in rest.columns:
            if change.field == "deleted_at":
                rest.live[change.rows] = np.isnan(change.after)
        return rest

    def _columns_without(self, rule: str) -> tuple[list[ColumnChange], dict[str, Column]]:
        """Return the column changes without those of a rule, and the resulting columns."""
        columns: dict[str, Column] = {}
        changes = []
        for change in self.columns:
            field, rows = change.field, change.rows
            if change.rule == rule:
                continue
            if field not in columns:
                columns[field] = self.source.column(field)[: len(self)].copy()
            before = columns[field][rows]
            after = _rebased(change, before)
            moved = ~same_values(before, after)
            columns[field][rows] = after
            changes.append(
                change._replace(rows=rows[moved], before=before[moved], after=after[moved])
            )
        return [change for change in changes if len(change.rows)], columns

    def _differing(self, field: str, rows: Rows, values: npt.ArrayLike) -> tuple[Rows, Column]:
        """Return the rows whose value would change, and the new values in the column's dtype."""
        column = self.column(field)
        wanted = np.broadcast_to(np.asarray(values), rows.shape).astype(column.dtype)
        same = same_values(column[rows], wanted)
        return (rows, wanted) if not same.any() else (rows[~same], wanted[~same])

    def _write(self, rule: str, field: str, rows: Rows, values: Column) -> Rows:
        """Write values that differ from the current ones, note the change, return the rows."""
        if len(rows):
            column = self.column(field)
            drafted = self._drafted.get(field)
            self.columns.append(ColumnChange(self._phase, rule, field, rows, column[rows], values))
            if drafted is None:
                drafted = self._drafted[field] = column.copy()
            drafted[rows] = values
        return rows

    def _within_changes(self, rule: str, rows: Rows, *, whole: bool = False) -> Mask:
        fresh = ~self._changed[rows]
        left = int(self.rails.most_changed * self._live_count) - int(self._changed.sum())
        over = fresh & (np.cumsum(fresh) > left)
        if whole and over.any():
            over = np.ones_like(over)
        self._note_held(rule, "change budget", over)
        self._changed[rows[~over]] = True
        return ~over

    def _note_held(self, rule: str, reason: str, mask: Mask) -> None:
        count = int(np.count_nonzero(mask))
        if count:
            self.held.append(Held(self._phase, rule, reason, count))


def _rebased(change: ColumnChange, found: Column) -> Column:
    """Return the new values of a change applied to other values than it was planned on."""
    bounds = FIELDS[change.field].range
    if FIELDS[change.field].kind != "float32" or bounds is None:
        return change.after
    before, after = change.before.astype(np.float64), change.after.astype(np.float64)
    ratio = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    scaled = np.clip(np.where(before > 0, found * ratio, after), bounds.low, bounds.high)
    rebased: Column = np.where(same_values(found, change.before), change.after, scaled)
    return rebased.astype(found.dtype)
