"""Memories, results, revisions and links as the page shows them: JSON values of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.display import commands
from oneiros.inspection.differences import differences
from oneiros.search.records import memory_of, memory_record
from oneiros.search.response import readable
from oneiros.store.connections import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.display.tables import DisplayTable
    from oneiros.engine.history import Revision
    from oneiros.engine.memories import Memories
    from oneiros.explain.explanation import Explanation
    from oneiros.explain.why_not import WhyNot
    from oneiros.model.memory import Memory
    from oneiros.search.response import SearchResponse, SearchResult

__all__ = [
    "LISTED_TEXT",
    "MOST_NODES",
    "PAGE_OF_TEXT",
    "graph_record",
    "listed_record",
    "response_record",
    "restore_command",
    "revision_records",
    "score_parts",
    "shown_record",
    "text_page",
    "why_not_record",
]

LISTED_TEXT: Final = 600
"""Characters of a text in a list."""
PAGE_OF_TEXT: Final = 20_000
"""Characters of a text in one response."""
MOST_NODES: Final = 50
"""Memories of a graph."""

_LABEL: Final = 80  # characters of a text next to a node
_VALUE: Final = 2_000  # characters of a former value
_MOST_REVISIONS: Final = 100
_HOPS: Final = 2
_LISTED: Final = (
    *("id", "title", "kind", "status", "session", "user", "project", "agent", "namespace", "tags"),
    *(
        "created_at",
        "event_at",
        "last_accessed_at",
        "access_count",
        "importance",
        "trust",
        "pinned",
    ),
    *("superseded_by", "valid_until"),
)


def text_page(text: str, start: int = 0, length: int = PAGE_OF_TEXT) -> dict[str, Any]:
    """Return a part of a text, where it begins and ends, and the length of the whole.

    All are counted in code points. JavaScript counts some characters twice.
    """
    part = text[start : start + length]
    return {"text": part, "start": start, "end": start + len(part), "length": len(text)}


def listed_record(memory: Memory) -> dict[str, Any]:
    """Return what a list shows of a memory: the beginning of its text, times and origin."""
    record = memory_record(memory)
    listed: dict[str, Any] = {name: record[name] for name in _LISTED}
    listed["title"] = memory.title[:LISTED_TEXT]
    return listed | text_page(memory.text, length=LISTED_TEXT)


def shown_record(memory: Memory) -> dict[str, Any]:
    """Return a memory with all its fields, the first page of its text, and no vector.

    The metadata are a text, as JavaScript rounds whole numbers beyond 2**53.
    """
    return memory_record(memory) | text_page(memory.text) | {"metadata": _json(memory.metadata)}


def restore_command(id: str, path: str) -> str | None:
    """Return the command that restores a memory of a store; None if no shell can run it."""
    return None if path == MEMORY else commands.restore_command(id, path)


# -- search ----------------------------------------------------------------------------------------


def score_parts(explanation: Explanation) -> list[dict[str, Any]]:
    """Return what a score is made of, in order, without what leaves it unchanged.

    Each part has ``name``, ``kind`` ("relevance" or "factor"), ``operation`` ("add" or "multiply"),
    ``value`` and ``gain``: what it adds to the score. The gains add up to the score, but for
    rounding.

    >>> import oneiros
    >>> from oneiros.inspection.records import score_parts
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("green tea", importance=1.0)
    ...     result = engine.search("tea", explain=True).results[0]
    >>> parts = score_parts(result.explanation)
    >>> abs(sum(part["gain"] for part in parts) - result.score) < 1e-9
    True
    """
    share = 1.0 if explanation.divided_by is None else 1.0 / explanation.divided_by
    sources = [(part.name, part.value) for part in explanation.parts]
    parts = [
        _part(name, "relevance", "add", value, value * share)
        for name, value in sources or [("relevance", explanation.relevance)]
    ]
    score = explanation.relevance
    for factor in explanation.factors:
        after = factor.applied_to(score)
        gain = (after - score) * share
        parts.append(_part(factor.name, "factor", factor.operation, factor.value, gain))
        score = after
    return [part for part in parts if part["gain"]]


def _part(name: str, kind: str, operation: str, value: float, gain: float) -> dict[str, Any]:
    return {"name": name, "kind": kind, "operation": operation, "value": value, "gain": gain}


def response_record(response: SearchResponse) -> dict[str, Any]:
    """Return the results of an explained search, and how it went."""
    trace = response.trace
    notes = [f"{stage.name}: {stage.note}" for stage in trace.stages if stage.note]
    return {
        "now": response.now,
        "profile": response.profile,
        "confidence": response.confidence,
        "reason": response.reason,
        "milliseconds": trace.total_ms,
        "notes": [*notes, *trace.notes],
        "results": [
            _result(rank, result, memory)
            for rank, result in enumerate(response.results, start=1)
            if (memory := memory_of(result)) is not None  # or it was forgotten since, or is damaged
        ],
    }


def _result(rank: int, result: SearchResult, memory: Memory) -> dict[str, Any]:
    explanation = result.explanation
    return {
        "rank": rank,
        "id": result.id,
        "score": result.score,
        "path": list(result.path),
        "via_deep_recall": result.via_deep_recall,
        "memory": listed_record(memory),
        "parts": [] if explanation is None else score_parts(explanation),
        "explanation": None if explanation is None else _table(explanation.table()),
    }


def why_not_record(reasons: WhyNot) -> dict[str, Any]:
    """Return why a search returns a memory or not: the verdict, reasons and figures."""
    return {
        "id": reasons.id,
        "verdict": reasons.verdict,
        "is_returned": reasons.is_returned,
        "reasons": [branch.label for branch in reasons.tree().branches],
        "lacked": reasons.lacked,
        "table": _table(reasons.table()),
    }


def _table(table: DisplayTable) -> dict[str, Any]:
    return {"columns": list(table.columns), "rows": [list(row) for row in table.rows]}


# -- one memory ------------------------------------------------------------------------------------


def revision_records(revisions: Sequence[Revision]) -> list[dict[str, Any]]:
    """Return the last revisions of a memory, the newest first, with what changed in each."""
    found: list[dict[str, Any]] = []
    befores = [None, *(revision.memory for revision in revisions[:-1])]
    for revision, before in [*zip(revisions, befores, strict=True)][: -_MOST_REVISIONS - 1 : -1]:
        changes = [] if before is None else _changes(before, revision.memory, revision.changed)
        times = {"recorded_at": revision.recorded_at, "until": revision.until}
        found.append({"revision": revision.revision, **times, "changes": changes})
    return found


def _changes(before: Memory, after: Memory, fields: Iterable[str]) -> list[dict[str, Any]]:
    old, new = memory_record(before), memory_record(after)
    changes: list[dict[str, Any]] = []
    for field in fields:
        if field in ("text", "title"):
            pieces = differences(getattr(before, field), getattr(after, field))
            changes.append({"field": field, "pieces": [_cut(piece) for piece in pieces]})
        elif field == "embedding":
            changes.append({"field": field, "before": None, "after": None})
        else:
            changes.append(
                {"field": field, "before": _short(old[field]), "after": _short(new[field])}
            )
    return changes


def _cut(piece: tuple[str, str]) -> dict[str, Any]:
    change, text = piece
    return {"change": change} | text_page(text, length=_VALUE)


def _short(value: object) -> object:
    """Return a value, or the beginning of its text if that is long."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        value = _json(value)
    text = value if isinstance(value, str) else str(value)
    return value if len(text) <= _VALUE else text[:_VALUE] + "…"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def graph_record(memories: Memories, id: str) -> dict[str, Any]:
    """Return the memories within two links of a memory, heaviest links first, and their links.

    At most :data:`MOST_NODES` memories; ``is_cut`` says whether there are more.

    Raises:
        UnknownMemory: no live memory has the id.
    """
    hops = {id: 0}
    edges: dict[tuple[str, str], dict[str, Any]] = {}
    is_cut = False
    for near in range(_HOPS):
        for one in [known for known, hop in hops.items() if hop == near]:
            links = memories.neighbours(one, limit=MOST_NODES + 1)
            for link in links:
                if link.id not in hops:
                    if len(hops) == MOST_NODES:
                        is_cut = True
                        continue
                    hops[link.id] = near + 1
                ends = (min(one, link.id), max(one, link.id))
                edges[ends] = {
                    "ends": ends,
                    "weight": link.weight,
                    "kind": link.kind,
                    "created_at": link.created_at,
                }
    found = readable(memories.get_many, list(hops))
    nodes = [
        {"id": other, "hop": hop, "kind": memory.kind, "label": memory.text[:_LABEL]}
        for (other, hop), memory in zip(hops.items(), found, strict=True)
        if memory is not None
    ]
    shown = {node["id"] for node in nodes}
    drawn = [edge for ends, edge in edges.items() if shown.issuperset(ends)]
    return {"nodes": nodes, "links": drawn, "is_cut": is_cut}
