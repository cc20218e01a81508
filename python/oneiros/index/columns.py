"""Ids, rows and columns of a store's memories."""

from __future__ import annotations

import math
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.index.stored_rows import CODE_COLUMNS, StoredIdsByRow, StoredRowsById
from oneiros.index.texts import asking_share
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS, FIELDS
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.search.query.dates import time_names
from oneiros.store.columns import StoredColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.index.stored_rows import StoredRecords
    from oneiros.store.checksums import StoredStates
    from oneiros.store.columns import StoredBatch

__all__ = [
    "PLAIN_COLUMNS",
    "ColumnWrite",
    "Lifecycle",
    "LongNumbers",
    "WordCodes",
    "coded",
    "is_given",
    "is_missing",
    "said",
    "shortest",
]


class LongNumbers(NamedTuple):
    """Numbers that the store keeps as float64 and a float32 column rounds, such as 1/3."""

    places: npt.NDArray[np.int64]
    """Ascending positions in the rows of the column write."""
    values: npt.NDArray[np.float64]


class ColumnWrite(NamedTuple):
    """New values of one field of many memories."""

    field: str
    rows: npt.NDArray[np.uint32]
    """Each row once."""
    values: npt.NDArray[Any]
    """In the dtype of the column."""
    long: LongNumbers | None = None
    """Values that the store gets in place of some of ``values``; None: none."""


class WordCodes:
    """Numbers for at most ``limit`` words of a field, in order of appearance; 0 means "none"."""

    def __init__(self, field: str, limit: int) -> None:
        self._code_of: dict[str | None, int] = {None: 0}
        self._field = field
        self._limit = limit
        self._stored: Callable[[], Sequence[str]] | None = None
        self._stored_words: Sequence[str] = ("",)

    def take_over(self, words: Callable[[], Sequence[str]]) -> None:
        """Take over the words of a snapshot, read when first needed.

        REQUIRES: no word has a code yet. Until they are read, one thread at a time uses the codes.
        """
        self._stored = words

    def read(self) -> None:
        """Read the words of the snapshot unless that was done."""
        if self._stored is not None:
            self._stored_words = ("", *self._stored())
            self._code_of.update(
                (word, code) for code, word in enumerate(self._stored_words) if code
            )
            self._stored = None

    def stored_word(self, code: int) -> str | None:
        """Return the word of a code of the snapshot."""
        self.read()
        return self._stored_words[code] if code else None

    def __call__(self, word: str | None) -> int:
        self.read()
        code = self._code_of.get(word)
        if code is None:
            self.require([word])
            code = self._code_of[word] = len(self._code_of)
        return code

    def of(self, words: Sequence[str | None]) -> list[int]:
        """Return the codes of many words."""
        self.read()
        known = list(map(self._code_of.get, words))
        if None in known:
            return [self(word) for word in words]
        return known  # type: ignore[return-value]

    def require(self, words: Iterable[object]) -> None:
        """Raise ValueError if these words, None left out, would exceed the limit."""
        self.read()
        fresh = {word for word in words if word is not None and word not in self._code_of}
        if len(self._code_of) + len(fresh) > self._limit + 1:
            msg = (
                f"{self._field}: at most {self._limit} distinct ones, got {min(map(str, fresh))!r} "
                f"beyond {len(self._code_of) - 1}"
            )
            raise ValueError(msg)

    def __contains__(self, word: object) -> bool:
        self.read()
        return word in self._code_of

    def __len__(self) -> int:
        return len(self._code_of)

    def words(self) -> tuple[str, ...]:
        """Return the words by code; the word of 0 is empty."""
        self.read()
        # One step: another thread may add words.
        return ("", *tuple(self._code_of)[1:])  # type: ignore[arg-type]


if TYPE_CHECKING:
    Rows = npt.NDArray[np.uint32]


PLAIN_COLUMNS: Final = tuple(
    name for name, field in FIELDS.items() if field.column is not None and name != "kind"
)
"""Columns that hold the values of the field of the same name. The others hold codes."""
_MOST_KINDS: Final = 2**16 - 1
_MOST_WORDS: Final = 2**32 - 1


# The values of a new row, in the form of the store: None is no time.
_ERASED: Final[Mapping[str, float | None]] = {
    "deleted_at": None,
    "created_at": None,
    "event_at": None,
    "access_count": 0,
}

_DEFAULTS: Final = {
    name: None if math.isnan(COLUMN_DEFAULTS[name]) else COLUMN_DEFAULTS[name]
    for name in PLAIN_COLUMNS
}


def is_given(value: object) -> bool:
    """Return whether a cell has a value."""
    return value is not None


def is_missing(value: object) -> bool:
    """Return whether a cell has no value."""
    return value is None


