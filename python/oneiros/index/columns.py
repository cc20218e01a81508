"""Ids, rows and columns of the memories of a store."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.index.stored_rows import StoredIdsByRow, StoredRowsById
from oneiros.index.texts import asking_share
from oneiros.model.fields import COLUMN_DEFAULTS, FIELDS
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.columns import StoredColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.index.stored_rows import StoredRecords
    from oneiros.store.columns import StoredBatch
    from oneiros.store.states import StoredStates

__all__ = ["ColumnWrite", "Lifecycle", "LongNumbers", "WordCodes"]


class LongNumbers(NamedTuple):
    """Numbers that the store holds and a float32 column does not: 1/3, where the column has 0.33333334."""

    places: npt.NDArray[np.int64]
    """Of the rows of a column write that have one, rising."""
    values: npt.NDArray[np.float64]


class ColumnWrite(NamedTuple):
    """One field of many memories."""

    field: str
    rows: npt.NDArray[np.uint32]
    """Each once."""
    values: npt.NDArray[Any]
    """In the column's dtype."""
    long: LongNumbers | None = None
    """What the store gets in place of some of the values; None: it gets the values."""


class WordCodes:
    """Numbers for words, in order of appearance; 0 is "none".

    Args:
        field: named where there are too many.
        limit: words there may be.
    """

    def __init__(self, field: str, limit: int) -> None:
        self._code_of: dict[str | None, int] = {None: 0}
        self._field = field
        self._limit = limit
        self._stored: Callable[[], Sequence[str]] | None = None
        self._stored_words: Sequence[str] = ("",)

    def take_over(self, words: Callable[[], Sequence[str]]) -> None:
        """Hold the words that the codes of a snapshot stand for, read when first needed.

        REQUIRES: no word was given a code. One thread at a time asks for codes or words then.
        """
        self._stored = words

    def read(self) -> None:
        """Read the words of the snapshot, unless that was done."""
        if self._stored is not None:
            self._stored_words = ("", *self._stored())
            self._code_of.update(
                (word, code) for code, word in enumerate(self._stored_words) if code
            )
            self._stored = None

    def stored_word(self, code: int) -> str | None:
        """Return the word that a code of the snapshot stands for."""
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
        """Raise ValueError if the words, None left out, would be too many."""
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
        """The words by code; the word of 0 is empty."""
        self.read()
        # In one step: another thread may be adding words.
        return ("", *tuple(self._code_of)[1:])  # type: ignore[arg-type]


if TYPE_CHECKING:
    Rows = npt.NDArray[np.uint32]


# Columns that hold a field under its own name; the others are codes made here.
_PLAIN_COLUMNS: Final = tuple(
    name for name, field in FIELDS.items() if field.column is not None and name != "kind"
)
_CODED_COLUMNS: Final = (
    ("kind", "kind", 2**16 - 1),
    ("topic", "topic_code", 2**32 - 1),
    ("project", "project_code", 2**32 - 1),
    ("session", "session_code", 2**32 - 1),
)


# What new rows hold, as the store says it: None where there is no time.
_ERASED: Final[Mapping[str, Sequence[float | None]]] = {
    "deleted_at": [None],
    "created_at": [None],
    "event_at": [None],
    "access_count": [0],
}

_DEFAULTS: Final = {
    name: None if math.isnan(COLUMN_DEFAULTS[name]) else COLUMN_DEFAULTS[name]
    for name in _PLAIN_COLUMNS
}


