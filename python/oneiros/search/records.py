"""Responses as plain records: one shape for ``to_dict``, ``to_json`` and the command's ``--json``."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import needed
from oneiros.display.json_values import plain
from oneiros.errors import StoreCorrupt, UnknownMemory
from oneiros.model.fields import FIELDS
from oneiros.model.memory import iso_time
from oneiros.runtime.dataclasses import asdict

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import pyarrow as pa

    from oneiros.model.memory import Memory
    from oneiros.search.response import SearchResponse, SearchResult

__all__ = ["arrow_table", "data_frame", "kept", "memory_of", "memory_record", "response_record"]

_LAST_MICROSECOND: Final = 2**63 - 1


def response_record(response: SearchResponse) -> dict[str, Any]:
    """Return a response as values that JSON has; see :meth:`SearchResponse.to_dict`."""
    record = {
        "query": response.query,
        "now": iso_time(response.now),
        "profile": response.profile,
        "profile_hash": response.profile_hash,
        "reason": response.reason,
        "confidence": response.confidence,
        "results": [_result_record(*ranked) for ranked in enumerate(response.results, start=1)],
        "trace": asdict(response.trace) | {"total_tokens": response.trace.total_tokens},
    }
    found: dict[str, Any] = plain(record)  # type: ignore[assignment]
    return found


def memory_record(memory: Memory) -> dict[str, object]:
    """Return every field but the vector, only its width; times in ISO 8601."""
    record = memory.to_record(iso=True)
    record.pop("embedding")
    width = None if memory.embedding is None else len(memory.embedding)
    return record | {"embedding_dimension": width}


def _result_record(rank: int, result: SearchResult) -> dict[str, object]:
    explanation, memory = result.explanation, memory_of(result)
    return {
        "rank": rank,
        "id": result.id,
        "score": result.score,
        "relevance_score": result.relevance_score,
        "retention_score": result.retention_score,
        "channels": dict(result.channels),
        "is_associative": result.is_associative,
        "path": list(result.path),
        "via_deep_recall": result.via_deep_recall,
        "memory": None if memory is None else memory_record(memory),
        "explanation": None if explanation is None else asdict(explanation),
    }


def memory_of(result: SearchResult) -> Memory | None:
    """Return the memory of a result; None if it was forgotten after the search, or is damaged."""
    try:
        return result.memory
    except (UnknownMemory, StoreCorrupt):  # the log of the store names what is damaged
        return None


def kept(response: SearchResponse) -> list[tuple[Memory, float]]:
    """Return the memories of a response with their scores, without those that cannot be read."""
    return [
        (memory, result.score)
        for result in response.results
        if (memory := memory_of(result)) is not None
    ]


def arrow_table(response: SearchResponse) -> pa.Table:
    """Return a response as an Arrow table; see :meth:`SearchResponse.to_arrow`."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
    except ImportError as error:
        msg = "to_arrow: needs pyarrow; install oneiros[arrow]"
        raise ImportError(msg) from error
    types: dict[str, pa.DataType] = {
        "rank": pa.int64(),
        "id": pa.string(),
        "score": pa.float64(),
        "relevance_score": pa.float64(),
        "retention_score": pa.float64(),
        "channels": pa.map_(pa.string(), pa.float64()),
    }
    types |= {
        name: _arrow_type(pa, field.kind)
        for name, field in FIELDS.items()
        if name not in ("id", "embedding")
    }
    rows = [_row(*ranked, types) for ranked in enumerate(response.results, start=1)]
    return pa.Table.from_pylist(rows, schema=pa.schema(list(types.items())))


def data_frame(response: SearchResponse) -> pd.DataFrame:
    """Return a response as a pandas data frame; see :meth:`SearchResponse.to_frame`."""
    pandas = needed("pandas", "pandas")
    frame = response.table().to_frame()
    memories = [memory_of(result) for result in response.results]
    fields = {
        "text": [None if memory is None else memory.text for memory in memories],
        "kind": [None if memory is None else memory.kind for memory in memories],
        "created_at": pandas.to_datetime(
            [None if memory is None else memory.created_at for memory in memories],
            unit="s",
            utc=True,
            errors="coerce",
        ),
    }
    for place, (name, values) in enumerate(fields.items(), start=2):
        frame.insert(place, name, values)
    return frame


def _arrow_type(pa: Any, kind: str) -> pa.DataType:
    """Return the Arrow type of a kind of field."""
    types: dict[str, Callable[[], pa.DataType]] = {
        "time": lambda: pa.timestamp("us", tz="UTC"),
        "seconds": pa.float64,
        "float32": pa.float32,
        "int": pa.int64,
        "bool": pa.bool_,
        "words": lambda: pa.list_(pa.string()),
        "word_set": lambda: pa.list_(pa.string()),
        "ids": lambda: pa.list_(pa.string()),
    }
    return types.get(kind, pa.string)()


def _row(rank: int, result: SearchResult, types: dict[str, pa.DataType]) -> dict[str, object]:
    row: dict[str, object] = {
        "rank": rank,
        "id": result.id,
        "score": result.score,
        "relevance_score": result.relevance_score,
        "retention_score": result.retention_score,
        "channels": list(result.channels.items()),
    }
    memory = memory_of(result)
    for name in types if memory is not None else ():
        if name not in row:
            row[name] = _cell(FIELDS[name].kind, getattr(memory, name))
    return row


def _cell(kind: str, value: Any) -> object:
    """Return the value of a field as its Arrow type has it."""
    if kind == "time" and value is not None:
        microseconds = value * 1e6
        is_held = math.isfinite(microseconds) and abs(microseconds) < _LAST_MICROSECOND
        return round(microseconds) if is_held else None
    if kind == "word_set":
        return sorted(value)
    return json.dumps(value, ensure_ascii=False) if kind == "metadata" else value
