"""Promotion: raise depth and layer with use, lower them without.

Source: docs/systems/reverie.md R15, R16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.phases.row_values import by_kind, staleness
from oneiros.model.fields import LAYER_BY_DEPTH, LAYERS, table_of
from oneiros.scoring.strict import strict_values

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.draft import Draft, Mask
    from oneiros.scoring.phases.reverie import Promote

__all__ = ["promote"]

_LOWEST: Final = min(LAYER_BY_DEPTH)
_FIRST_LAYER: Final = LAYERS.index(LAYER_BY_DEPTH[_LOWEST])


def promote(draft: Draft, phase: Promote) -> None:
    """Move each memory by at most one depth, and set its layer from its depth and signal.

    Reads depth, session_spread, access_count, revision_count, times and kind; writes depth and
    canonical_layer.
    """
    depth = draft.column("depth").astype(np.int64)
    stale = staleness(draft, phase)
    has_passed = draft.previous is None or draft.now > draft.previous
    rises = _is_used(draft, phase, depth) & (stale < phase.below_staleness) & has_passed
    falls = ~rises & (depth > _LOWEST) & _missed(draft, phase, stale)
    live = np.flatnonzero(draft.live).astype(np.uint32)
    depth += rises
    depth -= falls
    moved = draft.change("R15", "depth", live, depth[live])
    layer = draft.column("depth").astype(np.int64) - _LOWEST + _FIRST_LAYER
    layer -= _signals(draft, phase) < phase.least_signal
    draft.change("R15", "canonical_layer", live, np.maximum(layer, _FIRST_LAYER)[live])
    draft.count(up=int(rises[moved].sum()), down=int(falls[moved].sum()))


def _is_used(draft: Draft, phase: Promote, depth: npt.NDArray[np.int64]) -> Mask:
    """Return the mask of rows used in enough sessions for the next depth."""
    spread = draft.column("session_spread")
    accesses = draft.column("access_count")
    second = (depth == 1) & (spread >= phase.second_spread) & (accesses >= phase.second_accesses)
    used: Mask = second | ((depth == 2) & (spread >= phase.third_spread))
    return used


def _missed(draft: Draft, phase: Promote, stale: npt.NDArray[np.float64]) -> Mask:
    """Return the mask of rows that exceeded their limit again since the previous cycle."""
    missed = np.floor(stale / phase.missed_limits)
    if draft.previous is None:
        found: Mask = missed > 0
        return found
    before = staleness(draft, phase, draft.previous)
    more: Mask = missed > np.floor(before / phase.missed_limits)
    return more


def _signals(draft: Draft, phase: Promote) -> npt.NDArray[np.float64]:
    """Return the signal of each row, by R16, shape (n,)."""
    return strict_values(
        "signal",
        {},
        access_count=draft.column("access_count").astype(np.float64),
        age_days=draft.age_days("created_at"),
        revision_count=draft.column("revision_count").astype(np.float64),
        weight=by_kind(draft, table_of(phase, "weights"), phase.other_weight),
    )
