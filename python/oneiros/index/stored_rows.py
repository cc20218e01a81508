"""The rows of a snapshot: ids, sessions, tags, metadata and labels."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, overload

from oneiros import _core
from oneiros._lazy import np
from oneiros.filters.metadata_paths import MISSING, resolver, utf8_of
from oneiros.index.snapshot_parts import PartReader, PartWriter, require_sense
from oneiros.store.rows import json_text, metadata_of, sessions_of, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from typing_extensions import Buffer

    from oneiros.filters.metadata_paths import Key
    from oneiros.index.row_attributes import StoredTexts

__all__ = [
    "CODE_COLUMNS",
    "StoredIdsByRow",
    "StoredRecords",
    "StoredRowsById",
    "ids_of",
    "records_part",
    "rows_of",
]


_MOST_RECENT: Final = 2_048


class StoredIdsByRow:
    """A list of ids by row: the snapshot's, followed by later ones.

    Args:
        stored: the snapshot's.
        recent: takes the rows of ids that were read, as those of results are looked up next.
    """

    def __init__(self, stored: _core.StoredIds, recent: dict[str, int]) -> None:
        self._stored = stored
        self._recent = recent
        self._stored_count = len(stored)
        self._erased: set[int] = set()
        self._later: list[str] = []

    def __len__(self) -> int:
        return self._stored_count + len(self._later)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if place >= self._stored_count:
            return self._later[place - self._stored_count]
        return "" if place in self._erased else self._stored.at(place)

    def of(self, rows: Sequence[int]) -> list[str]:
        """Return the ids of rows."""
        if max(rows, default=0) >= self._stored_count or not self._erased.isdisjoint(rows):
            return [self[row] for row in rows]
        ids = self._stored.of(rows)
        if len(self._recent) > _MOST_RECENT:
            self._recent.clear()
        self._recent.update(zip(ids, rows, strict=True))
        return ids

    def __setitem__(self, row: int, id: str) -> None:
        """Set the id of a row. REQUIRES: for a row of the snapshot, the empty id."""
        if row >= self._stored_count:
            self._later[row - self._stored_count] = id
        else:
            assert not id
            self._erased.add(row)

    def __iter__(self) -> Iterator[str]:
        ids = self._stored.between(0, self._stored_count)
        for row in self._erased:
            ids[row] = ""
        yield from ids
        yield from self._later

    def __delitem__(self, rows: slice) -> None:
        """Drop the last ids. REQUIRES: none belongs to a row of the snapshot."""
        first, _, _ = rows.indices(len(self))
        assert first >= self._stored_count
        del self._later[first - self._stored_count :]

    def extend(self, ids: Iterable[str]) -> None:
        """Append the ids of later rows."""
        self._later.extend(ids)


class StoredRowsById:
    """A dict of rows by id: the snapshot's and later ones.

    Args:
        stored: the snapshot's.
        recent: rows of the snapshot by id, of which a look-up in ``stored`` would take longer.
    """

    def __init__(self, stored: _core.StoredIds, recent: dict[str, int]) -> None:
        self._stored = stored
        self._recent = recent
        self._erased: set[str] = set()
        self._later: dict[str, int] = {}

    def __len__(self) -> int:
        return self._stored.known_count - len(self._erased) + len(self._later)

    def __contains__(self, id: str) -> bool:
        return self.get(id) is not None

    def __getitem__(self, id: str) -> int:
        row = self.get(id)
        if row is None:
            raise KeyError(id)
        return row

    def get(self, id: str) -> int | None:
        """Return the row of an id, or None."""
        row = self._later.get(id)
        if row is not None or id in self._erased:  # the recent rows keep those of erased ids
            return row
        row = self._recent.get(id)
        return self._stored.find(id) if row is None else row

    def of(self, ids: Sequence[str]) -> list[int | None]:
        """Return the rows of ids, None for an unknown one."""
        if self._erased.isdisjoint(ids):  # then what was read lately is still so
            rows = [*map(self._recent.get, ids)]
            if None not in rows:
                return rows
        return [*map(self.get, ids)]

    def pop(self, id: str, otherwise: None) -> int | None:
        """Remove an id and return its row, or None."""
        row = self._later.pop(id, None)
        if row is None and id not in self._erased:
            row = self._stored.find(id)
            if row is not None:
                self._erased.add(id)
        return otherwise if row is None else row

    def update(self, rows: Iterable[tuple[str, int]]) -> None:
        """Add later ids. REQUIRES: none has a row."""
        self._later.update(rows)


def ids_of(ids: Sequence[str] | StoredIdsByRow, rows: Sequence[int]) -> list[str]:
    """Return the ids of rows; "" for a forgotten row."""
    return ids.of(rows) if isinstance(ids, StoredIdsByRow) else [ids[row] for row in rows]


def rows_of(rows: Mapping[str, int] | StoredRowsById, ids: Sequence[str]) -> list[int | None]:
    """Return the rows of ids, None for an unknown one."""
    return rows.of(ids) if isinstance(rows, StoredRowsById) else [*map(rows.get, ids)]


if TYPE_CHECKING:
    Rows = npt.NDArray[np.uint32]


CODE_COLUMNS: Final = {
    "kind": "kind",
    "topic": "topic_code",
    "project": "project_code",
    "session": "session_code",
    "user": "user_code",
    "agent": "agent_code",
    "namespace": "namespace_code",
    "source": "source_code",
    "source_ref": "source_ref_code",
}
"""The columns of codes, by the field that has the words."""

_PARSERS: Final[tuple[Callable[[str], object], ...]] = (sessions_of, tags_of, metadata_of, tags_of)
"""The parsers of the texts of a record: sessions, tags, metadata, labels."""
_FIELDS: Final = len(_PARSERS)
_METADATA: Final = 2
_READ_AT_ONCE: Final = 5_000


class StoredRecords:
    """The rows of a snapshot, read one by one on demand and never changed.

    Args:
        part: the bytes made by :func:`records_part`.
        column: returns a column as saved.
        word: returns the word of a field's code.
    """

    def __init__(
        self,
        part: Buffer,
        column: Callable[[str], Buffer],
        word: Callable[[str, int], str | None],
    ) -> None:
        reader = PartReader(part)
        self._rows = reader.take("I")
        self._ends = reader.take("Q")
        self._texts = reader.take("B")
        reader.end()
        require_sense(len(self._ends) == _FIELDS * len(self._rows), "not as many texts as records")
        self._row_end = self._rows[-1] + 1 if len(self._rows) else 0
        self._codes = {name: memoryview(column(saved)) for name, saved in CODE_COLUMNS.items()}
        self._word = word

    def check(self, row_end: int) -> None:
        """Raise ValueError, TypeError or SnapshotDamaged unless every record can be read."""
        rows, ends = np.asarray(self._rows), np.asarray(self._ends)
        require_sense(
            (rows < row_end).all() and (rows[:-1] < rows[1:]).all(), "records out of order"
        )
        require_sense(
            (ends[:-1] <= ends[1:]).all() and (ends[-1] if len(ends) else 0) == len(self._texts),
            "texts of records do not fill their bytes",
        )
        for _, texts in self:
            for text, parse in zip(texts, _PARSERS, strict=True):
                if text is not None:
                    parse(text)

    def __iter__(self) -> Iterator[tuple[int, list[str | None]]]:
        """Yield row, and sessions, tags, metadata and labels as JSON, for the rows that have any."""
        for place, row in enumerate(self._rows.tolist()):
            yield row, [self._text(place, field) for field in range(_FIELDS)]

    def holds(self, row: int) -> bool:
        """Return whether a row belongs to the snapshot."""
        return row < len(self._codes["kind"])

    def word(self, name: str, row: int) -> str | None:
        """Return the word of a row in a field of :data:`CODE_COLUMNS`."""
        return self._word(name, self._codes[name][row])

    def words(self, name: str, rows: Rows) -> list[str | None]:
        """Return the words of rows in a field of :data:`CODE_COLUMNS`."""
        codes = np.asarray(self._codes[name])[rows].tolist()
        word_of = {code: self._word(name, code) for code in set(codes)}
        return list(map(word_of.__getitem__, codes))

    def with_records(self, rows: Rows) -> list[bool]:
        """Return for each row whether it may have sessions, tags, metadata or labels."""
        found: list[bool] = np.isin(rows, np.asarray(self._rows)).tolist()
        return found

    def sessions(self, row: int) -> frozenset[str]:
        """Return the sessions that recalled the memory of a row."""
        place = self._place(row)
        text = None if place is None else self._text(place, 0)
        return frozenset() if text is None else sessions_of(text)

    def texts(self, row: int) -> StoredTexts:
        """Return a row's tags, metadata and labels as JSON."""
        place = self._place(row)
        if place is None:
            return None, None, None
        return self._text(place, 1), self._text(place, 2), self._text(place, 3)

    def metadata_values(self, path: Key) -> Iterator[tuple[int, object]]:
        """Yield the rows whose metadata have a value at a path, with the value."""
        keys, whole_key = utf8_of(path)
        find = resolver(path)
        for start in range(0, len(self._rows), _READ_AT_ONCE):
            places, values, unclear = _core.json_values(
                texts=self._texts,
                ends=self._ends,
                stride=_FIELDS,
                offset=_METADATA,
                first=start,
                last=min(start + _READ_AT_ONCE, len(self._rows)),
                keys=keys,
                whole_key=whole_key,
            )
            for place, value in zip(places, json.loads(values), strict=True):
                yield self._rows[place], value
            for place in unclear:
                value = find(metadata_of(self._text(place, _METADATA) or "{}"))
                if value is not MISSING:
                    yield self._rows[place], value

    def _place(self, row: int) -> int | None:
        """Return the place of a row's record; None: it has none."""
        if row >= self._row_end:
            return None
        place = bisect_left(self._rows, row)
        return place if self._rows[place] == row else None

    def _text(self, place: int, field: int) -> str | None:
        number = _FIELDS * place + field
        start = self._ends[number - 1] if number else 0
        return self._texts[start : self._ends[number]].tobytes().decode() or None


