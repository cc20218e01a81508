"""The mapping from the ids of a lexical index to its rows, and back."""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from oneiros.errors import SnapshotDamaged
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oneiros.lexical.options import Id

__all__ = ["IdReader", "IdRows", "IdRuns", "RowRuns", "spans_of"]


class IdReader:
    """A reader of arrays from untrusted bytes, front to back."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._offset = 0

    @property
    def left(self) -> int:
        """The number of bytes not read yet."""
        return len(self._packed) - self._offset

    def require(self, holds: bool) -> None:
        """Raise SnapshotDamaged unless the condition holds."""
        if not holds:
            _refuse()

    def take(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        """Return the next values, shape (count,).

        Raises:
            SnapshotDamaged: fewer are left.
        """
        size = count * np.dtype(kind).itemsize
        self.require(0 <= size <= self.left)
        values = np.frombuffer(self._packed, kind, count, self._offset)
        self._offset += size
        return values

    def text(self, size: int) -> str:
        """Decode the next ``size`` bytes.

        Raises:
            SnapshotDamaged: fewer bytes are left, or they are not UTF-8.
        """
        try:
            return bytes(self.take(np.uint8, size)).decode()
        except UnicodeDecodeError as error:
            msg = "an id of its texts is not UTF-8"
            raise SnapshotDamaged(msg) from error


_FARTHEST: Final = 2**62
"""Ids farther from 0 are in no run, so that the sum of an id and a row fits 64 bits."""


class RowRuns(NamedTuple):
    """The mapping from rows to ids, in spans of consecutive rows.

    A span covers the rows from its start up to the next span's. The id of a row is row + shift, or
    ``strays[row + shift]`` where ``are_strays``. Replaced as a whole, so that readers see one
    consistent state; only new strays are written in place, behind the last one.
    """

    starts: npt.NDArray[np.int64]  # ascending
    shifts: npt.NDArray[np.int64]
    are_strays: npt.NDArray[np.bool_]
    strays: npt.NDArray[Any]  # int64 until the first str, then objects
    only_shift: int | None  # the shift if a single run is all there is

    def followed_by(self, start: int, shift: int, is_stray: bool) -> RowRuns:
        """Return the spans with a new last one from row ``start`` on, dropping later ones."""
        kept = int(np.searchsorted(self.starts, start))
        starts = np.append(self.starts[:kept], np.int64(start))
        shifts = np.append(self.shifts[:kept], np.int64(shift))
        return spans_of(starts, shifts, np.append(self.are_strays[:kept], is_stray), self.strays)


def spans_of(
    starts: npt.NDArray[np.int64],
    shifts: npt.NDArray[np.int64],
    are_strays: npt.NDArray[np.bool_],
    strays: npt.NDArray[Any],
) -> RowRuns:
    """Return the spans of these columns."""
    is_one_run = len(starts) == 1 and not are_strays[0]
    return RowRuns(starts, shifts, are_strays, strays, int(shifts[0]) if is_one_run else None)


class _Runs(NamedTuple):
    """The columns of a table of runs, sorted by first id. Only ``ends`` changes in place."""

    firsts: list[int]
    ends: list[int]
    shifts: list[int]  # row - id


class IdRuns:
    """Runs of consecutive ids with consecutive rows, disjoint in both.

    One thread at a time may write; any number may read.
    """

    def __init__(self) -> None:
        self._runs = _Runs([], [], [])
        self._last = -1  # the position of the run with the last rows

    @property
    def id_count(self) -> int:
        """The number of ids in all runs."""
        return sum(self._runs.ends) - sum(self._runs.firsts)

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return sum(sys.getsizeof(column) + 32 * len(column) for column in self._runs)

    def row_of(self, id: int) -> int | None:
        """Return the row of an id; None if it is in no run."""
        runs = self._runs
        place = bisect_right(runs.firsts, id) - 1
        return id + runs.shifts[place] if place >= 0 and id < runs.ends[place] else None

    def rows_of(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of ids, shape (n,); -1 for ids in no run."""
        runs = self._runs
        if not runs.firsts:
            return np.full(len(ids), -1, np.int64)
        firsts, ends, shifts = (np.array(column, np.int64) for column in runs)
        place = np.searchsorted(firsts, ids, side="right") - 1
        is_in = (place >= 0) & (ids < ends[place])
        rows: npt.NDArray[np.int64] = np.where(is_in, ids + shifts[place], -1)
        return rows

    def hold_rows(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        """Return whether each row belongs to a run, shape (n,)."""
        table = self.table()
        if not len(table):
            return np.zeros(len(rows), np.bool_)
        place = np.searchsorted(table[:, 0], rows.astype(np.int64), side="right") - 1
        is_in: npt.NDArray[np.bool_] = (place >= 0) & (rows < table[place, 0] + table[place, 2])
        return is_in

    def extend(self, first: int, row: int, count: int) -> bool:
        """Extend the last run by ``count`` ids from ``first`` on, at ``row``, which is unused.

        Returns:
            False if they do not continue it, or would overlap another run.
        """
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
        """Return whether no run includes one of these ids, forgotten ids included."""
        runs = self._runs
        place = bisect_right(runs.firsts, first) - 1
        return (
            -_FARTHEST <= first < first + count <= _FARTHEST
            and (place < 0 or runs.ends[place] <= first)
            and (place + 1 == len(runs.firsts) or first + count <= runs.firsts[place + 1])
        )

    def add(self, first: int, row: int, count: int) -> None:
        """Add a run, which must have room. Its rows come after all others."""
        firsts, ends, shifts = (list(column) for column in self._runs)
        place = bisect_right(firsts, first)
        firsts.insert(place, first)
        ends.insert(place, first + count)
        shifts.insert(place, row - first)
        self._runs = _Runs(firsts, ends, shifts)
        self._last = place

    def table(self) -> npt.NDArray[np.int64]:
        """Return first row, first id and size of each run, sorted by row, shape (n, 3)."""
        runs = zip(*self._runs, strict=True)
        by_row = sorted((first + shift, first, end - first) for first, end, shift in runs)
        return np.array(by_row, np.int64).reshape(len(by_row), 3)

    @classmethod
    def of_table(cls, table: npt.NDArray[np.int64], row_count: int) -> IdRuns:
        """Return the runs of a table.

        Raises:
            SnapshotDamaged: :meth:`table` cannot return this for ``row_count`` rows.
        """
        id_runs = cls()
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
        if by_id:
            id_runs._runs = _Runs(*(list(column) for column in zip(*by_id, strict=True)))
            id_runs._last = by_id.index(by_row[-1])
        return id_runs


def _refuse() -> NoReturn:
    msg = "the ids of its texts make no sense"
    raise SnapshotDamaged(msg)


_LEAST_RUN: Final = 64
_MOST_ROWS: Final = 2**32 - 1


class IdRows:
    """The rows of ids. An id keeps its row until it is forgotten; no row is used twice.

    Runs of consecutive ints are stored as runs, all other ids ("strays") in a dict. One thread at a
    time may write; any number may read.
    """

    def __init__(self) -> None:
        self._runs = IdRuns()
        self._gone: set[int] = set()  # ids of runs that were forgotten
        self._strays: dict[Id, int] = {}  # row by id; looked up before the runs
        none = np.empty(0, np.int64)
        self._spans = spans_of(none, none, np.empty(0, np.bool_), np.empty(16, np.int64))
        self._stray_count = 0  # entries of the spans' strays that are in use
        self._tail = 0  # the last strays that are consecutive ints, as a count
        self._last_number = 0
        self._row_count = 0
        self._text_id_count = 0  # str ids that have a row

    def row_of(self, id: Id) -> int | None:
        """Return the id's row; None if it has none."""
        row = self._strays.get(id)
        if row is None and isinstance(id, int):
            row = self._runs.row_of(id)
            if row is not None and id in self._gone:
                return None
        return row

    def rows_of(self, ids: Sequence[Id]) -> npt.NDArray[np.int64]:
        """Return the rows of ids, shape (n,); -1 for ids without one."""
        if not _are_ints(ids):
            rows = [self.row_of(id) for id in ids]
            return np.array([-1 if row is None else row for row in rows], dtype=np.int64)
        found = self._rows_in_runs(np.array(ids, dtype=np.int64))
        if self._strays:
            for place in np.flatnonzero(found < 0).tolist():
                row = self.row_of(ids[place])
                found[place] = -1 if row is None else row
        return found

    def known(self, ids: Sequence[Id]) -> npt.NDArray[np.uint32]:
        """Return the rows of the ids that have one."""
        rows = self.rows_of(ids)
        return rows[rows >= 0].astype(np.uint32)

    def assigned_one(self, id: Id) -> int:
        """Return the id's row, assigning one to a new id."""
        row = self.row_of(id)
        if row is not None:
            return row
        row = self._row_count
        self._require_rows(1)
        if isinstance(id, int) and self._runs.extend(id, row, 1):
            self._row_count += 1
        else:
            self._append_strays([id])
        return row

    def assigned(self, ids: Sequence[Id]) -> npt.NDArray[np.uint32]:
        """Return the ids' rows, assigning rows to new ids."""
        self._require_rows(len(ids))
        if len(ids) < _LEAST_RUN or not _are_ints(ids):
            return np.array([self.assigned_one(id) for id in ids], dtype=np.uint32)
        rows = self.rows_of(ids)
        is_new = rows < 0
        if is_new.any():
            rows[is_new] = self._assigned_new(np.array(ids, dtype=np.int64)[is_new])
        return rows.astype(np.uint32)

    def forget(self, id: Id) -> None:
        """Remove an id that has a row."""
        if self._strays.pop(id, None) is not None:
            self._tail = 0  # the id may have been part of the tail
        elif isinstance(id, int):
            self._gone.add(id)
        self._text_id_count -= isinstance(id, str)

    def ids_of(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """Return the ids of rows: int64 while every id is an int, else objects."""
        spans = self._spans
        if spans.only_shift is not None:
            return rows + np.int64(spans.only_shift)
        if len(rows) == 0:
            return np.empty(0, np.object_ if self._text_id_count else np.int64)
        found = np.searchsorted(spans.starts, rows, side="right") - 1
        ids = rows + spans.shifts[found]
        are_strays = spans.are_strays[found]
        if spans.strays.dtype == np.int64:
            ids[are_strays] = spans.strays[ids[are_strays]]
            return ids
        mixed = ids.astype(np.object_)
        mixed[are_strays] = spans.strays[ids[are_strays]]
        # The last str id may have been forgotten and still be among the rows.
        has_text_ids = self._text_id_count > 0 or any(isinstance(id, str) for id in mixed)
        return mixed if has_text_ids else mixed.astype(np.int64)

    def packed(self) -> bytes:
        """Serialise to the bytes that :meth:`unpacked` reads."""
        ids = list(self._strays)
        is_text = np.fromiter((isinstance(id, str) for id in ids), np.uint8, len(ids))
        numbers = np.array([id for id in ids if isinstance(id, int)], np.int64)
        texts = [id.encode() for id in ids if isinstance(id, str)]
        rows = np.fromiter(self._strays.values(), np.uint32, len(ids))
        sizes = np.fromiter(map(len, texts), np.uint64, len(texts))
        gone = np.array(sorted(self._gone), np.int64)
        runs = self._runs.table()
        head = np.array([self._row_count, len(ids), len(texts), len(runs), len(gone)], np.uint64)
        arrays = (head, runs, gone, rows, is_text, numbers, sizes)
        return b"".join((*(array.tobytes() for array in arrays), *texts))

    @classmethod
    def unpacked(cls, packed: bytes) -> IdRows:
        """Restore from the bytes of :meth:`packed`.

        Raises:
            SnapshotDamaged: :meth:`packed` cannot return these bytes.
        """
        reader = IdReader(packed)
        row_count, id_count, text_count, run_count, gone_count = reader.take(np.uint64, 5).tolist()
        runs = reader.take(np.int64, 3 * run_count).reshape(run_count, 3)
        gone = reader.take(np.int64, gone_count)
        rows = reader.take(np.uint32, id_count)
        is_text = reader.take(np.uint8, id_count)
        numbers = reader.take(np.int64, id_count - text_count)
        sizes = reader.take(np.uint64, text_count).tolist()
        texts = iter([reader.text(size) for size in sizes])
        values = iter(numbers.tolist())
        reader.require(reader.left == 0 and int(np.count_nonzero(is_text)) == text_count)
        reader.require(row_count <= _MOST_ROWS and bool((rows < row_count).all()))
        reader.require(len(np.unique(rows)) == id_count)
        ids: list[Id] = [next(texts) if flag else next(values) for flag in is_text.tolist()]
        id_rows = cls()
        id_rows._runs = IdRuns.of_table(runs, row_count)
        id_rows._gone = set(gone.tolist())
        id_rows._strays = dict(zip(ids, rows.tolist(), strict=True))
        id_rows._row_count, id_rows._text_id_count = row_count, text_count
        reader.require(len(id_rows._strays) == id_count and len(id_rows._gone) == gone_count)
        reader.require(all(id_rows._runs.row_of(id) is not None for id in id_rows._gone))
        reader.require(bool((id_rows._rows_in_runs(numbers) < 0).all()))
        reader.require(not id_rows._runs.hold_rows(rows).any())
        id_rows._build_spans(rows, ids)
        return id_rows

    def __len__(self) -> int:
        """Return the number of ids with a row."""
        return len(self._strays) + self._runs.id_count - len(self._gone)

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes, including the objects of the strays."""
        spans = self._spans
        arrays = (spans.starts, spans.shifts, spans.are_strays, spans.strays)
        columns = sum(array.nbytes for array in arrays) + self._runs.nbytes
        objects = sum(map(sys.getsizeof, self._strays)) + len(self._strays) * sys.getsizeof(1 << 20)
        gone = self._gone.__sizeof__() + len(self._gone) * sys.getsizeof(1 << 40)
        return columns + self._strays.__sizeof__() + objects + gone

    def _require_rows(self, count: int) -> None:
        if self._row_count + count > _MOST_ROWS:
            msg = f"ids: an index takes at most {_MOST_ROWS} of them in its life"
            raise ValueError(msg)

    def _rows_in_runs(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        rows = self._runs.rows_of(ids)
        if self._gone:
            rows[[id in self._gone for id in ids.tolist()]] = -1
        return rows

    def _assigned_new(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Assign new rows in order of appearance; repeated ids share one."""
        first_row = self._row_count
        rows = np.arange(first_row, first_row + len(ids), dtype=np.int64)
        if (ids[1:] <= ids[:-1]).any():  # there may be duplicates
            _, firsts, which = np.unique(ids, return_index=True, return_inverse=True)
            order = np.sort(firsts)
            rows = first_row + np.searchsorted(order, firsts)[which.reshape(-1)]
            ids = ids[order]
        is_break = (ids[1:] <= ids[:-1]) | (ids[1:] != ids[:-1] + 1)
        bounds = [0, *(np.flatnonzero(is_break) + 1).tolist(), len(ids)]
        pending = 0  # ids from here on are not stored yet
        for begin, end in itertools.pairwise(bounds):
            if end - begin >= _LEAST_RUN:
                self._append_strays(ids[pending:begin].tolist())
                self._append_run(int(ids[begin]), end - begin)
                pending = end
        self._append_strays(ids[pending:].tolist())
        return rows

    def _append_run(self, first: int, count: int) -> None:
        row = self._row_count
        if self._runs.extend(first, row, count):
            self._row_count += count
        elif self._runs.has_room(first, count):
            self._spans = self._spans.followed_by(row, first - row, is_stray=False)
            self._runs.add(first, row, count)
            self._row_count += count
            self._tail = 0
        else:
            self._append_strays(list(range(first, first + count)))

    def _append_strays(self, ids: list[Id]) -> None:
        """Assign rows to ids that have none."""
        if not ids:
            return
        # Done before the core adds the texts, so that it never returns a row without an id.
        row, place = self._row_count, self._stray_count
        spans = self._spans
        kind = spans.strays.dtype if _are_ints(ids) else np.dtype(np.object_)
        if place + len(ids) > len(spans.strays) or kind != spans.strays.dtype:
            strays = np.zeros(max(place + len(ids), 2 * len(spans.strays)), kind)
            strays[:place] = spans.strays[:place]
            spans = spans_of(spans.starts, spans.shifts, spans.are_strays, strays)
        spans.strays[place : place + len(ids)] = ids
        if not (len(spans.starts) and spans.are_strays[-1] and spans.shifts[-1] + row == place):
            spans = spans.followed_by(row, place - row, is_stray=True)
            self._tail = 0
        self._spans = spans
        self._stray_count += len(ids)
        self._row_count += len(ids)
        for offset, id in enumerate(ids):
            self._strays[id] = row + offset
            if isinstance(id, str):
                self._text_id_count += 1
                self._tail = 0
            else:
                self._tail = self._tail + 1 if self._tail and id == self._last_number + 1 else 1
                self._last_number = id
        if self._tail >= _LEAST_RUN:
            self._make_tail_a_run()

    def _make_tail_a_run(self) -> None:
        count, self._tail = self._tail, 0
        first, row = self._last_number - count + 1, self._row_count - count
        if self._runs.has_room(first, count):
            self._spans = self._spans.followed_by(row, first - row, is_stray=False)
            self._runs.add(first, row, count)
            for id in range(first, first + count):
                del self._strays[id]

    def _build_spans(self, rows: npt.NDArray[np.uint32], ids: list[Id]) -> None:
        """Build the spans of the runs and of the strays ``ids`` at ``rows``."""
        order = np.argsort(rows)
        by_row = rows[order].astype(np.int64)
        strays = np.zeros(max(16, len(ids)), np.object_ if self._text_id_count else np.int64)
        strays[: len(ids)] = np.array(ids, strays.dtype)[order]
        self._stray_count = len(ids)
        shifts = np.arange(len(ids), dtype=np.int64) - by_row
        begins = np.flatnonzero(np.append(True, shifts[1:] != shifts[:-1])[: len(ids)])
        runs = self._runs.table()
        starts = np.concatenate([runs[:, 0], by_row[begins]])
        sorted_by_row = np.argsort(starts, kind="stable")
        self._spans = spans_of(
            starts[sorted_by_row],
            np.concatenate([runs[:, 1] - runs[:, 0], shifts[begins]])[sorted_by_row],
            np.repeat([False, True], [len(runs), len(begins)])[sorted_by_row],
            strays,
        )


def _are_ints(ids: Iterable[Id]) -> bool:
    return all(kind is int for kind in set(map(type, ids)))
