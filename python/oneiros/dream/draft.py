"""The store as a cycle drafts it: phases read and change the draft, nothing else is touched."""

from __future__ import annotations

from array import array
from copy import copy
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar

from oneiros._lazy import np
from oneiros.dream.changes import AddedMemory, ColumnChange, ContentChange, Held, LinkChange
from oneiros.dream.source import DraftSource
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.scoring.safety_limits import SafetyRails
from oneiros.store.cycles import DayTaken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.scoring.factor import Factor

__all__ = ["ChangedLinks", "Draft", "DraftSource", "LinksOfRule"]


_NUMBER: Final = "q"  # int64: a number below 0 is a memory that is added


class LinksOfRule(NamedTuple):
    """Links that one rule changes in one way; what the fields say is told of :class:`LinkChange`."""

    phase: str
    rule: str
    gain: float
    weight: float | None
    kind: str
    ones: array[int]
    others: array[int]
    """One for each of ``ones``."""


class ChangedLinks:
    """All links that a cycle changes, in the order in which rules change them.

    Iterating makes a :class:`LinkChange` of each, and keeps none.
    """

    def __init__(self) -> None:
        self._parts: list[LinksOfRule] = []

    @property
    def parts(self) -> Sequence[LinksOfRule]:
        """The same, those together that one rule changes in one way, one after the other."""
        return self._parts

    def add(
        self,
        phase: str,
        rule: str,
        ones: npt.ArrayLike,
        others: npt.ArrayLike,
        *,
        gain: float,
        weight: float | None,
        kind: str,
    ) -> None:
        """Add links of pairs: numbers of one shape, a number each or (n,) each."""
        pairs = np.asarray(ones, np.int64), np.asarray(others, np.int64)
        if not pairs[0].size:
            return
        way = (phase, rule, gain, weight, kind)
        if not self._parts or self._parts[-1][: len(way)] != way:
            self._parts.append(LinksOfRule(*way, array(_NUMBER), array(_NUMBER)))
        part = self._parts[-1]
        part.ones.frombytes(pairs[0].tobytes())
        part.others.frombytes(pairs[1].tobytes())

    def without(self, rule: str) -> ChangedLinks:
        """Return the same without those that a rule changes."""
        rest = ChangedLinks()
        rest._parts = [part for part in self._parts if part.rule != rule]
        return rest

    def __len__(self) -> int:
        """Return how many links are changed, each as often as it is."""
        return sum(len(part.ones) for part in self._parts)

    def __iter__(self) -> Iterator[LinkChange]:
        """Yield them one by one."""
        for phase, rule, gain, weight, kind, ones, others in self._parts:
            for one, other in zip(ones, others, strict=True):
                yield LinkChange(phase, rule, one, other, gain, weight, kind)


if TYPE_CHECKING:
    Column = npt.NDArray[Any]
    Judge = Callable[[str, str], str]
    Summarise = Callable[[Sequence[str]], str]
    Mask = npt.NDArray[np.bool_]


_DAY: Final = 86_400.0
_RESISTANT_TAGS: Final = tuple(
    ENUMS["importance_tag"].index(tag) for tag in ("explicit", "schema_violation")
)
_ARCHIVED: Final = ENUMS["status"].index("archived")
_STUB: Final = ENUMS["tier"].index("stub")
_AWAY: Final = {"status": _ARCHIVED, "tier": _STUB}

Kind = TypeVar("Kind")


