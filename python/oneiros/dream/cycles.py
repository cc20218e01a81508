"""Dream cycles of an engine: planned, applied and undone."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from time import perf_counter
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.changes import removed_counts
from oneiros.dream.draft import Draft
from oneiros.dream.figures import decay_curves, distributions, drift_of
from oneiros.dream.history import noted_top
from oneiros.dream.lock import Begun
from oneiros.dream.phases import PHASES
from oneiros.dream.plan import DreamPlan, counted, memory_counts
from oneiros.dream.report import REMOVALS, DreamReport, LeftAlone, PhaseReport
from oneiros.dream.source import DraftSource
from oneiros.model.fields import kinds_of
from oneiros.model.ids import new_ulid
from oneiros.model.validation import (
    is_real,
    require_callable,
    require_flag,
    require_int,
    require_number,
    require_utf8,
)
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.phases.reverie import Prune

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from oneiros.clock import Time
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.scoring.phases import Phase
    from oneiros.scoring.profile import Profile

    Judge = Callable[[str, str], str]
    Summarise = Callable[[Sequence[str]], str]

__all__ = ["begin_draft", "run", "run_phases", "undo"]

_LOOKED_BACK: Final = 5  # reports searched for the top memories of the previous cycle
_MOST_NAMED: Final = 1_000
_CALLING_PHASES: Final = {
    "summarise": {"summarise": "Summarising() does, as in 'cognitive'"},
    "judge": {
        "judge": "Conflicts() does, as in 'cognitive'",
        "settle": "ChangedFacts(), of oneiros.scoring.phases.house",
    },
}
"""By argument: the names of the phases that call it, with their declarations."""


def run(
    scope: Scope,
    now: Time | None,
    *,
    dry_run: bool,
    profile: Profile | str | None,
    summarise: Summarise | None,
    judge: Judge | None,
    keep: float | Budget | None,
) -> DreamReport | DreamPlan:
    """Run one dream cycle, or plan it; see :meth:`oneiros.Engine.dream`."""
    dry_run = require_flag("dry_run", dry_run)
    callables = {
        name: function
        for name, function in (("summarise", summarise), ("judge", judge))
        if function is not None
    }
    for name, function in callables.items():
        require_callable(name, function, "a callable on texts")
    chosen, moment = scope.profile(profile), scope.now(now)
    if keep is not None:
        chosen = _with_budget(chosen, keep)
    for name in callables:
        _require_called(name, chosen)
    id = new_ulid(moment)
    if dry_run:
        return _planned(scope.services, chosen, moment, id, summarise, judge)
    services = scope.services
    changed: list[str] | None = [] if services.observers else None
    with services.cycles.held(Begun(id, moment)):
        plan = _planned(services, chosen, moment, id, summarise, judge)
        report = services.remember.cycles.apply_cycle(plan, changed=changed)
    if changed is not None:
        services.publish("dream", "dream", changed, time=moment)
    return report


def undo(scope: Scope, id: str, now: Time | None) -> DreamReport:
    """Undo a cycle; see :meth:`oneiros.Engine.undo_dream`."""
    require_utf8("id", id)
    moment = scope.now(now)
    services = scope.services
    # Before the lock is taken, since taking it clears the record of an interrupted cycle.
    services.remember.cycles.require_undoable(id)
    report = DreamReport(
        id=new_ulid(moment),
        now=moment,
        profile=services.profile.name,
        profile_hash=services.profile.hash,
        is_dry_run=False,
        undoes=id,
    )
    changed: list[str] | None = [] if services.observers else None
    with services.cycles.held(Begun(report.id, moment)):
        done = services.remember.cycles.undo_cycle(id, report, changed)
    if changed is not None:
        services.publish("dream", "undo_dream", changed, time=moment)
    return done


def _require_called(name: str, profile: Profile) -> None:
    """Refuse a callable that no phase of a profile calls."""
    calling = _CALLING_PHASES[name]
    if calling.keys().isdisjoint(phase.name for phase in profile.phases):
        msg = (
            f"{name}: must be left out, since no phase of the profile {profile.name!r} calls it; "
            f"{', or '.join(calling.values())}"
        )
        raise ValueError(msg)


def _with_budget(profile: Profile, keep: float | Budget) -> Profile:
    """Return a profile whose phase of the budget has another one.

    Args:
        profile: its other phases stay.
        keep: as of :meth:`oneiros.Engine.dream`.

    Raises:
        TypeError, ValueError: ``keep`` is out of range, or the profile has no such phase.
    """
    places = [place for place, phase in enumerate(profile.phases) if isinstance(phase, Budget)]
    if not places:
        msg = (
            f"keep: must be left out, since no phase of the profile {profile.name!r} keeps to a "
            "budget; Budget() does, as in 'oneiros'"
        )
        raise ValueError(msg)
    phases = list(profile.phases)
    if not isinstance(keep, Budget):
        if not is_real(keep):
            msg = (
                "keep: expected a share as a float, a number of memories as an int, or a Budget, "
                f"got {type(keep).__name__} {keep!r}"
            )
            raise TypeError(msg)
        given = phases[places[0]]
        assert isinstance(given, Budget)
        if isinstance(keep, Integral):
            number = require_int("keep", int(keep), low=1, high=2**62)
            keep = replace(given, count=number, share=None, size=None)
        else:
            share = require_number("keep", keep, low=0.0, high=1.0, above_low=True)
            keep = replace(given, share=share, count=None, size=None)
    phases[places[0]] = keep
    return profile.replace(phases=tuple(phases))


def _planned(
    services: EngineServices,
    profile: Profile,
    now: float,
    id: str,
    summarise: Summarise | None,
    judge: Judge | None,
) -> DreamPlan:
    """Plan a cycle over the current state of the store."""
    draft, revision = begin_draft(services, profile, now, summarise, judge)
    with services.store.read() as reading:
        earlier = reading.cycles.dream_cycles(_LOOKED_BACK)
    with services.sync.noting_damage():
        seconds = run_phases(draft, profile.phases)
        tops = (top for top in map(noted_top, earlier) if top is not None)
        report = _report(draft, profile, id, seconds, next(tops, None))
        return _plan(draft, report, revision, services)


def begin_draft(
    services: EngineServices,
    profile: Profile,
    now: float,
    summarise: Summarise | None = None,
    judge: Judge | None = None,
) -> tuple[Draft, int]:
    """Return a draft of the current state of the store, and the store's revision."""
    sync = services.sync
    sync.write_events()

    def current_source() -> tuple[DraftSource, int]:
        sync.follow()
        read_model = services.read_model
        associations = sync.links_to_follow(read_model, is_bounded=False)
        texts = partial(sync.texts, read_model)
        source = DraftSource(services.store, read_model, associations, texts)
        return source, sync.revision

    # On the writer's thread no commit is applied between the rows, the links and the revision.
    source, revision = sync.writer.run(current_source)
    with services.store.read() as reading:
        previous = reading.cycles.last_dreamed_at()
        day = reading.cycles.taken_in_day(now)
    draft = Draft(
        source,
        now=now,
        previous=previous,
        rails=profile.rails,
        day=day,
        summarise=summarise,
        judge=judge,
        factors=profile.factors,
        expiring_kinds=kinds_of(profile.selection, "expiring_kinds"),
        embeds=sync.vectors.is_present,
    )
    return draft, revision


