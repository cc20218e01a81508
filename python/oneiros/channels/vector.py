"""The vector channel: nearest rows by cosine, exact while few, by an HNSW graph when many."""

from __future__ import annotations

import logging
import threading
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits, Kind, RankedList
from oneiros.channels.forking import most_threads
from oneiros.channels.hnsw import Matrix
from oneiros.channels.kept_graph import Restored
from oneiros.channels.vector_input import (
    read_allowed,
    read_k,
    read_query,
    read_rows,
    read_vectors,
    refuse_repeats,
)
from oneiros.channels.vector_snapshot import Snapshot
from oneiros.channels.vector_state import VectorState
from oneiros.channels.vector_upkeep import Task, build, due
from oneiros.fork_safe_lock import fork_safe_lock
from oneiros.ranking.threads import require_threads

__all__ = ["VectorIndex"]

BATCH: Final = 1_024  # queries that are searched together: bounds what a batch holds at a time

_log = logging.getLogger(__name__)


class VectorIndex:
    """Unit vectors of rows, searched by cosine.

    Any number of threads may search while one thread at a time changes the index: a search sees
    each row as it was before a change or after. A vector is found as soon as :meth:`add` returns.
    Graphs are built in one background thread; until one is ready, and for what came after it,
    searches look at every vector, so recall never waits for a build.

    The vectors lie in the core (``_core.VectorColumn``), which computes every cosine: the same
    bits wherever it is returned, on every machine. FAISS, imported with the first graph, holds the
    graph alone.

    Results are exact without a graph, and by filter wherever the graph would be slower or would
    find fewer than ``k``. With a graph they are approximate: recall@10 of 0.99 and above on text
    embeddings. Ties: the smaller row first.

    Args:
        dimension: components of a vector, >= 1.
        kind: "flat" looks at every vector; "hnsw" builds a graph; "auto" is flat up to
            5,000 vectors and builds a graph beyond.

    Raises:
        ValueError: a dimension below 1 or an unknown kind.
    """

    def __init__(self, dimension: int, kind: Kind = "auto") -> None:
        if dimension < 1:
            msg = f"dimension: must be >= 1, got {dimension}"
            raise ValueError(msg)
        if kind not in get_args(Kind):
            msg = f"kind: expected one of {', '.join(get_args(Kind))}, got {kind!r}"
            raise ValueError(msg)
        self.dimension: Final = dimension
        self.kind: Final = kind
        self._lock = fork_safe_lock()
        self._is_closed = False
        self._worker: threading.Thread | None = None
        self._has_failed = False
        self._state = VectorState(dimension)

    def __len__(self) -> int:
        """Return the number of rows that have a vector."""
        return len(self._state.now.column)

    @property
    def column(self) -> _core.VectorColumn:
        """Every row's vector, in the core."""
        return self._state.now.column

    @property
    def has_graph(self) -> bool:
        """Searches go through a graph now."""
        return self._state.now.sealed is not None

    @property
    def lasting(self) -> Snapshot | None:
        """What is held now, if it has a graph that is not about to give way to another or none."""
        now = self._state.now
        is_leaving = due(self.kind, now) in {Task.GRAPH, Task.FLAT}
        return None if now.sealed is None or is_leaving else now

    @property
    def resident_bytes(self) -> int:
        """Bytes of vectors, links and tables held, room to grow left out."""
        return self._state.nbytes

    def begin(self, restored: Restored) -> None:
        """Hold a graph that was kept. REQUIRES: nothing was added, and it is of this dimension."""
        with self._lock:
            self._state.begin(restored)
            self._start_upkeep()

    def add(self, rows: npt.ArrayLike, vectors: npt.ArrayLike) -> int:
        """Give rows their vectors; a row that has one gets the new one in its place.

        Args:
            rows: integers from 0 to 2^32 - 1, shape (n,), each once.
            vectors: shape (n, dimension); brought to unit length. A zero vector stands for none.

        Returns:
            How many rows have a vector of those given: n less the zero vectors.

        Raises:
            TypeError: rows that are no integers, vectors that are no real numbers.
            ValueError: another shape, a row given twice, or a vector with NaN, infinity or an
                infinite norm, naming its position. Nothing is changed then.
            RuntimeError: the index is closed.
        """
        numbers = read_rows(rows)
        matrix = read_vectors("vectors", vectors, self.dimension)
        if len(numbers) != len(matrix):
            msg = f"rows: expected {len(matrix)}, one a vector, got {len(numbers)}"
            raise ValueError(msg)
        refuse_repeats(numbers)
        with self._lock:
            self._check_open()
            count = self._state.write(numbers, matrix)
            self._start_upkeep()
        return count

    def remove(self, rows: npt.ArrayLike) -> int:
        """Take the vectors of rows out; rows without one are passed over.

        Returns:
            How many were taken out.

        Raises:
            TypeError, ValueError: rows as in :meth:`add`, though they may recur.
            RuntimeError: the index is closed.
        """
        numbers = read_rows(rows)
        with self._lock:
            self._check_open()
            count = self._state.remove(numbers)
            self._start_upkeep()
        return count

    def search(self, vector: npt.ArrayLike, k: int, allowed: Bits | None = None) -> RankedList:
        """Return the ``k`` rows whose vectors are nearest by cosine.

        Args:
            vector: shape (dimension,), any length but zero; a zero vector, which has no direction,
                finds nothing.
            k: most rows to return, >= 0.
            allowed: packed bits of the rows that may be returned (see ``oneiros.channels.Bits``).

        Returns:
            ``k`` rows wherever so many exist. Cosines are float32 numbers, to rounding in [-1, 1].

        Raises:
            TypeError: the wrong dtype.
            ValueError: another shape, NaN or infinity, or a negative ``k``.
        """
        query = read_query(vector, self.dimension)
        count, bits = read_k(k), read_allowed(allowed)
        if count == 0 or not query.any():
            return RankedList(np.empty(0, np.uint32), np.empty(0, np.float64))
        return self._state.now.search(query, count, bits)

    def walk(self, vector: Matrix, k: int, allowed: Bits | None) -> RankedList | None:
        """Return what a walk of the graph finds; None where looking at every vector is as fast.

        Args:
            vector: of unit length, shape (dimension,).
            k: most rows to return.
            allowed: packed bits of the rows that may be returned.
        """
        return self._state.now.walk(vector, k, allowed) if k else None

    def walk_many(
        self, vectors: Matrix, k: int, allowed: Bits | None, threads: int
    ) -> list[RankedList | None]:
        """Return :meth:`walk` of each of these vectors, shape (n, dimension); ``threads`` at a time."""
        now, found = self._state.now, list[RankedList | None]()
        for start in range(0, len(vectors) if k else 0, BATCH):
            part = vectors[start : start + BATCH]
            found += now.walk_many(part, k, allowed, min(threads, most_threads()))
        return found or [None] * len(vectors)

    def search_many(
        self, vectors: npt.ArrayLike, k: int, allowed: Bits | None = None, *, threads: int = 1
    ) -> list[RankedList]:
        """Return one list a query, the same as :meth:`search` gives without a graph.

        Args:
            vectors: shape (n, dimension), as :meth:`search` takes one.
            k: most rows a query.
            allowed: for all queries.
            threads: at most so many at a time, 1 to 256; bounded by the processors of this process, and
                one in a child of a fork.

        Raises:
            TypeError, ValueError: as :meth:`search`, naming the vector's position.
        """
        queries = read_vectors("vectors", vectors, self.dimension)
        count, bits = read_k(k), read_allowed(allowed)
        require_threads(threads)
        now, found = self._state.now, list[RankedList]()
        for start in range(0, len(queries) if count else 0, BATCH):
            part = queries[start : start + BATCH]
            batch = now.search_many(part, count, bits, min(threads, most_threads()))
            found += [
                ranked if query.any() else self.search(query, 0)
                for query, ranked in zip(part, batch, strict=True)
            ]
        return found or [self.search(query, 0) for query in queries]

    def reconstruct(self, rows: npt.ArrayLike) -> Matrix:
        """Return the unit vectors of rows, shape (n, dimension); zeros where a row has none."""
        return self._state.now.column.reconstruct(rows=read_rows(rows))

    def cosines(self, vector: npt.ArrayLike, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the exact cosine of each row with ``vector``, shape (n,).

        The same bits as :meth:`search` gives. NaN where a row has no vector, or ``vector`` is zero.
        """
        query, numbers = read_query(vector, self.dimension), read_rows(rows)
        if not query.any():
            return np.full(len(numbers), np.nan, np.float64)
        return self._state.now.column.cosines(query=query, rows=numbers)

    def settle(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the background work that is due now is done; False if time ran out first."""
        worker = self._worker
        if worker is None:
            return True
        worker.join(timeout_seconds)
        return not worker.is_alive()

    def close(self) -> None:
        """Stop the background work and wait for it, a fraction of a second. Searches still work."""
        with self._lock:
            self._is_closed = True
            worker = self._worker
        if worker is not None:
            worker.join()

    def _check_open(self) -> None:
        if self._is_closed:
            msg = "vector index: closed"
            raise RuntimeError(msg)

    def _start_upkeep(self) -> None:
        """Start the background thread if something is due and none runs. The lock is held."""
        if self._has_failed or due(self.kind, self._state.now) is None:
            return
        if self._worker is None or not self._worker.is_alive():  # a fork leaves it dead
            self._worker = threading.Thread(target=self._upkeep, name="oneiros-vector", daemon=True)
            self._worker.start()

    def _upkeep(self) -> None:
        while True:
            with self._lock:
                task = due(self.kind, self._state.now)
                if task is None or self._is_closed:
                    self._worker = None
                    return
                snapshot = self._state.begin_build()
            try:
                built = build(task, snapshot, lambda: self._is_closed)
            except (MemoryError, RuntimeError, ImportError) as error:
                # Searches stay exact and right, only slower; trying again would fail again.
                _log.warning("vector index: %s failed, searching without: %s", task.value, error)
                self._has_failed, built = True, None
            with self._lock:
                self._state.take_over(built)
                if self._has_failed:
                    return
