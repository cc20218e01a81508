"""When an engine that is open writes its snapshot, so that a restart after a kill has little to read."""

from __future__ import annotations

import os
from time import monotonic
from typing import Final

__all__ = ["Saving"]

# Without a write, as those that come meanwhile wait for the file. Up to twice as long, by chance:
# several processes of one store should not begin at once.
_QUIET_SECONDS: Final = 3.0
_LONGEST_SECONDS: Final = 600.0  # from when it is due; then it is written between two writes
_LEAST_PAUSE_SECONDS: Final = 60.0
_PAUSE_PER_SECOND: Final = (
    50  # of the last file's time: so writes wait for a fiftieth of it at most
)
_AFTER_FAILURE_SECONDS: Final = 600.0
_LONGEST_LOOK_SECONDS: Final = 60.0  # the writer thread keeps its engine alive so long


class Saving:
    """Decides when a snapshot that is due is written. Used by the writer thread."""

    def __init__(self) -> None:
        self._written_at = monotonic()
        self._chance = os.urandom(1)[0] / 256
        self._due_at: float | None = None  # None: it was not due when last looked at
        self._not_before = 0.0

    def note_write(self) -> None:
        """Record that the store was written."""
        self._written_at = monotonic()

    def wait(self, *, is_building: bool) -> float | None:
        """Return the seconds until the file is to be written, 0 for now; None: look after the next job.

        Args:
            is_building: a graph is being built, which the file could then hold.
        """
        now = monotonic()
        if self._due_at is None:
            self._due_at = now
        last = self._due_at + _LONGEST_SECONDS
        pause = _QUIET_SECONDS * (1 + self._chance)
        quiet = (now if is_building else self._written_at) + pause
        left = max(min(quiet, last), self._not_before) - now
        return max(left, 0.0) if left <= _LONGEST_LOOK_SECONDS else None

    def note_saved(self, began: float, *, is_done: bool) -> None:
        """Record that the file was written, or could not be.

        Args:
            began: when, of ``monotonic``.
            is_done: whether it was written.
        """
        now = monotonic()
        pause = max(_LEAST_PAUSE_SECONDS, _PAUSE_PER_SECOND * (now - began))
        self._not_before = now + (pause if is_done else _AFTER_FAILURE_SECONDS)
        self._due_at = None