class Lifecycle:
    """Row numbers in order of insertion, never reused, and the core's columns over them."""

    def __init__(self) -> None:
        self.columns = _core.Columns()
        self.names = frozenset(_core.Columns.schema())
        self.row_of: dict[str, int] | StoredRowsById = {}
        self.ids: list[str] | StoredIdsByRow = []
        self.erased_rows: set[int] = set()
        """Rows of erased memories; of a snapshot's rows only those erased since it was read."""
        self.sessions = _core.SessionSets()
        """The sessions of the rows for which they may differ from the snapshot."""
        self._stored: StoredRecords | None = None
        self.kinds: tuple[str, ...] = ("",)
        """The words of the codes in the column ``kind``; the same object until a kind is added."""
        self._codes = {
            name: WordCodes(name, _MOST_KINDS if name == "kind" else _MOST_WORDS)
            for name in CODE_COLUMNS
        }

    def take_over(
        self,
        columns: _core.Columns,
        ids: _core.StoredIds,
        records: StoredRecords,
        words: Mapping[str, Callable[[], Sequence[str]]],
    ) -> None:
        """Take over the rows of a snapshot. REQUIRES: there are no rows yet.

        ``words`` has by field of ``CODE_COLUMNS`` a function that reads its words.
        """
        self.columns, self._stored = columns, records
        recent: dict[str, int] = {}
        self.ids, self.row_of = StoredIdsByRow(ids, recent), StoredRowsById(ids, recent)
        for name, codes in self._codes.items():
            codes.take_over(words[name])
        self._codes["kind"].read()
        self.kinds = self._codes["kind"].words()

    def keep_kinds(self, kinds: tuple[str, ...]) -> None:
        """Give kinds these codes. REQUIRES: there are no rows yet."""
        self._codes["kind"].of(kinds[1:])
        self.kinds = kinds

    def words(self) -> dict[str, tuple[str, ...]]:
        """Return the words by field of ``CODE_COLUMNS``, without "none"."""
        return {name: codes.words()[1:] for name, codes in self._codes.items()}

    def words_of(self, name: str) -> tuple[str, ...]:
        """Return the words of a field by code, kind, topic, project or session; that of 0 is ""."""
        return self._codes[name].words()

    def word_count(self, name: str) -> int:
        """Return the number of words of a field, that of 0 included; see :meth:`words_of`."""
        codes = self._codes[name]
        codes.read()
        return len(codes)

    def stored_word(self, name: str, code: int) -> str | None:
        """Return the word of a code of the snapshot, for a field of ``CODE_COLUMNS``."""
        return self._codes[name].stored_word(code)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a read-only view of a column, with the current number of rows."""
        return self.columns.view(name=name)

    def rows_of_ids(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of memories. REQUIRES: all have one."""
        return list(map(self.row_of.__getitem__, ids))

    def rows_of(self, sequences: Sequence[int]) -> list[int]:
        """Return the rows of memories, -1 where there is none.

        Args:
            sequences: sequence numbers of the store, in any order.
        """
        rows = self.columns.rows_of_sequences(sequences=sequences, end=len(self.ids))
        if not self.erased_rows:
            return rows
        return [-1 if row in self.erased_rows else row for row in rows]

    def rows_of_sequences(self, sequences: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return :meth:`rows_of` as an array, shape (n,)."""
        return np.array(self.rows_of(sequences.tolist()), np.int64)

    def sessions_of(self, row: int) -> frozenset[str]:
        """Return the sessions that recalled a memory."""
        sessions = self.sessions.at(row=row)
        if sessions is not None:
            return frozenset(sessions)
        return frozenset() if self._stored is None else self._stored.sessions(row)

    def all_sessions(self) -> dict[int, frozenset[str]]:
        """Return the sessions of every row for which they may differ from the snapshot."""
        return {row: self.sessions_of(row) for row in self.sessions.rows()}

    def load_sessions(self, rows: Sequence[int]) -> None:
        """Load into the core the sessions of rows that only the snapshot holds."""
        if self._stored is None:
            return
        for row in self.sessions.absent(rows=rows):
            self.sessions.set_if_absent(row=row, sessions=list(self._stored.sessions(row)))

    def has_kind(self, kind: str) -> bool:
        """Return whether some memory has had this kind."""
        return kind in self._codes["kind"]

    def require_kinds(self, kinds: Iterable[object]) -> None:
        """Refuse kinds for which no code is left, before they are stored.

        Raises:
            ValueError: there would be more than 65,535 kinds.
        """
        self._codes["kind"].require(kinds)

    def count_by_kind(self, rows: Rows) -> dict[str, int]:
        """Return the number of these rows of each kind, the most frequent first."""
        counts = np.bincount(self.column("kind")[rows])
        kinds = self.kinds
        count_of = {kinds[code]: int(counts[code]) for code in np.flatnonzero(counts)}
        return dict(sorted(count_of.items(), key=lambda item: (-item[1], item[0])))

    def apply(self, batch: StoredBatch) -> None:
        """Bring the columns into line with the store; new memories get a row."""
        memories = StoredColumns.of(batch)
        row_of = self.row_of
        ids = memories["id"]
        new = [id for id in ids if id not in row_of]
        if new:
            self._drop_unfound()
        first = len(self.ids)
        left = len(self.columns) - first  # rows that an interrupt left, with any values
        are_new = len(new) == len(ids)
        values = self._values(memories, are_new=are_new and not left)  # may raise, so it is first
        if len(new) > left:
            self.columns.append(count=len(new) - left)
        fresh = dict(zip(new, range(first, first + len(new)), strict=True))
        rows = list(fresh.values())
        if not are_new:
            rows = [row_of[id] if (row := fresh.get(id)) is None else row for id in ids]
        self.columns.write(rows=rows, values=values)
        # Last, and ids before rows: a row that can be found has its values, and an interrupt leaves
        # at most rows that cannot be found.
        self.ids.extend(new)
        row_of.update(fresh)
        self._apply_sessions(rows, memories, are_new=are_new)

    def _apply_sessions(self, rows: list[int], memories: StoredColumns, *, are_new: bool) -> None:
        if memories.is_all("sessions_json", None) and (
            are_new or (self._stored is None and not len(self.sessions))
        ):
            return
        for row, sessions in zip(rows, memories.parsed("sessions"), strict=True):
            if sessions or (not are_new and self.sessions_of(row)):
                self.sessions.set(row=row, sessions=list(sessions or ()))

    def _drop_unfound(self) -> None:
        """Drop ids at the end whose rows an interrupt left before they could be found."""
        end = len(self.ids)
        while end and self.ids[end - 1] and self.row_of.get(self.ids[end - 1]) != end - 1:
            end -= 1
        del self.ids[end:]

    def apply_states(self, states: StoredStates) -> tuple[list[int], Mapping[str, Sequence[Any]]]:
        """Bring the columns of states into line with the store; return the known rows and values."""
        rows = self.rows_of(states.sequences)
        values, sessions = states.values, states.sessions
        if -1 in rows:
            is_known = [row >= 0 for row in rows]
            rows = list(compress(rows, is_known))
            values = {name: list(compress(column, is_known)) for name, column in values.items()}
            sessions = list(compress(sessions, is_known))
        self.columns.write(rows=rows, values=values)
        for row, names in zip(rows, sessions, strict=True):
            if names is not None:  # the sessions of a memory only grow
                self.sessions.set(row=row, sessions=list(names))
        return rows, values

    def erase(self, ids: Iterable[str]) -> None:
        """Drop ids and their sessions; skip unknown ones. Their rows stay unused.

        The rows keep no time of creation, use or deletion, and no search looks at them.
        """
        rows_of_ids = {id: row for id in ids if (row := self.row_of.get(id)) is not None}
        rows = list(rows_of_ids.values())
        self.erased_rows.update(rows)
        values = {name: [value] * len(rows) for name, value in _ERASED.items()}
        self.columns.write(rows=rows, values=values)
        for memory_id, row in rows_of_ids.items():
            self.ids[row] = ""
            if self.sessions_of(row):
                self.sessions.set(row=row, sessions=[])
            self.row_of.pop(memory_id, None)  # last: after an interrupt the row is still found

    def _values(
        self, memories: StoredColumns, *, are_new: bool
    ) -> dict[str, Sequence[float | None]]:
        """Return the columns of memories; for new rows, those that differ from the defaults."""
        names: Iterable[str] = PLAIN_COLUMNS
        if are_new:
            names = [
                name
                for name in memories.given
                if name in _DEFAULTS and not memories.is_all(name, _DEFAULTS[name])
            ]
        values = {name: memories[name] for name in names}
        values["sequence"] = memories["sequence"]
        for name, column in CODE_COLUMNS.items():
            if not (are_new and memories.is_all(name, None)):
                values[column] = self._codes[name].of(memories[name])
        if len(self._codes["kind"]) != len(self.kinds):
            self.kinds = self._codes["kind"].words()
        if not (are_new and memories.is_all("is_superseded", 0)):
            values["superseded"] = memories["is_superseded"]
        asks = list(map(asking_share, memories["text"]))
        if not are_new or any(asks):
            values["asks"] = asks
        times = have_times(memories["text"], memories["event_at"])
        if not are_new or any(times):
            values["names_time"] = times
        return values


def have_times(texts: Sequence[str], events: Sequence[object]) -> list[bool]:
    """Return whether each memory is about a time: its text names one, or its event has one. H13."""
    named = time_names().stand_in(texts=list(texts))
    return [
        is_named > 0 or event is not None for is_named, event in zip(named, events, strict=True)
    ]


def said(field: str, values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as values of the field in a memory.

    Args:
        field: the field's name.
        values: values of its column, shape (n,).
    """
    if field in ENUMS:
        words = ENUMS[field]
        return [words[code] for code in values.tolist()]
    if FIELDS[field].kind == "bool":
        return [bool(value) for value in values.tolist()]
    return coded(values)


def coded(values: npt.NDArray[Any]) -> list[Any]:
    """Return values of a column as the store's table holds them: numbers, None for NaN.

    A float32 becomes the shortest number that rounds to it.
    """
    if values.dtype == np.float32:
        values = shortest(values)
    found: list[Any] = values.tolist()
    if values.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(values)).tolist():
            found[place] = None
    return found


def shortest(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return for each value the shortest decimal number that rounds to it.

    For example 0.3, as given by the user, not the exact 0.30000001192092896.
    """
    distinct, which = np.unique(values, return_inverse=True)
    return np.array([float(str(value)) for value in distinct], np.float64)[which]
