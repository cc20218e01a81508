"""Cooling: move memories at their retention floor to the cold tier.

Source: docs/systems/cognitive.md C19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.phases.row_values import retained
from oneiros.model.fields import ENUMS
from oneiros.scoring.factors import Retention

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.cognitive import Cooling

    Mask = npt.NDArray[np.bool_]

__all__ = ["COLD", "HOT", "STUB", "cool", "to_cold"]

HOT: Final = ENUMS["tier"].index("hot")
COLD: Final = ENUMS["tier"].index("cold")
STUB: Final = ENUMS["tier"].index("stub")
_DAY: Final = 86_400.0


def cool(draft: Draft, phase: Cooling) -> None:
    """Note when memories reach their retention floor, and cool those that stay there.

    Superseded memories go first, then those longest at the floor.
    """
    hot = draft.live & (draft.column("tier") == HOT)
    superseded = hot & (draft.column("superseded") != 0)
    at_floor = hot & ~superseded & _at_floor(draft, phase)
    since = draft.column("at_floor_since")
    # An access after ``since`` lifted the memory off the floor, so it arrived again.
    arrived = at_floor & (np.isnan(since) | (since < draft.column("last_accessed_at")))
    left = hot & ~superseded & ~at_floor & ~np.isnan(since)
    counted = np.where(arrived, draft.now, since)
    stayed = np.flatnonzero(at_floor & ((draft.now - counted) / _DAY >= phase.days))
    longest_first = stayed[np.argsort(counted[stayed], kind="stable")]
    gone = np.concatenate([np.flatnonzero(superseded), longest_first])
    to_cold(draft, "C19", gone.astype(np.uint32))
    draft.change("C19", "at_floor_since", _rows(arrived), draft.now)
    draft.change("C19", "at_floor_since", _rows(left), np.nan)
    _date_tiers(draft)


def to_cold(draft: Draft, rule: str, rows: Rows) -> None:
    """Move rows to the cold tier as of now, in order of priority; cold rows are unchanged."""
    moved = draft.change(rule, "tier", rows, COLD)
    draft.change(rule, "cold_since", moved, draft.now)


def _at_floor(draft: Draft, phase: Cooling) -> Mask:
    """Return the mask of rows at the floor of their category, without core memories."""
    floors = np.array(draft.factor(Retention).floors)[draft.column("category")]
    near: Mask = retained(draft) - floors <= phase.within
    near &= draft.column("core") == 0
    return near


def _date_tiers(draft: Draft) -> None:
    """Set ``cold_since`` of cold rows that lack it, and clear it of rows that a search warmed."""
    tier, dated = draft.column("tier"), ~np.isnan(draft.column("cold_since"))
    undated = draft.live & (tier == COLD) & ~dated
    warmed = draft.live & (tier == HOT) & dated
    draft.change("C19", "cold_since", _rows(undated), draft.now)
    draft.change("C19", "cold_since", _rows(warmed), np.nan)


def _rows(mask: Mask) -> Rows:
    return np.flatnonzero(mask).astype(np.uint32)
