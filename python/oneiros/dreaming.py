"""The dream cycle of a store: planned, applied and undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from oneiros.argument_checks import count, require_callable, require_flag, require_utf8, texts
from oneiros.dream_history import DreamHistory
from oneiros.kinds import kinds_of
from oneiros.purging import Purging
from oneiros.ulid import new_ulid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oneiros.bounded import Parts, Time
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.ranking.profile import Profile

    Judge = Callable[[str, str], str]
    Summarise = Callable[[Sequence[str]], str]

__all__ = ["Dreaming"]

_LOOKED_BACK = 5  # reports, undoings among them, for the figures of the cycle before
_CALLING_PHASES = {"summarise": "Summarising", "judge": "Conflicts"}
"""By argument, which is also the name of the phase that calls it, how a profile declares that."""


class Dreaming(DreamHistory, Purging):
    """Memories over which a dream cycle can be run."""

    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[False] = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport: ...
    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: Literal[True],
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamPlan: ...
    @overload
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport | DreamPlan: ...
    def dream(
        self,
        now: Time | None = None,
        *,
        dry_run: bool = False,
        profile: Profile | str | None = None,
        summarise: Summarise | None = None,
        judge: Judge | None = None,
    ) -> DreamReport | DreamPlan:
        """Run one dream cycle: the phases of a profile, in one transaction.

        It is planned first, while searches and writes go on, then applied all at once. A memory that
        somebody changes, links or unlinks meanwhile stays as it is. What searches left to be written
        is written first.

        Args:
            now: the cycle's clock, as in :meth:`add`.
            dry_run: only plan it; the plan lists every change, and can be applied.
            profile: whose phases and rails, by name or as a ``Profile``; default: the engine's. A
                profile without phases changes nothing.
            summarise: writes one text of several similar ones, for the phase ``Summarising``;
                default: the most central text stands for all.
            judge: returns the relation of two texts, the older first, for the phase ``Conflicts``:
                "contradiction", "update", "duplicate" or "distinct"; default: none, and no memory is
                retired for being similar.

        Returns:
            :class:`oneiros.dream.report.DreamReport`, or with ``dry_run`` a
            :class:`oneiros.dream.plan.DreamPlan`.

        Raises:
            DreamBusy: another cycle runs on this store, in this process or another.
            StoreBusy: another process kept the store locked for too long; nothing was changed.
            OSError: the lock beside the store cannot be written.
            StoreCorrupt: a memory turns out to be damaged; nothing was changed, and the next cycle
                leaves it out.
            ValueError, TypeError: an argument breaks its rule, or a callable its promise; or
                ``summarise`` or ``judge`` is given, and the profile has no phase that calls it. What
                a callable raises comes through, with a note that names it.

        Source: docs/systems/reverie.md R10 to R19; docs/systems/cognitive.md C19 to C22;
        docs/systems/omega.md O31.
        """
        dry_run = require_flag("dry_run", dry_run)
        for name, given in (("summarise", summarise), ("judge", judge)):
            if given is not None:
                require_callable(name, given, "a callable on texts")
        chosen, moment = self._profile(profile), self._now(now)
        for name, given in (("summarise", summarise), ("judge", judge)):
            if given is not None:
                _require_called(name, chosen)
        id = new_ulid(moment)
        if dry_run:
            return self._planned(chosen, moment, id, summarise, judge)
        from oneiros.dream.lock import Begun  # noqa: PLC0415 - a search dreams not

        with self._parts.cycles.held(Begun(id, moment)):
            plan = self._planned(chosen, moment, id, summarise, judge)
            return self._parts.remember.apply_cycle(plan)

    def undo_dream(self, id: str, *, now: Time | None = None) -> DreamReport:
        """Restore every field that a cycle changed, but for those that changed again since.

        What the cycle added is erased; or soft-deleted, where it was used or changed. The last 30
        cycles can be undone, in any order, each once.

        Args:
            id: of the cycle, ``report.id``.
            now: the clock, as in :meth:`add`.

        Returns:
            The report of the undoing: ``change_count`` fields restored, and in ``not_restored``
            those that had changed again.

        Raises:
            ValueError, TypeError: there is no such cycle, it cannot be undone, or an argument breaks
                its rule.
            DreamBusy, StoreBusy, OSError: as :meth:`dream`.

        Source: docs/systems/reverie.md R19.
        """
        require_utf8("id", id)
        from oneiros.dream.lock import Begun  # noqa: PLC0415 - a search dreams not
        from oneiros.dream.report import DreamReport  # noqa: PLC0415

        moment = self._now(now)
        parts = self._parts
        parts.remember.require_undoable(id)  # a refusal is no cycle, and clears no other's note
        report = DreamReport(
            id=new_ulid(moment),
            now=moment,
            profile=parts.profile.name,
            profile_hash=parts.profile.hash,
            is_dry_run=False,
            undoes=id,
        )
        with parts.cycles.held(Begun(report.id, moment)):
            return parts.remember.undo_cycle(id, report)

    def _planned(
        self,
        profile: Profile,
        now: float,
        id: str,
        summarise: Summarise | None,
        judge: Judge | None,
    ) -> DreamPlan:
        from oneiros.dream.cycle import planned  # noqa: PLC0415 - a search dreams not
        from oneiros.dream.draft import Draft  # noqa: PLC0415
        from oneiros.dream.stored_source import StoredSource  # noqa: PLC0415

        parts = self._parts
        remember = parts.remember
        remember.write_events()

        def drafted() -> tuple[StoredSource, int]:
            remember.follow()
            associations = remember.links_to_follow()
            source = StoredSource(parts.store, parts.projections, associations, remember.texts)
            return source, remember.revision

        source, revision = remember.writer.run(drafted)
        with parts.store.read() as reading:
            previous = reading.last_dreamed_at()
            day = reading.taken_in_day(now)
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
            embeds=remember.vectors.is_present,
        )
        with remember.noting_damage():
            return planned(
                draft,
                profile,
                id=id,
                revision=revision,
                applier=_Cycles(parts),
                top_before=self._noted_top(_LOOKED_BACK),
            )


def _require_called(name: str, profile: Profile) -> None:
    """Refuse a callable that no phase of a profile calls."""
    if name not in [phase.name for phase in profile.phases]:
        msg = (
            f"{name}: must be left out, since no phase of the profile {profile.name!r} calls it; "
            f"{_CALLING_PHASES[name]}() does, as in 'cognitive'"
        )
        raise ValueError(msg)


class _Cycles:
    """Applies the plans of one engine, or tries them on a copy of its store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def apply(self, plan: DreamPlan) -> DreamReport:
        """Apply a plan, when no other cycle runs."""
        from oneiros.dream.lock import Begun  # noqa: PLC0415 - a search dreams not

        with self._parts.cycles.held(Begun(plan.id, plan.now)):
            return self._parts.remember.apply_cycle(plan)

    def impact(self, plan: DreamPlan, queries: Sequence[str], k: int) -> Impact:
        """Rank questions on copies of the store, before and after a plan."""
        from oneiros.dream.impact import impact_of  # noqa: PLC0415 - few try

        most = count("k", k, low=1)
        asked = list(texts("queries", queries))
        for place, query in enumerate(asked):
            require_utf8(f"queries[{place}]", query)
        with self._parts.trials(self._parts, plan.now) as trials:
            return impact_of(plan, asked, most, trials)
