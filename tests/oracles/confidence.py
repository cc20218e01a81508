"""The confidence of a first result, from scores of a whole scan. Source: docs/confidence.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.oracles import bm25

K1, B, HALF_LENGTH = 1.2, 1.0, 65.0  # docs/systems/house.md H5


def confidence(
    texts: Sequence[str],
    query: Sequence[str],
    cosines: Sequence[float] | None,
    first: int,
    model: tuple[float, float, float] = (-1.93, 2.70, 1.64),
) -> float | None:
    """Return the confidence in the text at place ``first``; None without words and cosines."""
    documents = {row: text.split() for row, text in enumerate(texts)}
    ranked = bm25.rank(documents, query, len(texts), k1=K1, b=B, half_length=HALF_LENGTH)
    held = {word: sum(word in tokens for tokens in documents.values()) for word in query}
    possible = bm25.possible(len(texts), held, query)
    words = meaning = None
    if possible:
        tenth = ranked[9][1] if len(ranked) >= 10 else 0.0
        words = max(dict(ranked).get(first, 0.0) - tenth, 0.0) / possible
    if cosines is not None and len(cosines) >= 2:
        tenth = sorted(cosines, reverse=True)[min(len(cosines), 10) - 1]
        lead = cosines[first] - tenth
        meaning = lead / (1 - tenth) if lead > 0 else 0.0
    if words is None and meaning is None:
        return None
    words, meaning = (meaning if words is None else words), (words if meaning is None else meaning)
    assert words is not None
    assert meaning is not None
    constant, of_words, of_meaning = model
    logit = constant + of_words * math.sqrt(words) + of_meaning * math.sqrt(meaning)
    return 1 / (1 + math.exp(-logit))
