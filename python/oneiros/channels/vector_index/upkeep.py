"""What a vector index does behind its searches: take fresh vectors into a graph, drop dead nodes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from oneiros.channels.vector_index.sealed import Sealed, flags_of, seal
from oneiros.channels.vector_index.snapshot import Snapshot
from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    from oneiros.channels import Kind

__all__ = ["FLAT_LIMIT", "Built", "Task", "build", "due"]


# One thread, 384 wide, clustered vectors, AMD EPYC (AVX-512), median microseconds a query:
#
#     vectors                      1,000  2,000  5,000  10,000  20,000  100,000
#     flat, k = 100                   21     36     69     115     204    1,880
#     HNSW, k = 100, breadth 200                           119     188      450
#     flat, k = 10                    15     28     53      92     168
#     HNSW, k = 10, breadth 96                              47
#     HNSW build, s                  0.6    0.8    1.7     2.7     4.5       80
#
# They meet at about 10,000 for 100 results, and at 5,000 for 10.
FLAT_LIMIT: Final = 5_000

LEAST_GRAPH: Final = 256  # a smaller graph is slower than looking at all, whatever was asked for
FRESH_SHARE: Final = 16  # a graph takes fresh vectors in when they are 1/16 of it,
FEWEST_FRESH: Final = 1_024  # though not so few that copying the graph is most of the work,
MOST_FRESH: Final = 8_192  # nor so many that looking at all of them is most of a search
DEAD_SHARE: Final = 4  # dead positions go when they are a quarter of all
FEWEST_DEAD: Final = 1_024


class Task(Enum):
    """A way of building the next state."""

    RETURN = "the graph that was kept comes back"
    EXTEND = "the graph grows by the fresh vectors"
    GRAPH = "a new graph of all vectors"
    FLAT = "the graph goes"


@dataclass(frozen=True, slots=True)
class Built:
    """What a task made of a snapshot, beside it."""

    sealed: Sealed | None
    is_live: npt.NDArray[np.bool_]
    """Which of its positions are in use, shape (n,)."""


def due(kind: Kind, now: Snapshot) -> Task | None:
    """Return what should be done next, if anything."""
    least = {"auto": FLAT_LIMIT + 1, "hnsw": LEAST_GRAPH, "flat": None}[kind]
    count = len(now.column)
    if now.sealed is None:
        return Task.GRAPH if least is not None and count >= least else None
    if least is None or count < least // 2:  # half: no to and fro at the limit
        return Task.FLAT
    if now.dead_count >= FEWEST_DEAD and now.dead_count * DEAD_SHARE >= now.sealed_count:
        return Task.GRAPH
    fresh_limit = min(max(now.sealed_count // FRESH_SHARE, FEWEST_FRESH), MOST_FRESH)
    return Task.EXTEND if now.fresh_count >= fresh_limit else None


def build(task: Task, snapshot: Snapshot, is_stopped: Callable[[], bool]) -> Built | None:
    """Carry a task out on a snapshot, which stays as it is; None if stopped on the way."""
    if task is Task.FLAT:
        return Built(None, np.empty(0, np.bool_))
    column, former, live = snapshot.column, snapshot.sealed, snapshot.live
    if task is Task.GRAPH:
        former = live = None
    rows = column.rows(minus=None if former is None else snapshot.under)
    # Packed bits of the positions end with a byte.
    made = seal(column, former, live, rows[: len(rows) // 8 * 8], is_stopped)
    if made is None:
        return None
    sealed, order = made
    is_live = np.ones(len(sealed), np.bool_)
    if former is not None:
        is_old = order < len(former)
        is_live[is_old] = flags_of(live, len(former))[order[is_old]]
    return Built(sealed, is_live)
