"""The schedule of background dream cycles, and the thread that runs them.

Source: docs/systems/reverie.md R18.
"""

from __future__ import annotations

import logging
import math
import re
import threading
from typing import TYPE_CHECKING, Final

from oneiros.errors import DreamBusy, EngineClosed
from oneiros.model.validation import (
    as_float,
    brief,
    require_int,
    require_number,
    seconds_of,
    settle_flags,
)
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from typing import Self

    from oneiros.dream.report import DreamReport
    from oneiros.engine import Engine
    from oneiros.engine.scope import Scope
    from oneiros.scoring.profile import Profile

    OnCycle = Callable[[DreamReport | Exception], None]

__all__ = ["DreamSchedule", "Dreamer", "duration_seconds"]


_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d)", re.ASCII)
_MOST_NEW: Final = 2**31 - 1
_CHECK_SECONDS: Final = 1.0
"""Time between two checks whether a cycle is due."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSchedule:
    """The conditions for a background cycle, see :meth:`oneiros.Engine.keep_dreaming`.

    A cycle is due after some time, after some new memories, or at the end of a session. Durations
    are seconds, a ``timedelta``, or texts such as "90s", "30min", "4h" and "2d". Each cycle weakens strengths by the
    same share, however little time has passed (docs/systems/reverie.md R12): ``rate`` of the
    profile's ``Downscale`` is per cycle, and at 0.95 a strength halves in 14 cycles.

    Raises:
        ValueError, TypeError: a field is out of range or has another type.

    >>> schedule = DreamSchedule(every="4h", min_gap="30min")
    >>> schedule.is_due(since_cycle=14_400.0, waited=14_400.0, new=0, has_session_ended=False)
    True
    """

    every: str | float | timedelta | None = "4h"
    """A cycle is due this long after the previous one, > 0; None: not by time."""
    after_new: int | None = 10
    """A cycle is due after this many new memories, >= 1; None: not by new memories."""
    min_gap: str | float | timedelta = "30min"
    """Minimum time between two cycles, >= 0; a cycle that is due earlier waits."""
    on_session_end: bool = True
    """Whether a cycle is due when a session ends."""

    def __post_init__(self) -> None:
        if self.every is not None:
            duration_seconds("every", self.every, above_zero=True)
        if self.after_new is not None:
            require_int("after_new", self.after_new, low=1, high=_MOST_NEW)
        duration_seconds("min_gap", self.min_gap)
        settle_flags(self, "on_session_end")

    def is_due(
        self, *, since_cycle: float | None, waited: float, new: int, has_session_ended: bool
    ) -> bool:
        """Return whether a cycle is due.

        Args:
            since_cycle: seconds since the previous cycle; None: there was none.
            waited: seconds since the previous cycle, or since the schedule started.
            new: number of memories added in that time.
            has_session_ended: whether a session ended in that time.
        """
        gap = duration_seconds("min_gap", self.min_gap)
        if since_cycle is not None and since_cycle < gap:
            return False
        is_time = self.every is not None and waited >= duration_seconds("every", self.every)
        are_enough = self.after_new is not None and new >= self.after_new
        return is_time or are_enough or (self.on_session_end and has_session_ended)


def duration_seconds(
    name: str, given: str | float | timedelta, *, above_zero: bool = False
) -> float:
    """Return a duration in seconds, finite and >= 0.

    Args:
        name: the argument's name, for error messages.
        given: seconds, a ``timedelta``, or a text of a number and a unit: s, min, h or d.
        above_zero: refuse 0.

    Raises:
        ValueError, TypeError: ``given`` is not a valid duration.
    """
    given = seconds_of(given)
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        msg = f"{name}: must be seconds or a text such as '4h', got {given!r}"
        raise TypeError(msg)
    if isinstance(given, str):
        written = _WRITTEN.fullmatch(given.strip())
        if written is None:
            msg = f"{name}: must be a number and one of s, min, h and d, got {given!r}"
            raise ValueError(msg)
        seconds = float(written[1]) * _UNITS[written[2]]
    else:
        seconds = as_float(given)
    if not 0 <= seconds < math.inf or (above_zero and not seconds):
        rule = "above 0" if above_zero else "at least 0"
        msg = f"{name}: must be {rule} and finite, got {brief(given)}"
        raise ValueError(msg)
    return seconds


class Dreamer:
    """Runs the cycles of a schedule in a thread until it is stopped; also a context manager.

    Returned by ``Engine.keep_dreaming``. A failed cycle is logged; the next one runs when the
    schedule is due again. If another process runs a cycle, the dreamer waits for it and counts it.

    Args:
        engine: runs the cycles.
        schedule: decides when a cycle is due.
        scope: the engine's clock and store.
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
        engine: Engine,
        schedule: DreamSchedule,
        scope: Scope,
        *,
        profile: Profile | None = None,
        on_cycle: OnCycle | None = None,
    ) -> None:
        self.schedule = schedule
        self._engine = engine
        self._scope = scope
        self._profile = profile
        self._on_cycle = on_cycle
        self._began = scope.now(None)
        self._cycle_at = self._seen = _past(self._dreamed_at(), self._began)
        self._counted = self._added()
        self._waits = False
        self._last_error = ""
        self._session_ended = threading.Event()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oneiros-dreamer", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Dreamer of {self._engine!r}, {'running' if self.is_running else 'stopped'}>"

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

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._check(self._scope.now(None))
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
        # A clock that was set back must not hold cycles up until it is there again.
        self._began = min(self._began, now)
        if self._cycle_at is not None:
            self._cycle_at = min(self._cycle_at, now)
        dreamed = _past(self._dreamed_at(), now)
        if dreamed != self._seen:  # a cycle of another process, or a call of Engine.dream
            self._seen = dreamed
            if dreamed is not None and (self._cycle_at is None or dreamed > self._cycle_at):
                self._cycle_at, self._counted = dreamed, self._added()
        if self._is_due(now):
            self._dream(now)
        else:
            self._waits = False  # the next busy store is reported again

    def _added(self) -> int:
        """Return the number of memories ever added, by any process; erasing does not lower it."""
        with self._scope.services.store.read() as reading:
            return reading.next_sequence() - 1

    def _dreamed_at(self) -> float | None:
        """Return the clock of the store's last cycle, by any process; None: there was none."""
        with self._scope.services.store.read() as reading:
            return reading.cycles.last_dreamed_at()

    def _is_due(self, now: float) -> bool:
        since = self._began if self._cycle_at is None else self._cycle_at
        return self.schedule.is_due(
            since_cycle=None if self._cycle_at is None else now - self._cycle_at,
            waited=now - since,
            new=self._added() - self._counted,
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
        self._counted = self._added()

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
        except (Exception, SystemExit):  # noqa: BLE001 - as above
            _log.exception("the callback for dream cycles failed")


def _past(moment: float | None, now: float) -> float | None:
    """Return a moment, or None if it is in the future, by a clock that differs from ours."""
    return None if moment is None or moment > now else moment
