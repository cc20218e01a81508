"""Memories that tidy themselves by a schedule, in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import require_callable, require_instance
from oneiros.dreaming import Dreaming

if TYPE_CHECKING:
    from oneiros.dream.dreamer import Dreamer, Told
    from oneiros.dream.schedule import DreamSchedule
    from oneiros.ranking.profile import Profile

__all__ = ["KeepingDreaming"]


class KeepingDreaming(Dreaming):
    """Memories whose cycles can run by themselves."""

    _dreamer: Dreamer | None = None

    def keep_dreaming(
        self,
        schedule: DreamSchedule | None = None,
        *,
        profile: Profile | str | None = None,
        told: Told | None = None,
    ) -> Dreamer:
        """Run cycles in the background until stopped, at the latest when the engine is closed.

        Time is the engine's clock. Memories that others added count, and so do cycles that others
        run: one that runs is waited for. A schedule that runs already is stopped first.

        Args:
            schedule: when; default: ``DreamSchedule()``.
            profile: whose phases and rails; default: the engine's.
            told: is called with the report of every cycle, with what a cycle failed of, and once a
                wait with ``DreamBusy``, by the thread that dreams; default: failures are logged.

        Returns:
            :class:`oneiros.dream.dreamer.Dreamer`, to be stopped, or used as a context manager.

        Raises:
            EngineClosed: the engine is closed.
            TypeError, ValueError: that is no schedule, no profile or nothing to call.

        Source: docs/systems/reverie.md R18.
        """
        from oneiros.dream.dreamer import Dreamer  # noqa: PLC0415 - a search dreams not
        from oneiros.dream.schedule import DreamSchedule  # noqa: PLC0415

        chosen = DreamSchedule() if schedule is None else schedule
        require_instance("schedule", chosen, (DreamSchedule,), "a DreamSchedule")
        if told is not None:
            require_callable("told", told, "a callable on reports and errors")
        dreams_by = None if profile is None else self._profile(profile)
        parts = self._parts
        self._stop_dreaming()
        counts = _Counts(self)
        self._dreamer = Dreamer(self, chosen, parts.clock, counts, profile=dreams_by, told=told)
        return self._dreamer

    def end_session(self) -> None:
        """Say that a session ended: a reason to dream, where a schedule runs that has it as one.

        Source: docs/systems/reverie.md R18.
        """
        if self._dreamer is not None:
            self._dreamer.end_session()

    def _stop_dreaming(self) -> None:
        if self._dreamer is not None:
            self._dreamer.stop()
            self._dreamer = None

    def _added(self) -> int:
        """Count the memories that ever came, of other processes, too: what is erased lowers it not."""
        self._follow_others()
        return len(self._parts.projections.lifecycle.ids)

    def _dreamed_at(self) -> float | None:
        with self._parts.store.read() as reading:
            return reading.last_dreamed_at()


class _Counts:
    """What a schedule goes by, of one engine."""

    def __init__(self, mind: KeepingDreaming) -> None:
        self.added = mind._added
        self.dreamed_at = mind._dreamed_at
