"""The history of a store: cells that commits replaced, and the times of commits.

``moment`` has a row per commit: its revision and its time, which never lies before that of an earlier
commit. ``past`` has the cells that a commit replaced, as JSON, in the order in which it replaced them.
So a former state is the present one with the later rows of ``past`` put back, the newest first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import binascii
from oneiros.errors import HistoryUnavailable, StoreCorrupt
from oneiros.model.fields import U32_MAX
from oneiros.model.memory import iso_time
from oneiros.model.validation import FIRST_MOMENT, require_choice, require_int, require_seconds
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import checksum, checksums_of, insert_of
from oneiros.store.rows import STORED_NAMES, StoredMemory

if TYPE_CHECKING:
    import apsw

    from oneiros.store.database import Store
    from oneiros.store.reading import Reading
    from oneiros.store.row_writing import RowWriting

__all__ = [
    "ADD_MOMENT",
    "AGE_SETTING",
    "KEEP_SETTING",
    "KEPT",
    "LAST_MOMENT",
    "LIMIT_SETTING",
    "SINCE_SETTING",
    "HistoryReading",
    "HistoryWriting",
    "Keeping",
    "Version",
    "checked_keeping",
    "keeping_of",
    "kept_by",
    "record_keeping",
    "unavailable",
]

KEPT: Final = ("content", "all", "off")
"""The choices: keep replaced texts and fields, also states and links, or nothing."""
KEEP_SETTING, LIMIT_SETTING, AGE_SETTING = "history", "history_limit", "history_age"
SINCE_SETTING: Final = "history_since"
"""The setting with the revision from which states and links are kept; 0: from the first commit."""
_LIMIT: Final = 64

MEMORY_ROW, STATE_ROW, LINK_ROW, VERDICT_ROW, VECTORS = range(5)
"""The kinds of rows in ``past``; of the last, only the revision counts: it replaced all vectors."""
_KINDS: Final = {"memory": MEMORY_ROW, "lifecycle": STATE_ROW}
TABLES: Final = {kind: table for table, kind in _KINDS.items()}
_GAP: Final = ""
"""The cells of the last row that a limit removed from a memory's history."""

LAST_MOMENT: Final = "SELECT time FROM moment ORDER BY revision DESC LIMIT 1"
# A commit that changed nothing has the revision of the next one.
ADD_MOMENT: Final = insert_of("moment", "INSERT OR REPLACE").split("VALUES")[0] + "VALUES (?, ?, ?)"
"""Binds the revision, the time and their checksum."""
_ADD: Final = "INSERT INTO past (revision, sequence, kind, cells, checksum) VALUES (?, ?, ?, ?, ?)"
_LINK_CELLS: Final = ("revision", "kind", "weight", "created_at", "co_retrieved_at")
_LINK: Final = f"""
SELECT {", ".join(_LINK_CELLS)} FROM link WHERE first = ? AND second = ?"""
_AT_ONCE: Final = 1_000
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_BYTES: Final = "base64"
_PAST: Final = "revision, sequence, kind, cells, checksum"
# Takes the time of the commit before where that is later.
_ADD_CLAMPED: Final = f"""
INSERT OR REPLACE INTO moment (revision, time, checksum)
SELECT ?1, time, {checksum({"revision": "?1", "time": "time"})} FROM (
  SELECT max(?2, coalesce((
    SELECT time FROM moment WHERE revision < ?1 ORDER BY revision DESC LIMIT 1), ?2)) AS time)"""
# Times rise with revisions: the first that is too late ends the search. With an age of 0 none is.
_LAST_BEFORE: Final = f"""
SELECT max(revision) FROM moment WHERE revision < coalesce((
  SELECT revision FROM moment WHERE time > ? ORDER BY revision LIMIT 1), {2**63 - 1})"""
_REMOVE_OLD: Final = """
DELETE FROM past WHERE revision <= ? AND number IN (SELECT number FROM past ORDER BY number LIMIT 1000)"""
_EXCESS: Final = """
SELECT number FROM past WHERE sequence = ? AND kind = ? ORDER BY number DESC LIMIT 1 OFFSET ?"""


class Keeping(NamedTuple):
    """The part of its history that a store keeps."""

    keep: str = "content"
    """One of :data:`KEPT`."""
    limit: int | None = _LIMIT
    """Most changes of a memory's texts and fields; None: all."""
    age: float | None = None
    """Seconds for which changes are kept at least; None: for good."""
    since: int | None = None
    """The revision from which states and links are kept; None: they are not."""

    @property
    def is_on(self) -> bool:
        """Whether anything is kept."""
        return self.keep != "off"


