"""Runs of ids that count up with their rows, and whose each row is."""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from oneiros.errors import SnapshotDamaged

__all__ = ["IdRuns", "Spans", "spans_of"]

_FARTHEST: Final = 2**62
"""Ids farther from 0 are in no run, so that no sum of an id and a row passes 64 bits."""


class Spans(NamedTuple):
    """Whose each row is: from a span's first row to the next span's, an id is row + shift.

    Or the stray at row + shift, where ``are_strays``. Replaced as a whole, so that readers see one
    state; but for strays that are written behind the last.
    """

    starts: npt.NDArray[np.int64]  # ascending
    shifts: npt.NDArray[np.int64]
    are_strays: npt.NDArray[np.bool_]
    strays: npt.NDArray[Any]  # int64 until the first str, then objects
    only_shift: int | None  # of the one run there is, if that is all

    def followed_by(self, start: int, shift: int, is_stray: bool) -> Spans:
        kept = int(np.searchsorted(self.starts, start))  # none is of no row
        starts = np.append(self.starts[:kept], np.int64(start))
        shifts = np.append(self.shifts[:kept], np.int64(shift))
        return spans_of(starts, shifts, np.append(self.are_strays[:kept], is_stray), self.strays)


def spans_of(
    starts: npt.NDArray[np.int64],
    shifts: npt.NDArray[np.int64],
    are_strays: npt.NDArray[np.bool_],
    strays: npt.NDArray[Any],
) -> Spans:
    is_one_run = len(starts) == 1 and not are_strays[0]
    return Spans(starts, shifts, are_strays, strays, int(shifts[0]) if is_one_run else None)


class _Runs(NamedTuple):
    """By first id; replaced as a whole, but for the ends."""

    firsts: list[int]
    ends: list[int]
    shifts: list[int]  # row - id


class IdRuns:
    """Disjoint in ids and in rows. One thread at a time may change it; reading is for any."""

    def __init__(self) -> None:
        self._runs = _Runs([], [], [])
        self._last = -1  # the place of the run whose rows are the last

    @property
    def id_count(self) -> int:
        """How many ids they have."""
        return sum(self._runs.ends) - sum(self._runs.firsts)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(sys.getsizeof(one) + 32 * len(one) for one in self._runs)

    def row_of(self, id: int) -> int | None:
        """Return the row of an id, if it is in a run."""
        runs = self._runs
        place = bisect_right(runs.firsts, id) - 1
        return id + runs.shifts[place] if place >= 0 and id < runs.ends[place] else None

    def rows_of(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of ids, -1 for those that are in no run; shape (n,)."""
        runs = self._runs
        if not runs.firsts:
            return np.full(len(ids), -1, np.int64)
        firsts, ends, shifts = (np.array(one, np.int64) for one in runs)
        place = np.searchsorted(firsts, ids, side="right") - 1
        is_in = (place >= 0) & (ids < ends[place])
        rows: npt.NDArray[np.int64] = np.where(is_in, ids + shifts[place], -1)
        return rows

    def hold_rows(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        """Return which of the rows are those of a run's ids; shape (n,)."""
        table = self.table()
        if not len(table):
            return np.zeros(len(rows), np.bool_)
        place = np.searchsorted(table[:, 0], rows.astype(np.int64), side="right") - 1
        held: npt.NDArray[np.bool_] = (place >= 0) & (rows < table[place, 0] + table[place, 2])
        return held

    def extend(self, first: int, row: int, count: int) -> bool:
        """Let the last run go on, if it can: from this id at this row, which no run has yet."""
        runs, last = self._runs, self._last
        if (
            last < 0
            or runs.ends[last] != first
            or first + runs.shifts[last] != row
            or first + count > _FARTHEST
            or (last + 1 < len(runs.firsts) and runs.firsts[last + 1] < first + count)
        ):
            return False
        runs.ends[last] = first + count
        return True

    def has_room(self, first: int, count: int) -> bool:
        """Whether no run has one of these ids, nor has had one that was forgotten."""
        runs = self._runs
        place = bisect_right(runs.firsts, first) - 1
        return (
            -_FARTHEST <= first < first + count <= _FARTHEST
            and (place < 0 or runs.ends[place] <= first)
            and (place + 1 == len(runs.firsts) or first + count <= runs.firsts[place + 1])
        )

    def add(self, first: int, row: int, count: int) -> None:
        """Take a run, whose rows are behind all others. It must have room."""
        firsts, ends, shifts = (list(one) for one in self._runs)
        place = bisect_right(firsts, first)
        firsts.insert(place, first)
        ends.insert(place, first + count)
        shifts.insert(place, row - first)
        self._runs = _Runs(firsts, ends, shifts)
        self._last = place

    def table(self) -> npt.NDArray[np.int64]:
        """Return first row, first id and size of each, by row; shape (n, 3)."""
        runs = zip(*self._runs, strict=True)
        by_row = sorted((first + shift, first, end - first) for first, end, shift in runs)
        return np.array(by_row, np.int64).reshape(len(by_row), 3)

    @classmethod
    def of_table(cls, table: npt.NDArray[np.int64], row_count: int) -> IdRuns:
        """Return the runs of a table.

        Raises:
            SnapshotDamaged: it is not one that :meth:`table` returns for so many rows.
        """
        made = cls()
        least = 0
        by_row: list[tuple[int, int, int]] = []
        for row, first, size in table.tolist():
            if not (
                least <= row < row + size <= row_count
                and -_FARTHEST <= first < first + size <= _FARTHEST
            ):
                _refuse()
            least = row + size
            by_row.append((first, first + size, row - first))
        by_id = sorted(by_row)
        for (_, end, _), (first, _, _) in itertools.pairwise(by_id):
            if first < end:
                _refuse()
        made._runs = (
            _Runs(*(list(column) for column in zip(*by_id, strict=True))) if by_id else made._runs
        )
        made._last = by_id.index(by_row[-1]) if by_row else -1
        return made


def _refuse() -> None:
    msg = "the ids of its texts make no sense"
    raise SnapshotDamaged(msg)
