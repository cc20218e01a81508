"""Memories that tidy themselves by a schedule, in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import require_instance
from oneiros.dreaming import Dreaming

if TYPE_CHECKING:
    from oneiros.dream.dreamer import Dreamer
    from oneiros.dream.schedule import DreamSchedule

__all__ = ["KeepingDreaming"]


class KeepingDreaming(Dreaming):
    """Memories whose cycles can run by themselves."""

    _dreamer: Dreamer | None = None

    def keep_dreaming(self, schedule: DreamSchedule | None = None) -> Dreamer:
        """Run cycles in the background until stopped, at the latest when the engine is closed.

        Time is the engine's clock. Memories that others added count once this process follows them.
        A schedule that runs already is stopped first.

        Args:
            schedule: when; default: ``DreamSchedule()``.

        Returns:
            :class:`oneiros.dream.dreamer.Dreamer`, to be stopped, or used as a context manager.

        Raises:
            EngineClosed: the engine is closed.
            TypeError: that is no schedule.

        Source: docs/systems/reverie.md R18.
        """
        from oneiros.dream.dreamer import Dreamer  # noqa: PLC0415 - a search dreams not
        from oneiros.dream.schedule import DreamSchedule  # noqa: PLC0415

        chosen = DreamSchedule() if schedule is None else schedule
        require_instance("schedule", chosen, (DreamSchedule,), "a DreamSchedule")
        parts = self._parts
        self._stop_dreaming()
        rows = parts.projections.lifecycle.row_of
        self._dreamer = Dreamer(self, chosen, parts.clock, lambda: len(rows))
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
