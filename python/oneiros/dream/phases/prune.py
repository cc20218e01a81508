"""Pruning: remove stale, superseded, unused and duplicate memories.

Source: docs/systems/reverie.md R13.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.display.escaping import shortened
from oneiros.dream.phases.row_values import by_kind, never_accessed, staleness
from oneiros.model.fields import ENUMS, kinds_of, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft, Mask
    from oneiros.scoring.phases.reverie import Prune

__all__ = ["prune"]

_ARCHIVED: Final = ENUMS["status"].index("archived")
_ID: Final = 60  # characters of an id that are shown
_ANOTHER: Final = "another memory"  # shown if the id is unknown


def prune(draft: Draft, phase: Prune) -> None:
    """Soft-delete memories, or archive those of some kinds, the stalest first.

    Reads the times of use, importance, priority, kind, superseded, access_count, strength,
    revision_count, status and equal texts; writes deleted_at and status.
    """
    stale = staleness(draft, phase)
    limits = by_kind(draft, table_of(phase, "limits_days"), phase.other_limit_days)
    is_revised = (draft.column("revision_count") > 0) & (draft.age_days("updated_at") < limits)
    may_go = draft.live & ~is_revised
    is_archived = draft.column("status") == _ARCHIVED
    kept_kinds = by_kind(draft, dict.fromkeys(kinds_of(phase, "archived_kinds"), 1.0), 0.0) != 0
    is_superseded = draft.column("superseded") != 0
    is_kept = draft.kept_for_worth
    is_stale = may_go & (stale >= phase.least_staleness)
    is_unused = may_go & _unused(draft, phase)
    reasons = {
        "stale": is_stale & ~is_kept,
        "superseded": may_go & is_superseded,
        "unused": is_unused & ~is_kept,
    }
    doomed = np.logical_or.reduce(list(reasons.values()))
    is_shown = draft.live & ~is_archived & ~is_superseded
    newest = _newest(draft, is_shown & ~(doomed & ~draft.protected))
    reasons["repeated"] = may_go & (newest >= 0)
    only_repeated = reasons["repeated"] & ~doomed
    doomed |= reasons["repeated"]
    draft.without_kept("R13", (is_stale | is_unused) & ~doomed & ~(kept_kinds & is_archived))
    doomed &= ~(kept_kinds & is_archived)
    rows = np.flatnonzero(doomed).astype(np.uint32)
    rows = rows[np.lexsort((rows, -stale[rows]))]
    taken = draft.removable("R13", rows)
    draft.reasons["R13"] = reasons
    by = _superseded_by(draft, taken[reasons["superseded"][taken]])
    draft.because["R13"] = partial(_because, draft, reasons, limits, newest, by)
    draft.archive("R13", taken[kept_kinds[taken]])
    draft.delete("R13", taken[~kept_kinds[taken]])
    repeats = taken[only_repeated[taken]]
    draft.rest(repeats, newest[repeats])
    draft.count(**{reason: int(mask[taken].sum()) for reason, mask in reasons.items()})


def _unused(draft: Draft, phase: Prune) -> Mask:
    """Return the mask of old rows that were never accessed and have the lowest strength."""
    is_old = draft.settled_days() > phase.unused_days
    is_weak = draft.column("strength") <= np.float32(phase.strength_floor)
    unused: Mask = is_old & is_weak & never_accessed(draft)
    return unused


def _newest(draft: Draft, counted: Mask) -> npt.NDArray[np.int64]:
    """Return for each row the newest row with the same text, topic and project; -1 if itself.

    All duplicates refer to the row that is kept, not to the next in a chain: if that row changes
    after the plan was made, all of them are kept.

    Args:
        draft: the rows.
        counted: mask of the rows to compare.
    """
    newest = np.full(len(draft), -1, np.int64)
    groups = draft.source.repeated()
    if not groups:
        return newest
    rows = np.concatenate(groups)
    which = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    which, rows = which[counted[rows]], rows[counted[rows]]
    order = np.lexsort((rows, draft.column("created_at")[rows], which))
    which, rows = which[order], rows[order]
    last = np.searchsorted(which, which, side="right") - 1
    is_older = last > np.arange(len(rows))
    newest[rows[is_older]] = rows[last[is_older]]
    return newest


def _because(
    draft: Draft,
    reasons: Mapping[str, Mask],
    limits: npt.NDArray[np.float64],
    newest: npt.NDArray[np.int64],
    by: Mapping[int, str],
    rows: Rows,
) -> list[str]:
    """Return the reasons for each removed row as text."""
    idle, age = draft.idle_days()[rows], draft.age_days("created_at")[rows]
    found = []
    for place, row in enumerate(rows.tolist()):
        words = {
            "stale": f"not used for {idle[place]:.0f} days (limit {limits[row]:.0f})",
            "superseded": f"superseded by {by.get(row, _ANOTHER)}",
            "unused": f"never used in {age[place]:.0f} days, and at the lowest strength",
            "repeated": f"same text as {shortened(draft.source.ids[newest[row]], _ID) or _ANOTHER}",
        }
        found.append(", ".join(words[reason] for reason, mask in reasons.items() if mask[row]))
    return found


def _superseded_by(draft: Draft, rows: Rows) -> dict[int, str]:
    """Return the id of the memory that supersedes each row, as far as known."""
    records = zip(rows.tolist(), draft.source.records(rows), strict=True)
    found = {row: record.get("superseded_by") for row, record in records}
    for content in draft.contents:
        if content.field == "superseded_by" and content.row in found:
            by = content.after
            found[content.row] = draft.source.ids[by] if isinstance(by, int) and by >= 0 else None
    return {row: shortened(str(id), _ID) for row, id in found.items() if id}
