"""Of results that are alike, the best. Source: docs/systems/omega.md O26."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from oneiros.channels.vector import VectorIndex
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Stages
    from oneiros.projections import Projections
    from oneiros.ranking.finishing import Duplicates

__all__ = ["first_of_each", "leave_duplicates"]

_BLOCK: Final = 16  # rows whose embeddings are fetched and compared together


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
    column, vectors = projections.texts.column, projections.indexes.vectors
    alike: list[int] = []  # of so many of the first as were looked at
    kept: list[int] = []
    left: list[tuple[int, int]] = []
    by_text: dict[int, int] = {}
    near = _Near(vectors, rule.cosine) if vectors else None
    for place in range(len(rows)):
        if len(kept) == most:
            break
        if place == len(alike):
            ahead = rows[: 2 * max(place, most)]
            alike = column.first_alike(rows=ahead, characters=rule.characters)
        if near is not None and place % _BLOCK == 0:
            near.look_at(rows[place : place + _BLOCK])
        first = alike[place]
        better = by_text.get(first)
        if better is None and near is not None and (at := near.first_like(place % _BLOCK)) >= 0:
            better = kept[at]
        if better is not None:
            left.append((place, better))
            continue
        by_text.setdefault(first, place)
        kept.append(place)
        if near is not None:
            near.keep(place % _BLOCK)
    return kept, left


class _Near:
    """Which vectors of a block are near one that is kept: the cosines of all in one product."""

    def __init__(self, vectors: VectorIndex, cosine: float) -> None:
        self._vectors = vectors
        self._cosine = cosine
        self._kept = np.empty((0, vectors.dimension), np.float32)  # of the blocks before
        self._block = self._kept
        self._own: list[int] = []  # places in the block of those of it that are kept
        self._before: list[int] = []  # by place: the first of those before that is near; -1: none
        self._within: list[list[bool]] = []

    def look_at(self, rows: Sequence[int]) -> None:
        """Go on to the next block."""
        if self._own:
            self._kept = np.concatenate((self._kept, self._block[self._own]))
        self._own = []
        self._block = self._vectors.reconstruct(rows)
        self._before = [-1] * len(rows)
        if len(self._kept):
            is_near = self._block @ self._kept.T >= self._cosine
            for place in np.flatnonzero(is_near.any(axis=1)).tolist():
                self._before[place] = int(is_near[place].argmax())
        self._within = (self._block @ self._block.T >= self._cosine).tolist()

    def first_like(self, place: int) -> int:
        """Return the number of the first kept one that the block's vector there is near; -1: none."""
        if self._before[place] >= 0:
            return self._before[place]
        near = self._within[place]
        return next((len(self._kept) + n for n, at in enumerate(self._own) if near[at]), -1)

    def keep(self, place: int) -> None:
        """Keep the block's vector there."""
        self._own.append(place)
