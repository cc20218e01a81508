"""The attributes that the attribute index holds of each row, kept in step with the store."""

from __future__ import annotations

from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from oneiros._lazy import np
from oneiros.filters import AttributeIndex
from oneiros.filters.fields import SINGLE, WORDS
from oneiros.filters.metadata_paths import MISSING, resolver
from oneiros.index.columns import is_missing
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.columns import StoredColumns
from oneiros.store.rows import metadata_of, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.filters.metadata_paths import Key
    from oneiros.filters.row_bitmaps import RowsByValue
    from oneiros.index.columns import Lifecycle
    from oneiros.index.stored_rows import StoredRecords
    from oneiros.store import StoredMemory

    Rows = npt.NDArray[np.uint32]

__all__ = ["RowAttributes", "StoredTexts"]


class _Attributes(NamedTuple):
    """The attributes of a row as last passed to the attribute index."""

    id: str
    kind: str
    project: str | None
    session: str | None
    topic: str | None
    user: str | None
    agent: str | None
    namespace: str | None
    source: str | None
    source_ref: str | None
    tags: Sequence[str]
    labels: Sequence[str]
    metadata: dict[str, object]
    stored: StoredTexts
    """As stored: as Python values, 1 would equal True."""


StoredTexts: TypeAlias = tuple[str | None, str | None, str | None]
"""Tags, metadata and labels as JSON."""


class _HeldAttributes:
    """The attributes in memory by row, and the snapshot's."""

    def __init__(self) -> None:
        self.by_row: dict[int, _Attributes] = {}
        self.stored: StoredRecords | None = None

    def metadata_values(self, path: Key) -> Iterator[tuple[int, object]]:
        """Yield the rows whose metadata have a value at a path, with the value.

        The snapshot has rows that were removed since, too.
        """
        find, attributes = resolver(path), self.by_row
        for row in list(attributes):
            found = attributes.get(row)
            if found is not None and found.metadata:
                value = find(found.metadata)
                if value is not MISSING:
                    yield row, value
        if self.stored is not None:
            for row, value in self.stored.metadata_values(path):
                if row not in attributes:
                    yield row, value


