"""A reranker that judges by letters, and what its scores do: cognitive.md C8, omega.md O25."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence

from tests.oracles.omega import rerank_boost
from tests.oracles.records import Record

__all__ = ["boosted", "letters", "opinion", "reordered"]


def opinion(text: str) -> float:
    """Return some score of a text, the same whatever the order of its letters; NaN of some."""
    number = zlib.crc32("".join(sorted(text.replace(" ", ""))).encode()) % 97
    return math.nan if number % 7 == 0 else number / 8


def letters(record: Record) -> str:
    """Return what is judged of a memory."""
    return f"{record.get('title', '')} {record['text']}"


def reordered(ids: Sequence[str], records: Mapping[str, Record], top: int) -> list[str]:
    """C8: the first in the order of their scores; what has none keeps its place, ties their order."""
    first = list(ids[:top])
    scored = {id: opinion(letters(records[id])) for id in first}
    rest = iter(
        sorted((id for id in first if scored[id] == scored[id]), key=lambda id: -scored[id])
    )
    return [id if math.isnan(scored[id]) else next(rest) for id in first] + list(ids[top:])


def boosted(ids: Sequence[str], records: Mapping[str, Record], top: int = 20) -> dict[str, float]:
    """O25: what each of the first is multiplied by, after its rank and its share of the scores."""
    scored = {id: opinion(letters(records[id])) for id in ids[:top]}
    known = [score for score in scored.values() if not math.isnan(score)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return {
        id: rerank_boost(rank, (score - low) / (high - low) if high > low else 0.0 * score)
        for rank, (id, score) in enumerate(scored.items(), start=1)
    }
