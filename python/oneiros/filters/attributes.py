"""The attribute index: the rows of each attribute value, and filters compiled to row sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import sleep
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyroaring import BitMap

from oneiros import filters
from oneiros._lazy import np
from oneiros.filters.fields import SINGLE, WORDS, Attributed, Place, sets_of, values_of
from oneiros.filters.metadata_index import MetadataIndex, ValuesOfRows
from oneiros.filters.metadata_paths import Key
from oneiros.filters.row_bitmaps import Rows, RowsByValue, rows_where, set_of
from oneiros.model.fields import ENUMS
from oneiros.runtime.locks import fork_safe_lock

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.filters.conditions import Where

__all__ = [
    "AttributeIndex",
    "Column",
    "add_grouped",
    "discard_grouped",
    "in_time",
    "measured",
]


Column: TypeAlias = "npt.NDArray[Any]"


def in_time(
    name: str, start: float | None, end: float | None, column_of: Callable[[str], Column]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows whose time lies in [start, end); no time is in no range."""
    if name != "occurred_at":
        return _within(column_of(name), start, end)
    event, created = column_of("event_at"), column_of("created_at")
    count = min(len(event), len(created))  # rows may be appended between the two
    event, created = event[:count], created[:count]
    # Not np.where over the times: it branches per row, at six times the cost.
    return _within(event, start, end) | (np.isnan(event) & _within(created, start, end))


def _within(seconds: Column, start: float | None, end: float | None) -> npt.NDArray[np.bool_]:
    """Return a mask of the times in [start, end); NaN, a missing time, is not."""
    if start is None and end is None:
        return ~np.isnan(seconds)
    inside = np.ones(len(seconds), np.bool_) if start is None else seconds >= start
    if end is not None:
        inside &= seconds < end
    return inside


def measured(values: Column, low: float | None, high: float | None) -> npt.NDArray[np.bool_]:
    """Return a mask of the values in [low, high]; NaN is not.

    Both ends count, rounded to the column's dtype: 0.8 matches a stored float32 of 0.8.
    """
    inside = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    with np.errstate(over="ignore"):  # a bound beyond float32 acts as an infinite one
        if low is not None:
            inside &= values >= low
        if high is not None:
            inside &= values <= high
    return inside


def add_grouped(sets: RowsByValue, pairs: Iterable[tuple[object, int]]) -> None:
    """Add rows to the sets of their values; None is no value."""
    for value, rows in _grouped(pairs).items():
        sets.add_all(value, rows)


def discard_grouped(sets: RowsByValue, pairs: Iterable[tuple[object, int]]) -> None:
    """Remove rows from the sets of their values; None is no value."""
    for value, rows in _grouped(pairs).items():
        sets.discard_all(value, rows)


def _pairs(
    name: str, values: Sequence[str | None], rows: Sequence[int]
) -> Iterable[tuple[object, int]]:
    """Return the words whose sets hold the rows with these values of a field, with the rows."""
    pairs = zip(values, rows, strict=True)
    if name != "namespace":
        return pairs
    return (
        (word, row) for value, row in pairs if value is not None for word in sets_of(name, value)
    )


def _words(pairs: Iterable[tuple[Iterable[str], int]]) -> Iterable[tuple[object, int]]:
    """Return each distinct word of each row, with the row."""
    return ((word, row) for words, row in pairs for word in set(words))


