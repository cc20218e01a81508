"""The vector index: nearest rows by cosine, exact for few vectors, by an HNSW graph for many."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros._lazy import logging
from oneiros.model.validation import require_number, require_threads
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.runtime.locks import fork_safe_lock
from oneiros.vector_index import DEFAULT_RECALL, BitArray, Bits, Kind, RankedList, Rows, Walked
from oneiros.vector_index.calibration import calibrated, needs_full_precision
from oneiros.vector_index.hnsw_snapshot import KeptGraph, ReplacedVectors, restored
from oneiros.vector_index.sealed import Sealed, flags_of, seal
from oneiros.vector_index.snapshot import VectorSnapshot
from oneiros.vector_index.vectors import (
    read_allowed,
    read_k,
    read_query,
    read_rows,
    read_vectors,
    refuse_repeats,
)

if TYPE_CHECKING:
    from oneiros.vector_index.hnsw import Matrix

__all__ = [
    "FLAT_LIMIT",
    "Built",
    "Rebuild",
    "VectorIndex",
    "VectorState",
    "build",
    "due",
    "most_threads",
]


_is_child = False


def most_threads() -> int:
    """Return the most threads for FAISS: the processors of this process; 1 in a forked child."""
    if _is_child:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _note_child() -> None:
    global _is_child  # noqa: PLW0603 (a fact about the process)
    _is_child = True


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_note_child)


# One thread, 384 components, clustered vectors, AMD EPYC (AVX-512), median microseconds per query:
#
#     vectors                      1,000  2,000  5,000  10,000  20,000  100,000
#     flat, k = 100                   21     36     69     115     204    1,880
#     HNSW, k = 100, breadth 200                           119     188      450
#     flat, k = 10                    15     28     53      92     168
#     HNSW, k = 10, breadth 96                              47
#     HNSW build, s                                 0.3     0.7     2         17
#
# The builds are of texts' vectors, but for 20,000.
#
# Both take as long at about 20,000 vectors for 100 results (10,000 where a graph fits the cache), and
# at 5,000 to 12,000 for 10. Of two that take as long, the exact search is better.
FLAT_LIMIT: Final = 10_000

LEAST_GRAPH: Final = 256  # a smaller graph is always slower than a scan
FRESH_SHARE: Final = 16  # a graph grows when fresh vectors are 1/16 of it,
FEWEST_FRESH: Final = 1_024  # but at least this many, or copying the graph is most of the work,
MOST_FRESH: Final = 8_192  # and at most this many, or scanning them is most of a search
DEAD_SHARE: Final = 4  # the graph is rebuilt when a quarter of its positions is dead
FEWEST_DEAD: Final = 1_024


class Rebuild(Enum):
    """A task that builds the next state."""

    RESTORE = "the graph that was kept comes back"
    EXTEND = "the graph grows by the fresh vectors"
    GRAPH = "a new graph of all vectors"
    FLAT = "the graph goes"


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a task."""

    sealed: Sealed | None
    is_live: npt.NDArray[np.bool_]
    """Whether each position is in use, shape (n,)."""


