"""A background thread that runs the dream cycles of a schedule."""

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

    OnCycle = Callable[[DreamReport | Exception], None]

__all__ = ["CycleCounts", "Dreamer"]

_CHECK_SECONDS: Final = 1.0
"""Time between two checks whether a cycle is due."""

_log = logging.getLogger(__name__)


class _Dreams(Protocol):
    def dream(self, now: float, *, profile: Profile | None = None) -> DreamReport: ...


class _Counts(Protocol):
    """The figures of a store that decide whether a cycle is due."""

    def added(self) -> int:
        """Return the number of memories ever added; it never decreases."""

    def dreamed_at(self) -> float | None:
        """Return the clock of the store's last cycle, by any process; None: there was none."""


class Dreamer:
    """Runs the cycles of a schedule in a thread until it is stopped; also a context manager.

    Returned by ``Engine.keep_dreaming``. A failed cycle is logged; the next one runs when the
    schedule is due again. If another process runs a cycle, the dreamer waits for it and counts it.

    Args:
        engine: runs the cycles.
        schedule: decides when a cycle is due.
        clock: the engine's clock.
        counts: the store's figures.
        profile: the profile with the phases; None: the engine's.
        on_cycle: called in the thread with each report, and with each error instead of logging it;
            with :class:`~oneiros.errors.DreamBusy` once per wait.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     with engine.keep_dreaming(oneiros.DreamSchedule(every="4h")) as dreamer:
    ...         dreamer.is_running
    True
    """

    def __init__(
        self,
        engine: _Dreams,
        schedule: DreamSchedule,
        clock: Clock,
        counts: _Counts,
        *,
        profile: Profile | None = None,
        on_cycle: OnCycle | None = None,
    ) -> None:
        self.schedule = schedule
        self._engine = engine
        self._clock = clock
        self._counts = counts
        self._profile = profile
        self._on_cycle = on_cycle
        self._began = clock()
        self._cycle_at = self._seen = _past(counts.dreamed_at(), self._began)
        self._counted = counts.added()
        self._waits = False
        self._last_error = ""
        self._session_ended = threading.Event()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oneiros-dreamer", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    def end_session(self) -> None:
        """Report the end of a session, after which a cycle may be due."""
        self._session_ended.set()
        self.look()

    def look(self) -> None:
        """Make the thread check now whether a cycle is due; does not wait for the check."""
        self._wake.set()

    def stop(self, timeout: float | None = None) -> bool:
        """Start no further cycle, and wait for the running one. May be called twice.

        Args:
            timeout: maximum seconds to wait, >= 0; None: no limit.

        Returns:
            Whether the thread has ended.

        Raises:
            ValueError, TypeError: ``timeout`` is out of range or no number; the thread goes on.
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
                self._check(self._clock())
                self._last_error = ""
            except EngineClosed:
                self._stopped.set()
            except Exception as error:  # noqa: BLE001 - the thread survives any error
                if self._last_error != repr(error):  # report a lasting error only once
                    self._last_error = repr(error)
                    self._report_failure(error)
            self._wake.wait(_CHECK_SECONDS)
            self._wake.clear()

    def _check(self, now: float) -> None:
        dreamed = _past(self._counts.dreamed_at(), now)
        if dreamed != self._seen:  # a cycle of another process, or a call of Engine.dream
            self._seen = dreamed
            if dreamed is not None and (self._cycle_at is None or dreamed > self._cycle_at):
                self._cycle_at, self._counted = dreamed, self._counts.added()
        if self._is_due(now):
            self._dream(now)
        else:
            self._waits = False  # the next busy store is reported again

    def _is_due(self, now: float) -> bool:
        since = self._began if self._cycle_at is None else self._cycle_at
        return self.schedule.is_due(
            since_cycle=None if self._cycle_at is None else now - self._cycle_at,
            waited=now - since,
            new=self._counts.added() - self._counted,
            has_session_ended=self._session_ended.is_set(),
        )

    def _dream(self, now: float) -> None:
        had_ended = self._session_ended.is_set()
        self._session_ended.clear()  # a session that ends during the cycle counts for the next
        try:
            report = self._engine.dream(now, profile=self._profile)
        except EngineClosed:
            raise
        except DreamBusy as error:
            if had_ended:
                self._session_ended.set()
            self._report_busy(error)
            return
        except Exception as error:  # noqa: BLE001 - as above
            self._report_failure(error)
        else:
            self._seen = now
            self._report(report)
        self._waits = False
        self._cycle_at = now
        self._counted = self._counts.added()

    def _report_busy(self, error: DreamBusy) -> None:
        if not self._waits:
            self._waits = True
            if self._on_cycle is None:
                _log.info("%s; its end is waited for", error)
            self._report(error)

    def _report_failure(self, error: Exception) -> None:
        if self._on_cycle is None:
            message = "a dream cycle in the background failed; the next reason tries again"
            _log.error(message, exc_info=error)
        self._report(error)

    def _report(self, outcome: DreamReport | Exception) -> None:
        """Call ``on_cycle``; its own errors are logged."""
        try:
            if self._on_cycle is not None:
                self._on_cycle(outcome)
        except Exception:  # noqa: BLE001 - as above
            _log.exception("the callback for dream cycles failed")


def _past(moment: float | None, now: float) -> float | None:
    """Return a moment, or None if it is in the future, by a clock that differs from ours."""
    return None if moment is None or moment > now else moment


class CycleCounts:
    """The figures of an engine's store that decide whether a cycle is due."""

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
