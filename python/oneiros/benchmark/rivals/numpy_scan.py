"""NumPy: every cosine computed, the best picked out."""

from __future__ import annotations

import numpy as np

from oneiros.benchmark.rivals.rival import Ids, Vectors, VectorSearch

__all__ = ["NumpyScan"]


class NumpyScan(VectorSearch):
    """One product of a matrix and a vector, then a partition; on one thread."""

    def build(self, vectors: Vectors) -> None:
        self._vectors = np.array(vectors)

    def search(self, vector: Vectors, k: int) -> Ids:
        cosines = self._vectors @ vector
        count = min(k, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count]
        return best[np.argsort(-cosines[best], kind="stable")]
