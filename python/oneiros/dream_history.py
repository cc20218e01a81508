"""What dream cycles did to a store so far, and which of them a crash cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import count
from oneiros.bounded import Bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oneiros.dream.drift_over import Drift
    from oneiros.dream.lock import Begun
    from oneiros.dream.report import DreamReport

__all__ = ["DreamHistory"]


class DreamHistory(Bounded):
    """Memories whose dream cycles can be told."""

    def dreams(self, limit: int = 20) -> list[DreamReport]:
        """Return the reports of the last cycles, the newest first, undoings among them.

        What memories said is not in them. Those of cycles that can no longer be undone count what
        changed, and name nothing.

        Args:
            limit: at most so many, >= 0.

        Returns:
            Of a cycle whose report is damaged, what else is known of it, and ``damage`` says what is
            wrong; it can be undone all the same.

        Raises:
            ValueError, TypeError: ``limit`` is out of its range, or no int.
        """
        return list(self._reports(count("limit", limit, low=0)))

    def drift(self, limit: int = 20) -> Drift:
        """Return how the store drifts: figures of the last cycles, side by side.

        The share that is as stale as what is pruned, the half-life of each kind, how concentrated
        accesses are, how much the memories recalled most changed.

        Args:
            limit: of at most so many reports, undoings among them, >= 0.

        Returns:
            :class:`oneiros.dream.drift_over.Drift`, the oldest cycle first; without those whose
            report is damaged.

        Raises:
            ValueError, TypeError: as :meth:`dreams`.

        Source: docs/systems/reverie.md R19.
        """
        from oneiros.dream.drift_over import drift_over  # noqa: PLC0415 - a search dreams not

        return drift_over(self._reports(count("limit", limit, low=0)))

    def _noted_top(self, most: int) -> list[str] | None:
        """Return the memories recalled most as the last of so many reports notes them; else None."""
        from oneiros.dream.stored_report import noted_top  # noqa: PLC0415 - a search dreams not

        with self._parts.store.read() as reading:
            cycles = reading.dream_cycles(most)
        found = (noted_top(cycle) for cycle in cycles)
        return next((top for top in found if top is not None), None)

    def _reports(self, most: int) -> Iterator[DreamReport]:
        """Yield the last reports, the newest first; what is not asked for is not decoded."""
        from oneiros.dream.stored_report import stored_report  # noqa: PLC0415 - a search dreams not

        with self._parts.store.read() as reading:
            cycles = reading.dream_cycles(most)
        for cycle in cycles:
            yield stored_report(cycle)

    def interrupted_dream(self) -> Begun | None:
        """Return the cycle that a crash ended before it was applied; None where there is none.

        Nothing of it is in the store. The next cycle takes its place.
        """
        begun = self._parts.cycles.interrupted()
        if begun is None:
            return None
        with self._parts.store.read() as reading:
            return None if reading.dream_cycle(begun.id) is not None else begun

    def _tell_interrupted(self) -> None:
        """Say in the log which cycle a crash ended."""
        if self._shared.cycles.is_clean:
            return
        begun = self.interrupted_dream()
        if begun is not None:
            import logging  # noqa: PLC0415 - nothing to say, as a rule

            logging.getLogger(__name__).warning(
                "%s: the dream cycle %s was cut off; nothing of it was applied",
                self._shared.store.path,
                begun.id,
            )