_NO_TEXTS: Final = (None, None, None)


def records_part(
    former: StoredRecords | None,
    ids: list[str],
    sessions: Mapping[int, frozenset[str]],
    stored: Mapping[int, StoredTexts],
    is_known: Callable[[int], bool],
) -> bytes:
    """Return the bytes that :class:`StoredRecords` reads.

    Args:
        former: the records of the previous snapshot.
        ids: by row; rows without an id are left out.
        sessions: for the rows whose sessions differ from the previous snapshot.
        stored: tags, metadata and labels for the rows that may differ from it.
        is_known: whether a row has attributes now.
    """
    records: dict[int, list[str | None]] = {}
    for row, texts in former or ():
        is_same = row not in stored and is_known(row)
        records[row] = texts if is_same else [texts[0], *_NO_TEXTS]
    for row, fresh in stored.items():
        if fresh != _NO_TEXTS or row in records:
            records.setdefault(row, [None, *_NO_TEXTS])[1:] = fresh
    for row, names in sessions.items():
        if names or row in records:
            records.setdefault(row, [None, *_NO_TEXTS])[0] = (
                json_text(sorted(names)) if names else None
            )
    rows = sorted(row for row, texts in records.items() if ids[row] and any(texts))
    encoded = [(text or "").encode() for row in rows for text in records[row]]
    part = PartWriter()
    part.put(np.array(rows, np.uint32))
    part.put(np.cumsum([len(text) for text in encoded], dtype=np.uint64))
    part.put_bytes(b"".join(encoded))
    return part.bytes()
