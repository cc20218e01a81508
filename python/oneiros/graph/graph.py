"""The links of a store's memories, in the core's graph by rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.graph.link import Link
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from pyroaring import BitMap

    from oneiros.index.columns import Lifecycle

__all__ = ["TAU_DAYS", "Associations", "links_found", "set_links", "strengthened"]


if TYPE_CHECKING:
    Ends = Sequence[tuple[str, str]]


TAU_DAYS: Final = 90.0  # docs/systems/cognitive.md C16


def set_links(graph: _core.AssociationGraph, links: Sequence[tuple[int, int, StoredLink]]) -> None:
    """Set links in a graph, each with the numbers of its ends there."""
    graph.set(
        a=[one for one, _, _ in links],
        b=[other for _, other, _ in links],
        weight=[link.weight for _, _, link in links],
        kind=[link.kind for _, _, link in links],
        created_seconds=[link.created_at for _, _, link in links],
        last_seconds=[link.co_retrieved_at for _, _, link in links],
    )


def links_found(
    graph: _core.AssociationGraph, pairs: Sequence[tuple[int, int]], ends: Ends
) -> list[StoredLink | None]:
    """Return the links of pairs as a store holds them; None where there is none.

    Args:
        graph: that holds them.
        pairs: by their numbers there.
        ends: the same pairs by the ids of their memories.
    """
    found = graph.find(a=[one for one, _ in pairs], b=[other for _, other in pairs])
    links: list[StoredLink | None] = []
    for (one, other), link in zip(ends, found, strict=True):
        if link is None:
            links.append(None)
            continue
        weight, kind, created, last = link
        when = None if math.isnan(last) else last
        links.append(StoredLink(one, other, kind, weight, created, when))
    return links


def strengthened(
    ends: Ends, before: Sequence[StoredLink | None], *, now: float, gain: float
) -> list[StoredLink]:
    """Return what the links of pairs of memories would be after a gain: tried on a graph aside.

    Args:
        ends: ids of different memories, each pair once.
        before: the link of each pair; None where there is none.
        now: when they were found together.
        gain: as in ``Associations.strengthen``.
    """
    number: dict[str, int] = {}
    for id in itertools.chain.from_iterable(ends):
        number.setdefault(id, len(number))
    pairs = [(number[one], number[other]) for one, other in ends]
    aside = _core.AssociationGraph()
    aside.grow(row_count=len(number))
    there = [(*pair, link) for pair, link in zip(pairs, before, strict=True) if link is not None]
    if there:
        set_links(aside, there)
    aside.strengthen(
        a=[one for one, _ in pairs],
        b=[other for _, other in pairs],
        now_seconds=now,
        gain=gain,
        rest_days=0.0,
        tau_days=TAU_DAYS,
    )
    return [link for link in links_found(aside, pairs, ends) if link is not None]


class Associations:
    """A projection of the store's links, read from it when they are first asked for.

    One writer at a time (the engine's lock); many readers.

    Args:
        lifecycle: rows and ids of the memories.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self.graph: _core.AssociationGraph | None = None

    @property
    def are_read(self) -> bool:
        """Whether the store's links are here."""
        return self.graph is not None

    def __len__(self) -> int:
        """Return how many links are here."""
        return 0 if self.graph is None else len(self.graph)

    def read(self, batches: Iterable[Sequence[StoredLink]]) -> None:
        """Take all links of the store. REQUIRES: its memories have their rows."""
        graph = _core.AssociationGraph()
        for batch in batches:
            self._put(graph, batch)
        self.graph = graph

    def drop(self) -> None:
        """Have no links, until they are read anew."""
        self.graph = None

    def apply(self, batch: Sequence[StoredLink]) -> None:
        """Bring links to what the store says. REQUIRES: they were read, and the memories before."""
        assert self.graph is not None
        self._put(self.graph, batch)

    def erase(self, row: int) -> None:
        """Drop the links of a memory."""
        if self.graph is not None and row < self.graph.row_count:
            self.graph.remove_rows(rows=[row])

    def neighbours(self, row: int, *, visible: BitMap, now: float, limit: int) -> list[Link]:
        """Return the links of a memory to others that are visible, the heaviest first."""
        graph = self.graph
        if graph is None or row >= graph.row_count:  # None: dropped meanwhile
            return []
        ids = self._lifecycle.ids
        found: list[Link] = []
        for other, weight, kind, created, last in graph.neighbours(
            row=row, now_seconds=now, tau_days=TAU_DAYS
        ):
            if len(found) == limit:
                break
            if other in visible and (id := ids[other]):  # "": forgotten meanwhile
                when = None if math.isnan(last) else last
                found.append(Link(id, weight, KINDS[kind], created, when))
        return found

    def all(self, *, visible: BitMap, now: float) -> list[tuple[str, Link]]:
        """Return every link of two visible memories, from its smaller row, in order of rows."""
        from oneiros.scoring.kernels import association_decay  # noqa: PLC0415 - searches need it not

        if self.graph is None:
            return []
        a, b, weight, kind, created, last = self.graph.links()
        left = association_decay(weight, (now - last) / 86_400.0, tau_days=TAU_DAYS)
        ids = self._lifecycle.ids
        first, second = np.minimum(a, b), np.maximum(a, b)
        found = []
        for n in np.lexsort((second, first)).tolist():
            one, other = int(first[n]), int(second[n])
            if one in visible and other in visible and ids[one] and ids[other]:
                when = None if math.isnan(last[n]) else float(last[n])
                link = Link(ids[other], float(left[n]), KINDS[kind[n]], float(created[n]), when)
                found.append((ids[one], link))
        return found

    def of_pairs(self, pairs: Sequence[tuple[int, int]]) -> list[StoredLink | None]:
        """Return the link of each pair of rows, as a store holds it; None where there is none."""
        graph = self.graph
        if graph is None or not pairs:
            return [None] * len(pairs)
        graph.grow(row_count=len(self._lifecycle.ids))
        ids = self._lifecycle.ids
        id_of = {row: ids[row] for row in {*itertools.chain.from_iterable(pairs)}}
        return links_found(graph, pairs, [(id_of[one], id_of[other]) for one, other in pairs])

    def linked(self, row: int) -> list[int]:
        """Return the rows that a row is linked with, whatever is left of the links."""
        graph = self.graph
        if graph is None or row >= graph.row_count:
            return []
        found = graph.neighbours(row=row, now_seconds=0.0, tau_days=TAU_DAYS)
        return [other for other, *_ in found]

    def weights_along(self, path: Sequence[int], *, now: float) -> list[float]:
        """Return what is left of each link of a path; 0 where there is none any more."""
        graph = self.graph
        if graph is None:
            return [0.0] * (len(path) - 1)
        found = []
        for row, after in itertools.pairwise(path):
            links = graph.neighbours(row=row, now_seconds=now, tau_days=TAU_DAYS)
            found.append(next((weight for other, weight, *_ in links if other == after), 0.0))
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
            set_links(graph, there)
        if gone:
            graph.remove(a=[one for one, _, _ in gone], b=[other for _, other, _ in gone])
