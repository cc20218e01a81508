"""Memories that were deleted long enough ago, erased for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import require_utf8, texts
from oneiros.bounded import Bounded
from oneiros.ranking.declaration import require_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.bounded import Time
    from oneiros.memory import Memory

__all__ = ["Purging"]

_DAY = 86_400.0


class Purging(Bounded):
    """Memories whose deleted ones can be erased."""

    def purge(self, older_than_days: float = 30.0, *, now: Time | None = None) -> int:
        """Erase for good what was soft-deleted long enough ago, by cycles or by anybody.

        Until then ``restore`` brings it back. Erased is what :meth:`forget` erases: text, vector,
        links, log and snapshot.

        Args:
            older_than_days: the deletion is more than so many days ago, >= 0.
            now: the clock, as in :meth:`add`.

        Returns:
            How many memories were erased.

        Raises:
            ValueError, TypeError: an argument is out of its range, or no number.
            StoreBusy: as :meth:`forget`.
        """
        return self._parts.remember.purge(self._before(older_than_days, now))

    def purgeable(self, older_than_days: float = 30.0, *, now: Time | None = None) -> list[str]:
        """Return the ids of the memories that :meth:`purge` would erase, in order of insertion.

        Args:
            older_than_days: the deletion is more than so many days ago, >= 0.
            now: the clock, as in :meth:`add`.

        Raises:
            ValueError, TypeError: an argument is out of its range, or no number.
        """
        before = self._before(older_than_days, now)
        with self._parts.store.read() as reading:
            numbers = reading.deleted_before(before)
            found = reading.of_sequences(numbers, on_damage=self._parts.remember.note_damage)
            return [memory.id for batch in found for memory in batch]

    def get_deleted(self, ids: Sequence[str]) -> list[Memory | None]:
        """Return what was soft-deleted, in the order of the ids; None where there is no such memory.

        Raises:
            TypeError, ValueError: an id is no text.
        """
        wanted = texts("ids", ids)
        for place, id in enumerate(wanted):
            require_utf8(f"ids[{place}]", id)
        return [
            memory if memory is not None and memory.deleted_at is not None else None
            for memory in self._load_seen(wanted)
        ]

    def _before(self, older_than_days: float, now: Time | None) -> float:
        days = require_number("older_than_days", older_than_days, low=0.0)
        return self._now(now) - days * _DAY
