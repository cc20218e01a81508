"""How many changes a cycle makes, by phase, rule and field, and how many memories it removes."""

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
"""By phase, then rule, then field; "link" and "memory" stand for what is made."""


def counted(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> Counts:
    """Count the changes of a draft.

    Args:
        draft: when all phases ran.
        stays: rows that stay as they are, one value a row; None: none does.
        is_left: whether one of these numbers is of such a row, or of a memory that is not added;
            None: none is.
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
        goes = is_left is None or not is_left(content.row, content.after)
        add(content.phase, content.rule, content.field, int(goes))
    for place, added in enumerate(draft.added):
        goes = is_left is None or not is_left(-1 - place)
        add(added.phase, added.rule, "memory", int(goes))
    return found


def memory_counts(
    draft: Draft, stays: Mask | None = None, is_left: Callable[..., bool] | None = None
) -> dict[str, dict[str, int]]:
    """Count the memories that each rule changes, by phase, each memory once; links do not count.

    Args:
        draft: as for :func:`counted`, like what follows.
        stays: rows that stay as they are.
        is_left: whether a number is of such a row, or of a memory that is not added.
    """
    changed: dict[tuple[str, str], Mask] = {}
    made: dict[tuple[str, str], int] = {}

    def rows_of(phase: str, rule: str) -> Mask:
        return changed.setdefault((phase, rule), np.zeros(len(draft), np.bool_))

    for change in draft.columns:
        rows_of(change.phase, change.rule)[change.rows] = True
    for content in draft.contents:
        if content.row >= 0 and (is_left is None or not is_left(content.row, content.after)):
            rows_of(content.phase, content.rule)[content.row] = True
    for place, added in enumerate(draft.added):
        key = added.phase, added.rule
        made[key] = made.get(key, 0) + int(is_left is None or not is_left(-1 - place))
    found: dict[str, dict[str, int]] = {}
    for phase, rule in (*changed, *(key for key in made if key not in changed)):
        rows = changed.get((phase, rule), np.zeros(0, np.bool_))
        count = int(np.count_nonzero(rows if stays is None else rows & ~stays[: len(rows)]))
        found.setdefault(phase, {})[rule] = count + made.get((phase, rule), 0)
    return found


def removals(field: str, values: npt.NDArray[Any]) -> Mask:
    """Return which of these new values of a column remove their memory."""
    found: Mask = np.zeros(len(values), np.bool_)
    for removing, word in REMOVALS:
        if removing == field:
            found |= ~np.isnan(values) if word is None else values == ENUMS[field].index(word)
    return found


def removed_counts(values: Mapping[str, tuple[Rows, npt.NDArray[Any]]]) -> dict[str, int]:
    """Count the memories that a cycle removes, each once, by how; what has none is left out.

    Args:
        values: by field the rows that change and their new values.
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
