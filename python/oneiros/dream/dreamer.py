"""A thread in the background that runs the cycles of a schedule."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol

from oneiros.errors import EngineClosed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from oneiros.clock import Clock
    from oneiros.dream.report import DreamReport
    from oneiros.dream.schedule import DreamSchedule

__all__ = ["Dreamer"]

_LOOK_SECONDS: Final = 1.0
"""How often it is looked whether a cycle is due."""

_log = logging.getLogger(__name__)


class _Dreams(Protocol):
    def dream(self, now: float) -> DreamReport: ...


class Dreamer:
    """Runs the cycles of a schedule until it is stopped; a context manager that stops at its end.

    Made by ``Engine.keep_dreaming``. A cycle that fails is logged, and the next reason tries again.

    Args:
        mind: dreams.
        schedule: when.
        clock: the engine's.
        added: counts the memories, those deleted too.
    """

    def __init__(
        self, mind: _Dreams, schedule: DreamSchedule, clock: Clock, added: Callable[[], int]
    ) -> None:
        self.schedule = schedule
        self._mind = mind
        self._clock = clock
        self._added = added
        self._began = clock()
        self._cycle_at: float | None = None
        self._counted = added()
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
            timeout: how many seconds to wait at most; None: as long as it takes.

        Returns:
            Whether the thread has ended.
        """
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
            now = self._clock()
            if self._is_due(now):
                self._dream(now)
            self._wake.wait(_LOOK_SECONDS)
            self._wake.clear()

    def _is_due(self, now: float) -> bool:
        since = self._began if self._cycle_at is None else self._cycle_at
        return self.schedule.is_due(
            since_cycle=None if self._cycle_at is None else now - self._cycle_at,
            waited=now - since,
            new=self._added() - self._counted,
            has_session_ended=self._ended.is_set(),
        )

    def _dream(self, now: float) -> None:
        self._ended.clear()  # a session that ends while it dreams is a new reason
        try:
            self._mind.dream(now)
        except EngineClosed:
            self._stopped.set()
        except Exception:  # noqa: BLE001 - whatever it was, the thread goes on
            _log.exception("a dream cycle in the background failed; the next reason tries again")
        self._cycle_at = now
        self._counted = self._added()
