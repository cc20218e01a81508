"""The vector channel: nearest rows by cosine, exact while few, by an HNSW graph when many."""

from __future__ import annotations

import logging
import threading
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from oneiros.channels import Bits, Kind, RankedList
from oneiros.channels.forking import most_threads
from oneiros.channels.inner_products import Matrix, Positions, limited_to
from oneiros.channels.kept_graph import Restored
from oneiros.channels.position_table import ABSENT
from oneiros.channels.vector_batch import search_batch
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

BATCH: Final = 1_024  # queries a call into FAISS: bounds what a batch holds at a time

_log = logging.getLogger(__name__)


class VectorIndex:
    """Unit vectors of rows, searched by cosine.

    Any number of threads may search while one thread at a time changes the index: a search takes
    the state it finds, without a lock, and a change publishes the next one. A vector is found as
    soon as :meth:`add` returns. Graphs are built in one background thread; until one is ready, and
    for what came after it, searches look at every vector, so recall never waits for a build.

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
        return self._state.now.live_count

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
        has_direction = matrix.any(axis=1)
        is_whole = bool(has_direction.all())
        with self._lock:
            self._check_open()
            self._state.change(
                dead=numbers,
                rows=numbers if is_whole else numbers[has_direction],
                vectors=matrix if is_whole else matrix[has_direction],
            )
            self._start_upkeep()
        return int(np.count_nonzero(has_direction))

    def remove(self, rows: npt.ArrayLike) -> int:
        """Take the vectors of rows out; rows without one are passed over.

        Returns:
            How many were taken out.

        Raises:
            TypeError, ValueError: rows as in :meth:`add`, though they may recur.
            RuntimeError: the index is closed.
        """
        numbers = np.unique(read_rows(rows))
        with self._lock:
            self._check_open()
            before = self._state.now.live_count
            if (self._state.positions_of(numbers) == ABSENT).all():
                return 0
            nothing = np.empty((0, self.dimension), np.float32)
            self._state.change(dead=numbers, rows=numbers[:0], vectors=nothing)
            self._start_upkeep()
            return before - self._state.now.live_count

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
        with limited_to(1):
            return self._state.now.search(query, count, bits)

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
            with limited_to(min(threads, most_threads())):
                batch = search_batch(now, queries[start : start + BATCH], count, bits)
            for query, ranked in zip(queries[start:], batch, strict=False):
                # None: too close to call in a batch, or without direction
                found.append(ranked or self.search(query, count, bits))
        return found or [self.search(query, 0) for query in queries]

    def reconstruct(self, rows: npt.ArrayLike) -> Matrix:
        """Return the unit vectors of rows, shape (n, dimension); zeros where a row has none."""
        numbers = read_rows(rows)
        now, positions = self._located(numbers)
        has_vector = positions != ABSENT
        if has_vector.all():
            return now.vectors_at(positions)
        found = np.zeros((len(numbers), self.dimension), np.float32)
        found[has_vector] = now.vectors_at(positions[has_vector])
        return found

    def cosines(self, vector: npt.ArrayLike, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the exact cosine of each row with ``vector``, shape (n,).

        The same bits as :meth:`search` gives. NaN where a row has no vector, or ``vector`` is zero.
        """
        query, numbers = read_query(vector, self.dimension), read_rows(rows)
        now, positions = self._located(numbers)
        found = np.full(len(numbers), np.nan, np.float64)
        has_vector = positions != ABSENT
        if query.any():
            with limited_to(1):
                found[has_vector] = now.scores_of(query, positions[has_vector])
        return found

    def _located(self, rows: Positions) -> tuple[Snapshot, Positions]:
        """Return the latest state and the positions of rows in it."""
        while (found := self._state.located(rows)) is None:
            with self._lock:
                self._state.mend()
        return found

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
                task, snapshot = due(self.kind, self._state.now), self._state.now
                if task is None or self._is_closed:
                    self._worker = None
                    return
            try:
                built = build(task, snapshot, lambda: self._is_closed)
            except (MemoryError, RuntimeError) as error:
                # Searches stay exact and right, only slower; trying again would fail again.
                _log.warning("vector index: %s failed, searching without: %s", task.value, error)
                self._has_failed = True
                return
            if built is not None:
                with self._lock:
                    self._state.take_over(built, snapshot)
