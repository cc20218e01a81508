"""Which stages follow the factors, and in which order. What a profile does not name costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from oneiros.ranking.finishing import Surfacing, WeakBest

if TYPE_CHECKING:
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Stages
    from oneiros.ranking.profile import Profile

__all__ = ["Step", "finish", "steps_of"]

Step: TypeAlias = Callable[["WorkingList", "Stages"], None]


def finish(working: WorkingList, stages: Stages) -> None:
    """Take the list through all stages, until one finds that there is nothing to return.

    Args:
        working: the ranked candidates; the results, when this returns.
        stages: the trace.
    """
    for step in steps_of(working.question.profile):
        step(working, stages)
        if working.reason:
            return
    working.cut()


@lru_cache(maxsize=512)
def steps_of(profile: Profile) -> tuple[Step, ...]:
    """Return the stages of a profile in their order.

    Near enough (O27), then rerank (C8) or links (C9, C10), or links (O24) and then rerank (O25),
    then duplicates (O26), and whether what is left scores enough (O27, H7).
    """
    steps: list[Step] = []
    rerank = profile.rerank
    if isinstance(profile.abstention, Surfacing):
        steps.append(_leave_far)
    if rerank is not None and not rerank.after_links:
        steps.append(_rerank)
    if profile.expansion is not None:
        steps.append(_follow_links)
    if rerank is not None and rerank.after_links:
        steps.append(_rerank)
    if profile.duplicates is not None:
        steps.append(_leave_duplicates)
    if isinstance(profile.abstention, Surfacing):
        steps.append(_leave_low)
    elif isinstance(profile.abstention, WeakBest):
        steps.append(_require_near_best)
    return tuple(steps)


# Each loads its stage when a search first comes to it: few need them all.


def _follow_links(working: WorkingList, stages: Stages) -> None:
    reach = working.reach
    if reach is not None and working.results:
        from oneiros.finishing.links import follow_links  # noqa: PLC0415

        follow_links(working, reach, stages)


def _rerank(working: WorkingList, stages: Stages) -> None:
    from oneiros.finishing.reranked import rerank  # noqa: PLC0415

    rerank(working, stages)


def _leave_far(working: WorkingList, stages: Stages) -> None:
    from oneiros.finishing.nearness import leave_far  # noqa: PLC0415

    leave_far(working, stages)


def _leave_duplicates(working: WorkingList, stages: Stages) -> None:
    from oneiros.finishing.duplicates import leave_duplicates  # noqa: PLC0415

    leave_duplicates(working, stages)


def _leave_low(working: WorkingList, stages: Stages) -> None:
    from oneiros.finishing.nearness import leave_low  # noqa: PLC0415

    leave_low(working, stages)


def _require_near_best(working: WorkingList, stages: Stages) -> None:
    if working.question.vector is not None:
        from oneiros.finishing.nearness import require_near_best  # noqa: PLC0415

        require_near_best(working, stages)
