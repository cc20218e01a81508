"""Names of memory operations in OpenTelemetry, shared by spans and metrics.

Source: the span ``gen_ai.memory.client`` of open-telemetry/semantic-conventions-genai, v0.1.0 (in
development there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros.dream.plan import DreamPlan
from oneiros.dream.report import DreamReport

if TYPE_CHECKING:
    from oneiros.engine.observers import Event

__all__ = ["CYCLES", "cycle_attributes", "operation_of"]

_OPERATIONS: Final[Mapping[str, str]] = {
    "open": "create_memory_store",
    "search": "search_memory",
    "search_many": "search_memory",
    **dict.fromkeys(("add", "add_many"), "create_memory"),
    **dict.fromkeys(("delete", "sweep_expired", "forget", "forget_many", "purge"), "delete_memory"),
    "dream": "oneiros.dream",
    "apply": "oneiros.dream",
    "undo_dream": "oneiros.undo_dream",
    "embed_missing": "oneiros.embed",
    "reembed": "oneiros.embed",
}
CYCLES: Final = ("dream", "apply", "undo_dream")
"""The methods that run or take back a dream cycle."""


def operation_of(method: str, events: Sequence[Event] = ()) -> str:
    """Return the operation of a method of the engine.

    An ``add`` that updated an existing memory is "upsert_memory". The convention has no name for
    dream cycles and new vectors, which are "oneiros.dream", "oneiros.undo_dream" and
    "oneiros.embed". All else that writes is "update_memory".

    Args:
        method: the name of the method, or "open" or "apply".
        events: the events of the call, once it ended.
    """
    operation = _OPERATIONS.get(method, "update_memory")
    if operation == "create_memory" and any(event.kind == "update" for event in events):
        return "upsert_memory"
    return operation


def cycle_attributes(result: object) -> dict[str, Any]:
    """Return what a dream cycle, its plan or its undoing says of itself, without texts and ids."""
    report = result.report if isinstance(result, DreamPlan) else result
    if not isinstance(report, DreamReport):
        return {}
    return {
        "oneiros.profile": report.profile,
        "oneiros.profile_hash": report.profile_hash,
        "oneiros.dream.id": report.id,
        "oneiros.dream.dry_run": report.is_dry_run,
        "oneiros.dream.changes": report.change_count,
        "oneiros.dream.removed": report.taken_away,
        "oneiros.dream.live_before": report.live_before,
        "oneiros.dream.live_after": report.live_after,
    }
