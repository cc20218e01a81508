"""FAISS's functions on our arrays: the only module that imports FAISS.

Every path that takes one query, exact or by graph, scores what it returns by the same routine
(``fvec_inner_product``), so a cosine has the same bits wherever its vector lies. Batches may
go through matrix products, which round otherwise: they are scored again by :func:`scores_at`.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits
from oneiros.channels.graph_links import LINKS, Links
from oneiros.channels.growing_array import GrowingArray
from oneiros.whole_import import import_whole

__all__ = ["Graph", "Matrix", "Positions", "library", "limited_to", "nearest", "scores_at"]

Matrix = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

EF_BUILD = 100  # HNSW's efConstruction
SLICE = 256  # vectors added between two looks at the stop signal: at most about 0.1 s
STEP = 16_384  # nodes whose links are followed at a time: bounds what that holds


@functools.cache
def library() -> Any:
    """Return the module faiss, imported on first use.

    Its SWIG layer emits DeprecationWarnings at import under Python 3.12 and later, which would be
    errors in programs that run with ``-W error``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module: Any = import_whole("faiss")
    if hasattr(os, "register_at_fork"):
        # FAISS looks for Ctrl-C under a mutex of its own, which another thread may hold at the
        # moment of a fork: the child would wait for it for ever. Without the callback it does not
        # look (so there Ctrl-C comes through when the call returns).
        os.register_at_fork(after_in_child=module.InterruptCallback.clear_instance)
    return module


class limited_to:
    """Keep FAISS to ``threads`` OpenMP threads inside; OpenMP counts per calling thread.

    Without it even one query is split over all processors, which costs more than it gains.
    """

    __slots__ = ("_before", "_threads")

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def __enter__(self) -> None:
        faiss = library()
        self._before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(self._threads)

    def __exit__(self, *_: object) -> None:
        library().omp_set_num_threads(self._before)


def nearest(
    queries: Matrix, vectors: Matrix, k: int, chosen: Bits | Positions | None = None
) -> tuple[Matrix, Positions]:
    """Return the ``k`` largest inner products of each query, and where they are.

    Args:
        queries: shape (m, d), contiguous.
        vectors: shape (n, d), contiguous.
        k: from 1 to the number of vectors chosen.
        chosen: None for all vectors; their positions; or packed bits, one a vector.

    Returns:
        Scores and positions, each of shape (m, k), best first. Among equal scores at the end,
        which are returned is arbitrary.
    """
    faiss = library()
    pointer = faiss.swig_ptr
    count, dimension = queries.shape
    scores = np.empty((count, k), np.float32)
    positions = np.empty((count, k), np.int64)
    faiss.knn_inner_product(
        pointer(queries),
        pointer(vectors),
        dimension,
        count,
        len(vectors),
        k,
        pointer(scores),
        pointer(positions),
        _selector(chosen),
    )
    return scores, positions


def _selector(chosen: Bits | Positions | None) -> Any:
    """Return FAISS's form of a choice. It borrows the array: the caller keeps that alive."""
    if chosen is None:
        return None
    faiss = library()
    if chosen.dtype == np.uint8:
        return faiss.IDSelectorBitmap(len(chosen), faiss.swig_ptr(chosen))
    return faiss.IDSelectorArray(len(chosen), faiss.swig_ptr(chosen))


def scores_at(queries: Matrix, vectors: Matrix, positions: Positions) -> Matrix:
    """Return the inner product of query i with the vector at positions[i, j], shape (m, k).

    Args:
        queries: shape (m, d), contiguous.
        vectors: shape (n, d), contiguous.
        positions: shape (m, k), contiguous, each below n.
    """
    faiss = library()
    pointer = faiss.swig_ptr
    scores = np.empty(positions.shape, np.float32)
    if scores.size:
        count, width = positions.shape
        faiss.fvec_inner_products_by_idx(
            pointer(scores),
            pointer(queries),
            pointer(vectors),
            pointer(positions),
            queries.shape[1],
            count,
            width,
        )
    return scores


