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
    """O26: the same first 150 characters of the canonical form, or a cosine of 0.92."""
    if texts.begins_alike(one["text"], other["text"]):
        return True
    left, right = one.get("embedding"), other.get("embedding")
    return left is not None and right is not None and cosine_of(left, right) >= 0.92


Ease = tuple[float, float]
"""What is left of the least cosine and overlap, and of the least score."""
FIRST: Ease = (1.0, 1.0)
AGAIN: Ease = (0.6, 0.5)
"""O28."""


def is_near(query: str, record: Record, cosine: float | None, ease: Ease = FIRST) -> bool:
    """O27: what vectors found needs 0.5 or overlap, all else overlap, if the query has words."""
    if cosine is None and not texts.words_apart(query):
        return True
    overlaps = texts.overlap(query, record["text"], record.get("tags", ())) >= 0.35 * ease[0]
    return overlaps or (cosine is not None and cosine >= 0.5 * ease[0])


def surfaced(
    query: str,
    ranked: Sequence[tuple[str, float]],
    records: Mapping[str, Record],
    cosines: Mapping[str, float],
    k: int,
    ease: Ease = FIRST,
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the ids that stay of (id, score), and those left out with all the better ones alike.

    O27's first two sentences, then O26 until k are found, then O27's least score of 0.1.

    Args:
        query: the question.
        ranked: best first.
        records: by id.
        cosines: of what the vector channel found.
        k: most to return.
        ease: what is asked.
    """
    kept: list[str] = []
    left: dict[str, list[str]] = {}
    scores = dict(ranked)
    for id, _ in ranked:
        if len(kept) == k:
            break
        if not is_near(query, records[id], cosines.get(id), ease):
            continue
        better = [one for one in kept if are_alike(records[one], records[id])]
        if better:
            left[id] = better
        else:
            kept.append(id)
    return [id for id in kept if scores[id] >= 0.1 * ease[1]], left


def confidence_of(
    query: str,
    kept: Sequence[str],
    records: Mapping[str, Record],
    cosines: Mapping[str, float],
    k: int,
) -> float:
    """O28: over the first three, or k, the mean of the better of cosine and share of words."""
    count = min(3, k)
    near = [
        max(min(max(cosines.get(id, 0.0), 0.0), 1.0), texts.word_ratio(query, records[id]["text"]))
        for id in kept[:count]
    ]
    return math.fsum(near) / count


def surfaced_at_last(
    query: str,
    ranked: Sequence[tuple[str, float]],
    records: Mapping[str, Record],
    found: Mapping[str, float],
    cosines: Mapping[str, float],
    k: int,
) -> tuple[list[str], dict[str, list[str]], float | None]:
    """Return what :func:`surfaced` does, asked once more where the confidence is below 0.3. O28.

    Args:
        query: the question.
        ranked: best first, whatever is asked.
        records: by id.
        found: cosines of what the vector channel found.
        cosines: of all.
        k: most to return.
    """
    kept, left = surfaced(query, ranked, records, found, k)
    if not k:
        return kept, left, None
    sure = confidence_of(query, kept, records, cosines, k)
    if sure < 0.3:
        kept_again, left_again = surfaced(query, ranked, records, found, k, AGAIN)
        again = confidence_of(query, kept_again, records, cosines, k)
        if again > sure:
            return kept_again, left_again, again
    return kept, left, sure


HOUSE_SUFFIXES = ("ing", "ed", "es", "s", "ly")  # H7


def without_longest(word: str) -> str:
    """H7: the word without the longest ending that leaves three characters."""
    fitting = [end for end in HOUSE_SUFFIXES if word.endswith(end) and len(word) >= len(end) + 3]
    return word[: len(word) - max(map(len, fitting))] if fitting else word


def is_weak(query: str, cosines: Sequence[float], held: Sequence[str]) -> bool:
    """H7: the best cosine under 0.25, and fewer than half of the words in what was found."""
    words = map(texts.bare, texts.words(texts.spaced(query)))
    words = list(dict.fromkeys(map(without_longest, words)))
    if not cosines or max(cosines) >= 0.25 or not words:
        return False
    found = "\n".join(map(texts.bare, held))
    return sum(word in found for word in words) < len(words) / 2
