"""Links as a dream cycle changes them. Source: docs/systems/cognitive.md C13, C16, C20, C21."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from oneiros.association.graph_links import strengthened
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oneiros.association import Associations
    from oneiros.dream.changes import LinkChange

__all__ = ["ChangedLink", "after_changes", "link_state"]

State: TypeAlias = tuple[int, float, float, float | None]


class ChangedLink(NamedTuple):
    """One link, before and after; None where there is none."""

    one: str
    other: str
    before: StoredLink | None
    after: StoredLink | None


def after_changes(
    changes: Sequence[LinkChange],
    associations: Associations,
    row_of: Mapping[str, int],
    name: Callable[[int], str],
    now: float,
) -> list[ChangedLink]:
    """Return what links become.

    Args:
        changes: of memories that are all there; of one pair the last that sets a weight counts, and
            what gains besides gains once.
        associations: the links, which have been read.
        row_of: the rows of their memories by id.
        name: the id of a row, or of a memory that is added.
        now: the cycle's clock.
    """
    gains: dict[tuple[int, int], LinkChange] = {}
    weights: dict[tuple[int, int], LinkChange] = {}
    for change in changes:
        ends = min(change.one, change.other), max(change.one, change.other)
        (gains if change.weight is None else weights)[ends] = change
    found = []
    for gain in dict.fromkeys(change.gain for change in gains.values()):
        named = [
            (name(change.one), name(change.other))
            for ends, change in gains.items()
            if change.gain == gain and ends not in weights
        ]
        before = associations.of_pairs([(row_of[one], row_of[other]) for one, other in named])
        after = strengthened(named, before, now=now, gain=gain)
        found += [
            ChangedLink(link.one, link.other, was, link)
            for was, link in zip(before, after, strict=True)
        ]
    for change in weights.values():
        one, other = name(change.one), name(change.other)
        was = None
        if change.one >= 0 and change.other >= 0:
            (was,) = associations.of_pairs([(row_of[one], row_of[other])])
        becomes = None
        if change.weight:
            made = now if was is None else was.created_at
            becomes = StoredLink(one, other, KINDS.index(change.kind), change.weight, made, None)
        if was is not None or becomes is not None:
            found.append(ChangedLink(one, other, was, becomes))
    return found


def link_state(link: StoredLink | None) -> State | None:
    """Return what a link is but for its ends: kind, weight, and its two times; None for no link."""
    if link is None:
        return None
    return link.kind, link.weight, link.created_at, link.co_retrieved_at
