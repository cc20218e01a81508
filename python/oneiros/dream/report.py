"""The report of a cycle: counts, distributions, and memories by name with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.display.escaping import one_line
from oneiros.runtime.dataclasses import asdict, dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    "R19": "undoing",
}
"""By rule, its name in a list."""

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
    "R19": "a cycle undone",
}
"""By rule, what it does."""

HELD_WORDS: Final = {
    "protected": "pinned, core, or tagged explicit or schema_violation",
    "young": "too young to be removed",
    "prune budget": "the profile's limit for removals is reached",
    "change budget": "the profile's limit for changes is reached",
    "changed since": "changed after the cycle was planned",
}
"""By reason of a report, why memories are left as they are."""


def rule_name(rule: str) -> str:
    """Return the name of a rule; what has none is returned as it is."""
    return RULE_NAMES.get(rule, rule)


def held_words(reason: str) -> str:
    """Return why memories are left as they are; a reason without words is returned as it is."""
    return HELD_WORDS.get(reason, reason)


REMOVALS: Final = {
    ("deleted_at", None): "deleted",
    ("status", "archived"): "archived",
    ("tier", "stub"): "cut to a stub",
}
"""How a cycle removes memories, by field and new value; None: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of one memory, changed by one rule."""

    id: str
    """The memory; of one that the cycle adds, its id once it is applied."""
    field: str
    before: Any
    """As a memory holds it: words of enumerations, None for no time, times in seconds."""
    after: Any
    phase: str
    rule: str
    """As docs/systems has it, such as "R12"."""
    reason: str | None = None
    """Of a rule that has several, those that hold, such as "stale, unused"; None: it has one."""
    because: str | None = None
    """Why the memory is removed, in words, such as "not used for 240 days (limit 180)"; else None."""

    @property
    def removal(self) -> str | None:
        """How the change removes its memory: a value of :data:`REMOVALS`; None: it does not."""
        if self.field == "deleted_at":
            return None if self.after is None else REMOVALS[self.field, None]
        return REMOVALS.get((self.field, self.after)) if isinstance(self.after, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """What safety rails kept a phase from, or another's change."""

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
    """How long it took to plan."""
    changes: Mapping[str, Mapping[str, int]]
    """How many memories changed, by rule and field; "link" counts links, "memory" what is added."""
    figures: Mapping[str, float]
    """What else it counted."""
    memories: Mapping[str, int] = field(default_factory=dict)
    """How many memories changed, by rule: each once, whatever of it changed; links do not count."""

    def memory_counts(self) -> dict[str, int]:
        """Return how many memories each rule changed.

        A report of an earlier version did not count them: then those of the field that changed most.
        """
        return {
            rule: self.memories.get(
                rule, max((count for name, count in fields.items() if name != "link"), default=0)
            )
            for rule, fields in self.changes.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How many live memories lie where, before and after the cycle."""

    name: str
    """"strength", "stability", "age_days", "kind", "status", "tier" or "depth"."""
    places: tuple[str, ...]
    """The words counted, or the bounds of the bins as texts, each from its bound up to the next."""
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindAgeGroup:
    """Memories of one kind and about one age."""

    days: float
    """The mean of the days since their last access, or creation."""
    value: float
    """The mean of what the profile's factors make of them."""
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCurve:
    """How a kind of memory fades under the profile, and where those of the store stand.

    Source: docs/systems/reverie.md R19 (ours).
    """

    kind: str
    days: tuple[float, ...]
    """Since a memory was added that is never recalled."""
    values: tuple[float, ...]
    """What the profile's factors make of it by then, of a relevance of 1; one a day."""
    standing: tuple[KindAgeGroup, ...]
    """The live memories of the kind, by age."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DreamReport:
    """One cycle. Source: docs/systems/reverie.md R19."""

    id: str
    """By which it can be undone; of a dry run, which it has once it is applied."""
    now: float
    """Its clock, seconds UTC."""
    profile: str
    profile_hash: str
    is_dry_run: bool
    undoes: str | None = None
    """The cycle that this one undid; None: it is none that undoes."""
    live_before: int = 0
    live_after: int = 0
    taken_away: int = 0
    """Memories that were soft-deleted, archived or cut to a stub."""
    taken_shown: int = 0
    """Of these, the memories that were neither deleted nor archived before, and are now."""
    shown_before: int | None = None
    """The memories before the cycle that were neither deleted nor archived; None: an older report."""
    taken_before: int = 0
    """Memories that other cycles took away within 24 hours, less those that undoing brought back."""
    brought_back: int = 0
    """Of an undoing, the memories that the cycle took away and that are back: not those that were
    purged, or changed again."""
    brought_back_shown: int = 0
    """Of these, the memories that are neither deleted nor archived, and were before."""
    day_limit: int | None = None
    """How many memories the cycles of 24 hours may take away; None: there is no limit."""
    phases: tuple[PhaseReport, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    named: tuple[FieldChange, ...] = ()
    """Changes by name: removed memories first, then what moved between states, then the rest, in
    order of insertion each; at most a thousand."""
    change_count: int = 0
    """All changes, those not named too."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """How many memories are removed, by how: "deleted", "archived", "cut to a stub"."""
    changed_since: tuple[str, ...] = ()
    """Memories left as they are, because they were changed, linked or unlinked after the plan was
    made, or what they were to give way to, or to be summarised with. Phases and ``change_count`` are
    without them; figures, distributions, drift and decay are those of the plan."""
    not_restored: tuple[FieldChange, ...] = ()
    """Of an undoing: what had changed again, and stays. The store keeps a thousand of these and of
    ``changed_since``; ``left_alone`` counts the memories of all."""
    drift: Mapping[str, Any] = field(default_factory=dict)
    """Figures to follow over cycles: see :func:`oneiros.dream.drift.drift_of`."""
    decay: tuple[DecayCurve, ...] = ()
    """Of the kinds with the most memories: see :func:`oneiros.dream.distributions.decay_curves`."""
    damage: str = ""
    """What is wrong with the report that the store holds; then nothing but ``id``, ``now`` and
    ``undoes`` is told, as far as they are known. "": nothing."""

    def record(self) -> dict[str, Any]:
        """Return the report as JSON can hold it."""
        # Copied deep, the thousand changes by name would take longer than many a cycle.
        rest = asdict(replace(self, named=(), not_restored=()))
        return rest | {
            name: tuple(map(_change_record, getattr(self, name)))
            for name in ("named", "not_restored")
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> DreamReport:
        """Return the report that :meth:`record` made a record of.

        Raises:
            TypeError, KeyError: it is none.
        """
        parts: dict[str, Any] = dict(record)
        for name, kind in _PARTS.items():
            parts[name] = tuple(kind(**one) for one in parts[name])
        parts["distributions"] = tuple(
            Distribution(
                name=one["name"],
                places=tuple(one["places"]),
                before=tuple(one["before"]),
                after=tuple(one["after"]),
            )
            for one in parts["distributions"]
        )
        parts["changed_since"] = tuple(parts["changed_since"])
        parts["decay"] = tuple(_curve(one) for one in parts.get("decay", ()))
        return cls(**parts)

    def html(
        self,
        *,
        texts: Mapping[str, str] | None = None,
        impact: Impact | None = None,
        earlier: Sequence[DreamReport] = (),
    ) -> str:
        """Return the report as an HTML page that needs nothing else, with plots.

        Counts by phase and rule; strength, stability, age and kinds before and after; decay; what was
        taken away, with reasons; what was left alone. Whatever the store holds is shown literally.

        Args:
            texts: what memories say, by id, to stand beside their names; None: names alone.
            impact: of its plan, where it was asked for.
            earlier: reports of cycles before it, the newest first, as ``Engine.dreams`` returns them,
                for the drift over them.

        Raises:
            ImportError: matplotlib is not installed (``oneiros[plots]``).
            TypeError: an argument is something else.

        Source: docs/systems/reverie.md R19.
        """
        from oneiros.dream.page import page  # noqa: PLC0415 - few look at it

        return page(self, texts=texts, impact=impact, earlier=earlier)

    def removals(self) -> str:
        """Return how many memories are removed, such as "2 deleted, 1 archived", or "none"."""
        return ", ".join(f"{count} {how}" for how, count in self.removed.items()) or "none"

    def counts(self) -> dict[str, int]:
        """Return how many memories each rule changed, in the phase where it changed most."""
        found: dict[str, int] = {}
        for phase in self.phases:
            for rule, count in phase.memory_counts().items():
                found[rule] = max(found.get(rule, 0), count)
        return found

    def removal_words(self) -> str:
        """Return the number of removed memories and the day's limit as text; "" without a limit."""
        if self.day_limit is None:
            return ""
        return (
            f"removed {self.taken_away} memories, and {self.taken_before} by other cycles within "
            f"24 hours; limit {self.day_limit} a day"
        )

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"  # all of it is pages long

    def __str__(self) -> str:
        if self.damage:
            return f"dream {self.id}: its report is damaged ({one_line(self.damage)})"
        if self.undoes is not None:
            left = sum(one.memories for one in self.left_alone)
            since = f", {left} memories changed since" if left else ""
            return f"dream {self.undoes} undone by {self.id}: {self.change_count} fields restored{since}"
        verb = "would change" if self.is_dry_run else "changed"
        head = f"dream {self.id} ({self.profile}): {verb} {self.change_count} fields"
        lines = [f"{head}, {self.live_before} -> {self.live_after} memories"]
        lines.append(f"  removed: {self.removals()}")
        for rule, count in self.counts().items():
            links = sum(one.changes.get(rule, {}).get("link", 0) for one in self.phases)
            lines.append(f"  {rule_name(rule)}: {count}" + (f", links {links}" if links else ""))
        return "\n".join(lines)


def _change_record(change: FieldChange) -> dict[str, Any]:
    held = {name: getattr(change, name) for name in FieldChange.__slots__}
    if change.field == "embedding" and change.before is not None:  # no cycle makes a new one
        held["before"] = list(map(float, change.before))
    return held


def _curve(record: Mapping[str, Any]) -> DecayCurve:
    return DecayCurve(
        kind=record["kind"],
        days=tuple(record["days"]),
        values=tuple(record["values"]),
        standing=tuple(KindAgeGroup(**one) for one in record["standing"]),
    )


_PARTS = {
    "phases": PhaseReport,
    "left_alone": LeftAlone,
    "named": FieldChange,
    "not_restored": FieldChange,
}
