"""Memories as dicts in a dream cycle, and what it may do to them: docs/systems/reverie.md R13, H8."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracles import reverie

DAY = 86_400.0
HOUR = 3_600.0
RESISTANT = {"explicit", "schema_violation"}

Fields = dict[str, Any]


@dataclass
class Cycle:
    """The memories, what the cycle's phases left of them so far, and what it may do."""

    memories: list[Fields]
    now: float
    previous: float | None = None
    youngest_days: float = 0.0
    most_pruned: float = 1.0
    most_changed: float = 1.0
    candidates: list[int] = field(default_factory=list)
    peers: dict[int, set[int]] = field(default_factory=dict)
    links: list[tuple[int, int]] = field(default_factory=list)
    pruned: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.memories = [dict(memory) for memory in self.memories]
        self.live_at_first = len(list(self.live()))

    def live(self) -> Iterator[int]:
        for row, memory in enumerate(self.memories):
            if memory["deleted_at"] is None and not memory["erased"]:
                yield row

    def days_since(self, time: float, now: float | None = None) -> float:
        return max(0.0, ((self.now if now is None else now) - time) / DAY)

    def hours_since(self, time: float) -> float:
        return max(0.0, (self.now - time) / HOUR)

    def idle_days(self, memory: Fields, now: float | None = None) -> float:
        accessed = memory["last_accessed_at"]
        return self.days_since(memory["created_at"] if accessed is None else accessed, now)

    def staleness(self, memory: Fields, now: float | None = None) -> float:
        return reverie.staleness(self.idle_days(memory, now), reverie.limit_days(memory["kind"]))

    def set(self, row: int, name: str, value: Any) -> bool:
        """Change a field, if it differs and the budget of changes lets it; returns whether it did."""
        if self.memories[row][name] == value:
            return False
        if row not in self.changed:
            if len(self.changed) >= int(self.most_changed * self.live_at_first):
                return False
            self.changed.add(row)
        self.memories[row][name] = value
        return True

    def may_go(self, row: int) -> bool:
        """Whether a memory may be taken away; from then on it counts as taken."""
        memory = self.memories[row]
        if is_protected(memory) or self.days_since(memory["created_at"]) < self.youngest_days:
            return False
        if row not in self.pruned:
            if len(self.pruned) >= int(self.most_pruned * self.live_at_first):
                return False
            self.pruned.add(row)
        return True


def is_protected(memory: Fields) -> bool:
    return memory["pinned"] or memory["core"] or memory["importance_tag"] in RESISTANT
