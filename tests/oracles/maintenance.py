"""Maintenance in the dream cycle, one memory at a time: docs/systems/cognitive.md C19 to C22, omega.md O31."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.cognitive import (
    BETA_DAYS,
    CATEGORIES,
    FLOORS,
    days_since,
    memory_retention,
    summary_quality,
    to_cold,
    to_stub,
)
from tests.oracles.omega import decay_of, feedback_factor, is_forgotten, kind_weight
from tests.oracles.records import age_days, part_of, validity_of

__all__ = ["Grouping", "conflicts", "cooled", "forgotten", "groups", "stubs", "summary", "verdict"]

Fields = Mapping[str, Any]
Changes = dict[tuple[int, str], Any]

_SINCE = ("at_floor_since", "cold_since")


def is_live(memory: Fields) -> bool:
    """Tell whether there is such a memory, neither deleted nor quarantined."""
    is_there = memory["deleted_at"] is None and not memory["erased"]
    return is_there and memory["status"] != "quarantined"


def is_superseded(memory: Fields) -> bool:
    """Tell whether another has taken its place."""
    return memory["superseded_by"] is not None


def is_protected(memory: Fields) -> bool:
    """Tell whether nothing takes it away: reverie.md R13."""
    tag = memory["importance_tag"]
    return bool(memory["pinned"] or memory["core"] or tag in ("explicit", "schema_violation"))


def as_learned(memory: Fields) -> Fields:
    """Return a memory whose times of creation and access are not before the store learned of it.

    Source: reverie.md R13, "learned".
    """
    learned = memory["learned_at"]
    if learned is None:
        return memory
    later = {
        name: max(memory[name], learned)
        for name in ("created_at", "last_accessed_at")
        if memory[name] is not None
    }
    return {**memory, **later}


def cooled(
    memories: Sequence[Fields], now: float, beta_days: Sequence[float] = BETA_DAYS
) -> Changes:
    """Return what C19 makes of tier, at_floor_since and cold_since, where that is something else."""
    changes: Changes = {}
    for row, memory in enumerate(memories):
        if is_live(memory):
            told = _cooled(memory, now, beta_days)
            changes |= {(row, name): told[name] for name in told if told[name] != memory[name]}
    return changes


def _cooled(memory: Fields, now: float, beta_days: Sequence[float]) -> dict[str, Any]:
    told = {name: memory[name] for name in ("tier", *_SINCE)}
    if memory["tier"] == "cold" and memory["cold_since"] is None:
        told["cold_since"] = now
    if memory["tier"] != "hot":
        return told
    told["cold_since"] = None
    if is_superseded(memory):
        return told | {"tier": "cold", "cold_since": now}
    retention = memory_retention(as_learned(memory), now, beta_days=beta_days)
    floor = FLOORS[CATEGORIES.index(memory["category"])]
    if memory["core"] or not to_cold(retention, floor, math.inf):
        return told | {"at_floor_since": None}
    since, accessed = memory["at_floor_since"], memory["last_accessed_at"]
    if since is None or (accessed is not None and accessed > since):
        since = now
    told["at_floor_since"] = since
    if to_cold(retention, floor, days_since(now, since)):
        told |= {"tier": "cold", "cold_since": now}
    return told


def stubs(memories: Sequence[Fields], now: float) -> list[int]:
    """Return the rows that C20 cuts, in its order."""
    cut = [
        row
        for row, memory in enumerate(memories)
        if is_live(memory)
        and memory["tier"] == "cold"
        and not is_protected(memory)
        and memory["cold_since"] is not None
        and to_stub(days_since(now, _cold_here_since(memory)))
    ]
    return sorted(cut, key=lambda row: (_cold_here_since(memories[row]), row))


def _cold_here_since(memory: Fields) -> float:
    """Return since when a memory has been cold in this store."""
    learned = memory["learned_at"]
    return memory["cold_since"] if learned is None else max(memory["cold_since"], learned)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, to five decimals."""
    lengths = math.sqrt(math.fsum(x * x for x in one) * math.fsum(x * x for x in other))
    return round(math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths, 5)


@dataclass(frozen=True)
class Grouping:
    """The numbers of C21."""

    below: float = 0.20
    least_cosine: float = 0.70
    group_size: int = 5
    most_compared: int = 10_000
    expiring: Collection[str] = ()
    """C7: the kinds that expire in the profile; none: every kind does."""


def groups(memories: Sequence[Fields], now: float, by: Grouping) -> list[list[int]]:
    """Return the groups that C21 summarises, in the order of the memories that began them."""
    compared = _compared(memories, now, by)
    grouped: set[int] = set()
    found = []
    for seed in compared:
        if seed in grouped:
            continue
        group = [seed]
        for other in compared:
            if (
                len(group) < by.group_size
                and other != seed
                and other not in grouped
                and memories[other]["category"] == memories[seed]["category"]
                and part_of(memories[other]) == part_of(memories[seed])
                and _likeness(memories, seed, other) >= by.least_cosine
            ):
                group.append(other)
        if len(group) == by.group_size:
            found.append(sorted(group))
            grouped |= set(group)
    return found


def _likeness(memories: Sequence[Fields], one: int, other: int) -> float:
    return cosine(memories[one]["embedding"], memories[other]["embedding"])