def run_phases(draft: Draft, phases: Iterable[Phase]) -> dict[str, float]:
    """Run phases over a draft; returns the seconds that each took, by name."""
    seconds = {}
    for phase in phases:
        began = perf_counter()
        draft.begin(phase.name)
        PHASES[phase.name](draft, phase)
        seconds[phase.name] = perf_counter() - began
    return seconds


def _report(
    draft: Draft,
    profile: Profile,
    id: str,
    seconds: dict[str, float],
    top_before: Sequence[str] | None,
) -> DreamReport:
    """Return the report of a draft after all phases, without the changes by name."""
    counts, memories = counted(draft), memory_counts(draft)
    taken = draft.taken_rows()
    prune = next((phase for phase in profile.phases if isinstance(phase, Prune)), None)
    return DreamReport(
        id=id,
        now=draft.now,
        profile=profile.name,
        profile_hash=profile.hash,
        is_dry_run=True,
        live_before=len(draft.source.live_rows()),
        live_after=int(np.count_nonzero(draft.live)) + len(draft.added),
        taken_away=len(taken),
        taken_shown=draft.newly_hidden(taken),
        shown_before=draft.shown_count,
        taken_before=draft.day.memories,
        day_limit=draft.day_limit(draft.day),
        phases=tuple(
            PhaseReport(
                name=name,
                seconds=duration,
                changes=counts.get(name, {}),
                figures=draft.figures.get(name, {}),
                memories=memories.get(name, {}),
            )
            for name, duration in seconds.items()
        ),
        left_alone=tuple(
            LeftAlone(phase=held.phase, rule=held.rule, reason=held.reason, memories=held.rows)
            for held in draft.held
        ),
        distributions=distributions(draft),
        drift=drift_of(draft, prune, top_before),
        decay=decay_curves(draft, profile),
    )


def _plan(draft: Draft, report: DreamReport, revision: int, services: EngineServices) -> DreamPlan:
    """Return the plan of a draft, its report completed with the changes by name."""
    plan = DreamPlan(draft, report, revision, services)
    net = plan.net({field for field, _ in REMOVALS})
    plan.report = replace(
        report,
        named=plan.named(_MOST_NAMED),
        change_count=len(plan),
        removed=removed_counts({field: (rows, after) for field, (rows, _, after) in net.items()}),
    )
    return plan
