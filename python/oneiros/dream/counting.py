"""Counts of a cycle's changes by phase, rule and field, and of the memories it removes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from oneiros._lazy import np
from oneiros.dream.report import REMOVALS
from oneiros.model.fields import ENUMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft, Mask

__all__ = ["Counts", "counted", "memory_counts", "removals", "removed_counts"]

Counts: TypeAlias = dict[str, dict[str, dict[str, int]]]
"""By phase, then rule, then field; "link" counts links, "memory" added memories."""


def counted(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> Counts:
    """Count the changes of a draft.

    Args:
        draft: after all phases.
        stays: mask of rows that are left unchanged; None: no row.
        is_left: whether any of its arguments is such a row, or a memory that is not added; None:
            never.
    """
    found: Counts = {}

    def add(phase: str, rule: str, field: str, count: int) -> None:
        if count:
            fields = found.setdefault(phase, {}).setdefault(rule, {})
            fields[field] = fields.get(field, 0) + count

    for change in draft.columns:
        left = 0 if stays is None else int(np.count_nonzero(stays[change.rows]))
        add(change.phase, change.rule, change.field, len(change.rows) - left)
    for part in draft.links.parts:
        ends = zip(part.ones, part.others, strict=True)
        left = 0 if is_left is None else sum(is_left(*pair) for pair in ends)
        add(part.phase, part.rule, "link", len(part.ones) - left)
    for content in draft.contents:
        is_changed = is_left is None or not is_left(content.row, content.after)
        add(content.phase, content.rule, content.field, int(is_changed))
    for index, added in enumerate(draft.added):
        is_added = is_left is None or not is_left(-1 - index)
        add(added.phase, added.rule, "memory", int(is_added))
    return found


def memory_counts(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> dict[str, dict[str, int]]:
    """Count the memories that each rule changes, by phase, each memory once; links do not count.

    The arguments are those of :func:`counted`.
    """
    changed: dict[tuple[str, str], Mask] = {}
    created: dict[tuple[str, str], int] = {}

    def rows_of(phase: str, rule: str) -> Mask:
        return changed.setdefault((phase, rule), np.zeros(len(draft), np.bool_))

    for change in draft.columns:
        rows_of(change.phase, change.rule)[change.rows] = True
    for content in draft.contents:
        if content.row >= 0 and (is_left is None or not is_left(content.row, content.after)):
            rows_of(content.phase, content.rule)[content.row] = True
    for index, added in enumerate(draft.added):
        key = added.phase, added.rule
        created[key] = created.get(key, 0) + int(is_left is None or not is_left(-1 - index))
    found: dict[str, dict[str, int]] = {}
    for phase, rule in (*changed, *(key for key in created if key not in changed)):
        rows = changed.get((phase, rule), np.zeros(0, np.bool_))
        count = int(np.count_nonzero(rows if stays is None else rows & ~stays[: len(rows)]))
        found.setdefault(phase, {})[rule] = count + created.get((phase, rule), 0)
    return found


def removals(field: str, values: npt.NDArray[Any]) -> Mask:
    """Return the mask of new values of a column that remove their memory."""
    found: Mask = np.zeros(len(values), np.bool_)
    for removing, word in REMOVALS:
        if removing == field:
            found |= ~np.isnan(values) if word is None else values == ENUMS[field].index(word)
    return found


def removed_counts(values: Mapping[str, tuple[Rows, npt.NDArray[Any]]]) -> dict[str, int]:
    """Count the memories that a cycle removes, each once, by kind of removal.

    Kinds without a memory are left out.

    Args:
        values: by field, the rows that change and their new values.
    """
    counts: dict[str, int] = {}
    gone: Rows | None = None
    for (field, _), name in REMOVALS.items():
        if field not in values:
            continue
        rows, after = values[field]
        rows = rows[removals(field, after)]
        fresh = rows if gone is None else np.setdiff1d(rows, gone)
        gone = rows if gone is None else np.union1d(gone, rows)
        if len(fresh):
            counts[name] = len(fresh)
    return counts
