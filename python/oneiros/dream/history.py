"""The reports of a store's dream cycles, the cycle that a crash interrupted, and checks of both."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from oneiros.dream import report_record, undo_log
from oneiros.dream.kept_contents import require_sense
from oneiros.dream.report_record import is_clock, stored_report
from oneiros.errors import StoreCorrupt
from oneiros.store.reading import MOST_REVISIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oneiros.dream.lock import Begun
    from oneiros.dream.report import DreamReport
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.store import Reading
    from oneiros.store.cycles import StoredCycle

__all__ = ["interrupted", "log_interrupted", "noted_top", "problems_of_cycles", "reports"]


_log = logging.getLogger(__name__)


def reports(scope: Scope, most: int) -> Iterator[DreamReport]:
    """Yield at most so many reports, the newest first; each is decoded when it is its turn."""
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
    for cycle in cycles:
        yield report_record.stored_report(cycle)


def noted_top(scope: Scope, most: int) -> list[str] | None:
    """Return the ids of the memories recalled most, as the last of so many reports notes them.

    Returns:
        None where none of the reports notes any.
    """
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
    found = (report_record.noted_top(cycle) for cycle in cycles)
    return next((top for top in found if top is not None), None)


def interrupted(services: EngineServices) -> Begun | None:
    """Return the cycle that a crash ended before it was applied; None where there is none."""
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
    """Return what is wrong with what cycles left in the store, as sentences; empty for nothing.

    Args:
        reading: one state of the store.
    """
    found: list[str] = []
    try:
        for cycle in reading.cycles.every_dream_cycle():
            report = stored_report(cycle)
            found += [f"dream cycle {report.id!r}: {one}" for one in _wrong(reading, cycle)]
            if report.damage:
                found.append(f"dream cycle {report.id!r}: its report is damaged ({report.damage})")
        found += reading.cycles.dream_orphans()
    except StoreCorrupt as error:
        found.append(f"dream cycles: {error}")
    return found


def _wrong(reading: Reading, cycle: StoredCycle) -> Iterator[str]:
    if cycle.number < 1 or cycle.number > MOST_REVISIONS:
        yield f"its number is {cycle.number}"
    if cycle.revision < 1 or cycle.revision > MOST_REVISIONS:
        yield f"its revision is {cycle.revision}"
    if not is_clock(cycle.dreamed_at):
        yield f"its clock is {cycle.dreamed_at}"

    def changes() -> None:
        held: Any = reading.cycles.dream_changes(cycle.number)
        if held is not None:
            undo_log.decoded(held)

    def contents() -> None:
        require_sense(reading.cycles.dream_contents(cycle.number))

    yield from _raised(changes)
    yield from _raised(contents)


def _raised(look: Callable[[], None]) -> Iterator[str]:
    try:
        look()
    except StoreCorrupt as error:
        yield str(error)
