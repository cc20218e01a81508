"""The links of a store's memories, in the core's graph by rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.association.link import Link
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from pyroaring import BitMap

    from oneiros.projections.lifecycle import Lifecycle

__all__ = ["Associations"]

_TAU_DAYS: Final = 90.0  # docs/systems/cognitive.md C16


class Associations:
    """A projection of the store's links, read from it when they are first asked for.

    One writer at a time (the engine's lock); many readers.

    Args:
        lifecycle: rows and ids of the memories.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._graph: _core.AssociationGraph | None = None

    @property
    def are_read(self) -> bool:
        """Whether the store's links are here."""
        return self._graph is not None

    def __len__(self) -> int:
        """Return how many links are here."""
        return 0 if self._graph is None else len(self._graph)

    def read(self, batches: Iterable[Sequence[StoredLink]]) -> None:
        """Take all links of the store. REQUIRES: its memories have their rows."""
        graph = _core.AssociationGraph()
        for batch in batches:
            self._put(graph, batch)
        self._graph = graph

    def drop(self) -> None:
        """Have no links, until they are read anew."""
        self._graph = None

    def apply(self, batch: Sequence[StoredLink]) -> None:
        """Bring links to what the store says. REQUIRES: they were read, and the memories before."""
        assert self._graph is not None
        self._put(self._graph, batch)

    def erase(self, row: int) -> None:
        """Drop the links of a memory."""
        if self._graph is not None and row < self._graph.row_count:
            self._graph.remove_rows(rows=[row])

    def neighbours(self, row: int, *, visible: BitMap, now: float, limit: int) -> list[Link]:
        """Return the links of a memory to others that are visible, the heaviest first."""
        graph = self._graph
        if graph is None or row >= graph.row_count:  # None: dropped meanwhile
            return []
        ids = self._lifecycle.ids
        found: list[Link] = []
        for other, weight, kind, created, last in graph.neighbours(
            row=row, now_seconds=now, tau_days=_TAU_DAYS
        ):
            if len(found) == limit:
                break
            if other in visible and (id := ids[other]):  # "": forgotten meanwhile
                when = None if math.isnan(last) else last
                found.append(Link(id, weight, KINDS[kind], created, when))
        return found

    def _put(self, graph: _core.AssociationGraph, batch: Sequence[StoredLink]) -> None:
        row_of = self._lifecycle.row_of
        ends = [(row_of.get(link.one), row_of.get(link.other)) for link in batch]
        # A memory may have gone since the link was written; its links go with it.
        known = [
            (one, other, link)
            for (one, other), link in zip(ends, batch, strict=True)
            if one is not None and other is not None
        ]
        there = [one for one in known if one[2].weight > 0]
        gone = [one for one in known if one[2].weight == 0]
        graph.grow(row_count=len(self._lifecycle.ids))
        if there:
            graph.set(
                a=[one for one, _, _ in there],
                b=[other for _, other, _ in there],
                weight=[link.weight for _, _, link in there],
                kind=[link.kind for _, _, link in there],
                created_seconds=[link.created_at for _, _, link in there],
                last_seconds=[link.co_retrieved_at for _, _, link in there],
            )
        if gone:
            graph.remove(a=[one for one, _, _ in gone], b=[other for _, other, _ in gone])
