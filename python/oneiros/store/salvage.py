"""Copies the readable part of a damaged store into a new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw

from oneiros.errors import DuplicateId, StoreCorrupt, StoreIOError
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store import schema
from oneiros.store.checksums import parted
from oneiros.store.connections import Readers, StoreConnection
from oneiros.store.database import Store
from oneiros.store.erased import HORIZON_SETTING, SALT_SETTING
from oneiros.store.failures import translated
from oneiros.store.links import ALL_LINKS, StoredLink
from oneiros.store.reading import REEMBEDDING_SETTING, SNAPSHOT_SETTING, USES_SETTING, Reading
from oneiros.store.rows import DEFAULT_CELLS, INSERTED_LIFECYCLE, memory_cells, select, select_fresh

__all__ = ["Salvaged", "salvage"]

_BATCH: Final = 1000
_LONGEST_GAP: Final = 100_000
_SMALLEST_ROW: Final = 64
_NEXT: Final = f"{select('memory.sequence > ?')} LIMIT {_BATCH}"
_ONE: Final = select("memory.sequence = ?")
_ONE_FRESH: Final = select_fresh("sequence = ?")
# The state of a new memory with default values.
_NEW_CELLS: Final = {
    **DEFAULT_CELLS,
    **memory_cells(Memory.from_record({"id": "new", "text": ""}, now=0.0)),
}
_NEW_LIFECYCLE: Final = tuple(_NEW_CELLS[name] for name in INSERTED_LIFECYCLE[2:])


class Salvaged(NamedTuple):
    """The counts of a salvage."""

    memories: int
    """Memories copied, soft-deleted ones too."""
    unreadable: int
    """Sequence numbers whose memory was unreadable, damaged or invalid."""
    links: int
    """Links copied; 0 if unreadable."""
    settings: int
    """Settings copied; 0 if unreadable."""
    begun_anew: int
    """Copied memories whose lifecycle was unreadable or invalid, and was reset."""


def salvage(damaged: str | os.PathLike[str], target: str | os.PathLike[str]) -> Salvaged:
    """Copy every readable memory into a new store; the damaged file is not changed.

    Order and fields are kept, but not the events behind the ``feedback`` sums. If the first page is
    damaged, nothing can be found, and only a backup helps.

    Args:
        damaged: the store's file; no process may be writing to it.
        target: a file that does not exist yet.

    Raises:
        FileExistsError: the target exists.
        StoreCorrupt: the tables cannot be found, or are not a store's.
    """
    if os.path.lexists(target):
        msg = f"target: must not exist, got {os.fspath(target)!r}"
        raise FileExistsError(msg)
    path = str(Path(damaged).absolute())
    readers = Readers(path, vfs=None, timeout_seconds=0.0)
    try:
        connection = readers.opened()
    except apsw.Error as error:
        raise translated(error, path) from error
    try:
        _prepare(connection, path)
        with Store(target) as store:
            return _copied(_Search(connection, path), store)
    finally:
        connection.close(True)


def _prepare(connection: apsw.Connection, path: str) -> None:
    try:
        # Otherwise SQLite refuses a file that is shorter than its header says.
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("PRAGMA writable_schema = ON")
        is_current = schema.is_current(connection)
        schema.verify(connection)
    except apsw.Error as error:
        raise translated(error, path) from error
    if not is_current:
        msg = f"{path}: written by an older version; open it with that one, or with a backup"
        raise StoreCorrupt(msg)


def _copied(search: _Search, store: Store) -> Salvaged:
    memories = 0
    unreadable = 0
    for batch in search.memories():
        with store.write() as transaction:
            for memory, blob in batch:
                try:
                    transaction.insert(memory, embedding_blob=blob)
                    memories += 1
                except DuplicateId:  # a damaged page was read as another
                    unreadable += 1
    links = search.links_found()
    with store.write() as transaction:
        link_count = sum(map(transaction.set_link, links))
    settings = search.settings()
    settings.pop(SNAPSHOT_SETTING, None)  # the snapshot may contain what is lost
    for key in (SALT_SETTING, HORIZON_SETTING):  # the new store lists no erased memories
        settings.pop(key, None)
    settings.pop(REEMBEDDING_SETTING, None)  # its vectors are not copied
    settings.pop(USES_SETTING, None)  # it speaks of other commits
    with store.write() as transaction:
        for key, value in settings.items():
            transaction.set_setting(key, value)
    unreadable += search.unreadable
    return Salvaged(memories, unreadable, link_count, len(settings), search.begun_anew)


class _Search(Reading):
    """Reads lists of rows as long as that works, then single rows."""

    def __init__(self, connection: StoreConnection, path: str) -> None:
        super().__init__(connection, path)
        self.unreadable = 0
        self.begun_anew = 0

    def memories(self) -> Iterator[list[tuple[Memory, bytes | None]]]:
        """Yield lists of memories with their encoded embeddings, in order of insertion."""
        last = self._last_sequence()
        after = failures = 0
        patience = self._patience()
        while after < last and failures < patience:
            try:
                found = self.rows(_NEXT, (after,))
                if not found:
                    return
                if found[-1][0] <= after:  # a damaged page points back
                    msg = f"row {found[-1][0]} stands after row {after}"
                    raise StoreCorrupt(msg)
                after = found[-1][0]
            except (StoreCorrupt, StoreIOError):
                after += 1
                found = self._single(after)
                failures = 0 if found else failures + 1
            if found:
                yield list(self._sensible(found))
        if after < last:
            self.unreadable -= failures  # these numbers may never have been used

    def links_found(self) -> list[StoredLink]:
        """Return the valid links, up to the first that cannot be read."""
        found: list[StoredLink] = []
        with suppress(StoreCorrupt, StoreIOError):
            cursor = self.run(ALL_LINKS, (0,))
            while rows := self.fetch(cursor, 1):
                with suppress(StoreCorrupt):
                    found.append(self._link(rows[0]))
        return found

    def settings(self) -> dict[str, str]:
        """Return the undamaged settings, up to the first that cannot be read."""
        found: dict[str, str] = {}
        with suppress(StoreCorrupt, StoreIOError):
            for is_whole, (key, value, _), _ in self.raw("setting"):
                # A damaged page may contain any type.
                if is_whole and _are_texts(key, value):
                    found[key] = value
        return found

    def _last_sequence(self) -> int:
        """Return the highest sequence number in either table; a huge one if neither is readable."""
        highest = 0
        for table in ("memory", "lifecycle"):
            try:
                found = self.rows(f"SELECT max(sequence) FROM {table}")
            except (StoreCorrupt, StoreIOError):
                continue
            if isinstance(found[0][0], int):
                highest = max(highest, found[0][0])
        return highest or 2**62

    def _patience(self) -> int:
        """Return the number of consecutive unreadable memories that ends the search.

        It is the number of rows that fit in the file, more than any damage can remove.
        """
        return min(_LONGEST_GAP, Path(self._path).stat().st_size // _SMALLEST_ROW + 100)

    def _single(self, sequence: int) -> list[tuple[Any, ...]]:
        try:
            return self.rows(_ONE, (sequence,))
        except (StoreCorrupt, StoreIOError):
            found = self._with_fresh_lifecycle(sequence)
            self.unreadable += not found
            return found

    def _with_fresh_lifecycle(self, sequence: int) -> list[tuple[Any, ...]]:
        """Read a memory with a fresh lifecycle; empty if that is invalid too."""
        try:
            found = self.rows(_ONE_FRESH, (*_NEW_LIFECYCLE, sequence))
        except (StoreCorrupt, StoreIOError):
            return []
        if _made_of(found) is None:
            return []
        self.begun_anew += 1
        return found

    def _sensible(self, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Memory, bytes | None]]:
        for row in rows:
            memory = _made_of([row]) or _made_of(self._with_fresh_lifecycle(row[0]))
            if memory is None:
                self.unreadable += 1
            else:
                yield memory


def _made_of(rows: list[tuple[Any, ...]]) -> tuple[Memory, bytes | None] | None:
    """Return the memory in at most one row, and its embedding; None if missing or damaged."""
    with suppress(StoreCorrupt):
        for row in parted(rows)[0]:
            return row.memory(has_embedding=False), row.embedding
    return None


def _are_texts(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)
