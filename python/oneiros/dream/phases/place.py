"""Placing: consolidate staged memories, archive fading ones. Source: docs/systems/reverie.md R14."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.phases.row_values import staleness
from oneiros.model.fields import ENUMS

if TYPE_CHECKING:
    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.reverie import Place

__all__ = ["place"]

_STAGED: Final = ENUMS["status"].index("staged")
_CONSOLIDATED: Final = ENUMS["status"].index("consolidated")


def place(draft: Draft, phase: Place) -> None:
    """Consolidate staged memories that are used or old, then archive weak, stale ones.

    Reads status, accesses, revisions, peers in this cycle, times, kind and strength; writes status.
    """
    activity = draft.column("access_count").astype(np.int64)
    activity += draft.column("revision_count")
    if draft.peer_counts is not None:
        activity += draft.peer_counts
    is_old = draft.age_days("created_at") >= phase.least_age_days
    is_ready = draft.live & (draft.column("status") == _STAGED)
    is_ready &= is_old | (activity >= phase.least_activity)
    rows = np.flatnonzero(is_ready).astype(np.uint32)
    consolidated = draft.change("R14", "status", rows, _CONSOLIDATED)
    stale = staleness(draft, phase)
    is_fading = draft.live & (draft.column("status") == _CONSOLIDATED)
    is_fading &= (stale >= phase.least_staleness) & (
        draft.column("strength") < np.float32(phase.below_strength)
    )
    rows = np.flatnonzero(draft.without_kept("R14", is_fading)).astype(np.uint32)
    draft.because["R14"] = partial(_because, draft)
    archived = draft.archive("R14", rows[np.lexsort((rows, -stale[rows]))])
    draft.count(consolidated=len(consolidated), archived=len(archived))


def _because(draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each archived row as text."""
    values = zip(draft.idle_days()[rows], draft.column("strength")[rows], strict=True)
    return [
        f"not used for {idle:.0f} days, and weak (strength {strength:.2f})"
        for idle, strength in values
    ]
