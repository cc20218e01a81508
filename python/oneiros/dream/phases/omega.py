"""Forgetting: archive old, unused memories of little weight. Source: docs/systems/omega.md O31."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from oneiros._lazy import np
from oneiros.dream.changes import ARCHIVED, rows_of
from oneiros.dream.phases.row_values import never_accessed, product
from oneiros.model.fields import kinds_of
from oneiros.scoring.factors import Feedback, FlooredDecay, KindWeight

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.omega import Forgetting

__all__ = ["forget"]


def forget(draft: Draft, phase: Forgetting) -> None:
    """Archive old memories of little weight that were never accessed or are disliked.

    The lightest goes first; among equals, the earlier.
    """
    weights = product(draft, KindWeight, Feedback, FlooredDecay)
    unused = never_accessed(draft)
    unused |= draft.column("feedback") <= phase.disliked_at
    kinds = draft.source.kinds
    exempt = kinds_of(phase, "exempt")
    is_exempt = np.array([kind in exempt for kind in kinds], np.bool_)
    forgotten = draft.live & unused & (weights < phase.below)
    forgotten &= draft.settled_days() >= phase.age_days
    forgotten &= ~is_exempt[draft.column("kind")]
    forgotten &= draft.column("status") != ARCHIVED
    forgotten = draft.without_kept("O31", forgotten)
    rows = rows_of(forgotten)
    draft.because["O31"] = partial(_because, weights)
    draft.archive("O31", rows[np.argsort(weights[rows], kind="stable")])


def _because(weights: npt.NDArray[np.float64], draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each archived row as text."""
    unused, feedback = never_accessed(draft)[rows], draft.column("feedback")[rows]
    ages = draft.age_days("created_at")[rows]
    found = []
    for place, weight in enumerate(weights[rows].tolist()):
        use = "never used" if unused[place] else f"feedback {feedback[place]}"
        found.append(f"{use}, {ages[place]:.0f} days old, and of little weight ({weight:.3f})")
    return found