def due(kind: Kind, now: VectorSnapshot) -> Rebuild | None:
    """Return the task that is due, or None."""
    least = {"auto": FLAT_LIMIT + 1, "hnsw": LEAST_GRAPH, "flat": None}[kind]
    count = len(now.column)
    if now.sealed is None:
        return Rebuild.GRAPH if least is not None and count >= least else None
    if least is None or count < least // 2:  # half: no flapping at the limit
        return Rebuild.FLAT
    if now.dead_count >= FEWEST_DEAD and now.dead_count * DEAD_SHARE >= now.sealed_count:
        return Rebuild.GRAPH
    fresh_limit = min(max(now.sealed_count // FRESH_SHARE, FEWEST_FRESH), MOST_FRESH)
    return Rebuild.EXTEND if now.fresh_count >= fresh_limit else None


def _without_graph() -> Built:
    return Built(None, np.empty(0, np.bool_))


def build(
    task: Rebuild, snapshot: VectorSnapshot, rows: Rows, is_stopped: Callable[[], bool]
) -> Built | None:
    """Run a task on a snapshot, which is not changed, and its rows with a vector; None if stopped."""
    if task is Rebuild.FLAT:
        return _without_graph()
    column, former, live = snapshot.column, snapshot.sealed, snapshot.live
    is_rounded = not _needs_full_precision(task, snapshot, is_stopped)
    if task is Rebuild.GRAPH or (former is not None and is_rounded < former.graph.is_rounded):
        former = live = None
    if former is not None and snapshot.under is not None:
        rows = rows[~_are_in(snapshot.under, rows)]
    # A multiple of eight rows: the packed bits of positions end with a whole byte.
    rows = rows[: len(rows) // 8 * 8]
    if former is None and len(rows) == 0:  # all were removed since the task was due
        return _without_graph()
    made = seal(column, former, live, rows, is_stopped, is_rounded=is_rounded)
    if made is None:
        return None
    sealed, order = made
    if former is not None:
        sealed = replace(sealed, calibration=former.calibration)
    is_live = np.ones(len(sealed), np.bool_)
    if former is not None:
        is_old = order < len(former)
        is_live[is_old] = flags_of(live, len(former))[order[is_old]]
    return Built(sealed, is_live)


def _needs_full_precision(
    task: Rebuild, snapshot: VectorSnapshot, is_stopped: Callable[[], bool]
) -> bool:
    """Return whether the graph must keep all bits; one that grew little goes on as it is."""
    column, former = snapshot.column, snapshot.sealed
    if task is Rebuild.EXTEND and former is not None:
        measured = former.calibration
        if not former.graph.is_rounded:
            return True
        if measured is not None and not measured.is_due(len(column), measured.target):
            return False
    return needs_full_precision(column, is_stopped)


class VectorState:
    """The column, and the snapshot of which of its rows are in a graph.

    One thread at a time may change it. Any thread may read ``now``, and each value stays valid.

    A row leaves the graph before its vector changes. From then on searches scan its vector, old or
    new, and a change that is interrupted in between has not begun.
    """

    def __init__(self, column: _core.VectorColumn) -> None:
        self.now = VectorSnapshot(column)
        """The latest state."""
        self.replaced: ReplacedVectors | None = None
        """Original vectors of the rows changed since :meth:`await_graph`."""
        self._changed: list[Rows] | None = None  # rows whose vector changed since a build began

    @property
    def nbytes(self) -> int:
        """Bytes of vectors, links and tables, without spare capacity."""
        now = self.now
        tables = sum(0 if bits is None else bits.nbytes for bits in (now.live, now.under))
        return now.column.resident_bytes + (now.sealed.nbytes if now.sealed else 0) + tables

    def await_graph(self) -> None:
        """Record changes until :meth:`take_over` receives a graph of the current vectors."""
        self._changed, self.replaced = [], ReplacedVectors()

    def write(self, rows: Rows, vectors: Matrix) -> int:
        """Set the vectors of rows (a zero vector removes it); return the number of nonzero ones."""
        self._leave_graph(rows)
        return self.now.column.write(rows=rows, vectors=vectors)

    def remove(self, rows: Rows) -> int:
        """Remove the vectors of rows and return how many there were."""
        self._leave_graph(rows)
        return self.now.column.remove(rows=rows)

    def begin_build(self) -> tuple[VectorSnapshot, Rows]:
        """Return the state to build from and its rows with a vector.

        Changes are recorded until :meth:`take_over`: rows that are written meanwhile are not in the
        result.
        """
        self._changed = []
        return self.now, self.now.column.rows()

    def take_over(self, built: Built | None) -> None:
        """Publish a result without the rows that changed since; None: the build failed."""
        if built is not None:
            self.now = self.with_graph(built)
        self._changed = self.replaced = None

    def with_graph(self, built: Built) -> VectorSnapshot:
        """Return the state that :meth:`take_over` would publish now.

        It has no graph if no row of the graph is in use any more.
        """
        column, sealed, changed = self.now.column, built.sealed, self._changed
        if sealed is None:
            return VectorSnapshot(column)
        is_live, count = built.is_live, len(sealed.graph)
        if changed:
            is_gone = np.isin(sealed.rows, np.concatenate(changed))
            # The vector of a node's row may have changed between the comparison with its twins and
            # its addition to the graph.
            is_gone[count:] |= is_gone[sealed.heads]
            is_live = is_live & ~is_gone
        if not is_live.any():
            return VectorSnapshot(column)
        return _snapshot_of(column, sealed, is_live)

    def _leave_graph(self, rows: Rows) -> None:
        """Publish the state in which rows are not in the graph."""
        if self._changed is not None:
            self._changed.append(rows.copy())
        now = self.now
        if self.replaced is not None:
            self.replaced.keep(now.column, rows[now.column.has(rows=rows)])
        if now.sealed is None or now.under is None or now.positions is None:
            return
        leaving = np.unique(rows)
        leaving = leaving[_are_in(now.under, leaving)]
        if len(leaving) == 0:
            return
        live = now.live
        if live is None:
            live = np.full(len(now.sealed) // 8, 0xFF, np.uint8)
        self.now = replace(
            now,
            live=_without(live, now.positions[leaving]),
            under=_without(now.under, leaving),
            dead_count=now.dead_count + len(leaving),
        )


def _snapshot_of(
    column: _core.VectorColumn, sealed: Sealed, is_live: npt.NDArray[np.bool_]
) -> VectorSnapshot:
    """Return the state in which the rows at live positions are in the graph."""
    live = np.flatnonzero(is_live)
    rows = sealed.rows[live]
    end = int(rows.max(initial=0)) + 1
    positions, is_under = np.zeros(end, np.uint32), np.zeros(end, np.bool_)
    positions[rows], is_under[rows] = live, True
    is_whole = len(live) == len(sealed)
    return VectorSnapshot(
        column=column,
        sealed=sealed,
        live=None if is_whole else np.packbits(is_live, bitorder="little"),
        dead_count=len(sealed) - len(live),
        under=np.packbits(is_under, bitorder="little"),
        positions=positions,
    )


def _are_in(bits: BitArray, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which rows have their bit set; those beyond the bits have none."""
    found = rows < 8 * len(bits)
    within = rows[found]
    found[found] = bits[within >> 3] >> (within & 7).astype(np.uint8) & 1
    return found


def _without(bits: BitArray, places: Rows) -> BitArray:
    """Return the bits with some of them cleared."""
    left = bits.copy()
    np.bitwise_and.at(left, places >> 3, ~(1 << (places & 7)).astype(np.uint8))
    return left


SCANS_WITHOUT_GRAPH: Final = 2
"""Number of queries that would have walked a graph before it is read, or built of stored vectors, in
the background: a process with a single query never loads FAISS."""

BATCH: Final = 1_024  # queries that are searched together: bounds memory use


class VectorIndex:
    """Unit vectors of rows, searched by cosine.

    Any number of threads may search while one thread at a time changes the index: a search sees
    each row as it was before a change or after. A vector is found as soon as :meth:`add` returns.
    One background thread builds graphs. Searches scan all vectors until a graph is ready, and
    afterwards the vectors added since, so they never wait for a build.

    The vectors are in the core (``_core.VectorColumn``), which computes every cosine: the same bits
    from every method and on every machine. FAISS is imported with the first graph and holds only
    the graph. Without FAISS no graph is built, a warning is logged once, and results stay exact.

    An index made by :meth:`over` reads its graph in the background, from the second vector query
    on, or builds it if none was kept. Reading takes a fraction of a second. Until then results are
    exact.

    Results are exact without a graph, and with a filter whenever the graph would be slower or find
    fewer than ``k``. With a graph they are approximate. How widely it is walked is measured on a
    sample of the vectors when it is built, and again when it has grown by half, so that ``recall``
    of the nearest are found; where such walks would cost more than a scan of all vectors, results
    are exact. Ties: the smaller row first.

    Args:
        dimension: components of a vector, >= 1.
        kind: "flat" scans all vectors; "hnsw" builds a graph; "auto" is flat up to 10,000 vectors
            and builds a graph beyond.
        recall: the share of the exact nearest that walks of a graph should find, in (0, 1]. The
            narrowest walk finds about .99 of those of texts.

    Raises:
        ValueError: a dimension below 1, an unknown kind, or a recall outside its range.
    """

    def __init__(
        self, dimension: int, kind: Kind = "auto", *, recall: float = DEFAULT_RECALL
    ) -> None:
        if dimension < 1:
            msg = f"dimension: must be >= 1, got {dimension}"
            raise ValueError(msg)
        if kind not in get_args(Kind):
            msg = f"kind: expected one of {', '.join(get_args(Kind))}, got {kind!r}"
            raise ValueError(msg)
        self.dimension: Final = dimension
        self.kind: Final = kind
        self.recall: Final = require_number("recall", recall, low=0, high=1, above_low=True)
        self._lock = fork_safe_lock()
        self._is_closed = False
        self._worker: threading.Thread | None = None
        self._has_failed = False
        self._state = VectorState(_core.VectorColumn(dimension=dimension))
        self._read_graph: Callable[[], KeptGraph] | None = None  # of a graph not read yet
        self._is_trusted = False
        self._awaits_queries = False  # the graph is read or built after a few queries
        self._is_graph_wanted = False  # by them
        self._scans = 0  # queries that would have walked it
        self._changes = 0  # since the index was made
        self._kept: Sealed | None = None  # the graph that was read

    @classmethod
    def over(
        cls,
        column: _core.VectorColumn,
        kind: Kind,
        read_graph: Callable[[], KeptGraph] | None,
        *,
        is_trusted: bool,
        recall: float = DEFAULT_RECALL,
    ) -> VectorIndex:
        """Return an index of the vectors in a column.

        Args:
            column: the column, used only by this index.
            kind: as for the class.
            read_graph: returns the graph stored with these vectors, or raises ValueError; None if
                there is no graph.
            is_trusted: whether the graph is known to be of these vectors; else it is compared with
                them.
            recall: as for the class.
        """
        index = cls(column.dimension, kind, recall=recall)
        index._state = VectorState(column)
        index._awaits_queries = True
        if read_graph is not None:
            index._read_graph, index._is_trusted = read_graph, is_trusted
            index._state.await_graph()
        return index

    def __len__(self) -> int:
        """Return the number of rows that have a vector."""
        return len(self._state.now.column)

    @property
    def column(self) -> _core.VectorColumn:
        """Every row's vector, in the core."""
        return self._state.now.column

    @property
    def has_graph(self) -> bool:
        """Whether searches use a graph now."""
        return self._state.now.sealed is not None

    @property
    def lasting(self) -> VectorSnapshot | None:
        """The current state if it has a graph that is not about to be replaced; else None.

        Waits until a graph not read yet is read.
        """
        if self._read_graph is not None:
            self._request_graph()
        while self._read_graph is not None and not self._has_failed and not self._is_closed:
            worker = self._worker
            if worker is None or not worker.is_alive():
                break
            worker.join(_POLL_SECONDS)
        now = self._state.now
        is_leaving = due(self.kind, now) in {Rebuild.GRAPH, Rebuild.FLAT}
        return None if now.sealed is None or is_leaving else now

    def kept(self) -> tuple[KeptGraph | None, Sealed | None]:
        """Return the graph in its stored form, and the graph; None if it is about to be replaced.

        A graph not read yet is returned as it was stored, and None, if no vector has changed.
        """
        read_graph = self._read_graph
        if read_graph is not None and self._is_trusted and not self._changes:
            with contextlib.suppress(ValueError):
                return read_graph(), None
        lasting = self.lasting
        return (None, None) if lasting is None else (KeptGraph.of(lasting), lasting.sealed)

    @property
    def has_new_graph(self) -> bool:
        """Whether :attr:`lasting` has another graph than the one that the index was made with."""
        if self._read_graph is not None:
            return False
        lasting = self.lasting
        return lasting is not None and lasting.sealed is not self._kept

    @property
    def has_first_graph(self) -> bool:
        """Whether :attr:`lasting` has a graph, and none was stored or read."""
        return self._kept is None and self.has_new_graph

    @property
    def is_building(self) -> bool:
        """Whether a graph is being read or built."""
        worker = self._worker
        return worker is not None and worker.is_alive()

    def note_kept(self, graph: KeptGraph | None, sealed: Sealed | None) -> None:
        """Record that what :meth:`kept` returned was stored; :attr:`has_new_graph` compares with it.

        Another graph may have been built since.
        """
        if sealed is not None or graph is None:
            self._kept = sealed

    def measured(self) -> dict[str, Any]:
        """Return how vectors are searched now, and what was measured of it; see ``Engine.stats``."""
        now = self._state.now
        sealed = now.sealed
        found: dict[str, Any] = {"method": "exact", "target_recall": self.recall}
        if sealed is not None:
            found |= {"method": "hnsw", "bits": 16 if sealed.graph.is_rounded else 32}
            for depth in () if sealed.calibration is None else sealed.calibration.depths:
                figures = {"breadth": now.breadth(depth.k), "recall": round(depth.recall, 3)}
                found[f"top_{depth.k}"] = figures
        return found

    @property
    def resident_bytes(self) -> int:
        """Bytes of vectors, their 8-bit codes, links and tables, without spare capacity."""
        return self._state.nbytes

    def add(self, rows: npt.ArrayLike, vectors: npt.ArrayLike) -> int:
        """Set the vectors of rows, replacing those they have.

        Args:
            rows: integers from 0 to 2^32 - 1, shape (n,), each once.
            vectors: shape (n, dimension), normalised to unit length. A zero vector leaves its row
                without a vector.

        Returns:
            n minus the number of zero vectors.

        Raises:
            TypeError: rows are not integers, or vectors not real numbers.
            ValueError: another shape, a row given twice, or a vector with NaN, infinity or an
                infinite norm; the message names its position. Nothing changes.
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
            self._note_changes(len(numbers))
            self._start_maintenance()
        return count

    def remove(self, rows: npt.ArrayLike) -> int:
        """Remove the vectors of rows. Rows without a vector are ignored.

        Returns:
            Number of vectors removed.

        Raises:
            TypeError, ValueError: as :meth:`add` for rows, but rows may repeat.
            RuntimeError: the index is closed.
        """
        numbers = read_rows(rows)
        with self._lock:
            self._check_open()
            count = self._state.remove(numbers)
            self._note_changes(len(numbers))
            self._start_maintenance()
        return count

    def search(self, vector: npt.ArrayLike, k: int, allowed: Bits | None = None) -> RankedList:
        """Return the ``k`` rows whose vectors are nearest by cosine.

        Args:
            vector: shape (dimension,), of any length. A zero vector finds nothing.
            k: most rows to return, >= 0.
            allowed: packed bits of the rows that may be returned (see ``oneiros.vector_index.Bits``).

        Returns:
            ``k`` rows if that many exist. Cosines are float32 numbers, in [-1, 1] up to rounding.

        Raises:
            TypeError: the wrong dtype.
            ValueError: another shape, NaN or infinity, or a negative ``k``.
        """
        query = read_query(vector, self.dimension)
        count, bits = read_k(k), read_allowed(allowed)
        if count == 0 or not query.any():
            return RankedList(np.empty(0, np.uint32), np.empty(0, np.float64))
        self._note_scans(1, bits)
        return self._state.now.search(query, count, bits)

    def walk(self, vector: Matrix, k: int, allowed: Bits | None) -> Walked | None:
        """Search the graph; None if a scan of all vectors is as fast.

        Args:
            vector: of unit length, shape (dimension,).
            k: most rows to return.
            allowed: packed bits of the rows that may be returned.
        """
        if k == 0:
            return None
        self._note_scans(1, allowed)
        return self._state.now.walk(vector, k, allowed)

    def walk_many(
        self, vectors: Matrix, k: int, allowed: Bits | None, threads: int
    ) -> list[Walked | None]:
        """Return :meth:`walk` of each vector, shape (n, dimension), on ``threads`` threads."""
        self._note_scans(len(vectors) if k else 0, allowed)
        now, found = self._state.now, list[Walked | None]()
        for start in range(0, len(vectors) if k else 0, BATCH):
            part = vectors[start : start + BATCH]
            found += now.walk_many(part, k, allowed, min(threads, most_threads()))
        return found or [None] * len(vectors)

    def search_many(
        self, vectors: npt.ArrayLike, k: int, allowed: Bits | None = None, *, threads: int = 1
    ) -> list[RankedList]:
        """Return one list per query, equal to that of :meth:`search` without a graph.

        Args:
            vectors: shape (n, dimension), each as for :meth:`search`.
            k: most rows per query.
            allowed: packed bits of the rows that may be returned, for all queries.
            threads: most threads, 1 to 256; bounded by the processors of this process, and 1 in a
                forked child.

        Raises:
            TypeError, ValueError: as :meth:`search`; the message names the vector's position.
        """
        queries = read_vectors("vectors", vectors, self.dimension)
        count, bits = read_k(k), read_allowed(allowed)
        require_threads(threads)
        self._note_scans(len(queries), bits)
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
        """Return the unit vectors of rows, shape (n, dimension); zeros for a row without one."""
        return self._state.now.column.reconstruct(rows=read_rows(rows))

    def cosines(self, vector: npt.ArrayLike, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the exact cosine of each row with ``vector``, shape (n,).

        Equal to the scores of :meth:`search` to the bit. NaN if the row has no vector or ``vector``
        is zero.
        """
        query, numbers = read_query(vector, self.dimension), read_rows(rows)
        if not query.any():
            return np.full(len(numbers), np.nan, np.float64)
        return self._state.now.column.cosines(query=query, rows=numbers)

    def settle(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the background work that is due now is done; False if time ran out first.

        Reading or building a graph of stored vectors is due.
        """
        self._request_graph()
        worker = self._worker
        if worker is None:
            return True
        worker.join(timeout_seconds)
        return not worker.is_alive()

    def close(self) -> None:
        """Stop the background work and wait for its end. Searches still work."""
        with self._lock:
            self._is_closed = True
            worker = self._worker
        if worker is not None:
            worker.join()

    def _check_open(self) -> None:
        if self._is_closed:
            msg = "vector index: closed"
            raise RuntimeError(msg)

    def _request_graph(self) -> None:
        """Start reading or building the graph of stored vectors in the background."""
        if self._awaits_queries:
            with self._lock:
                self._is_graph_wanted = True
                if self._due() is None:  # too few vectors for a graph
                    self._awaits_queries = False
                elif not self._is_closed:
                    self._start_maintenance()

    def _note_scans(self, count: int, allowed: Bits | None) -> None:
        """Count queries that would walk the graph not ready yet, and request it after a few."""
        if not self._awaits_queries or self._has_failed:
            return
        worker = self._worker
        if self._is_graph_wanted and worker is not None and worker.is_alive():
            return  # it is being read; after a fork the worker is dead
        if allowed is not None and _core.count_bits(bits=allowed) < FLAT_LIMIT:
            return  # a scan is as fast
        self._scans += count
        if self._scans >= SCANS_WITHOUT_GRAPH:
            self._request_graph()

    def _note_changes(self, count: int) -> None:
        """Count changes, and request the graph once there are many. REQUIRES: the lock."""
        self._changes += count
        if self._changes >= FEWEST_FRESH:
            self._is_graph_wanted = True

    def _due(self) -> Rebuild | None:
        if self._awaits_queries and not self._is_graph_wanted:
            return None
        if self._read_graph is not None:
            return Rebuild.RESTORE
        return due(self.kind, self._state.now)

    def _start_maintenance(self) -> None:
        """Start the background thread if a task is due and none runs. REQUIRES: the lock."""
        if self._has_failed or self._due() is None:
            return
        if self._worker is None or not self._worker.is_alive():  # a fork leaves it dead
            # Forks wait for the lock held here: a child could not finish an import of the worker.
            import oneiros.vector_index.hnsw  # noqa: F401, PLC0415 - loads FAISS's module

            self._worker = threading.Thread(
                target=self._maintain, name="oneiros-vector", daemon=True
            )
            self._worker.start()

    def _maintain(self) -> None:
        while True:
            with self._lock:
                task = self._due()
                if task is None or self._is_closed:
                    self._worker = None
                    return
                if task is not Rebuild.RESTORE:
                    snapshot, rows = self._state.begin_build()
            if task is Rebuild.RESTORE:
                self._restore(self._state.now)
                continue
            try:
                built = self._calibrated(build(task, snapshot, rows, lambda: self._is_closed))
            except (MemoryError, RuntimeError, ImportError) as error:
                # Searches stay exact, but slower. A retry would fail again.
                logging.getLogger(__name__).warning(
                    "vector index: %s failed, searching without: %s", task.value, error
                )
                self._has_failed, built = True, None
            with self._lock:
                self._state.take_over(built)
                self._awaits_queries = False
                if self._has_failed:
                    return

    def _restore(self, snapshot: VectorSnapshot) -> None:
        """Restore the stored graph, without the rows that changed since."""
        built = None
        assert self._read_graph is not None
        assert self._state.replaced is not None
        try:
            kept = self._read_graph()
            sealed = restored(
                kept,
                snapshot.column,
                self._state.replaced,
                lambda: self._is_closed,
                is_trusted=self._is_trusted,
            )
            if sealed is None:  # the index is closed
                return
            built = self._calibrated(Built(sealed, kept.are_live()))
            if built is None:  # the index is closed
                return
        except (MemoryError, RuntimeError, ValueError, ImportError) as error:
            logging.getLogger(__name__).info(
                "vector index: the graph that was kept is not used: %s", error
            )
        with self._lock:
            self._state.take_over(built)
            self._kept = None if built is None else built.sealed
            self._read_graph, self._awaits_queries = None, False

    def _calibrated(self, built: Built | None) -> Built | None:
        """Return the result with a graph whose breadths were measured; None if closed."""
        sealed = None if built is None else built.sealed
        if built is None or sealed is None:
            return built
        known = sealed.calibration
        if known is None or known.is_due(len(sealed), self.recall):
            with self._lock:
                snapshot = self._state.with_graph(built)
            if snapshot.sealed is None:
                return _without_graph()
            known = calibrated(snapshot, self.recall, lambda: self._is_closed)
            if known is None:
                return None
        return replace(built, sealed=replace(sealed, calibration=known))


_POLL_SECONDS: Final = 0.01
