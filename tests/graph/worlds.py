"""Small random graphs, and the core's beside the plain one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oneiros import _core
from tests.oracles.associations import PlainGraph, PlainLink, Weights
from tests.oracles.records import DAY

NOW = 1_750_000_000.0
TAU = 90.0
ROWS = 12

rows = st.integers(0, ROWS - 1)
pairs = st.tuples(rows, rows).filter(lambda pair: pair[0] != pair[1])
# Sixteenths, whose products are exact: equal paths are equal, whatever their order.
weights = st.integers(1, 16).map(lambda n: n / 16) | st.floats(0.0, 1.0, exclude_min=True)
days = st.sampled_from([0.0, 1.0, 30.0, 90.0, 200.0]) | st.floats(-10.0, 1_000.0)
times = days.map(lambda age: NOW - age * DAY) | st.just(math.nan)
links = st.builds(PlainLink, weights, st.integers(0, 4), times.filter(math.isfinite), times)
worlds = st.lists(st.tuples(pairs, links), max_size=40)


def made(
    world: list[tuple[tuple[int, int], PlainLink]],
) -> tuple[_core.AssociationGraph, PlainGraph]:
    graph, plain = _core.AssociationGraph(), PlainGraph()
    graph.grow(row_count=ROWS)
    set_all(graph, world)
    for (a, b), link in world:
        plain.set(a, b, link)
    return graph, plain


def linked(*links: tuple[int, int, float]) -> _core.AssociationGraph:
    """Return the core's graph of links of one kind, by their ends and weights."""
    return made([((a, b), PlainLink(weight, 0, NOW, math.nan)) for a, b, weight in links])[0]


def set_all(graph: _core.AssociationGraph, world: list[tuple[tuple[int, int], PlainLink]]) -> None:
    graph.set(
        a=[a for (a, _), _ in world],
        b=[b for (_, b), _ in world],
        weight=[link.weight for _, link in world],
        kind=[link.kind for _, link in world],
        created_seconds=[link.created for _, link in world],
        last_seconds=[link.last for _, link in world],
    )


def weights_left(graph: _core.AssociationGraph, now: float = NOW, tau_days: float = TAU) -> Weights:
    """What the core says is left of each link; test_graph.py holds it to the formula."""
    return {
        row: {
            neighbour: left
            for neighbour, left, *_ in graph.neighbours(row=row, now_seconds=now, tau_days=tau_days)
        }
        for row in range(graph.row_count)
    }


def packed(allowed: list[bool]) -> np.ndarray[Any, Any]:
    return np.packbits(allowed, bitorder="little")
