"""What a search leaves behind, one memory and one pair at a time: docs/systems/cognitive.md C11 to C13."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.associations import PlainGraph
from tests.oracles.cognitive import becomes_core, reinforce_stability
from tests.oracles.ieee import as_float32
from tests.oracles.records import idle_days, value

__all__ = ["Rule", "World"]


@dataclass(frozen=True)
class Rule:
    direct: float = 0.1
    associative: float = 0.03
    sessions: int = 3
    """That a core memory needs."""


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
        for id, is_associative in returned:
            record = self.records[id]
            gain = rule.associative if is_associative else rule.direct
            stability = reinforce_stability(
                value(record, "stability"), idle_days(record, now), gain
            )
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
            if becomes_core(record["access_count"], record["stability"], spread, rule.sessions):
                record["core"] = True
        rows = {id: row for row, id in enumerate(self.records)}
        for a, b in itertools.combinations(direct, 2):
            self.graph.strengthen(rows[a], rows[b], now, 0.1, 90.0)
