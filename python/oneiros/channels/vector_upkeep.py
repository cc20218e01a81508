"""What a vector index does behind its searches: take fresh vectors into a graph, drop dead ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from oneiros.channels.growing_array import GrowingArray
from oneiros.channels.inner_products import Positions
from oneiros.channels.vector_sealed import Sealed, seal
from oneiros.channels.vector_snapshot import Snapshot

if TYPE_CHECKING:
    from oneiros.channels import Kind

__all__ = ["FLAT_LIMIT", "Built", "Task", "build", "due"]


# One thread, 384 wide, clustered vectors, AMD EPYC (AVX-512), microseconds a query, k = 100:
#
#     vectors          1,000  2,000  5,000  10,000  20,000  50,000
#     flat                43     67    145     242     931   2,241
#     HNSW, breadth 200  104    121    101     117     152     191   (recall@100 >= 0.999)
#     HNSW build, s     0.06   0.13   0.29    0.69     1.7     5.7
#
# They meet at about 4,000; exactness is worth the rest up to 5,000.
FLAT_LIMIT: Final = 5_000

LEAST_GRAPH: Final = 256  # a smaller graph is slower than looking at all, whatever was asked for
FRESH_SHARE: Final = 16  # a graph takes fresh vectors in when they are 1/16 of it,
FEWEST_FRESH: Final = 1_024  # though not so few that copying the graph is most of the work,
MOST_FRESH: Final = 8_192  # nor so many that looking at all of them is most of a search
DEAD_SHARE: Final = 4  # dead positions go when they are a quarter of all
FEWEST_DEAD: Final = 1_024


class Task(Enum):
    """A way of building the next state."""

    EXTEND = "the graph grows by the fresh vectors"
    GRAPH = "a new graph of all live vectors"
    FLAT = "a new matrix of all live vectors"


@dataclass(frozen=True, slots=True)
class Built:
    """What a task made of a snapshot, beside it."""

    sealed: Sealed | None
    order: Positions
    """The snapshot's positions in their new order, the sealed ones first."""
    fresh: GrowingArray[np.float32]
    """The vectors of the others."""


def due(kind: Kind, now: Snapshot) -> Task | None:
    """Return what should be done next, if anything."""
    dead = now.count - now.live_count
    has_many_dead = dead >= FEWEST_DEAD and dead * DEAD_SHARE >= now.count
    least = {"auto": FLAT_LIMIT + 1, "hnsw": LEAST_GRAPH, "flat": None}[kind]
    if now.sealed is None:
        if least is not None and now.live_count >= least:
            return Task.GRAPH
        return Task.FLAT if has_many_dead else None
    if least is None or now.live_count < least // 2:  # half: no to and fro at the limit
        return Task.FLAT
    if has_many_dead:
        return Task.GRAPH
    fresh_limit = min(max(now.sealed_count // FRESH_SHARE, FEWEST_FRESH), MOST_FRESH)
    return Task.EXTEND if len(now.fresh) >= fresh_limit else None


def build(task: Task, snapshot: Snapshot, is_stopped: Callable[[], bool]) -> Built | None:
    """Carry a task out on a snapshot, which stays as it is; None if stopped on the way."""
    if task is Task.FLAT:
        order = _live_by_row(snapshot)
        return Built(None, order, GrowingArray(snapshot.vectors_at(order), room=len(order) // 2))
    if task is Task.EXTEND:
        former, given = snapshot.sealed, np.arange(snapshot.count)
        vectors, start = snapshot.fresh, snapshot.sealed_count
    else:
        former, given = None, _live_by_row(snapshot)
        is_all = snapshot.sealed is None and np.array_equal(given, np.arange(snapshot.count))
        vectors, start = snapshot.fresh if is_all else snapshot.vectors_at(given), 0
    taken = len(vectors) // 8 * 8
    made = seal(former, vectors[:taken], is_stopped)
    if made is None:
        return None
    sealed, order = made
    order = np.concatenate((given[order], given[start + taken :]))
    return Built(sealed, order, GrowingArray(vectors[taken:]))


def _live_by_row(snapshot: Snapshot) -> Positions:
    live = snapshot.live_positions()
    by_row: Positions = live[np.argsort(snapshot.rows[live], kind="stable")]
    return by_row