class RowAttributes:
    """The attributes of rows, by row and as sets of rows."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._held = held = _HeldAttributes()
        self._attributes = held.by_row

        def row_of(memory_id: str) -> int | None:
            return lifecycle.row_of.get(memory_id)

        # Nothing here refers to this object. The columns reserve much address space, and in a
        # reference cycle they would keep it until the next collection.
        self.index = AttributeIndex(row_of, held.metadata_values)
        # Rows whose attributes are being changed, with all attributes they may have: a change that
        # an interrupt cut off is removed whole before it is repeated.
        self._unsure: dict[int, tuple[_Attributes, ...]] = {}

    def __len__(self) -> int:
        """Return the number of rows with known attributes."""
        return len(self.index)

    def take_over(
        self,
        known: BitMap,
        sets: Mapping[tuple[str, ...], Callable[[], RowsByValue]],
        records: StoredRecords,
    ) -> None:
        """Take over the rows of a snapshot. REQUIRES: there are none yet.

        ``sets`` has by place a function that reads the sets of the place.
        """
        self._held.stored = records
        self.index.take_over(known, sets)

    @property
    def stored(self) -> StoredRecords | None:
        """The snapshot's attributes of its rows."""
        return self._held.stored

    @property
    def is_sure(self) -> bool:
        """Whether no interrupt left the attributes of a row half changed."""
        return not self._unsure

    def stored_texts(self) -> dict[int, StoredTexts]:
        """Return the stored texts of every row that may differ from the snapshot."""
        return {row: attributes.stored for row, attributes in self._attributes.items()}

    def apply(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Bring the index into line with the store."""
        if not memories.is_all("deleted_at", None):
            for row, deleted_at in zip(rows, memories["deleted_at"], strict=True):
                if deleted_at is not None:
                    self.forget(row)
            live = memories.places("deleted_at", is_missing)
            rows, memories = [rows[place] for place in live], memories.at(live)
        fresh_rows, fresh = list(rows), _attributes_of(memories)
        are_new = self.stored is None and self._attributes.keys().isdisjoint(fresh_rows)
        if not are_new or self._unsure:
            places = self._apply_known(rows, fresh)
            fresh_rows, fresh = [rows[n] for n in places], [fresh[n] for n in places]
        if len(fresh) == 1:  # no need to group by value
            (row,), (new,) = fresh_rows, fresh
            self._unsure[row] = (new,)
            self._attributes[row] = new  # first: see MetadataIndex
            self.index.add(row, new)
            del self._unsure[row]
        elif fresh:
            columns: dict[str, Any] = dict(
                zip(_Attributes._fields, zip(*fresh, strict=True), strict=True)
            )
            columns["ids"] = columns.pop("id")
            del columns["stored"]
            self._unsure.update((row, (new,)) for row, new in zip(fresh_rows, fresh, strict=True))
            self._attributes.update(zip(fresh_rows, fresh, strict=True))
            self.index.add_many(fresh_rows, **columns)
            for row in fresh_rows:
                del self._unsure[row]

    def hold(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> list[bool]:
        """Return for each memory whether the index has its attributes, or none if it is deleted."""
        stored = iter(_attributes_of(StoredColumns.of([m for m in batch if m.deleted_at is None])))
        return [
            row not in self.index
            if memory.deleted_at is not None
            else self._indexed(row) == next(stored)
            for row, memory in zip(rows, batch, strict=True)
        ]

    def _indexed(self, row: int) -> _Attributes | None:
        """Return the attributes in the index of a row, without caching a snapshot's."""
        if row not in self.index:
            return None
        attributes = self._attributes.get(row)
        if attributes is None and self.stored is not None and self.stored.holds(row):
            attributes = self._of_snapshot(self.stored, row)
        return attributes

    def _apply_known(self, rows: Sequence[int], attributes: Sequence[_Attributes]) -> list[int]:
        """Update the known rows, and return the places of the unknown ones."""
        others = []
        for place, (row, new) in enumerate(zip(rows, attributes, strict=True)):
            if row in self._unsure:
                self.forget(row)
            old = self._cached(row)
            if old is None:
                others.append(place)
            elif old != new:
                self._unsure[row] = (old, new)
                publish = partial(self._attributes.__setitem__, row, new)
                self.index.replace(row, old, new, publish=publish)
                del self._unsure[row]
        return others

    def _cached(self, row: int) -> _Attributes | None:
        """Return the attributes in the index of a row, and cache a snapshot's."""
        attributes = self._attributes.get(row)
        if attributes is None and (attributes := self._indexed(row)) is not None:
            self._attributes[row] = attributes
        return attributes

    def _of_snapshot(self, stored: StoredRecords, row: int) -> _Attributes:
        words: dict[str, Any] = {name: stored.word(name, row) for name in SINGLE}
        words["kind"] = words["kind"] or ""
        tags, metadata, labels = texts = stored.texts(row)
        return _Attributes(
            id=self._lifecycle.ids[row],
            **words,
            tags=_words_of(tags),
            labels=_words_of(labels),
            metadata=_metadata_of(metadata),
            stored=texts,
        )

    def forget_many(self, rows: Rows) -> None:
        """Drop the attributes of many rows at once."""
        for row in self._unsure.keys() & set(rows.tolist()):
            self.forget(row)
        known = [row for row in rows.tolist() if row in self.index]
        cached = [row for row in known if row in self._attributes]
        stored = np.array([row for row in known if row not in self._attributes], np.uint32)
        if cached:
            fields = {
                name: [getattr(self._attributes[row], name) for row in cached]
                for name in (*SINGLE, *WORDS, "metadata")
            }
            self.index.purge_many(cached, **fields)
            for row in cached:
                del self._attributes[row]
        if self.stored is not None and len(stored):
            self.index.purge_many(stored.tolist(), **self._fields_of_snapshot(self.stored, stored))

    def _fields_of_snapshot(self, stored: StoredRecords, rows: Rows) -> dict[str, list[Any]]:
        """Return the snapshot's attributes of rows, one list per field."""
        fields: dict[str, list[Any]] = {name: stored.words(name, rows) for name in SINGLE}
        pairs = zip(rows.tolist(), stored.with_records(rows), strict=True)
        texts = [stored.texts(row) if has else _NO_TEXTS for row, has in pairs]
        tags, metadata, labels = zip(*texts, strict=True)
        fields["tags"], fields["labels"] = list(map(_words_of, tags)), list(map(_words_of, labels))
        fields["metadata"] = list(map(_metadata_of, metadata))
        return fields

    def forget(self, row: int) -> None:
        """Drop the attributes of a row."""
        cached = self._cached(row)
        for attributes in (*self._unsure.get(row, ()), *(() if cached is None else (cached,))):
            self.index.purge(row, attributes)
        self._attributes.pop(row, None)
        self._unsure.pop(row, None)


# Shared by all rows without tags, labels or metadata, which are most rows.
_NO_WORDS: Final[Sequence[str]] = ()
_NO_METADATA: Final[dict[str, object]] = {}
_NO_TEXTS: Final[StoredTexts] = (None, None, None)


def _words_of(text: str | None) -> Sequence[str]:
    return _NO_WORDS if text is None else tags_of(text)


def _metadata_of(text: str | None) -> dict[str, object]:
    return _NO_METADATA if text is None else metadata_of(text)


_STORED: Final = ("tags_json", "metadata_json", "labels_json")
_make: Final = partial(tuple.__new__, _Attributes)


def _attributes_of(memories: StoredColumns) -> list[_Attributes]:
    ids, plain = memories["id"], map(memories.each, SINGLE)
    if all(memories.is_all(name, None) for name in _STORED):
        more: list[Iterable[Any]] = [repeat(_NO_WORDS), repeat(_NO_WORDS), repeat(_NO_METADATA)]
        return list(map(_make, zip(ids, *plain, *more, repeat(_NO_TEXTS), strict=False)))
    tags, labels = (
        (_NO_WORDS if many is None else many for many in memories.parsed(name)) for name in WORDS
    )
    metadata = (_NO_METADATA if data is None else data for data in memories.parsed("metadata"))
    texts = zip(*map(memories.__getitem__, _STORED), strict=True)
    return list(map(_make, zip(ids, *plain, tags, labels, metadata, texts, strict=False)))