class Graph:
    """An HNSW graph over vectors. Never changed once it is searched.

    Walks go by the vectors' halves, rounded to 16 bits: a walk waits for memory, and half the bytes
    take two thirds of the time. What they find is scored by the vectors themselves.
    """

    def __init__(self, index: Any, held: GrowingArray[np.float32], laid_out_count: int = 0) -> None:
        self._index = index
        self._held = held
        self._laid_out_count = laid_out_count
        self.vectors: Matrix = held.values
        """Shape (n, d); graphs grown of this one hold the same memory."""

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors, whole and rounded, and of the links between them."""
        links = int(self._index.hnsw.neighbors.size()) * 4
        return self.vectors.nbytes + self.vectors.nbytes // 2 + links

    def links(self) -> Links:
        """Return copies of the links between the vectors."""
        return Links.of(library(), self._index, self._laid_out_count)

    @classmethod
    def restored(cls, links: Links, held: GrowingArray[np.float32]) -> Graph:
        """Return the graph of these links and vectors. REQUIRES: the links make sense.

        Args:
            links: as :meth:`links` returned them.
            held: the vectors that lay in that graph, in its order.
        """
        faiss, vectors = library(), held.values
        index = _empty(vectors.shape[1])
        with limited_to(1):
            faiss.downcast_index(index.storage).add(vectors)
        links.put_into(faiss, index)
        return cls(index, held, links.laid_out_count)

    @classmethod
    def grown(
        cls,
        former: Graph | None,
        vectors: Matrix,
        picked: Positions,
        is_stopped: Callable[[], bool],
    ) -> Graph | None:
        """Return a new graph of ``former``'s vectors and those picked, or None if stopped on the way.

        ``former``'s links are copied, not touched: searches go on in it. It is grown once at most.
        One thread, so that the answers depend on the order of the vectors alone, and the other
        processors are left to recall.
        """
        faiss = library()
        if former is None:
            index = _empty(vectors.shape[1])
            held = GrowingArray(vectors[:0], room=len(picked))
        else:
            index, held = faiss.clone_index(former._index), former._held
            held.keep(len(former))  # a fork may have cut off another growing of it
        with limited_to(1):
            for start in range(0, len(picked), SLICE):
                if is_stopped():
                    return None
                added = vectors[picked[start : start + SLICE]]
                index.add(added)
                held.append(added)
        return cls(index, held, 0 if former is None else former._laid_out_count)

    def laid_out(self) -> tuple[Graph, Positions]:
        """Return a graph whose linked nodes lie near each other, and which node each of them was.

        REQUIRES: nobody searches this one, which may be changed. Walks take a seventh less time in
        100,000 vectors, 256 wide. It is done each time that the graph has become twice as large.
        """
        nodes = np.arange(len(self))
        if len(self) < 2 * self._laid_out_count:
            return self, nodes
        nodes = _by_steps(self._index)
        self._index.permute_entries(nodes)
        held = GrowingArray(self.vectors[nodes], room=len(nodes) // 2)
        return Graph(self._index, held, len(nodes)), nodes

    def nearest(self, queries: Matrix, k: int, breadth: int) -> tuple[Matrix, Positions]:
        """Return about the ``k`` nearest vectors of each query, in no order.

        Args:
            queries: shape (m, d), contiguous.
            k: >= 1.
            breadth: candidates kept on the way (HNSW's efSearch), >= k: more find more, slower.

        Returns:
            Scores and positions, each of shape (m, k); where fewer were found, positions of -1.
        """
        parameters, pointer = _walking(breadth), library().swig_ptr
        count = len(queries)
        rounded = np.empty((count, k), np.float32)
        positions = np.empty((count, k), np.int64)
        self._index.search_c(
            count, pointer(queries), k, pointer(rounded), pointer(positions), parameters
        )
        is_known = (positions >= 0) & (positions < len(self))
        known = positions if is_known.all() else np.where(is_known, positions, 0)
        return scores_at(queries, self.vectors, known), positions


def _empty(dimension: int) -> Any:
    """Return a new index without vectors."""
    faiss = library()
    index = faiss.IndexHNSWSQ(
        dimension, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT
    )
    index.hnsw.efConstruction = EF_BUILD
    index.keep_max_size_level0 = True  # no link left empty: recall up by 0.02, at no cost
    return index


def _by_steps(index: Any) -> Positions:
    """Return all nodes by how many steps lead to them from the entry, as a walk meets them."""
    faiss = library()
    links = faiss.vector_to_array(index.hnsw.neighbors)
    starts = faiss.vector_to_array(index.hnsw.offsets).astype(np.int64)[:-1]
    width = np.arange(index.hnsw.nb_neighbors(0))
    met = np.full(index.ntotal, -1, np.int64)  # at which place of its step each node was met
    order, front = [], np.array([index.hnsw.entry_point], np.int64)
    met[front] = 0
    while len(front):
        order.append(front)
        found = []
        for start in range(0, len(front), STEP):
            linked = links[(starts[front[start : start + STEP], None] + width).ravel()]
            linked = linked[linked >= 0]
            linked = linked[met[linked] < 0]
            places = np.arange(len(linked))
            met[linked[::-1]] = places[::-1]  # of a node met twice the first is written last
            found.append(linked[met[linked] == places].astype(np.int64))
        front = np.concatenate(found)
    order.append(np.flatnonzero(met < 0))
    return np.concatenate(order)


@functools.lru_cache(maxsize=64)
def _walking(breadth: int) -> Any:
    """FAISS's form of a breadth, which searches only read: making one costs as much as ten steps."""
    return library().SearchParametersHNSW(efSearch=breadth)
