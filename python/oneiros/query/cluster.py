"""How near candidates lie to the centre of the best of them. Source: docs/systems/omega.md O21."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.channels.vector import VectorIndex
    from oneiros.gathering import Gathered, Question
    from oneiros.projections import Projections
    from oneiros.ranking.profile import Profile

__all__ = ["Centre", "centre_of"]

_BEST: Final = 10


class Centre(NamedTuple):
    """The renormalised mean of the best candidates' embeddings."""

    vectors: VectorIndex
    direction: npt.NDArray[np.float32]

    def signals(self, rows: npt.NDArray[np.uint32]) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cosine of each row to it; 0 for one without an embedding."""
        cosines = self.vectors.cosines(self.direction, rows)
        cosines[np.isnan(cosines)] = 0.0
        return {"cluster_cosine": cosines}


def centre_of(
    gathered: Gathered, question: Question, projections: Projections, vectors: VectorIndex
) -> Centre | None:
    """Return the centre of the ten candidates that are best by all factors before this one.

    None: none of them has an embedding, or theirs point nowhere together.
    """
    before = projections.compiled(_up_to_cluster(question.profile))
    best = gathered._replace(compiled=before).best(question, k=_BEST, explain=False).rows
    mean = vectors.reconstruct(best).astype(np.float64).sum(axis=0)
    length = math.sqrt(float(mean @ mean))
    if length == 0.0:
        return None
    return Centre(vectors, (mean / length).astype(np.float32))


@lru_cache(maxsize=256)
def _up_to_cluster(profile: Profile) -> Profile:
    """Return the profile without the factor and those after it. Equal profiles give one object."""
    names = [factor.name for factor in profile.factors]
    return profile.replace(factors=profile.factors[: names.index("cluster")])
