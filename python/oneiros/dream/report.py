"""The report of a cycle: counts, distributions, and named changes with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

from oneiros import display, dream
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line
from oneiros.runtime.dataclasses import asdict, dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from oneiros.dream.impact import Impact

__all__ = [
    "HELD_WORDS",
    "REMOVALS",
    "RULE_NAMES",
    "RULE_WORDS",
    "DecayCurve",
    "Distribution",
    "DreamReport",
    "FieldChange",
    "KindAgeGroup",
    "LeftAlone",
    "PhaseReport",
    "held_words",
    "hints_of",
    "rule_name",
]


RULE_NAMES: Final = {
    "R11": "replay",
    "R12": "weakening",
    "R13": "pruning",
    "R14": "placing",
    "R15": "promotion",
    "C19": "cooling",
    "C20": "stubbing",
    "C21": "summarising",
    "C22": "judging",
    "O31": "forgetting",
    "H15": "budget",
    "H16": "settling",
    "R19": "undoing",
}
"""The short name of each rule."""

RULE_WORDS: Final = {
    "R11": "replayed: strength and links grow",
    "R12": "weakened a little, as all are",
    "R13": "not used for long, superseded, never used and weak, or a duplicate: removed",
    "R14": "used or old enough: consolidated; weak and not used for long: archived",
    "R15": "depth follows use",
    "C19": "at the lowest retention for a week, or superseded: cold",
    "C20": "cold for half a year: cut to a stub",
    "C21": "several alike: one summary",
    "C22": "a judge found a conflict or a duplicate",
    "O31": "old, not used and of little weight: archived",
    "H15": "worth less than the budget has room for: archived; worth more again: brought back",
    "H16": "a judge found that a newer memory states another value",
    "R19": "a cycle undone",
}
"""A description of each rule."""

HELD_WORDS: Final = {
    "protected": "pinned, core, or tagged explicit or schema_violation",
    "important": "of high importance or priority, so no rule of age removes it",
    "young": "too young to be removed",
    "prune budget": "the profile's limit for removals is reached",
    "change budget": "the profile's limit for changes is reached",
    "changed since": "changed after the cycle was planned",
}
"""By reason, an explanation why memories are left unchanged."""


def rule_name(rule: str) -> str:
    """Return the name of a rule; an unknown rule is returned unchanged."""
    return RULE_NAMES.get(rule, rule)


def held_words(reason: str) -> str:
    """Return the explanation of a reason; an unknown reason is returned unchanged."""
    return HELD_WORDS.get(reason, reason)


REMOVALS: Final = {
    ("deleted_at", None): "deleted",
    ("status", "archived"): "archived",
    ("tier", "stub"): "cut to a stub",
}
"""The ways of removing a memory, by field and new value; None: any value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of one memory, changed by one rule."""

    id: str
    """The memory's id; for an added memory, the id it gets when the cycle is applied."""
    field: str
    before: Any
    """The value as in a memory: words of enumerations, times in seconds, None for no time."""
    after: Any
    phase: str
    rule: str
    """The rule's code in docs/systems, such as "R12"."""
    reason: str | None = None
    """For a rule with several reasons, those that apply, such as "stale, unused"; else None."""
    because: str | None = None
    """Why the memory is removed, such as "not used for 240 days (limit 180)"; else None."""

    def __eq__(self, other: object) -> bool:
        # An embedding is an array, or a list where the change was read from a record.
        if not isinstance(other, FieldChange):
            return NotImplemented
        return _change_record(self) == _change_record(other)

    def __hash__(self) -> int:
        return hash((self.id, self.field, self.phase, self.rule))

    @property
    def removal(self) -> str | None:
        """The kind of removal, a value of :data:`REMOVALS`; None if the memory is not removed."""
        if self.field == "deleted_at":
            return None if self.after is None else REMOVALS[self.field, None]
        return REMOVALS.get((self.field, self.after)) if isinstance(self.after, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """Memories left unchanged because of a safety rail or a change after the plan."""

    phase: str
    rule: str
    reason: str
    """"protected", "important", "young", "prune budget", "change budget" or "changed since"."""
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseReport:
    """One phase of a cycle."""

    name: str
    seconds: float
    """The time it took to plan."""
    changes: Mapping[str, Mapping[str, int]]
    """Changed memories by rule and field; "link" counts links, "memory" added memories."""
    figures: Mapping[str, float]
    """Other counts of the phase."""
    memories: Mapping[str, int] = field(default_factory=dict)
    """Changed memories by rule, each memory once; links do not count."""

    def memory_counts(self) -> dict[str, int]:
        """Return the number of memories that each rule changed.

        Reports of earlier versions lack it: then the count of the field that changed most often.
        """
        return {
            rule: self.memories.get(
                rule, max((count for name, count in fields.items() if name != "link"), default=0)
            )
            for rule, fields in self.changes.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Counts of live memories by value, before and after the cycle."""

    name: str
    """"strength", "stability", "age_days", "kind", "status", "tier" or "depth"."""
    places: tuple[str, ...]
    """The words, or the lower bounds of the bins as text; a bin ends at the next bound."""
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindAgeGroup:
    """Memories of one kind and similar age."""

    days: float
    """Mean days since their last access, or since creation if never accessed."""
    value: float
    """Mean value of the profile's factors at a relevance of 1."""
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCurve:
    """The decay of one kind of memory under the profile, and the values of the store's memories.

    Source: docs/systems/reverie.md R19 (ours).
    """

    kind: str
    days: tuple[float, ...]
    """Days since the memory was added; it is never recalled."""
    values: tuple[float, ...]
    """Value of the profile's factors at a relevance of 1, one for each of ``days``."""
    standing: tuple[KindAgeGroup, ...]
    """The live memories of this kind, by age."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DreamReport:
    """The report of one dream cycle, of a dry run, or of an undo.

    Returned by :meth:`oneiros.Engine.dream`, :meth:`~oneiros.Engine.undo_dream` and
    :meth:`~oneiros.Engine.dreams`. A memory is removed if it is soft-deleted, archived or cut to a
    stub. Source: docs/systems/reverie.md R19.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     report = engine.dream()
    >>> report.live_before, report.live_after, report.removals()
    (0, 0, 'none')
    """

    id: str
    """The id to undo the cycle by; for a dry run, the id it gets when it is applied."""
    now: float
    """The cycle's clock, seconds UTC."""
    profile: str
    profile_hash: str
    is_dry_run: bool
    undoes: str | None = None
    """The id of the cycle that this one undid; None if it is not an undo."""
    undone_by: str | None = None
    """The id of the undo of this cycle; None if it was not undone."""
    is_undoable: bool = False
    """Whether :meth:`oneiros.Engine.undo_dream` can undo the cycle: it was applied, is no undo, was
    not undone, and is one of the last 30. As ``undone_by``, it is as of the moment when the report
    was returned."""
    live_before: int = 0
    """Live memories before the cycle, without those in quarantine, which cycles leave alone."""
    live_after: int = 0
    """The same after it."""
    taken_away: int = 0
    """Removed memories."""
    taken_shown: int = 0
    """Removed memories that were neither deleted nor archived before, but are now."""
    shown_before: int | None = None
    """Memories that were neither deleted nor archived before the cycle; None in older reports."""
    taken_before: int = 0
    """Memories that other cycles removed within 24 hours, minus those restored by undoing."""
    brought_back: int = 0
    """For an undo, the removed memories that are restored: without those purged or changed since."""
    brought_back_shown: int = 0
    """Restored memories that are neither deleted nor archived now, but were before."""
    day_limit: int | None = None
    """Maximum removals by the cycles of 24 hours; None: no limit."""
    phases: tuple[PhaseReport, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    named: tuple[FieldChange, ...] = ()
    """Changes by memory: removals first, then moves between states, then the rest, each in order of
    insertion; at most 1,000."""
    change_count: int = 0
    """Number of all changes, including those not in ``named``."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Removed memories by kind of removal: "deleted", "archived", "cut to a stub"."""
    changed_since: tuple[str, ...] = ()
    """Ids of memories left unchanged because they, the memory that supersedes them or one of the
    same summary was changed, linked or unlinked after the plan was made. Phases and ``change_count``
    exclude them; figures, distributions, drift and decay are those of the plan."""
    not_restored: tuple[FieldChange, ...] = ()
    """For an undo: fields left unchanged because they changed again. The store keeps 1,000 of these
    and of ``changed_since``; ``left_alone`` counts all memories."""
    drift: Mapping[str, Any] = field(default_factory=dict)
    """Figures to compare across cycles, see :func:`oneiros.dream.figures.drift_of`."""
    decay: tuple[DecayCurve, ...] = ()
    """Decay of the most frequent kinds, see :func:`oneiros.dream.figures.decay_curves`."""
    damage: str = ""
    """The damage of the stored report; then only ``id``, ``now`` and ``undoes`` are set, as far as
    known. Empty: no damage."""

    def record(self) -> dict[str, Any]:
        """Return the report as a dict for JSON."""
        # A deep copy of a thousand named changes would take longer than many a cycle.
        rest = asdict(replace(self, named=(), not_restored=()))
        return rest | {
            name: tuple(map(_change_record, getattr(self, name)))
            for name in ("named", "not_restored")
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> DreamReport:
        """Return the report of a record made by :meth:`record`.

        Raises:
            TypeError, KeyError: the record is malformed.
        """
        made: DreamReport = _made(cls, record)
        return made

    def html(
        self,
        *,
        texts: Mapping[str, str] | None = None,
        impact: Impact | None = None,
        earlier: Sequence[DreamReport] = (),
    ) -> str:
        """Return the report as a self-contained HTML page with plots.

        It shows counts by phase and rule; strength, stability, age and kinds before and after;
        decay; removed memories with reasons; memories left unchanged. Stored text is escaped.

        Args:
            texts: memory texts by id, shown next to the ids; None: ids only.
            impact: the result of :meth:`oneiros.dream.plan.DreamPlan.impact`, for its own section.
            earlier: reports of earlier cycles, the newest first, as returned by ``Engine.dreams``,
                for the drift section.

        Raises:
            ImportError: matplotlib or Jinja2 is not installed (``oneiros[plots]``).
            TypeError: an argument has another type.

        Source: docs/systems/reverie.md R19.
        """
        return dream.page.page(self, texts=texts, impact=impact, earlier=earlier)

    def removals(self) -> str:
        """Return the counts of removed memories, such as "2 deleted, 1 archived", or "none"."""
        return ", ".join(f"{count} {how}" for how, count in self.removed.items()) or "none"

    def figures(self) -> str:
        """Return the counts in words, such as "3 fields, 12 -> 11 memories"."""
        fields = count_of(self.change_count, "field")
        return f"{fields}, {self.live_before} -> {count_of(self.live_after, 'memory')}"

    def counts(self) -> dict[str, int]:
        """Return the number of memories that each rule changed, in the phase with the most."""
        found: dict[str, int] = {}
        for phase in self.phases:
            for rule, count in phase.memory_counts().items():
                found[rule] = max(found.get(rule, 0), count)
        return found

    def removal_words(self) -> str:
        """Return the number of removed memories and the 24-hour limit as text; "" if no limit."""
        if self.day_limit is None:
            return ""
        return (
            f"removed {count_of(self.taken_away, 'memory')}, and {self.taken_before} by other cycles within "
            f"24 hours; limit {self.day_limit} a day"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the named changes as a pandas data frame, one row each.

        Columns: id, field, before, after, removal, phase, rule, reason, because.

        Raises:
            ImportError: pandas is not installed.

        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     frame = engine.dream().to_frame()
        >>> len(frame)
        0
        """
        names = ("id", "field", "before", "after", "removal", "phase", "rule", "reason", "because")
        rows = tuple(tuple(getattr(change, name) for name in names) for change in self.named)
        return display.tables.DisplayTable(names, rows).to_frame()

    def _repr_html_(self) -> str:
        return display.notebook.report_html(self)

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"  # the first line only

    def __str__(self) -> str:
        if self.damage:
            return f"dream {self.id}: its report is damaged ({one_line(self.damage)})"
        if self.undoes is not None:
            left = sum(group.memories for group in self.left_alone)
            since = f", {count_of(left, 'memory')} changed since" if left else ""
            fields = count_of(self.change_count, "field")
            return f"dream {self.undoes} undone by {self.id}: {fields} restored{since}"
        verb = "would change" if self.is_dry_run else "changed"
        lines = [
            f"dream {self.id} ({self.profile}): {verb} {self.figures()}",
            f"  removed: {self.removals()}",
        ]
        for rule, count in self.counts().items():
            links = sum(phase.changes.get(rule, {}).get("link", 0) for phase in self.phases)
            lines.append(f"  {rule_name(rule)}: {count}" + (f", links {links}" if links else ""))
        return "\n".join(lines)


def _change_record(change: FieldChange) -> dict[str, Any]:
    record = {name: getattr(change, name) for name in FieldChange.__slots__}
    if change.field == "embedding" and change.before is not None:  # ``after`` is always None
        record["before"] = list(map(float, change.before))
    return record


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a report, or of a part of one, by name."""
    return get_type_hints(kind)


@cache
def _lists(kind: Any) -> dict[str, type]:
    """Return the fields that are tuples, with the type of their items."""
    hints = hints_of(kind)
    return {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is tuple}


def _made(kind: Any, record: Mapping[str, Any]) -> Any:
    """Return a report, or a part of one, of its record."""
    lists = _lists(kind)
    if not lists:  # such as a change, of which a report has up to a thousand
        return kind(**record)
    parts = dict(record)
    for name, item_kind in lists.items():
        if name in parts:
            items = parts[name]
            is_part = hasattr(item_kind, "__dataclass_fields__")
            parts[name] = (
                tuple(_made(item_kind, item) for item in items) if is_part else tuple(items)
            )
    return kind(**parts)
