"""Many vector queries at once: matrix products, made to give the answers of single searches.

A matrix product rounds otherwise than one inner product after the other. So a batch asks for some
more than ``k``, scores them again the single way, and checks that nothing left out can have come
within the rounding of the k-th; a query for which it can is handed back to be searched alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from oneiros.channels import Bits, RankedList
from oneiros.channels.inner_products import Matrix
from oneiros.channels.vector_snapshot import Snapshot

__all__ = ["search_batch"]

# Two ways of summing a float32 inner product of unit vectors differ by less, up to 4,096 wide
# (2 * 4,096 * 2^-24 * |sum of |products|| would be 5e-4 at worst; in practice below 1e-6).
ROUNDING: Final = 1e-5


def search_batch(
    now: Snapshot, queries: Matrix, k: int, allowed: Bits | None
) -> list[RankedList | None]:
    """Return one list a query of shape (m, d), or None where it must be searched alone; k >= 1."""
    chosen = now.chosen(allowed)
    parts = [now.fresh_choice(chosen).best_of_many(queries, k)]
    if now.sealed is not None:
        parts.append(now.sealed.best_of_many(queries, k, now.sealed_bits(chosen)))
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
