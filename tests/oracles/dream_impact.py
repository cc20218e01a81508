"""The impact of a dream plan by brute force. Written from docs/systems/reverie.md R19, "Impact".

A store is a list of records in order of insertion, a plan a list of changes of single fields. Leaving
a rule out is making the changes of all others by hand, in a store of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Change", "Expected", "after_changes", "expected", "lost_by_rule"]

Record = dict[str, Any]
Search = Callable[[Sequence[Record], str, int], list[str]]


class Change(NamedTuple):
    """One field of one memory, changed by one rule."""

    rule: str
    id: str
    field: str
    before: Any
    after: Any


class Expected(NamedTuple):
    """What one question owes to the rules."""

    before: list[str]
    after: list[str]
    rules: list[str]
    shifts: list[tuple[str, int | None, int | None, list[str]]]


def after_changes(
    records: Sequence[Record], changes: Sequence[Change], left_out: str
) -> list[Record]:
    """Return the live records with all changes made but those of one rule ("": none)."""
    held = {record["id"]: dict(record) for record in records}
    for change in changes:
        if change.rule == left_out:
            continue
        record = held[change.id]
        if change.field == "strength" and record["strength"] != change.before:
            # Another rule goes on from what the one left out would have made: the same share.
            record["strength"] *= change.after / change.before
        else:
            record[change.field] = change.after
    return [record for record in held.values() if record["deleted_at"] is None]


def expected(
    records: Sequence[Record],
    changes: Sequence[Change],
    query: str,
    k: int,
    depth: int,
    search: Search,
) -> Expected:
    """Return the answers to a question before and after, and the rules each difference needs."""
    before = search(after_changes(records, [], ""), query, depth)
    after = search(after_changes(records, changes, ""), query, depth)
    rules = sorted({change.rule for change in changes})
    without = {rule: search(after_changes(records, changes, rule), query, depth) for rule in rules}
    shifts = []
    for id in dict.fromkeys(before[:k] + after[:k]):
        if _rank(before, id) == _rank(after, id):
            continue
        needed = [rule for rule in rules if _undone(id, before, after, without[rule], k)]
        shifts.append((id, _rank(before, id), _rank(after, id), needed))
    restoring = [rule for rule in rules if shifts and without[rule][:k] == before[:k]]
    return Expected(before[:k], after[:k], restoring, shifts)


def _undone(
    id: str, before: Sequence[str], after: Sequence[str], without: Sequence[str], k: int
) -> bool:
    if id in before[:k] and id in after[:k]:
        return _rank(without, id) == _rank(before, id)
    return (id in without[:k]) == (id in before[:k])


def _rank(ids: Sequence[str], id: str) -> int | None:
    return ids.index(id) + 1 if id in ids else None


def lost_by_rule(found: Mapping[str, Expected]) -> dict[str, int]:
    """Return how many lost answers need each rule."""
    counts: dict[str, int] = {}
    for one in found.values():
        for id, was, _, needed in one.shifts:
            if was is not None and id in one.before and id not in one.after:
                for rule in needed or ["none alone"]:
                    counts[rule] = counts.get(rule, 0) + 1
    return counts
