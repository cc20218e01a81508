"""What a search leaves behind, one memory and one pair at a time.

Source: docs/systems/cognitive.md C11 to C13, with the bounds of docs/systems/house.md H7.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.associations import PlainGraph
from tests.oracles.cognitive import reinforce_stability, spacing_factor
from tests.oracles.ieee import as_float32
from tests.oracles.records import idle_days, value

__all__ = ["HOUSE", "Rule", "World"]


@dataclass(frozen=True)
class Rule:
    direct: float = 0.1
    associative: float = 0.03
    sessions: int = 3
    """That a core memory needs."""
    limit: float = 1.0
    core_stability: float = 0.85
    link: float = 0.1
    """Gain of a link."""
    most_linked: int = 32
    rest_days: float = 0.0
    once_a_session: bool = False


HOUSE = Rule(
    limit=10.0, core_stability=1.6, link=0.05, most_linked=5, rest_days=1.0, once_a_session=True
)


@dataclass
class World:
    records: dict[str, dict[str, Any]]
    """By id, in order of insertion."""
    graph: PlainGraph
    sessions: dict[str, set[str]] = field(default_factory=dict)

    def found(
        self,
        rule: Rule,
        direct: Sequence[str],
        returned: Sequence[tuple[str, bool]],
        now: float,
        session: str | None,
    ) -> None:
        """Take in what one search found.

        Args:
            rule: the profile's.
            direct: ids of the direct results before the merge.
            returned: ids of the results, and whether links brought each.
            now: the clock.
            session: who asked.
        """
        knew = rule.once_a_session and session is not None
        known = {id for id, sessions in self.sessions.items() if knew and session in sessions}
        for id, is_associative in returned:
            record = self.records[id]
            gain = rule.associative if is_associative else rule.direct
            before = value(record, "stability")
            if id in known:
                stability = min(rule.limit, before)
            elif rule.limit == 1.0:
                stability = reinforce_stability(before, idle_days(record, now), gain)
            else:
                more = gain * spacing_factor(idle_days(record, now))
                stability = min(rule.limit, before + more)
            record["stability"] = as_float32(stability)
            record["access_count"] = min(value(record, "access_count") + 1, 2**32 - 1)
            record["last_accessed_at"] = now
            seen = self.sessions.setdefault(id, set())
            if session is not None:
                seen.add(session)
            spread = max(value(record, "session_spread"), len(seen))
            record["session_spread"] = spread
            if value(record, "tier") == "cold":
                record["tier"] = "hot"
            count, needed = record["access_count"], rule.core_stability
            if count >= 10 and record["stability"] >= needed and spread >= rule.sessions:
                record["core"] = True
        rows = {id: row for row, id in enumerate(self.records)}
        for a, b in itertools.combinations(direct[: rule.most_linked], 2):
            if not (a in known and b in known):
                self.graph.strengthen(rows[a], rows[b], now, rule.link, 90.0, rule.rest_days)
