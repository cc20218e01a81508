"""A thread in the background that runs the cycles of a schedule."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol

from oneiros.errors import DreamBusy, EngineClosed
from oneiros.model.validation import require_number

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from oneiros.clock import Clock
    from oneiros.dream.report import DreamReport
    from oneiros.dream.schedule import DreamSchedule
    from oneiros.engine.scope import Scope
    from oneiros.scoring.profile import Profile

    Told = Callable[[DreamReport | Exception], None]

__all__ = ["CycleCounts", "Dreamer"]

_LOOK_SECONDS: Final = 1.0
"""How often it is looked whether a cycle is due."""

_log = logging.getLogger(__name__)


class _Dreams(Protocol):
    def dream(self, now: float, *, profile: Profile | None = None) -> DreamReport: ...


class _Counts(Protocol):
    """What a dreamer looks at to know whether a cycle is due."""

    def added(self) -> int:
        """Count the memories that ever came: never less than before."""

    def dreamed_at(self) -> float | None:
        """Return the clock of the store's last cycle, whoever ran it; None: there was none."""


class Dreamer:
    """Runs the cycles of a schedule until it is stopped; a context manager that stops at its end.

    Made by ``Engine.keep_dreaming``. A cycle that fails is logged, and the next reason tries again.
    One that another process runs is waited for, and counts as one.

    Args:
        mind: dreams.
        schedule: when.
        clock: the engine's.
        counts: of the store.
        profile: whose phases; None: the engine's.
        told: is called in the thread with every report, and instead of the log with every error;
            with :class:`~oneiros.errors.DreamBusy` once a wait.
    """

    def __init__(
        self,
        mind: _Dreams,
        schedule: DreamSchedule,
        clock: Clock,
        counts: _Counts,
        *,
        profile: Profile | None = None,
        told: Told | None = None,
    ) -> None:
        self.schedule = schedule
        self._mind = mind
        self._clock = clock
        self._counts = counts
        self._profile = profile
        self._told = told
        self._began = clock()
        self._cycle_at = self._seen = _past(counts.dreamed_at(), self._began)
        self._counted = counts.added()
        self._waits = False
        self._fault = ""
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oneiros-dreamer", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    def end_session(self) -> None:
        """Say that a session ended."""
        self._ended.set()
        self.look()

    def look(self) -> None:
        """Let the thread look at once whether a cycle is due; returns before it did."""
        self._wake.set()

    def stop(self, timeout: float | None = None) -> bool:
        """Run no further cycle, and wait for the one that runs. Stopping twice is once.

        Args:
            timeout: how many seconds to wait at most, >= 0; None: as long as it takes.

        Returns:
            Whether the thread has ended.

        Raises:
            ValueError, TypeError: ``timeout`` is out of its range, or no number; it goes on.
        """
        if timeout is not None:
            require_number("timeout", timeout, low=0.0, high=threading.TIMEOUT_MAX)
        self._stopped.set()
        self._wake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look(self._clock())
                self._fault = ""
            except EngineClosed:
                self._stopped.set()
            except Exception as error:  # noqa: BLE001 - whatever it was, the thread goes on
                if self._fault != repr(error):  # not once a second
                    self._fault = repr(error)
                    self._tell_failure(error)
            self._wake.wait(_LOOK_SECONDS)
            self._wake.clear()

    def _look(self, now: float) -> None:
        dreamed = _past(self._counts.dreamed_at(), now)
        if dreamed != self._seen:  # another process's, or somebody's by hand
            self._seen = dreamed
            if dreamed is not None and (self._cycle_at is None or dreamed > self._cycle_at):
                self._cycle_at, self._counted = dreamed, self._counts.added()
        if self._is_due(now):
            self._dream(now)
        else:
            self._waits = False  # the next wait is another

    def _is_due(self, now: float) -> bool:
        since = self._began if self._cycle_at is None else self._cycle_at
        return self.schedule.is_due(
            since_cycle=None if self._cycle_at is None else now - self._cycle_at,
            waited=now - since,
            new=self._counts.added() - self._counted,
            has_session_ended=self._ended.is_set(),
        )

    def _dream(self, now: float) -> None:
        had_ended = self._ended.is_set()
        self._ended.clear()  # a session that ends while it dreams is a new reason
        try:
            report = self._mind.dream(now, profile=self._profile)
        except EngineClosed:
            raise
        except DreamBusy as error:
            if had_ended:
                self._ended.set()
            self._wait_for_another(error)
            return
        except Exception as error:  # noqa: BLE001 - as above
            self._tell_failure(error)
        else:
            self._seen = now
            self._tell(report)
        self._waits = False
        self._cycle_at = now
        self._counted = self._counts.added()

    def _wait_for_another(self, error: DreamBusy) -> None:
        if not self._waits:
            self._waits = True
            if self._told is None:
                _log.info("%s; its end is waited for", error)
            self._tell(error)

    def _tell_failure(self, error: Exception) -> None:
        if self._told is None:
            words = "a dream cycle in the background failed; the next reason tries again"
            _log.error(words, exc_info=error)
        self._tell(error)

    def _tell(self, what: DreamReport | Exception) -> None:
        """Tell who asked to be told; a failure of theirs is not the cycle's."""
        try:
            if self._told is not None:
                self._told(what)
        except Exception:  # noqa: BLE001 - as above
            _log.exception("what is told of dream cycles failed")


def _past(moment: float | None, now: float) -> float | None:
    """Return a moment, unless it is still to come: whoever gave it had another clock."""
    return None if moment is None or moment > now else moment


class CycleCounts:
    """What a schedule goes by, of one engine."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def added(self) -> int:
        """Return the number of memories ever added, by any process; erasing does not lower it."""
        self._scope.follow_others()
        return len(self._scope.services.projections.lifecycle.ids)

    def dreamed_at(self) -> float | None:
        """Return the clock of the store's last cycle; None: there was none."""
        with self._scope.services.store.read() as reading:
            return reading.cycles.last_dreamed_at()
