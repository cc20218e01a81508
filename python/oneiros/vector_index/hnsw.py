"""An HNSW graph over vectors: the core builds its links, FAISS walks it. The only module that imports FAISS."""

from __future__ import annotations

import functools
import logging  # noqa: F401 (FAISS takes its lock, so its fork hook must be registered before ours)
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros._lazy import import_whole, needed
from oneiros.vector_index.hnsw_snapshot import LINKS, Links

__all__ = ["SLICE", "Graph", "Matrix", "Nodes", "library"]

Matrix = npt.NDArray[np.float32]
Nodes = npt.NDArray[np.int64]

EF_BUILD = 100  # vectors that a walk finds for each that is added (HNSW's efConstruction)
_MOST_BUFFERS = 16
SLICE = 256  # vectors added between two checks of the stop signal: at most about 0.1 s
STEP = 16_384  # nodes whose links are followed at a time: bounds memory use


@functools.cache
def library() -> Any:
    """Return the module faiss, imported on first use.

    Its SWIG layer emits DeprecationWarnings at import on Python 3.12 and later. They would be
    errors in programs that run with ``-W error``.

    Raises:
        ImportError: FAISS is not installed; the message names the extra.
    """
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module = needed("faiss", "faiss", import_whole)
    if hasattr(os, "register_at_fork"):
        # FAISS checks for Ctrl-C under a mutex that another thread may hold during a fork: the
        # child would wait forever. Without the callback it does not check, and Ctrl-C takes effect
        # when the call returns.
        os.register_at_fork(after_in_child=module.InterruptCallback.clear_instance)
    return module


_loading = threading.RLock()  # a signal handler may search while its thread imports
if hasattr(os, "register_at_fork"):
    # A fork waits until the import is over: a child could not finish the import of another thread.
    # The first caller of library() holds no other lock of this package.
    os.register_at_fork(
        before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
    )


class _limited_to:
    """Limit FAISS to ``threads`` OpenMP threads within the block, for the calling thread.

    Without a limit, builds and batches of queries use all processors.
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


class Graph:
    """An HNSW graph whose nodes are vectors. It never changes once it is searched.

    The vectors are rounded to 16 bits: walks are bound by memory, and half the bytes take two
    thirds of the time. Where that would make near-duplicates equal, all 32 bits are kept.
    """

    def __init__(self, index: Any, laid_out_count: int = 0) -> None:
        self._index = index
        self._bytes_of_component = 2 if isinstance(index, library().IndexHNSWSQ) else 4
        self._laid_out_count = laid_out_count
        self._count = int(index.ntotal)
        self._dimension = int(index.d)
        self._buffers: dict[int, deque[_Buffers]] = {}  # by k

    def __len__(self) -> int:
        return self._count

    @property
    def dimension(self) -> int:
        """Number of components of a vector."""
        return self._dimension

    @property
    def nbytes(self) -> int:
        """Bytes of the graph's vectors and of the links between them."""
        links = int(self._index.hnsw.neighbors.size()) * 4
        return len(self) * self.dimension * self._bytes_of_component + links

    @property
    def is_rounded(self) -> bool:
        """Whether the vectors are rounded to 16 bits."""
        return self._bytes_of_component == 2

    def links(self) -> Links:
        """Return a copy of the links between nodes."""
        return Links.of(library(), self._index, self._laid_out_count)

    def rounded(self, nodes: Nodes) -> Matrix:
        """Return the vectors of nodes as the graph has them, shape (n, dimension)."""
        vectors: Matrix = library().downcast_index(self._index.storage).reconstruct_batch(nodes)
        return vectors

    @classmethod
    def restored(
        cls, links: Links, dimension: int, parts: Iterable[Matrix], *, is_rounded: bool = True
    ) -> Graph | None:
        """Return the graph of these links and vectors; None if there are too few vectors.

        REQUIRES: the links were checked, and the vectors are in the order of their graph.
        """
        faiss, index = library(), _empty(dimension, is_rounded=is_rounded)
        storage = faiss.downcast_index(index.storage)
        with _limited_to(1):
            for part in parts:
                storage.add(part)
        if storage.ntotal < len(links.levels):
            return None
        links.put_into(faiss, index)
        return cls(index, links.laid_out_count)

    @classmethod
    def grown(
        cls,
        former: Graph | None,
        dimension: int,
        parts: Iterable[Matrix],
        is_stopped: Callable[[], bool],
        *,
        is_rounded: bool = True,
    ) -> Graph | None:
        """Return a new graph of ``former``'s vectors and these, or None if stopped.

        ``former`` is copied, and searches in it go on. The core builds the links, on one thread, so
        that other processors are free for searches. They depend only on the vectors and their order.

        Args:
            former: the graph to grow; None: an empty graph.
            dimension: components of a vector.
            parts: vectors, at most ``SLICE`` at a time; each part is read when it is needed.
            is_stopped: called before each part, and while links are built.
            is_rounded: whether a new graph rounds its vectors to 16 bits; one that grows goes on
                as it began.
        """
        faiss = library()
        if former is None:
            index, links = _empty(dimension, is_rounded=is_rounded), Links.none()
        else:
            index, links = faiss.clone_index(former._index), former.links()
        storage = faiss.downcast_index(index.storage)
        with _limited_to(1):
            for part in parts:
                if is_stopped():
                    return None
                storage.add(part)
        found = _core.grown_hnsw_links(
            levels=links.levels,
            neighbours=links.neighbours,
            entry=links.entry,
            vectors=_vectors_in(storage),
            breadth=EF_BUILD,
            is_stopped=is_stopped,
        )
        if found is None:
            return None
        grown = Links(*found, links.laid_out_count)
        grown.put_into(faiss, index)
        return cls(index, grown.laid_out_count)

    def laid_out(self) -> tuple[Graph, Nodes]:
        """Return a graph with linked nodes close together in memory, and the former node of each.

        REQUIRES: this graph is not searched; it may be changed. Walks take a seventh less time with
        100,000 vectors of 256 components. The nodes are moved whenever the graph has doubled in
        size.
        """
        nodes = np.arange(len(self))
        if len(self) < 2 * self._laid_out_count:
            return self, nodes
        nodes = _by_steps(self._index)
        self._index.permute_entries(nodes)
        return Graph(self._index, len(nodes)), nodes

    def nearest(self, queries: Matrix, k: int, breadth: int, threads: int = 1) -> Nodes:
        """Return approximately the ``k`` nearest nodes of each query, in no order.

        Args:
            queries: shape (m, dimension), contiguous.
            k: >= 1.
            breadth: candidates kept during the walk (HNSW's efSearch), >= k. A larger breadth
                finds more and is slower.
            threads: most threads if there are several queries.

        Returns:
            Shape (m, k). Rows end in -1 if fewer were found.
        """
        if len(queries) == 1:
            return self._nearest_to_one(queries, k, breadth)
        buffers = _Buffers(len(queries), self.dimension, k)
        with _limited_to(threads):
            return buffers.search(self._index, queries, breadth)

    def _nearest_to_one(self, query: Matrix, k: int, breadth: int) -> Nodes:
        """Return the nodes for one query. FAISS uses one thread for it: no limit is needed."""
        pool = self._buffers.get(k)
        if pool is None:
            if len(self._buffers) >= _MOST_BUFFERS:
                self._buffers.clear()
            pool = self._buffers.setdefault(k, deque(maxlen=_MOST_BUFFERS))
        try:
            buffers = pool.pop()  # no lock: a signal handler may search on this thread
        except IndexError:
            buffers = _Buffers(1, self.dimension, k)
        nodes = buffers.search(self._index, query, breadth).copy()
        pool.append(buffers)
        return nodes


