"""The reports of a store's dream cycles, and the cycle that a crash interrupted."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from oneiros.dream import stored_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oneiros.dream.lock import Begun
    from oneiros.dream.report import DreamReport
    from oneiros.engine.scope import EngineServices, Scope

__all__ = ["interrupted", "log_interrupted", "noted_top", "reports"]

_log = logging.getLogger(__name__)


def reports(scope: Scope, most: int) -> Iterator[DreamReport]:
    """Yield at most so many reports, the newest first; each is decoded when it is its turn."""
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
    for cycle in cycles:
        yield stored_report.stored_report(cycle)


def noted_top(scope: Scope, most: int) -> list[str] | None:
    """Return the ids of the memories recalled most, as the last of so many reports notes them.

    Returns:
        None where none of the reports notes any.
    """
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
    found = (stored_report.noted_top(cycle) for cycle in cycles)
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
