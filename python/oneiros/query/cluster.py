"""How near candidates lie to the centre of the best of them. Source: docs/systems/omega.md O21."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.channels.vector import VectorIndex
    from oneiros.gathering import Gathered, Question

__all__ = ["Centre", "centre_of"]

_BEST: Final = 10


class Centre(NamedTuple):
    """The renormalised mean of the best candidates' embeddings."""

    vectors: VectorIndex
    direction: npt.NDArray[np.float32]

    def signals(self, rows: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cosine of each row to it; 0 for one without an embedding."""
        return {"cluster_cosine": np.nan_to_num(self.vectors.cosines(self.direction, rows))}


def centre_of(gathered: Gathered, question: Question, vectors: VectorIndex) -> Centre | None:
    """Return the centre of the ten candidates that are best by all factors before this one.

    None: none of them has an embedding, or theirs point nowhere together.
    """
    compiled = gathered.compiled
    ranked = compiled.plan.rank(
        columns=gathered.lifecycle.columns,
        candidates=gathered.candidates,
        now_seconds=question.now,
        k=len(gathered.candidates),
        signals=gathered.signals,
        explain=True,
    )
    assert ranked.factors is not None  # explain=True was asked
    scores, rows = ranked.relevance, ranked.rows
    for name, operation, values in zip(
        compiled.names, compiled.operations, ranked.factors, strict=True
    ):
        if name == "cluster":
            break
        scores = scores + values if operation == "add" else scores * values
    best = rows[np.lexsort((rows, -scores))[:_BEST]]
    mean = vectors.reconstruct(best).astype(np.float64).sum(axis=0)
    length = float(np.linalg.norm(mean))
    if length == 0.0:
        return None
    return Centre(vectors, (mean / length).astype(np.float32))
