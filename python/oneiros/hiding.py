"""What hides a memory from a search, each reason with its words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from oneiros.display import moment
from oneiros.projections.row_sets import of_status
from oneiros.scopes.conditions import AllTags, And, AnyOf, Measured, MetadataIs, Where, Within
from oneiros.visible_text import shortened
from oneiros.why_not import Hiding

if TYPE_CHECKING:
    from oneiros.memory import Memory
    from oneiros.projections.limits import Limits
    from oneiros.projections.row_sets import RowSets

__all__ = ["hidings"]

_WORDS = 200  # characters of a condition that are shown


def hidings(memory: Memory, row: int, row_sets: RowSets, limits: Limits) -> tuple[Hiding, ...]:
    """Return all that hides a memory; nothing for one that the search may return.

    Args:
        memory: as the store holds it.
        row: its row.
        row_sets: decide what is hidden, as they do for the search itself.
        limits: the search's.
    """
    if row not in row_sets.live:
        when = "" if memory.deleted_at is None else f" at {moment(memory.deleted_at)}"
        return (Hiding("deleted", f"deleted{when}"),)
    words = {
        "superseded": f"superseded by {memory.superseded_by!r}",
        "cold": "it is not of the hot tier",
        "kind": f"its kind is {memory.kind!r}, hidden unless the filter asks for kinds",
        "archived": 'its status is archived; status="archived" asks for such',
        "expired": _expiry(memory, limits),
        "not_yet_valid": f"valid from {moment(memory.valid_from)}, {_clock(limits)}",
    }
    sets = row_sets.hidden(limits)
    found = [Hiding(reason, words[reason]) for reason, rows in sets.items() if row in rows]
    if limits.status is not None and row not in row_sets.matching(of_status(limits.status)):
        asked = " or ".join(limits.status) or "none"
        found.append(Hiding("status", f"its status is {memory.status}, asked is {asked}"))
    if limits.where is not None:
        found += (
            Hiding("filter", _unmet(part, memory)) for part in _failing(limits.where, row, row_sets)
        )
    return tuple(found)


def _failing(condition: Where, row: int, row_sets: RowSets) -> Iterator[Where]:
    """Yield the conditions that do not hold of the row, the smallest of those joined by "and"."""
    if row in row_sets.matching(condition):
        return
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _failing(part, row, row_sets)
    else:
        yield condition


def _unmet(condition: Where, memory: Memory) -> str:
    asked = _json(condition.to_json())
    match condition:
        case AnyOf(name=name) | Measured(name=name) | Within(name=name):
            if name == "occurred_at":
                name = "created_at" if memory.event_at is None else "event_at"
            held = getattr(memory, name)
        case AllTags():
            name, held = "tags", memory.tags
        case MetadataIs(key=key):
            name, held = f"metadata {_json(key)}", memory.metadata.get(key)
        case _:
            return f"outside the filter {asked}"
    return f"outside the filter {asked}: its {name} is {_json(held)}"


def _json(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _WORDS)


def _expiry(memory: Memory, limits: Limits) -> str:
    if memory.valid_until is not None and limits.moment > memory.valid_until:
        return f"valid until {moment(memory.valid_until)}, {_clock(limits)}"
    if memory.ttl is None:
        return "expired"  # until another process changed it, a moment ago
    ended = moment(memory.created_at + memory.ttl)
    return f"its {memory.ttl:g} seconds ended at {ended}, {_clock(limits)}"


def _clock(limits: Limits) -> str:
    return f"{'now' if limits.valid_at is None else 'valid_at'} is {moment(limits.moment)}"