class Draft:
    """The memories as a cycle sees them, and what it has changed so far.

    Phases change it one after the other, and each sees what those before it did. Rows are those of
    the process's columns, deleted and erased ones among them: :attr:`live` tells.

    Args:
        source: the store.
        now: the cycle's clock, seconds UTC.
        previous: ``now`` of the cycle before, or None.
        rails: what is never done; None: only what is pinned, core or resists by its tag is kept.
        day: what cycles took away within 24 hours; None: nothing.
        summarise: writes one text of several; None: nobody does.
        judge: says what a pair of texts, the older first, have to do with each other: one of
            "contradiction", "update", "duplicate" and "distinct"; None: nobody does.
        factors: of the profile; see :meth:`factor`.
        embeds: whether what is added without a vector gets one of its text.
        expiring_kinds: the kinds that expire in the profile; none: every kind.
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
        """What the scan found, the most urgent first; empty until it ran."""
        self.peer_counts: npt.NDArray[np.int64] | None = None
        """One a row: how many memories each was replayed with in this cycle; None before."""
        self.columns: list[ColumnChange] = []
        self.contents: list[ContentChange] = []
        self.links = ChangedLinks()
        self.added: list[AddedMemory] = []
        self.held: list[Held] = []
        self.rests: list[tuple[Rows, Rows]] = []
        """Pairs of rows: what is planned for the first holds only while the second stays as it is."""
        self.figures: dict[str, dict[str, float]] = {}
        """Of each phase by name, what it counted besides its changes."""
        self.reasons: dict[str, Mapping[str, Mask]] = {}
        """By rules that have several, each reason and the rows that it holds for."""
        self.because: dict[str, Callable[[Rows], list[str]]] = {}
        """By rule, the reasons in words for rows that it removes, one text a row."""
        self.unmade: frozenset[int] = frozenset()
        """Places in ``added`` of memories that are not to be made."""
        self._drafted: dict[str, Column] = {}
        self._phase = ""
        self.live: Mask = np.zeros(len(source.column("deleted_at")), np.bool_)
        """Which rows are memories that are not deleted, as the draft stands; not to be written to."""
        self.live[source.live_rows()] = True
        self._live_count = int(np.count_nonzero(self.live))
        # Archived memories are removed already: they are not part of what a tenth is taken of.
        self._shown: Mask = self.live & (source.column("status")[: len(self.live)] != _ARCHIVED)
        self.shown_count = int(np.count_nonzero(self._shown))
        """How many memories were neither deleted nor archived before the cycle."""
        self._pruned = np.zeros(len(self.live), np.bool_)
        self._changed = np.zeros(len(self.live), np.bool_)

    def begin(self, phase: str) -> None:
        """Say which phase makes the changes that follow."""
        self._phase = phase

    def factor(self, kind: type[Kind]) -> Kind:
        """Return the profile's factor of a class, or, where it has none, one as published."""
        return next((one for one in self._factors if isinstance(one, kind)), None) or kind()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.live)

    def column(self, name: str) -> Column:
        """Return a column as drafted, one value a row; not to be written to."""
        drafted = self._drafted.get(name)
        return self.source.column(name)[: len(self)] if drafted is None else drafted

    def taken_rows(self) -> Rows:
        """Return the rows taken away so far, each once, the first to be taken first."""
        found = [change.rows[_is_away(change)] for change in self.columns]
        rows = np.concatenate([self.candidates[:0], *found])
        _, first = np.unique(rows, return_index=True)
        return rows[np.sort(first)]

    def newly_hidden(self, rows: Rows) -> int:
        """Return how many of these rows were neither deleted nor archived before, and are now."""
        rows = rows[self._shown[rows]]
        is_hidden = ~self.live[rows] | (self.column("status")[rows] == _ARCHIVED)
        return int(np.count_nonzero(is_hidden))

    def day_limit(self, day: DayTaken) -> int | None:
        """Return how many memories the cycles of a day may take away; None: there is no limit.

        Args:
            day: what they took away before this one.
        """
        share = self.rails.most_pruned
        if share == 1.0:
            return None
        count = self.shown_count
        return int(
            share * (count if day.shown is None else min(day.shown, count + day.taken_shown))
        )

    def age_days(self, name: str) -> npt.NDArray[np.float64]:
        """Return the days since a time of every row, 0 where it lies ahead, NaN where there is none."""
        days: npt.NDArray[np.float64] = (self.now - self.column(name)) / _DAY
        return np.maximum(days, 0.0)  # NaN stays

    def idle_days(self, now: float | None = None) -> npt.NDArray[np.float64]:
        """Return the days since each row was last accessed, or created where it never was.

        Args:
            now: as of then, seconds; None: the cycle's clock.
        """
        accessed = self.column("last_accessed_at")
        since = np.where(np.isnan(accessed), self.column("created_at"), accessed)
        days: npt.NDArray[np.float64] = ((self.now if now is None else now) - since) / _DAY
        return np.maximum(days, 0.0)

    def staleness_days(self, now: float | None = None) -> npt.NDArray[np.float64]:
        """Return the idle days of every row that count for taking it away.

        As :meth:`idle_days`, but from the rails' ``activity_times`` where these are later.

        Args:
            now: as of then, seconds; None: the cycle's clock.
        """
        accessed = self.activity("last_accessed_at")
        since = np.where(np.isnan(accessed), self.activity("created_at"), accessed)
        days: npt.NDArray[np.float64] = ((self.now if now is None else now) - since) / _DAY
        return np.maximum(days, 0.0)

    def settled_days(self) -> npt.NDArray[np.float64]:
        """Return the age of every row that counts for taking it away.

        Days since creation, or since the rails' ``activity_times`` where these are later.
        """
        days: npt.NDArray[np.float64] = (self.now - self.activity("created_at")) / _DAY
        return np.maximum(days, 0.0)

    def activity(self, name: str) -> Column:
        """Return a time of every row, or the latest of the rails' ``activity_times`` after it.

        NaN, which says that there was no such time, stays.
        """
        times = self.column(name)
        latest = times
        for other in self.rails.activity_times:
            latest = np.fmax(latest, self.column(other))
        return np.where(np.isnan(times), times, latest)

    @property
    def kept_for_worth(self) -> Mask:
        """Which rows no rule of age takes away: those of high importance or priority."""
        mask: Mask = np.zeros(len(self), np.bool_)
        if self.rails.kept_importance is not None:
            mask |= self.column("importance") >= np.float32(self.rails.kept_importance)
        if self.rails.kept_priority is not None:
            mask |= self.column("priority") >= self.rails.kept_priority
        return mask

    def without_kept(self, rule: str, mask: Mask) -> Mask:
        """Return the rows of a mask that a rule of age may take away, and count the others.

        Those that are protected anyway are returned: :meth:`removable` counts them.
        """
        kept = mask & self.kept_for_worth & ~self.protected
        self._hold(rule, "important", kept)
        free: Mask = mask & ~kept
        return free

    @property
    def protected(self) -> Mask:
        """Which rows no phase takes away. Source: docs/systems/reverie.md R13."""
        tags = self.column("importance_tag")
        resists = np.isin(tags, _RESISTANT_TAGS)
        mask: Mask = resists | (self.column("pinned") != 0) | (self.column("core") != 0)
        return mask

    @property
    def expiring(self) -> Mask:
        """Which rows have an end of their validity. Source: docs/systems/cognitive.md C7."""
        mask: Mask = ~np.isnan(self.column("valid_until")) | ~np.isnan(self.column("ttl"))
        if self._expiring_kinds:
            kinds = self.source.kinds
            codes = [kinds.index(kind) for kind in self._expiring_kinds if kind in kinds]
            mask &= np.isin(self.column("kind"), codes)
        return mask

    def change(self, rule: str, field: str, rows: Rows, values: npt.ArrayLike) -> Rows:
        """Set a column of rows, within the budget of changes.

        Args:
            rule: which asks for it, as docs/systems has it.
            field: the column's name; ``deleted_at`` is for :meth:`delete`.
            rows: each once; those to go first where the budget does not suffice stand first.
            values: one, or one a row.

        Returns:
            The rows that hold another value now.
        """
        rows, values = self._differing(field, rows, values)
        allowed = self._within_changes(rule, rows)
        return self._write(rule, field, rows[allowed], values[allowed])

    def changeable(self, rule: str, rows: Rows, *, whole: bool = False) -> Rows:
        """Return the rows of these that may be changed now, and count them as changed.

        Args:
            rule: which asks for it.
            rows: each once, the first first.
            whole: all of them, or none.
        """
        return rows[self._within_changes(rule, rows, whole=whole)]

    def downscale(self, rule: str, rows: Rows, values: npt.ArrayLike) -> Rows:
        """Set the strength of rows, outside of any budget: downscaling touches all by design."""
        return self._write(rule, "strength", *self._differing("strength", rows, values))

    def delete(self, rule: str, rows: Rows) -> Rows:
        """Soft-delete rows, as far as the rails allow, the first first; returns those deleted."""
        taken = self.removable(rule, rows)
        self._write(rule, "deleted_at", taken, np.full(len(taken), self.now))
        self.live[taken] = False
        return taken

    def archive(self, rule: str, rows: Rows) -> Rows:
        """Archive rows, as far as the rails allow, the first first; returns those archived."""
        rows = rows[self.column("status")[rows] != _ARCHIVED]
        taken = self.removable(rule, rows)
        return self._write(rule, "status", taken, np.full(len(taken), _ARCHIVED, np.uint8))

    def cut_to_stub(self, rule: str, rows: Rows) -> Rows:
        """Move rows to the tier "stub", as far as the rails allow; returns those moved.

        Their texts, vectors and links are for the caller to cut.
        """
        rows = rows[self.column("tier")[rows] != _STUB]
        taken = self.removable(rule, rows)
        return self._write(rule, "tier", taken, np.full(len(taken), _STUB, np.uint8))

    def removable(self, rule: str, rows: Rows) -> Rows:
        """Return the rows of these that may be taken away now, and count them as taken.

        Args:
            rule: which asks for it.
            rows: live ones, each once, the first first.
        """
        rows = rows[self.live[rows]]
        kept = self.protected[rows]
        self._hold(rule, "protected", kept)
        rows = rows[~kept]
        learned = np.fmax(self.column("created_at"), self.column("learned_at"))
        age_days = np.maximum((self.now - learned[rows]) / _DAY, 0.0)
        young = age_days < self.rails.youngest_days
        self._hold(rule, "young", young)
        rows = rows[~young]
        fresh = ~self._pruned[rows]
        limit = self.day_limit(self.day)
        over = np.zeros(len(rows), np.bool_)
        if limit is not None:
            left = limit - self.day.memories - int(self._pruned.sum())
            over = fresh & (np.cumsum(fresh) > left)
        self._hold(rule, "prune budget", over)
        rows = rows[~over]
        self._pruned[rows] = True
        return rows

    def set_content(self, rule: str, field: str, row: int, before: object, after: object) -> None:
        """Change what lies in no column, of one memory: "text" or "embedding"."""
        self.contents.append(ContentChange(self._phase, rule, field, row, before, after))

    def supersede(self, rule: str, row: int, by: int) -> None:
        """Let a memory take the place of another; a number below 0 is one that is added."""
        self.contents.append(ContentChange(self._phase, rule, "superseded_by", row, None, by))
        if "superseded" not in self._drafted:
            self._drafted["superseded"] = self.column("superseded").copy()
        self._drafted["superseded"][row] = 1
        if by >= 0:
            self.rest([row], [by])

    def rest(self, rows: npt.ArrayLike, others: npt.ArrayLike) -> None:
        """Let what is planned for rows hold only while others, one a row, stay as they are."""
        self.rests.append((np.asarray(rows, np.uint32), np.asarray(others, np.uint32)))

    def add(self, rule: str, record: Mapping[str, object], sources: Rows) -> int:
        """Add a memory; returns the number, below 0, that stands for it in this cycle.

        Of its sources each rests on the others: where one is changed, none is merged.
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
        """Let links gain, or make them what they are to be; of one pair, or of each of many.

        What is given is told of :class:`oneiros.dream.changes.LinkChange`.
        """
        self.links.add(self._phase, rule, ones, others, gain=gain, weight=weight, kind=kind)

    def count(self, **figures: float) -> None:
        """Note what the running phase counted, for the report."""
        self.figures.setdefault(self._phase, {}).update(figures)

    def rules(self) -> tuple[str, ...]:
        """Return the rules that changed something, each once."""
        kinds = (self.columns, self.contents, self.links.parts, self.added)
        return tuple(dict.fromkeys(change.rule for changes in kinds for change in changes))

    def without(self, rule: str) -> Self:
        """Return a copy in which a rule changed nothing and all other changes stand.

        Nothing is planned again: other rules change the same rows. Where one of them goes on from
        what the rule left, it gets what it would have found: a share (a float32 such as the
        strength) is multiplied by the same number, every other value becomes what was planned.

        Args:
            rule: as docs/systems has it, such as "R12".
        """
        rest = copy(self)
        rest.columns, rest._drafted = self._columns_without(rule)
        rest.contents = [content for content in self.contents if content.rule != rule]
        rest.links = self.links.without(rule)
        rest.unmade = self.unmade | {
            place for place, added in enumerate(self.added) if added.rule == rule
        }
        taken = [one.row for one in rest.contents if one.field == "superseded_by" and one.row >= 0]
        if taken:
            rest._drafted["superseded"] = self.source.column("superseded")[: len(self)].copy()
            rest._drafted["superseded"][taken] = 1
        rest.live = np.zeros(len(self), np.bool_)
        rest.live[self.source.live_rows()] = True
        for change in rest.columns:
            if change.field == "deleted_at":
                rest.live[change.rows] = np.isnan(change.after)
        return rest

    def _columns_without(self, rule: str) -> tuple[list[ColumnChange], dict[str, Column]]:
        """Return the changes of columns without those of a rule, and the columns that come of them."""
        columns: dict[str, Column] = {}
        changes = []
        for change in self.columns:
            field, rows = change.field, change.rows
            if change.rule == rule:
                continue
            if field not in columns:
                columns[field] = self.source.column(field)[: len(self)].copy()
            before = columns[field][rows]
            after = _going_on(change, before)
            moved = ~_same(before, after)
            columns[field][rows] = after
            changes.append(
                change._replace(rows=rows[moved], before=before[moved], after=after[moved])
            )
        return [change for change in changes if len(change.rows)], columns

    def _differing(self, field: str, rows: Rows, values: npt.ArrayLike) -> tuple[Rows, Column]:
        """Return the rows that would hold another value, and those values, in the column's dtype."""
        column = self.column(field)
        wanted = np.broadcast_to(np.asarray(values), rows.shape).astype(column.dtype)
        same = _same(column[rows], wanted)
        return (rows, wanted) if not same.any() else (rows[~same], wanted[~same])

    def _write(self, rule: str, field: str, rows: Rows, values: Column) -> Rows:
        """Write values that differ from what is there, and note it. Returns the rows."""
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
        self._hold(rule, "change budget", over)
        self._changed[rows[~over]] = True
        return ~over

    def _hold(self, rule: str, reason: str, mask: Mask) -> None:
        count = int(np.count_nonzero(mask))
        if count:
            self.held.append(Held(self._phase, rule, reason, count))


def _same(values: Column, others: Column) -> Mask:
    """Return where two arrays of one dtype hold the same; NaN is the same as NaN."""
    same: Mask = values == others
    if values.dtype.kind == "f":
        same |= np.isnan(values) & np.isnan(others)
    return same


def _going_on(change: ColumnChange, found: Column) -> Column:
    """Return what a change makes of rows that hold other values than it was planned on.

    Args:
        change: as planned.
        found: one value a row of it.
    """
    bounds = FIELDS[change.field].range
    if FIELDS[change.field].kind != "float32" or bounds is None:
        return change.after
    before, after = change.before.astype(np.float64), change.after.astype(np.float64)
    ratio = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    scaled = np.clip(np.where(before > 0, found * ratio, after), bounds.low, bounds.high)
    going_on: Column = np.where(_same(found, change.before), change.after, scaled)
    return going_on.astype(found.dtype)


def _is_away(change: ColumnChange) -> Mask:
    """Return which rows of a change it takes away."""
    mask: Mask = change.after == _AWAY.get(change.field, -1)
    if change.field == "deleted_at":
        mask = ~np.isnan(change.after)
    return mask
