"""Many vector queries at once: matrix products, made to give the answers of single searches.

A matrix product rounds otherwise than one inner product after the other. So a batch asks for some
more than ``k``, scores them again the single way, and checks that nothing left out can have come
within the rounding of the k-th; a query for which it can is handed back to be searched alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits, RankedList
from oneiros.channels.inner_products import Matrix, Positions, nearest, scores_at
from oneiros.channels.vector_choice import Choice, are_chosen
from oneiros.channels.vector_snapshot import Snapshot

__all__ = ["search_batch"]

MARGIN: Final = 16  # results fetched beyond k
# Two ways of summing a float32 inner product of unit vectors differ by less, up to 4,096 wide
# (2 * 4,096 * 2^-24 * |sum of |products|| would be 5e-4 at worst; in practice below 1e-6).
ROUNDING: Final = 1e-5


class _Found(NamedTuple):
    scores: Matrix
    positions: Positions
    bound: npt.NDArray[np.float32]
    """No vector left out scores more, one a query; infinite: unknown."""


def search_batch(
    now: Snapshot, queries: Matrix, k: int, allowed: Bits | None
) -> list[RankedList | None]:
    """Return one list a query of shape (m, d), or None where it must be searched alone."""
    chosen = now.chosen(allowed)
    parts = [_exact(now.fresh_choice(chosen), queries, k)]
    if now.graph is not None:
        parts.append(_sealed(now, queries, k, chosen))
    scores = np.concatenate([part.scores for part in parts], axis=1)
    rows = now.rows[np.concatenate([part.positions for part in parts], axis=1)]
    bound = np.max([part.bound for part in parts], axis=0)
    order = np.lexsort((rows, -scores), axis=-1)[:, :k]
    best_rows = np.take_along_axis(rows, order, 1).astype(np.uint32)
    best = np.take_along_axis(scores, order, 1)
    last = best[:, -1] if best.shape[1] else np.full(len(queries), np.inf, np.float32)
    is_sure = (last > bound + ROUNDING) & queries.any(axis=1)
    return [
        RankedList(found_rows, found_scores) if sure else None
        for found_rows, found_scores, sure in zip(
            best_rows, best.astype(np.float64), is_sure.tolist(), strict=True
        )
    ]


def _exact(choice: Choice, queries: Matrix, k: int) -> _Found:
    count = len(queries)
    take = min(k + MARGIN, choice.available) if k else 0
    if take == 0:
        nothing = np.empty((count, 0), np.float32)
        return _Found(nothing, nothing.astype(np.int64), np.full(count, -np.inf, np.float32))
    scores, positions = nearest(queries, choice.vectors, take, choice.subset)
    is_all = take == choice.available
    bound = np.full(count, -np.inf, np.float32) if is_all else scores[:, -1]
    return _Found(scores_at(queries, choice.vectors, positions), positions + choice.start, bound)


def _sealed(now: Snapshot, queries: Matrix, k: int, chosen: Bits | None) -> _Found:
    assert now.graph is not None
    choice = now.graph_choice(chosen)
    breadth = now.breadth(k, choice.available) if k else None
    if breadth is None:
        return _exact(choice, queries, k)
    in_graph = None if chosen is None else chosen[: now.sealed // 8]
    scores, positions = now.graph.nearest(queries, min(k, choice.available), breadth, in_graph)
    is_good = are_chosen(positions, now.sealed, in_graph)
    is_short = ~is_good.all(axis=1)
    return _Found(
        scores,
        np.where(is_good, positions, 0),
        np.where(is_short, np.inf, -np.inf).astype(np.float32),
    )
