"""Scan: select the memories to replay. Source: docs/systems/reverie.md R10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.scoring.kernels import reverie

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.reverie import Scan

__all__ = ["scan"]

_HOUR: Final = 3_600.0
_STAGED: Final = ENUMS["status"].index("staged")


def scan(draft: Draft, phase: Scan) -> None:
    """Select the candidates for replay, the most urgent first.

    Reads status, updated_at, revision_count, duplicate_count, importance, and the words of the most
    urgent rows; writes nothing.
    """
    rows = _eligible(draft, phase)
    bounds = _priorities(draft, phase, rows, np.zeros(len(rows)))
    order = np.lexsort((rows, -bounds))
    rows = rows[order]
    first = rows[: phase.compared]
    exact = _priorities(draft, phase, first, draft.source.overlaps(first, draft.live))
    first = first[np.lexsort((first, -exact))]
    draft.candidates = np.concatenate((first, rows[phase.compared :]))[: phase.limit]
    draft.count(eligible=len(rows), candidates=len(draft.candidates))


def _eligible(draft: Draft, phase: Scan) -> Rows:
    """Return live staged rows that are old enough and not replayed since their last change."""
    age_hours = (draft.now - draft.column("updated_at")) / _HOUR
    is_staged = draft.live & (draft.column("status") == _STAGED)
    rows = np.flatnonzero(is_staged & (age_hours > phase.min_age_hours)).astype(np.uint32)
    return rows[np.isnan(draft.source.replayed_at(rows))]


def _priorities(
    draft: Draft, phase: Scan, rows: Rows, overlap: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the priority of rows, shape (n,), given their word overlap with other rows."""
    uses = draft.column("revision_count")[rows].astype(np.float64)
    uses += draft.column("duplicate_count")[rows]
    priorities: npt.NDArray[np.float64] = reverie.scan_priority(
        (draft.now - draft.column("updated_at")[rows]) / _HOUR,
        uses,
        draft.column("importance")[rows].astype(np.float64),
        overlap,
        phase.half_life_hours,
        phase.access_floor,
    )
    return priorities
