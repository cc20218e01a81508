"""FAISS by hand: a flat index, an HNSW graph, and a graph searched within a project."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np

from oneiros.benchmark.rivals.rival import (
    DEPTH,
    GRAPH_DEPTH,
    GRAPH_LINKS,
    Ids,
    Vectors,
    VectorSearch,
)

__all__ = ["FaissFlat", "FaissGraph", "ProjectGraph", "graph_of"]

_BUILD_DEPTH = 100
_FEW = 3_000
"""A project of fewer memories is compared whole, which is faster than the graph."""


def graph_of(vectors: Vectors) -> Any:
    """Return an HNSW graph, built on all cores; searches of one vector take one."""
    graph = faiss.IndexHNSWFlat(vectors.shape[1], GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = _BUILD_DEPTH
    graph.hnsw.efSearch = GRAPH_DEPTH
    graph.add(np.ascontiguousarray(vectors))
    faiss.omp_set_num_threads(1)
    return graph


class FaissFlat(VectorSearch):
    """Every vector compared, on one thread."""

    def build(self, vectors: Vectors) -> None:
        faiss.omp_set_num_threads(1)
        self.index = faiss.IndexFlatIP(vectors.shape[1])
        self.index.add(np.ascontiguousarray(vectors))

    def search(self, vector: Vectors, k: int) -> Ids:
        found: Ids = self.index.search(vector[None], k)[1][0]
        return found


class FaissGraph(FaissFlat):
    """An HNSW graph."""

    def build(self, vectors: Vectors) -> None:
        self.index = graph_of(vectors)


class ProjectGraph:
    """A graph of all vectors, searched among those of one project."""

    def __init__(self, vectors: Vectors, projects: list[str]) -> None:
        self._graph = graph_of(vectors)
        self._vectors = vectors
        names = np.array(projects)
        self._rows = {str(name): np.flatnonzero(names == name) for name in np.unique(names)}
        self._own = {
            name: np.array(vectors[rows]) for name, rows in self._rows.items() if len(rows) < _FEW
        }
        self._bits: list[Any] = []  # the selectors refer to them
        self._selected = {name: self._selector(names == name) for name in self._rows}

    def nearest(self, vector: Vectors, project: str) -> list[int]:
        """Return the numbers of the nearest memories of a project."""
        rows, own = self._rows[project], self._own.get(project)
        if own is None:
            found = self._graph.search(vector[None], DEPTH, params=self._selected[project])[1][0]
            reached: list[int] = found[found >= 0].tolist()
            return reached
        cosines = own @ vector
        count = min(DEPTH, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count]
        nearest: list[int] = rows[best[np.argsort(-cosines[best], kind="stable")]].tolist()
        return nearest

    def _selector(self, is_own: Any) -> Any:
        bits = np.packbits(is_own, bitorder="little")
        self._bits.append(bits)
        library: Any = faiss  # its stubs lack these
        selector = library.IDSelectorBitmap(bits)
        return library.SearchParametersHNSW(sel=selector, efSearch=GRAPH_DEPTH)
