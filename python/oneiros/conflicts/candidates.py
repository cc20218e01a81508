"""Pairs of memories that may conflict. Source: docs/systems/house.md H12, H16.

A row is compared with the older rows of its part that are nearest to it by words and by vector, so
that the cost is that of two searches for each row, and not of all pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.conflicts.model import model
from oneiros.filters import allowed_bits, set_of
from oneiros.store.links import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from oneiros.graph import Associations
    from oneiros.index import ReadModel

    Rows = npt.NDArray[np.uint32]
    Pair = tuple[int, int]

__all__ = ["DISTINCT", "DISTINCT_WEIGHT", "conflicting"]

DISTINCT: Final = KINDS.index("distinct")
"""The kind of the link of two memories that a verdict found not to conflict."""
DISTINCT_WEIGHT: Final = 0.01
"""The weight of such a link between memories that had none: below what any search follows."""

_AT_ONCE: Final = 1_000


def conflicting(
    read_model: ReadModel,
    rows: Rows,
    part: Rows,
    texts: Callable[[Rows], Sequence[str | None]],
    associations: Associations | None,
    *,
    nearest: int,
    least_confidence: float,
) -> dict[Pair, float]:
    """Return pairs of an older and a newer row with the confidence that they conflict.

    Pairs that a verdict found distinct are left out.

    Args:
        read_model: has words, vectors, statements and times of creation.
        rows: the newer ones, some of ``part``.
        part: the rows to compare them with, of one project, user, agent and namespace.
        texts: returns the texts of rows.
        associations: the links, already read; None: no verdict is known.
        nearest: the number of rows to compare each with, by words and as many by vector.
        least_confidence: pairs below are left out.
    """
    created = read_model.lifecycle.column("created_at")
    found: dict[Pair, float] = {}
    for newer, older in _beside_nearest(read_model, rows, part, texts, nearest):
        confidences = read_model.statements.confidences(model=model(), older=older, newer=newer)
        is_pair = (confidences >= least_confidence) & (created[older] < created[newer])
        pairs = zip(older[is_pair].tolist(), newer[is_pair].tolist(), strict=True)
        found.update(zip(pairs, confidences[is_pair].tolist(), strict=True))
    if associations is not None and found:
        for pair, link in zip(list(found), associations.of_pairs(list(found)), strict=True):
            if link is not None and link.kind == DISTINCT:
                del found[pair]
    return found


def _beside_nearest(
    read_model: ReadModel,
    rows: Rows,
    part: Rows,
    texts: Callable[[Rows], Sequence[str | None]],
    nearest: int,
) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows, many at once, each beside one of its part that is near by words or by vector."""
    indexes = read_model.indexes
    allowed = allowed_bits(set_of(part), len(read_model.lifecycle.ids))
    most = nearest + 1  # a row is nearest to itself
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        found, _, ends, _ = indexes.lexical.search_many(
            queries=[text or "" for text in texts(some)], k=most, allowed=allowed, threads=1
        )
        pairs = [np.stack([np.repeat(some, np.diff(ends)), found])]
        vectors = indexes.vectors
        if vectors:
            matrix = vectors.reconstruct(some)
            places = np.flatnonzero(matrix.any(axis=1))
            if len(places):
                lists = vectors.search_many(matrix[places], most, allowed)
                near = [hits.rows for hits in lists]
                repeated = np.repeat(some[places], [len(each) for each in near])
                pairs.append(np.stack([repeated, np.concatenate(near)]))
        own, others = np.unique(np.concatenate(pairs, axis=1), axis=1)
        yield np.ascontiguousarray(own), np.ascontiguousarray(others)