class Lifecycle:
    """Row numbers in order of insertion, never reused, and the core's columns over them."""

    def __init__(self) -> None:
        self.columns = _core.Columns()
        self.names = frozenset(_core.Columns.schema())
        self.row_of: dict[str, int] | StoredRowsById = {}
        self.ids: list[str] | StoredIdsByRow = []
        self.erased_rows: set[int] = set()
        """Rows whose memories were erased; of a snapshot's, only since it was read."""
        self.sessions = _core.SessionSets()
        """Of the rows of which they may differ from the snapshot's."""
        self._stored: StoredRecords | None = None
        self.kinds: tuple[str, ...] = ("",)
        """The words for the codes of the column ``kind``; the same object until there is a new one."""
        self._codes = {name: WordCodes(name, limit) for name, _column, limit in _CODED_COLUMNS}

    def take_over(
        self,
        columns: _core.Columns,
        ids: _core.StoredIds,
        records: StoredRecords,
        words: Mapping[str, Callable[[], Sequence[str]]],
    ) -> None:
        """Hold the rows of a snapshot. REQUIRES: there are none yet.

        Args:
            columns: the core's.
            ids: by row, and rows by id.
            records: what is in no column.
            words: for the kinds, topics, projects and sessions, what their codes stand for.
        """
        self.columns, self._stored = columns, records
        self.ids, self.row_of = StoredIdsByRow(ids), StoredRowsById(ids)
        for name, codes in self._codes.items():
            codes.take_over(words[name])
        self._codes["kind"].read()
        self.kinds = self._codes["kind"].words()

    def words(self) -> dict[str, tuple[str, ...]]:
        """What codes stand for: of the kinds, topics, projects and sessions, without "none"."""
        return {name: codes.words()[1:] for name, codes in self._codes.items()}

    def stored_word(self, name: str, code: int) -> str | None:
        """Return what a code of the snapshot stands for: of a kind, topic, project or session."""
        return self._codes[name].stored_word(code)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A read-only view of a column, as long as there are rows now."""
        return self.columns.view(name=name)

    def rows_of_ids(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of memories that have one."""
        return list(map(self.row_of.__getitem__, ids))

    def rows_of_sequences(self, sequences: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of memories, shape (n,), -1 where there is none.

        Args:
            sequences: their numbers in the store, shape (n,), above 0, in any order.
        """
        held = self.column("sequence")[: len(self.ids)]  # rising: rows come as they were inserted
        if not len(held):
            return np.full(len(sequences), -1, np.int64)
        rows = np.searchsorted(held, sequences.astype(np.float64))
        rows = np.minimum(rows, len(held) - 1)
        is_known = held[rows] == sequences
        if self.erased_rows:
            is_known &= ~np.isin(rows, list(self.erased_rows))
        return np.where(is_known, rows, -1)

    def sessions_of(self, row: int) -> frozenset[str]:
        """The sessions a memory was seen in."""
        held = self.sessions.at(row=row)
        if held is not None:
            return frozenset(held)
        return frozenset() if self._stored is None else self._stored.sessions(row)

    def all_sessions(self) -> dict[int, frozenset[str]]:
        """The sessions of every row of which they may not be those of the snapshot."""
        return {row: self.sessions_of(row) for row in self.sessions.rows()}

    def load_sessions(self, rows: Sequence[int]) -> None:
        """Have the core know the sessions of rows that only the snapshot has told of so far."""
        if self._stored is None:
            return
        for row in self.sessions.absent(rows=rows):
            self.sessions.set_if_absent(row=row, sessions=list(self._stored.sessions(row)))

    def has_kind(self, kind: str) -> bool:
        """Return whether some memory has had this kind."""
        return kind in self._codes["kind"]

    def require_kinds(self, kinds: Iterable[object]) -> None:
        """Refuse kinds that there is no number left for, before they are stored.

        Raises:
            ValueError: with them there would be more than 65,535.
        """
        self._codes["kind"].require(kinds)

    def count_by_kind(self, rows: Rows) -> dict[str, int]:
        """How many of these rows there are of each kind, the most frequent first."""
        counts = np.bincount(self.column("kind")[rows])
        names = self.kinds
        found = {names[code]: int(counts[code]) for code in np.flatnonzero(counts)}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def apply(self, batch: StoredBatch) -> None:
        """Bring the columns to what the store says; memories not seen before get a row."""
        memories = StoredColumns.of(batch)
        row_of = self.row_of
        ids = memories["id"]
        new = [id for id in ids if id not in row_of]
        if new:
            self._drop_unfound()
        first = len(self.ids)
        left = len(self.columns) - first  # rows that an interrupt left, which may hold anything
        are_new = len(new) == len(ids)
        values = self._values(memories, are_new=are_new and not left)  # may refuse, so it is first
        if len(new) > left:
            self.columns.append(count=len(new) - left)
        fresh = dict(zip(new, range(first, first + len(new)), strict=True))
        rows = list(fresh.values())
        if not are_new:
            rows = [row_of[id] if (row := fresh.get(id)) is None else row for id in ids]
        self.columns.write(rows=rows, values=values)
        # The last, and ids before rows: whoever finds a row finds what it holds, and an interrupt
        # leaves at most rows that nobody finds.
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
        """Drop the ids of rows, the last ones, that an interrupt left before they could be found."""
        end = len(self.ids)
        while end and self.ids[end - 1] and self.row_of.get(self.ids[end - 1]) != end - 1:
            end -= 1
        del self.ids[end:]

    def apply_states(self, states: StoredStates) -> Rows:
        """Bring the columns of states to what the store says; returns the rows, of those known."""
        rows = self.rows_of_sequences(np.array(states.sequences, np.int64))
        values: Mapping[str, Sequence[Any]] = states.values
        sessions = states.sessions
        if (rows < 0).any():
            known = np.flatnonzero(rows >= 0).tolist()
            rows = rows[known]
            values = {name: [column[n] for n in known] for name, column in values.items()}
            sessions = [sessions[n] for n in known]
        self.columns.write(rows=rows.astype(np.uint32), values=values)
        for row, seen_by in zip(rows.tolist(), sessions, strict=True):
            if seen_by is not None:  # they only grow
                self.sessions.set(row=row, sessions=list(seen_by))
        return rows.astype(np.uint32)

    def erase(self, memory_id: str) -> int | None:
        """Drop an id and its sessions; returns its row, which stays unused.

        Nothing tells then when it was made, used or deleted: no search looks at the row.
        """
        row = self.row_of.get(memory_id)
        if row is not None:
            self.erased_rows.add(row)
            self.ids[row] = ""
            self.columns.write(rows=[row], values=_ERASED)
            if self.sessions_of(row):
                self.sessions.set(row=row, sessions=[])
            self.row_of.pop(memory_id, None)  # the last: who was interrupted before finds the row
        return row

    def _values(
        self, memories: StoredColumns, *, are_new: bool
    ) -> dict[str, Sequence[float | None]]:
        """The columns of memories; new rows have defaults already, and need no column of these."""
        names: Iterable[str] = _PLAIN_COLUMNS
        if are_new:
            names = [
                name
                for name in memories.given
                if name in _DEFAULTS and not memories.is_all(name, _DEFAULTS[name])
            ]
        values = {name: memories[name] for name in names}
        values["sequence"] = memories["sequence"]
        for name, column, _limit in _CODED_COLUMNS:
            if not (are_new and memories.is_all(name, None)):
                values[column] = self._codes[name].of(memories[name])
        if len(self._codes["kind"]) != len(self.kinds):
            self.kinds = self._codes["kind"].words()
        if not (are_new and memories.is_all("is_superseded", 0)):
            values["superseded"] = memories["is_superseded"]
        asks = list(map(asking_share, memories["text"]))
        if not are_new or any(asks):
            values["asks"] = asks
        return values
