"""Batches of stored memories by column, for writing and reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, Final, TypeAlias, TypeVar

from oneiros.store.rows import (
    StoredMemory,
    ids_of,
    json_damage,
    metadata_of,
    sessions_of,
    tags_of,
)

__all__ = ["INSERTED_AT_ONCE", "StoredBatch", "StoredColumns"]

Parsed = TypeVar("Parsed")

INSERTED_AT_ONCE: Final = 10_000
"""Memories processed together within a larger batch."""

_FIELDS: Final = StoredMemory._fields


class StoredColumns:
    """A batch of memories, one list per field of :class:`StoredMemory`.

    Most fields of most new memories have one value in the whole batch; such a column is stored as that
    value. Immutable.

    Args:
        count: memories in the batch.
        varying: field to one value per memory.
        shared: field to the value of all memories.
        defaults: as ``shared``, for fields in neither; these do not count as ``given``. REQUIRES:
            every field is in one of the three.
    """

    __slots__ = ("_count", "_defaults", "shared", "varying")

    def __init__(
        self,
        count: int,
        varying: Mapping[str, Sequence[Any]],
        shared: Mapping[str, Any],
        defaults: Mapping[str, Any],
    ) -> None:
        self._count = count
        self.varying = varying
        self.shared = shared
        self._defaults = defaults

    @classmethod
    def of(cls, batch: StoredBatch) -> StoredColumns:
        """Return a batch by column, converting it if needed."""
        if isinstance(batch, StoredColumns):
            return batch
        columns = zip(*batch, strict=True) if batch else ((),) * len(_FIELDS)
        return cls(len(batch), dict(zip(_FIELDS, columns, strict=True)), {}, {})

    @property
    def given(self) -> Iterable[str]:
        """The fields that may differ from their defaults."""
        return (*self.varying, *self.shared)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> Sequence[Any]:
        """Return a field's values, one per memory."""
        column = self.varying.get(name)
        return [self._of_all(name)] * self._count if column is None else column

    def each(self, name: str) -> Iterable[Any]:
        """Return a field's values, without an end if all memories share one."""
        column = self.varying.get(name)
        return repeat(self._of_all(name)) if column is None else column

    def _of_all(self, name: str) -> Any:
        shared = self.shared
        return shared[name] if name in shared else self._defaults[name]

    def cells(self) -> dict[str, Any]:
        """Return all fields: each a list or tuple of values, or one value for all memories."""
        return {**self._defaults, **self.shared, **self.varying}

    def is_all(self, name: str, value: object) -> bool:
        """Return whether every memory has this value."""
        column = self.varying.get(name)
        if column is None:
            return bool(self._of_all(name) == value)
        return column.count(value) == self._count

    def places(self, name: str, is_wanted: Callable[[Any], bool]) -> Sequence[int]:
        """Return the positions of the memories whose value passes a test."""
        column = self.varying.get(name)
        if column is None:
            return range(self._count) if is_wanted(self._of_all(name)) else ()
        return [place for place, value in enumerate(column) if is_wanted(value)]

    def parsed(self, name: str) -> Sequence[Any]:
        """Return a field that is stored as JSON, parsed; None without JSON. Equal ones are shared.

        Raises:
            StoreCorrupt: the JSON is damaged; names the first such memory.
        """
        parse = _PARSERS[name]
        texts = self[f"{name}_json"]
        known: dict[str | None, Any] = {None: None}
        for place, text in enumerate(texts):
            if text not in known:
                try:
                    known[text] = parse(text)
                except (TypeError, ValueError, RecursionError) as error:
                    sequence, id = self["sequence"][place], self["id"][place]
                    raise json_damage(sequence, id, error) from error
        return list(map(known.__getitem__, texts))

    def at(self, places: Sequence[int]) -> StoredColumns:
        """Return the memories at some positions."""
        if len(places) == self._count:
            return self
        if not places:
            return self._with(0, dict.fromkeys(self.varying, ()))
        pick = itemgetter(*places) if len(places) > 1 else _single(places[0])
        varying = {name: pick(column) for name, column in self.varying.items()}
        return self._with(len(places), varying)

    def parts(self, size: int) -> Iterator[StoredColumns]:
        """Yield the memories in order, at most ``size`` at a time."""
        if self._count <= size:
            yield self
            return
        for start in range(0, self._count, size):
            part = slice(start, start + size)
            varying = {name: column[part] for name, column in self.varying.items()}
            yield self._with(min(size, self._count - start), varying)

    def sealed(self, own_checksums: list[int], state_checksums: list[int]) -> StoredColumns:
        """Return the memories with the checksums of their rows in both tables."""
        checksums = {"own_checksum": own_checksums, "state_checksum": state_checksums}
        return self._with(self._count, {**self.varying, **checksums})

    def _with(self, count: int, varying: Mapping[str, Sequence[Any]]) -> StoredColumns:
        return StoredColumns(count, varying, self.shared, self._defaults)

    def rows(self) -> list[StoredMemory]:
        """Return the memories by row."""
        return list(map(StoredMemory._make, zip(*map(self.__getitem__, _FIELDS), strict=True)))


StoredBatch: TypeAlias = StoredColumns | Sequence[StoredMemory]
"""Memories by column or by row."""


def _single(place: int) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return lambda column: (column[place],)


_PARSERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "sessions": sessions_of,
    "tags": tags_of,
    "labels": tags_of,
    "derived_from": ids_of,
    "metadata": metadata_of,
}
