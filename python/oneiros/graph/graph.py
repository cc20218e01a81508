"""Links between memories: as seen from one of them, and in the core's graph of rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from oneiros import _core, scoring
from oneiros._lazy import np
from oneiros.runtime.dataclasses import dataclass
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from pyroaring import BitMap

    from oneiros.index.columns import Lifecycle

    Ends = Sequence[tuple[str, str]]

__all__ = [
    "TAU_DAYS",
    "Associations",
    "Link",
    "LinkEvidence",
    "links_found",
    "set_links",
    "strengthened",
]

TAU_DAYS: Final = 90.0  # docs/systems/cognitive.md C16


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """The links that led to a result."""

    path: tuple[str, ...] = ()
    """Ids from a direct result to this one; empty for a direct result."""
    weight: float | None = None
    """The share of a score that the path leaves; None for a direct result."""
    bridge: tuple[str, ...] = ()
    """Ids of a path through this result between two of the first results that share no link."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a memory to another memory.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> report = engine.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "milk"}])
        >>> engine.link("a", "b", 0.8, now="2025-06-01T00:00:00Z")
        >>> engine.neighbours("a")[0].kind
        'explicit'
    """

    id: str
    """The id of the other memory."""

    weight: float
    """The decayed weight, in (0, 1]. Source: docs/systems/cognitive.md C16."""

    kind: str
    """The origin: "co_retrieval", "ingest", "explicit", "summary", "relation" or "distinct"."""

    created_at: float
    """Seconds since the Unix epoch, UTC."""

    co_retrieved_at: float | None
    """When both were last found together, seconds; None: never, and the weight stays."""


def set_links(graph: _core.AssociationGraph, links: Sequence[tuple[int, int, StoredLink]]) -> None:
    """Set links in a graph, each with the numbers of its ends."""
    graph.set(
        a=[a for a, _, _ in links],
        b=[b for _, b, _ in links],
        weight=[link.weight for _, _, link in links],
        kind=[link.kind for _, _, link in links],
        created_seconds=[link.created_at for _, _, link in links],
        last_seconds=[link.co_retrieved_at for _, _, link in links],
    )


def links_found(
    graph: _core.AssociationGraph, pairs: Sequence[tuple[int, int]], ends: Ends
) -> list[StoredLink | None]:
    """Return the links of pairs in the form of the store; None where there is none.

    Args:
        graph: the graph.
        pairs: the numbers of the ends.
        ends: the same pairs as ids of memories.
    """
    found = graph.find(a=[a for a, _ in pairs], b=[b for _, b in pairs])
    links: list[StoredLink | None] = []
    for (a, b), link in zip(ends, found, strict=True):
        if link is None:
            links.append(None)
            continue
        weight, kind, created, last = link
        links.append(StoredLink(a, b, kind, weight, created, _time_or_none(last)))
    return links


def _time_or_none(seconds: float) -> float | None:
    return None if math.isnan(seconds) else seconds


def strengthened(
    ends: Ends, before: Sequence[StoredLink | None], *, now: float, gain: float
) -> list[StoredLink]:
    """Return the links of pairs of memories after a gain, computed on a temporary graph.

    Args:
        ends: ids of different memories, each pair once.
        before: the link of each pair; None where there is none.
        now: the time at which they were found together.
        gain: as in ``Associations.strengthen``.
    """
    number: dict[str, int] = {}
    for id in itertools.chain.from_iterable(ends):
        number.setdefault(id, len(number))
    pairs = [(number[a], number[b]) for a, b in ends]
    graph = _core.AssociationGraph()
    graph.grow(row_count=len(number))
    existing = [(*pair, link) for pair, link in zip(pairs, before, strict=True) if link is not None]
    if existing:
        set_links(graph, existing)
    graph.strengthen(
        a=[a for a, _ in pairs],
        b=[b for _, b in pairs],
        now_seconds=now,
        gain=gain,
        rest_days=0.0,
        tau_days=TAU_DAYS,
    )
    return [link for link in links_found(graph, pairs, ends) if link is not None]


class Associations:
    """The store's links, read on first use.

    One writer at a time (the engine's lock); many readers.

    Args:
        lifecycle: rows and ids of the memories.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self.graph: _core.AssociationGraph | None = None

    @property
    def are_read(self) -> bool:
        """Whether the store's links were read."""
        return self.graph is not None

    def __len__(self) -> int:
        """Return the number of links."""
        graph = self.graph
        return 0 if graph is None else len(graph)

    def read(self, batches: Iterable[_core.StoredLinks]) -> None:
        """Read all links of the store. REQUIRES: its memories have rows."""
        graph = _core.AssociationGraph()
        graph.grow(row_count=len(self._lifecycle.ids))
        for batch in batches:
            self._put(graph, batch)
        self.graph = graph

    def set_all(self, links: Iterable[StoredLink]) -> None:
        """Replace all links by others, between ids."""
        graph = _core.AssociationGraph()
        graph.grow(row_count=len(self._lifecycle.ids))
        row_of = self._lifecycle.row_of
        rows = [(row_of.get(link.one), row_of.get(link.other), link) for link in links]
        known = [
            (a, b, link)
            for a, b, link in rows
            if a is not None and b is not None and link.weight > 0
        ]
        if known:
            set_links(graph, known)
        self.graph = graph

    def drop(self) -> None:
        """Drop all links until they are read again."""
        self.graph = None

    def apply(
        self, batch: _core.StoredLinks, *, wants_ends: bool
    ) -> tuple[list[int], list[int]] | None:
        """Bring links into line with the store. REQUIRES: they were read, after the memories.

        Args:
            batch: the links as the store has them now.
            wants_ends: return the rows of their ends.
        """
        assert self.graph is not None
        return self._put(self.graph, batch, wants_ends=wants_ends)

    def erase(self, rows: Iterable[int]) -> None:
        """Drop the links of memories."""
        if self.graph is not None:
            known = [row for row in rows if row < self.graph.row_count]
            if known:
                self.graph.remove_rows(rows=known)

    def neighbours(self, row: int, *, visible: BitMap, now: float, limit: int) -> list[Link]:
        """Return the links of a memory to visible memories, the heaviest first."""
        graph = self.graph
        if graph is None or row >= graph.row_count:  # None: another thread dropped it
            return []
        ids = self._lifecycle.ids
        found: list[Link] = []
        for other, weight, kind, created, last in graph.neighbours(
            row=row, now_seconds=now, tau_days=TAU_DAYS
        ):
            if len(found) == limit:
                break
            if other in visible and (id := ids[other]):  # "": forgotten meanwhile
                found.append(Link(id, weight, KINDS[kind], created, _time_or_none(last)))
        return found

    def all(self, *, visible: BitMap, now: float) -> list[tuple[str, Link]]:
        """Return every link of two visible memories, at its smaller row, in order of rows."""
        graph = self.graph
        if graph is None:  # another thread may drop it
            return []
        a, b, weight, kind, created, last = graph.links()
        decayed = scoring.kernels.association_decay(
            weight, (now - last) / 86_400.0, tau_days=TAU_DAYS
        )
        ids = self._lifecycle.ids
        smaller, larger = np.minimum(a, b), np.maximum(a, b)
        found = []
        for n in np.lexsort((larger, smaller)).tolist():
            row, other = int(smaller[n]), int(larger[n])
            if row in visible and other in visible and ids[row] and ids[other]:
                link = Link(
                    ids[other],
                    float(decayed[n]),
                    KINDS[kind[n]],
                    float(created[n]),
                    _time_or_none(float(last[n])),
                )
                found.append((ids[row], link))
        return found

    def of_pairs(self, pairs: Sequence[tuple[int, int]]) -> list[StoredLink | None]:
        """Return the link of each pair of rows as stored; None where there is none."""
        graph = self.graph
        if graph is None or not pairs:
            return [None] * len(pairs)
        graph.grow(row_count=len(self._lifecycle.ids))
        ids = self._lifecycle.ids
        id_of = {row: ids[row] for row in {*itertools.chain.from_iterable(pairs)}}
        return links_found(graph, pairs, [(id_of[a], id_of[b]) for a, b in pairs])

    def linked(self, row: int) -> list[int]:
        """Return the rows linked with a row, whatever the weights."""
        graph = self.graph
        if graph is None or row >= graph.row_count:
            return []
        found = graph.neighbours(row=row, now_seconds=0.0, tau_days=TAU_DAYS)
        return [other for other, *_ in found]

    def weights_along(self, path: Sequence[int], *, now: float) -> list[float]:
        """Return the decayed weight of each link of a path; 0 for a missing link."""
        graph = self.graph
        if graph is None:
            return [0.0] * (len(path) - 1)
        found = []
        for row, after in itertools.pairwise(path):
            links = graph.neighbours(row=row, now_seconds=now, tau_days=TAU_DAYS)
            found.append(next((weight for other, weight, *_ in links if other == after), 0.0))
        return found

    def _put(
        self, graph: _core.AssociationGraph, batch: _core.StoredLinks, *, wants_ends: bool = False
    ) -> tuple[list[int], list[int]] | None:
        # A memory may have been erased since its link was written; its links go with it.
        lifecycle = self._lifecycle
        return graph.put(
            links=batch,
            columns=lifecycle.columns,
            end=len(lifecycle.ids),
            erased=list(lifecycle.erased_rows),
            wants_ends=wants_ends,
        )
