"""Uses of memories on columns and links that belong together, in the core.

Source: docs/systems/reverie.md R20, docs/systems/cognitive.md C11 to C13, docs/systems/house.md H7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.association.graph_links import TAU_DAYS
from oneiros.dataclasses_on_use import NamedTuple, dataclass
from oneiros.ranking.reinforcement import SpacedReinforcement

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    from oneiros.association import Associations
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.ranking.reinforcement import ReinforcementDeclaration

    Pairs = list[tuple[int, int]]

    class _Use(TypedDict):
        """An event as the core takes it."""

        rows: list[int]
        direct: list[int]
        linked: list[int]
        now_seconds: float
        session: str | None
        rule: _core.UseRule


__all__ = ["Owed", "ReinforcementEvent", "Strengthening"]


@dataclass(frozen=True, slots=True)
class ReinforcementEvent:
    """The memories one search returned."""

    ids: tuple[str, ...]
    now: float
    session: str | None
    rule: ReinforcementDeclaration
    direct: tuple[str, ...] = ()
    """Those found together: the direct results, before what links brought was merged in."""
    linked: frozenset[str] = frozenset()
    """Those of ``ids`` that links brought."""


class Owed(NamedTuple):
    """What the store is to be told of the events that wait."""

    event_count: int
    rows: list[int]
    may_stand: list[bool]
    """Of each row: it may have become core or hot."""
    sessions: list[tuple[int, str]]
    """Row and session, each pair once."""
    pairs: Pairs
    """Whose links gained, each once, the smaller row first."""


class Strengthening:
    """Columns and links, and the core that applies events to them.

    Args:
        lifecycle: the columns.
        associations: the links.
    """

    def __init__(self, lifecycle: Lifecycle, associations: Associations) -> None:
        self.lifecycle = lifecycle
        self.associations = associations
        self.core = _core.Reinforcer(columns=lifecycle.columns, sessions=lifecycle.sessions)
        self.core.use_links(graph=associations.graph)
        self._last: tuple[ReinforcementDeclaration, _core.UseRule] | None = None

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of memories in their order, each once; those not there are left out."""
        row_of = self.lifecycle.row_of
        return [row for id in dict.fromkeys(ids) if (row := row_of.get(id)) is not None]

    def apply(self, event: ReinforcementEvent, *, most_waiting: int) -> bool | None:
        """Apply an event, whole, and keep it for the store.

        Returns:
            Whether the writer should look: it is the first that waits, or as many accesses as
            ``most_waiting`` do. None: the writer is at work on the columns, and nothing was done.
        """
        return self.core.apply(most_waiting=most_waiting, **self._use(event))

    def apply_as_writer(self, event: ReinforcementEvent) -> None:
        """Apply an event while the core is closed to all others."""
        self.core.apply_closed(**self._use(event))

    def _use(self, event: ReinforcementEvent) -> _Use:
        rows = self.rows_of(event.ids)
        direct = rows if event.direct is event.ids else self.rows_of(event.direct)
        if event.session is not None:
            self.lifecycle.load_sessions(rows)
            if direct is not rows:
                self.lifecycle.load_sessions(direct)
        return {
            "rows": rows,
            "direct": direct,
            "linked": self.rows_of(event.linked),
            "now_seconds": event.now,
            "session": event.session,
            "rule": self._rule(event.rule),
        }

    def _rule(self, rule: ReinforcementDeclaration) -> _core.UseRule:
        last = self._last
        if last is None or last[0] is not rule:
            last = self._last = (rule, _rule_of(rule))
        return last[1]

    def owed(self) -> Owed:
        """Return what the store is to be told."""
        event_count, rows, may_stand, sessions, a, b = self.core.owed()
        return Owed(event_count, rows, may_stand, sessions, list(zip(a, b, strict=True)))

    def take_over(self, former: Strengthening) -> None:
        """Apply and keep what waits at another, of the same store. REQUIRES: the rows are there."""
        rows = former.core.mentioned_rows()
        ids = former.lifecycle.ids
        moved = [
            (row, to) for row in rows if (to := self.lifecycle.row_of.get(ids[row])) is not None
        ]
        self.lifecycle.load_sessions([to for _, to in moved])
        self.core.take_over(
            former=former.core, rows=[row for row, _ in moved], to_rows=[to for _, to in moved]
        )


def _rule_of(rule: ReinforcementDeclaration) -> _core.UseRule:
    core = links = None
    if isinstance(rule, SpacedReinforcement):
        core, links = rule.core_accesses, rule
    return _core.UseRule(
        found=_core.ReinforcementRule(**rule.rule()),
        linked=_core.ReinforcementRule(**rule.rule(is_associative=True)),
        link_gain=rule.link_gain,
        link_rest_days=0.0 if links is None else links.link_rest_days,
        link_tau_days=TAU_DAYS,
        most_linked=0 if links is None else links.most_linked,
        is_once_a_session=links is not None and links.once_a_session,
        warms=rule.promotes,
        core_accesses=core,
        core_stability=0.0 if links is None else links.core_stability,
        core_sessions=1 if links is None else links.core_sessions,
    )
