"""Neighbours in a session, one memory at a time: docs/systems/house.md H4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Lent", "lent", "sequences"]

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Lent:
    relevance: dict[str, float]
    """Of every candidate, those that hits brought included, with what it is lent."""
    brought_by: dict[str, str]


def sequences(records: Mapping[str, Fields]) -> list[list[str]]:
    """The memories of each session in order of time; ``records`` in order of insertion."""
    sessions: dict[str, list[str]] = {}
    for id, fields in records.items():
        if fields.get("session") is not None and not fields.get("is_deleted"):
            sessions.setdefault(fields["session"], []).append(id)

    def when(id: str) -> float:
        event = records[id].get("event_at")
        return float(records[id]["created_at"] if event is None else event)

    return [sorted(ids, key=when) for ids in sessions.values()]  # sorted() keeps ties as they came


def lent(
    in_order: Sequence[Sequence[str]],
    relevance: Mapping[str, float],
    candidates: Sequence[str],
    allowed: set[str],
    insertion: Mapping[str, int],
    *,
    share: float,
    decay: float,
    reach: int,
    seeds: int,
    above_mean: bool,
) -> Lent:
    """H4. ``relevance``: before anything is lent, of every memory, 0 where nothing is found."""
    place = {id: (ids, n) for ids in in_order for n, id in enumerate(ids)}

    def beside(id: str, distance: int) -> list[str]:
        if id not in place:
            return []
        ids, n = place[id]
        return [ids[m] for m in (n - distance, n + distance) if 0 <= m < len(ids)]

    brought: dict[str, str] = {}
    best = sorted(candidates, key=lambda id: (-relevance[id], insertion[id]))[:seeds]
    for hit in best:
        for distance in range(1, reach + 1):
            for id in beside(hit, distance):
                if id in allowed and id not in candidates:
                    brought.setdefault(id, hit)
    everyone = [*candidates, *brought]
    mean = sum(relevance[id] for id in everyone) / len(everyone) if everyone and above_mean else 0.0

    def lends(id: str) -> float:
        if id not in everyone:
            return 0.0
        return max(relevance[id] - mean, 0.0) if above_mean else relevance[id]

    return Lent(
        {
            id: relevance[id]
            + sum(
                share * decay ** (distance - 1) * lends(other)
                for distance in range(1, reach + 1)
                for other in beside(id, distance)
            )
            for id in everyone
        },
        brought,
    )
