"""An HNSW graph over vectors. The only module that imports FAISS."""

from __future__ import annotations

import functools
import logging  # noqa: F401 (FAISS takes its lock: its hook for forks must be registered before ours)
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros._lazy import import_whole
from oneiros.channels.vector_index.graph_links import LINKS, Links

__all__ = ["SLICE", "Graph", "Matrix", "Nodes", "library"]

Matrix = npt.NDArray[np.float32]
Nodes = npt.NDArray[np.int64]

EF_BUILD = 100  # HNSW's efConstruction
_MOST_ROOMS = 16
SLICE = 256  # vectors added between two looks at the stop signal: at most about 0.1 s
STEP = 16_384  # nodes whose links are followed at a time: bounds what that holds


@functools.cache
def library() -> Any:
    """Return the module faiss, imported on first use.

    Its SWIG layer emits DeprecationWarnings at import under Python 3.12 and later, which would be
    errors in programs that run with ``-W error``.
    """
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module: Any = import_whole("faiss")
    if hasattr(os, "register_at_fork"):
        # FAISS looks for Ctrl-C under a mutex of its own, which another thread may hold at the
        # moment of a fork: the child would wait for it for ever. Without the callback it does not
        # look (so there Ctrl-C comes through when the call returns).
        os.register_at_fork(after_in_child=module.InterruptCallback.clear_instance)
    return module


_loading = threading.RLock()  # a signal handler may search while its thread imports
if hasattr(os, "register_at_fork"):
    # A fork waits until the import is over: a child could never finish what another thread began.
    # No lock of ours is held by whoever calls library() first.
    os.register_at_fork(
        before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
    )


class _limited_to:
    """Keep FAISS to ``threads`` OpenMP threads inside; OpenMP counts per calling thread.

    Without it a build and many queries are split over all processors.
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
    """An HNSW graph over vectors, its nodes. Never changed once it is searched.

    The vectors are rounded to 16 bits: a walk waits for memory, and half the bytes take two thirds
    of the time.
    """

    def __init__(self, index: Any, laid_out_count: int = 0) -> None:
        self._index = index
        self._laid_out_count = laid_out_count
        self._count = int(index.ntotal)
        self._dimension = int(index.d)
        self._rooms: dict[int, deque[_Room]] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return self._dimension

    @property
    def nbytes(self) -> int:
        """Bytes of the rounded vectors and of the links between them."""
        return len(self) * self.dimension * 2 + int(self._index.hnsw.neighbors.size()) * 4

    def links(self) -> Links:
        """Return copies of the links between the nodes."""
        return Links.of(library(), self._index, self._laid_out_count)

    def rounded(self, nodes: Nodes) -> Matrix:
        """Return the rounded vectors of nodes, shape (n, dimension)."""
        vectors: Matrix = library().downcast_index(self._index.storage).reconstruct_batch(nodes)
        return vectors

    @classmethod
    def restored(cls, links: Links, dimension: int, parts: Iterable[Matrix]) -> Graph | None:
        """Return the graph of these links and vectors; None where there are too few vectors.

        REQUIRES: the links make sense.

        Args:
            links: as :meth:`links` returned them.
            dimension: components of a vector.
            parts: the vectors that lay in that graph, in its order, some at a time.
        """
        faiss, index = library(), _empty(dimension)
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
    ) -> Graph | None:
        """Return a new graph of ``former``'s vectors and these, or None if stopped on the way.

        ``former`` is copied, not touched: searches go on in it. One thread, so that the answers
        depend on the order of the vectors alone, and the other processors are left to recall.

        Args:
            former: the graph to grow; None: an empty one.
            dimension: components of a vector.
            parts: vectors, at most ``SLICE`` at a time; each part is taken when it is its turn.
            is_stopped: asked before each part.
        """
        index = _empty(dimension) if former is None else library().clone_index(former._index)
        with _limited_to(1):
            for part in parts:
                if is_stopped():
                    return None
                index.add(part)
        return cls(index, 0 if former is None else former._laid_out_count)

    def laid_out(self) -> tuple[Graph, Nodes]:
        """Return a graph whose linked nodes lie near each other, and which node each of them was.

        REQUIRES: nobody searches this one, which may be changed. Walks take a seventh less time in
        100,000 vectors, 256 wide. It is done each time that the graph has become twice as large.
        """
        nodes = np.arange(len(self))
        if len(self) < 2 * self._laid_out_count:
            return self, nodes
        nodes = _by_steps(self._index)
        self._index.permute_entries(nodes)
        return Graph(self._index, len(nodes)), nodes

    def nearest(self, queries: Matrix, k: int, breadth: int, threads: int = 1) -> Nodes:
        """Return about the ``k`` nearest nodes of each query, in no order.

        Args:
            queries: shape (m, dimension), contiguous.
            k: >= 1.
            breadth: candidates kept on the way (HNSW's efSearch), >= k: more find more, slower.
            threads: for more than one query.

        Returns:
            Shape (m, k), the last of a row -1 where fewer were found.
        """
        if len(queries) == 1:
            return self._nearest_to_one(queries, k, breadth)
        room = _Room(len(queries), self.dimension, k)
        with _limited_to(threads):
            return room.searched(self._index, queries, breadth)

    def _nearest_to_one(self, query: Matrix, k: int, breadth: int) -> Nodes:
        """Return the nodes for one query, which FAISS never splits: there is nothing to limit."""
        rooms = self._rooms.get(k)
        if rooms is None:
            if len(self._rooms) >= _MOST_ROOMS:
                self._rooms.clear()
            rooms = self._rooms.setdefault(k, deque(maxlen=_MOST_ROOMS))
        try:
            room = rooms.pop()  # no lock: a signal handler may search on this thread
        except IndexError:
            room = _Room(1, self.dimension, k)
        nodes = room.searched(self._index, query, breadth).copy()
        rooms.append(room)
        return nodes


class _Room:
    """Arrays that FAISS reads a query from and writes to, and its pointers to them.

    A pointer takes a call that lets go of Python's lock, and three of them would let other threads
    in three times a search.
    """

    __slots__ = ("_given", "_nodes", "_queries")

    def __init__(self, count: int, dimension: int, k: int) -> None:
        self._queries = np.empty((count, dimension), np.float32)
        rounded = np.empty((count, k), np.float32)
        self._nodes = np.empty((count, k), np.int64)
        pointer = library().swig_ptr
        arrays = (self._queries, rounded, self._nodes)
        first, second, third = map(pointer, arrays)
        self._given = (count, first, k, second, third), rounded

    def searched(self, index: Any, queries: Matrix, breadth: int) -> Nodes:
        """Return the nodes that a walk found: the array itself, which the next walk overwrites."""
        self._queries[:] = queries
        arguments, _ = self._given
        index.search_c(*arguments, _walking(breadth))
        return self._nodes


def _empty(dimension: int) -> Any:
    """Return a new index without vectors."""
    faiss = library()
    index = faiss.IndexHNSWSQ(
        dimension, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT
    )
    index.hnsw.efConstruction = EF_BUILD
    index.keep_max_size_level0 = True  # no link left empty: recall up by 0.02, at no cost
    return index


def _by_steps(index: Any) -> Nodes:
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
