"""The association graph, one link at a time: docs/systems/cognitive.md C9, C10, C13, C16, omega.md O24."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.oracles.cognitive import association_decay
from tests.oracles.records import DAY

__all__ = ["Bridge", "PlainGraph", "PlainLink", "Reached", "Weights", "bridges", "expand"]


@dataclass(frozen=True)
class PlainLink:
    weight: float
    kind: int
    created: float
    last: float

    def left(self, now: float, tau_days: float) -> float:
        return association_decay(self.weight, (now - self.last) / DAY, tau_days)


@dataclass
class PlainGraph:
    links: dict[frozenset[int], PlainLink] = field(default_factory=dict)

    def set(self, a: int, b: int, link: PlainLink) -> None:
        self.links[frozenset((a, b))] = link

    def strengthen(
        self, a: int, b: int, now: float, gain: float, tau_days: float, rest_days: float = 0.0
    ) -> None:
        """C13; of a link last found within ``rest_days``, only that share of the gain (H7)."""
        former = self.links.get(frozenset((a, b)))
        if former is None:
            self.set(a, b, PlainLink(min(1.0, gain), 0, now, now))
        else:
            days = (now - former.last) / DAY  # NaN: never found together
            share = max(days, 0.0) / rest_days if rest_days and days < rest_days else 1.0
            weight = min(1.0, former.left(now, tau_days) + gain * share)
            self.set(a, b, replace(former, weight=weight, last=now))

    def remove(self, a: int, b: int) -> int:
        return int(self.links.pop(frozenset((a, b)), None) is not None)

    def remove_row(self, row: int) -> int:
        gone = [pair for pair in self.links if row in pair]
        for pair in gone:
            del self.links[pair]
        return len(gone)

    def neighbours(self, row: int) -> dict[int, PlainLink]:
        return {next(iter(pair - {row})): link for pair, link in self.links.items() if row in pair}


Weights = dict[int, dict[int, float]]
"""What is left of each link, by both of its rows."""


@dataclass(frozen=True)
class Reached:
    row: int
    value: float
    path: tuple[int, ...]


def walks(weights: Weights, path: tuple[int, ...], most: int) -> Iterator[tuple[int, ...]]:
    """Every path without a row twice that goes on from this one by up to ``most`` links."""
    for row in weights.get(path[-1], {}) if most else ():
        if row not in path:
            yield (*path, row)
            yield from walks(weights, (*path, row), most - 1)


def value_of(weights: Weights, path: tuple[int, ...], seed: float, hop_decay: float) -> float:
    for a, b in itertools.pairwise(path):
        seed = seed * hop_decay * weights[a][b]
    return seed


def expand(
    weights: Weights,
    seeds: dict[int, float],
    *,
    least_link: float,
    least: float,
    hop_decay: float,
    most_hops: int,
    allowed: Sequence[bool],
) -> list[Reached]:
    """All rows that paths reach: the best path of each, by value, fewer links, its rows from the end."""
    walked = {
        a: {b: w for b, w in row.items() if w >= least_link and allowed[b]}
        for a, row in weights.items()
        if allowed[a]
    }
    found: dict[int, Reached] = {}
    for seed, value in seeds.items():
        for path in walks(walked, (seed,), most_hops):
            worth = value_of(walked, path, value, hop_decay)
            reached = Reached(path[-1], worth, path[:-1])
            former = found.get(reached.row)
            if (
                worth >= least
                and reached.row not in seeds
                and (former is None or _rank(reached) < _rank(former))
            ):
                found[reached.row] = reached
    return sorted(found.values(), key=lambda reached: (-reached.value, reached.row))


def _rank(reached: Reached) -> tuple[float, int, tuple[int, ...]]:
    return -reached.value, len(reached.path), reached.path[::-1]


@dataclass(frozen=True)
class Bridge:
    row: int
    value: float
    path: tuple[int, ...]


def bridges(
    weights: Weights, ends: Sequence[int], *, least_link: float, allowed: Sequence[bool]
) -> list[Bridge]:
    """All rows on paths of two or three links between two ends without one, each with its best path."""
    walked = {
        a: {b: w for b, w in row.items() if w >= least_link and allowed[b]}
        for a, row in weights.items()
        if allowed[a]
    }
    found: dict[int, Bridge] = {}
    for first, last in itertools.combinations(ends, 2):
        if last in walked.get(first, {}):
            continue
        for path in walks(walked, (first,), 3):
            if path[-1] != last:
                continue
            value = math.prod([walked[a][b] for a, b in itertools.pairwise(path)])
            for row in path[1:-1]:
                bridge = Bridge(row, value, path)
                former = found.get(row)
                if row not in ends and (former is None or _place(bridge) < _place(former)):
                    found[row] = bridge
    return sorted(found.values(), key=lambda bridge: (-bridge.value, bridge.row))


def _place(bridge: Bridge) -> tuple[float, int, tuple[int, ...]]:
    return -bridge.value, len(bridge.path), bridge.path
