"""Which rows carry which attribute, and a filter compiled to the set of rows it matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from oneiros.scopes.conditions import (
    AllTags,
    And,
    AnyOf,
    Everything,
    Measured,
    MetadataIs,
    Not,
    Or,
    Where,
    Within,
)
from oneiros.scopes.fields import CODES, scalar_key
from oneiros.scopes.row_sets import Rows, RowsByValue, rows_where, set_of

__all__ = ["AttributeIndex", "Attributed"]

Column = npt.NDArray[Any]

_SINGLE: Final = ("kind", "project", "session", "topic")


class Attributed(Protocol):
    """What the index reads of a memory; :class:`oneiros.Memory` has it."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def project(self) -> str | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, object]: ...


class AttributeIndex:
    """Row sets per attribute value: kind, project, session, topic, tags, metadata, id.

    Enumerations, times and numbers are not held here: they are read from the columns when a filter
    is compiled. The caller keeps writers apart from readers (the engine does, by its lock).

    Args:
        row_of: id -> row or None, where the caller has that map already; without it the index
            keeps one of its own.
    """

    def __init__(self, row_of: Callable[[str], int | None] | None = None) -> None:
        self._own_ids: dict[str, int] | None = {} if row_of is None else None
        self._row_of = self._own_ids.get if self._own_ids is not None else row_of
        self._known = BitMap()
        self._single = {name: RowsByValue() for name in _SINGLE}
        self._tags = RowsByValue()
        self._metadata: dict[str, RowsByValue] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def rows(self) -> BitMap:
        """The rows known, in a set of the caller's own."""
        return BitMap(self._known)

    def add(self, row: int, record: Attributed) -> None:
        """Add a row with its attributes.

        Raises:
            ValueError: the row is known already (see :meth:`replace`).
        """
        if row in self._known:
            msg = f"row: {row} is known already; replace it"
            raise ValueError(msg)
        self._known.add(row)
        if self._own_ids is not None:
            self._own_ids[record.id] = row
        for name, sets in self._single.items():
            value = getattr(record, name)
            if value is not None:
                sets.add(value, row)
        for tag in record.tags:
            self._tags.add(tag, row)
        for key, scalar in _scalars(record.metadata):
            self._metadata.setdefault(key, RowsByValue()).add(scalar, row)

    def remove(self, row: int, record: Attributed) -> None:
        """Take a row out, given the attributes it was added with. An unknown row: nothing."""
        if row not in self._known:
            return
        self._known.discard(row)
        if self._own_ids is not None:
            self._own_ids.pop(record.id, None)
        for name, sets in self._single.items():
            sets.discard(getattr(record, name), row)
        for tag in record.tags:
            self._tags.discard(tag, row)
        for key, scalar in _scalars(record.metadata):
            if key in self._metadata:
                self._metadata[key].discard(scalar, row)

    def replace(self, row: int, old: Attributed, new: Attributed) -> None:
        """Give a row new attributes in place of those it was added with."""
        self.remove(row, old)
        self.add(row, new)

    def add_many(
        self,
        rows: Rows | Sequence[int],
        *,
        ids: Sequence[str] | None = None,
        kind: Sequence[str | None] | None = None,
        project: Sequence[str | None] | None = None,
        session: Sequence[str | None] | None = None,
        topic: Sequence[str | None] | None = None,
        tags: Sequence[Iterable[str]] | None = None,
        metadata: Sequence[Mapping[str, object] | None] | None = None,
    ) -> None:
        """Add many rows at once, one list a field; a field left out is absent in all of them.

        A million rows with five fields take about a second, a tenth of :meth:`add` one by one.

        Raises:
            ValueError: a list of another length than ``rows``, a row known already or given twice.
        """
        numbers: list[int] = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
        single = {"kind": kind, "project": project, "session": session, "topic": topic}
        others = {"ids": ids, "tags": tags, "metadata": metadata}
        for name, values in {**single, **others}.items():
            if values is not None and len(values) != len(numbers):
                msg = f"{name}: expected {len(numbers)} values, one a row, got {len(values)}"
                raise ValueError(msg)
        added = set_of(numbers)
        if len(added) != len(numbers) or not added.isdisjoint(self._known):
            msg = "rows: a row is known already, or given twice"
            raise ValueError(msg)
        self._known |= added
        if self._own_ids is not None and ids is not None:
            self._own_ids.update(zip(ids, numbers, strict=True))
        for name, values in single.items():
            if values is not None:
                _add_grouped(self._single[name], zip(values, numbers, strict=True))
        if tags is not None:
            pairs = zip(tags, numbers, strict=True)
            _add_grouped(self._tags, ((tag, row) for many, row in pairs for tag in set(many)))
        if metadata is not None:
            self._add_metadata(zip(metadata, numbers, strict=True))

    def _add_metadata(self, pairs: Iterable[tuple[Mapping[str, object] | None, int]]) -> None:
        groups: dict[str, list[tuple[object, int]]] = {}
        for mapping, row in pairs:
            if mapping:
                for key, scalar in _scalars(mapping):
                    groups.setdefault(key, []).append((scalar, row))
        for key, group in groups.items():
            _add_grouped(self._metadata.setdefault(key, RowsByValue()), group)

    def compile(self, condition: Where, column_of: Callable[[str], Column]) -> BitMap:
        """Return the rows that match, of those the index knows.

        Args:
            condition: the filter.
            column_of: column name -> its values, shape (n,), every known row below n.

        Returns:
            A set of the caller's own; negation is relative to the known rows.
        """
        return self._match(condition, column_of) & self._known

    def _match(self, condition: Where, column_of: Callable[[str], Column]) -> BitMap:
        match condition:
            case Everything():
                return BitMap(self._known)
            case And(parts=parts):
                return BitMap.intersection(*(self._match(part, column_of) for part in parts))
            case Or(parts=parts):
                return BitMap.union(*(self._match(part, column_of) for part in parts))
            case Not(part=part):
                return self._known - self._match(part, column_of)
            case AnyOf(name=name, values=values):
                return self._any_of(name, values, column_of)
            case AllTags(values=values):
                if not values:
                    return BitMap(self._known)
                return BitMap.intersection(*(self._tags.rows(value) for value in values))
            case MetadataIs(key=key, canonical=canonical):
                held = self._metadata.get(key)
                return BitMap() if held is None else held.rows(canonical)
            case Within(name=name, start=low, end=high):
                return rows_where(_occurred(name, low, high, column_of))
            case Measured(name=name, low=low, high=high):
                return rows_where(_measured(column_of(name), low, high))
            case _:
                msg = f"where: cannot compile {type(condition).__name__}"
                raise TypeError(msg)

    def _any_of(
        self, name: str, values: tuple[str, ...], column_of: Callable[[str], Column]
    ) -> BitMap:
        if name == "tags":
            return self._tags.rows_of_any(values)
        if name == "id":
            assert self._row_of is not None
            return set_of([row for value in values if (row := self._row_of(value)) is not None])
        if name in CODES:
            codes = column_of(name)
            is_in = np.zeros(len(codes), np.bool_)
            for value in values:  # few; one comparison each is 20 times as fast as a table
                is_in |= codes == CODES[name].index(value)
            return rows_where(is_in)
        return self._single[name].rows_of_any(values)