def _compared(memories: Sequence[Fields], now: float, by: Grouping) -> list[int]:
    """Return the rows that C21 compares: the least R first, then in order."""
    left = [
        (memory_retention(as_learned(memory), now), row)
        for row, memory in enumerate(memories)
        if is_live(memory)
        and not is_protected(memory)
        and not is_superseded(memory)
        and memory["status"] != "archived"
        and memory["tier"] == "hot"
        and memory["embedding"] is not None
        and memory["consolidation_quality"] == 0
        and not is_bounded(memory, by.expiring)
    ]
    low = sorted(told for told in left if told[0] < by.below)
    return sorted(row for _, row in low[: by.most_compared])


def is_bounded(memory: Fields, expiring: Collection[str]) -> bool:
    """Tell whether there are times at which a memory is not valid. C7, C21 (ours)."""
    ends = memory.get("valid_until") is not None or memory.get("ttl") is not None
    may_end = not expiring or memory["kind"] in expiring
    return memory.get("valid_from") is not None or (ends and may_end)


def summary(members: Sequence[Fields]) -> dict[str, Any]:
    """Return the fields of the summary of a group, in order of insertion. C21."""
    kinds = Counter(member["kind"] for member in members)
    most = max(kinds.values())
    told = {
        name: max(member[name] for member in members)
        for name in (
            *("importance", "strength", "certainty", "impact", "depth", "priority"),
            *("access_count", "created_at", "updated_at"),
        )
    }
    latest = {
        name: max((one[name] for one in members if one[name] is not None), default=None)
        for name in ("last_accessed_at", "learned_at")
    }
    return told | {
        **latest,
        "kind": next(member["kind"] for member in members if kinds[member["kind"]] == most),
        "category": members[0]["category"],
        "stability": math.fsum(member["stability"] for member in members) / len(members),
        "consolidation_quality": summary_quality(len(members)),
        "text": _central(members)["text"],
        "trust": min(member["trust"] for member in members),
        "derived_from": tuple(member["id"] for member in members),
        **{
            name: [word for word in members[0][name] if all(word in one[name] for one in members)]
            for name in ("tags", "labels")
        },
        **{
            name: members[0][name] if len({one[name] for one in members}) == 1 else default
            for name, default in (
                *(("topic", None), ("project", None), ("session", None), ("source", None)),
                *(("user", None), ("agent", None), ("namespace", None)),
                ("veracity", "unknown"),
            )
        },
    }


def _central(members: Sequence[Fields]) -> Fields:
    """Return the member nearest the centroid of the unit vectors, of equal ones the first."""
    lengths = [math.sqrt(math.fsum(x * x for x in member["embedding"])) for member in members]
    centroid = [
        math.fsum(
            member["embedding"][axis] / length
            for member, length in zip(members, lengths, strict=True)
        )
        for axis in range(len(members[0]["embedding"]))
    ]
    return max(members, key=lambda member: cosine(member["embedding"], centroid))


def conflicts(
    memories: Sequence[Fields], previous: float | None, now: float, above: float = 0.85
) -> list[tuple[int, int]]:
    """Return the pairs, the older first, that C22 offers, were no end to them; the likest first."""

    def is_valid(memory: Fields) -> bool:
        start, end = validity_of(memory)
        return start <= now <= end

    rows = [
        row
        for row, memory in enumerate(memories)
        if is_live(memory)
        and not is_superseded(memory)
        and memory["status"] != "archived"
        and memory["tier"] != "stub"
        and memory["embedding"] is not None
        and is_valid(memory)
    ]

    def is_new(row: int) -> bool:
        memory = memories[row]
        times = (memory["created_at"], memory["updated_at"], memory["learned_at"] or -math.inf)
        return previous is None or previous > now or max(times) >= previous

    def age(row: int) -> tuple[float, float, int]:
        return memories[row]["updated_at"], memories[row]["created_at"], row

    pairs = [
        (-_likeness(memories, one, other), *sorted((one, other), key=age))
        for place, one in enumerate(rows)
        for other in rows[place + 1 :]
        if (is_new(one) or is_new(other))
        and part_of(memories[one]) == part_of(memories[other])
        and _likeness(memories, one, other) > above
    ]
    return [(older, newer) for _, older, newer in sorted(pairs)]


def verdict(word: str) -> tuple[bool, int]:
    """Return whether the older is retired, and by how much the newer's duplicates grow. C22."""
    return {
        "contradiction": (True, 0),
        "update": (True, 0),
        "duplicate": (True, 1),
        "distinct": (False, 0),
    }[word]


def forgotten(memories: Sequence[Fields], now: float) -> list[int]:
    """Return the rows that O31 archives, the weakest first."""

    def weight(memory: Fields) -> float:
        told = kind_weight(memory["kind"]) * feedback_factor(memory["feedback"])
        return told * decay_of(as_learned(memory), now)

    weak = [
        (weight(memory), row)
        for row, memory in enumerate(memories)
        if is_live(memory)
        and not is_protected(memory)
        and memory["status"] != "archived"
        and is_forgotten(as_learned(memory), now, age_days(as_learned(memory), now, "created_at"))
    ]
    return [row for _, row in sorted(weak)]
