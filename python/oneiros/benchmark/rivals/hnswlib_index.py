"""hnswlib: its HNSW graph."""

from __future__ import annotations

import hnswlib
import numpy as np

from oneiros.benchmark.rivals.rival import GRAPH_DEPTH, GRAPH_LINKS, Ids, Vectors, VectorSearch

__all__ = ["HnswlibGraph"]

_BUILD_DEPTH = 100


class HnswlibGraph(VectorSearch):
    """A graph of inner products, searched on one thread."""

    def build(self, vectors: Vectors) -> None:
        self.graph = hnswlib.Index(space="ip", dim=vectors.shape[1])
        self.graph.init_index(len(vectors), M=GRAPH_LINKS, ef_construction=_BUILD_DEPTH)
        self.graph.add_items(np.ascontiguousarray(vectors))
        self.graph.set_ef(GRAPH_DEPTH)
        self.graph.set_num_threads(1)

    def search(self, vector: Vectors, k: int) -> Ids:
        found: Ids = self.graph.knn_query(vector[None], k=k)[0][0]
        return found
