"""Reports of a store's dream cycles, the interrupted cycle, and checks of the stored cycles."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from oneiros.dream import undo_log
from oneiros.dream.report import DreamReport, FieldChange, PhaseReport, hints_of
from oneiros.dream.undo_log import is_clock
from oneiros.errors import StoreCorrupt
from oneiros.runtime.dataclasses import replace
from oneiros.store.reading import MOST_REVISIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from oneiros.dream.lock import Begun
    from oneiros.engine.scope import EngineServices, Scope
    from oneiros.store import Reading
    from oneiros.store.cycles import StoredCycle

__all__ = [
    "interrupted",
    "log_interrupted",
    "noted_top",
    "problems_of_cycles",
    "reports",
    "stored_report",
]


_log = logging.getLogger(__name__)


def reports(scope: Scope, most: int) -> Iterator[DreamReport]:
    """Yield up to ``most`` reports, the newest first; each is decoded on demand."""
    with scope.services.store.read() as reading:
        cycles = reading.cycles.dream_cycles(most)
        undone_by = reading.cycles.undoings()
        undoable = reading.cycles.undoable_numbers()
    for cycle in cycles:
        yield replace(
            stored_report(cycle),
            undone_by=undone_by.get(cycle.id),
            is_undoable=cycle.number in undoable and cycle.id not in undone_by,
        )


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
        undo_log.require_contents(reading.cycles.dream_contents(cycle.number))

    for check in (changes, contents):
        try:
            check()
        except StoreCorrupt as error:
            yield str(error)


_DRIFT: Final[Mapping[str, Any]] = {
    "live": int,
    "stale_share": float,
    "half_life_days": Mapping[str, float | None],
    "access_gini": float,
    "top": tuple[str, ...],
    "churn": float | None,
}
_LATER: Final[Mapping[type, frozenset[str]]] = {
    FieldChange: frozenset({"reason", "because"}),
    PhaseReport: frozenset({"memories"}),
    DreamReport: frozenset(
        (
            *("taken_away", "taken_shown", "shown_before", "taken_before", "brought_back"),
            *("brought_back_shown", "day_limit", "removed", "drift", "decay", "damage"),
            *("undone_by", "is_undoable"),
        )
    ),
}
"""Fields that reports of earlier versions lack."""
_TEXT_OR_NONE: Final = (str, type(None))


def _require_report(record: Any) -> None:
    """Check that a value is the record of a report; the error names the field."""
    _require("report", record, DreamReport)
    for phase in record["phases"]:
        if not all(phase["changes"].values()):
            msg = f"phase {phase['name']!r}: a rule that changed no field"
            raise ValueError(msg)
    for counts in record["distributions"]:
        if not len(counts["places"]) == len(counts["before"]) == len(counts["after"]):
            msg = f"distribution {counts['name']!r}: not one count for each place"
            raise ValueError(msg)
    for curve in record.get("decay", ()):
        if len(curve["days"]) != len(curve["values"]):
            msg = f"decay of {curve['kind']!r}: not one value for each day"
            raise ValueError(msg)
    if drift := record.get("drift"):
        _require_drift(drift)


def _require_drift(record: Any) -> None:
    """Check that a value is the record of a report's drift; the error names the field."""
    _require_named("drift", record, _DRIFT)


def _require(name: str, value: Any, hint: Any) -> None:
    """Check a JSON value against the type of a report's field."""
    origin, kinds = _parts_of(hint)
    if origin is tuple:
        _require_type(name, value, list)
        kind = kinds[0]
        # A report has up to a thousand changes and hundreds of counts, checked in fast steps.
        is_change_list = kind is FieldChange
        for item in () if _are_all(value, kind) else value:
            if not (is_change_list and _is_change(item)):
                _require(name, item, kind)
    elif origin is Mapping:
        _require_type(name, value, dict)
        for key, item in () if _are_all(value.values(), kinds[1]) else value.items():
            _require(key, item, kinds[1])
    elif origin is UnionType:
        if value is not None:
            _require(name, value, kinds[0])
    elif hasattr(hint, "__dataclass_fields__"):
        _require_named(name, value, hints_of(hint), _LATER.get(hint, ()))
    else:
        _require_type(name, value, object if hint is Any else hint)


@cache
def _parts_of(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


def _are_all(values: Collection[Any], kind: Any) -> bool:
    """Whether all values are of a plain type; if not, :func:`_require` raises the error."""
    kinds = set(map(type, values))
    if kind is int:
        return kinds <= {int} and min(values, default=0) >= 0
    if kind is float:
        return kinds <= {int, float} and all(map(math.isfinite, values))
    return kind is str and kinds <= {str}


def _is_change(value: Any) -> bool:
    """Whether a value is a record of a change; if not, :func:`_require` raises the error."""
    if type(value) is not dict:
        return False
    get = value.get
    return (
        type(get("id")) is type(get("field")) is type(get("phase")) is type(get("rule")) is str
        and "before" in value
        and "after" in value
        and _is_finite(value["before"])
        and _is_finite(value["after"])
        and type(get("reason")) in _TEXT_OR_NONE
        and type(get("because")) in _TEXT_OR_NONE
    )


def _is_finite(value: Any) -> bool:
    """Whether a JSON value is no NaN and no infinity."""
    return not isinstance(value, float) or math.isfinite(value)


def _require_named(
    name: str, value: Any, hints: Mapping[str, Any], optional: Collection[str] = ()
) -> None:
    _require_type(name, value, dict)
    for key, hint in hints.items():
        if key in value:
            _require(key, value[key], hint)
        elif key not in optional:
            msg = f"{name}: has no {key}"
            raise ValueError(msg)


def _require_type(name: str, value: Any, kind: type) -> None:
    """Check the type of a value; a bool is no number, and an int is at least 0."""
    is_flag = isinstance(value, bool)
    if kind is float:
        fits = isinstance(value, (int, float)) and not is_flag and math.isfinite(value)
    elif kind is int:
        fits = isinstance(value, int) and not is_flag and value >= 0
    else:
        fits = isinstance(value, kind) and _is_finite(value)
    if not fits:
        msg = f"{name}: must be {kind.__name__}, got {value!r:.80}"
        raise TypeError(msg)


def stored_report(cycle: StoredCycle) -> DreamReport:
    """Return the report of a cycle.

    If the record is damaged, the report has id, clock and ``undoes`` from the other columns of the
    row, as far as they are valid, and ``damage`` describes the error.
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
    """Return the ids of the most recalled memories, as noted by a cycle.

    None if it noted none or its report is damaged. The rest of the report is not validated, to be
    fast: every cycle reads this from the previous one, which may name a thousand changes.
    """
    if not cycle.is_whole:
        return None
    try:
        record = json.loads(cycle.report)
        if not record["drift"]:
            return None
        _require_drift(record["drift"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    top: list[str] = record["drift"]["top"]
    return top


def _read(cycle: StoredCycle) -> DreamReport:
    cycle.report.encode()  # refuses what was not UTF-8
    record = json.loads(cycle.report)
    _require_report(record)
    report = DreamReport.from_record(record)
    if (report.id, report.now, report.undoes) != (cycle.id, cycle.dreamed_at, cycle.undoes):
        msg = "it is not of this cycle: id, clock or what it undid are others"
        raise ValueError(msg)
    if not cycle.is_whole:
        msg = "the checksum is another"
        raise ValueError(msg)
    return report


def _shown(text: str) -> str:
    return text.encode(errors="replace").decode()
