"""Of results that are alike, the best. Source: docs/systems/omega.md O26."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Stages
    from oneiros.projections import Projections
    from oneiros.ranking.finishing import Duplicates

__all__ = ["first_of_each", "leave_duplicates"]

_BLOCK: Final = 32  # rows whose embeddings are fetched together


def leave_duplicates(working: WorkingList, stages: Stages) -> None:
    """Leave out what is like a better result, until as many are found as are asked for."""
    profile, results = working.question.profile, working.results
    rule, k = profile.duplicates, working.question.k
    assert rule is not None
    has_places = profile.expansion is not None and profile.expansion.places(k) > 0
    most = len(results) if working.is_whole or has_places else k
    rows = [row for row, *_ in results]
    kept, left = first_of_each(rule, working.projections, rows, most)
    working.results = [results[place] for place in kept]
    working.duplicates += [(rows[place], rows[better]) for place, better in left]
    stages.end("duplicates", len(kept) + len(left), len(kept))


def first_of_each(
    rule: Duplicates, projections: Projections, rows: Sequence[int], most: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the first places whose memory is like none before it, and those that are.

    Args:
        rule: what makes two alike.
        projections: hold their texts and embeddings.
        rows: the better first.
        most: so many are returned at most.

    Returns:
        The places that stay; and those that do not, each with that of the one it is like.
    """
    alike = projections.texts.column.first_alike(rows=rows, characters=rule.characters)
    vectors = projections.indexes.vectors
    kept: list[int] = []
    left: list[tuple[int, int]] = []
    by_text: dict[int, int] = {}
    matrix = np.zeros((0, 0 if vectors is None else vectors.dimension), np.float32)
    block = matrix
    for place in range(len(rows)):
        if len(kept) == most:
            break
        better = by_text.get(alike[place])
        if vectors is not None:
            if place % _BLOCK == 0:
                block = vectors.reconstruct(rows[place : place + _BLOCK])
            vector = block[place % _BLOCK]
            if better is None and kept:
                near = np.flatnonzero(matrix @ vector >= rule.cosine)
                better = kept[near[0]] if len(near) else None
        if better is not None:
            left.append((place, better))
            continue
        by_text.setdefault(alike[place], place)
        kept.append(place)
        if vectors is not None:
            matrix = np.vstack([matrix, vector])
    return kept, left
