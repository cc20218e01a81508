"""Memories of the store by column: what is written and read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Self, TypeAlias, TypeVar

from oneiros.store.rows import Damaged, StoredMemory, metadata_of, sessions_of, tags_of

__all__ = ["StoredBatch", "StoredColumns"]

Parsed = TypeVar("Parsed")

_FIELDS: Final = StoredMemory._fields


class StoredColumns:
    """A batch of memories, one list per field of :class:`StoredMemory`.

    Most fields of most new memories have one value in the whole batch: such a column is held as that
    value. Nothing here may be changed.

    Args:
        count: memories in the batch.
        varying: by field, one value per memory.
        shared: by field, the value of all memories. REQUIRES: the fields that are not in ``varying``.
    """

    __slots__ = ("_count", "_shared", "_varying")

    def __init__(
        self, count: int, varying: Mapping[str, Sequence[Any]], shared: Mapping[str, Any]
    ) -> None:
        self._count = count
        self._varying = varying
        self._shared = shared

    @classmethod
    def of(cls, batch: StoredBatch) -> StoredColumns:
        """Return a batch by column, whichever way it is held."""
        if isinstance(batch, StoredColumns):
            return batch
        columns = zip(*batch, strict=True) if batch else ((),) * len(_FIELDS)
        return cls(len(batch), dict(zip(_FIELDS, columns, strict=True)), {})

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> Sequence[Any]:
        """Return a field of all memories."""
        column = self._varying.get(name)
        return [self._shared[name]] * self._count if column is None else column

    def cells(self, name: str) -> Sequence[Any] | Any:
        """Return a field as it is held: a list or tuple of values, or the value of all memories."""
        column = self._varying.get(name)
        return self._shared[name] if column is None else column

    def is_all(self, name: str, value: object) -> bool:
        """Return whether every memory has this value."""
        column = self._varying.get(name)
        if column is None:
            return bool(self._shared[name] == value)
        return column.count(value) == self._count

    def places(self, name: str, is_wanted: Callable[[Any], bool]) -> Sequence[int]:
        """Return the places of the memories whose value is wanted."""
        column = self._varying.get(name)
        if column is None:
            return range(self._count) if is_wanted(self._shared[name]) else range(0)
        return [place for place, value in enumerate(column) if is_wanted(value)]

    def parsed(self, name: str) -> Sequence[Any]:
        """Return ``sessions``, ``tags`` or ``metadata``; None for no JSON. Equal ones are one object.

        Raises:
            StoreCorrupt: JSON is not what the field holds; the first such memory is named.
        """
        parse = _PARSERS[name]
        texts = self[f"{name}_json"]
        known: dict[str | None, Any] = {None: None}
        for place, text in enumerate(texts):
            if text not in known:
                try:
                    known[text] = parse(text)
                except (TypeError, ValueError, RecursionError) as error:
                    reason = f"JSON in the store is not what its field holds ({error})"
                    sequence, id = self["sequence"][place], self["id"][place]
                    raise Damaged(sequence, id, reason).error() from error
        return list(map(known.__getitem__, texts))

    def at(self, places: Sequence[int]) -> Self:
        """Return the memories at some places."""
        if len(places) == self._count:
            return self
        if not places:
            return type(self)(0, dict.fromkeys(self._varying, ()), self._shared)
        pick = itemgetter(*places) if len(places) > 1 else _single(places[0])
        varying = {name: pick(column) for name, column in self._varying.items()}
        return type(self)(len(places), varying, self._shared)

    def parts(self, size: int) -> Iterator[Self]:
        """Yield the memories in order, at most ``size`` at a time."""
        if self._count <= size:
            yield self
            return
        for start in range(0, self._count, size):
            part = slice(start, start + size)
            varying = {name: column[part] for name, column in self._varying.items()}
            yield type(self)(min(size, self._count - start), varying, self._shared)

    def sealed(self, own_checksums: list[int], state_checksums: list[int]) -> Self:
        """Return the memories with the checksums of their rows in both tables."""
        checksums = {"own_checksum": own_checksums, "state_checksum": state_checksums}
        return type(self)(self._count, {**self._varying, **checksums}, self._shared)

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
    "metadata": metadata_of,
}
