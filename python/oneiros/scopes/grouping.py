"""Many values and whose they are, put into sets or taken out, a value at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.scopes.attributed import scalars_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oneiros.scopes.row_sets import RowsByValue

__all__ = ["add_grouped", "by_key", "discard_grouped"]


def by_key(
    pairs: Iterable[tuple[Mapping[str, object] | None, int]],
) -> dict[str, list[tuple[object, int]]]:
    """Return the scalars of metadata and whose they are, by key."""
    found: dict[str, list[tuple[object, int]]] = {}
    for mapping, row in pairs:
        if mapping:
            for key, scalar in scalars_of(mapping):
                found.setdefault(key, []).append((scalar, row))
    return found


def add_grouped(sets: RowsByValue, pairs: Iterable[tuple[object, int]]) -> None:
    """Add rows to the sets of their values; None is no value."""
    for value, rows in _grouped(pairs).items():
        sets.add_all(value, rows)


def discard_grouped(sets: RowsByValue, pairs: Iterable[tuple[object, int]]) -> None:
    """Take rows out of the sets of their values; None is no value."""
    for value, rows in _grouped(pairs).items():
        sets.discard_all(value, rows)


def _grouped(pairs: Iterable[tuple[object, int]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = {}
    for value, row in pairs:
        if value is not None:
            group = groups.get(value)
            if group is None:
                groups[value] = [row]
            else:
                group.append(row)
    return groups
