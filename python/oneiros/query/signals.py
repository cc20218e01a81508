"""What a question says of each candidate, as the factors of a profile read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oneiros.channels.temporal import have_own_dates, times_of
from oneiros.ranking.factors import Context

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.query.dates import TimeRange
    from oneiros.query.understood import Understood
    from oneiros.ranking.profile import Profile
    from oneiros.texts.sought import Sought

__all__ = ["query_signals"]


def query_signals(
    understood: Understood,
    profile: Profile,
    lifecycle: Lifecycle,
    candidates: _core.Candidates,
    sought: Sought | None,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the signals by name: one value a candidate, or one for all.

    Source: docs/systems/omega.md O16, O19, O20, O22; docs/systems/house.md H10.
    """
    told: dict[str, npt.NDArray[np.float64]] = {}
    if understood.asks_preference:
        told["preference"] = np.ones(1)
    if understood.time is not None:
        told |= _of_time(understood.time, profile, lifecycle, candidates)
    if understood.surroundings is not None:
        told |= understood.surroundings.signals(candidates.rows, sought)
        weights = [one.weight for one in profile.factors if isinstance(one, Context)]
        if understood.situation is not None and weights:
            told["context_weight"] = np.array([weights[0] * understood.situation.context])
    return told


def _of_time(
    asked: TimeRange, profile: Profile, lifecycle: Lifecycle, candidates: _core.Candidates
) -> dict[str, npt.NDArray[np.float64]]:
    """Return what O22 and H10 read of a time, each where the profile has it."""
    told: dict[str, npt.NDArray[np.float64]] = {}
    by_memory = any(one.name == "temporal" for one in profile.factors)
    if by_memory or profile.named_time is not None:
        times = times_of(lifecycle, candidates.rows)
        if by_memory:
            own_dates = have_own_dates(lifecycle, candidates.rows)
            told["temporal_case"] = asked.cases_by_memory(times, own_dates)
        if profile.named_time is not None:
            told["named_time_case"] = asked.cases_by_wording(times)
    return told
