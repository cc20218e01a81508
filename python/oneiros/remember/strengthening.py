"""What one search does to what it found: memories strengthened and promoted, their links, too.

Source: docs/systems/reverie.md R20, docs/systems/cognitive.md C11 to C13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import replace
from oneiros.fields import ENUMS
from oneiros.ranking.reinforcement import SpacedReinforcement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from oneiros.association import Associations
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.ranking.reinforcement import ReinforcementDeclaration, ReinforcementRule
    from oneiros.remember.write_behind import ReinforcementEvent

__all__ = ["Strengthening", "rows_of_pairs"]

_TIERS: Final = ENUMS["tier"]
_HOT, _COLD = _TIERS.index("hot"), _TIERS.index("cold")


class Strengthening:
    """Writes what searches do to columns and links. REQUIRES: one thread at a time.

    Args:
        lifecycle: the columns.
        associations: the links.
    """

    def __init__(self, lifecycle: Lifecycle, associations: Associations) -> None:
        self._lifecycle = lifecycle
        self._associations = associations

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the rows of memories in their order, each looked for once; those not there are left out."""
        row_of = self._lifecycle.row_of
        return {id: row for id in dict.fromkeys(ids) if (row := row_of.get(id)) is not None}

    def knowing_what_it_saw(
        self, event: ReinforcementEvent, rows: Mapping[str, int]
    ) -> ReinforcementEvent:
        """Note what gains nothing from this session any more. Source: docs/systems/house.md H7.

        Args:
            event: the search.
            rows: of all its memories, as :meth:`rows_of` has them; so below.
        """
        rule, session = event.rule, event.session
        if session is None or not isinstance(rule, SpacedReinforcement) or not rule.once_a_session:
            return event
        sessions_of = self._lifecycle.sessions_of
        seen = frozenset(id for id, row in rows.items() if session in sessions_of(row))
        return replace(event, seen=seen) if seen else event

    def memories(self, event: ReinforcementEvent, row_by_id: Mapping[str, int]) -> None:
        """Strengthen memories as a search does that returned them.

        Args:
            event: the search.
            row_by_id: of its memories, those to be strengthened, and their rows.
        """
        if not row_by_id:
            return
        rows = list(row_by_id.values())
        columns = self._lifecycle.columns
        spread = columns.values_at(name="session_spread", rows=rows)
        if event.session is not None:
            sizes = [self._lifecycle.remember_session(row, event.session) for row in rows]
            spread = list(map(max, spread, sizes))
        for rule, places in _by_rule(event, row_by_id):
            columns.reinforce(
                rows=[rows[place] for place in places],
                now_seconds=event.now,
                session_spread=[spread[place] for place in places],
                **rule,
            )
        self.promote(event.rule, rows)

    def promote(self, rule: ReinforcementDeclaration, rows: list[int]) -> None:
        """Make core what is found often enough, and hot what was cold, where the rule does so."""
        if not (rows and isinstance(rule, SpacedReinforcement)):
            return
        columns = self._lifecycle.columns
        tiers = columns.values_at(name="tier", rows=rows)
        warm = [row for row, tier in zip(rows, tiers, strict=True) if tier == _COLD]
        if warm:
            columns.write(rows=warm, values={"tier": [_HOT] * len(warm)})
        counts = columns.values_at(name="access_count", rows=rows)
        if rule.core_accesses is None or max(counts) < rule.core_accesses:
            return
        stabilities = columns.values_at(name="stability", rows=rows)
        spreads = columns.values_at(name="session_spread", rows=rows)
        found = zip(rows, counts, stabilities, spreads, strict=True)
        core = [row for row, *told in found if rule.makes_core(*told)]
        if core:
            columns.write(rows=core, values={"core": [True] * len(core)})

    def links(
        self, event: ReinforcementEvent, pairs: Sequence[tuple[str, str]], rows: Mapping[str, int]
    ) -> None:
        """Strengthen the links of pairs of memories that a search found together."""
        rule = event.rule
        if isinstance(rule, SpacedReinforcement) and rule.link_gain is not None and pairs:
            self._associations.strengthen(
                rows_of_pairs(pairs, rows),
                now=event.now,
                gain=rule.link_gain,
                rest_days=rule.link_rest_days,
            )


def rows_of_pairs(
    pairs: Iterable[tuple[str, ...]], rows: Mapping[str, int]
) -> list[tuple[int, int]]:
    """Return the rows of pairs of memories, without those of which one is not there."""
    ends = [(rows.get(one), rows.get(other)) for one, other in pairs]
    return [(one, other) for one, other in ends if one is not None and other is not None]


def _by_rule(
    event: ReinforcementEvent, ids: Collection[str]
) -> list[tuple[ReinforcementRule, Sequence[int]]]:
    """Part memories, by their places, by what they gain."""
    rule = event.rule.rule()
    if not event.linked and not event.seen:
        return [(rule, range(len(ids)))]
    parts: tuple[tuple[ReinforcementRule, list[int]], ...] = (
        (rule, []),
        (event.rule.rule(is_associative=True), []),
        ({**rule, "gain": 0.0}, []),
    )
    for place, id in enumerate(ids):
        parts[2 if id in event.seen else id in event.linked][1].append(place)
    return [part for part in parts if part[1]]