class _Buffers:
    """Arrays for FAISS to read queries from and write nodes to, and SWIG pointers to them.

    Making a pointer takes a call that releases the GIL. Three of them would let other threads in
    three times per search.
    """

    __slots__ = ("_arguments", "_nodes", "_queries", "_rounded")

    def __init__(self, count: int, dimension: int, k: int) -> None:
        self._queries = np.empty((count, dimension), np.float32)
        self._rounded = np.empty((count, k), np.float32)  # similarities, not read
        self._nodes = np.empty((count, k), np.int64)
        arrays = (self._queries, self._rounded, self._nodes)
        queries, similarities, nodes = map(library().swig_ptr, arrays)
        self._arguments = (count, queries, k, similarities, nodes)

    def search(self, index: Any, queries: Matrix, breadth: int) -> Nodes:
        """Return the nodes that a walk found, in an array that the next walk overwrites."""
        self._queries[:] = queries
        index.search_c(*self._arguments, _search_parameters(breadth))
        return self._nodes


def _empty(dimension: int, *, is_rounded: bool) -> Any:
    """Return a FAISS index without vectors."""
    faiss = library()
    if is_rounded:
        index = faiss.IndexHNSWSQ(
            dimension, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT
        )
    else:
        index = faiss.IndexHNSWFlat(dimension, LINKS, faiss.METRIC_INNER_PRODUCT)
    return index


def _vectors_in(storage: Any) -> npt.NDArray[Any]:
    """Return a view of a storage's vectors, or if their width is no multiple of 32 a copy with zeros.

    Shape (n, padded width), float32 or the bits of float16.
    """
    faiss = library()
    count, dimension = int(storage.ntotal), int(storage.d)
    dtype = np.float32 if isinstance(storage, faiss.IndexFlat) else np.uint16
    if not count:
        return np.empty((0, 32), dtype)
    codes = faiss.rev_swig_ptr(storage.codes.data(), count * int(storage.code_size))
    vectors: npt.NDArray[Any] = codes.view(dtype).reshape(count, dimension)
    return np.pad(vectors, ((0, 0), (0, -dimension % 32))) if dimension % 32 else vectors


def _by_steps(index: Any) -> Nodes:
    """Return all nodes by their number of steps from the entry, in the order of a walk."""
    faiss = library()
    links = faiss.vector_to_array(index.hnsw.neighbors)
    starts = faiss.vector_to_array(index.hnsw.offsets).astype(np.int64)[:-1]
    width = np.arange(index.hnsw.nb_neighbors(0))
    met = np.full(index.ntotal, -1, np.int64)  # place of each node within its step
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
            met[linked[::-1]] = places[::-1]  # reversed: the first of several is written last
            found.append(linked[met[linked] == places].astype(np.int64))
        front = np.concatenate(found)
    order.append(np.flatnonzero(met < 0))
    return np.concatenate(order)


@functools.lru_cache(maxsize=64)
def _search_parameters(breadth: int) -> Any:
    """Return FAISS's parameters for a breadth. Making them costs as much as ten steps of a walk."""
    return library().SearchParametersHNSW(efSearch=breadth)
