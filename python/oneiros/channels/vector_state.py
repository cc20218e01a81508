"""The books of a vector index: what changes when rows come, go, or move under a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import Final

import numpy as np

from oneiros.channels.growing_array import GrowingArray
from oneiros.channels.inner_products import Matrix, Positions
from oneiros.channels.kept_graph import Restored
from oneiros.channels.position_table import ABSENT, PositionTable
from oneiros.channels.vector_choice import positions_in
from oneiros.channels.vector_snapshot import Snapshot
from oneiros.channels.vector_upkeep import Built

__all__ = ["VectorState"]

_PAUSE_SECONDS: Final = 0.0002


class VectorState:
    """The arrays that grow, and the snapshot of them that searches see.

    Changes are for one thread at a time; ``now`` is for any, and each value of it stays good.
    """

    def __init__(self, dimension: int) -> None:
        self._fresh = GrowingArray(np.empty((0, dimension), np.float32))
        self._rows = GrowingArray(np.empty(0, np.int64))
        self._table = PositionTable()
        self._is_cut_off = False  # or in the middle of a change
        self._version = 0  # odd while it changes
        self.now = Snapshot(None, self._fresh.values, self._rows.values, None, 0, 0, True)
        """The latest state."""

    @property
    def nbytes(self) -> int:
        """Bytes of vectors, links and tables held, room to grow left out."""
        now = self.now
        sealed = 0 if now.sealed is None else now.sealed.nbytes
        live = 0 if now.live is None else now.live.nbytes
        return now.fresh.nbytes + now.rows.nbytes + live + sealed + self._table.nbytes

    def positions_of(self, rows: Positions) -> Positions:
        """Return each row's position in the latest state, or ABSENT. For the thread that changes it."""
        self.mend()
        return self._table.of(rows)

    def located(self, rows: Positions) -> tuple[Snapshot, Positions] | None:
        """Return the latest state and each row's position in it, or ABSENT; for any thread.

        There is no lock: a signal handler may come at any point in here, and wait for a thread that
        changes the state.

        Returns:
            None where a change was cut off: :meth:`mend` the books first.
        """
        while True:
            version, is_cut_off = self._version, self._is_cut_off
            now, positions = self.now, self._table.of(rows)
            if version % 2 == 0 and version == self._version:
                return None if is_cut_off else (now, positions)
            sleep(_PAUSE_SECONDS)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self._version += 1
        try:
            yield
        finally:
            self._version += 1

    def begin(self, restored: Restored) -> None:
        """Publish a graph that was kept. REQUIRES: there was no vector before."""
        with self._changing():
            self._begin(restored)

    def _begin(self, restored: Restored) -> None:
        rows, live = restored.rows, restored.live
        held = np.arange(len(rows)) if live is None else positions_in(live)
        self._rows = GrowingArray(rows, room=len(rows) // 2)
        self._table.reserve(int(rows.max()) + 1)
        self._table.put(rows[held], held)
        self.now = Snapshot(
            sealed=restored.sealed,
            fresh=self._fresh.values,
            rows=self._rows.values,
            live=live,
            live_count=len(held),
            row_end=int(rows.max()) + 1,
            is_in_row_order=np.array_equal(rows, np.arange(len(rows))),
        )

    def change(self, *, dead: Positions, rows: Positions, vectors: Matrix) -> None:
        """Publish the state without the vectors of the rows ``dead`` and with these new ones."""
        with self._changing():
            self._change(dead, rows, vectors)

    def _change(self, dead: Positions, rows: Positions, vectors: Matrix) -> None:
        self._mend()
        now = self.now
        row_end = max(now.row_end, int(rows.max(initial=-1)) + 1)
        gone = self._table.of(dead)
        gone = gone[gone != ABSENT]
        live = now.live_after(gone, len(rows))
        self._rows.reserve(len(rows))
        self._fresh.reserve(len(rows))
        self._table.reserve(row_end)
        positions = np.arange(now.count, now.count + len(rows))
        # All memory there is to get has been got: from here on only an interrupt comes half way.
        self._is_cut_off = True
        self._table.put(dead, ABSENT)
        self._table.put(rows, positions)
        self._rows.append(rows)
        self._fresh.append(vectors)
        self.now = Snapshot(
            sealed=now.sealed,
            fresh=self._fresh.values,
            rows=self._rows.values,
            live=live,
            live_count=now.live_count - len(gone) + len(rows),
            row_end=row_end,
            is_in_row_order=now.is_in_row_order and np.array_equal(rows, positions),
        )
        self._is_cut_off = False

    def mend(self) -> None:
        """Bring the books back to the latest state, if a change of them was cut off."""
        if self._is_cut_off:
            with self._changing():
                self._mend()

    def _mend(self) -> None:
        if self._is_cut_off:
            now = self.now
            self._rows.keep(now.count)
            self._fresh.keep(len(now.fresh))
            held = now.live_positions()
            self._table.clear()
            self._table.put(now.rows[held], held)
            self._is_cut_off = False

    def take_over(self, built: Built, former: Snapshot) -> None:
        """Publish what was built from ``former``, with all that changed since."""
        with self._changing():
            self._take_over(built, former)

    def _take_over(self, built: Built, former: Snapshot) -> None:
        now = self.now
        newer = np.arange(former.count, now.count)
        order = np.concatenate((built.order, newer))
        is_live = now.is_live(order)
        built.fresh.append(now.fresh[former.count - now.sealed_count :])
        self._fresh = built.fresh
        self._rows = GrowingArray(now.rows[order], room=len(order) // 2)
        self._table.clear()
        self._table.put(self._rows.values[is_live], np.flatnonzero(is_live))
        live_count = int(np.count_nonzero(is_live))
        self.now = Snapshot(
            sealed=built.sealed,
            fresh=self._fresh.values,
            rows=self._rows.values,
            live=None if live_count == len(order) else np.packbits(is_live, bitorder="little"),
            live_count=live_count,
            row_end=now.row_end,
            is_in_row_order=np.array_equal(self._rows.values, np.arange(len(order))),
        )