def _scalars(metadata: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Yield what of the metadata can be filtered on; lists and objects cannot."""
    for key, value in metadata.items():
        if value is None or isinstance(value, str | bool | int | float):
            yield key, scalar_key(value)


def _add_grouped(sets: RowsByValue, pairs: Iterable[tuple[object, int]]) -> None:
    groups: dict[object, list[int]] = {}
    for value, row in pairs:
        if value is not None:
            group = groups.get(value)
            if group is None:
                groups[value] = [row]
            else:
                group.append(row)
    for value, rows in groups.items():
        sets.add_all(value, rows)


def _occurred(
    name: str, start: float | None, end: float | None, column_of: Callable[[str], Column]
) -> npt.NDArray[np.bool_]:
    if name != "occurred_at":
        return _within(column_of(name), start, end)
    event, created = column_of("event_at"), column_of("created_at")
    # Not np.where over the times: that branches a row, at six times the cost.
    return _within(event, start, end) | (np.isnan(event) & _within(created, start, end))


def _within(seconds: Column, start: float | None, end: float | None) -> npt.NDArray[np.bool_]:
    """NaN, the missing time, compares false with both ends, and with none it must be told."""
    if start is None and end is None:
        return ~np.isnan(seconds)
    inside = np.ones(len(seconds), np.bool_) if start is None else seconds >= start
    if end is not None:
        inside &= seconds < end
    return inside


def _measured(values: Column, low: float | None, high: float | None) -> npt.NDArray[np.bool_]:
    """Both ends count, rounded to the column's own dtype: 0.8 matches a stored float32 of 0.8."""
    inside = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
    if low is not None:
        inside &= values >= low
    if high is not None:
        inside &= values <= high
    return inside
