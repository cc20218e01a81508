"""What leaves the ranked candidates, by definition: docs/systems/omega.md O26, O27; house.md H7."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tests.oracles import texts
from tests.oracles.records import Record


def cosine_of(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors."""
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return dot / (math.hypot(*one) * math.hypot(*other))


def are_alike(one: Record, other: Record) -> bool:
    """O26: the same first 150 normalised characters, or a cosine of 0.92."""
    if texts.begins_alike(one["text"], other["text"]):
        return True
    left, right = one.get("embedding"), other.get("embedding")
    return left is not None and right is not None and cosine_of(left, right) >= 0.92


def is_near(query: str, record: Record, cosine: float | None, score: float) -> bool:
    """O27: what vectors found needs 0.5 or overlap, all else overlap; and a score of 0.1."""
    overlaps = texts.overlap(query, record["text"], record.get("tags", ())) >= 0.35
    return (overlaps or (cosine is not None and cosine >= 0.5)) and score >= 0.10


def surfaced(
    query: str,
    ranked: Sequence[tuple[str, float]],
    records: Mapping[str, Record],
    cosines: Mapping[str, float],
    k: int,
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the ids that stay of (id, score), and those left out with all the better ones alike.

    Args:
        query: the question.
        ranked: best first.
        records: by id.
        cosines: of what the vector channel found.
        k: most to return.
    """
    kept: list[str] = []
    left: dict[str, list[str]] = {}
    for id, score in ranked:
        if len(kept) == k:
            break
        if not is_near(query, records[id], cosines.get(id), score):
            continue
        better = [one for one in kept if are_alike(records[one], records[id])]
        if better:
            left[id] = better
        else:
            kept.append(id)
    return kept, left


def is_weak(query: str, cosines: Sequence[float], held: Sequence[str]) -> bool:
    """H7: the best cosine under 0.25, and fewer than half of the words in what was found."""
    words = list(dict.fromkeys(map(texts.cut, texts.words(query))))
    if not cosines or max(cosines) >= 0.25 or not words:
        return False
    found = "\n".join(map(texts.normal, held))
    return sum(word in found for word in words) < len(words) / 2
