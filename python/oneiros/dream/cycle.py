"""One cycle planned: the phases of a profile, one after the other, over one draft."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.counting import counted, memory_counts, removed_counts
from oneiros.dream.distributions import decay_curves, distributions
from oneiros.dream.drift import drift_of
from oneiros.dream.phases import run_phase
from oneiros.dream.plan import DreamPlan
from oneiros.dream.report import REMOVALS, DreamReport, LeftAlone, PhaseReport
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.phases.reverie import Prune

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.dream.changes import Held
    from oneiros.dream.draft import Draft
    from oneiros.dream.plan import Applier
    from oneiros.scoring.profile import Profile

__all__ = ["planned"]

_MOST_NAMED: Final = 1_000


def planned(
    draft: Draft,
    profile: Profile,
    *,
    id: str,
    revision: int,
    applier: Applier,
    top_before: Sequence[str] | None = None,
) -> DreamPlan:
    """Run the phases of a profile over a draft.

    Args:
        draft: fresh; its rails are the profile's.
        profile: names the phases.
        id: of the cycle.
        revision: of the store, that the draft reads.
        applier: applies the plan.
        top_before: the memories recalled most as the cycle before noted them, for their churn; None:
            there was none.
    """
    live_before = int(np.count_nonzero(draft.live))
    seconds = {}
    for phase in profile.phases:
        began = perf_counter()
        run_phase(draft, phase)
        seconds[phase.name] = perf_counter() - began
    report = DreamReport(
        id=id,
        now=draft.now,
        profile=profile.name,
        profile_hash=profile.hash,
        is_dry_run=True,
        live_before=live_before,
        live_after=int(np.count_nonzero(draft.live)) + len(draft.added),
        taken_away=len(draft.taken_rows()),
        taken_shown=draft.newly_hidden(draft.taken_rows()),
        shown_before=draft.shown_count,
        taken_before=draft.day.memories,
        day_limit=draft.day_limit(draft.day),
        phases=tuple(_phase_reports(draft, seconds)),
        left_alone=tuple(map(_left_alone, draft.held)),
        distributions=distributions(draft),
        drift=drift_of(draft, _prune_of(profile), top_before),
        decay=decay_curves(draft, profile),
    )
    plan = DreamPlan(draft, report, revision, applier)
    net = plan.net({field for field, _ in REMOVALS})
    plan.report = replace(
        report,
        named=plan.named(_MOST_NAMED),
        change_count=len(plan),
        removed=removed_counts({field: (rows, after) for field, (rows, _, after) in net.items()}),
    )
    return plan


def _prune_of(profile: Profile) -> Prune | None:
    return next((phase for phase in profile.phases if isinstance(phase, Prune)), None)


def _left_alone(held: Held) -> LeftAlone:
    return LeftAlone(phase=held.phase, rule=held.rule, reason=held.reason, memories=held.rows)


def _phase_reports(draft: Draft, seconds: dict[str, float]) -> Iterable[PhaseReport]:
    counts, memories = counted(draft), memory_counts(draft)
    for name, taken in seconds.items():
        yield PhaseReport(
            name=name,
            seconds=taken,
            changes=counts.get(name, {}),
            figures=draft.figures.get(name, {}),
            memories=memories.get(name, {}),
        )
