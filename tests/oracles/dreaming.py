"""Reverie's dream cycle over memories as dicts, one at a time: docs/systems/reverie.md R10 to R16."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.oracles import reverie, texts
from tests.oracles.cycles import HOUR, RESISTANT, Cycle, Fields, is_protected
from tests.oracles.ieee import as_float32
from tests.oracles.records import part_of, validity_of

LAYERS = ("episodic", "intermediate", "semantic")


def overlap(one: str, other: str) -> float:
    left, right = set(texts.words(one)), set(texts.words(other))
    return len(left & right) / len(left | right) if left & right else 0.0


def scan(cycle: Cycle, limit: int | None = 50, compared: int = 256) -> None:
    """R10."""
    live = list(cycle.live())

    def priority(row: int, largest_overlap: float) -> float:
        memory = cycle.memories[row]
        return reverie.scan_priority(
            cycle.hours_since(memory["updated_at"]),
            memory["revision_count"] + memory["duplicate_count"],
            as_float32(memory["importance"]),
            largest_overlap,
        )

    def largest_overlap(row: int) -> float:
        memory = cycle.memories[row]
        others = [cycle.memories[other] for other in live if other != row]
        return max(
            (
                overlap(memory["text"], other["text"])
                for other in others
                if other["topic"] == memory["topic"]
            ),
            default=0.0,
        )

    eligible = [
        row
        for row in live
        if cycle.memories[row]["status"] == "staged"
        and cycle.now - cycle.memories[row]["updated_at"] > HOUR
        and cycle.memories[row]["replayed_at"] is None
    ]
    urgent = sorted(eligible, key=lambda row: (-priority(row, 0.0), row))
    first = sorted(urgent[:compared], key=lambda row: (-priority(row, largest_overlap(row)), row))
    cycle.candidates = (first + urgent[compared:])[:limit]


def consolidate(cycle: Cycle) -> None:
    """R11."""
    memories = cycle.memories
    consolidated = [row for row in cycle.live() if memories[row]["status"] == "consolidated"]
    parts = [part_of(memory) for memory in memories]
    peers = {
        row: {
            *(other for other in cycle.candidates if other != row and shares(cycle, row, other)),
            *nearest(memories, row, [one for one in consolidated if parts[one] == parts[row]], 3),
        }
        for row in cycle.candidates
    }
    kept = []
    for row in cycle.candidates:
        memory = memories[row]
        hours = cycle.hours_since(memory["created_at"])
        strength = as_float32(
            min(1.0, memory["strength"] + reverie.replay_delta(len(peers[row]), hours))
        )
        if cycle.set(row, "strength", strength) or memory["strength"] == strength:
            kept.append(row)
    cycle.links = sorted(
        {
            (min(one, other), max(one, other))
            for one in kept
            for other in peers[one]
            if other not in peers or (other in kept and are_linked(memories, kept, one, other))
        }
    )
    cycle.candidates = kept
    cycle.peers = {row: peers[row] for row in kept}


def shares(cycle: Cycle, one: int, other: int) -> bool:
    left, right = cycle.memories[one], cycle.memories[other]
    return part_of(left) == part_of(right) and any(
        left[name] is not None and left[name] == right[name] for name in ("session", "topic")
    )


def are_linked(memories: Sequence[Fields], kept: list[int], one: int, other: int) -> bool:
    """Whether both are among the 32 most urgent of a session, or of a topic, of their part."""
    own = [row for row in kept if part_of(memories[row]) == part_of(memories[one])]
    for name in ("session", "topic"):
        word = memories[one][name]
        group = [row for row in own if word is not None and memories[row][name] == word][:32]
        if one in group and other in group:
            return True
    return False


def nearest(memories: Sequence[Fields], row: int, among: Sequence[int], count: int) -> list[int]:
    """Return the rows of greatest cosine; the earlier row of equals."""

    def unit(vector: Sequence[float]) -> list[float]:
        length = math.sqrt(sum(x * x for x in vector))
        return [as_float32(x / length) for x in vector]

    own = memories[row]["embedding"]
    if own is None:
        return []
    cosines = {
        other: sum(a * b for a, b in zip(unit(own), unit(vector), strict=True))
        for other in among
        if other != row and (vector := memories[other]["embedding"]) is not None
    }
    return sorted(cosines, key=lambda other: (-cosines[other], other))[:count]


def downscale(cycle: Cycle) -> None:
    """R12."""
    for row in cycle.live():
        memory = cycle.memories[row]
        tag = memory["importance_tag"]
        if tag not in RESISTANT:
            rate = 0.975 if tag == "cross_session" else 0.95
            memory["strength"] = as_float32(reverie.downscale(memory["strength"], rate))


def prune(cycle: Cycle) -> None:
    """R13."""
    doomed = {row for row in cycle.live() if is_doomed(cycle, row)}
    groups: dict[tuple[str | float | None, ...], list[int]] = {}
    for row in cycle.live():
        memory = cycle.memories[row]
        is_shown = memory["status"] != "archived" and memory["superseded_by"] is None
        if is_shown and row not in doomed:
            said = memory["topic"], memory.get("title"), memory["text"]
            said = *said, *part_of(memory), *validity_of(memory), memory.get("event_at")
            groups.setdefault(said, []).append(row)
    newest_of: dict[int, int] = {}
    for group in groups.values():
        for row in group:
            trust = cycle.memories[row]["trust"]
            trusted = (other for other in group if cycle.memories[other]["trust"] >= trust)
            newest = max(trusted, key=lambda other: (cycle.memories[other]["created_at"], other))
            if row != newest:
                newest_of[row] = newest
                doomed |= set() if is_kept(cycle, row) else {row}
    for row in sorted(doomed, key=lambda row: (-cycle.staleness(cycle.memories[row]), row)):
        memory = cycle.memories[row]
        if memory["kind"] == "session" and memory["status"] == "archived":
            continue
        if cycle.may_go(row):
            if row in newest_of:
                kept = cycle.memories[newest_of[row]]
                kept["trust"] = min(kept["trust"], memory["trust"])
            if memory["kind"] == "session":
                memory["status"] = "archived"
            else:
                memory["deleted_at"] = cycle.now


def is_kept(cycle: Cycle, row: int) -> bool:
    memory = cycle.memories[row]
    is_revised = memory["revision_count"] > 0
    is_lately = cycle.days_since(memory["updated_at"]) < reverie.limit_days(memory["kind"])
    return is_protected(memory) or (is_revised and is_lately)


def is_doomed(cycle: Cycle, row: int) -> bool:
    memory = cycle.memories[row]
    if is_kept(cycle, row):
        return False
    is_unused = (
        memory["access_count"] == 0
        and memory["last_accessed_at"] is None
        and cycle.age_days(memory) > 30
        and memory["strength"] <= as_float32(0.01)
    )
    is_stale = cycle.staleness(memory) >= 1
    is_by_age = (is_stale or is_unused) and not cycle.is_kept(memory)
    return is_by_age or memory["superseded_by"] is not None


def place(cycle: Cycle) -> None:
    """R14."""
    for row in cycle.live():
        memory = cycle.memories[row]
        if memory["status"] == "staged":
            peers = len(cycle.peers.get(row, ()))
            activity = memory["access_count"] + memory["revision_count"] + peers
            if activity >= 1 or cycle.days_since(memory["created_at"]) >= 1:
                cycle.set(row, "status", "consolidated")
    fading = [
        row
        for row in cycle.live()
        if cycle.memories[row]["status"] == "consolidated"
        and cycle.staleness(cycle.memories[row]) >= 0.5
        and cycle.memories[row]["strength"] < as_float32(0.2)
        and not cycle.is_kept(cycle.memories[row])
    ]
    for row in sorted(fading, key=lambda row: (-cycle.staleness(cycle.memories[row]), row)):
        if cycle.may_go(row):
            cycle.memories[row]["status"] = "archived"


def promote(cycle: Cycle) -> None:
    """R15."""
    has_passed = cycle.previous is None or cycle.now > cycle.previous
    for row in cycle.live():
        memory = cycle.memories[row]
        now_missed = math.floor(cycle.staleness(memory) / 2)
        missed = 0
        if cycle.previous is not None:
            missed = math.floor(cycle.staleness(memory, cycle.previous) / 2)
        depth = memory["depth"]
        if has_passed and cycle.staleness(memory) < 1 and rises(memory):
            depth += 1
        elif now_missed > missed:
            depth = max(1, depth - 1)
        cycle.set(row, "depth", depth)
    for row in cycle.live():
        memory = cycle.memories[row]
        age = cycle.days_since(memory["created_at"])
        weight = reverie.SIGNAL_WEIGHT.get(memory["kind"], 1.0)
        told = reverie.signal(memory["access_count"], age, memory["revision_count"], weight)
        layer = memory["depth"] - 1
        if told < 0.05:
            layer = max(0, layer - 1)
        cycle.set(row, "canonical_layer", LAYERS[layer])


def rises(memory: Fields) -> bool:
    spread = memory["session_spread"]
    if memory["depth"] == 1:
        return bool(spread >= 2 and memory["access_count"] >= 3)
    return bool(memory["depth"] == 2 and spread >= 5)


PHASES = {
    "scan": scan,
    "consolidate": consolidate,
    "downscale": downscale,
    "prune": prune,
    "place": place,
    "promote": promote,
}
