"""Reports of a store's dream cycles, the interrupted cycle, and checks of the stored cycles."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from oneiros.dream import undo_log
from oneiros.dream.kept_contents import require_valid
from oneiros.dream.report_record import is_clock, stored_report
from oneiros.errors import StoreCorrupt
from oneiros.store.reading import MOST_REVISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oneiros.dream.lock import Begun
    from oneiros.dream.report import DreamReport
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.store import Reading
    from oneiros.store.cycles import StoredCycle

__all__ = ["interrupted", "log_interrupted", "problems_of_cycles", "reports"]


_log = logging.getLogger(__name__)


def reports(scope: Scope, most: int) -> Iterator[DreamReport]:
    """Yield up to ``most`` reports, the newest first; each is decoded on demand."""
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
    yield from map(stored_report, cycles)


def interrupted(services: EngineServices) -> Begun | None:
    """Return the cycle that a crash interrupted before it was applied, or None."""
    begun = services.cycles.interrupted()
    if begun is None:
        return None
    with services.store.read() as reading:
        return None if reading.cycles.dream_cycle(begun.id) is not None else begun


def log_interrupted(services: EngineServices) -> None:
    """Log a warning about the cycle that a crash interrupted, if there is one."""
    begun = interrupted(services)
    if begun is not None:
        _log.warning(
            "%s: the dream cycle %s was cut off; nothing of it was applied",
            services.store.path,
            begun.id,
        )


def problems_of_cycles(reading: Reading) -> list[str]:
    """Return the problems of the stored cycles as sentences; empty if there are none.

    Args:
        reading: one state of the store.
    """
    found: list[str] = []
    try:
        for cycle in reading.cycles.every_dream_cycle():
            report = stored_report(cycle)
            found += [f"dream cycle {report.id!r}: {text}" for text in _problems(reading, cycle)]
            if report.damage:
                found.append(f"dream cycle {report.id!r}: its report is damaged ({report.damage})")
        found += reading.cycles.dream_orphans()
    except StoreCorrupt as error:
        found.append(f"dream cycles: {error}")
    return found


def _problems(reading: Reading, cycle: StoredCycle) -> Iterator[str]:
    if cycle.number < 1 or cycle.number > MOST_REVISIONS:
        yield f"its number is {cycle.number}"
    if cycle.revision < 1 or cycle.revision > MOST_REVISIONS:
        yield f"its revision is {cycle.revision}"
    if not is_clock(cycle.dreamed_at):
        yield f"its clock is {cycle.dreamed_at}"

    def changes() -> None:
        blob: Any = reading.cycles.dream_changes(cycle.number)
        if blob is not None:
            undo_log.decoded(blob)

    def contents() -> None:
        require_valid(reading.cycles.dream_contents(cycle.number))

    for check in (changes, contents):
        try:
            check()
        except StoreCorrupt as error:
            yield str(error)
