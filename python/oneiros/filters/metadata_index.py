"""The rows of metadata values, indexed by path when a filter first names the path.

Writers only note which metadata of which row changed. A reader that needs a path first applies the
changes since its last use, so that writes cost the same however many paths are indexed.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from pyroaring import BitMap

from oneiros import filters
from oneiros._lazy import np
from oneiros.filters.fields import scalar_key
from oneiros.filters.metadata_paths import MISSING, Key, resolver
from oneiros.filters.row_bitmaps import RowsByValue, rows_where, set_of
from oneiros.runtime.locks import fork_safe_lock

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.filters.conditions import MetadataRange, MetadataSubstring, OnMetadata

__all__ = ["MetadataIndex", "ValuesOfRows"]

Result = TypeVar("Result")
Metadata: TypeAlias = Mapping[str, object]
ValuesOfRows: TypeAlias = Callable[[Key], Iterable[tuple[int, object]]]
"""Returns the rows whose metadata have a value at a path, with the value."""

_MOST_PATHS: Final = 256
"""Indexed paths. Queries may invent paths, so the one indexed first makes room for one more."""
_MOST_CHANGES: Final = 50_000
"""Noted changes. A path that is further behind is indexed again when a filter names it."""
_MOST_WAITING_CHANGES: Final = 1_000_000
"""Noted changes while a path is being indexed, which needs them."""
_MOST_FRESH: Final = 1_024
"""Changed rows next to sorted ones, before they are merged."""
_LONGEST_WAIT_SECONDS: Final = 1.0
_DENSE: Final = 32  # from one row in this many on, a mask of all rows is faster than a set of some


class _Changes:
    """Changes of metadata in order: row, metadata before, metadata after.

    Args:
        start: the number of changes before the first of ``entries``.
    """

    __slots__ = ("entries", "start")

    def __init__(self, start: int, entries: list[tuple[int, Metadata, Metadata]]) -> None:
        self.start = start
        self.entries = entries

    @property
    def end(self) -> int:
        return self.start + len(self.entries)


class MetadataIndex:
    """Rows by path and value. One thread at a time may write; readers need not wait for it.

    A writer first changes what ``source`` returns, and notes the change afterwards, so that a path
    indexed at any moment misses no change.

    Args:
        lock: held while changes are applied to a path and while it is read; reentrant.
        source: returns the values at a path. Default: the index keeps the metadata noted.
    """

    def __init__(self, lock: threading.RLock, source: ValuesOfRows | None = None) -> None:
        self._own: dict[int, Metadata] | None = {} if source is None else None
        self._source = self._own_rows if source is None else source
        self._lock = lock
        self._indexing = fork_safe_lock()
        self._paths: dict[Key, _Path] = {}
        self._changes = _Changes(0, [])
        self._is_noting = False  # until a path is indexed
        self._begun: set[object] = set()  # one item for each path that is being indexed

    def note(self, row: int, before: Metadata, after: Metadata) -> None:
        """Note that the metadata of a row changed; empty metadata stand for no row."""
        if self._own is not None:
            if after:
                self._own[row] = after
            else:
                self._own.pop(row, None)
        if not self._is_noting or not (before or after):
            return
        changes = self._changes
        changes.entries.append((row, before, after))
        limit = _MOST_WAITING_CHANGES if self._begun else _MOST_CHANGES
        if len(changes.entries) >= limit:
            dropped = len(changes.entries) - _MOST_CHANGES // 2
            self._changes = changes = _Changes(changes.start + dropped, changes.entries[dropped:])
            for key, path in list(self._paths.items()):
                if path.applied < changes.start:
                    self._paths.pop(key, None)

    def index_paths(self, keys: Iterable[Key]) -> None:
        """Index the paths that are not indexed yet."""
        for key in keys:
            if key not in self._paths:  # threads that need the same path wait for it
                _holding(self._indexing, partial(self._index, key))

    def _index(self, key: Key, _: bool) -> None:
        if key not in self._paths:
            self._paths[key] = self._indexed(key)

    def _indexed(self, key: Key) -> _Path:
        """Return a path with all changes up to now. Needs no lock: no other thread sees the path yet."""
        begun = object()
        try:
            self._begun.add(begun)  # first, so that no change since is dropped
            self._is_noting = True
            while True:
                path = _Path(key, self._changes.end, self._source(key))
                changes = self._changes
                if path.applied >= changes.start:
                    break
            path.follow(changes)
        finally:
            self._begun.discard(begun)
        while len(self._paths) >= _MOST_PATHS:
            self._paths.pop(next(iter(self._paths)), None)
        return path

    def rows(self, condition: OnMetadata) -> BitMap:
        """Return a new set of the rows that a condition matches. Some may have been removed."""
        return self._read(condition.key, lambda path: path.matching(condition))

    def counts(self, key: Key, rows: BitMap) -> list[tuple[object, int]]:
        """Return each scalar at a path with its number of rows among these."""
        return self._read(key, lambda path: path.counts(rows))

    def _read(self, key: Key, read: Callable[[_Path], Result]) -> Result:
        return _holding(self._lock, partial(self._read_path, key, read))

    def _read_path(self, key: Key, read: Callable[[_Path], Result], is_held: bool) -> Result:
        path, changes = self._paths.get(key), self._changes
        # Busy: this is a signal handler, which interrupted the reader of the path.
        if path is None or path.applied < changes.start or path.is_busy or not is_held:
            path = self._indexed(key)
            if is_held:
                self._paths[key] = path
            return read(path)
        path.is_busy = True
        try:
            path.follow(changes)
            return read(path)
        finally:
            path.is_busy = False

    def _own_rows(self, key: Key) -> Iterable[tuple[int, object]]:
        assert self._own is not None
        find = resolver(key)
        for row, metadata in list(self._own.items()):
            value = find(metadata)
            if value is not MISSING:
                yield row, value


def _holding(lock: threading.RLock, call: Callable[[bool], Result]) -> Result:
    """Call a function with a lock held, or on other threads than the main one after a long wait.

    A signal handler on the main thread may have interrupted the holder, and wait for the writer.

    Args:
        lock: the lock.
        call: receives whether the lock is held.
    """
    if threading.current_thread() is threading.main_thread():
        with lock:  # unlike acquire, safe from interrupts, which only this thread gets
            return call(True)
    is_held = lock.acquire(timeout=_LONGEST_WAIT_SECONDS)
    try:
        return call(is_held)
    finally:
        if is_held:
            lock.release()


class _Path:
    """The rows of the values at one path.

    Args:
        key: the path.
        applied: the number of the changes that it includes.
        values: the rows with their values, after these changes or after later ones.
    """

    def __init__(self, key: Key, applied: int, values: Iterable[tuple[int, object]]) -> None:
        self.applied = applied
        self.is_busy = False
        self._find = resolver(key)
        self._scalars = RowsByValue()
        self._items = RowsByValue()
        # What ranges and prefixes need, made of the scalars on first use.
        self._numbers: _SortedRows | None = None
        self._wide: set[int] = set()  # ints that float64 rounds, if there are _numbers
        self._times: _SortedRows | None = None
        self._texts: _SortedTexts | None = None
        self._present = self._fill(values)

    def _fill(self, values: Iterable[tuple[int, object]]) -> BitMap:
        """Fill the sets, and return the rows that have a value."""
        present: list[int] = []
        rows_of: _RowsOf = {}
        rows_with: _RowsOf = {}
        for row, value in values:
            present.append(row)
            if isinstance(value, list):
                for item in _items_of(value):
                    _append(rows_with, item, row)
            elif not isinstance(value, dict):
                _append(rows_of, scalar_key(value), row)  # type: ignore[arg-type]
        for sets, groups in ((self._scalars, rows_of), (self._items, rows_with)):
            for key, rows in groups.items():
                sets.put(key, rows if isinstance(rows, int) else set_of(rows))
        return set_of(present)

    # -- changes -----------------------------------------------------------------------------------

    def follow(self, changes: _Changes) -> None:
        """Apply the changes since the last call. After an interrupt, they are applied once more."""
        entries = changes.entries[self.applied - changes.start :]
        if not entries:
            return
        find = self._find
        for row, before, after in entries:
            old, new = find(before), find(after)
            if old is not MISSING:
                self._discard(row, old)
            if new is not MISSING:
                self._add(row, new)
        for sorted_rows in (self._numbers, self._times):
            if sorted_rows is not None:
                sorted_rows.merge_if_many()
        self.applied += len(entries)

    def _add(self, row: int, value: object) -> None:
        if row in self._present:
            self._drop(row)
        if isinstance(value, list):
            for item in _items_of(value):
                self._items.add(item, row)
        elif not isinstance(value, dict):
            key = scalar_key(value)  # type: ignore[arg-type]
            if self._texts is not None and isinstance(key, str) and key not in self._scalars:
                self._texts.add(key)
            self._scalars.add(key, row)
            self._place(row, key)
        self._present.add(row)

    def _place(self, row: int, key: object) -> None:
        """Place a row among the sorted ones, of those that are made."""
        if self._times is not None and isinstance(key, str):
            self._times.place(row, filters.metadata_times.seconds_of(key))
        elif self._numbers is not None and isinstance(key, int | float):
            number = _exact(key)
            if number is None:
                self._wide.add(int(key))
            self._numbers.place(row, number)

    def _discard(self, row: int, value: object) -> None:
        """Remove a row with a value, or with another one that it has by a later change."""
        if row not in self._present:
            return
        is_same = True
        if isinstance(value, list):
            items = _items_of(value)
            is_same = all(self._items.has(item, row) for item in items)
            for item in items:
                self._items.discard(item, row)
        elif not isinstance(value, dict):
            key = scalar_key(value)  # type: ignore[arg-type]
            is_same = self._scalars.has(key, row)
            self._scalars.discard(key, row)
            if self._times is not None and isinstance(key, str):
                self._times.place(row, None)
            elif self._numbers is not None and isinstance(key, int | float):
                self._numbers.place(row, None)
        if is_same:
            self._present.discard(row)
        else:
            self._drop(row)

    def _drop(self, row: int) -> None:
        """Remove a row whatever its value is."""
        for sets in (self._scalars, self._items):
            for value in sets.values():
                sets.discard(value, row)
        for sorted_rows in (self._numbers, self._times):
            if sorted_rows is not None:
                sorted_rows.place(row, None)
        self._present.discard(row)

    # -- reading -----------------------------------------------------------------------------------

    def matching(self, condition: OnMetadata) -> BitMap:
        """Return a new set of the rows that a condition on this path matches."""
        match condition:
            case filters.conditions.MetadataIs(canonical=canonical):
                return self._scalars.rows(canonical)
            case filters.conditions.MetadataIn(canonical=values):
                return self._scalars.rows_of_any(values)
            case filters.conditions.MetadataHas(canonical=values):
                return self._items.rows_of_any(values)
            case filters.conditions.MetadataExists():
                return BitMap(self._present)
            case filters.conditions.MetadataPrefix(prefix=prefix):
                if self._texts is None:
                    self._texts = _SortedTexts(self._scalars)
                return self._scalars.rows_of_any(self._texts.with_prefix(prefix))
            case filters.conditions.MetadataSubstring():
                return self._scalars.rows_of_any(_containing(self._scalars, condition))
            case filters.conditions.MetadataRange():
                return self._in_range(condition)
            case _:
                msg = f"where: cannot compile {type(condition).__name__}"
                raise TypeError(msg)

    def counts(self, rows: BitMap) -> list[tuple[object, int]]:
        """Return each scalar of this path with its number of rows among these."""
        counts = self._scalars.counts(rows)
        return [(key[0] if isinstance(key, tuple) else key, count) for key, count in counts]

    def _in_range(self, condition: MetadataRange) -> BitMap:
        if condition.is_time:
            if self._times is None:
                self._times = _sorted_times(self._scalars)
            return self._times.within(condition)
        if self._numbers is None:
            self._numbers, self._wide = _sorted_numbers(self._scalars)
        rows = self._numbers.within(condition)
        if self._wide:
            rows |= self._scalars.rows_of_any(n for n in self._wide if _is_within(n, condition))
        return rows


_RowsOf: TypeAlias = dict[object, "int | list[int]"]


def _append(rows_of: _RowsOf, value: object, row: int) -> None:
    """Add a row to those of a value. A list for each of many values would busy the collector."""
    rows = rows_of.get(value)
    if rows is None:
        rows_of[value] = row
    elif isinstance(rows, int):
        rows_of[value] = [rows, row]
    else:
        rows.append(row)


def _items_of(values: list[object]) -> set[object]:
    """Return the scalars of a list."""
    return {
        scalar_key(item)
        for item in values
        if item is None or isinstance(item, str | bool | int | float)
    }


def _containing(scalars: RowsByValue, condition: MetadataSubstring) -> list[str]:
    """Return the texts that contain that of a condition."""
    texts = (value for value in scalars.values() if isinstance(value, str))
    if not condition.ignores_case:
        return [text for text in texts if condition.text in text]
    folded = condition.text.casefold()
    return [text for text in texts if folded in text.casefold()]


def _exact(number: float) -> float | None:
    """Return a number as float64; None for an int that float64 rounds."""
    try:
        rounded = float(number)
    except OverflowError:
        return None
    return rounded if rounded == number else None


def _is_within(number: int, condition: MetadataRange) -> bool:
    low, high = condition.low, condition.high
    return (low is None or number > low or (condition.has_low and number == low)) and (
        high is None or number < high or (condition.has_high and number == high)
    )


def _sorted_numbers(scalars: RowsByValue) -> tuple[_SortedRows, set[int]]:
    """Return the rows of numbers, and the numbers that float64 rounds."""
    values: list[float] = []
    sets: list[int | BitMap] = []
    wide: set[int] = set()
    for value, rows in scalars.items():
        if isinstance(value, int | float):
            number = _exact(value)
            if number is None:
                wide.add(int(value))
            else:
                values.append(number)
                sets.append(rows)
    return _SortedRows(values, sets), wide


def _sorted_times(scalars: RowsByValue) -> _SortedRows:
    values: list[float] = []
    sets: list[int | BitMap] = []
    for value, rows in scalars.items():
        if (
            isinstance(value, str)
            and (seconds := filters.metadata_times.seconds_of(value)) is not None
        ):
            values.append(seconds)
            sets.append(rows)
    return _SortedRows(values, sets)


class _SortedRows:
    """Rows in order of a number, with the rows changed since next to them.

    Args:
        values: finite numbers.
        sets: the row or the rows of each.
    """

    def __init__(self, values: list[float], sets: list[int | BitMap]) -> None:
        numbers, places = np.array(values, np.float64), array("I")
        sizes = np.ones(len(sets), np.int64)
        for number, rows_of_number in enumerate(sets):
            if isinstance(rows_of_number, int):
                places.append(rows_of_number)
            else:
                places.extend(rows_of_number.to_array())
                sizes[number] = len(rows_of_number)
        numbers, rows = np.repeat(numbers, sizes), np.array(places, np.uint32)
        order = np.argsort(numbers, kind="stable")
        # Numbers in order, their rows, and the numbers of changed rows, NaN for none: one tuple, so
        # that an interrupt leaves them consistent.
        self._state: _SortedState = numbers[order], rows[order], {}

    def place(self, row: int, number: float | None) -> None:
        """Replace the number of a row; None: it has none."""
        self._state[2][row] = np.nan if number is None else number

    def merge_if_many(self) -> None:
        """Merge the changed rows into the others when there are many."""
        numbers, rows, fresh = self._state
        if len(fresh) < _MOST_FRESH:
            return
        changed, placed = _arrays(fresh)
        is_changed = np.zeros(int(max(rows.max(initial=0), changed.max())) + 1, np.bool_)
        is_changed[changed] = True
        kept = ~is_changed[rows]
        numbers, rows = numbers[kept], rows[kept]
        is_given = ~np.isnan(placed)
        changed, placed = changed[is_given], placed[is_given]
        order = np.argsort(placed, kind="stable")
        places = np.searchsorted(numbers, placed[order])
        self._state = (
            np.insert(numbers, places, placed[order]),
            np.insert(rows, places, changed[order]),
            {},
        )

    def within(self, condition: MetadataRange) -> BitMap:
        """Return a new set of the rows whose number lies between two ends."""
        numbers, rows, fresh = self._state
        start, end = 0, len(numbers)
        low, high = condition.low, condition.high
        if low is not None:
            number, side = _edge(low, "left" if condition.has_low else "right")
            start = int(numbers.searchsorted(number, side))
        if high is not None:
            number, side = _edge(high, "right" if condition.has_high else "left")
            end = int(numbers.searchsorted(number, side))
        found = _set_of_many(rows[start:end])
        if fresh:
            changed, placed = _arrays(fresh)
            found -= set_of(changed)
            order = np.argsort(placed, kind="stable")  # NaN is last, and in no range
            others = _SortedRows.__new__(_SortedRows)
            count = int(np.count_nonzero(~np.isnan(placed)))
            others._state = placed[order][:count], changed[order][:count], {}
            found |= others.within(condition)
        return found


_Side: TypeAlias = Literal["left", "right"]
_SortedState: TypeAlias = "tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], dict[int, float]]"


def _arrays(fresh: dict[int, float]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
    count = len(fresh)
    return np.fromiter(fresh, np.uint32, count), np.fromiter(fresh.values(), np.float64, count)


def _edge(bound: float, side: _Side) -> tuple[float, _Side]:
    """Return a bound as float64, and the side of equal numbers on which it lies.

    A rounded int lies between two numbers of float64: beyond or before the one it is rounded to.
    """
    number = float(bound)
    if number == bound:
        return number, side
    return number, "left" if number > bound else "right"


def _set_of_many(rows: npt.NDArray[np.uint32]) -> BitMap:
    """Return the set of rows in any order."""
    if len(rows) > _MOST_FRESH and (last := int(rows.max())) < _DENSE * len(rows):
        mask = np.zeros(last + 1, np.bool_)
        mask[rows] = True
        return rows_where(mask)
    return set_of(rows)


class _SortedTexts:
    """The distinct texts of a path in order, with some that no row has any more."""

    def __init__(self, scalars: RowsByValue) -> None:
        self._texts = sorted(value for value in scalars.values() if isinstance(value, str))
        self._fresh: list[str] = []

    def add(self, text: str) -> None:
        """Add a text, which may be known."""
        self._fresh.append(text)
        if len(self._fresh) >= _MOST_FRESH:
            self._texts = sorted({*self._texts, *self._fresh})
            self._fresh = []

    def with_prefix(self, prefix: str) -> list[str]:
        """Return the texts that start with a prefix, some of them more than once."""
        size = len(prefix)
        start = bisect_left(self._texts, prefix)
        end = bisect_right(self._texts, prefix, start, key=lambda text: text[:size])
        return self._texts[start:end] + [text for text in self._fresh if text.startswith(prefix)]
