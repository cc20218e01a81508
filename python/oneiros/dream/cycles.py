"""Dream cycles of a store: planned, applied and undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.dream.cycle import planned
from oneiros.dream.draft import Draft
from oneiros.dream.history import noted_top
from oneiros.dream.impact import impact_of
from oneiros.dream.lock import Begun
from oneiros.dream.report import DreamReport
from oneiros.dream.source import StoredSource
from oneiros.model.fields import kinds_of
from oneiros.model.ids import new_ulid
from oneiros.model.validation import count, require_callable, require_flag, require_utf8, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oneiros.clock import Time
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.scoring.profile import Profile

    Judge = Callable[[str, str], str]
    Summarise = Callable[[Sequence[str]], str]

__all__ = ["DreamCycles", "run", "undo"]

_LOOKED_BACK = 5  # reports, undoings among them, for the figures of the cycle before
_CALLING_PHASES = {"summarise": "Summarising", "judge": "Conflicts"}
"""By argument, which is also the name of the phase that calls it, how a profile declares that."""


def run(
    scope: Scope,
    now: Time | None,
    *,
    dry_run: bool,
    profile: Profile | str | None,
    summarise: Summarise | None,
    judge: Judge | None,
) -> DreamReport | DreamPlan:
    """Run one dream cycle, or plan it; see :meth:`oneiros.Engine.dream`."""
    dry_run = require_flag("dry_run", dry_run)
    for name, given in (("summarise", summarise), ("judge", judge)):
        if given is not None:
            require_callable(name, given, "a callable on texts")
    chosen, moment = scope.profile(profile), scope.now(now)
    for name, given in (("summarise", summarise), ("judge", judge)):
        if given is not None:
            _require_called(name, chosen)
    id = new_ulid(moment)
    if dry_run:
        return _planned(scope, chosen, moment, id, summarise, judge)

    with scope.services.cycles.held(Begun(id, moment)):
        plan = _planned(scope, chosen, moment, id, summarise, judge)
        return scope.services.remember.cycles.apply_cycle(plan)


def undo(scope: Scope, id: str, now: Time | None) -> DreamReport:
    """Undo a cycle; see :meth:`oneiros.Engine.undo_dream`."""
    require_utf8("id", id)

    moment = scope.now(now)
    parts = scope.services
    parts.remember.cycles.require_undoable(id)  # a refusal is no cycle, and clears no other's note
    report = DreamReport(
        id=new_ulid(moment),
        now=moment,
        profile=parts.profile.name,
        profile_hash=parts.profile.hash,
        is_dry_run=False,
        undoes=id,
    )
    with parts.cycles.held(Begun(report.id, moment)):
        return parts.remember.cycles.undo_cycle(id, report)


def _planned(
    scope: Scope,
    profile: Profile,
    now: float,
    id: str,
    summarise: Summarise | None,
    judge: Judge | None,
) -> DreamPlan:

    parts = scope.services
    sync = parts.sync
    sync.write_events()

    def drafted() -> tuple[StoredSource, int]:
        sync.follow()
        associations = sync.links_to_follow()
        source = StoredSource(parts.store, parts.projections, associations, sync.texts)
        return source, sync.revision

    source, revision = sync.writer.run(drafted)
    with parts.store.read() as reading:
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
    with sync.noting_damage():
        return planned(
            draft,
            profile,
            id=id,
            revision=revision,
            applier=DreamCycles(parts),
            top_before=noted_top(scope, _LOOKED_BACK),
        )


def _require_called(name: str, profile: Profile) -> None:
    """Refuse a callable that no phase of a profile calls."""
    if name not in [phase.name for phase in profile.phases]:
        msg = (
            f"{name}: must be left out, since no phase of the profile {profile.name!r} calls it; "
            f"{_CALLING_PHASES[name]}() does, as in 'cognitive'"
        )
        raise ValueError(msg)


class DreamCycles:
    """Applies the plans of one engine, or tries them on a copy of its store."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def apply(self, plan: DreamPlan) -> DreamReport:
        """Apply a plan, when no other cycle runs."""
        with self._services.cycles.held(Begun(plan.id, plan.now)):
            return self._services.remember.cycles.apply_cycle(plan)

    def impact(self, plan: DreamPlan, queries: Sequence[str], k: int) -> Impact:
        """Rank questions on copies of the store, before and after a plan."""
        most = count("k", k, low=1)
        asked = list(texts("queries", queries))
        for place, query in enumerate(asked):
            require_utf8(f"queries[{place}]", query)
        with self._services.trials(self._services, plan.now) as trials:
            return impact_of(plan, asked, most, trials)
