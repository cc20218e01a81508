"""The books of a vector index: what changes when rows come, go, or move under a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from oneiros import _core
from oneiros.channels import Bits, Rows
from oneiros.channels.vector_index.kept_graph import ReplacedVectors
from oneiros.channels.vector_index.sealed import Sealed
from oneiros.channels.vector_index.snapshot import Snapshot
from oneiros.channels.vector_index.upkeep import Built
from oneiros.dataclasses_on_use import replace

if TYPE_CHECKING:
    from oneiros.channels.vector_index.hnsw import Matrix

__all__ = ["VectorState"]


class VectorState:
    """The column, and the snapshot that says which of its rows lie under a graph.

    Changes are for one thread at a time; ``now`` is for any, and each value of it stays good.

    A row is taken from under the graph before its vector changes: from then on searches look at its
    vector, whichever it is, and a change that an interrupt cuts off in between has not begun.
    """

    def __init__(self, column: _core.VectorColumn) -> None:
        self.now = Snapshot(column)
        """The latest state."""
        self.replaced: ReplacedVectors | None = None
        """What rows had whose vector changed since :meth:`await_graph`."""
        self._changed: list[Rows] | None = None  # rows whose vector changed since a build began

    @property
    def nbytes(self) -> int:
        """Bytes of vectors, links and tables held, room to grow left out."""
        now = self.now
        tables = sum(0 if bits is None else bits.nbytes for bits in (now.live, now.under))
        return now.column.resident_bytes + (now.sealed.nbytes if now.sealed else 0) + tables

    def await_graph(self) -> None:
        """Note what changes until :meth:`take_over` has a graph of the vectors there are now."""
        self._changed, self.replaced = [], ReplacedVectors()

    def write(self, rows: Rows, vectors: Matrix) -> int:
        """Give rows their vectors, a zero vector standing for none; return how many are not zero."""
        self._leave_graph(rows)
        return self.now.column.write(rows=rows, vectors=vectors)

    def remove(self, rows: Rows) -> int:
        """Take the vectors of rows out; return how many there were."""
        self._leave_graph(rows)
        return self.now.column.remove(rows=rows)

    def begin_build(self) -> Snapshot:
        """Return the state to build from; what changes from now on is known to :meth:`take_over`."""
        self._changed = []
        return self.now

    def take_over(self, built: Built | None) -> None:
        """Publish what was built, less what changed since; None: it was not built."""
        changed, self._changed, self.replaced = self._changed, None, None
        if built is None:
            return
        column, sealed = self.now.column, built.sealed
        if sealed is None:
            self.now = Snapshot(column)
            return
        is_live, count = built.is_live, len(sealed.graph)
        if changed:
            is_gone = np.isin(sealed.rows, np.concatenate(changed))
            # A node may hold what its row had at another moment than its twins were compared with.
            is_gone[count:] |= is_gone[sealed.heads]
            is_live = is_live & ~is_gone
        self.now = _under(column, sealed, is_live)

    def _leave_graph(self, rows: Rows) -> None:
        """Publish the state in which rows do not lie under the graph."""
        if self._changed is not None:
            self._changed.append(rows.copy())
        now = self.now
        if self.replaced is not None:
            self.replaced.keep(now.column, rows[now.column.has(rows=rows)])
        if now.sealed is None or now.under is None or now.positions is None:
            return
        leaving = np.unique(rows[rows < 8 * len(now.under)])
        leaving = leaving[_bits_at(now.under, leaving)]
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


def _under(column: _core.VectorColumn, sealed: Sealed, is_live: npt.NDArray[np.bool_]) -> Snapshot:
    """Return the state in which the rows of these positions lie under a graph."""
    held = np.flatnonzero(is_live)
    rows = sealed.rows[held]
    end = int(rows.max(initial=0)) + 1
    positions, is_under = np.zeros(end, np.uint32), np.zeros(end, np.bool_)
    positions[rows], is_under[rows] = held, True
    is_whole = len(held) == len(sealed)
    return Snapshot(
        column=column,
        sealed=sealed,
        live=None if is_whole else np.packbits(is_live, bitorder="little"),
        dead_count=len(sealed) - len(held),
        under=np.packbits(is_under, bitorder="little"),
        positions=positions,
    )


def _bits_at(bits: Bits, places: Rows) -> npt.NDArray[np.bool_]:
    at: npt.NDArray[np.uint8] = bits[places >> 3] >> (places & 7).astype(np.uint8)
    return (at & 1).astype(np.bool_)


def _without(bits: Bits, places: Rows) -> Bits:
    """Return the bits with some of them cleared."""
    left = bits.copy()
    np.bitwise_and.at(left, places >> 3, ~(1 << (places & 7)).astype(np.uint8))
    return left
