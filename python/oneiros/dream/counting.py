"""How many changes a cycle makes, by phase, rule and field."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Callable

    from oneiros.dream.draft import Draft, Mask

__all__ = ["Counts", "counted"]

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
