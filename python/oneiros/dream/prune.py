"""What is stale, superseded, unused or said twice goes. Source: docs/systems/reverie.md R13."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.dream.kinds import by_kind, never_accessed, staleness
from oneiros.fields import ENUMS
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.draft import Draft, Mask
    from oneiros.ranking.phases.reverie import Prune

__all__ = ["prune"]

_ARCHIVED: Final = ENUMS["status"].index("archived")


def prune(draft: Draft, phase: Prune) -> None:
    """Soft-delete memories, or archive those of some kinds, the stalest first.

    Reads last access and creation, kind, superseded, access_count, strength, revision_count,
    updated_at, status, and which memories say the same; writes deleted_at and status.
    """
    stale = staleness(draft, phase)
    limits = by_kind(draft, phase.limits_days, phase.other_limit_days)
    is_revised = (draft.column("revision_count") > 0) & (draft.age_days("updated_at") < limits)
    may_go = draft.live & ~is_revised
    is_archived = draft.column("status") == _ARCHIVED
    kept_kinds = by_kind(draft, dict.fromkeys(phase.archived_kinds, 1.0), 0.0) != 0
    reasons = {
        "stale": may_go & (stale >= phase.least_staleness),
        "superseded": may_go & (draft.column("superseded") != 0),
        "unused": may_go & _unused(draft, phase),
    }
    doomed = np.logical_or.reduce(list(reasons.values()))
    is_shown = draft.live & ~is_archived & (draft.column("superseded") == 0)
    newest = _newest(draft, is_shown & ~(doomed & ~draft.protected))
    reasons["repeated"] = may_go & (newest >= 0)
    only_repeated = reasons["repeated"] & ~doomed
    doomed |= reasons["repeated"]
    doomed &= ~(kept_kinds & is_archived)
    rows = np.flatnonzero(doomed).astype(np.uint32)
    rows = rows[np.lexsort((rows, -stale[rows]))]
    taken = draft.removable("R13", rows)
    draft.reasons["R13"] = reasons
    draft.archive("R13", taken[kept_kinds[taken]])
    draft.delete("R13", taken[~kept_kinds[taken]])
    repeats = taken[only_repeated[taken]]
    draft.rest(repeats, newest[repeats])
    draft.count(**{reason: int(mask[taken].sum()) for reason, mask in reasons.items()})


def _unused(draft: Draft, phase: Prune) -> Mask:
    """Which rows were never accessed, are old, and as weak as can be."""
    is_old = draft.age_days("created_at") > phase.unused_days
    is_weak = draft.column("strength") <= np.float32(phase.strength_floor)
    unused: Mask = is_old & is_weak & never_accessed(draft)
    return unused


def _newest(draft: Draft, counted: Mask) -> npt.NDArray[np.int64]:
    """Return for every row the newest that says the same in its topic and project; -1 if itself.

    Each rests on the one that is kept, and no chain on the next: where that one changes meanwhile,
    all of a long list stay at once.

    Args:
        draft: whose rows.
        counted: which rows count.
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