def keeping_of(settings: Mapping[str, str]) -> Keeping:
    """Return what the settings of a store say about its history.

    Raises:
        StoreCorrupt: they say nothing that this version knows.
    """
    keep = settings.get(KEEP_SETTING, "content")
    try:
        given = float(settings.get(LIMIT_SETTING, "nan"))
        age = float(settings.get(AGE_SETTING, "inf"))
        since = int(settings.get(SINCE_SETTING, "0"))
    except ValueError as error:
        msg = f"the store's settings of its history are no numbers ({error})"
        raise StoreCorrupt(msg) from error
    if keep not in KEPT:
        msg = f"the store's setting {KEEP_SETTING} is none of {', '.join(KEPT)}: {keep!r}"
        raise StoreCorrupt(msg)
    if math.isnan(given):
        given = math.inf if keep == "all" else _LIMIT
    return Keeping(
        keep,
        None if math.isinf(given) else int(given),
        None if math.isinf(age) else age,
        since if keep == "all" else None,
    )


_SETTINGS: Final = (KEEP_SETTING, LIMIT_SETTING, AGE_SETTING, SINCE_SETTING)


def kept_by(connection: apsw.Connection) -> Keeping:
    """Return what a store keeps, read by key."""
    found = {}
    for name in _SETTINGS:
        for (value,) in connection.execute("SELECT value FROM setting WHERE key = ?", (name,)):
            found[name] = value
    return keeping_of(found)


class Version(NamedTuple):
    """A memory as it was from one commit until another."""

    revision: int
    """The commit that made it so."""
    recorded_at: float | None
    """The time of that commit; None: it is older than the history."""
    until: float | None
    """The time of the commit that replaced it; None: it is the present one."""
    row: StoredMemory


class _Change(NamedTuple):
    """A row of ``past``."""

    number: int
    revision: int
    """The commit that replaced the cells."""
    sequence: int
    kind: int
    cells: Mapping[str, Any] | None
    """Column to the replaced cell; None: cells replaced up to this revision are no longer kept."""


def _packed(value: Any) -> Any:
    return (
        {_BYTES: binascii.b2a_base64(value, newline=False).decode()}
        if isinstance(value, bytes)
        else value
    )


def _unpacked(value: Any) -> Any:
    return binascii.a2b_base64(value[_BYTES]) if isinstance(value, dict) else value


def _text_of(cells: Mapping[str, Any]) -> str:
    return _encode({name: _packed(cell) for name, cell in cells.items()})


