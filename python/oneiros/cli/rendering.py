"""Answers as tables for people and as JSON values for machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Container
from typing import TYPE_CHECKING

from oneiros.cli.terminal import text
from oneiros.display import day
from oneiros.visible_text import snippet

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from oneiros.memory import Memory
    from oneiros.search.response import SearchResponse, SearchResult

__all__ = ["memory_document", "response_document", "results_table", "summary", "told"]

SNIPPET = 160  # characters of a text in a table
TEXT_ROOM = 50  # columns for rank, text and score
FIGURE_ROOM = 9  # columns for one figure and the space before it


def results_table(
    response: SearchResponse, width: int, *, right: Container[str] = frozenset()
) -> Table:
    """Return the results, one a row; with explanations also each channel's rank and each factor.

    Args:
        response: the answer; its memories are read here.
        width: columns of the terminal; where the figures would leave the texts too little room,
            they stand below each text instead.
        right: ids known to answer the question, marked as such.
    """
    from rich import box  # noqa: PLC0415  (--json needs no rich)
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", no_wrap=True)
    table.add_column("memory", ratio=1, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    channels, factors = _explained(response)
    is_wide = width >= TEXT_ROOM + FIGURE_ROOM * len((*channels, *factors))
    for name in (*channels, *factors) if is_wide else ():
        # One word a line, so that the column stays as narrow as its numbers.
        table.add_column(text(name.replace("_", "\n")), justify="right", no_wrap=True)
    for rank, result in enumerate(response.results, start=1):
        figures = (*_ranks(result, channels), *_values(result, factors))
        shown = told(result)
        if figures and not is_wide:
            pairs = zip((*channels, *factors), figures, strict=True)
            named = ", ".join(f"{name} {figure}" for name, figure in pairs)
            shown.append_text(text(f"\n{named}", style="dim"))
        mark = " ✓" if result.id in right else ""
        table.add_row(f"{rank}{mark}", shown, f"{result.score:.5f}", *(figures if is_wide else ()))
    return table


def told(result: SearchResult) -> Text:
    """Return what a result is: the beginning of its text, then id, kind and day; it is read here."""
    from rich.text import Text  # noqa: PLC0415

    memory = result.memory
    occurred = memory.created_at if memory.event_at is None else memory.event_at
    title = f"{snippet(memory.title, SNIPPET)}: " if memory.title else ""
    kind, id = snippet(memory.kind, SNIPPET), snippet(result.id, SNIPPET)
    return Text.assemble(
        text(title, style="bold"),
        text(snippet(memory.text, SNIPPET)),
        text(f"\n{id}  {kind}  {day(occurred)}", style="dim"),
    )


def summary(response: SearchResponse) -> str:
    """Return one line: how many, how long, by which profile, and what was left out or odd."""
    trace = response.trace
    empty = (stage for stage in trace.stages if stage.note and not stage.survivor_count)
    notes = [f"{stage.name}: {stage.note}" for stage in empty]
    count = len(response.results)
    head = f"{count} result{'' if count == 1 else 's'} in {trace.total_ms:.1f} ms"
    noted = "; ".join((*notes, *trace.notes))
    return f"{head}, profile {response.profile}" + (f" ({noted})" if noted else "")


def response_document(response: SearchResponse) -> dict[str, object]:
    """Return the whole answer as JSON values; memories without their vectors."""
    return {
        "query": response.query,
        "now": response.now,
        "profile": response.profile,
        "profile_hash": response.profile_hash,
        "results": [_result_document(*ranked) for ranked in enumerate(response.results, start=1)],
        "trace": dataclasses.asdict(response.trace) | {"total_tokens": response.trace.total_tokens},
    }


def memory_document(memory: Memory) -> dict[str, object]:
    """Return every field but the vector, of which only the width is told; times in ISO 8601."""
    record = memory.to_record(iso=True)
    record.pop("embedding")
    width = None if memory.embedding is None else len(memory.embedding)
    return record | {"embedding_dimension": width}


def _result_document(rank: int, result: SearchResult) -> dict[str, object]:
    explanation = result.explanation
    return {
        "rank": rank,
        "id": result.id,
        "score": result.score,
        "relevance_score": result.relevance_score,
        "retention_score": result.retention_score,
        "is_associative": result.is_associative,
        "path": list(result.path),
        "via_deep_recall": result.via_deep_recall,
        "memory": memory_document(result.memory),
        "explanation": None if explanation is None else dataclasses.asdict(explanation),
    }


def _explained(response: SearchResponse) -> tuple[list[str], list[str]]:
    """Return the names of channels and factors, in their order; none without explanations."""
    channels: dict[str, None] = {}
    factors: dict[str, None] = {}
    for result in response.results:
        if result.explanation is not None:
            channels.update(dict.fromkeys(score.name for score in result.explanation.channels))
            factors.update(dict.fromkeys(value.name for value in result.explanation.factors))
    return list(channels), list(factors)


def _ranks(result: SearchResult, channels: list[str]) -> list[str]:
    scores = () if result.explanation is None else result.explanation.channels
    ranks = {score.name: score.rank for score in scores}
    return ["-" if ranks.get(name) is None else str(ranks[name]) for name in channels]


def _values(result: SearchResult, factors: list[str]) -> list[str]:
    held = () if result.explanation is None else result.explanation.factors
    values = {factor.name: factor.value for factor in held}
    return [f"{values[name]:.3f}" if name in values else "-" for name in factors]
