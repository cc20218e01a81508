"""Dream cycles as the page shows them: a row a memory, with the reason in words."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.impact import NONE_ALONE
from oneiros.dream.report import RULE_WORDS, held_words, rule_name
from oneiros.errors import StoreCorrupt
from oneiros.inspection.records import LISTED_TEXT, restore_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.dream.impact import Impact, Shift
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport, FieldChange
    from oneiros.engine import Engine

__all__ = ["MOST_ROWS", "cycle_record", "fate_record", "heading_record", "impact_record"]

MOST_ROWS: Final = 300
"""Memories of a cycle that are listed."""

_LONG_TEXT: Final = 200  # characters of a changed value


def heading_record(report: DreamReport) -> dict[str, Any]:
    """Return the counts of a cycle, for a list of cycles."""
    return {
        "id": report.id,
        "now": report.now,
        "profile": report.profile,
        "undoes": report.undoes,
        "undone_by": report.undone_by,
        "damage": report.damage,
        "live_before": report.live_before,
        "live_after": report.live_after,
        "removals": report.removals(),
        "removed": dict(report.removed),
        "change_count": report.change_count,
        "names_memories": bool(report.named),
    }


def cycle_record(engine: Engine, report: DreamReport, path: str) -> dict[str, Any]:
    """Return the counts of a cycle or a plan by phase, and a row for each memory it names.

    Args:
        engine: reads the texts.
        report: of the cycle.
        path: of the store, for the command that restores a memory.
    """
    rows = _rows(report.named)
    listed = list(rows)[:MOST_ROWS]
    texts = _texts(engine, listed)
    return heading_record(report) | {
        "is_dry_run": report.is_dry_run,
        "limit": report.removal_words(),
        "phases": [
            {"name": phase.name, "seconds": phase.seconds, "rules": _rules(phase)}
            for phase in report.phases
        ],
        "left_alone": [
            {"phase": each.phase, "because": held_words(each.reason), "memories": each.memories}
            for each in report.left_alone
        ],
        "rows": [
            _row(id, rows[id], texts.get(id), None if report.is_dry_run else path) for id in listed
        ],
        "row_count": len(rows),
        "changed_since": len(report.changed_since),
        "not_restored": len(report.not_restored),
    }


def fate_record(plan: DreamPlan, id: str) -> dict[str, Any]:
    """Return whether a planned cycle removes a memory, why or why not, and its other changes."""
    changes = list(plan.changes(id=id))
    removal = next((change for change in changes if change.removal), None)
    return {
        "profile": plan.report.profile,
        "now": plan.now,
        "removal": None if removal is None else removal.removal,
        "because": None if removal is None else _because(removal),
        "rule": None if removal is None else removal.rule,
        "protections": [held_words(reason) for reason in plan.protections(id)],
        "changes": [_change(change) for change in changes if not change.removal],
    }


def impact_record(impact: Impact) -> dict[str, Any]:
    """Return which results of some queries a planned cycle changes, with the rules in words."""
    return {
        "k": impact.k,
        "mean_overlap": impact.mean_overlap,
        "lost_by_rule": {rule_name(rule): lost for rule, lost in impact.lost_by_rule().items()},
        "queries": [
            {
                "query": query.query,
                "overlap": query.overlap,
                "shifts": [_shift(shift, query.after) for shift in query.shifts],
            }
            for query in impact.queries
        ],
    }


def _shift(shift: Shift, after: Sequence[str]) -> dict[str, Any]:
    rules = ", ".join(map(rule_name, shift.rules)) or NONE_ALONE
    is_lost = shift.before is not None and shift.id not in after
    ranks = {"before": shift.before, "after": shift.after}
    return {"id": shift.id, **ranks, "is_lost": is_lost, "undone_without": rules}


def _rules(phase: Any) -> list[dict[str, Any]]:
    memories = phase.memory_counts()
    return [
        {
            "rule": rule,
            "words": RULE_WORDS.get(rule, rule),
            "memories": memories.get(rule, 0),
            "fields": dict(fields),
        }
        for rule, fields in phase.changes.items()
    ]


def _rows(changes: Iterable[FieldChange]) -> dict[str, list[FieldChange]]:
    """Return the changes by memory, in the order of the report: removals first."""
    found: dict[str, list[FieldChange]] = {}
    for change in changes:
        found.setdefault(change.id, []).append(change)
    return found


def _row(id: str, changes: list[FieldChange], text: str | None, path: str | None) -> dict[str, Any]:
    removal = next((change for change in changes if change.removal), None)
    first = removal or changes[0]
    command = restore_command(id, path) if removal is not None and path is not None else None
    return {
        "id": id,
        "text": None if text is None else text[:LISTED_TEXT],
        "removal": None if removal is None else removal.removal,
        "because": _because(first),
        "rule": first.rule,
        "restore": command,
        "changes": [_change(change) for change in changes],
    }


def _because(change: FieldChange) -> str:
    return change.because or change.reason or RULE_WORDS.get(change.rule, change.rule)


def _change(change: FieldChange) -> dict[str, Any]:
    return {
        "field": change.field,
        "before": _value(change.before),
        "after": _value(change.after),
        "words": RULE_WORDS.get(change.rule, change.rule),
        "rule": change.rule,
        "phase": change.phase,
    }


def _value(value: Any) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part)[:_LONG_TEXT]
    if not isinstance(value, str):
        return f"{len(value)} numbers"  # an embedding
    return value if len(value) <= _LONG_TEXT else value[:_LONG_TEXT] + "…"


def _texts(engine: Engine, ids: list[str]) -> dict[str, str]:
    """Return the texts of memories by id, deleted ones too, without those that are damaged."""
    try:
        found = [*engine.get_many(ids), *engine.get_deleted(ids)]
    except StoreCorrupt:
        found = []
        for id in ids:
            with suppress(StoreCorrupt):
                found += [*engine.get_many([id]), *engine.get_deleted([id])]
    return {memory.id: memory.text for memory in found if memory is not None}
