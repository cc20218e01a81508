"""Ids, rows and columns: the lifecycle state of every memory, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros import _core
from oneiros.fields import FIELDS
from oneiros.store import StoredMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Rows = npt.NDArray[np.uint32]

__all__ = ["Lifecycle"]

# Columns that hold a field under its own name; the others are codes made here.
_PLAIN_COLUMNS: Final = tuple(
    (name, np.dtype(field.column))
    for name, field in FIELDS.items()
    if field.column is not None and name != "kind"
)
_CODED_COLUMNS: Final = (
    ("kind", "kind", np.dtype(np.uint16)),
    ("topic", "topic_code", np.dtype(np.uint32)),
    ("project", "project_code", np.dtype(np.uint32)),
    ("session", "session_code", np.dtype(np.uint32)),
)


class _Codes:
    """Numbers for words, in order of appearance; 0 is "none"."""

    def __init__(self, field: str, limit: int) -> None:
        self._code_of: dict[str | None, int] = {None: 0}
        self._field = field
        self._limit = limit

    def __call__(self, word: str | None) -> int:
        code = self._code_of.get(word)
        if code is None:
            self.require([word])
            code = self._code_of[word] = len(self._code_of)
        return code

    def of(self, words: Sequence[str | None]) -> list[int]:
        """Return the codes of many words."""
        known = list(map(self._code_of.get, words))
        if None in known:
            return [self(word) for word in words]
        return known  # type: ignore[return-value]

    def require(self, words: Iterable[object]) -> None:
        """Raise ValueError if the words, None left out, would be too many."""
        fresh = {word for word in words if word is not None and word not in self._code_of}
        if len(self._code_of) + len(fresh) > self._limit + 1:
            msg = (
                f"{self._field}: at most {self._limit} distinct ones, got {min(map(str, fresh))!r} "
                f"beyond {len(self._code_of) - 1}"
            )
            raise ValueError(msg)

    def __len__(self) -> int:
        return len(self._code_of)

    def words(self) -> tuple[str, ...]:
        """The words by code; the word of 0 is empty."""
        # In one step: another thread may be adding words.
        return ("", *tuple(self._code_of)[1:])  # type: ignore[arg-type]


class Lifecycle:
    """Row numbers in order of insertion, never reused, and the core's columns over them."""

    def __init__(self) -> None:
        self.columns = _core.Columns()
        self.names = frozenset(_core.Columns.schema())
        self.row_of: dict[str, int] = {}
        self.ids: list[str] = []
        self._sessions: dict[int, frozenset[str]] = {}
        self._kinds: tuple[str, ...] = ("",)
        self._codes = {
            name: _Codes(name, np.iinfo(dtype).max) for name, _column, dtype in _CODED_COLUMNS
        }

    def column(self, name: str) -> npt.NDArray[Any]:
        """A read-only view of a column, as long as there are rows now."""
        return self.columns.view(name=name)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words for the codes of the column ``kind``; the same object until there is a new one."""
        codes = self._codes["kind"]
        if len(codes) != len(self._kinds):
            self._kinds = codes.words()
        return self._kinds

    def rows_of(self, batch: Iterable[StoredMemory]) -> Rows:
        """The rows of memories that have one."""
        return np.array([self.row_of[memory.id] for memory in batch], np.uint32)

    def sessions_of(self, row: int) -> frozenset[str]:
        """The sessions a memory was seen in."""
        return self._sessions.get(row, frozenset())

    def remember_session(self, row: int, session: str) -> int:
        """Add a session to a memory's set and return the size of the set."""
        sessions = self.sessions_of(row) | {session}
        self._sessions[row] = sessions
        return len(sessions)

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

    def apply(self, batch: Sequence[StoredMemory]) -> None:
        """Bring the columns to what the store says; memories not seen before get a row."""
        values = self._values(batch)  # may refuse; nothing has changed then
        new = [memory.id for memory in batch if memory.id not in self.row_of]
        if new:
            # In this order, and by the number of ids: an interrupt between two of these lines
            # leaves at most rows that nothing uses.
            first = len(self.ids)
            missing = first + len(new) - len(self.columns)
            if missing > 0:
                self.columns.append(count=missing)
            self.ids.extend(new)
            self.row_of.update(zip(new, range(first, first + len(new)), strict=True))
        rows = self.rows_of(batch)
        self.columns.write(rows=rows, values=values)
        for row, memory in zip(rows.tolist(), batch, strict=True):
            if memory.sessions or row in self._sessions:
                self._sessions[row] = memory.sessions

    def erase(self, memory_id: str) -> int | None:
        """Drop an id and its sessions; returns its row, which stays unused."""
        row = self.row_of.pop(memory_id, None)
        if row is not None:
            self.ids[row] = ""
            self._sessions.pop(row, None)
        return row

    def _values(self, batch: Sequence[StoredMemory]) -> dict[str, npt.NDArray[Any]]:
        held = dict(zip(StoredMemory._fields, zip(*batch, strict=True), strict=True))
        values = {name: np.array(held[name], dtype) for name, dtype in _PLAIN_COLUMNS}
        for name, column, dtype in _CODED_COLUMNS:
            values[column] = np.array(self._codes[name].of(held[name]), dtype)
        values["superseded"] = np.array([by is not None for by in held["superseded_by"]], np.uint8)
        return values
