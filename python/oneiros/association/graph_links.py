"""Links between the store's form and the core's graph, which knows them by numbers."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from oneiros import _core
from oneiros.store import StoredLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ends = Sequence[tuple[str, str]]

__all__ = ["TAU_DAYS", "links_found", "set_links", "strengthened"]

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