class HistoryReading:
    """Reads the history. Made by ``Reading``."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def keeping(self) -> Keeping:
        """Return what the store keeps."""
        return keeping_of(self._reading.settings())

    def first_moment(self) -> tuple[int, float] | None:
        """Return the first commit with a known time and that time; None: there is none."""
        return self._moment("1 ORDER BY revision LIMIT 1")

    def moment_of(self, revision: int) -> float | None:
        """Return the time of a commit; None: it is not known."""
        found = self._moment("revision = ?", revision)
        return None if found is None else found[1]

    def _moment(self, rest: str, *values: int) -> tuple[int, float] | None:
        rows = list(self._reading.raw("moment", rest=f"WHERE {rest}", values=values))
        if not rows:
            return None
        revision, time = rows[0].cells
        if not rows[0].is_whole:
            msg = f"the store's history is damaged: the time of commit {revision!r}"
            raise StoreCorrupt(msg)
        return revision, time

    def revision_at(self, time: float) -> int:
        """Return the last commit made at or before a time; 0: there was none.

        Raises:
            HistoryUnavailable: the history begins later; names the time from which it is known.
        """
        first = self.first_moment()
        if first is None:
            if self._reading.last_revision() == 0:
                return 0
            reason = "it keeps no history, or none before its next write"
            raise unavailable(reason, None)
        low, since = first
        if time < since:
            if low == 1:
                return 0
            reason = "its history begins later"
            raise unavailable(reason, since)
        last = self._moment("1 ORDER BY revision DESC LIMIT 1")
        assert last is not None
        high = last[0]
        while low < high:  # times rise with revisions
            middle = (low + high + 1) // 2
            found = self._moment("revision <= ? ORDER BY revision DESC LIMIT 1", middle)
            assert found is not None
            if found[1] <= time:
                low = middle
            else:
                high = found[0] - 1
        # One that changed nothing has the revision of the next one, which is yet to come.
        return min(low, self._reading.last_revision())

    def versions(self, id: str) -> list[Version]:
        """Return a memory as it was after each commit that changed it, oldest first.

        Args:
            id: of a memory, soft-deleted or not.

        Returns:
            The versions that are still known, the present one last; empty for an unknown id.
        """
        row = self._reading.load_stored([id])[0]
        if row is None:
            return []
        keeps_states = self.keeping().keep == "all"
        found: list[Version] = []
        until: float | None = None
        is_known = True
        changes = (change for change in self._changes_of(row.sequence) if change.kind <= STATE_ROW)
        for revision, group in groupby(changes, key=lambda change: change.revision):
            time = self.moment_of(revision)
            found.append(Version(revision, time, until, row))
            until = time
            for change in group:
                is_known = is_known and change.cells is not None
                row = _put_back(row, change)
            if not is_known:
                break
        if is_known:
            first = max(row.own_revision, row.state_revision if keeps_states else 0)
            found.append(Version(first, self.moment_of(first), until, row))
        return found[::-1]

    def row_at(self, id: str, revision: int) -> StoredMemory | None:
        """Return a memory as it was after a commit; None: it was not known then.

        Raises:
            HistoryUnavailable: a limit removed that part of its history.
        """
        row = self._reading.load_stored([id])[0]
        if row is None:
            return None
        for change in self._changes_of(row.sequence):
            if change.revision <= revision:
                break
            if change.kind > STATE_ROW:
                continue
            if change.cells is None:
                reason = f"the history of {id!r} begins later"
                raise unavailable(reason, self.moment_of(change.revision))
            row = _put_back(row, change)
        return row if row.own_revision <= revision else None

    def changes_after(self, revision: int) -> Iterator[_Change]:
        """Yield the rows of ``past`` of all memories after a commit, the last one first."""
        for change in self._changes("ORDER BY number DESC"):
            if change.revision <= revision:
                return
            yield change

    def _changes_of(self, sequence: int) -> Iterator[_Change]:
        return self._changes("WHERE sequence = ? ORDER BY number DESC", sequence)

    def _changes(self, rest: str, *values: int) -> Iterator[_Change]:
        for row in self._reading.raw("past", besides=("number",), rest=rest, values=values):
            revision, sequence, kind, text = row.cells
            if not row.is_whole:
                msg = f"the store's history of memory number {sequence!r} is damaged"
                raise StoreCorrupt(msg)
            cells = None
            if text != _GAP:
                cells = {name: _unpacked(cell) for name, cell in json.loads(text).items()}
            yield _Change(row.besides[0], revision, sequence, kind, cells)


def _put_back(row: StoredMemory, change: _Change) -> StoredMemory:
    """Return a row with the cells that a change replaced."""
    own = "own_revision" if change.kind == MEMORY_ROW else "state_revision"
    names = {"revision": own}
    cells = {
        names.get(name, STORED_NAMES.get(name, name)): cell
        for name, cell in (change.cells or {}).items()
    }
    replaced: StoredMemory = row._replace(**cells)
    return replaced


def unavailable(reason: str, since: float | None) -> HistoryUnavailable:
    """Return the error for a state that the history does not reach."""
    if since is None:
        return HistoryUnavailable(f"as_of: the store does not know that state: {reason}")
    known = f"{reason}; it is known from {iso_time(since)} ({since!r}) on"
    error = HistoryUnavailable(f"as_of: the store does not know that state: {known}")
    error.since = since
    return error


class HistoryWriting(HistoryReading):
    """Keeps what a transaction replaces. Made by ``Transaction``.

    Args:
        transaction: the transaction.
        keeping: what is kept.
        read_time: returns the time.
    """

    def __init__(
        self, transaction: RowWriting, keeping: Keeping, read_time: Callable[[], float]
    ) -> None:
        super().__init__(transaction)
        self._transaction = transaction
        self._keeping = keeping
        self._read_time = read_time
        self._replaces_vectors = False
        self._limited: dict[int, None] = {}  # memories whose history may exceed the limit

    def keep(
        self, table: str, names: Sequence[str], sequences: Sequence[int], *, is_use: bool
    ) -> None:
        """Keep the cells of rows about to be updated.

        Args:
            table: "memory" or "lifecycle".
            names: the columns to be set, besides the revision.
            sequences: of the memories.
            is_use: whether nothing but use or a dream cycle changes a state.
        """
        kind = _KINDS[table]
        if kind == STATE_ROW and is_use and self._keeping.keep != "all":
            return
        left = ("new_embedding", *(("embedding",) if self._replaces_vectors else ()))
        columns = ("revision", *(name for name in names if name not in left))
        sql = f"SELECT sequence, {', '.join(columns)} FROM {table} WHERE sequence"
        if len(sequences) == 1:
            rows = self._transaction.rows(f"{sql} = ?", tuple(sequences))
        else:
            chosen = json.dumps(list(map(int, sequences)))
            rows = self._transaction.rows(f"{sql} IN (SELECT value FROM json_each(?))", (chosen,))
        self._add(
            kind, [(row[0], _text_of(dict(zip(columns, row[1:], strict=True)))) for row in rows]
        )
        if kind == MEMORY_ROW and self._keeping.limit is not None and not self._replaces_vectors:
            self._limited.update(dict.fromkeys(row[0] for row in rows))

    def keep_links(self, ends: Iterable[tuple[int, int]]) -> None:
        """Keep the states of links about to be set or removed; None for new ones."""
        if self._keeping.keep != "all":
            return
        found = []
        for first, second in ends:
            rows = self._transaction.rows(_LINK, (first, second))
            cells = {"second": second}
            if rows:
                cells |= dict(zip(_LINK_CELLS, rows[0], strict=True))
            found.append((first, _text_of(cells)))
        self._add(LINK_ROW, found)

    def note_verdict(self, sequence: int) -> None:
        """Keep that the last feedback event is new."""
        if self._keeping.keep == "all":
            cells = {"number": self._transaction.last_row()}
            self._add(VERDICT_ROW, [(sequence, _text_of(cells))])

    def note_vectors(self) -> None:
        """Keep that all vectors are replaced by those of another embedder, which are not kept."""
        self._replaces_vectors = True
        self._add(VECTORS, [(0, _GAP)])

    def _add(self, kind: int, rows: Sequence[tuple[int, str]]) -> None:
        if rows:
            sequences, texts = map(list, zip(*rows, strict=True))
            columns = [self._transaction.revision, sequences, kind, texts]
            self._transaction.insert_rows("past", _ADD, columns, len(rows))

    def finish(self) -> None:
        """Record the transaction's time, and remove what the limits no longer keep."""
        revision = self._transaction.revision
        if self._transaction.has_content:
            time = self._read_time()
        elif revision == 1 or self.first_moment() is not None:
            time = FIRST_MOMENT  # settings alone, of which an empty store may have some
        else:
            return
        self._transaction.run(_ADD_CLAMPED, (revision, time))
        for sequence in self._limited:
            self._trim(sequence)
        if self._keeping.age is not None:
            ((last,),) = self._transaction.rows(LAST_MOMENT)
            self._remove_before(last - self._keeping.age)

    def _trim(self, sequence: int) -> None:
        """Remove changes of a memory beyond the limit, and leave a gap in the place of the last."""
        excess = self._transaction.rows(_EXCESS, (sequence, MEMORY_ROW, self._keeping.limit))
        if not excess:
            return
        ((number,),) = excess
        ((revision,),) = self._transaction.rows(
            "SELECT revision FROM past WHERE number = ?", (number,)
        )
        sql = "DELETE FROM past WHERE sequence = ? AND kind <= ? AND number <= ?"
        self._transaction.run(sql, (sequence, STATE_ROW, number))
        (made,) = checksums_of("past", [(revision, sequence, MEMORY_ROW, _GAP)])
        values = (number, revision, sequence, MEMORY_ROW, _GAP, made)
        self._transaction.run(
            f"INSERT INTO past (number, {_PAST}) VALUES (?, ?, ?, ?, ?, ?)", values
        )

    def _remove_before(self, time: float) -> None:
        """Remove what is needed only for states before a time."""
        found = self._transaction.rows(_LAST_BEFORE, (time,))
        first = self.first_moment()
        if first is None or found[0][0] is None or found[0][0] <= first[0]:
            return
        self._transaction.run("DELETE FROM moment WHERE revision < ?", found[0])
        while True:
            self._transaction.run(_REMOVE_OLD, found[0])
            if not self._transaction.change_count():
                return


