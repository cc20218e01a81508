"""Memories as dicts in a dream cycle, and what it may do to them: docs/systems/reverie.md R13, H8."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracles import reverie
from tests.oracles.ieee import as_float32

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
    activity_times: tuple[str, ...] = ("learned_at",)
    kept_importance: float | None = None
    kept_priority: int | None = None
    taken_before: int = 0
    live_at_first: int | None = None
    candidates: list[int] = field(default_factory=list)
    peers: dict[int, set[int]] = field(default_factory=dict)
    links: list[tuple[int, int]] = field(default_factory=list)
    pruned: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.memories = [dict(memory) for memory in self.memories]
        self.live_now = len(list(self.live()))
        shown = (row for row in self.live() if self.memories[row]["status"] != "archived")
        self.shown_now = len(list(shown))

    def live(self) -> Iterator[int]:
        for row, memory in enumerate(self.memories):
            is_there = memory["deleted_at"] is None and not memory["erased"]
            if is_there and memory["status"] != "quarantined":
                yield row

    def days_since(self, time: float, now: float | None = None) -> float:
        return max(0.0, ((self.now if now is None else now) - time) / DAY)

    def hours_since(self, time: float) -> float:
        return max(0.0, (self.now - time) / HOUR)

    def latest(self, memory: Fields, name: str) -> float:
        """Return a time, or the latest of the times of activity where that is later."""
        times = [memory[name], *(memory[other] for other in self.activity_times)]
        return max(time for time in times if time is not None)

    def age_days(self, memory: Fields) -> float:
        """Return the age by which a memory is taken away."""
        return self.days_since(self.latest(memory, "created_at"))

    def is_kept(self, memory: Fields) -> bool:
        """Tell whether no rule of age takes it away: house.md H8."""
        least, lowest = self.kept_importance, self.kept_priority
        return (least is not None and memory["importance"] >= as_float32(least)) or (
            lowest is not None and memory["priority"] >= lowest
        )

    def may_take(self) -> float:
        """Return how many may be taken away now: R19's limit of a day."""
        if self.most_pruned == 1:
            return math.inf
        live = self.live_at_first
        base = self.shown_now if live is None else min(live, self.shown_now + self.taken_before)
        return int(self.most_pruned * base) - self.taken_before

    def staleness(self, memory: Fields, now: float | None = None) -> float:
        accessed = memory["last_accessed_at"]
        since = self.latest(memory, "created_at" if accessed is None else "last_accessed_at")
        return reverie.staleness(self.days_since(since, now), reverie.limit_days(memory["kind"]))

    def set(self, row: int, name: str, value: Any) -> bool:
        """Change a field, if it differs and the budget of changes lets it; returns whether it did."""
        if self.memories[row][name] == value:
            return False
        if row not in self.changed:
            if len(self.changed) >= int(self.most_changed * self.live_now):
                return False
            self.changed.add(row)
        self.memories[row][name] = value
        return True

    def may_go(self, row: int) -> bool:
        """Whether a memory may be taken away; from then on it counts as taken."""
        memory = self.memories[row]
        known = max(memory["created_at"], memory["learned_at"] or memory["created_at"])
        if is_protected(memory) or self.days_since(known) < self.youngest_days:
            return False
        if row not in self.pruned:
            if len(self.pruned) >= self.may_take():
                return False
            self.pruned.add(row)
        return True


def is_protected(memory: Fields) -> bool:
    return memory["pinned"] or memory["core"] or memory["importance_tag"] in RESISTANT
