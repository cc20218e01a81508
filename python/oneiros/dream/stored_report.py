"""The report of a cycle as the store has it, damaged or not."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from oneiros.dream.report import DreamReport
from oneiros.dream.report_record import require_drift, require_report
from oneiros.field_checks import LAST_MOMENT

if TYPE_CHECKING:
    from oneiros.store.cycle_reading import StoredCycle

__all__ = ["is_clock", "noted_top", "stored_report"]


def stored_report(cycle: StoredCycle) -> DreamReport:
    """Return the report of a cycle.

    Of one that is damaged, its id, clock and what it undid, as far as the store has these beside it,
    and in ``damage`` what is wrong.
    """
    try:
        return _read(cycle)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        return DreamReport(
            id=_shown(cycle.id),
            now=cycle.dreamed_at if is_clock(cycle.dreamed_at) else 0.0,
            profile="",
            profile_hash="",
            is_dry_run=False,
            undoes=None if cycle.undoes is None else _shown(cycle.undoes),
            damage=_shown(str(error) or type(error).__name__),
        )


def noted_top(cycle: StoredCycle) -> list[str] | None:
    """Return the memories recalled most, as a cycle noted them.

    None where it noted none, or its report is damaged. The rest of the report is not looked at: every
    cycle asks this of the one before, and the changes that it names are a thousand.
    """
    if not cycle.is_whole:
        return None
    try:
        record = json.loads(cycle.report)
        if not record["drift"]:
            return None
        require_drift(record["drift"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    top: list[str] = record["drift"]["top"]
    return top


def is_clock(seconds: float) -> bool:
    """Whether a cycle can have had this clock."""
    return math.isfinite(seconds) and seconds <= LAST_MOMENT


def _read(cycle: StoredCycle) -> DreamReport:
    cycle.report.encode()  # refuses what was not UTF-8
    record = json.loads(cycle.report)
    require_report(record)
    report = DreamReport.from_record(record)
    held = (cycle.id, cycle.dreamed_at, cycle.undoes)
    if (report.id, report.now, report.undoes) != held:
        msg = "it is not of this cycle: id, clock or what it undid are others"
        raise ValueError(msg)
    if not cycle.is_whole:
        msg = "the checksum is another"
        raise ValueError(msg)
    return report


def _shown(text: str) -> str:
    return text.encode(errors="replace").decode()