class GivenKeeping(NamedTuple):
    """The settings given by a caller; None keeps that of the store."""

    keep: str | None
    limit: str | None
    age: str | None


def checked_keeping(history: object, history_limit: object, history_age: object) -> GivenKeeping:
    """Return the checked arguments of an engine.

    Raises:
        ValueError, TypeError: an argument breaks its rule.
    """
    keep = limit = age = None
    if history is not None:
        require_choice("history", history, KEPT)
        keep = str(history)
    if history_limit is not None:
        limit = str(history_limit)
        if history_limit != math.inf:
            limit = str(require_int("history_limit", history_limit, low=1, high=U32_MAX))
    if history_age is not None:
        age = str(require_seconds("history_age", history_age, finite=False))
    return GivenKeeping(keep, limit, age)


def record_keeping(store: Store, given: GivenKeeping) -> None:
    """Record in a store what it is to keep, if that is not recorded already.

    With "off", the history is erased.
    """
    names = dict(zip((KEEP_SETTING, LIMIT_SETTING, AGE_SETTING), given, strict=True))
    wanted = {name: value for name, value in names.items() if value is not None}
    if not wanted or wanted.items() <= store.settings().items():
        return
    with store.write() as transaction:
        before = keeping_of(transaction.settings())
        for name, value in wanted.items():
            transaction.set_setting(name, value)
        if given.keep == "all" and before.keep != "all":
            is_whole = before.is_on and not transaction.count()
            since = 0 if is_whole else transaction.revision
            transaction.set_setting(SINCE_SETTING, str(since))
        if given.keep == "off":
            transaction.forget_history()
    if given.keep == "off":
        store.checkpoint()
