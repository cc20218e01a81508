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
    above_session: bool = False,
    from_better: bool = False,
    session_share: float = 0.0,
    whole_length: float | None = None,
    lengths: Mapping[str, float] | None = None,
) -> Lent:
    """H4. ``relevance``: before anything is lent, of every memory, 0 where nothing is found.

    The profile's own parts, each off where it is not given: a candidate lends what it has beyond the
    mean of its session's candidates; the better of two neighbours lends; every candidate gains
    a share of what it lacks to the best of its session; a text longer than ``whole_length`` is lent less.
    """
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

    def mean(ids: Sequence[str]) -> float:
        return sum(relevance[id] for id in ids) / len(ids)

    def of_session(id: str) -> list[str]:
        return [other for other in place[id][0] if other in everyone] if id in place else []

    def lends(id: str) -> float:
        if id not in everyone:
            return 0.0
        means = [mean(everyone)] if above_mean else []
        if above_session:  # called for members of a session only
            means.append(mean(of_session(id)))
        return max(relevance[id] - max(means), 0.0) if means else relevance[id]

    def at(id: str, distance: int) -> float:
        beside_it = [lends(other) for other in beside(id, distance)]
        return max(beside_it, default=0.0) if from_better else sum(beside_it)

    def part(id: str) -> float:
        length = 0.0 if whole_length is None or lengths is None else lengths[id]
        return 1.0 if whole_length is None or length <= whole_length else whole_length / length

    with_share = {
        id: relevance[id]
        + part(id)
        * sum(
            share * decay ** (distance - 1) * at(id, distance) for distance in range(1, reach + 1)
        )
        for id in everyone
    }
    return Lent(
        {
            id: with_share[id]
            + session_share
            * max((with_share[other] - with_share[id] for other in of_session(id)), default=0.0)
            for id in everyone
        },
        brought,
    )
