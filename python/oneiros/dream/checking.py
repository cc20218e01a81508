"""The history of cycles looked through for damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.dream import ledger
from oneiros.dream.kept_contents import require_sense
from oneiros.dream.stored_report import is_clock, stored_report
from oneiros.errors import StoreCorrupt
from oneiros.store.reading import MOST_REVISIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oneiros.store import Reading
    from oneiros.store.cycle_reading import StoredCycle

__all__ = ["problems_of_cycles"]


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
            ledger.decoded(held)

    def contents() -> None:
        require_sense(reading.cycles.dream_contents(cycle.number))

    yield from _raised(changes)
    yield from _raised(contents)


def _raised(look: Callable[[], None]) -> Iterator[str]:
    try:
        look()
    except StoreCorrupt as error:
        yield str(error)