def _grouped(pairs: Iterable[tuple[object, int]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = {}
    for value, row in pairs:
        if value is not None:
            group = groups.get(value)
            if group is None:
                groups[value] = [row]
            else:
                group.append(row)
    return groups


_LONGEST_WAIT_SECONDS: Final = 0.1
_MOST_TRIES: Final = 4
"""Tries next to a busy writer before a reader makes it wait."""


class AttributeIndex:
    """Row sets per attribute value: of the fields that name words, metadata and id.

    Enumerations, times and numbers are read from the columns when a filter is compiled, and a path
    of metadata is indexed when a filter first names it. One thread at a time may write; readers need
    not wait for it.

    Args:
        row_of: id -> row or None, if the caller has such a map. Default: the index keeps its own.
        metadata: returns the rows with a value at a path of their metadata, if the caller has the
            metadata; rows are to be among them before they are added. Default: the index keeps them.
    """

    def __init__(
        self,
        row_of: Callable[[str], int | None] | None = None,
        metadata: ValuesOfRows | None = None,
    ) -> None:
        self._own_ids: dict[str, int] | None = {} if row_of is None else None
        self._row_of = self._own_ids.get if self._own_ids is not None else row_of
        self._known = BitMap()
        self._sets: dict[Place, RowsByValue] = {}
        self._unread: dict[Place, Callable[[], RowsByValue]] = {}
        self._replacing = fork_safe_lock()
        # Changes with each row that is replaced or removed; odd while one is being replaced.
        self._replaced = 0
        self._metadata = MetadataIndex(self._replacing, metadata)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, row: int) -> bool:
        return row in self._known

    @property
    def rows(self) -> BitMap:
        """A new set of the known rows."""
        return BitMap(self._known)

    def take_over(self, known: BitMap, places: Mapping[Place, Callable[[], RowsByValue]]) -> None:
        """Take over rows. The sets of a place are read on first use.

        REQUIRES: nothing was added.
        """
        self._unread = dict(places)
        self._known = known

    def places(self) -> dict[Place, RowsByValue]:
        """Return every place with its sets, not copied."""
        return {place: self._at(place) for place in (*self._unread, *self._sets)}

    def add(self, row: int, record: Attributed) -> None:
        """Add a row with its attributes.

        Raises:
            ValueError: the row is known already (see :meth:`replace`).
        """
        if row in self._known:
            msg = f"row: {row} is known already; replace it"
            raise ValueError(msg)
        for place, value in values_of(record):
            self._at(place).add(value, row)
        self._metadata.note(row, {}, record.metadata)
        if self._own_ids is not None:
            self._own_ids[record.id] = row
        self._known.add(row)  # last: no reader sees the row without attributes

    def remove(self, row: int, record: Attributed) -> None:
        """Remove a row, given the attributes it was added with. An unknown row changes nothing."""
        if row in self._known:
            self.purge(row, record)

    def purge(self, row: int, record: Attributed) -> None:
        """Remove a row from the sets of these attributes, be it known, half added or neither."""
        self._known.discard(row)
        if self._own_ids is not None:
            self._own_ids.pop(record.id, None)
        for place, value in values_of(record):
            self._at(place).discard(value, row)
        self._metadata.note(row, record.metadata, {})
        self._replaced += 2  # it may come back before a reader has read all

    def replace(
        self,
        row: int,
        old: Attributed,
        new: Attributed,
        *,
        publish: Callable[[], None] | None = None,
    ) -> None:
        """Replace the attributes of a row.

        Concurrent readers always see the row, with its old or its new values.

        Args:
            row: a known row.
            old: its attributes.
            new: those that it gets.
            publish: called once while readers wait: makes the caller's metadata the new ones.

        Raises:
            ValueError: the row is not known.
        """
        if row not in self._known:
            msg = f"row: {row} is not known; add it"
            raise ValueError(msg)
        before, after = set(values_of(old)), set(values_of(new))
        gained = [(self._at(place), value) for place, value in after - before]
        lost = [(self._at(place), value) for place, value in before - after]
        # Bounded: a signal handler may have interrupted the reader that holds the lock, and wait
        # for this writer.
        is_locked = self._replacing.acquire(timeout=_LONGEST_WAIT_SECONDS)
        self._replaced += 1
        try:
            for sets, value in gained:
                sets.add(value, row)
            for sets, value in lost:
                sets.discard(value, row)
            if publish is not None:
                publish()
            self._metadata.note(row, old.metadata, new.metadata)
        finally:
            self._replaced += 1
            if is_locked:
                self._replacing.release()
        if self._own_ids is not None and old.id != new.id:
            self._own_ids.pop(old.id, None)
            self._own_ids[new.id] = row

    def _at(self, place: Place) -> RowsByValue:
        sets = self._existing(place)
        if sets is None:
            sets = self._sets[place] = RowsByValue()
        return sets

    def _existing(self, place: Place) -> RowsByValue | None:
        """Return the sets of a place, if there are any."""
        sets = self._sets.get(place)
        if sets is None and place in self._unread:
            # A search and a writer may read them at once: the first result is kept.
            sets = self._sets.setdefault(place, self._unread[place]())
        return sets

    def add_many(
        self,
        rows: Rows | Sequence[int],
        *,
        ids: Sequence[str] | None = None,
        metadata: Sequence[Mapping[str, object] | None] | None = None,
        **fields: Sequence[str | None] | Sequence[Iterable[str]],
    ) -> None:
        """Add many rows at once, one list per field; a field left out is absent in all of them.

        Groups the rows by value, and so is many times as fast as :meth:`add` row by row.

        Args:
            rows: the rows, each once.
            ids: per row.
            metadata: per row.
            fields: by field of :data:`~oneiros.filters.fields.SINGLE` and
                :data:`~oneiros.filters.fields.WORDS`, per row.

        Raises:
            ValueError: a list has another length than ``rows``, or a row is known already or given
                twice.
        """
        numbers: list[int] = list(rows) if isinstance(rows, list) else np.asarray(rows).tolist()
        given = {**fields, "ids": ids, "metadata": metadata}
        for name, values in given.items():
            if values is not None and len(values) != len(numbers):
                msg = f"{name}: expected {len(numbers)} values, one a row, got {len(values)}"
                raise ValueError(msg)
        added = set_of(numbers)
        if len(added) != len(numbers) or not added.isdisjoint(self._known):
            msg = "rows: a row is known already, or given twice"
            raise ValueError(msg)
        for name in SINGLE:
            words: Any = fields.get(name, ())
            distinct = set(words)
            if len(distinct) > 1:
                add_grouped(self._at((name,)), _pairs(name, words, numbers))
            elif (value := distinct.pop() if distinct else None) is not None:
                for word in sets_of(name, value):
                    self._at((name,)).add_all(word, numbers)
        for name in WORDS:
            many: Any = fields.get(name, ())
            if any(many):
                pairs = zip(many, numbers, strict=True)
                add_grouped(self._at((name,)), _words(pairs))
        if metadata is not None and any(metadata):
            for row, new in zip(numbers, metadata, strict=True):
                if new:
                    self._metadata.note(row, {}, new)
        if self._own_ids is not None:
            self._own_ids.update(zip(ids or (), numbers, strict=False))
        self._known |= added

    def purge_many(
        self,
        rows: Sequence[int],
        *,
        metadata: Sequence[Mapping[str, object]],
        **fields: Any,
    ) -> None:
        """Remove many rows at once, given one list per field of the attributes they have.

        After an interrupt the rows are still known, and a second call finishes the first. REQUIRES:
        ids are mapped by the caller.

        Args:
            rows: the rows, each once.
            metadata: per row.
            fields: as in :meth:`add_many`.
        """
        for name in SINGLE:
            if set(fields[name]) != {None}:  # most fields have no value in any row
                discard_grouped(self._at((name,)), _pairs(name, fields[name], rows))
        for name in WORDS:
            if any(fields[name]):
                discard_grouped(self._at((name,)), _words(zip(fields[name], rows, strict=True)))
        for row, old in zip(rows, metadata, strict=True):
            self._metadata.note(row, old, {})
        self._known -= set_of(rows)
        self._replaced += 2

    def compile(self, condition: Where, column_of: Callable[[str], Column]) -> BitMap:
        """Return a new set of the known rows that match.

        Args:
            condition: the filter; negation is relative to the known rows.
            column_of: column name -> its values, shape (n,), with every known row below n.
        """
        self._metadata.index_paths(filters.conditions.metadata_keys(condition))
        return self._consistent(lambda: self._match(condition, column_of))

    def rows_of_values(self, name: str, matches: Callable[[str], bool]) -> BitMap:
        """Return a new set of the rows whose value of a field of one word matches.

        Args:
            name: one of :data:`~oneiros.filters.fields.SINGLE`.
            matches: called with each distinct value.
        """
        sets = self._existing((name,))
        if sets is None:
            return BitMap()
        return self._consistent(
            lambda: sets.rows_of_any([value for value in sets.values() if matches(str(value))])
        )

    def word_counts(self, name: str, rows: BitMap) -> list[tuple[object, int]]:
        """Return each word with its number of rows among these, words without rows left out.

        Args:
            name: one of :data:`~oneiros.filters.fields.WORDS`.
            rows: the rows to count.
        """
        sets = self._existing((name,))
        return [] if sets is None else sets.counts(rows)

    def metadata_counts(self, key: Key, rows: BitMap) -> list[tuple[object, int]]:
        """Return each scalar at a path of metadata with its number of rows among these."""
        self._metadata.index_paths([key])
        return self._metadata.counts(key, rows)

    def _consistent(self, read: Callable[[], BitMap]) -> BitMap:
        """Return the known rows that ``read`` finds in one state of the index."""
        for _ in range(_MOST_TRIES):
            matched = self._matched(read)
            if matched is not None:
                return matched
        with self._replacing:
            while (matched := self._matched(read)) is None:
                sleep(0)
            return matched

    def _matched(self, read: Callable[[], BitMap]) -> BitMap | None:
        """Return the known rows that ``read`` finds; None if a row was replaced meanwhile."""
        replaced = self._replaced
        if replaced % 2:
            return None
        matched = read() & self._known
        # Else the new set may have been read before the row came, and the old one after it went.
        return matched if self._replaced == replaced else None

    def _match(self, condition: Where, column_of: Callable[[str], Column]) -> BitMap:
        match condition:
            case filters.conditions.Everything():
                return BitMap(self._known)
            case filters.conditions.And(parts=parts):
                return BitMap.intersection(*(self._match(part, column_of) for part in parts))
            case filters.conditions.Or(parts=parts):
                return BitMap.union(*(self._match(part, column_of) for part in parts))
            case filters.conditions.Not(part=part):
                known = BitMap(self._known)  # first: a row that comes meanwhile may match the part
                return known - self._match(part, column_of)
            case filters.conditions.AnyOf(name=name, values=values):
                return self._any_of(name, values, column_of)
            case filters.conditions.AllOf(name=name, values=values):
                if not values:
                    return BitMap(self._known)
                return BitMap.intersection(*(self._at((name,)).rows(value) for value in values))
            case filters.conditions.OnMetadata():
                return self._metadata.rows(condition)
            case filters.conditions.Within(name=name, start=low, end=high):
                return rows_where(in_time(name, low, high, column_of))
            case filters.conditions.Measured(name=name, low=low, high=high):
                return rows_where(measured(column_of(name), low, high))
            case _:
                msg = f"where: cannot compile {type(condition).__name__}"
                raise TypeError(msg)

    def _any_of(
        self, name: str, values: tuple[str, ...], column_of: Callable[[str], Column]
    ) -> BitMap:
        if name == "id":
            assert self._row_of is not None
            return set_of([row for value in values if (row := self._row_of(value)) is not None])
        if name in ENUMS:
            codes = column_of(name)
            is_in = np.zeros(len(codes), np.bool_)
            for value in values:  # few: one comparison each is 20 times as fast as a table
                is_in |= codes == ENUMS[name].index(value)
            return rows_where(is_in)
        return self._at((name,)).rows_of_any(values)
