"""Downscaling: weaken all memories. Source: docs/systems/reverie.md R12."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.scoring.kernels import reverie

if TYPE_CHECKING:
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.reverie import Downscale

__all__ = ["downscale"]

_TAGS: Final = ENUMS["importance_tag"]


def downscale(draft: Draft, phase: Downscale) -> None:
    """Scale the strength of every live memory down; reads strength and importance_tag."""
    rates = np.full(len(_TAGS), phase.rate, np.float32)
    rates[_TAGS.index("cross_session")] = 1.0 - (1.0 - phase.rate) * phase.cross_session_share
    rates[_TAGS.index("explicit")] = rates[_TAGS.index("schema_violation")] = 1.0
    rows = np.flatnonzero(draft.live).astype(np.uint32)
    strength = draft.column("strength")[rows]
    rate = rates[draft.column("importance_tag")[rows]]
    scaled = reverie.downscale(strength, rate, phase.floor)
    draft.downscale("R12", rows, scaled)
    draft.count(before=_mean(strength), after=_mean(scaled))


def _mean(strength: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    return float(strength.mean(dtype=np.float64)) if len(strength) else 0.0
